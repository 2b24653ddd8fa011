"""Scenes of meshes do what they say: piles, in small variants."""

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.bench.mesh_phases import count_lost
from drystone.scenes import SCENES
from drystone.scenes.chess import board_half_width
from drystone.solvers import SOLVERS

SMALL = {
    "chess-drop": {"count": 12, "per_side": 2},
    "hopper": {"count": 18, "per_side": 3},
    "helmets": {"count": 5, "per_side": 2, "rings": 12, "sections": 20},
    "bunny-bowl": {"count": 4},
    "torus-pile": {"count": 18, "per_side": 3, "inner": 0.5},
    "torus-chain": {"count": 5},
    "loop": {"turn_deg": 2.0},
    "gears": {"rows": 2},
    "mechanism": {},
    "peg-in-hole": {},
    "u-channel": {},
}
METHODS = [name for name in ("auto", "ffd") if name in SOLVERS]


def total_energy(world):
    energy = world.energy()
    return energy.kinetic + energy.potential


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SMALL)
def test_scene_runs_with_both_methods(name, method):
    """The first steps: finite, nothing deep in anything, no energy from nowhere."""
    world = SCENES[name].build(solver=method, **SMALL[name])
    before = total_energy(world)
    world.run(20 * world.dt)
    assert np.isfinite(world.positions).all()
    assert total_energy(world) <= before + 1e-6 * abs(before)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_chess_pieces_stay_on_the_board(method):
    world = SCENES["chess-drop"].build(solver=method, **SMALL["chess-drop"])
    world.run(2.5)  # pieces stand on others for a while, and topple
    assert count_lost(world, board_half_width(2)) == 0
    assert world.energy().kinetic < 0.5


@pytest.mark.slow
def test_pieces_leave_the_hopper_through_its_outlet():
    """All below the outlet in the end, and none through the wall of the cone on the way."""
    world = SCENES["hopper"].build(**SMALL["hopper"], friction=0.1)
    hopper = world["hopper"]
    height, outlet = hopper.position[2], 0.8
    for _ in range(20):
        world.run(0.1)
        centre = np.array([body.centre for body in world.bodies])
        radius = np.hypot(*centre[:, :2].T)
        inside = centre[:, 2] > height
        # The inner side of the cone, at the height of each centre: slope of 45 degrees.
        assert (radius[inside] < outlet + centre[inside, 2] - height).all()
    assert (centre[:, 2] < height).all()


@pytest.mark.slow
def test_helmets_stay_whole_and_apart():
    world = SCENES["helmets"].build(**SMALL["helmets"])
    world.run(0.5)
    assert count_lost(world, 2 * 0.48 / 2 + 0.05) == 0


@pytest.mark.slow
def test_animals_stay_in_the_bowl():
    world = SCENES["bunny-bowl"].build(**SMALL["bunny-bowl"])
    world.run(1.5)
    bowl = world["bowl"].position
    for body in world.bodies:
        assert np.linalg.norm(body.centre - bowl) < 0.8
    assert world.energy().kinetic < 0.1


@pytest.mark.slow
def test_tori_stay_in_their_box():
    world = SCENES["torus-pile"].build(**SMALL["torus-pile"])
    world.run(1.0)
    assert count_lost(world, 0.5) == 0
    assert world.info.penetration < 3e-4


@pytest.mark.slow
def test_few_contacts_hold_rings_as_all_of_them_do():
    """Three rings on each other: the same height within 1 %, at most eleven contacts a pair."""
    ring = trimesh.creation.torus(0.1, 0.04, major_sections=16, minor_sections=8)
    heights, most = [], []
    for reduce in (True, False):
        mesh = ds.Mesh(ring.vertices, ring.faces, reduce=reduce)
        world = ds.World(sleeping=False)
        world.add_fixed(ds.Plane())
        for k in range(3):
            top = world.add_body(mesh, position=(0.01 * k, 0.0, 0.045 + 0.09 * k))
        world.run(0.5)
        table = world.contacts()
        pairs = np.stack([table.body_a, table.body_b])
        heights.append(top.position[2])
        most.append(np.unique(pairs, axis=1, return_counts=True)[1].max())
    assert most[0] < 12 < most[1]
    assert heights[1] == pytest.approx(heights[0], rel=0.01)
