"""Overlaps go away without leaving motion behind."""

import numpy as np
import pytest

import drystone as ds


def sunk_box(depth, **options):
    world = ds.World(sleeping=False, skin=1e-7, **options)
    world.add_fixed(ds.Plane())
    return world, world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5 - depth))


@pytest.mark.parametrize("gravity", [(0, 0, 0), (0, 0, -9.81)])
def test_overlap_is_removed_without_kinetic_energy(gravity):
    """Each step takes away half of the overlap: d_k = d 2^-k; velocities stay zero.

    Down to the skin, here 1e-7 of the radius, below which contacts count as touching.
    1e-9 m/s is what the solver leaves (1e-4 of its tolerance), far below what a push by velocity
    would leave (d / dt = 1.2 m/s).
    """
    depth = 5e-3
    world, box = sunk_box(depth, gravity=gravity)
    for k in range(1, 8):
        world.step()
        left = 0.5 - box.position[2]
        assert left == pytest.approx(depth * 0.5**k, abs=1e-6)
        assert np.abs(box.velocity).max() < 1e-9 and np.abs(box.spin).max() < 1e-9
    world.run(0.5)
    assert 0.5 - box.position[2] < 2e-6
    assert world.energy().kinetic < 1e-15


def test_two_bodies_share_the_displacement_by_their_masses():
    """Pushed apart by equal and opposite impulses: m_a d_a = m_b d_b, and none turns."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, skin=1e-7)
    light = world.add_body(ds.Sphere(0.5), position=(0, 0, 0), mass=1.0)
    heavy = world.add_body(ds.Sphere(0.5), position=(0.99, 0, 0), mass=9.0)
    world.run(0.5)
    assert heavy.position[0] - light.position[0] == pytest.approx(1.0, abs=2e-6)
    assert light.position[0] == pytest.approx(-0.009, abs=2e-6)
    assert not world.velocities.any() and not world.spins.any()


def test_bodies_that_approach_stop_at_the_surface():
    """A ball without restitution lands at z = r: no overlap beyond the skin, no gap."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane())
    ball = world.add_body(ds.Sphere(0.5), position=(0, 0, 1.5))
    deepest = []
    world.run(1.0, callback=lambda w: deepest.append(w.info.penetration))
    assert max(deepest) < 1e-6
    assert ball.position[2] == pytest.approx(0.5, abs=1e-6)


def test_deep_overlap_of_a_pile_leaves_slowly():
    """Bodies placed into each other creep apart; none is shot away by the overlap."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, skin=1e-7)
    rng = np.random.default_rng(0)
    for k in range(8):
        world.add_body(ds.Box(1, 1, 1), position=0.6 * np.array([k % 2, k // 2 % 2, k // 4])
                       + rng.uniform(-0.05, 0.05, 3))  # fmt: skip
    world.run(1.0)
    assert world.energy().kinetic < 1e-12
    assert world.info.penetration < 1e-5


def test_what_a_drum_carries_stays_on_its_wall():
    """A wall that rotates comes nearer than the rows of the start of a step say: w² R dt² / 2 =
    0.12 mm. With twice that a box lay in it, overlapping by more than it may."""
    world = ds.World(dt=1 / 240, gravity=(0, 0, 0), sleeping=False, solver="nsgs")
    spin, radius, parts = 2 * np.pi, 0.35, []
    for k in range(24):
        angle = 2 * np.pi * k / 24
        at = 0.37 * np.cos(angle), 0.0, -0.37 * np.sin(angle)
        parts.append((ds.Box(0.04, 0.4, 0.1), at, (np.cos(angle / 2), 0, np.sin(angle / 2), 0)))
    stone = ds.Material(density=1000, friction=0.5)
    world.add_body(ds.Compound(*parts), stone, kinematic=True, spin=(0, spin, 0))
    box = world.add_body(
        ds.Box(0.04, 0.04, 0.04), stone, position=(radius - 0.02, 0, 0),
        velocity=(0, 0, -spin * (radius - 0.02)), spin=(0, spin, 0),
    )  # fmt: skip
    worst = 0.0
    for _ in range(240):
        world.step()
        worst = max(worst, world.info.penetration)
    assert np.hypot(box.position[0], box.position[2]) < radius
    assert worst < 2e-5
