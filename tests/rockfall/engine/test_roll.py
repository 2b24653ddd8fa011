"""Whole trajectories on planes: closed forms, stopping conditions, barriers, forest, threads."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.engine.barriers import Barriers
from drystone.rockfall.engine.records import (
    BARRIER,
    CONTACT,
    FLIGHT,
    JITTER,
    LEFT,
    OVERTOPPED,
    PASSED,
    POSITION,
    STEPS,
    STOPPED,
    TIME,
    VELOCITY,
)
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Scene, Start, roll, roll_many
from drystone.rockfall.terrain.materials import Texture, build_surface, uniform_surface
from drystone.rockfall.terrain.slope import Slope
from rock_scenes import GRAVITY, about, downhill, matrix, plane


def lying(rock, slope_deg, height, velocity=0.0):
    """Start of a rock with its centre `height` over the plane, its z axis along the normal."""
    way, out = downhill(slope_deg)
    return Start(out * height, way * velocity, about("y", slope_deg))


def end_position(trajectory):
    """Where the last arc ends."""
    arc = trajectory.arcs[-1]
    s = arc["t1"] - arc["t0"]
    return arc["x"] + arc["v"] * s + 0.5 * arc["a"] * s * s


def test_arcs_are_continuous_and_end_where_the_rock_does():
    trajectory = roll(Rock.block(1, 0.8, 0.5), Start((0, 0, 4.0), spin=(2, 3, 1)), plane(35))
    arcs = trajectory.arcs
    s = (arcs["t1"] - arcs["t0"])[:, None]
    ends = arcs["x"] + arcs["v"] * s + 0.5 * arcs["a"] * s * s
    assert arcs["t0"][1:] == pytest.approx(arcs["t1"][:-1])
    assert np.abs(ends[:-1] - arcs["x"][1:]).max() < 1e-3  # a rock may step away from the slope
    assert end_position(trajectory) == pytest.approx(trajectory.end["x"], abs=1e-9)
    assert trajectory.end["arcs"] == len(arcs)
    assert trajectory.end["impacts"] == len(trajectory.impacts) > 0


@pytest.mark.parametrize("slope, mu", [(30, 0.3), (40, 0.5), (50, 0.0)])
def test_a_block_slides_as_it_should(slope, mu):
    rock, a = Rock.block(1, 1, 0.5), np.radians(slope)
    start = lying(rock, slope, 0.2503)
    trajectory = roll(rock, start, plane(slope, 0.0, mu), Options(max_time=4.0))
    way = np.linalg.norm(trajectory.end["x"] - start.position)
    wanted = 0.5 * GRAVITY * (np.sin(a) - mu * np.cos(a)) * 16.0
    assert way == pytest.approx(wanted, rel=1e-6)
    assert len(trajectory.arcs) <= 2  # one long arc


@pytest.mark.parametrize("slope, mu", [(20, 0.5), (30, 0.1)])
def test_a_sphere_rolls_or_slips(slope, mu):
    """5/7 g sin a if it rolls, g (sin a - mu cos a) if it slips; it rolls for mu >= 2/7 tan a."""
    rock, a = Rock.sphere(1.0), np.radians(slope)
    start = lying(rock, slope, 0.5003)
    trajectory = roll(rock, start, plane(slope, 0.0, mu), Options(max_time=4.0))
    rolls = mu >= 2.0 / 7.0 * np.tan(a)
    rate = 5.0 / 7.0 * np.sin(a) if rolls else np.sin(a) - mu * np.cos(a)
    way = np.linalg.norm(trajectory.end["x"] - start.position)
    assert way == pytest.approx(8.0 * GRAVITY * rate, rel=2e-3)
    last = trajectory.arcs[-1]
    slip = np.linalg.norm(last["v"]) - 0.5 * np.linalg.norm(last["w"])
    assert (abs(slip) < 0.05) == rolls


def test_a_sphere_bounces_with_its_coefficient():
    trajectory = roll(Rock.sphere(1.0), Start((0, 0, 5.5)), plane(0, 0.6))
    hits = trajectory.impacts
    assert hits["t"][0] == pytest.approx(np.sqrt(10.0 / GRAVITY), rel=1e-3)
    assert -hits["v_out"][:, 2] / hits["v_in"][:, 2] == pytest.approx(np.full(len(hits), 0.6))
    peaks = hits["v_out"][:, 2] ** 2 / (2 * GRAVITY)
    assert peaks[1:] / peaks[:-1] == pytest.approx(np.full(len(hits) - 1, 0.36), rel=1e-2)
    flights = np.diff(hits["t"])
    assert flights == pytest.approx(2 * hits["v_out"][:-1, 2] / GRAVITY, rel=1e-2)
    assert trajectory.end["reason"] == VELOCITY


@pytest.mark.parametrize("shape", ["block", "hull", "sphere"])
def test_below_the_friction_angle_a_rock_stays_for_600_seconds(shape):
    """tan 20° = 0.364 < 0.5; nothing stops it but friction, since all stopping is switched off."""
    points = np.random.default_rng(0).normal(size=(40, 3)) * [0.5, 0.5, 0.15]
    rock = {"block": Rock.block(1, 1, 0.5), "hull": Rock.hull(points), "sphere": Rock.sphere(1.0)}[
        shape
    ]
    slope = 0.0 if shape == "sphere" else 20.0
    scene = plane(slope, 0.2, 0.5)
    stopped = roll(rock, lying(rock, slope, 0.3 + rock.radius), scene).end
    assert stopped["reason"] in (VELOCITY, JITTER)
    never = Options(stop_speed=0.0, jitter_size=0.0, max_time=2.0)
    settled = roll(rock, Start(stopped["x"], orientation=stopped["q"]), scene, never).end
    start = Start(settled["x"], orientation=settled["q"])
    still = roll(rock, start, scene, never._replace(max_time=600.0))
    assert still.end["reason"] == TIME
    assert np.linalg.norm(still.end["x"] - start.position) < 1e-9
    assert np.linalg.norm(settled["x"] - stopped["x"]) < 5e-3 * rock.radius
    assert len(still.impacts) == 0


def test_velocity_stops():
    end = roll(Rock.block(1, 1, 0.5), Start((0, 0, 2.0)), plane(10, 0.2, 0.6)).end
    assert end["reason"] == VELOCITY


def test_position_stops_a_rock_that_runs_out_of_the_box():
    scene = plane(30, 0.2, 0.3, size=20.0)
    end = roll(Rock.sphere(1.0), Start((0, 0, 2.0)), scene).end
    assert end["reason"] == POSITION
    assert end["x"][0] == pytest.approx(20.0, abs=1.0)


def test_jitter_stops_a_rock_that_never_comes_to_rest():
    """A sphere creeping at 2 mm/s on the level: no friction, faster than the speed to stop at."""
    options = Options(stop_speed=1e-3, jitter_time=0.5)
    start = Start((0, 0, 0.5003), velocity=(2e-3, 0, 0))
    end = roll(Rock.sphere(1.0), start, plane(0, 0.0, 0.0), options).end
    assert end["reason"] == JITTER
    assert end["t"] == pytest.approx(0.5, abs=0.02)


def test_steps_and_time_stop_what_nothing_else_does():
    scene = plane(30, 0.2, 0.0, size=1e5)
    start = Start((0, 0, 2.0))
    assert roll(Rock.sphere(1.0), start, scene, Options(max_steps=500)).end["reason"] == STEPS
    end = roll(Rock.sphere(1.0), start, scene, Options(max_time=3.0)).end
    assert end["reason"] == TIME and end["t"] == pytest.approx(3.0)


def test_a_hole_in_the_slope_is_left():
    """A square with one triangle missing."""
    vertices = np.array([[-50, -50, 0], [50, -50, 0], [50, 50, 0], [-50, 50, 0], [0, 0, 0.0]])
    scene = Scene.build(
        vertices,
        [[0, 1, 4], [2, 3, 4], [3, 0, 4]],
        build_surface(np.empty((0, 3), int), [0.3], [0.2]),
    )
    end = roll(Rock.sphere(1.0), Start((-5, 0, 0.6), velocity=(8, 0, 0)), scene).end
    assert end["reason"] == LEFT
    assert end["x"][0] == pytest.approx(0.0, abs=0.3)


@pytest.mark.parametrize("shape", ["sphere", "block"])
def test_a_rock_that_rolls_along_a_grid_line_stays_on_the_slope(shape):
    """Its centre is over an edge in every step, where rounding picks the cell and the triangle."""
    cell, ends = 1.0 / 3.0, []
    x = np.arange(41)
    slope = Slope.from_grid(
        np.tile(100.0 - 0.3 * cell * x, (41, 1)), cell, origin=(123456.789, 987654.321)
    )
    scene = Scene.build(slope.vertices, slope.triangles, uniform_surface(0.2, 0.3))
    rock = Rock.sphere(0.4 * cell) if shape == "sphere" else Rock.block(*[0.4 * cell] * 3)
    east, north = np.unique(slope.vertices[:, 0]), np.unique(slope.vertices[:, 1])
    for y in north[1:-1:3]:
        z = float(slope.height(east[1], y)) + 1.2 * rock.radius
        ends.append(roll(rock, Start((east[1], y, z), velocity=(2.0, 0, 0)), scene).end)
        if shape == "sphere":
            assert ends[-1]["x"][1] == y
    assert {end["reason"] for end in ends} <= {POSITION, VELOCITY}


def fence(capacity, height, at=5.0):
    feet = np.array([[at, -50.0, 0.0]]), np.array([[at, 50.0, 0.0]])
    return Barriers(*feet, np.array([height]), np.zeros(1, np.int32), np.array([capacity]))


def test_a_barrier_takes_its_capacity_or_all():
    rock = Rock.sphere(1.0)
    start = Start((0, 0, 0.5003), velocity=(10.0, 0, 0))
    energy = 0.5 * rock.mass * 100.0
    weak = roll(
        rock, start, plane(0, 0.0, 0.0, barriers=fence(0.36 * energy, 2.0)), Options(max_time=2.0)
    )
    crossing = weak.crossings[0]
    assert len(weak.crossings) == 1
    assert crossing["outcome"] == PASSED
    assert crossing["t"] == pytest.approx(0.5)
    assert crossing["x"][0] == pytest.approx(5.0)
    assert crossing["height"] == pytest.approx(0.5003)
    assert crossing["taken"] == pytest.approx(0.36 * energy)
    assert crossing["energy"] == pytest.approx(energy)
    assert weak.arcs["v"][-1][0] == pytest.approx(8.0)
    strong = roll(rock, start, plane(0, 0.0, 0.0, barriers=fence(2.0 * energy, 2.0)))
    assert strong.end["reason"] == BARRIER
    assert strong.crossings["outcome"].tolist() == [STOPPED]
    assert strong.crossings["taken"][0] == pytest.approx(energy)
    assert strong.end["x"][0] == pytest.approx(5.0)


def test_a_barrier_is_overtopped_by_what_flies_over_it():
    start = Start((0, 0, 5.0), velocity=(20.0, 0, 0))
    trajectory = roll(Rock.sphere(1.0), start, plane(0, 0.3, 0.5, barriers=fence(1e9, 2.0)))
    crossing = trajectory.crossings[0]
    assert crossing["outcome"] == OVERTOPPED and crossing["taken"] == 0.0
    assert crossing["height"] == pytest.approx(5.0 - 0.5 * GRAVITY * 0.25**2, rel=1e-9)
    assert trajectory.end["x"][0] > 6.0


def test_trees_slow_the_fall_exactly():
    """Horizontal flight in a drag zone: x = v / k (1 - exp(-k t)), k = c / m."""
    shapely = pytest.importorskip("shapely")
    from drystone.rockfall.engine.forest_drag import build_forest

    rock = Rock.sphere(1.0)
    forest = build_forest([shapely.box(-200, -200, 200, 200)], [rock.mass * 0.8], [100.0])
    start = Start((0, 0, 60.0), velocity=(20.0, 0, 0))
    end = roll(rock, start, plane(0, forest=forest), Options(max_time=2.0)).end
    assert end["x"][0] == pytest.approx(20.0 / 0.8 * (1.0 - np.exp(-1.6)), rel=1e-3)
    fallen = -GRAVITY / 0.8 * (2.0 - (1.0 - np.exp(-1.6)) / 0.8)
    assert end["x"][2] - 60.0 == pytest.approx(fallen, rel=1e-3)


@pytest.mark.slow
def test_any_number_of_threads_and_any_buffers_give_the_same_bits(monkeypatch):
    rng = np.random.default_rng(5)
    rocks = [Rock.block(1, 0.8, 0.5).scaled(s) for s in rng.uniform(0.5, 1.5, 70)]
    starts = [Start((0, 0, 4.0), orientation=rng.normal(size=4)) for _ in rocks]
    scene = plane(32, 0.4, 0.5)
    pairs = zip(rocks, starts, strict=True)
    alone = [roll(rock, start, scene, states=True) for rock, start in pairs]
    for threads in (1, 2):
        many = roll_many(rocks, starts, scene, threads=threads, states=True)
        for one, other in zip(alone, many, strict=True):
            for a, b in zip(one, other, strict=True):
                assert a.tobytes() == b.tobytes()
    monkeypatch.setattr("drystone.rockfall.engine.event_log.ARCS", 40)
    monkeypatch.setattr("drystone.rockfall.engine.event_log.IMPACTS", 5)
    monkeypatch.setattr("drystone.rockfall.engine.event_log.FOUND", 1)
    monkeypatch.setattr("drystone.rockfall.engine.roll.FOUND", 1)
    small = roll_many(rocks, starts, scene, threads=1)
    assert all(a.arcs.tobytes() == b.arcs.tobytes() for a, b in zip(alone, small, strict=True))


def test_states_are_those_of_every_step():
    """They start and end with the rock, and their places are those of the arcs."""
    start = Start((0, 0, 4.0), orientation=(0.8, 0, 0.6, 0), spin=(2, 3, 1))
    trajectory = roll(Rock.block(1, 0.8, 0.5), start, plane(35), states=True)
    states, arcs, end = trajectory.states, trajectory.arcs, trajectory.end
    assert states["x"][0] == pytest.approx(start.position) and states["t"][0] == 0.0
    assert states["q"][0] == pytest.approx(start.orientation)
    assert (states["x"][-1] == end["x"]).all() and (states["q"][-1] == end["q"]).all()
    arc = np.clip(np.searchsorted(arcs["t1"], states["t"]), 0, len(arcs) - 1)
    s = (states["t"] - arcs["t0"][arc])[:, None]
    x = arcs["x"][arc] + arcs["v"][arc] * s + 0.5 * arcs["a"][arc] * s * s
    assert np.abs(x - states["x"]).max() < 1e-9
    assert roll(Rock.block(1, 0.8, 0.5), start, plane(35)).states is None


def test_energy_of_rotation_in_arcs_is_exact():
    """Where impacts know it too, before and after, and in flight it never grows."""
    start = Start((0, 0, 4.0), spin=(2, 3, 1))
    rock = Rock.block(1, 0.7, 0.4)
    trajectory = roll(rock, start, plane(35, 0.5, 0.5))
    arcs, hits = trajectory.arcs, trajectory.impacts
    spin = 0.5 * (rock.inertia * np.array(start.spin) ** 2).sum()
    assert arcs["e_spin"][0, 0] == pytest.approx(spin)
    flies = arcs["kind"] == FLIGHT
    assert (arcs["e_spin"][flies, 1] <= arcs["e_spin"][flies, 0] * (1 + 1e-9)).all()
    translation_in = 0.5 * rock.mass * (hits["v_in"] ** 2).sum(axis=1)
    translation_out = 0.5 * rock.mass * (hits["v_out"] ** 2).sum(axis=1)
    before = np.searchsorted(arcs["t1"], hits["t"])
    after = np.searchsorted(arcs["t0"], hits["t"])
    ends, starts = arcs["e_spin"][before, 1], arcs["e_spin"][after, 0]
    assert ends == pytest.approx(hits["e_in"] - translation_in, abs=1e-9 * hits["e_in"].max())
    assert starts == pytest.approx(hits["e_out"] - translation_out, abs=1e-9 * hits["e_in"].max())


def test_each_rock_may_have_its_own_materials():
    rock, scene = Rock.sphere(1.0), plane(0, 0.5, 0.5)
    bounce = np.array([[0.2], [0.9]])
    both = roll_many([rock] * 2, [Start((0, 0, 3.0))] * 2, scene, materials=(bounce, 0 * bounce))
    for e, trajectory in zip((0.2, 0.9), both, strict=True):
        hit = trajectory.impacts[0]
        assert -hit["v_out"][2] / hit["v_in"][2] == pytest.approx(e)


def test_wrong_input_is_named():
    rock, scene = Rock.sphere(1.0), plane(0)
    with pytest.raises(InputError, match="start: position"):
        roll(rock, Start((0, 0, np.nan)), scene)
    with pytest.raises(InputError, match="orientation"):
        roll(rock, Start((0, 0, 1), orientation=(0, 0, 0, 0)), scene)
    with pytest.raises(InputError, match="friction_directions is 5"):
        roll(rock, Start((0, 0, 1)), scene, Options(friction_directions=5))
    with pytest.raises(InputError, match="2 rocks but 1"):
        roll_many([rock] * 2, [Start((0, 0, 1))], scene)
    with pytest.raises(InputError, match=r"shape \(1,\)"):
        roll_many([rock], [Start((0, 0, 1))], scene, materials=(np.zeros(1), np.zeros(1)))
    with pytest.raises(InputError, match="texture is array"):
        build_surface(scene.grid.triangle, [0.3], [0.5], texture=np.full(3, np.nan))
    with pytest.raises(InputError, match="texture: ids is"):
        wrong = Texture(np.full((2, 2), 7, np.int32), np.zeros(2), np.ones(2))
        build_surface(scene.grid.triangle, [0.3], [0.5], texture=wrong)
    with pytest.raises(InputError, match="regions is"):
        build_surface(scene.grid.triangle, [0.3], [0.5], regions="all")
    for name in ("barriers", "forest", "surface"):
        parts = {"surface": scene.surface} | {name: "oak"}
        with pytest.raises(InputError, match=f"scene: {name} is 'oak'"):
            Scene.build(scene.grid.vertex, scene.grid.triangle, **parts)


class TestLeine2014:
    """Leine et al. 2014, 5.1 and 5.2; numbers from the paper."""

    block = replace(
        Rock.block(2.0, 10.0, 2.0, 2000.0), inertia=np.array([816_000.0, 32_000.0, 816_000.0])
    )

    def slide(self, mu):
        scene = plane(45, 0.0, mu, size=500.0)
        start = lying(self.block, 45, 1.001, velocity=15.0)
        return roll(self.block, start, scene, Options(max_time=0.5))

    @pytest.mark.parametrize("mu", [0.2, 0.6, 0.9, 0.97])
    def test_the_block_slides_flat_below_one(self, mu):
        end = self.slide(mu).end
        assert np.abs(matrix(end["q"]) - matrix(about("y", 45))).max() < 1e-6

    @pytest.mark.parametrize("mu", [1.05, 1.3])
    def test_the_rear_opens_above_one(self, mu):
        end = self.slide(mu).end
        turn = matrix(end["q"]) @ matrix(about("y", 45)).T
        assert turn[0, 2] > 0.01  # forward, over its front edge

    def test_friction_that_grows_opens_the_rear_when_it_passes_one(self):
        """mu(s) = 0.2 + 2/pi 1.1 arctan(0.7 s) with the way s, as in the paper, in one slide."""
        scene, (way, _) = plane(45, 0.0, 0.0, size=500.0), downhill(45)
        start, slid, turning = lying(self.block, 45, 1.001, velocity=5.0), [], []
        first = np.array(start.position)
        for _ in range(400):
            s = (np.array(start.position) - first) @ way
            mu = 0.2 + 2.2 / np.pi * np.arctan(0.7 * s)
            values = [[0.0]], [[mu]]
            one = roll_many(
                [self.block], [start], scene, Options(max_time=0.01), values, 1, states=True
            )[0]
            state = one.states[-1]
            start = Start(state["x"], state["v"], state["q"], state["w"])
            slid.append(mu)
            turning.append(state["w"][1])
            if mu > 1.1:
                break
        mu, spin = np.array(slid), np.array(turning)
        assert mu[-1] > 1.1 and np.abs(spin[mu < 0.999]).max() < 1e-9
        assert (spin[mu > 1.001] > 0.0).all()  # over its front edge: the rear has left the ground

    def test_the_wheel_effect(self):
        """Rotation about the axis of least inertia ends about that of the largest."""
        rock = Rock.block(2.5, 3.0, 1.0, 3000.0)
        assert rock.inertia == pytest.approx([18_750.0, 13_593.75, 28_593.75])
        scene, (way, out) = plane(27, 0.0, 10.0, size=20_000.0), downhill(27)
        rng = np.random.default_rng(0)
        starts = [
            Start(
                -19_000.0 * way + out * rng.uniform(1.6, 1.8), 28.0 * way,
                about("y", 27.0 + rng.uniform(0, 90)), [0, 20.8, 0] + rng.normal(size=3) * 0.3,
            )
            for _ in range(20)
        ]  # fmt: skip
        rolled = roll_many([rock] * 20, starts, scene, Options(max_time=100.0), threads=1)
        moving = [r for r in rolled if r.end["reason"] == TIME]
        assert len(moving) >= 6
        for trajectory in moving:
            spin = matrix(trajectory.end["q"]).T @ trajectory.arcs["w"][-1]
            assert abs(spin[2]) > 1.5 * np.hypot(spin[0], spin[1])


def test_contact_arcs_are_marked():
    trajectory = roll(
        Rock.block(1, 1, 0.5), lying(None, 30, 0.2503), plane(30, 0.0, 0.3), Options(max_time=1.0)
    )
    assert (trajectory.arcs["kind"] == CONTACT).any()


def test_options_become_what_kernels_take():
    clean = Options(skin=Fraction(1, 100), contacts=np.int8(4), gravity=9).check()
    assert clean == Options(skin=0.01, contacts=4, gravity=9.0)
    assert [type(value) for value in clean] == [type(value) for value in Options()]
    with pytest.raises(InputError, match="friction_directions"):
        Options(friction_directions=10**5000).check()
