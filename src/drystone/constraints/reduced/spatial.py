"""Spatial vectors [Featherstone2008, ch. 2]: angular, then linear, about one point for all links.

With one point and world axes no vector has to be moved from link to link: composite inertias and
forces are plain sums.
"""

from drystone.jit import inner_kernel
from drystone.jit.vec import add, cross, dot


@inner_kernel
def load6(array, i):
    return (array[i, 0], array[i, 1], array[i, 2]), (array[i, 3], array[i, 4], array[i, 5])


@inner_kernel
def store6(array, i, angular, linear):
    array[i, 0], array[i, 1], array[i, 2] = angular
    array[i, 3], array[i, 4], array[i, 5] = linear


@inner_kernel
def cross_motion(w, v, m, n):
    """(w, v) × (m, n) of two motions [Featherstone2008, eq. 2.31]."""
    return cross(w, m), add(cross(w, n), cross(v, m))


@inner_kernel
def cross_force(w, v, t, f):
    """(w, v) ×* (t, f) of a motion and a force [Featherstone2008, eq. 2.32]."""
    return add(cross(w, t), cross(v, f)), cross(w, f)


@inner_kernel
def inertia_times(inertia, i, w, v):
    """Momentum of row `i`: mass, first moment h, inertia about the point, for a motion (w, v)."""
    m = inertia[i, 0]
    h = (inertia[i, 1], inertia[i, 2], inertia[i, 3])
    turned = (
        inertia[i, 4] * w[0] + inertia[i, 5] * w[1] + inertia[i, 6] * w[2],
        inertia[i, 5] * w[0] + inertia[i, 7] * w[1] + inertia[i, 8] * w[2],
        inertia[i, 6] * w[0] + inertia[i, 8] * w[1] + inertia[i, 9] * w[2],
    )
    wh = cross(w, h)
    return add(turned, cross(h, v)), (m * v[0] + wh[0], m * v[1] + wh[1], m * v[2] + wh[2])


@inner_kernel
def pair(array, i, w, v):
    """Row `i` times (w, v): power of a force on a motion."""
    return dot((array[i, 0], array[i, 1], array[i, 2]), w) + dot(
        (array[i, 3], array[i, 4], array[i, 5]), v
    )
