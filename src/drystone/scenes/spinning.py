"""Spinning bodies: dzhanibekov and spinning-top."""

from math import cos, pi, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene


def fill_dzhanibekov(world, spin=6.0, nudge=1e-3):
    """A box in free fall that turns about its middle axis, with a nudge about the others."""
    steel = ds.Material(density=7800)
    world.add_body(
        ds.Box(0.3, 0.15, 0.05), steel, position=(0, 0, 0), spin=(nudge, spin, nudge), name="box"
    )


def top_corners(sides=24):
    """Corners of a spinning top, its tip at the origin [m]."""
    rings = ((0.045, 0.05), (0.06, 0.05), (0.08, 0.008))
    angles = 2 * pi * np.arange(sides) / sides
    return np.array([(0, 0, 0)] + [(r * cos(a), r * sin(a), z) for z, r in rings for a in angles])


def fill_spinning_top(world, spin=150.0, lean_deg=15.0, friction=0.3):
    """A top let go on its tip, leaning, with `spin` [rad/s] about its own axis."""
    wood = ds.Material(density=700, friction=friction)
    world.add_fixed(ds.Plane(), wood, name="ground")
    a = radians(lean_deg)
    world.add_body(
        ds.ConvexHull(top_corners()), wood, position=(0, 0, 0),
        orientation=(cos(a / 2), sin(a / 2), 0, 0), spin=(0, -spin * sin(a), spin * cos(a)),
        name="top",
    )  # fmt: skip


SCENES = [
    Scene(
        "dzhanibekov",
        "a box in free fall that turns about its middle axis",
        fill_dzhanibekov,
        seconds=20.0,
        expect="it flips over again and again; energy and angular momentum stay",
        settings={"gravity": (0, 0, 0)},
    ),
    Scene(
        "spinning-top",
        "a top that leans, and goes round instead of falling",
        fill_spinning_top,
        seconds=5.0,
        expect="its axis goes round slowly while it spins fast",
        settings={"dt": 1 / 2000},
    ),
]
