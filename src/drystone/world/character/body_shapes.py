"""Shapes fitted to the bones of a figure: capsules for limbs, boxes for the trunk, hulls for feet.

Each is a list of members (shape, position, orientation) in the axes of its bone, as large as its
mass is at the density of water, which that of people is close to (CLINE 5.1.1).
"""

from math import pi

import numpy as np

from drystone.model.rotation import matrix_with_z_along, quaternion_from_matrix
from drystone.shapes import Box, Capsule, ConvexHull, Sphere

DENSITY = 1000.0  # [kg/m³]
UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def limb(tip: np.ndarray, mass: float) -> list:
    """A capsule along the bone from the joint to `tip`."""
    length = float(np.linalg.norm(tip))
    if length < 1e-6:
        return head(np.zeros(3), mass)
    volume = mass / DENSITY
    # From tip to tip it is as long as the bone, but for half a radius at either joint.
    radius = float(np.sqrt(volume / (pi * length)))
    for _ in range(20):  # Newton's method on the volume; each digit count doubles
        straight = max(length - radius, 0.1 * length)
        held = pi * radius**2 * straight + 4.0 / 3.0 * pi * radius**3
        radius -= (held - volume) / (2.0 * pi * radius * straight + 4.0 * pi * radius**2)
    straight = max(length - radius, 0.1 * length)
    turn = quaternion_from_matrix(matrix_with_z_along(tip / length))
    return [(Capsule(radius, straight), tuple(0.5 * tip), tuple(turn))]


def head(tip: np.ndarray, mass: float) -> list:
    """A ball that ends at `tip`."""
    radius = (3.0 * mass / (4.0 * pi * DENSITY)) ** (1.0 / 3.0)
    length = float(np.linalg.norm(tip))
    middle = tip * max(1.0 - radius / length, 0.4) if length > 0.0 else tip
    return [(Sphere(radius), tuple(middle), UPRIGHT)]


def slab(low: float, high: float, side: int, width: float, mass: float, middle: np.ndarray) -> list:
    """A box of the trunk from `low` to `high` above the joint, `width` along the axis `side`."""
    tall = max(high - low, 0.04)
    deep = min(max(mass / (DENSITY * tall * width), 0.3 * width), 1.2 * width)
    sizes = np.array((deep, deep, tall))
    sizes[side] = width
    at = np.array((middle[0], middle[1], 0.5 * (low + high)))
    return [(Box(*sizes.tolist()), tuple(at), UPRIGHT)]


def foot(sole: np.ndarray, up: np.ndarray, ankle: float) -> list:
    """The hull of four corners of the sole and, above them, a narrower one."""
    middle = sole.mean(axis=0)
    top = middle + 0.7 * (sole - middle) + 0.6 * ankle * up
    return [(ConvexHull(np.concatenate((sole, top))), (0.0, 0.0, 0.0), UPRIGHT)]
