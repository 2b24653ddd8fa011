"""Spinning bodies: dzhanibekov, spinning-top, turntable and euler-disk."""

from math import cos, pi, radians, sin, sqrt

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene

G = 9.81  # [m/s²]


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


def fill_turntable(world, spin=1.0, radius=1.5, friction=0.9):
    """A box that rides on a turntable of 2 m which goes round with `spin` [rad/s].

    It sticks as long as spin² radius < friction g, and then stays at its radius [m].
    """
    wood = ds.Material(density=500, friction=friction)
    world.add_body(
        ds.Cylinder(2.0, 0.1), wood, position=(0, 0, -0.05), spin=(0, 0, spin), kinematic=True,
        name="turntable",
    )  # fmt: skip
    world.add_body(
        ds.Box(0.2, 0.2, 0.2), wood, position=(radius, 0, 0.1), velocity=(0, spin * radius, 0),
        spin=(0, 0, spin), name="box",
    )  # fmt: skip


def rolling_spin(radius, thickness, lean):
    """Spin [rad/s] with which a disk rolls round on its rim, its centre at rest, at this lean.

    It lies along the line from the centre to the point of contact, which is at rest. The angular
    momentum goes round with the axis, as the torque of the weight about the centre wants it.
    """
    axis, down = np.array([sin(lean), 0, cos(lean)]), np.array([cos(lean), 0, -sin(lean)])
    arm = radius * down - 0.5 * thickness * axis
    along = arm / np.linalg.norm(arm)
    turn = np.cross(along, axis)[1] / sin(lean)  # of the axis about z, for a spin of 1
    across = radius**2 / 4 + thickness**2 / 12  # moments of inertia for a mass of 1
    momentum = across * (along @ down) * down + radius**2 / 2 * (along @ axis) * axis
    return sqrt(-G * arm[0] / (turn * momentum[0])) * along


def fill_euler_disk(world, lean_deg=10.0, radius=0.1, thickness=0.01, friction=0.8):
    """A disk that rolls round on its rim, leaning against nothing, faster the flatter it lies."""
    steel = ds.Material(density=7800, friction=friction)
    world.add_fixed(ds.Plane(), steel, name="ground")
    a = radians(lean_deg)
    world.add_body(
        ds.Cylinder(radius, thickness), steel, orientation=(cos(a / 2), 0, sin(a / 2), 0),
        position=(0, 0, radius * sin(a) + 0.5 * thickness * cos(a)),
        spin=rolling_spin(radius, thickness, a), name="disk",
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
    Scene(
        "turntable",
        "a box that rides on a turntable",
        fill_turntable,
        seconds=20.0,
        expect="it stays where it was put",
        ranges={"radius": (0, 1.8)},
    ),
    Scene(
        "euler-disk",
        "a disk that rolls round on its rim",
        fill_euler_disk,
        seconds=2.0,
        expect="it goes round and round, at the same lean",
        ranges={"lean_deg": (1, 80), "radius": (1e-3, None), "thickness": (1e-4, None)},
    ),
]
