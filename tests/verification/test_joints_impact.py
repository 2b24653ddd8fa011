"""Impacts on bodies with joints: they rebound as their material says, and energy is not made."""

import numpy as np
import pytest

import drystone as ds


def swing_into_wall(restitution, links):
    """A metre of hinged rods, turning as one at 1 rad/s, whose lower end meets a wall."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    steel = ds.Material(friction=0.0, restitution=restitution)
    world.add_fixed(ds.Box(0.1, 1, 0.2), position=(0.35, 0, -1), material=steel)
    rods, above, length = [], None, 1 / links
    for i in range(links):
        middle = -(i + 0.5) * length
        rod = world.add_body(
            ds.Box(0.02, 0.02, length), position=(0, 0, middle), material=steel,
            velocity=(-middle, 0, 0), spin=(0, -1, 0),
        )  # fmt: skip
        world.add_joint(ds.Hinge(above, rod, (0, 0, -i * length), (0, 1, 0)))
        rods.append(rod)
        above = rod
    return world, rods


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_hinged_rod_comes_back_with_its_restitution(restitution):
    """The impact acts on the rod as the hinge lets it turn, not as if it were free."""
    world, (rod,) = swing_into_wall(restitution, 1)
    world.run(0.5)
    assert rod.spin[1] == pytest.approx(restitution, abs=1e-3)
    assert world.joints[0].separation < 1e-6


def test_elastic_impact_on_a_chain_keeps_its_energy():
    """And the last link comes back."""
    world, rods = swing_into_wall(1.0, 4)
    start, fastest = world.energy().kinetic, -np.inf
    for _ in range(96):
        world.step()
        fastest = max(fastest, rods[-1].spin[1])
        assert world.energy().kinetic < start * (1 + 1e-6)
    assert world.energy().kinetic == pytest.approx(start, rel=1e-2)
    assert fastest > 1.0
    assert max(joint.separation for joint in world.joints) < 1e-6


@pytest.mark.parametrize("restitution", [0.5, 1.0])
def test_thin_rod_that_bounces_to_and_fro_gains_nothing(restitution):
    """A metre of 10 mm rod on a hinge at 100 rad/s, round and back against a post of 1 mm.

    With friction, impacts that would add energy come back with 2 % less (impact.strike).
    """
    steel = ds.Material(density=7800, friction=0.3, restitution=restitution)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1), steel, position=(0.29, 0.1, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), steel, spin=(0, 0, 100))
    world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 0, 1)))
    start, bounces, before = world.energy().kinetic, 0, 100.0
    for _ in range(60):
        world.step()
        assert np.hypot(rod.spin[0], rod.spin[1]) < 1e-6
        assert world.energy().kinetic < start * (1 + 2e-4)
        if rod.spin[2] * before < 0:
            assert abs(rod.spin[2]) == pytest.approx(restitution * abs(before), rel=0.025)
            bounces += 1
        before = rod.spin[2]
    assert bounces >= 2


@pytest.mark.parametrize("drift", ["default", "post", "none"])
@pytest.mark.parametrize("gap, speed, spin", [(0.473, 12.7, 84), (0.462, 8.8, 73)])
def test_whirling_pair_that_strikes_a_wall_gains_nothing(gap, speed, spin, drift):
    """It turns by more than a radian within a step: its joint fits before the impact, not after."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, drift=drift)
    glass = ds.Material(density=2000, friction=0.3, restitution=1.0)
    world.add_fixed(ds.Box(0.001, 3, 3), glass)
    rod, v = ds.Box(0.1, 0.02, 0.02), (speed, 0, 0)
    one = world.add_body(rod, glass, position=(-gap, 0, 0), velocity=v, spin=(0, 0, spin))
    other = world.add_body(rod, glass, position=(0.12 - gap, 0, 0), velocity=v)
    world.add_joint(ds.Ball(one, other, point=(0.06 - gap, 0, 0)))
    world.step()
    start = world.energy().kinetic
    for _ in range(30):
        world.step()
        assert world.energy().kinetic < start * (1 + 1e-3)
    assert one.centre[0] < 0 and one.velocity[0] < 0


def test_a_spring_passes_no_impact_on():
    """Of two balls on a soft spring one strikes a wall: it comes back, the other flies on."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    rubber = ds.Material(density=1000, friction=0.0, restitution=1.0)
    world.add_fixed(ds.Box(0.2, 3, 3), rubber, position=(0.6, 0, 0))
    back = world.add_body(ds.Sphere(0.05), rubber, velocity=(1, 0, 0))
    front = world.add_body(ds.Sphere(0.05), rubber, position=(0.3, 0, 0), velocity=(2, 0, 0))
    world.add_joint(ds.SpringDamper(back, front, back.centre, front.centre, stiffness=2))
    world.run(0.1)
    assert front.velocity[0] == pytest.approx(-2, rel=0.05)
    assert back.velocity[0] == pytest.approx(1, rel=0.05)
