"""The measure of penetration sees what is put into the ground; rolled rocks are not in it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from drystone.cli import app
from drystone.rockfall.bench.penetration import energy_growth, measure_depth
from drystone.rockfall.bench.penetration_study import penetration_runs, summarise_runs
from drystone.rockfall.bench.random_trials import ROCKS, Trials, read_terrain, resized
from drystone.rockfall.engine.records import ARC, STATE, Trajectory
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.terrain.ground_surface import ground_of
from drystone.rockfall.terrain.slope import Slope
from rock_scenes import about
from shared_data import DATA, needs_data

TERRAIN = DATA / "terrain" / "avaKot.asc"


def still(x, q=(1.0, 0.0, 0.0, 0.0), q_end=None):
    """A rock that hangs at x for a second, perhaps turning."""
    arcs, states = np.zeros(1, ARC), np.zeros(2, STATE)
    arcs["t1"], arcs["x"] = 1.0, x
    states["t"], states["x"], states["q"] = [0, 1], x, [q, q if q_end is None else q_end]
    return Trajectory(arcs, None, None, None, states)


def flat():
    return ground_of(Slope.from_grid(np.full((9, 9), 10.0), 1.0, origin=(-4.0, -4.0)))


@pytest.mark.parametrize("depth", [-0.05, 0.02, 0.1])
@pytest.mark.parametrize("rock", [Rock.block(1, 1, 0.5), Rock.sphere(0.5), ROCKS["L"]()])
def test_depth_of_a_rock_in_flat_ground(rock, depth):
    low = rock.vertices[:, 2].min() - rock.rounding
    found = measure_depth(rock, still((0.13, 0.21, 10.0 - low - depth)), flat())
    # Ground that a rock's ball does not reach is not looked at.
    seen = depth > 0.0 or rock.rounding == 0.0
    assert found.depth == (pytest.approx(depth, abs=1e-9) if seen else -np.inf)
    assert found.height == pytest.approx(-low - depth)


def test_a_rock_below_the_ground_has_tunnelled():
    assert measure_depth(Rock.sphere(0.5), still((0.1, 0.1, 8.0)), flat()).height < 0.0


def test_a_ridge_in_a_face_is_seen():
    """A ridge 0.1 m into the bottom of a wide block, far from its edges and from the nodes."""
    y = np.arange(-4, 5)
    slope = Slope.from_grid(np.tile(10.0 - np.abs(y)[:, None] * 0.8, (1, 9)), 1.0, (-4.0, -4.0))
    rock = Rock.block(0.9, 1.5, 0.5)
    found = measure_depth(rock, still((0.5, 0.0, 10.15)), ground_of(slope))
    assert found.depth == pytest.approx(0.1, abs=1e-9)


def test_a_turn_between_two_states_is_followed():
    """A bar upright at half time, lying before and after: its end is deep only between."""
    bar = Rock.block(1.6, 0.2, 0.2)
    turning = still((0.0, 0.0, 10.5), about("y", 10), about("y", 170))
    assert measure_depth(bar, turning, flat()).depth == pytest.approx(0.3, abs=0.02)


def test_energy_that_grows_is_seen():
    rock = Rock.sphere(1.0)
    states = np.zeros(3, STATE)
    states["q"] = [1, 0, 0, 0]
    states["x"][:, 2] = [10.0, 5.0, 0.0]
    drop = 5.0 * 9.81
    states["v"][:, 0] = np.sqrt([0.0, 2.2 * drop, 2.0 * drop])  # 0.1 of the drop too much, once
    assert energy_growth(rock, states, 9.81) == pytest.approx(0.5 / 5.0, rel=1e-9)


def test_refined_ground_keeps_its_nodes_and_coarse_has_every_second():
    rng = np.random.default_rng(1)
    z = rng.uniform(0, 5, (12, 15))
    z[3, 4] = np.nan
    slope = Slope.from_grid(z, 2.0, origin=(100.0, 50.0))
    fine, coarse = resized(slope, 2.0), resized(slope, 0.5)
    x, y = 100.0 + 2.0 * np.arange(15), 50.0 + 2.0 * np.arange(12)
    for other, step in ((fine, 1), (coarse, 2)):
        place = np.meshgrid(x[::step], y[::step])
        found = other.height(*(p - o for p, o in zip(place, other.origin, strict=False)))
        known = np.isfinite(found)
        assert known.sum() > 0.7 * known.size
        np.testing.assert_allclose(found[known], z[::step, ::step][known], atol=1e-12)


def test_a_trial_depends_on_its_number_alone():
    trials = Trials(read_terrain(None))
    again = Trials(read_terrain(None))
    late = trials.draw(7)
    for run in (2, 7):
        last = again.draw(run)
    assert late.start.position.tobytes() == last.start.position.tobytes()
    assert late.rock.mass == last.rock.mass and late.friction == last.friction


@needs_data(TERRAIN, "penetration of rocks into an elevation model")
@pytest.mark.slow
def test_no_rock_penetrates_a_real_terrain():
    """The short twin of `drystone rockfall penetration`, whose 10,000 runs stand in the docs."""
    figures = [f for part in penetration_runs(TERRAIN, 36, seed=5, workers=1) for f in part]
    every = summarise_runs(figures)[-1]
    assert every["runs"] == 36 and every["steps"] > 36 * 100
    assert every["penetrated"] == every["tunnelled"] == every["failed"] == 0
    assert every["depth_worst"] < 0.0  # not even touched: rocks stop before the ground
    assert every["growth_worst"] < 1e-2
    assert {f.rock for f in figures} == set(ROCKS)


@pytest.mark.slow
def test_commands_print_tables_and_write_json(tmp_path, monkeypatch):
    """On the synthetic valley, which is there for everybody."""
    monkeypatch.setenv("DRYSTONE_DATA", str(tmp_path))
    for name, extra in (
        ("penetration", ["--runs", "6", "--workers", "1"]),
        ("bench", ["--count", "3", "--factors", "0.5", "--rocks", "box", "--repeat", "1"]),
    ):
        file = tmp_path / f"{name}.json"
        done = CliRunner().invoke(app, ["rockfall", name, *extra, "--json", str(file)])
        assert done.exit_code == 0, done.output
        rows = json.loads(file.read_text())["rows"]
        assert all(row["failed"] == 0 for row in rows) and "box" in done.output
    done = CliRunner().invoke(app, ["rockfall", "bench", "--factors", "3"])
    assert done.exit_code == 2 and "power of two" in done.output
