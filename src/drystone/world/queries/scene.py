"""The shapes of a world as queries see them: placed, in a BVH that is kept until a body moves."""

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from drystone.collision.queries.shape_tree import ShapeTree, plant_tree
from drystone.errors import InputError, UnsupportedFeature
from drystone.model.arrays import FIXED
from drystone.model.checks import shown
from drystone.world.body import Body, FixedBody

_scenes: WeakKeyDictionary = WeakKeyDictionary()


class Scene(NamedTuple):
    """Placed shapes, and the poses for which they are."""

    built: Any
    position: np.ndarray
    rotation: np.ndarray
    tree: ShapeTree
    owners: tuple  # the body or fixed thing of each shape


def scene_of(world) -> Scene:
    """Placed anew if a body has moved or the world was edited: a comparison takes microseconds."""
    built = world._synced()
    if built.model.outlines is not None:
        raise UnsupportedFeature("rays and closest points are there in three dimensions, dim=3.")
    state, known = world._state, _scenes.get(world)
    if (
        known is not None and known.built is built
        and np.array_equal(known.position, state.position)
        and np.array_equal(known.rotation, state.rotation)
    ):  # fmt: skip
        return known
    if known is not None and known.built is built:
        owners = known.owners
    else:
        by_number = {thing._number: thing for thing in (*world._fixed, *world._bodies)}
        owners = tuple(by_number[number] for number in built.shape_owner.tolist())
    tree = plant_tree(built.model.shapes, state)
    scene = Scene(built, state.position.copy(), state.rotation.copy(), tree, owners)
    _scenes[world] = scene
    return scene


def shapes_of(world, thing, verb: str) -> np.ndarray:
    """Rows of the shapes of a body or fixed thing of `world`."""
    if not isinstance(thing, Body | FixedBody):
        raise InputError(f"{verb}: {shown(thing)} is no body; give what add_body() returned.")
    if thing._world is not world:
        raise InputError(f"{verb}: {thing.name} is not in this world.")
    return np.flatnonzero(world._build.shape_owner == thing._number)


def skipped_shapes(world, scene: Scene, ignore) -> np.ndarray:
    """(ns,) bool: the shapes of the things that a query passes over."""
    skipped = np.zeros(len(scene.owners), np.bool_)
    if ignore is None:
        return skipped
    for thing in ignore if isinstance(ignore, list | tuple | set) else (ignore,):
        skipped[shapes_of(world, thing, "ignore")] = True
    return skipped


def body_index(scene: Scene) -> np.ndarray:
    """(ns,) index in world.bodies of the owner of each shape, -1 for the fixed world."""
    body = scene.built.model.shapes.body
    return np.where(body == FIXED, -1, body)
