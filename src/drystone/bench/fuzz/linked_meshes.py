"""Random pairs of meshes linked or hooked into each other, too deep: each must be pushed out.

Tori, knots and hooks of 5 to 200 sections, up to 90 % of the smaller wall in each other.
"""

from pathlib import Path

import numpy as np

import drystone as ds
from drystone.bench.fuzz.case import Case, Family, Misbehaviour
from drystone.bench.fuzz.linked_tubes import linking_number, nearest, random_pair, surfaces_cross
from drystone.model.rotation import matrix_from_quaternion, quaternion_from_matrix

MOST_SECTIONS = 200
STEPS = 400
TOUCHING = 5e-3  # of the smaller wall: what may be left of an overlap


def _overlap(a, b, rotation, position):
    """Whether the surfaces of a pair cross where they are nearest: facets of tubes with few
    sections may not meet where round ones are deep in each other."""
    theirs = b.line @ rotation.T + position
    _, i, j = nearest(a.line, theirs)
    return surfaces_cross(
        a.vertices, a.faces, b.vertices @ rotation.T + position, b.faces,
        0.5 * (a.line[i] + theirs[j]), 2.0 * (a.radius + b.radius),
    )  # fmt: skip


def run_case(case: Case) -> None:
    """One pair, in a world without gravity."""
    a, b, rotation, position, share, linked = random_pair(case.rng, MOST_SECTIONS)
    case.group = "linked" if linked is not None else "hooked"
    case.note(f"{a.kind} {len(a.faces)} in {b.kind} {len(b.faces)}, {share:.2f} of the wall")
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    stone = ds.Material(density=1000, friction=0.0)
    bodies = [
        world.add_body(ds.Mesh(a.vertices, a.faces), stone),
        world.add_body(
            ds.Mesh(b.vertices, b.faces), stone, position=position,
            orientation=quaternion_from_matrix(rotation),
        ),
    ]  # fmt: skip
    wall = 2 * min(a.inner, b.inner)
    info = world.step()
    if not info.contacts and not info.unresolved and _overlap(a, b, rotation, position):
        raise Misbehaviour("no contact", f"{share:.2f} of the wall, and no contact")
    for _ in range(STEPS):
        if info.penetration <= TOUCHING * wall:
            break
        info = world.step()
    else:
        if info.converged:
            raise Misbehaviour("stuck", f"still {info.penetration / wall:.2f} of the wall deep")
        return
    lines = [
        tube.line @ matrix_from_quaternion(body.orientation).T + body.position
        for tube, body in zip((a, b), bodies, strict=True)
    ]
    if linked is not None and linking_number(*lines) != linked:
        raise Misbehaviour("passed", f"linked {linked} times before, {linking_number(*lines)} now")


def prepare(folder: Path) -> None:
    """Nothing is shared; a step, so that no case compiles it."""
    a, *_ = random_pair(np.random.default_rng(0), 8)
    world = ds.World()
    for _ in range(2):
        world.add_body(ds.Mesh(a.vertices, a.faces))
    world.step()


FAMILY = Family(prepare, run_case, batch=50, megabytes=2048.0)
