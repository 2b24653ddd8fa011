"""Spatial vectors [Featherstone2008, ch. 2]: angular, then linear, about one point for all links.

With one point and world axes no vector has to be moved from link to link: composite inertias and
forces are plain sums.
"""

from drystone.jit import inner_kernel
from drystone.jit.fused import cross_add, dot3, fma
from drystone.jit.vec import cross


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
    return cross(w, m), cross_add(w, n, cross(v, m))


@inner_kernel
def cross_force(w, v, t, f):
    """(w, v) ×* (t, f) of a motion and a force [Featherstone2008, eq. 2.32]."""
    return cross_add(w, t, cross(v, f)), cross(w, f)


@inner_kernel
def turn(inertia, i, w):
    """Inertia of row `i` about the point, times a spin."""
    xy, xz, yz = inertia[i, 5], inertia[i, 6], inertia[i, 8]
    return (
        fma(inertia[i, 4], w[0], fma(xy, w[1], xz * w[2])),
        fma(xy, w[0], fma(inertia[i, 7], w[1], yz * w[2])),
        fma(xz, w[0], fma(yz, w[1], inertia[i, 9] * w[2])),
    )


@inner_kernel
def inertia_times(inertia, i, w, v):
    """Momentum of row `i`: mass, first moment h, inertia about the point, for a motion (w, v)."""
    m, h = inertia[i, 0], (inertia[i, 1], inertia[i, 2], inertia[i, 3])
    momentum = cross_add(w, h, (m * v[0], m * v[1], m * v[2]))
    return cross_add(h, v, turn(inertia, i, w)), momentum


@inner_kernel
def pair(array, i, w, v):
    """Row `i` times (w, v): power of a force on a motion."""
    return dot3((array[i, 0], array[i, 1], array[i, 2]), w) + dot3(
        (array[i, 3], array[i, 4], array[i, 5]), v
    )
