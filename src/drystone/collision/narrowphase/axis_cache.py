"""Separating-axis cache: the best axis of a pair of polytopes, and the pose at which it was best.

Row p of `axis`:
    0     what was best: kind + 8 (i + 2**24 j), i and j numbers within the polytopes; kind
          AXIS_FACE_A, AXIS_FACE_B, AXIS_EDGES or AXIS_DIRECTION, AXIS_NONE in a new row
    1     slack [m]: by how much it was better than all others
    2..4  position of B in the axes of A (AXIS_DIRECTION: unit vector, world axes)
    5..7  rotation of B in the axes of A: the vector part of its quaternion
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import load, norm
from drystone.model.arrays import AXIS_DIRECTION, AXIS_KINDS, AXIS_SECOND


@kernel
def _quaternion(r):
    """Unit quaternion with w >= 0 of a rotation matrix."""
    trace = r[0] + r[4] + r[8]
    if trace > 0.0:
        w = 0.5 * sqrt(1.0 + trace)
        f = 0.25 / w
        return w, f * (r[7] - r[5]), f * (r[2] - r[6]), f * (r[3] - r[1])
    if r[0] >= r[4] and r[0] >= r[8]:
        x = 0.5 * sqrt(1.0 + r[0] - r[4] - r[8])
        f = 0.25 / x
        w, y, z = f * (r[7] - r[5]), f * (r[1] + r[3]), f * (r[2] + r[6])
    elif r[4] >= r[8]:
        y = 0.5 * sqrt(1.0 + r[4] - r[0] - r[8])
        f = 0.25 / y
        w, x, z = f * (r[2] - r[6]), f * (r[1] + r[3]), f * (r[5] + r[7])
    else:
        z = 0.5 * sqrt(1.0 + r[8] - r[0] - r[4])
        f = 0.25 / z
        w, x, y = f * (r[3] - r[1]), f * (r[2] + r[6]), f * (r[5] + r[7])
    if w < 0.0:
        return -w, -x, -y, -z
    return w, x, y, z


@kernel
def encode(kind, i, j):
    return float(kind) + AXIS_KINDS * (float(i) + AXIS_SECOND * float(j))


@kernel
def decode(code):
    number = int(code)
    kind = number % AXIS_KINDS
    index = number // AXIS_KINDS
    return kind, index % AXIS_SECOND, index // AXIS_SECOND


@inner_kernel
def remember(axis, p, code, slack, t, r):
    """Cache what was best, by how much, and the pose (t, r) at which it was."""
    _, x, y, z = _quaternion(r)
    axis[p, 0], axis[p, 1] = code, slack
    axis[p, 2], axis[p, 3], axis[p, 4] = t
    axis[p, 5], axis[p, 6], axis[p, 7] = x, y, z


@inner_kernel
def moved_since(axis, p, t, r, reach):
    """How far [m] points of one shape, seen from the other, may have moved since it was cached.

    A rotation by the angle f moves a point at distance x by 2 x sin(f / 2), at most 2 x |q - q'|.
    """
    w, x, y, z = _quaternion(r)
    x0, y0, z0 = axis[p, 5], axis[p, 6], axis[p, 7]
    w -= sqrt(max(0.0, 1.0 - x0 * x0 - y0 * y0 - z0 * z0))
    x, y, z = x - x0, y - y0, z - z0
    step = norm((t[0] - axis[p, 2], t[1] - axis[p, 3], t[2] - axis[p, 4]))
    return step + 2.0 * reach * sqrt(w * w + x * x + y * y + z * z)


@inner_kernel
def clear_axis(axis, p):
    """Clear row p, for a use of its own by GJK."""
    for k in range(8):
        axis[p, k] = 0.0


@inner_kernel
def cache_direction(axis, p):
    """Take over the unit vector (world axes) that GJK left in columns 0..2."""
    n = load(axis, p)
    axis[p, 0], axis[p, 1] = float(AXIS_DIRECTION), 0.0
    axis[p, 2], axis[p, 3], axis[p, 4] = n
