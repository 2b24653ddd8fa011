"""Closest points and overlap, of two bodies and of a shape with the world."""

from math import inf
from typing import NamedTuple

import numpy as np

from drystone.collision.queries.closest import Side, nearest_of
from drystone.errors import InputError
from drystone.model.arrays import FIXED
from drystone.model.checks import bits, not_negative
from drystone.model.signatures import public
from drystone.shapes import Entry, Sphere, build_shapes, matrix_from_quaternion
from drystone.world.body import Body, FixedBody
from drystone.world.queries.scene import scene_of, shapes_of, skipped_shapes

DOT = Sphere(1e-9).parts()[0]  # a point, as a shape


@public
class ClosestPoints(NamedTuple):
    """Where two things are nearest to each other. World axes."""

    distance: float  # [m]; negative: how deep convex shapes overlap; 0 where a mesh overlaps
    point_a: np.ndarray  # (3,) on the first [m]
    point_b: np.ndarray  # (3,) on the second [m]
    normal: np.ndarray  # (3,) unit, from the first to the second
    body: Body | FixedBody  # the second


def closest_points(world, a, b) -> ClosestPoints:
    """See World.closest_points()."""
    scene = scene_of(world)
    rows_a, rows_b = shapes_of(world, a, "closest_points"), shapes_of(world, b, "closest_points")
    if a is b:
        raise InputError(f"closest_points: {a.name} was given twice.")
    if a.is_fixed and b.is_fixed and not _bounded(scene, rows_a) and not _bounded(scene, rows_b):
        raise InputError(f"closest_points: {a.name} and {b.name} are endless planes.")
    side = Side(scene.built.model.shapes, scene.tree.pose)
    own = Side(_rows_of(side.shapes, rows_a), np.ascontiguousarray(side.pose[rows_a]))
    found = _nearest(own, side, rows_b, inf, -1)
    return _in_world(world, b, *found)


def closest_to(world, shape, position, orientation, within, mask, ignore) -> ClosestPoints | None:
    """See World.closest_to()."""
    scene, own = scene_of(world), _placed(world, shape, position, orientation)
    far = inf if within is None else not_negative("within", within)
    rows = np.flatnonzero(~skipped_shapes(world, scene, ignore)).astype(np.int64)
    side = Side(scene.built.model.shapes, scene.tree.pose)
    distance, out = _nearest(own, side, rows, far, bits("mask", mask), each=True)
    if not len(rows) or not distance.min() < far:
        return None
    i = int(np.argmin(distance))
    return _in_world(world, scene.owners[rows[i]], float(distance[i]), out[i])


def overlaps(world, shape, position, orientation, mask, ignore) -> list:
    """See World.overlaps()."""
    scene, own = scene_of(world), _placed(world, shape, position, orientation)
    rows = np.flatnonzero(~skipped_shapes(world, scene, ignore)).astype(np.int64)
    side = Side(scene.built.model.shapes, scene.tree.pose)
    # What touches overlaps; the smallest float above zero lets a distance of 0 count.
    far = np.nextafter(0.0, 1.0)
    distance, _ = _nearest(own, side, rows, far, bits("mask", mask), each=True)
    found = {id(scene.owners[s]): scene.owners[s] for s in rows[distance <= 0.0]}
    return list(found.values())


def nearest_fixed(world, points: np.ndarray) -> np.ndarray:
    """(n,) number of the fixed thing nearest to each point, in axes of the local origin."""
    scene = scene_of(world)
    shapes = scene.built.model.shapes
    rows = np.flatnonzero(shapes.body == FIXED)
    side = Side(shapes, scene.tree.pose)
    dots = build_shapes([Entry(FIXED, DOT, DOT.position, DOT.rotation, 0, 1, -1)])
    found = np.empty(len(points), np.int64)
    for i, point in enumerate(points):
        pose = np.concatenate([point, np.eye(3).ravel()])[None]
        distance, _ = _nearest(Side(dots, pose), side, rows, inf, -1, each=True)
        found[i] = scene.built.shape_owner[rows[int(np.argmin(distance))]]
    return found


def _bounded(scene, rows) -> bool:
    return bool(np.isfinite(scene.built.model.shapes.radius[rows]).all())


def _rows_of(shapes, rows):
    """A table with these shapes alone; what it says about polytopes and surfaces is shared."""
    each = ("kind", "body", "local", "size", "radius", "thickness", "table", "surface",
            "unreduced", "material", "group", "mask")  # fmt: skip
    return shapes._replace(
        **{name: np.ascontiguousarray(getattr(shapes, name)[rows]) for name in each}
    )


def _nearest(own: Side, side: Side, rows, far: float, mask: int, each: bool = False):
    """Distance and points; of `each` shape, or of the nearest."""
    distance, out = np.empty(len(rows)), np.zeros((len(rows), 9))
    nearest_of(own, side, np.asarray(rows, np.int64), far, mask, distance, out)
    if each:
        return distance, out
    i = int(np.argmin(distance))
    return float(distance[i]), out[i]


def _placed(world, shape, position, orientation) -> Side:
    """A shape that is in no world, at a pose."""
    space = world._space
    space.check_shape(shape, "shape")
    at = np.array(space.vector("position", position)) - np.array(world._origin)
    axes = matrix_from_quaternion(space.quaternion("shape", orientation, None))
    entries = [Entry(FIXED, part, part.position, part.rotation, 0, 1, -1) for part in shape.parts()]
    shapes = build_shapes(entries)
    pose = np.empty((len(entries), 12))
    for k, part in enumerate(shape.parts()):
        pose[k, :3] = at + axes @ part.position
        pose[k, 3:] = (axes @ part.rotation).ravel()
    return Side(shapes, pose)


def _in_world(world, thing, distance: float, out: np.ndarray) -> ClosestPoints:
    origin = np.array(world._origin)
    return ClosestPoints(distance, out[:3] + origin, out[3:6] + origin, out[6:].copy(), thing)
