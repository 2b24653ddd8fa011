"""Nothing passes through anything within a step, however fast it moves or turns."""

import numpy as np
import pytest

import drystone as ds

STEEL = ds.Material(density=7800, friction=0.3, restitution=0.3)
SHOTS = 40  # far apart in one world
APART = 10.0  # [m]


def at(i):
    return np.array([0.0, APART * i, 0.0])


def direction(rng, size=3):
    d = rng.normal(size=size)
    return d / np.linalg.norm(d)


SHAPES = {
    "sphere": lambda rng: ds.Sphere(0.005),
    "box": lambda rng: ds.Box(0.01, 0.02, 0.03),
    "capsule": lambda rng: ds.Capsule(0.004, 0.03),
    "cylinder": lambda rng: ds.Cylinder(0.004, 0.03),
    "hull": lambda rng: ds.ConvexHull(0.01 * rng.normal(size=(12, 3))),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_bullet_passes_a_thin_wall(shape):
    rng = np.random.default_rng(5)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    bullets = []
    for i in range(SHOTS):
        world.add_fixed(ds.Box(0.001, 2, 2), STEEL, position=at(i))
        d = direction(rng)
        d[0] = abs(d[0]) + 0.5
        d /= np.linalg.norm(d)
        target = at(i) + (0, *rng.uniform(-0.6, 0.6, 2))
        bullets.append(
            world.add_body(
                SHAPES[shape](rng), STEEL, position=target - rng.uniform(0.1, 2.2) * d,
                orientation=direction(rng, 4), velocity=300 * d,
                spin=50 * rng.normal(size=3),
            )
        )  # fmt: skip
    for _ in range(12):
        world.step()
        place = np.array([bullet.centre - at(i) for i, bullet in enumerate(bullets)])
        in_front = (np.abs(place[:, 1:]) < 0.95).all(axis=1)
        assert not (in_front & (place[:, 0] > 0.002)).any()


def turned(body):
    q = body.orientation
    return 2 * np.arctan2(q[3], q[0])


def test_a_spinning_rod_stops_at_a_thin_post():
    rng = np.random.default_rng(6)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    rods, angles = [], rng.uniform(0.15, 2.9, SHOTS)
    for i, angle in enumerate(angles):
        post = rng.uniform(0.15, 0.45) * np.array([np.cos(angle), np.sin(angle), 0])
        world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=at(i) + post)
        rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, position=at(i), spin=(0, 0, 100))
        world.add_joint(ds.Hinge(None, rod, point=at(i), axis=(0, 0, 1)))
        rods.append(rod)
    last, total = np.zeros(SHOTS), np.zeros(SHOTS)
    for _ in range(12):
        world.step()
        now = np.array([turned(rod) for rod in rods])
        total += (now - last + np.pi) % (2 * np.pi) - np.pi
        last = now
        assert (total < angles + 0.02).all()


def test_bullets_that_meet_head_on_do_not_miss_each_other():
    rng = np.random.default_rng(7)
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    pairs, radius = [], 0.005
    for i in range(SHOTS):
        d = direction(rng)
        aside = np.cross(d, direction(rng))
        aside *= rng.uniform(0.0, 1.8) * radius / np.linalg.norm(aside)
        way = rng.uniform(0.05, 3.0) * d
        pair = [
            world.add_body(ds.Sphere(radius), STEEL, position=at(i) + s * way / 2 + o,
                           velocity=-300 * s * d)
            for s, o in ((-1, 0), (1, aside))
        ]  # fmt: skip
        pairs.append((*pair, d))
    world.run(10 / 240)
    assert all(not np.allclose(a.velocity, 300 * d) for a, _, d in pairs)


def test_without_ccd_a_turning_rod_passes_the_post():
    """What the test above tests is not done by the contacts of the start of a step alone."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, ccd=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    world.run(2 / 240)
    free = np.allclose(rod.spin, (0, 0, 700))
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    world.add_fixed(ds.Box(0.001, 0.001, 1.0), STEEL, position=(0, 0.3, 0))
    rod = world.add_body(ds.Box(1, 0.01, 0.01), STEEL, spin=(0, 0, 700))
    stopped = []
    for _ in range(3):
        stopped.append(world.step().stopped)
    assert free and sum(stopped) > 0 and not np.allclose(rod.spin, (0, 0, 700))


def test_slow_bodies_are_not_touched_by_it():
    states = []
    for ccd in (True, False):
        world = ds.World(ccd=ccd)
        world.add_fixed(ds.Plane())
        for k in range(4):
            world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.6 + 1.1 * k))
        world.run(1.0)
        states.append(np.concatenate([body.position for body in world.bodies]))
    assert (states[0] == states[1]).all()
