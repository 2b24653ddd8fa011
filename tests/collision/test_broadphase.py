"""The list of pairs against all pairs tried one by one."""

import numpy as np
import pytest

import drystone as ds
from drystone.model.arrays import COUNTER_PAIRS, FIXED, KINEMATIC, PLANE


def crowd(seed, count=120):
    """Bodies from a centimetre to ten metres, fixed things, kinematic ones, filters, exclusions."""
    rng = np.random.default_rng(seed)
    world = ds.World(gravity=(0, 0, 0))
    world.add_fixed(ds.Plane())
    world.add_fixed(ds.Plane(normal=(1, 0, 1), offset=-3.0))
    for _ in range(10):
        world.add_fixed(ds.Box(*rng.uniform(0.1, 3, 3)), position=rng.uniform(-4, 4, 3))
    bodies = []
    for k in range(count):
        size = 10 ** rng.uniform(-2, 1 if k % 10 == 0 else 0)
        shape = [ds.Sphere(size), ds.Box(size, 2 * size, 0.5 * size), ds.Capsule(size, size),
                 ds.Cylinder(size, size)][k % 4]  # fmt: skip
        turn = rng.normal(size=4)
        bodies.append(
            world.add_body(
                shape, position=rng.uniform(-3, 3, 3), orientation=turn / np.linalg.norm(turn),
                kinematic=k % 13 == 0, group=1 << int(rng.integers(3)),
                mask=int(rng.integers(1, 8)) if k % 5 == 0 else -1,
            )
        )  # fmt: skip
    for _ in range(40):
        a, b = rng.choice(count, 2, replace=False)
        world.exclude(bodies[a], bodies[b])
    return world


def may_touch(shapes, kind, excluded, s, t):
    a, b = shapes.body[s], shapes.body[t]
    held = [x == FIXED or kind[x] == KINEMATIC for x in (a, b)]
    if a == b or all(held):
        return False
    if not (shapes.group[s] & shapes.mask[t] and shapes.group[t] & shapes.mask[s]):
        return False
    return (min(a, b), max(a, b)) not in excluded


def reaches_plane(pose, box):
    """Whether some corner of `box` is on or below the plane."""
    normal, point = pose[[5, 8, 11]], pose[:3]
    corners = np.array(np.meshgrid(*zip(box[:3], box[3:], strict=True))).reshape(3, -1).T
    return ((corners - point) @ normal).min() <= 0.0


def brute_force(world):
    shapes, kind = world.model.shapes, world.model.bodies.kind
    keys = world.model.pairing.excluded.tolist()
    excluded = {(key >> 32, key & 0xFFFFFFFF) for key in keys}
    box, pose, pairs = world.state.fat_aabb, world._work.boxes.pose, []
    for s in range(len(shapes.kind)):
        for t in range(s + 1, len(shapes.kind)):
            if not may_touch(shapes, kind, excluded, s, t):
                continue
            planes = [x for x in (s, t) if shapes.kind[x] == PLANE]
            if len(planes) == 1:
                near = reaches_plane(pose[planes[0]], box[s + t - planes[0]])
            else:
                near = (box[s, :3] <= box[t, 3:]).all() and (box[t, :3] <= box[s, 3:]).all()
            if near and len(planes) < 2:
                pairs.append((s, t))
    return pairs


@pytest.mark.parametrize("seed", range(4))
def test_pairs_are_all_that_overlap(seed):
    """Exactly the pairs whose fat AABBs overlap and that may touch, sorted, each once."""
    world = crowd(seed)
    world.step()
    count = world.state.counter[COUNTER_PAIRS]
    found = [tuple(pair) for pair in world.state.pair[:count].tolist()]
    expected = brute_force(world)
    assert len(expected) > 150
    assert found == expected


def test_fat_aabbs_hold_what_moves():
    """While the list is not renewed, no shape has left its fat AABB."""
    world = ds.World()
    world.add_fixed(ds.Plane())
    ball = world.add_body(ds.Sphere(0.5), position=(0, 0, 5), velocity=(3, 0, 0))
    lists = set()
    for _ in range(100):
        before = ball.position
        world.step()
        box = world.state.fat_aabb[1] + np.tile(world.origin, 2)
        for at in (before, ball.position):
            assert (box[:3] <= at - 0.5).all() and (at + 0.5 <= box[3:]).all()
        lists.add(tuple(box))
    assert 1 < len(lists) < 50  # it was renewed, but by far not in every step


def test_a_fast_body_is_seen_in_time():
    """Fat AABBs grow with speed: a bullet that crosses a wall within one step meets it."""
    world = ds.World(gravity=(0, 0, 0))
    world.add_fixed(ds.Box(0.02, 2, 2))
    bullet = world.add_body(ds.Sphere(0.01), position=(-1.0, 0, 0), velocity=(400, 0, 0))
    world.run(0.1)
    assert bullet.position[0] == pytest.approx(-0.02, abs=1e-4)


def test_boxes_that_fit_no_cell_are_compared_one_by_one():
    """A box larger than the largest cell, and bodies beyond the last cell that has a number."""
    world = crowd(0)
    world.add_fixed(ds.Box(1e25, 2, 2), position=(0, 0, 19))
    world.add_body(ds.Sphere(1.0), position=(5, 0, 21))
    world.add_body(ds.Sphere(1.0), position=(1e25, 0, 30))
    world.add_body(ds.Sphere(1.0), position=(1e25, 0, 30))
    world.step()
    count = world.state.counter[COUNTER_PAIRS]
    found = [tuple(pair) for pair in world.state.pair[:count].tolist()]
    assert found == brute_force(world)
    box, last = 12, len(world._build.model.shapes.kind) - 1
    assert {(box, last - 2), (last - 1, last)} < set(found)
