"""What spins fast on a joint: the closed form of a heavy top in steady precession.

Its axis e obeys e' = Omega x e with Omega along gravity where (Lagrange's top, pivot at the arm l)

    (It - I3) cos(a) Omega² - I3 s Omega + m g l = 0

with s the spin about the axis beside the precession, I3 about the axis, It across it at the pivot.
"""

import numpy as np
import pytest

import drystone as ds
from drystone.bench.motion.joined import chain
from drystone.constraints.last_step import parts_of

G, ARM = 9.81, 0.1


def top(dt, spin, tilt, **options):
    """A disc on a ball joint, in steady precession; and its rate [rad/s]."""
    world = ds.World(dt=dt, sleeping=False, **options)
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    turn = (np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0)
    disc = world.add_body(
        ds.Cylinder(0.1, 0.02), position=ARM * axis, orientation=turn, mass=1.0, mask=0
    )
    across, along = disc.inertia[0, 0] + ARM**2, disc.inertia[2, 2]
    a, b, c = (across - along) * np.cos(tilt), along * spin, G * ARM
    rate = c / b if abs(a) < 1e-12 else (b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    disc.spin = spin * axis + np.array([0, 0, rate])
    disc.velocity = np.cross(disc.spin, ARM * axis)
    world.add_joint(ds.Ball(None, disc, (0, 0, 0)))
    return world, disc, rate


@pytest.mark.parametrize("spin", [60.0, 300.0, 2000.0])
@pytest.mark.parametrize("dt", [1 / 240, 0.01])
def test_a_gyroscope_precesses_at_the_rate_of_the_closed_form(dt, spin):
    for tilt in (0.5, np.pi / 2, 2.2):
        world, disc, rate = top(dt, spin, tilt)
        start, steps = world.energy().total, round(0.4 / dt)
        for _ in range(steps):
            assert world.step().converged
        angle = np.arctan2(disc.centre[1], disc.centre[0])
        off = np.angle(np.exp(1j * (angle - rate * steps * dt)))
        assert abs(off) <= 1e-3 * abs(rate) * steps * dt
        assert disc.centre[2] == pytest.approx(ARM * np.cos(tilt), abs=1e-3 * ARM)
        assert world.energy().total == pytest.approx(start, rel=1e-9)


def test_a_step_too_long_for_a_gyroscope_says_so():
    """30 rad in a step of a twentieth of a second: more than substeps are made for."""
    world, _, _ = top(0.05, 3000.0, 1.0)
    start, said = world.energy().total, 0
    for _ in range(40):
        said += not world.step().converged
    lost = 1.0 - world.energy().total / start
    assert lost < 1e-3 or said > 0


def test_a_chain_that_cracks_like_a_whip_keeps_its_energy():
    world = chain([0.05] * 20, 0.05)
    start = world.energy().total
    moving = -sum(body.mass * G * 0.14 * k for k, body in enumerate(world.bodies, 1))
    for _ in range(4 * 240):
        assert world.step().converged
    assert world.energy().total == pytest.approx(start, abs=1e-6 * abs(moving))


def test_revolutions_are_counted_where_a_wheel_turns_more_than_half_in_a_step():
    """On a bar that swings, so that it takes substeps: 400 rad/s in steps of 0.01 s."""
    world = ds.World(dt=0.01, sleeping=False)
    bar = world.add_body(ds.Box(0.4, 0.02, 0.02), position=(0.2, 0, 0), mass=1.0, mask=0)
    wheel = world.add_body(ds.Sphere(0.05), position=(0.4, 0, 0), mass=1.0, mask=0)
    world.add_joint(ds.Hinge(None, bar, (0, 0, 0), (0, 1, 0)))
    hinge = world.add_joint(ds.Hinge(bar, wheel, (0.4, 0, 0), (0, 1, 0)))
    wheel.spin = (0, 400.0, 0)
    world.run(1.0)
    bar_angle = world.joints[0].angle
    # No torque acts on the wheel: in the world it turns at a constant rate.
    assert hinge.angle + bar_angle == pytest.approx(400.0, rel=1e-6)


def stand(world):
    """A block that stands on the ground."""
    stone = ds.Material(density=1000, friction=0.5, restitution=0.0)
    world.add_fixed(ds.Plane(), stone)
    return world.add_body(ds.Box(0.4, 0.4, 0.3), stone, position=(0, 0, 0.15), mass=20.0)


def leaning_disc(world, base, spin=300.0, tilt=1.0):
    """A disc that spins on a ball joint 0.1 m below it, on top of the base."""
    point, axis = np.array([0.0, 0.0, 0.3]), np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    turn = (np.cos(0.5 * tilt), 0.0, np.sin(0.5 * tilt), 0.0)
    disc = world.add_body(
        ds.Cylinder(0.1, 0.05), position=point + ARM * axis, orientation=turn, mass=1.0, mask=0
    )
    disc.spin = spin * axis
    world.add_joint(ds.Ball(base, disc, point))
    return disc


@pytest.mark.parametrize("dt", [1 / 60, 1 / 240])
def test_a_gyroscope_on_a_stand_that_touches_the_ground_keeps_its_energy(dt):
    """It lost 84 % in steps that had converged."""
    world = ds.World(dt=dt, sleeping=False)
    disc = leaning_disc(world, stand(world))
    start = world.energy().total
    for _ in range(round(1.0 / dt)):
        assert world.step().converged
    assert world.energy().total == pytest.approx(start, rel=2e-3)
    x, y, z = np.subtract(disc.centre, (0, 0, 0.3)) / ARM
    assert np.arccos(z) == pytest.approx(1.0, abs=0.02)
    assert np.arctan2(y, x) == pytest.approx(G * ARM / (disc.inertia[2, 2] * 300.0), rel=0.05)


def test_a_gyroscope_on_a_spring_keeps_its_energy():
    world = ds.World(sleeping=False)
    disc = leaning_disc(world, None)
    weight = world.add_body(ds.Sphere(0.03), position=(1, 0, 1), mass=1.0, mask=0)
    world.add_joint(ds.SpringDamper(disc, weight, disc.centre, (1, 0, 1), 20.0))
    start = world.energy().total
    for _ in range(240):
        assert world.step().converged
    assert world.energy().total == pytest.approx(start, rel=5e-3)


def test_a_rotor_in_light_gimbals_on_a_stand_keeps_its_spin():
    """Rounding grew into a nutation that took 93 % of the energy in 1 s."""
    world = ds.World(sleeping=False)
    base, at = stand(world), (0.0, 0.0, 0.5)
    ring = world.add_body(ds.Box(0.3, 0.02, 0.02), position=at, mass=0.2, mask=0)
    rotor = world.add_body(
        ds.Cylinder(0.1, 0.05), position=at, orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0),
        mass=1.0, mask=0,
    )  # fmt: skip
    world.add_joint(ds.Universal(base, ring, at, (0, 0, 1), (1, 0, 0)))
    world.add_joint(ds.Hinge(ring, rotor, at, (0, 1, 0)))
    rotor.spin = (0, 300.0, 0)
    for _ in range(240):
        assert world.step().converged
    assert rotor.spin[1] == pytest.approx(300.0, rel=1e-9)


def test_wheels_take_no_more_steps_for_turning_fast():
    """A balanced rotor on a hinge in something heavy."""
    world = ds.World(sleeping=False)
    base, at = stand(world), (0.0, 0.0, 0.5)
    wheel = world.add_body(
        ds.Cylinder(0.1, 0.05), position=at, orientation=(np.sqrt(0.5), np.sqrt(0.5), 0, 0),
        mass=1.0, mask=0,
    )  # fmt: skip
    world.add_joint(ds.Hinge(base, wheel, at, (0, 1, 0)))
    for spin in (10.0, 300.0):
        wheel.spin = (0, spin, 0)
        world.run(2 * world.dt)
        assert parts_of(world._work) == 1
        assert wheel.spin[1] == pytest.approx(spin, rel=1e-9)
