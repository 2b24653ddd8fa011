"""Many unit quaternions (w, x, y, z) at once, in NumPy; the last axis holds the four numbers."""

import numpy as np


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The rotation `b`, then `a`."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    parts = (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )
    return np.stack(np.broadcast_arrays(*parts), axis=-1)


def conjugate(q: np.ndarray) -> np.ndarray:
    return q * np.array((1.0, -1.0, -1.0, -1.0))


def rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The vectors `v` (..., 3) rotated by `q`."""
    w, u = q[..., :1], q[..., 1:]
    return v + 2.0 * np.cross(u, np.cross(u, v) + w * v)


def from_vectors(v: np.ndarray) -> np.ndarray:
    """Of rotation vectors [rad]."""
    angle = np.linalg.norm(v, axis=-1, keepdims=True)
    # np.sinc(x) is sin(pi x) / (pi x), one at zero
    return np.concatenate((np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * v), axis=-1)


def vectors(q: np.ndarray) -> np.ndarray:
    """Rotation vectors [rad], the shorter of the two."""
    q = np.where(q[..., :1] < 0.0, -q, q)
    size = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(size, q[..., :1])
    # where size < 1e-8 the angle is 2 size to rounding
    return q[..., 1:] * np.where(size > 1e-8, angle / np.maximum(size, 1e-300), 2.0)


def continuous(q: np.ndarray) -> np.ndarray:
    """The same rotations, with the sign that makes each the neighbour of the one before it."""
    flips = np.where((q[1:] * q[:-1]).sum(axis=-1) < 0.0, -1.0, 1.0)
    signs = np.concatenate((np.ones_like(flips[:1]), np.cumprod(flips, axis=0)))
    return q * signs[..., None]


def unit(q: np.ndarray) -> np.ndarray:
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def about(axis: int, angle: np.ndarray) -> np.ndarray:
    """Rotations by `angle` [rad] about the axis 0, 1 or 2."""
    q = np.zeros((*np.shape(angle), 4))
    q[..., 0], q[..., 1 + axis] = np.cos(0.5 * angle), np.sin(0.5 * angle)
    return q


def mean(q: np.ndarray) -> np.ndarray:
    """The rotation in the middle of many (m, ..., 4): the first eigenvector of the sum of q qᵀ."""
    moment = np.einsum("m...i,m...j->...ij", q, q)
    return np.linalg.eigh(moment)[1][..., -1]
