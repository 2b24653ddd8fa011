"""A rain of balls into a sloping tray with the letters D, I, K, U sunk into it."""

from math import cos, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene

LETTERS = (
    "....................................",
    "....................................",
    "..######....###...###...##..##...##.",
    "..##...##...###...##...##...##...##.",
    "..##....##..###...##..##....##...##.",
    "..##....##..###...####......##...##.",
    "..##....##..###...##..##....##...##.",
    "..##...##...###...##...##...##...##.",
    "..######....###...###...##...#####..",
    "....................................",
    "....................................",
)
PIXEL = 1.2  # [m] so that a stroke is wider than two of the largest balls
DEPTH, FLOOR = 2.0, 0.6  # [m] of the letters, and of what is left under them
RADII = (0.165, 0.33, 0.495)  # [m] of every third ball


def solid_boxes(rows=LETTERS):
    """Boxes around the letters: pairs of rows (from, to) and columns (from, to).

    Runs that repeat in the next row make one taller box: a seam less is a place less where a ball
    touches two boxes at once.
    """
    open_runs, done = {}, []
    for r, line in enumerate((*rows, "#" * len(rows[0]))):
        runs, start = set(), None
        for c, cell in enumerate(line + "#"):
            if cell == "." and start is None:
                start = c
            elif cell == "#" and start is not None:
                runs.add((start, c))
                start = None
        done += [((open_runs.pop(run), r), run) for run in sorted(set(open_runs) - runs)]
        open_runs |= {run: r for run in runs if run not in open_runs}
    return done


def tray_shape():
    """The tray as one compound, its upper side in the plane z = 0, row 0 at the far side (+y)."""
    length, width = PIXEL * len(LETTERS[0]), PIXEL * len(LETTERS)
    members = [(ds.Box(length, width, FLOOR), (0.0, 0.0, -DEPTH - FLOOR / 2))]
    for (top, bottom), (left, right) in solid_boxes():
        size = PIXEL * (right - left), PIXEL * (bottom - top), DEPTH
        x, y = PIXEL * (left + right) / 2 - length / 2, width / 2 - PIXEL * (top + bottom) / 2
        members.append((ds.Box(*size), (x, y, -DEPTH / 2)))
    return ds.Compound(*members)


def rain(rng, count, radii):
    """Positions (count, 3) of balls in a slanting shower above the tray that do not overlap [m].

    Each is a fifth of a metre higher than the last and a little further down the slope.
    """
    points = np.zeros((count, 3))
    for k in range(count):
        while True:
            i = k + 1
            low = (10.0 - 0.025 * i, -2.75, 14.8 + 0.2 * i)
            high = (15.0 - 0.025 * i, 2.75, 15.2 + 0.2 * i)
            points[k] = rng.uniform(low, high)
            reach = radii[max(0, k - 12) : k] + radii[k]  # those further below cannot reach it
            apart = np.linalg.norm(points[max(0, k - 12) : k] - points[k], axis=1)
            if (apart > reach).all():
                break
    return points


def fill_diku(world, seed=1, count=1000, slope_deg=15.0, friction=0.01, tray_friction=0.04):
    """`count` iron balls of three sizes fall on the upper end and run down over the letters.

    Few contacts that hardly know of each other: 105 of them after 1.8 s, in 84 islands, as many
    contacts as in the paper. There a greedy-staggered iteration is 1.7 times, an
    extreme-staggered one 1.4 times as fast as a plain one of projected Gauss-Seidel; here 1.65
    and 1.9 times, and every ordering solves it to 1e-8 m/s within 10 sweeps.
    """
    rng = np.random.default_rng(seed)
    iron = ds.Material(density=7200, friction=friction, restitution=0.15)
    wood = ds.Material(density=700, name="tray")
    world.set_pair(iron, wood, friction=tray_friction, restitution=0.1)
    half = -radians(slope_deg) / 2  # falls towards -x
    world.add_fixed(tray_shape(), wood, orientation=(cos(half), 0, sin(half), 0), name="tray")
    radii = np.resize(RADII, count)
    for k, position in enumerate(rain(rng, count, radii)):
        world.add_body(ds.Sphere(radii[k]), iron, position=position, name=f"ball {k}")


SCENES = [
    Scene(
        "diku",
        "1000 balls of three sizes rain into a sloping tray with letters sunk into it",
        fill_diku,
        seconds=8.0,
        expect="balls run down the slope and fill the letters D, I, K, U",
        source="WSCG 2010 (Poulsen, Niebe, Erleben), diku; its scene is a demo of OpenTissue",
        picture_time=2.5,
    )
]
