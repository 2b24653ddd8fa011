"""Short runs with every solver, of what all laws have in common: along the tangents of a contact
the pyramid, the polygon and the circle are the same."""

import numpy as np
import pytest

import drystone as ds

G = 9.81


def slope_world(solver, angle, friction):
    """A box on an inclined plane; gravity leans, the plane is level."""
    stone = ds.Material(friction=friction)
    gravity = (G * np.sin(angle), 0.0, -G * np.cos(angle))
    world = ds.World(solver=solver, gravity=gravity, sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    return world, world.add_body(ds.Box(1, 1, 0.4), stone, position=(0, 0, 0.2))


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_box_holds_below_the_friction_angle(solver):
    """Half a second at 0.9 atan(mu): less than 0.1 mm, and the weight is carried."""
    world, box = slope_world(solver, 0.9 * np.arctan(0.5), 0.5)
    for _ in range(120):
        assert world.step().converged
    assert abs(box.position[0]) < 1e-4
    force = world.contacts().force.sum(axis=0)
    left = 10 * world.solver.tolerance * box.mass / world.dt  # [N] what ten tolerances are worth
    np.testing.assert_allclose(-force, box.mass * np.array(world.gravity), atol=left)


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_box_slides_with_the_right_acceleration(solver):
    """a = g (sin - mu cos) at 1.3 atan(mu), within 1 %."""
    angle = 1.3 * np.arctan(0.4)
    world, box = slope_world(solver, angle, 0.4)
    for _ in range(120):
        world.step()
    expected = G * (np.sin(angle) - 0.4 * np.cos(angle))
    assert box.velocity[0] / world.time == pytest.approx(expected, rel=0.01)
    assert abs(box.velocity[1]) < 1e-3


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_two_boxes_stand(solver):
    """Kinetic energy below 1e-6 J and overlap below 0.1 mm after half a second."""
    stone = ds.Material(friction=0.5)
    world = ds.World(solver=solver, sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    for k in range(2):
        world.add_body(ds.Box(1, 1, 1), stone, position=(0, 0, 0.5 + k))
    for _ in range(120):
        world.step()
    assert world.info.penetration < 1e-4
    assert world.energy().kinetic < 1e-6


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_drop_bounces_with_every_solver(solver):
    """The rebound is e² h within 1 %: impacts are no matter of the solver."""
    rubber = ds.Material(friction=0.3, restitution=0.5)
    world = ds.World(solver=solver, sleeping=False)
    world.add_fixed(ds.Plane(), rubber)
    ball = world.add_body(ds.Sphere(0.1), rubber, position=(0, 0, 0.6))
    highest = 0.0
    for _ in range(120):
        world.step()
        if world.time > 0.4:
            highest = max(highest, ball.position[2] - 0.1)
    assert highest == pytest.approx(0.25 * 0.5, rel=0.01)
