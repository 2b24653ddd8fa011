"""Linkages with closed loops, driven by a motor: four-bar, slider-crank and jansen-linkage.

All lie in the x-z plane and are hinged about y; nothing but the joints holds their parts. Every
loop has three more rows than it needs, as linkages made of parallel pins do.
"""

from math import cos, pi, radians, sin, sqrt

import drystone as ds
from drystone.scenes.meshes.rods import ACROSS, in_plane, lay_rod, meeting_point
from drystone.scenes.scene import Scene

ALUMINIUM = ds.Material(density=2700)
WIDTH = 0.02  # of the rods [m]

# Lengths of Theo Jansen's leg, his "holy numbers", in centimetres of his first beast.
JANSEN = dict(
    a=38.0, b=41.5, c=39.3, d=40.1, e=55.8, f=39.4, g=36.7, h=65.7, i=49.0, j=50.0, k=61.9, l=7.8,
    m=15.0,
)  # fmt: skip


def fill_four_bar(
    world, crank=0.2, coupler=0.5, rocker=0.4, ground=0.5, turns_per_second=1.0, start_deg=90.0
):
    """Crank and rocker on fixed pivots, `ground` [m] apart, and a coupler between their ends."""
    a, pivot = radians(start_deg), (ground, 0.0)
    knee = (crank * cos(a), crank * sin(a))
    far = meeting_point(knee, coupler, pivot, rocker)
    rods = [
        _rod(world, ends, name)
        for ends, name in (
            (((0, 0), knee), "crank"), ((knee, far), "coupler"), ((pivot, far), "rocker")
        )
    ]  # fmt: skip
    motor = ds.Motor(2 * pi * turns_per_second)
    _pin(world, None, rods[0], (0, 0), motor)
    _pin(world, rods[0], rods[1], knee)
    _pin(world, rods[1], rods[2], far)
    _pin(world, None, rods[2], pivot)


def fill_slider_crank(world, crank=0.1, rod=0.3, turns_per_second=1.0, piston_kg=2.0):
    """A crank on a fixed pivot, a connecting rod, and a piston that slides along x."""
    knee, end = (0.0, crank), (sqrt(rod**2 - crank**2), 0.0)
    first = _rod(world, ((0, 0), knee), "crank")
    second = _rod(world, (knee, end), "rod")
    piston = world.add_body(
        ds.Box(0.1, 0.08, 0.08), ALUMINIUM, position=in_plane(end), mass=piston_kg, name="piston",
        mask=0,
    )  # fmt: skip
    _pin(world, None, first, (0, 0), ds.Motor(2 * pi * turns_per_second))
    _pin(world, first, second, knee)
    _pin(world, second, piston, end)
    world.add_joint(ds.Slider(None, piston, (1, 0, 0)))


def jansen_points(crank_angle, size=0.01, side=1):
    """Joints of one leg for a crank angle [rad] by name, (x, z) [m]; `side` -1: the mirrored leg.

    Names: O crank pivot, M crank pin, B fixed pivot, P top of the upper triangle, Q its outer
    corner, R knee below the pivot, S outer corner of the lower triangle, F foot.
    """
    n = {key: size * value for key, value in JANSEN.items()}
    angle = crank_angle if side == 1 else pi - crank_angle
    pin, pivot = (n["m"] * cos(angle), n["m"] * sin(angle)), (-n["a"], -n["l"])
    top = meeting_point(pivot, n["b"], pin, n["j"])
    knee = meeting_point(pin, n["k"], pivot, n["c"])
    outer = meeting_point(pivot, n["d"], top, n["e"])
    corner = meeting_point(knee, n["g"], outer, n["f"])
    foot = meeting_point(knee, n["i"], corner, n["h"])
    points = dict(O=(0.0, 0.0), M=pin, B=pivot, P=top, Q=outer, R=knee, S=corner, F=foot)
    return {name: (side * x, z) for name, (x, z) in points.items()}


def fill_jansen_linkage(world, turns_per_second=0.5, start_deg=0.0, legs=2, size=0.01):
    """Legs of a strandbeest on one crank, held in the air; `size` [m] of a length unit."""
    start = radians(start_deg)
    crank = _rod(world, ((0, 0), jansen_points(start, size)["M"]), "crank")
    _pin(world, None, crank, (0, 0), ds.Motor(2 * pi * turns_per_second))
    for leg, side in enumerate((1, -1)[:legs]):
        _hang_leg(world, crank, jansen_points(start, size, side), f"leg {leg} ")


def _hang_leg(world, crank, at, name):
    """Seven loops of pins: two rods to the crank, two triangles, the link c and the link f."""
    upper_rod = _rod(world, (at["M"], at["P"]), name + "j")
    lower_rod = _rod(world, (at["M"], at["R"]), name + "k")
    upper = _triangle(world, (at["B"], at["P"], at["Q"]), name + "upper triangle")
    hanger = _rod(world, (at["B"], at["R"]), name + "c")
    outer = _rod(world, (at["Q"], at["S"]), name + "f")
    lower = _triangle(world, (at["R"], at["S"], at["F"]), name + "lower triangle")
    for a, b, point in (
        (crank, upper_rod, "M"), (crank, lower_rod, "M"), (None, upper, "B"), (None, hanger, "B"),
        (upper_rod, upper, "P"), (lower_rod, hanger, "R"), (hanger, lower, "R"),
        (upper, outer, "Q"), (outer, lower, "S"),
    ):  # fmt: skip
        _pin(world, a, b, at[point])


def _rod(world, ends, name):
    start, end = map(in_plane, ends)
    return lay_rod(world, ALUMINIUM, start, end, WIDTH, name, mask=0)


def _triangle(world, corners, name):
    """A plate with these corners, its frame along the axes of the world."""
    y = WIDTH / 2
    points = [in_plane(corner, side) for corner in corners for side in (-y, y)]
    return world.add_body(ds.ConvexHull(points), ALUMINIUM, name=name, mask=0)


def _pin(world, a, b, point, motor=None):
    return world.add_joint(ds.Hinge(a, b, in_plane(point), ACROSS, motor=motor))


SCENES = [
    Scene(
        "four-bar",
        "a crank turns once a second and a rocker swings",
        fill_four_bar,
        seconds=10.0,
        expect="the loop stays closed and the rocker follows Freudenstein's equation",
        view=(0.0, -1.0, 0.1),
    ),
    Scene(
        "slider-crank",
        "a crank, a connecting rod and a piston",
        fill_slider_crank,
        seconds=10.0,
        expect="the piston is at r cos a + sqrt(l^2 - r^2 sin^2 a) for the crank angle a",
        view=(0.0, -1.0, 0.1),
    ),
    Scene(
        "jansen-linkage",
        "two legs of a strandbeest on one crank",
        fill_jansen_linkage,
        seconds=10.0,
        expect="the feet go round on flat-bottomed loops, and eighteen pins stay closed",
        source="Theo Jansen's lengths, The Great Pretender (2007)",
        view=(0.0, -1.0, 0.1),
    ),
]
