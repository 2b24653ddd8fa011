"""stepper="implicit": stable for any stiffness, and right where the step resolves the motion."""

import numpy as np
import pytest

import drystone as ds


def stiff_world(stepper, stiffness=100.0, **options):
    """A ball on a spring with k dt² / m = `stiffness`, pulled out by 0.1 m."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, stepper=stepper, **options)
    ball = world.add_body(ds.Sphere(0.1), position=(1, 0, 0), mass=1.0)
    k = stiffness / world.dt**2
    world.add_force(ds.Spring(None, ball, k, point_a=(0, 0, 0), length=0.9))
    return world, ball


def test_stiff_spring_explodes_explicitly_and_settles_implicitly():
    """k dt² / m = 100: Verlet is stable up to 4; backward Euler damps by 1 / 101 in a step."""
    world, ball = stiff_world("time-stepping")
    for _ in range(5):
        world.step()
    assert abs(ball.position[0]) > 1e6
    world, ball = stiff_world("implicit")
    start = world.energy().total
    for _ in range(5):
        world.step()
        assert world.energy().total < start
    world.run(0.1)
    assert ball.position == pytest.approx((0.9, 0, 0), abs=1e-12)
    assert np.abs(ball.velocity).max() < 1e-9


def test_one_step_is_that_of_backward_euler():
    """v' = (v - dt w² x) / (1 + w² dt²), x' = x + dt v'; linear, so linearly implicit is implicit.

    For a spring of length zero, whose force is linear in the place.
    """
    world = ds.World(gravity=(0, 0, 0), sleeping=False, stepper="implicit", dt=0.01)
    ball = world.add_body(ds.Sphere(0.1), position=(1, 0, 0), velocity=(0.3, 0, 0), mass=2.0)
    world.add_force(ds.Spring(None, ball, 2.0 * 400.0, point_a=(0, 0, 0), length=0.0))
    x, v = 1.0, 0.3
    for _ in range(20):
        world.step()
        v = (v - 0.01 * 400.0 * x) / (1.0 + 400.0 * 0.01**2)
        x += 0.01 * v
        assert ball.velocity[0] == pytest.approx(v, abs=1e-12)
        assert ball.position[0] == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize("given", [True, False])
def test_functions_with_gradients_given_or_by_differences(given):
    """The same spring as a function: the same motion, to the error of the differences."""
    world, ball = stiff_world("implicit", 30.0)
    other = ds.World(gravity=(0, 0, 0), sleeping=False, stepper="implicit")
    twin = other.add_body(ds.Sphere(0.1), position=(1, 0, 0), mass=1.0)
    k = 30.0 / other.dt**2

    def pull(state):
        length = np.linalg.norm(state.centres, axis=1, keepdims=True)
        return -k * (1.0 - 0.9 / length) * state.centres

    def gradient(state):
        n = state.centres[0] / np.linalg.norm(state.centres[0])
        by_pose = np.zeros((6, 6))
        by_pose[:3, :3] = -k * np.outer(n, n)
        return by_pose, np.zeros((6, 6))

    other.add_force(ds.Force(pull, gradient if given else None))
    for _ in range(10):
        world.step()
        other.step()
        assert twin.position == pytest.approx(ball.position, abs=1e-7)


@pytest.mark.slow
def test_stiff_spring_with_contact_comes_to_rest():
    """Two boxes on the floor, one dropped, a spring of k dt² / m = 100 between: they rest on it."""
    world = ds.World(sleeping=False, stepper="implicit")
    world.add_fixed(ds.Plane())
    low = world.add_body(ds.Box(0.5, 0.5, 0.5), position=(0, 0, 0.25), mass=1.0)
    high = world.add_body(ds.Box(0.5, 0.5, 0.5), position=(0.02, 0, 1.5), mass=1.0)
    world.add_force(ds.Spring(low, high, 100 / world.dt**2, length=1.0))
    world.run(2.0)
    assert world.info.converged and world.info.contacts == 8
    assert world.energy().kinetic < 1e-6
    assert low.position[2] == pytest.approx(0.25, abs=1e-4)
    assert high.position[2] == pytest.approx(0.25, abs=1e-4)
    on = world.contacts()
    assert on.on(low)[2] + on.on(high)[2] == pytest.approx(2 * 9.81, rel=1e-3)
    assert isinstance(world.problem(), ds.MatrixProblem)


def test_weight_on_a_stiff_spring_hangs_where_it_should():
    """Rest at m g / k below the slack length, whatever the step."""
    world = ds.World(sleeping=False, stepper="implicit")
    ball = world.add_body(ds.Sphere(0.1), position=(0, 0, -1), mass=3.0)
    k = 3.0 * 1000 / world.dt**2
    world.add_force(ds.Spring(None, ball, k, point_a=(0, 0, 0), length=1.0))
    world.run(1.0)
    assert ball.position[2] == pytest.approx(-1 - 3 * 9.81 / k, abs=1e-12)


def test_strong_drag_does_not_overshoot():
    """a dt / m = 50: v' = v / 51 in a step; the explicit step would turn it round."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, stepper="implicit")
    ball = world.add_body(ds.Sphere(0.1), velocity=(1, 0, 0), mass=2.0)
    world.add_force(ds.Drag(ball, linear=100.0 / world.dt))
    world.step()
    assert ball.velocity[0] == pytest.approx(1 / 51)


def test_without_stiff_forces_it_is_the_default_step():
    """A = M: bodies on the floor come to rest as they do with time-stepping."""
    ends = []
    for stepper in ("time-stepping", "implicit"):
        world = ds.World(sleeping=False, stepper=stepper)
        world.add_fixed(ds.Plane())
        box = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.7), velocity=(1, 0, 0))
        world.run(0.8)
        ends.append(box.position)
    assert ends[1] == pytest.approx(ends[0], abs=1e-4)


def test_elliptic_friction_is_refused():
    world = ds.World(stepper="implicit", solver="nsgs")
    ice = ds.Material(friction=(0.1, 0.5), friction_direction=(1, 0, 0))
    with pytest.raises(ds.UnsupportedFeature):
        world.add_fixed(ds.Plane(), ice)
        world.add_body(ds.Box(1, 1, 1), ice, position=(0, 0, 0.5))
        world.step()


@pytest.mark.slow
def test_joints_and_limits_hold():
    """A beam on a hinge, its end on a stiff spring: k d 2a = m g a, and the hinge stays closed."""
    world = ds.World(sleeping=False, stepper="implicit")
    beam = world.add_body(ds.Box(0.1, 0.02, 0.02), position=(0.05, 0, 0), mass=0.04)
    hinge = world.add_joint(ds.Hinge(None, beam, point=(0, 0, 0), axis=(0, 1, 0)))
    world.add_force(ds.Spring(None, beam, 1e6, point_a=(0.1, 0, 0.3), point_b=(0.1, 0, 0)))
    world.run(1.0)
    sunk = 0.04 * 9.81 / 2 / 1e6
    assert hinge.angle == pytest.approx(sunk / 0.1, rel=1e-4)
    assert hinge.separation < 1e-9
    world = ds.World(sleeping=False, stepper="implicit")
    beam = world.add_body(ds.Box(0.1, 0.02, 0.02), position=(0.05, 0, 0), mass=0.04)
    hinge = world.add_joint(
        ds.Hinge(None, beam, point=(0, 0, 0), axis=(0, 1, 0), limits=(-0.3, 0.3))
    )
    world.add_force(ds.Drag(linear=0.05))
    world.run(1.0)
    assert hinge.angle == pytest.approx(0.3, abs=1e-5) and hinge.separation < 1e-6


def test_drives_with_a_bound_are_refused():
    world = ds.World(stepper="implicit")
    beam = world.add_body(ds.Box(0.1, 0.02, 0.02))
    motor = ds.Motor(speed=1.0, max_torque=1.0)
    world.add_joint(ds.Hinge(None, beam, point=(0, 0, 0), axis=(0, 1, 0), motor=motor))
    with pytest.raises(ds.UnsupportedFeature, match="largest force"):
        world.step()
