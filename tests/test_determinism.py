"""One hash: for any number of threads, for every run, and across a checkpoint."""

import os

import pytest

from drystone.solvers import SOLVERS
from two_threads import printed_by

SCRIPT = """
import sys
import numba
import numpy as np
import drystone as ds

threads, path = int(sys.argv[1]), sys.argv[2]
numba.set_num_threads(threads)


def pile():
    rng = np.random.default_rng(11)
    stone = ds.Material(density=2600, friction=0.5)
    world = ds.World(solver=sys.argv[3])
    world.add_fixed(ds.Plane(), stone)
    for side in (-1, 1):
        world.add_fixed(ds.Plane(normal=(side, 0, 0), offset=-1.1), stone)
        world.add_fixed(ds.Plane(normal=(0, side, 0), offset=-1.1), stone)
    corners = rng.normal(size=(10, 3))
    hull = ds.ConvexHull(0.3 * corners / np.linalg.norm(corners, axis=1)[:, None])
    shapes = [
        ds.Box(0.5, 0.4, 0.3), ds.Sphere(0.22), hull, ds.Box(0.45, 0.45, 0.2),
        ds.Cylinder(0.2, 0.4), ds.Capsule(0.15, 0.3),
    ]
    for k in range(180):
        turn = rng.normal(size=4)
        world.add_body(
            shapes[k % len(shapes)] if k % 3 else shapes[0], stone,
            position=(0.62 * (k % 4) - 0.93, 0.62 * (k // 4 % 4) - 0.93, 0.4 + 0.55 * (k // 16)),
            orientation=turn / np.linalg.norm(turn),
        )
    return world


def states(world, steps):
    most = 0
    for _ in range(steps // 30):
        world.run(30 * world.dt)
        most = max(most, world.info.contacts)
        print(world.hash())
    return most


world = pile()
most = states(world, 300)
if path != "-":
    world.save(path)
    world = ds.World.load(path)
most = max(most, states(world, 300))
print("contacts", most)
"""


def run_pile(threads, solver, path="-"):
    """Twenty hashes over 600 steps, and the largest number of contacts."""
    *hashes, contacts = printed_by(SCRIPT, threads, path, solver).split("\n")[:-1]
    return hashes, int(contacts.split()[1])


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes hours uncompiled")
@pytest.mark.parametrize("solver", [name for name in SOLVERS if SOLVERS[name].compiled])
@pytest.mark.slow
def test_bits_do_not_depend_on_threads_runs_or_checkpoints(solver, tmp_path):
    """180 mixed bodies, 600 steps, more contacts than the 512 up to which one thread works alone.

    One hash says it all: one and two threads, five runs, one of which was saved after 300 steps
    and goes on from the file.
    """
    hashes, contacts = run_pile(1, solver)
    assert contacts > 512
    assert len(set(hashes)) == 20  # it moves all the time
    for threads in (2, 1, 2) if solver == "auto" else (2,):
        assert run_pile(threads, solver)[0] == hashes
    assert run_pile(2, solver, tmp_path / "half.h5")[0] == hashes
