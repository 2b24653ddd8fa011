"""Hashes of the states that scenes run through: whether a change left all bits as they were.

A change that only moves, renames or re-plumbs code must give the same hashes before and after.
"""

import hashlib
import warnings
from typing import NamedTuple

from drystone.errors import NotConvergedWarning
from drystone.scenes import find_scene

# Everything that a step can do is in one of them: convex shapes, meshes, trees and loops of
# joints, drives, impacts, two dimensions.
SCENES = (
    "wall", "box-pile", "hull-pile", "torus-pile", "ragdoll-stairs", "jansen-linkage", "vehicle",
    "pushed-rectangle",
)  # fmt: skip
STEPS = 300


class StateHash(NamedTuple):
    digest: str  # over the hashes of all steps, sixteen hexadecimal digits
    last: str  # World.hash() at the end


def hash_scene(name: str, steps: int = STEPS) -> StateHash:
    """Hash of `steps` steps of the scene called `name`."""
    world = find_scene(name).build()
    digest = hashlib.sha256()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)
        for _ in range(steps):
            world.step()
            digest.update(world.hash().encode())
    return StateHash(digest.hexdigest()[:16], world.hash())
