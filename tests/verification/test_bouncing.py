"""Impacts against closed forms: heights, swapped velocities, and energy that never grows."""

import numpy as np
import pytest

import drystone as ds

G = 9.81

solvers = pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v.compiled])


def rebound_height(restitution, dt, solver, shape, height, drop=1.0):
    """How high a body comes back that was dropped from `drop` above the ground [m]."""
    material = ds.Material(restitution=restitution, friction=0.3)
    world = ds.World(dt=dt, sleeping=False, solver=solver)
    world.add_fixed(ds.Plane(), material)
    ball = world.add_body(shape, material, position=(0, 0, height + drop))
    fall = np.sqrt(2 * drop / G)
    world.run(fall + 2 * dt)
    highest = 0.0
    for _ in range(round((restitution * fall + 4 * dt) / dt)):
        world.step()
        z, v = ball.position[2] - height, max(ball.velocity[2], 0.0)
        # The top lies between two steps; free flight is exact, so each step knows it.
        highest = max(highest, z + v * v / (2 * G))
    return highest


@solvers
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240, 1 / 1000])
@pytest.mark.parametrize("restitution", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_rebound_height(restitution, dt, solver):
    """h' = e² h within 1 % of h, for every step: the impact is placed within its step."""
    height = rebound_height(restitution, dt, solver, ds.Sphere(0.1), 0.1)
    assert height == pytest.approx(restitution**2, abs=0.01 * max(restitution**2, 0.01))


@solvers
def test_flat_box_bounces_like_a_sphere(solver):
    """h' = e² h also where four contacts share the impact."""
    height = rebound_height(0.5, 1 / 240, solver, ds.Box(0.4, 0.3, 0.2), 0.1)
    assert height == pytest.approx(0.25, rel=0.01)


def two_spheres(velocities, masses, restitution, solver, offset=0.0, friction=0.0):
    material = ds.Material(restitution=restitution, friction=friction)
    world = ds.World(gravity=(0, 0, 0), sleeping=False, solver=solver)
    for k in range(2):
        world.add_body(
            ds.Sphere(0.1), material, position=(0.5 * k, offset * k, 0), mass=masses[k],
            velocity=velocities[k],
        )  # fmt: skip
    return world


@solvers
def test_equal_spheres_swap_their_velocities(solver):
    """Elastic and central: v1' = v2 and v2' = v1, to the solver's tolerance of 1e-5 m/s."""
    world = two_spheres([(2, 0, 0), (-1, 0, 0)], (3.0, 3.0), 1.0, solver)
    world.run(0.5)
    np.testing.assert_allclose(world.velocities, [(-1, 0, 0), (2, 0, 0)], atol=1e-5)


@solvers
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_unequal_spheres(restitution, solver):
    """v1' = (m1 v1 + m2 v2 - m2 e (v1 - v2)) / (m1 + m2), and so for the other; 1e-5 m/s."""
    m1, m2, v1, v2 = 5.0, 0.5, 2.0, -1.0
    world = two_spheres([(v1, 0, 0), (v2, 0, 0)], (m1, m2), restitution, solver)
    world.run(0.5)
    mean = (m1 * v1 + m2 * v2) / (m1 + m2)
    part = restitution * (v1 - v2) / (m1 + m2)
    expected = [mean - m2 * part, mean + m1 * part]
    np.testing.assert_allclose(world.velocities[:, 0], expected, atol=1e-5)


@solvers
def test_momentum_survives_an_oblique_collision_with_friction(solver):
    """Impulses are equal and opposite: P stays to rounding, L up to the motion within the step.

    The arms of the impulse J are those at the start of the step, so L is off by up to
    |u| dt |J| where u is the speed of approach: of first order in dt.
    """
    velocities = [(2, 0.3, 0), (-1, 0, 0.2)]
    world = two_spheres(velocities, (3.0, 1.0), 0.6, solver, offset=0.05, friction=0.4)
    world.step()
    before, start = world.momentum(), world.velocities
    world.run(0.5)
    after = world.momentum()
    assert np.linalg.norm(world.spins) > 0.1  # they did rub
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-12 * 6.0)
    impulse = np.linalg.norm(world.velocities[1] - start[1]) * 1.0
    approach = np.linalg.norm(start[0] - start[1])
    assert np.linalg.norm(after.angular - before.angular) < approach * world.dt * impulse


@solvers
@pytest.mark.parametrize("moving", [1, 2])
def test_cradle_sends_out_as_many_as_came_in(moving, solver):
    """Equal elastic balls in a row: `moving` balls come in, `moving` go out, the others stand.

    1e-3 of their speed: the balls that touch pass the impact on one after the other.
    """
    from drystone.scenes import find_scene

    world = find_scene("newton-cradle").build(moving=moving, solver=solver)
    world.run(0.5)
    expected = [0.0] * (5 - moving) + [1.0] * moving
    np.testing.assert_allclose(world.velocities[:, 0], expected, atol=1e-3)


def thrown_bodies(seed, dt, solver, restitution):
    """Boxes and spheres that are thrown, spin, bounce and rub."""
    rng = np.random.default_rng(seed)
    material = ds.Material(restitution=restitution, friction=0.6)
    world = ds.World(dt=dt, sleeping=False, solver=solver)
    world.add_fixed(ds.Plane(), material)
    for k in range(4):
        turn = rng.normal(size=4)
        shape = ds.Sphere(0.15) if k % 2 else ds.Box(0.4, 0.3, 0.2)
        world.add_body(
            shape, material, position=(0.5 * (k % 2), 0.5 * (k // 2), 0.6 + 0.3 * k),
            velocity=rng.uniform(-2, 2, 3), spin=rng.uniform(-8, 8, 3),
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
    return world


@solvers
@pytest.mark.parametrize("restitution", [0.0, 0.8])
@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_energy_does_not_grow_in_bounces_with_spin(dt, restitution, solver):
    """E(t + dt) <= E(t) + m g s, where s is the skin, and over a quarter of a second E falls.

    No impact adds energy, though Newton's law of impact with friction could; no turn does, though
    contacts may turn a body otherwise than it would turn freely. What is left is the lift of
    bodies that overlap by less than the skin, 3e-5 of the radius of a box.
    """
    skin = 3e-5 * np.linalg.norm([0.2, 0.15, 0.1])
    for seed in range(4):
        world = thrown_bodies(seed, dt, solver, restitution)
        mass = sum(body.mass for body in world.bodies)
        energies = [world.energy().total]
        for _ in range(round(2.0 / dt)):
            world.step()
            energies.append(world.energy().total)
        energies = np.array(energies)
        assert energies[-1] < 0.9 * energies[0]  # they did bounce
        assert np.diff(energies).max() <= mass * G * skin
        quarter = round(0.25 / dt)
        assert (energies[quarter:] - energies[:-quarter]).max() <= 1e-9 * energies[0]
