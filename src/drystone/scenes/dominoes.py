"""Dominoes along a winding path, the first one let go just past its balance."""

from math import atan2, cos, hypot, pi, radians, sin

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene


def winding_path(count, spacing, sway, wavelength=6.0):
    """Points (count, 2) and headings [rad] at equal distances along a sine curve [m]."""
    x = np.linspace(0.0, count * spacing, 200 * count)
    y = sway * np.sin(2 * pi * x / wavelength)
    along = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
    at = spacing * np.arange(count)
    points = np.stack([np.interp(at, along, x), np.interp(at, along, y)], axis=1)
    ahead = np.stack([np.interp(at + 1e-3, along, x), np.interp(at + 1e-3, along, y)], axis=1)
    return points, [atan2(d[1], d[0]) for d in ahead - points]


def fill_dominoes(
    world, count=60, height=0.48, width=0.24, thickness=0.075, spacing=0.2, sway=0.6, lean_deg=12.0,
    friction=0.4,
):  # fmt: skip
    """Upright boxes of the given sizes [m]; the first leans forward by `lean_deg`."""
    bone = ds.Material(density=600, friction=friction, restitution=0.1)
    world.add_fixed(ds.Plane(), bone, name="ground")
    points, headings = winding_path(count, spacing, sway)
    for k, ((x, y), heading) in enumerate(zip(points, headings, strict=True)):
        lean = radians(lean_deg) if k == 0 else 0.0
        # Turned about the lower front edge, so that the leaning one still stands on it.
        arm, tilt = hypot(thickness, height) / 2, atan2(height, -thickness) - lean
        forward, z = thickness / 2 + arm * cos(tilt), arm * sin(tilt)
        c, s, h = cos(lean / 2), sin(lean / 2), heading / 2
        world.add_body(
            ds.Box(thickness, width, height), bone,
            position=(x + forward * cos(heading), y + forward * sin(heading), z),
            orientation=(cos(h) * c, -sin(h) * s, cos(h) * s, sin(h) * c), name=f"domino {k}",
        )  # fmt: skip


SCENES = [
    Scene(
        "dominoes",
        "sixty dominoes along a winding path",
        fill_dominoes,
        seconds=8.0,
        expect="every domino falls, one after the other",
    )
]
