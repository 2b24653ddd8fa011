"""Volume, centre and inertia per unit density, their sums, and principal axes."""

from itertools import permutations
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError

# Products of inertia below this part of the largest moment are rounding of an already
# diagonal tensor: turning the frame for them would move axes without reason.
DIAGONAL_TOLERANCE = 1e-12

_PERMUTATIONS = np.array(list(permutations(range(3))))


class MassProperties(NamedTuple):
    """Of a shape of density 1 kg/m³, in the shape's own axes."""

    volume: float  # [m³]
    centre: np.ndarray  # (3,) centre of mass [m]
    inertia: np.ndarray  # (3, 3) about the centre of mass, for density 1 [m⁵]


def centred(volume: float, ix: float, iy: float, iz: float) -> MassProperties:
    """Of a shape that is symmetric about its origin; ix, iy, iz are moments at density 1."""
    inertia = np.zeros((3, 3))
    inertia[0, 0], inertia[1, 1], inertia[2, 2] = ix, iy, iz
    return MassProperties(volume, np.zeros(3), inertia)


def read_only(mass: MassProperties) -> MassProperties:
    """The same, safe to hand out more than once."""
    mass.centre.flags.writeable = mass.inertia.flags.writeable = False
    return mass


def massless(shape) -> InputError:
    """The error of asking an endless or open shape for its mass."""
    return InputError(
        f"{shape!r} has no volume and so no mass: it can only be fixed. Use add_fixed()."
    )


def point_inertia(offset: np.ndarray) -> np.ndarray:
    """(3, 3) inertia of a unit point mass at `offset`: |d|² 1 - d dᵀ."""
    return np.eye(3) * (offset @ offset) - np.outer(offset, offset)


def combine(pieces) -> MassProperties:
    """Sum of (MassProperties, position, rotation) by the parallel axis theorem."""
    placed = [(m.volume, np.asarray(p) + R @ m.centre, R @ m.inertia @ R.T) for m, p, R in pieces]
    volume = sum(v for v, _, _ in placed)
    # Measured from the first piece: far from the frame's origin nothing cancels.
    base = placed[0][1]
    centre = base + sum(v * (c - base) for v, c, _ in placed) / volume
    inertia = sum(i + v * point_inertia(c - centre) for v, c, i in placed)
    return MassProperties(volume, centre, inertia)


def polyhedron_mass(vertices: np.ndarray, triangles: np.ndarray) -> MassProperties:
    """Exact, of the closed surface of outward triangles (n, 3) over vertices (m, 3).

    The body is the signed sum of the tetrahedra (o, a, b, c) over its triangles, with
    6 V = det(a, b, c), centre (a + b + c) / 4 and second moment
    ∫ x xᵀ = det / 120 (s sᵀ + a aᵀ + b bᵀ + c cᵀ), s = a + b + c [Tonon2004].
    """
    volume, centre, _ = _tetrahedra(vertices[triangles])
    # Again about the centre, where the terms do not cancel.
    volume, rest, second = _tetrahedra(vertices[triangles] - centre)
    inertia = np.eye(3) * np.trace(second) - second
    return MassProperties(float(volume), centre + rest, 0.5 * (inertia + inertia.T))


def volume_over_area(vertices: np.ndarray, triangles: np.ndarray) -> float:
    """Of a closed surface [m]: half the thickness of a wide plate, less of anything else.

    What decides whether a body moves fast enough for continuous collision detection
    (collision/ccd.py).
    """
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    area = np.cross(b - a, c - a)
    volume = np.einsum("ij,ij->", area, a) / 6.0
    return float(volume / (0.5 * np.linalg.norm(area, axis=1).sum()))


def _tetrahedra(corners: np.ndarray):
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    det = np.einsum("ij,ij->i", a, cross_rows(b, c))
    s = a + b + c
    volume = det.sum() / 6.0
    centre = det @ s / (24.0 * volume)
    second = sum((x * det[:, None]).T @ x for x in (s, a, b, c)) / 120.0
    return volume, centre, second


def cross_rows(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(n, 3) cross products of the rows: the bits of np.cross, in half the time if few."""
    product = np.empty(a.shape)
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        product[:, k] = a[:, i] * b[:, j] - a[:, j] * b[:, i]
    return product


def principal_axes(inertia) -> tuple[np.ndarray, np.ndarray]:
    """Principal moments (3,) and the proper rotation (3, 3) whose columns are their axes.

    A tensor that is diagonal already gives its diagonal and the identity. Of the orders and
    signs of the axes we take those nearest to the identity, so that the answer does not
    jump about when the tensor is nearly diagonal.
    """
    tensor = np.asarray(inertia, dtype=np.float64)
    _check_inertia(tensor)
    diagonal = np.diag(tensor).copy()
    if np.abs(tensor - np.diag(diagonal)).max() <= DIAGONAL_TOLERANCE * diagonal.max():
        return diagonal, np.eye(3)
    moments, axes = np.linalg.eigh(0.5 * (tensor + tensor.T))
    fit = np.abs(axes)[np.arange(3), _PERMUTATIONS].sum(axis=1)
    order = _PERMUTATIONS[np.argmax(fit)]
    moments, axes = moments[order], axes[:, order]
    axes = axes * np.where(np.diag(axes) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, np.argmin(np.abs(np.diag(axes)))] *= -1.0
    return moments, axes


def _check_inertia(tensor: np.ndarray) -> None:
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise InputError(f"inertia is {tensor.tolist()}, must be a 3 by 3 array of finite numbers.")
    if np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():  # far above rounding
        raise InputError(f"inertia is {tensor.tolist()}, must be symmetric.")
    if not np.linalg.eigvalsh(tensor)[0] > 0.0:
        raise InputError(f"inertia is {tensor.tolist()}, all its principal moments must be > 0.")
