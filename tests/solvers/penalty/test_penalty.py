"""The penalty method against closed forms: PENALTY (1) to (3), friction, impacts, Runge-Kutta."""

from dataclasses import replace

import numpy as np
import pytest

import drystone as ds
from drystone.solvers.penalty.patch import IMPACT, INTEGRAL, MODE, REST

G = 9.81


def ground(solver, friction=0.5, restitution=0.0, **options):
    """A world with a plane, and its material."""
    world = ds.World(**({"dt": 1e-3, "sleeping": False, "solver": solver} | options))
    stuff = ds.Material(friction=friction, restitution=restitution)
    world.add_fixed(ds.Plane(), stuff)
    return world, stuff


@pytest.mark.parametrize("points", [1, 24])
@pytest.mark.parametrize("forgetting", [0.0, 0.85])
def test_a_ball_at_rest_is_as_deep_as_the_law_says(points, forgetting):
    """(3) at rest: m g = k_p d + k_i I with I = d / (1 - forgetting); of one point or of many.

    The integral of a step is that of the steps before it, so that nothing is left over.
    """
    gains = ds.Penalty(
        5000, 400, 200, forgetting, per_kilogram=False, points=points, limit_gains=False
    )
    world, stuff = ground(gains)
    box = world.add_body(ds.Box(1, 1, 1), stuff, mass=10, position=(0, 0, 0.5))
    world.run(1.5)
    expected = 10 * G / (5000 + 200 / (1 - forgetting))
    if points > 1:
        assert 0.5 - box.position[2] == pytest.approx(expected, rel=1e-2)
        assert world.contacts().on(box)[2] == pytest.approx(10 * G, rel=2e-3)
        assert world.info.penetration == pytest.approx(expected, rel=2e-2)
    else:
        assert len(world.contacts()) == 1


def test_the_first_force_is_that_of_equation_1():
    """One step from rest: f = k_p d at every point, divided by their number; then (2)."""
    gains = ds.Penalty(4000, 0, 100, per_kilogram=False, limit_gains=False, friction="slip")
    world, stuff = ground(gains, friction=0.0, dt=1e-5, gravity=(0, 0, 0))
    world.add_body(ds.Box(1, 1, 1), stuff, mass=10, position=(0, 0, 0.49))
    world.step()
    contacts = world.contacts()
    np.testing.assert_allclose(contacts.force[:, 2], 40.0 / len(contacts), rtol=1e-6)
    assert world.state.pair_axis[0, INTEGRAL] == pytest.approx(0.01)
    world.step()
    assert world.contacts().force[:, 2].sum() == pytest.approx(41.0, rel=1e-6)
    assert world.state.pair_axis[0, INTEGRAL] == pytest.approx(0.01 * 1.85, rel=1e-6)


def test_forces_only_push():
    """A box that is pulled away faster than its spring pushes is not held back."""
    world, stuff = ground(ds.Penalty(100, 5000, 0, per_kilogram=False), gravity=(0, 0, 0))
    box = world.add_body(
        ds.Box(1, 1, 1), stuff, mass=10, position=(0, 0, 0.495), velocity=(0, 0, 1)
    )
    world.step()
    assert box.velocity[2] == 1.0 and not world.contacts().impulse.any()


@pytest.mark.parametrize("friction", ["slip", "spring", "system"])
@pytest.mark.parametrize("mu", [0.2, 0.6])
def test_a_block_on_a_slope_of_20_degrees(friction, mu):
    """It slides with (sin - mu cos) g, or stays, but for what virtual springs give way."""
    slope = np.radians(20)
    gravity = (G * np.sin(slope), 0, -G * np.cos(slope))
    world, stuff = ground(ds.Penalty(friction=friction), friction=mu, gravity=gravity)
    block = world.add_body(ds.Box(0.4, 0.4, 0.2), stuff, mass=5, position=(0, 0, 0.0998))
    world.run(0.5)
    speed = max(0.0, np.sin(slope) - mu * np.cos(slope)) * G * world.time
    assert block.velocity[0] == pytest.approx(speed, abs=0.02)
    if speed == 0.0:  # slip friction, whatever is at rest, lets it creep
        assert block.position[0] < (2e-2 if friction == "slip" else 2e-3)


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_an_impact_is_an_impulse_with_the_restitution_of_the_materials(e):
    """Newton's law at the first touch, Fig. 2; the pair rests when it does not bounce."""
    world, stuff = ground("penalty", friction=0.0, restitution=e)
    ball = world.add_body(ds.Box(0.2, 0.2, 0.2), stuff, mass=2, position=(0, 0, 0.3))
    before = 0.0
    while ball.velocity[2] <= before and world.time < 0.4:
        before = ball.velocity[2]
        world.step()
        fallen = ball.velocity[2]
        if fallen > before:
            break
    after = e * -(before)
    assert fallen == pytest.approx(after, abs=0.06)
    mode = world.state.pair_axis[0, MODE]
    assert mode == (REST if e == 0.0 else IMPACT)


def test_a_pair_at_rest_is_struck_only_by_way_of_a_third_body():
    """A hammer falls on a block at rest: the block's own contact gets its impulse in that step."""
    world, stuff = ground("penalty")
    block = world.add_body(ds.Box(1, 1, 0.5), stuff, mass=10, position=(0, 0, 0.25))
    world.run(0.3)
    hammer = world.add_body(
        ds.Box(0.5, 0.5, 0.5), stuff, mass=10, position=(0, 0, 0.755), velocity=(0, 0, -6)
    )
    world.step()
    while hammer.velocity[2] < -5.0:
        world.step()
    assert abs(block.velocity[2]) < 0.3 and abs(hammer.velocity[2]) < 0.3
    down = world.contacts().between(None, block)[2] * world.dt
    assert down == pytest.approx(60.0, rel=0.1)


def test_free_flight_has_fourth_order():
    """A tumbling brick: angular momentum after 1 s, error 16 times less for half of the step."""
    errors = []
    for dt in (0.02, 0.01):
        world = ds.World(dt=dt, solver="penalty", sleeping=False)
        brick = world.add_body(ds.Box(1, 2, 3), velocity=(1, 0, 3), spin=(2, 3, 4))
        start = world.momentum(about=brick.position).angular
        energy = world.energy().total
        world.run(1.0)
        assert world.energy().total == pytest.approx(energy, rel=1e-6)
        end = world.momentum(about=brick.position).angular
        errors.append(np.linalg.norm(end - start) / np.linalg.norm(start))
    assert 10.0 < errors[0] / errors[1] < 40.0


def test_a_spring_is_integrated_with_fourth_order():
    """Force elements are evaluated at every stage."""
    errors = []
    for dt in (0.02, 0.01):
        world = ds.World(dt=dt, gravity=(0, 0, 0), solver="penalty", sleeping=False)
        ball = world.add_body(ds.Sphere(0.1), position=(1, 0, 0), mass=1.0)
        world.add_force(ds.Spring(None, ball, 25.0, point_a=(0, 0, 0), length=0.0))
        world.run(1.0)
        errors.append(abs(ball.position[0] - np.cos(5 * world.time)))
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.2)


def pile(**options):
    world, stuff = ground("penalty", **options)
    world.add_body(ds.Box(0.5, 0.5, 0.5), stuff, mass=5, position=(0, 0, 0.249), name="low")
    world.add_body(ds.Cylinder(0.2, 0.4), stuff, mass=9, position=(0.05, 0, 0.705), name="high")
    world.add_body(ds.Sphere(0.15), stuff, mass=1, position=(0.6, 0.1, 0.3))
    return world


def test_a_stack_of_a_heavy_body_on_a_light_one_stands():
    world = pile()
    world.run(0.7)
    assert np.abs(world.velocities).max() < 0.1
    assert world["high"].position[2] == pytest.approx(0.7, abs=0.01)
    assert world["high"].position[0] == pytest.approx(0.05, abs=0.01)


def test_a_loaded_world_goes_on_with_the_same_bits(tmp_path):
    """Modes, integrals and virtual springs are part of the file."""
    world = pile()
    world.run(0.15)
    assert world.state.pair_axis[:, INTEGRAL].any()
    world.save(tmp_path / "now.h5")
    loaded = ds.World.load(tmp_path / "now.h5")
    assert loaded.stepper == "rk4" and loaded.solver == world.solver
    copy = world.copy()
    for other in (world, loaded, copy):
        other.run(0.1)
    assert world.hash() == loaded.hash() == copy.hash()


def test_a_snapshot_leads_to_the_same_bits():
    world = pile()
    world.run(0.15)
    kept = world.snapshot()
    world.run(0.05)
    first = world.hash()
    world.restore(kept)
    world.run(0.05)
    assert world.hash() == first


def test_a_recording_is_replayed_bit_for_bit(tmp_path):
    world = pile()
    with ds.record(world, tmp_path / "fall.h5", every=10):
        world.run(0.1)
    assert ds.replay(tmp_path / "fall.h5", verify=True)


def test_bodies_at_rest_fall_asleep_and_wake():
    world, stuff = ground("penalty", sleeping=True, sleep_delay=0.1)
    box = world.add_body(ds.Box(1, 1, 1), stuff, mass=10, position=(0, 0, 0.4995))
    world.run(0.6)
    assert box.asleep
    world.add_body(ds.Box(0.3, 0.3, 0.3), stuff, mass=1, position=(0, 0, 1.2), velocity=(0, 0, -1))
    world.run(0.1)
    assert not box.asleep


def test_info_tells_the_truth():
    world, stuff = ground("penalty")
    world.add_body(ds.Box(1, 1, 1), stuff, mass=10, position=(0, 0, 0.4))
    info = world.step()
    assert info.penetration == pytest.approx(0.1) and info.overlaps > 0 and not info.converged
    assert info.solver == "penalty" and info.iterations == 4 and info.residual > info.tolerance
    problem = world.problem()
    impulse = np.array(world.contacts().impulse_axes)
    assert ds.residual(problem, impulse[np.lexsort(impulse.T)]) > 0.0


def test_it_refuses_by_name_what_it_cannot():
    world, stuff = ground("penalty")
    a = world.add_body(ds.Box(1, 1, 1), stuff, position=(0, 0, 0.5))
    with pytest.raises(ds.UnsupportedFeature, match="penalty does not support joints"):
        world.add_joint(ds.Ball(None, a, point=(0, 0, 1)))
    with pytest.raises(ds.UnsupportedFeature, match="penalty.*does not integrate"):
        ds.World(solver="penalty", stepper="verlet")
    with pytest.raises(ds.UnsupportedFeature, match="solver 'penalty' gives"):
        ds.World(solver="auto", stepper="rk4")
    with pytest.raises(ds.UnsupportedFeature, match="two-dimensional"):
        ds.World(solver="penalty", dim=2)
    with pytest.raises(ds.UnsupportedFeature, match="drift"):
        ds.World(solver="penalty", drift="baumgarte").step()
    bumpy, _ = ground("penalty")
    bumpy.add_fixed(ds.Terrain([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), name="hill")
    with pytest.raises(ds.UnsupportedFeature, match="hill.*Terrain"):
        bumpy.step()
    with pytest.raises(ds.UnsupportedFeature, match="solves no ContactProblem"):
        world.step()
        ds.solve(world.problem(), solver="penalty")


@pytest.mark.parametrize(
    "options",
    [{"forgetting": 1.0}, {"points": 0}, {"points": 61}, {"friction": "none"},
     {"proportional": -1.0}, {"triangles": 0}, {"triangles": 10**9}],
)  # fmt: skip
def test_wrong_options_are_one_sentence(options):
    with pytest.raises(ds.InputError, match=f"penalty: {next(iter(options))} is"):
        ds.Penalty(**options)


def test_the_solver_can_be_changed_while_a_world_runs():
    """Impulses after forces and forces after impulses; nothing of one is taken for the other."""
    world = pile()
    world.run(0.1)
    world.solver = "auto"
    assert world.stepper == "time-stepping" and not world.state.pair_axis.any()
    world.run(0.1)
    world.solver = replace(ds.Penalty(), points=8)
    assert world.stepper == "rk4" and not world.state.pair_axis.any()
    world.run(0.1)
    assert np.abs(world.velocities).max() < 1.0


def test_a_large_step_does_not_blow_up():
    """Gains are limited to what a step can follow: of 4 ms, a light body between heavy ones."""
    world, stuff = ground("penalty", dt=1 / 240)
    for k, mass in enumerate((100, 5, 30)):
        world.add_body(ds.Box(0.5, 0.5, 0.5), stuff, mass=mass, position=(0, 0, 0.25 + 0.501 * k))
    world.run(2.0)
    assert np.abs(world.velocities).max() < 0.3
    assert world.positions[:, 2] == pytest.approx([0.25, 0.75, 1.25], abs=0.03)
