"""Rotations outside the compiled stages: unit quaternions (w, x, y, z) and matrices, in NumPy."""

from math import sqrt

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import vector

IDENTITY = np.eye(3)
IDENTITY.flags.writeable = False

# How far the length of a quaternion from the user may be from 1 before we take it for a
# mistake (Euler angles, wrong order) and not for rounding: four printed digits pass.
UNIT_TOLERANCE = 1e-3


def unit_quaternion(what: str, value) -> tuple[float, float, float, float]:
    """A quaternion from the user, checked and scaled to length 1."""
    w, x, y, z = vector(what, value, 4)
    length = sqrt(w * w + x * x + y * y + z * z)
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise InputError(
            f"{what} is {(w, x, y, z)} with length {length:g}, must be a unit quaternion "
            f"(w, x, y, z); (1, 0, 0, 0) is no rotation."
        )
    if length == 1.0:
        return w, x, y, z
    return w / length, x / length, y / length, z / length


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """(..., 3, 3) of unit quaternions (..., 4); columns are the axes of the rotated frames.

    The same formula as jit/vec.rotation_matrix(), which kernels call.
    """
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    entries = (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip
    return np.stack(entries, axis=-1).reshape(*quaternions.shape[:-1], 3, 3)


def matrix_from_quaternion(quaternion) -> np.ndarray:
    """The (3, 3) rotation matrix of one unit quaternion."""
    return rotation_matrices(np.array(quaternion, dtype=np.float64))


def quaternion_from_matrix(rotation) -> np.ndarray:
    """The (4,) unit quaternion of a proper rotation, with w >= 0.

    [Shepperd1978]: divides by the largest of the four components, so no digits are lost.
    """
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(rotation, dtype=np.float64).tolist()
    squares = (1 + a + e + i, 1 + a - e - i, 1 - a + e - i, 1 - a - e + i)
    largest = max(range(4), key=squares.__getitem__)
    s = squares[largest]
    q = (
        (s, h - f, c - g, d - b),
        (h - f, s, d + b, c + g),
        (c - g, d + b, s, h + f),
        (d - b, c + g, h + f, s),
    )[largest]
    q = np.array(q)
    return q / (np.linalg.norm(q) * (-1.0 if q[0] < 0.0 else 1.0))


def matrix_with_z_along(normal) -> np.ndarray:
    """A proper rotation whose third column is the unit vector `normal`; identity for z."""
    x, y, z = (float(c) for c in normal)
    if z == 1.0:
        return IDENTITY
    if z < 0.0:  # rotate the mirrored one by half a turn about x: no divisor near zero below
        return matrix_with_z_along((x, -y, -z)) * np.array([[1.0], [-1.0], [-1.0]])
    a = -1.0 / (1.0 + z)
    return np.array([[1 + x * x * a, x * y * a, x], [x * y * a, 1 + y * y * a, y], [-x, -y, z]])
