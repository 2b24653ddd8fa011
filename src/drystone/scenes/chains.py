"""Things that hang: chain (with a load if asked) and rope-bridge."""

from math import cosh, radians, sinh

import numpy as np

import drystone as ds
from drystone.scenes.meshes.rods import ACROSS, lay_rod
from drystone.scenes.scene import Scene


def fill_chain(world, count=6, length=0.1, angle_deg=0.0, load_ratio=0.0):
    """`count` hinged links of `length` [m], let go at `angle_deg` below the horizontal.

    load_ratio    mass of a ball at the free end, in masses of a link; 0: no ball
    """
    steel = ds.Material(density=7800)
    a = radians(angle_deg)
    along = np.array([np.cos(a), 0, -np.sin(a)]) * length
    last = None
    for k in range(count):
        link = lay_rod(world, steel, k * along, (k + 1) * along, 0.1 * length, f"link {k}", mask=0)
        world.add_joint(ds.Hinge(last, link, k * along, ACROSS))
        last = link
    if load_ratio > 0.0:
        mass = load_ratio * last.mass
        radius = (mass / (7800 * 4 / 3 * np.pi)) ** (1 / 3)
        end = count * along
        ball = world.add_body(
            ds.Sphere(radius), steel, position=end + along / length * radius, mass=mass,
            name="load", mask=0,
        )  # fmt: skip
        world.add_joint(ds.Hinge(last, ball, end, ACROSS))


def hanging_points(count, span, length):
    """(count + 1, 2) points x, z of a catenary between two ends at height 0, equally far along."""
    # half the length is a sinh(span / 2a): the parameter a of the curve
    from scipy.optimize import brentq  # takes longer to load than all other scenes

    a = brentq(lambda a: 2 * a * sinh(span / (2 * a)) - length, 0.05 * span, 100 * span)
    s = np.linspace(-length / 2, length / 2, count + 1)
    return np.stack([a * np.arcsinh(s / a), np.sqrt(a**2 + s**2) - a * cosh(span / (2 * a))], 1)


def fill_rope_bridge(world, planks=20, span=8.0, slack=1.05, width=1.2, crates=3, height=2.0):
    """Planks on two ropes between two banks; crates fall on it from `height` [m] above its ends.

    The ropes are ball joints at both ends of every seam: six rows where five would do.
    """
    wood = ds.Material(density=600, friction=0.6)
    rock = ds.Material(density=2600, friction=0.6)
    for side in (-1, 1):
        bank = (side * (span / 2 + 1.2), 0, -1.5)
        world.add_fixed(ds.Box(2.0, 2 * width, 3.0), rock, position=bank)
    points = hanging_points(planks, span, slack * span)
    last = None
    for k in range(planks + 1):
        plank, (x, z) = None, points[k]
        if k < planks:
            plank = _lay_plank(world, wood, points[k], points[k + 1], width, f"plank {k}")
        for y in (-width / 2, width / 2):
            world.add_joint(ds.Ball(last, plank, (x, y, z)))
        last = plank
    for k in range(crates):
        x = span * ((k + 1) / (crates + 1) - 0.5)
        position = (x, 0.1 * (k % 2), height + 0.6 * k)
        world.add_body(ds.Box(0.5, 0.5, 0.5), wood, position=position, name=f"crate {k}")


def _lay_plank(world, wood, start, end, width, name):
    """A board 4 cm thick between two points (x, z) of the ropes, short of them by 2 % each."""
    (x, z), (along, up) = (start + end) / 2, end - start
    half = np.arctan2(up, along) / 2
    return world.add_body(
        ds.Box(0.96 * float(np.hypot(along, up)), width, 0.04), wood, position=(x, 0, z),
        orientation=(np.cos(half), 0, -np.sin(half), 0), name=name,
    )  # fmt: skip


SCENES = [
    Scene(
        "chain",
        "six hinged links let go from the horizontal",
        fill_chain,
        seconds=0.6,
        expect="it swings down like a whip, and the joints stay closed",
        source="CLINE 5.2.1, links of 100 mm, steps of 1 ms",
        finding="joints 20 mm apart after 0.6 s without stabilization, 3 to 5 mm with that of "
        "Baumgarte, below 0.01 mm with post-stabilization",
        settings={"dt": 1e-3},
    ),
    Scene(
        "rope-bridge",
        "crates fall on planks that hang on two ropes between two banks",
        fill_rope_bridge,
        seconds=8.0,
        ranges={"crates": (0, None)},
        expect="the bridge swings and holds; the crates stay on it or slide to its middle",
        picture_time=1.0,
    ),
]
