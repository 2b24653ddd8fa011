"""Scenes of meshes do what they say: piles, in small variants, and the benchmark of phases."""

import json
import os

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

import drystone as ds
from drystone.bench import mesh_phases
from drystone.bench.mesh_phases import count_lost, fit_both, fit_line, measure_phases
from drystone.cli import app
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


def test_line_is_fitted():
    x = np.arange(10.0)
    slope, base, r_squared = fit_line(x, 3 * x + 2)
    assert (slope, base, r_squared) == pytest.approx((3, 2, 1))
    assert fit_line(x, np.r_[1.0, -1.0] @ np.ones((2, 10)))[0] == 0.0
    noisy = 3 * x + 2 + np.where(x % 2, 5.0, -5.0)
    assert 0.5 < fit_line(x, noisy)[2] < 0.9


def test_fit_with_bodies():
    contacts, bodies = np.arange(20.0), np.minimum(np.arange(20.0), 8.0)
    y = 3 * contacts + 7 * bodies + 2
    assert fit_both(contacts, bodies, y) == pytest.approx(1.0)
    assert fit_line(contacts, y)[2] < fit_both(contacts, bodies, y)


@pytest.mark.parametrize("method", METHODS)
def test_phases_add_up(method):
    shown = []
    small = SMALL["chess-drop"]
    row = measure_phases("chess-drop", method, 0.2, show=lambda *at: shown.append(at), **small)
    assert shown == [(10, 42), (20, 42), (30, 42), (40, 42), (42, 42)]
    blocks = {key: np.array(values) for key, values in row["blocks"].items()}
    parts = blocks["detection"] + blocks["resolution"] + blocks["other"]
    assert parts == pytest.approx(blocks["all"])
    assert row["steps"] == blocks["step"][-1] == 42
    assert row["lost"] == 0 and row["peak_gib"] > 0.01


@pytest.mark.parametrize(
    "shorter, rounds", [(0.99, mesh_phases.MOST_ROUNDS), (1.0, mesh_phases.ROUNDS)]
)
def test_solves_are_timed_until_none_gets_quicker(monkeypatch, shorter, rounds):
    clock, times = [0.0], []

    class Solver:
        def solve_bodies(self, *_):
            times.append(shorter ** len(times))
            clock[0] += times[-1]

    monkeypatch.setattr(mesh_phases, "perf_counter", lambda: clock[0])
    (least,) = mesh_phases._solve_again([(None, np.zeros((1, 3)), None)], Solver())
    assert len(times) == rounds
    assert least == pytest.approx(1e3 * times[-1])


def row_of_zeros():
    return dict.fromkeys((key for _, key, _ in mesh_phases.COLUMNS), 0)


def test_bench_of_meshes_keeps_what_is_done_when_it_is_stopped(monkeypatch, tmp_path):
    def run_apart(_, method, *rest, **options):
        if method == mesh_phases.METHODS[-1]:
            raise KeyboardInterrupt
        return row_of_zeros()

    monkeypatch.setattr(mesh_phases, "run_apart", run_apart)
    path = tmp_path / "new" / "rows.json"
    CliRunner().invoke(app, ["bench", "--mesh", "--scenes", "chess-drop", "--json", str(path)])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [row_of_zeros()]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes long uncompiled")
@pytest.mark.slow
def test_a_run_in_a_process_of_its_own_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(mesh_phases, "SHOWN_EVERY", 0.001)
    shown = []
    row = mesh_phases.run_apart(
        "chess-drop", "auto", 0.5, 1, lambda *at: shown.append(at), **SMALL["chess-drop"]
    )
    assert row["steps"] == 105 and row["lost"] == 0
    assert shown and all(at <= 105 == end for at, end in shown)


@pytest.mark.parametrize("flag, sleeping", [("--sleeping", True), ("--no-sleeping", False)])
def test_bench_of_meshes_lets_bodies_sleep_if_asked(monkeypatch, flag, sleeping):
    asked = []

    def run_apart(*_, **options):
        asked.append(options)
        return row_of_zeros()

    monkeypatch.setattr(mesh_phases, "run_apart", run_apart)
    shown = CliRunner().invoke(app, ["bench", "--mesh", "--scenes", "chess-drop", flag]).output
    assert asked == [{"sleeping": sleeping}] * 2
    assert f"sleeping {'on' if sleeping else 'off'}" in shown


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
