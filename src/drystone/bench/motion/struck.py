"""Hits: directions, restitution, angular momentum, and blows that are passed on."""

import numpy as np

import drystone as ds
from drystone.model.rotation import matrix_from_quaternion

BALL = 0.028  # [m]


def off_centre(dt, offset, restitution, phase, speed, friction=0.0):
    """A ball that has hit another, and the direction in which that one should leave [degrees]."""
    felt = ds.Material(density=1700, friction=friction, restitution=restitution)
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False)
    at = (-0.2 - phase * speed * dt, offset * 2 * BALL, 0)
    world.add_body(ds.Sphere(BALL), felt, position=at, velocity=(speed, 0, 0))
    world.add_body(ds.Sphere(BALL), felt)
    world.run(0.3 / speed + 2 * dt)
    return world, -np.degrees(np.arcsin(offset))


def direction_error(count: int = 300) -> float:
    """The worst direction of a struck ball [degrees], steps of 1/60 to 1/1000 s."""
    worst, rng = 0.0, np.random.default_rng(0)
    for _ in range(count):
        dt, e = 1 / rng.choice([60, 100, 240, 1000]), rng.choice([0, 0.5, 0.95, 1])
        world, wanted = off_centre(dt, rng.uniform(0.05, 0.95), e, rng.random(), rng.uniform(1, 10))
        x, y, _ = world.bodies[1].velocity
        worst = max(worst, abs(float(np.degrees(np.arctan2(y, x))) - wanted))
    return worst


def angular_momentum(world) -> np.ndarray:
    """About the origin [kg m²/s]."""
    total = np.zeros(3)
    for body in world.bodies:
        turn = matrix_from_quaternion(body.orientation)
        own = turn @ body.inertia @ turn.T @ body.spin
        total += body.mass * np.cross(body.centre, body.velocity) + own
    return total


def any_solid(size, rng):
    """A box, cylinder, capsule, hull or sphere."""
    kind = rng.integers(5)
    if kind == 0:
        return ds.Box(*(size * rng.uniform(0.3, 1, 3)))
    if kind == 1:
        return ds.Cylinder(size * rng.uniform(0.2, 0.5), size * rng.uniform(0.3, 1))
    if kind == 2:
        return ds.Capsule(size * rng.uniform(0.1, 0.3), size * rng.uniform(0.3, 1))
    if kind == 3:
        return ds.ConvexHull(0.5 * size * rng.normal(size=(12, 3)))
    return ds.Sphere(0.4 * size)


def hit(rng):
    """Two solids of any shape and spin on their way into each other, and how fast they are."""
    dt, e, mu = 1 / rng.choice([60, 240, 1000]), rng.choice([0, 0.5, 1.0]), rng.choice([0, 0.4])
    world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False, bounce_speed=0)
    stone, speed = ds.Material(density=1000, friction=mu, restitution=e), rng.uniform(1, 8)
    for at, velocity in ((-0.6, speed), (0.0, 0.0)):
        turn = rng.normal(size=4)
        world.add_body(
            any_solid(0.2, rng), stone, position=np.array((at, 0, 0)) + 0.05 * rng.normal(size=3),
            velocity=(velocity, 0, 0), spin=rng.normal(size=3) * rng.choice([0, 3, 10]),
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
    return world, speed


def momentum_error(count: int = 300) -> float:
    """The largest change of the angular momentum in such hits, as a share of mass, speed, size."""
    worst, rng = 0.0, np.random.default_rng(1)
    for _ in range(count):
        world, speed = hit(rng)
        start = angular_momentum(world)
        world.run(1.2 / speed)
        scale = world.bodies[0].mass * speed * 0.2
        worst = max(worst, float(np.linalg.norm(angular_momentum(world) - start)) / scale)
    return worst


def restitution_error(count: int = 1000) -> float:
    """The largest error of e in head-on impacts of any size, mass, speed, step and direction."""
    worst, rng = 0.0, np.random.default_rng(2)
    for k in range(count):
        e, dt = rng.uniform(0, 1) if k % 2 else 1.0, 1 / rng.choice([60, 240, 1000])
        world = ds.World(dt=dt, gravity=(0, 0, 0), sleeping=False, bounce_speed=0)
        rubber, speed = ds.Material(density=1000, restitution=e), 10 ** rng.uniform(-2, 2)
        r, along, mass = (
            10 ** rng.uniform(-2, 0, 2),
            rng.normal(size=3),
            10 ** rng.uniform(-2, 2, 2),
        )
        along /= np.linalg.norm(along)
        apart = r.sum() + rng.uniform(0, 3) * speed * dt
        a = world.add_body(
            ds.Sphere(r[0]), rubber, position=-apart * along, velocity=speed * along, mass=mass[0]
        )
        b = world.add_body(ds.Sphere(r[1]), rubber, mass=mass[1])
        for _ in range(6):
            world.step()
        worst = max(worst, abs((b.velocity - a.velocity) @ along / speed - e))
    return worst


def cradle_loss(dt: float, hung: bool = False, gap: float = 1e-4) -> float:
    """What twenty balls with gaps lose of the energy of a blow, or hung up in 2 s of swings [%]."""
    world = ds.World(dt=dt, gravity=(0, 0, -9.81 if hung else 0), sleeping=False)
    steel, r, length = ds.Material(density=7800, restitution=1.0, friction=0.0), 0.02, 0.3
    pitch = 2 * r + gap
    for k in range(20):
        ball = world.add_body(ds.Sphere(r), steel, position=(k * pitch, 0, 0))
        if hung:
            world.add_joint(ds.Hinge(None, ball, (k * pitch, 0, length), (0, 1, 0)))
    low, first = world.energy().total, world.bodies[0]
    if hung:
        first.position = (-length * np.sin(0.5), 0, length - length * np.cos(0.5))
        first.orientation = (np.cos(0.25), 0, np.sin(0.25), 0)
    else:
        first.position, first.velocity = (-0.05, 0, 0), (1, 0, 0)
    given = world.energy().total - low
    world.run(2.0 if hung else 1.0)
    return 100 * abs(1.0 - (world.energy().total - low) / given)
