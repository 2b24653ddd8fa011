"""Dry-stone walls: irregular stones in courses, held together by weight and friction alone."""

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene

JOINT_GAP = (0.002, 0.008)  # [m] between neighbours in a course: the beds alone carry the wall


def stone_corners(rng, size):
    """Corners (24, 3) of an irregular stone within a box of `size`, about the box's centre.

    Three rings of eight corners: the beds, below and above, are flat and reach the faces of
    the box, so that stones bear on each other; between them the stone bulges out to its sides.
    """
    half = np.asarray(size) / 2
    rings = []
    for height, bulge in ((-1.0, 0.0), (rng.uniform(-0.3, 0.3), 1.0), (1.0, 0.0)):
        low, high = 1.0 - rng.uniform(0.0, 0.1 - 0.07 * bulge, (2, 2))
        corner = [(high[0], high[1]), (-low[0], high[1]), (-low[0], -low[1]), (high[0], -low[1])]
        for x, y in corner:
            cut_x, cut_y = rng.uniform(0.08, 0.35, 2)
            rings.append((x * (1 - cut_x), y, height))
            rings.append((x, y * (1 - cut_y), height))
    return np.array(rings) * half


def course_joints(rng, length, below, widths=(0.22, 0.42), bond=0.06):
    """Where one course is divided [m]: stones of random width, no joint above one of `below`."""
    joints = [0.0]
    while length - joints[-1] > widths[1]:
        for _ in range(30):
            x = joints[-1] + rng.uniform(*widths)
            if np.abs(below - x).min() > bond and length - x > 0.5 * widths[0]:
                break
        joints.append(x)
    return np.array([*joints, length])


def lay_courses(rng, length, courses, thickness, batter):
    """Boxes (centre, size) of all stones of a wall along x, from the ground up."""
    z, below, cells = 0.0, np.array([-1.0]), []
    for _ in range(courses):
        height = rng.uniform(0.13, 0.2)
        depth = thickness - 2 * batter * z  # both faces lean inwards
        joints = course_joints(rng, length, below)
        for x0, x1 in zip(joints[:-1], joints[1:], strict=True):
            split = rng.uniform(-0.15, 0.15) * depth
            # Two stones back to back, or one through stone that ties the faces together.
            middle = [split] if rng.random() < 0.4 else []
            faces = [-depth / 2, *middle, depth / 2]
            for y0, y1 in zip(faces[:-1], faces[1:], strict=True):
                gap = rng.uniform(*JOINT_GAP)
                centre = (x0 + x1 - length) / 2, (y0 + y1) / 2, z + height / 2
                cells.append((centre, (x1 - x0 - gap, y1 - y0 - gap, height)))
        below, z = joints[1:-1], z + height
    return cells, z


def fill_wall(
    world, seed=1, length=6.0, courses=8, thickness=0.5, batter=0.05, friction=0.6, ball=True,
    ball_radius=0.3, ball_speed=10.0, strike_time=2.0,
):  # fmt: skip
    """A wall along x, and a steel ball in flight that strikes it after `strike_time` [s]."""
    rng = np.random.default_rng(seed)
    rock = ds.Material(density=2600, friction=friction)
    world.add_fixed(ds.Plane(), rock, name="ground")
    cells, top = lay_courses(rng, length, courses, thickness, batter)
    for k, (centre, size) in enumerate(cells):
        shape = ds.ConvexHull(stone_corners(rng, size))
        world.add_body(shape, rock, position=centre, name=f"stone {k}")
    if not ball:
        return
    # Thrown so that it meets the front face at two thirds of the height at `strike_time`. The
    # scheme moves with the velocity at the end of the step, hence dt in the fall.
    target = np.array([0.0, -(thickness / 2 + ball_radius), 2 / 3 * top])
    start = target - np.array([0.0, ball_speed * strike_time, 0.0])
    start[2] = max(1.5, ball_radius)
    gravity = -world.gravity[2]
    up = (target[2] - start[2]) / strike_time + gravity * (strike_time + world.dt) / 2
    steel = ds.Material(density=7800, friction=friction)
    world.add_body(
        ds.Sphere(ball_radius), steel, position=start, velocity=(0, ball_speed, up), name="ball"
    )


SCENES = [
    Scene(
        "wall",
        "dry-stone wall of some 200 irregular stones, struck by a heavy ball after two seconds",
        fill_wall,
        seconds=5.0,
        expect="the wall stands by friction alone until the ball breaks through it",
        ours="nsgs needs 3,300 sweeps from zero for 1e-8 m/s while the wall stands (step 480)",
        picture_time=1.95,
        view=(0.5, -1.0, 0.25),
    )
]
