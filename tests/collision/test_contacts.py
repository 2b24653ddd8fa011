"""From touching points to contacts: how many, in which order, and what they remember."""

import numpy as np
import pytest

import drystone as ds
from drystone.collision.active_pairs import PAIR_SLOTS
from drystone.model.arrays import COUNTER_CACHED, COUNTER_PAIRS

G = 9.81
STONE = ds.Material(friction=0.5)


def stack(count, **options):
    world = ds.World(sleeping=False, **options)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(count):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5 + k), mass=2.0)
    return world


def test_contacts_of_a_stack():
    """Four corners a pair, normals from A to B, gaps zero, sorted by pair."""
    world = stack(3)
    world.step()
    table = world.contacts()
    assert len(table) == 3 * PAIR_SLOTS
    pairs = list(zip(table.body_a.tolist(), table.body_b.tolist(), strict=True))
    assert pairs == sorted(pairs)
    assert set(pairs) == {(-1, 0), (0, 1), (1, 2)}
    np.testing.assert_allclose(table.normal, np.tile((0, 0, 1), (12, 1)), atol=1e-12)
    np.testing.assert_allclose(table.gap, 0.0, atol=1e-9)
    np.testing.assert_allclose(np.abs(table.point[:, :2]), 0.5, atol=1e-6)


def test_frames_are_right_handed_and_orthonormal():
    world = stack(2)
    world.bodies[1].orientation = np.array([0.99, 0.01, 0.05, 0.1]) / np.linalg.norm(
        [0.99, 0.01, 0.05, 0.1]
    )
    world.run(0.2)
    t = world.contacts()
    frames = np.stack([t.normal, t.tangent1, t.tangent2], axis=1)
    eye = np.broadcast_to(np.eye(3), frames.shape)
    np.testing.assert_allclose(frames @ frames.transpose(0, 2, 1), eye, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(frames), 1.0, atol=1e-12)


def test_impulses_are_kept_for_the_next_step():
    """What is kept sums to the weight: (3 + 2 + 1) m g dt over all contacts of a stack of three."""
    world = stack(3)
    world.run(0.5)
    kept = world.state.cached_impulse[: world.state.counter[COUNTER_CACHED]]
    assert len(kept) == 12
    carried = 6 * 2.0 * G * world.dt
    np.testing.assert_allclose(kept.sum(axis=0), (0, 0, carried), atol=1e-5 * carried)
    pairs = world.state.counter[COUNTER_PAIRS]
    assert world.state.pair_cached[:pairs, 1].sum() == 12


def test_warm_start_saves_sweeps():
    """A stack that has been solved once starts from its solution; without it, it starts anew."""
    world = stack(6, solver="nsgs")
    cold = world.step().iterations
    world.run(0.2)
    warm = world.step().iterations
    assert warm < cold / 5
    world.state.cached_impulse[:] = 0.0
    assert world.step().iterations > 5 * warm


@pytest.mark.parametrize("speed", [0.05, 2.0])
def test_warm_start_follows_a_sliding_body(speed):
    """The points move over the ground but not over the body, so they are found again."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.0))
    world.add_body(
        ds.Box(1, 1, 0.2), ds.Material(friction=0.0), position=(0, 0, 0.1), velocity=(speed, 0, 0)
    )
    world.run(0.1)
    for _ in range(10):
        assert world.step().iterations <= 2


def test_contacts_of_one_pair_are_at_most_four():
    """Many-sided prisms face to face are reduced to four points that still span the face."""
    angles = 2 * np.pi * np.arange(16) / 16
    rim = np.column_stack([np.cos(angles), np.sin(angles)])
    prism = ds.ConvexHull([(x, y, z) for x, y in rim for z in (-0.25, 0.25)])
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(2):
        world.add_body(prism, STONE, position=(0, 0, 0.25 + 0.5 * k))
    world.run(1.0)
    table = world.contacts()
    for a, b in ((-1, 0), (0, 1)):
        points = table.point[(table.body_a == a) & (table.body_b == b)]
        assert 3 <= len(points) <= PAIR_SLOTS
        assert np.abs(points[:, :2].mean(axis=0)).max() < 0.5
    np.testing.assert_allclose(world.positions[:, 2], (0.25, 0.75), atol=1e-5)
