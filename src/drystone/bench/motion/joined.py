"""Chains, bridges, rods and springs of joints: gaps, and energy that should not be there."""

import numpy as np

import drystone as ds

G = 9.81
LINK = 0.14  # [m]


def chain(masses, load=None, length=LINK, dt=1 / 240):
    """Links on hinges, let go from the horizontal, with a ball at the end; nothing touches."""
    world = ds.World(dt=dt, sleeping=False)
    before = None
    for k, mass in enumerate(masses):
        link = world.add_body(
            ds.Box(0.98 * length, 0.02, 0.02), position=((k + 0.5) * length, 0, 0), mass=mass,
            mask=0,
        )  # fmt: skip
        world.add_joint(ds.Hinge(before, link, (k * length, 0, 0), (0, 1, 0)))
        before = link
    if load is not None:
        end = (len(masses) * length, 0, 0)
        ball = world.add_body(ds.Sphere(0.03), position=end, mass=load, mask=0)
        world.add_joint(ds.Hinge(before, ball, end, (0, 1, 0)))
    return world


def widest(world, seconds: float) -> float:
    """The widest gap of a joint in so long a run [mm]."""
    gap = 0.0
    for _ in range(round(seconds / world.dt)):
        world.step()
        gap = max(gap, *(joint.separation for joint in world.joints))
    return 1e3 * gap


def chain_gap(count: int, load: float) -> float:
    return widest(chain([0.05] * count, load), 10.0)


def chain_loss(count: int, load: float, dt: float, seconds: float = 10.0) -> float:
    """What a chain of links of 50 g that cracks like a whip loses of the energy in play [%]."""
    world = chain([0.05] * count, load, dt=dt)
    start = world.energy().total
    hanging = -G * LINK * (0.05 * 0.5 * count**2 + load * count)
    world.run(seconds)
    return 100 * (start - world.energy().total) / (start - hanging)


def light_link() -> float:
    """How far the end of two links of 1 kg with one of 1e-5 kg between them is from where steps of
    an eighth lead it, after 1 s [mm]."""
    ends = []
    for dt in (1 / 240, 1 / 1920):
        world = chain([1.0, 1e-5, 1.0], length=0.3, dt=dt)
        world.run(1.0)
        ends.append(world.bodies[-1].centre)
    return 1e3 * float(np.linalg.norm(np.subtract(*ends)))


def rods(rng):
    """Two rods of 125 x 6 mm that fall at up to 2 m/s, joined at a point 7 cm beside both."""
    wood = ds.Material(density=1000, friction=0.5, restitution=0.0)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), wood)
    point = np.array([0, 0, 0.3])
    for _ in range(2):
        x, y, z, w = q = rng.normal(size=4) / 2
        w, x, y, z = q / np.linalg.norm(q)
        a = rng.uniform(0, 2 * np.pi)
        local = np.array([0, np.cos(a), np.sin(a)])
        t = 2 * np.cross((x, y, z), local)
        arm = local + w * t + np.cross((x, y, z), t)
        world.add_body(
            ds.Box(0.125, 0.006, 0.006), wood, position=point - 0.07 * arm,
            orientation=(w, x, y, z),
        )  # fmt: skip
    a, b = world.bodies
    axis, other = rng.normal(size=(2, 3))
    axis /= np.linalg.norm(axis)
    across = np.cross(axis, other)
    kinds = (
        lambda: ds.Ball(a, b, point),
        lambda: ds.Hinge(a, b, point, axis),
        lambda: ds.Universal(a, b, point, axis, across / np.linalg.norm(across)),
        lambda: ds.Distance(a, b, a.position, b.position),
    )
    world.add_joint(kinds[rng.integers(4)]())
    velocity = rng.normal(size=3)
    velocity *= 2.0 * rng.random() / np.linalg.norm(velocity)
    for body in (a, b):
        body.velocity = velocity
    return world


def rods_gain(count: int = 160, seconds: float = 1.0) -> float:
    """The most energy above its start that any pair of rods has, as a share of the start."""
    worst, rng = 0.0, np.random.default_rng(0)
    for _ in range(count):
        world = rods(rng)
        world.step()
        start = world.energy().total
        for _ in range(round(seconds / world.dt)):
            world.step()
            worst = max(worst, (world.energy().total - start) / start)
    return worst


def bridge(planks: int, drop: float | None = None):
    """A slack bridge; two ball joints at each seam are one too many. A box falls on it."""
    wood = ds.Material(density=600, friction=0.5, restitution=0.0)
    world = ds.World(sleeping=False)
    at, before, length = np.array([0.0, 0.0, 2.0]), None, 0.3
    for angle in [*np.linspace(0.45, -0.45, planks), None]:
        plank = None
        if angle is not None:
            along = np.array([np.cos(angle), 0, -np.sin(angle)])
            plank = world.add_body(
                ds.Box(0.98 * length, 1.2, 0.05), wood, position=at + 0.5 * length * along,
                orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), mass=10.8,
            )  # fmt: skip
        for side in (-0.5, 0.5):
            world.add_joint(ds.Ball(before, plank, at + (0, side, 0)))
        if plank is not None:
            before, at = plank, at + length * along
    if drop is not None:
        low = min(body.centre[2] for body in world.bodies)
        place = (0.5 * at[0], 0, low + 0.025 + 0.25 + drop)
        world.add_body(ds.Box(0.5, 0.5, 0.5), wood, position=place, mass=1080.0)
    return world


def bridge_gain(planks: int, drop: float | None) -> float:
    """The most energy that any step of 2 s adds [J]."""
    world, rise = bridge(planks, drop), 0.0
    last = world.energy().total
    for _ in range(480):
        world.step()
        now = world.energy().total
        rise, last = max(rise, now - last), now
    return rise


def spring_loss(period: float = 0.63, seconds: float = 5.0) -> float:
    """What an undamped SpringDamper loses of its amplitude [%]."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    body = world.add_body(ds.Box(0.1, 0.1, 0.1), position=(1.1, 0, 0), mass=1.0, mask=0)
    stiffness = (2 * np.pi / period) ** 2
    world.add_joint(ds.SpringDamper(None, body, (0, 0, 0), (1.1, 0, 0), stiffness, length=1.0))
    start = world.energy().total
    world.run(seconds)
    return 100 * abs(1.0 - float(np.sqrt(world.energy().total / start)))


def force_error(dt: float = 5e-4) -> float:
    """Of joint.force of a rod on a pin beside m (a - g) at the same poses, RMS of 3 s [N]."""
    world = ds.World(dt=dt, sleeping=False)
    rod = world.add_body(ds.Box(1, 0.05, 0.05), position=(0.5, 0, 0), mass=1.0)
    joint = world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0)))
    moment, squares = (1 + 0.05**2) / 12 + 0.25, []
    for _ in range(round(3.0 / dt)):
        world.step()
        x, spin = rod.centre, rod.spin
        turning = np.cross(x, (0, 0, -G)) / moment
        a = np.cross(turning, x) + np.cross(spin, np.cross(spin, x))
        squares.append(((a + (0, 0, G) - joint.force) ** 2).sum())
    return float(np.sqrt(np.mean(squares)))
