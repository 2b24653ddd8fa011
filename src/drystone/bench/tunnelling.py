"""Random shots that must not go through: bullets at a thin wall, spinning rods, head-on bullets.

    wall      bullets of five convex shapes, and rings that are meshes, at 300 m/s, in any
              orientation and spinning, at a wall of 1 mm
    rod       a rod of 1 m on a hinge at 100 rad/s, and a post of 1 mm in its path
    head-on   two bullets of 10 mm at 300 m/s each, up to 9 mm aside

Many shots stand far apart in one world. A shot is missed if the bullet is behind the wall, the rod
beyond the post, or the bullets fly on as if nothing had been in their path.
"""

import numpy as np

from drystone.world.io.text_table import text_table

SPEED, SPIN = 300.0, 100.0  # [m/s], [rad/s]
APART = 10.0  # [m] between shots
MOST = 100  # shots in one world
STEPS = 12  # of 1/240 s: bullets fly 15 m, rods rotate by 5 rad
RADIUS = 0.005  # [m] of bullets that meet head-on
COLUMNS = (("shot", "shot", "{}"), ("shots", "shots", "{}"), ("missed", "missed", "{}"))


def run_shots(count, seed, screen, results) -> int:
    """What `drystone bench --shots` does: print a table; returns how many were missed."""
    rng, rows = np.random.default_rng(seed), []
    for kind, share in zip(KINDS, shares(count), strict=True):
        with screen.status(f"{kind} ..."):
            rows.append({"shot": kind, "shots": share, "missed": missed(kind, share, rng)})
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
    total = sum(row["missed"] for row in rows)
    results.print(f"{total} of {count} shots missed (seed {seed}).", markup=False)
    return total


def shares(count) -> list[int]:
    """A third for the walls, over all shapes, a third for rods, a third for pairs of bullets."""
    walls = len(BULLETS)
    parts = [count // 3 // walls] * walls + [count // 3]
    return [*parts, count - sum(parts)]


def missed(kind, count, rng) -> int:
    """How many of `count` random shots of a kind are missed."""
    shoot = KINDS[kind]
    return sum(shoot(min(MOST, count - first), rng) for first in range(0, count, MOST))


def _empty_world():
    import drystone as ds

    return ds.World(gravity=(0, 0, 0), sleeping=False)


def _steel():
    import drystone as ds

    return ds.Material(density=7800, friction=0.3, restitution=0.3)


def _at(i) -> np.ndarray:
    return np.array([0.0, APART * i, 0.0])


def _direction(rng, size=3) -> np.ndarray:
    d = rng.normal(size=size)
    return d / np.linalg.norm(d)


def _shape(name, *size):
    import drystone as ds

    return getattr(ds, name)(*size)


def _ring():
    """A torus of 26 mm across, 6 mm thick."""
    import drystone as ds
    from drystone.scenes.meshes.revolutions import torus

    return ds.Mesh(*torus(0.01, 0.003, 16, 8))


BULLETS = {
    "sphere": lambda rng: _shape("Sphere", 0.005),
    "box": lambda rng: _shape("Box", 0.01, 0.02, 0.03),
    "capsule": lambda rng: _shape("Capsule", 0.004, 0.03),
    "cylinder": lambda rng: _shape("Cylinder", 0.004, 0.03),
    "hull": lambda rng: _shape("ConvexHull", 0.01 * rng.normal(size=(12, 3))),
    "ring": lambda rng: _ring(),
}


def _wall(shape):
    def shoot(count, rng) -> int:
        import drystone as ds

        world, steel, bullets = _empty_world(), _steel(), []
        for i in range(count):
            world.add_fixed(ds.Box(0.001, 2, 2), steel, position=_at(i))
            d = _direction(rng)
            d[0] = abs(d[0]) + 0.5
            d /= np.linalg.norm(d)
            target = _at(i) + (0, *rng.uniform(-0.6, 0.6, 2))
            bullets.append(
                world.add_body(
                    BULLETS[shape](rng), steel, position=target - rng.uniform(0.1, 2.2) * d,
                    orientation=_direction(rng, 4), velocity=SPEED * d,
                    spin=50 * rng.normal(size=3),
                )
            )  # fmt: skip
        through = np.zeros(count, bool)
        for _ in range(STEPS):
            world.step()
            place = np.array([bullet.centre - _at(i) for i, bullet in enumerate(bullets)])
            behind = (np.abs(place[:, 1:]) < 0.95).all(axis=1) & (place[:, 0] > 0.002)
            through |= behind
        return int(through.sum())

    return shoot


def _rods(count, rng) -> int:
    import drystone as ds

    world, steel, rods, angles = _empty_world(), _steel(), [], rng.uniform(0.15, 2.9, count)
    for i, angle in enumerate(angles):
        post = rng.uniform(0.15, 0.45) * np.array([np.cos(angle), np.sin(angle), 0])
        world.add_fixed(ds.Box(0.001, 0.001, 1.0), steel, position=_at(i) + post)
        rod = world.add_body(ds.Box(1, 0.01, 0.01), steel, position=_at(i), spin=(0, 0, SPIN))
        world.add_joint(ds.Hinge(None, rod, point=_at(i), axis=(0, 0, 1)))
        rods.append(rod)
    last, total, beyond = np.zeros(count), np.zeros(count), np.zeros(count, bool)
    for _ in range(STEPS):
        world.step()
        now = np.array([2 * np.arctan2(rod.orientation[3], rod.orientation[0]) for rod in rods])
        total += (now - last + np.pi) % (2 * np.pi) - np.pi
        last = now
        beyond |= total > angles + 0.02
    return int(beyond.sum())


def _head_on(count, rng) -> int:
    import drystone as ds

    world, steel, pairs = _empty_world(), _steel(), []
    for i in range(count):
        d = _direction(rng)
        aside = np.cross(d, _direction(rng))
        aside *= rng.uniform(0.0, 1.8) * RADIUS / np.linalg.norm(aside)
        displacement = rng.uniform(0.05, 3.0) * d
        one, _ = (
            world.add_body(ds.Sphere(RADIUS), steel, position=_at(i) + s * displacement / 2 + o,
                           velocity=-SPEED * s * d)
            for s, o in ((-1, 0), (1, aside))
        )  # fmt: skip
        pairs.append((one, d))
    world.run(STEPS * world.dt)
    return sum(np.allclose(one.velocity, SPEED * d) for one, d in pairs)


KINDS = {f"wall, {shape}": _wall(shape) for shape in BULLETS} | {
    "rod": _rods,
    "head-on": _head_on,
}
