"""The mass matrix of a tree, with its zeros left out: H = Lᵀ D L [Featherstone2008, table 6.3].

Row d has one number for d itself and one for each rate above it on the way to the root, nearest
first; L has its numbers in the same places, for a tree fills in nothing. They stand in `packed`
from first[d] on. With the half of a solve, z = D^-1/2 L^-T b, two rows of a constraint problem are
coupled by z . z, and L^-T only spreads towards the root: the zeros of a Jacobian stay.
"""

from math import sqrt

import numpy as np

from drystone.constraints.reduced.dynamics import compose_inertias
from drystone.constraints.reduced.spatial import inertia_times, load6, pair
from drystone.jit import inner_kernel, kernel


def mass_places(above: np.ndarray) -> np.ndarray:
    """(nv + 1,) int32 where the rows of the mass matrix begin; `above` as in RobotModel."""
    depth = np.zeros(len(above), np.int64)
    for d, up in enumerate(above):
        depth[d] = 1 + (depth[up] if up >= 0 else 0)
    return np.concatenate([[0], np.cumsum(depth)]).astype(np.int32)


@kernel
def fill_mass(model, first, work, packed):
    """The mass matrix of the robot of work.span, after place_links() and place_inertias()."""
    compose_inertias(model, work)
    for d in range(model.first_v[work.span[0]], model.first_v[work.span[1]]):
        a, b = load6(work.motion, d)
        t, f = inertia_times(work.composite, model.dof_link[d], a, b)
        e, k = d, np.int64(first[d])
        packed[k] = model.armature[d]
        while e >= 0:
            own = pair(work.motion, e, t, f)
            packed[k] = packed[k] + own if e == d else own
            e, k = model.above[e], k + 1


@kernel
def factor_mass(lo, hi, above, first, packed, inverse, root):
    """Factors of the rows lo ... hi in place; 1 / D and its square root."""
    for k in range(hi - 1, lo - 1, -1):
        row, size = np.int64(first[k]), first[k + 1] - first[k]
        inverse[k] = 1.0 / packed[row]
        root[k] = sqrt(inverse[k])
        i = above[k]
        for e in range(1, size):
            share = packed[row + e] * inverse[k]
            other = np.int64(first[i])
            for m in range(size - e):
                packed[other + m] -= share * packed[row + e + m]
            packed[row + e] = share
            i = above[i]


@inner_kernel
def spread_down(lo, hi, above, first, packed, x, o):
    """L^-T x in place; the number of rate d stands at x[o + d]."""
    for k in range(hi - 1, lo - 1, -1):
        value = x[o + k]
        if value == 0.0:
            continue
        i, row = above[k], np.int64(first[k])
        for e in range(1, first[k + 1] - first[k]):
            x[o + i] -= packed[row + e] * value
            i = above[i]


@inner_kernel
def spread_down_three(lo, hi, above, first, packed, x, o, width):
    """spread_down() of three rows, the next two `width` farther on: to find the places takes as
    long as the arithmetic."""
    p, q = o + width, o + 2 * width
    for k in range(hi - 1, lo - 1, -1):
        u, v, w = x[o + k], x[p + k], x[q + k]
        if u == 0.0 and v == 0.0 and w == 0.0:
            continue
        i, row = above[k], np.int64(first[k])
        for e in range(1, first[k + 1] - first[k]):
            share = packed[row + e]
            x[o + i] -= share * u
            x[p + i] -= share * v
            x[q + i] -= share * w
            i = above[i]


@inner_kernel
def spread_up(lo, hi, above, first, packed, x):
    """L^-1 x in place."""
    for k in range(lo, hi):
        i, row, value = above[k], np.int64(first[k]), x[k]
        for e in range(1, first[k + 1] - first[k]):
            value -= packed[row + e] * x[i]
            i = above[i]
        x[k] = value


@kernel
def solve_mass(lo, hi, above, first, packed, inverse, x):
    """H^-1 x in place, for the rates lo ... hi."""
    spread_down(lo, hi, above, first, packed, x, 0)
    for k in range(lo, hi):
        x[k] *= inverse[k]
    spread_up(lo, hi, above, first, packed, x)
