"""Anderson acceleration [Walker2011] of Gauss-Seidel sweeps on an explicit W (newton/hybrid.py).

A sweep maps the impulses x to g(x), and f = g(x) - x is what it changed. With the differences of f
and g over the last sweeps as columns of F and G, the next sweep starts from

    x = g - G y,   y the least-squares answer of F y = f

Where sweeps converge slowly but steadily this saves up to nine in ten. Where f grew instead of
shrinking, the step was bad: we go back to the last plain sweep and restart. Lengths are in sqrt(J):
impulses times sqrt(scale).
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.jit.table import table

DEPTH = 5  # differences stored; three take a tenth more sweeps, ten save none
GROWTH = 2.0  # of |f| from one sweep to the next beyond which the accelerated step was bad
TINY = 1e-10  # added to the squares of F, relative to their sum, so that they can be solved


@table
class AndersonWork(NamedTuple):
    """What is stored of the last sweeps over up to n contacts."""

    start: np.ndarray  # (n, 3) x of this sweep
    g: np.ndarray  # (n, 3) of the last sweep
    change_f: np.ndarray  # (DEPTH + 1, n, 3) differences of f; the last entry is f itself
    change_g: np.ndarray  # (DEPTH, n, 3)
    square: np.ndarray  # (DEPTH, DEPTH) products of change_f with each other
    system: np.ndarray  # (DEPTH, DEPTH + 1) scratch
    length: np.ndarray  # (1,) |f| of the last sweep
    count: np.ndarray  # (2,) int32: sweeps since the start or a restart, columns in use


def anderson_work(n: int) -> AndersonWork:
    m = DEPTH
    return AndersonWork(
        np.empty((n, 3)), np.empty((n, 3)), np.empty((m + 1, n, 3)), np.empty((m, n, 3)),
        np.zeros((m, m)), np.zeros((m, m + 1)), np.zeros(1), np.zeros(2, dtype=np.int32),
    )  # fmt: skip


@kernel
def restart(work):
    """Drop all that is stored."""
    work.count[0] = work.count[1] = 0


@kernel
def store_start(lo, hi, member, impulse, work):
    """Store the impulses from which the next sweep starts."""
    for i in range(lo, hi):
        for k in range(3):
            work.start[i - lo, k] = impulse[member[i], k]


@kernel
def accelerate(lo, hi, member, scale, friction, work, impulse):
    """Replace what a sweep has left in `impulse` by where the next one should start."""
    total = 0.0
    for i in range(lo, hi):
        c = member[i]
        for k in range(3):
            f = impulse[c, k] - work.start[i - lo, k]
            total += scale[c] * f * f
    length = sqrt(total)
    if work.count[0] > 0 and not length <= GROWTH * work.length[0]:
        for i in range(lo, hi):
            for k in range(3):
                impulse[member[i], k] = work.g[i - lo, k]
        restart(work)
        return
    newest = _store_sweep(lo, hi, member, scale, work, impulse)
    work.length[0] = length
    if newest >= 0 and _solve_weights(hi - lo, newest, work):
        _subtract(lo, hi, member, friction, work, impulse)


@kernel
def _store_sweep(lo, hi, member, scale, work, impulse):
    """Store this sweep and its difference to the last; the column of the latter, or -1."""
    newest = (work.count[0] - 1) % DEPTH if work.count[0] > 0 else -1
    for i in range(lo, hi):
        c, j = member[i], i - lo
        weight = sqrt(scale[c])
        for k in range(3):
            g = impulse[c, k]
            f = weight * (g - work.start[j, k])
            if newest >= 0:
                work.change_f[newest, j, k] = f - work.change_f[DEPTH, j, k]
                work.change_g[newest, j, k] = g - work.g[j, k]
            work.change_f[DEPTH, j, k], work.g[j, k] = f, g
    work.count[0] += 1
    if newest >= 0:
        work.count[1] = min(work.count[1] + 1, DEPTH)
    return newest


@kernel
def _product(n, v, a, b):
    total = 0.0
    for j in range(n):
        total += v[a, j, 0] * v[b, j, 0] + v[a, j, 1] * v[b, j, 1] + v[a, j, 2] * v[b, j, 2]
    return total


@kernel
def _solve_weights(n, newest, work):
    """Solve the normal equations of F y = f; y goes to the last column of work.system."""
    m = work.count[1]
    trace = 0.0
    for a in range(m):
        value = _product(n, work.change_f, a, newest)
        work.square[a, newest] = work.square[newest, a] = value
    for a in range(m):
        trace += work.square[a, a]
    if not trace > 0.0:
        return False
    s = work.system
    for a in range(m):
        for b in range(m):
            s[a, b] = work.square[a, b]
        s[a, a] += TINY * trace
        s[a, DEPTH] = _product(n, work.change_f, a, DEPTH)
    for a in range(m):  # positive definite: no pivoting
        for b in range(a + 1, m):
            factor = s[b, a] / s[a, a]
            for c in range(a + 1, m):
                s[b, c] -= factor * s[a, c]
            s[b, DEPTH] -= factor * s[a, DEPTH]
    for a in range(m - 1, -1, -1):
        for b in range(a + 1, m):
            s[a, DEPTH] -= s[a, b] * s[b, DEPTH]
        s[a, DEPTH] /= s[a, a]
    return True


@kernel
def _subtract(lo, hi, member, friction, work, impulse):
    """impulse -= G y, and back into the friction cones."""
    for i in range(lo, hi):
        c, j = member[i], i - lo
        pn, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        for a in range(work.count[1]):
            y = work.system[a, DEPTH]
            pn -= y * work.change_g[a, j, 0]
            p1 -= y * work.change_g[a, j, 1]
            p2 -= y * work.change_g[a, j, 2]
        length, bound = sqrt(p1 * p1 + p2 * p2), friction[c] * pn
        if not pn > 0.0:
            pn, p1, p2 = 0.0, 0.0, 0.0
        elif length > bound:
            p1, p2 = p1 * bound / length, p2 * bound / length
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = pn, p1, p2
