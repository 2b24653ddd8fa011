"""Impact law: all contacts at once, then friction against their sliding (ROCFALL 3.3).

The rock's twist is held as six numbers z = (velocity, k * spin), with k the radii of gyration and
the spin in the rock's axes; a row of a contact is then g = (d, (r x d) / k) for a direction d, its
velocity is g.z, an impulse p per mass along d adds p g to z, and A = G Gᵀ. The two problems are

    0 <= p  complementary to  A p + (1 + e) v >= 0                               (3.56)
    min |z + D f|² / 2  with  0 <= f <= mu p, D the directions against sliding   (3.61, 3.62)

Both are solved by pivoting; tests/rockfall/impact_reference.py does the same through OSQP. Where
contacts are redundant the first has many p, all with the same z: we take the shortest, which keeps
symmetry.
The manual has one more step to go where coefficients differ: then there may be no p, and all
contacts get the least e; or energy may grow, and the answer is mixed with that of e = 0 until it
does not.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.lemke_dense import SOLVED, LemkeWorkspace, lemke

# Of the shortest impulse: an active set that changes a few times at most.
MAX_ITERATIONS = 30

# Share of the largest diagonal added to the 6 x 6 matrix, which is singular for few contacts.
# What it adds to the answer the refinement takes off again.
SHIFT = 1e-9
REFINEMENTS = 8

# Contacts whose velocity after the impact misses the bound by more than this share of the largest
# velocity are not touching and get no impulse: far above rounding.
TOUCHING = 1e-11


class ImpactWorkspace(NamedTuple):
    """Scratch for up to K contacts."""

    matrix: np.ndarray  # (2 K, 2 K)
    q: np.ndarray  # (2 K,)
    x: np.ndarray  # (2 K,)
    other: np.ndarray  # (K,)
    sign: np.ndarray  # (K,)
    active: np.ndarray  # (K,) int64
    start: np.ndarray  # (6,)
    goal: np.ndarray  # (6,)
    small: np.ndarray  # (6, 6)
    y: np.ndarray  # (6,)
    r: np.ndarray  # (6,)
    change: np.ndarray  # (6,)
    pivots: LemkeWorkspace

    @classmethod
    def of(cls, contacts: int) -> "ImpactWorkspace":
        n = 2 * contacts
        return cls(
            np.zeros((n, n)), np.zeros(n), np.zeros(n), np.zeros(contacts), np.zeros(contacts),
            np.zeros(contacts, dtype=np.int64), np.zeros(6), np.zeros(6), np.zeros((6, 6)),
            *np.zeros((3, 6)), LemkeWorkspace.of(n),
        )  # fmt: skip


@kernel
def row_dot(a, i, b, j):
    return (
        a[i, 0] * b[j, 0] + a[i, 1] * b[j, 1] + a[i, 2] * b[j, 2]
        + a[i, 3] * b[j, 3] + a[i, 4] * b[j, 4] + a[i, 5] * b[j, 5]
    )  # fmt: skip


@kernel
def row_speed(a, i, z):
    """Velocity along row i."""
    return (
        a[i, 0] * z[0] + a[i, 1] * z[1] + a[i, 2] * z[2]
        + a[i, 3] * z[3] + a[i, 4] * z[4] + a[i, 5] * z[5]
    )  # fmt: skip


@kernel
def push(a, i, p, z):
    """Impulse p per mass along row i."""
    for k in range(6):
        z[k] += p * a[i, k]


@kernel
def _energy(z):
    """Kinetic energy per mass."""
    return 0.5 * (z[0] ** 2 + z[1] ** 2 + z[2] ** 2 + z[3] ** 2 + z[4] ** 2 + z[5] ** 2)


@kernel
def _normal_problem(count, normal, bounce, scale, z, impulse, work):
    """Solve (3.56) with e times `scale`, or with the least e if scale < 0; z goes to work.goal."""
    least = 1.0
    for i in range(count):
        least = min(least, bounce[i])
    for i in range(count):
        speed = row_speed(normal, i, z)
        e = scale * bounce[i] if scale >= 0.0 else least
        work.q[i] = (1.0 + e) * speed
        for j in range(i + 1):
            work.matrix[i, j] = work.matrix[j, i] = row_dot(normal, i, normal, j)
    status = lemke(count, work.matrix, work.q, impulse, work.pivots)
    for k in range(6):
        work.goal[k] = z[k]
    for i in range(count):
        push(normal, i, impulse[i], work.goal)
    return status == SOLVED


@kernel
def _factor(work):
    """Cholesky factor of work.small, in its lower half."""
    a = work.small
    for i in range(6):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = sqrt(s) if i == j else s / a[j, j]


@kernel
def _solve_factored(work, b):
    """Solve in place with the factor of work.small."""
    a = work.small
    for i in range(6):
        s = b[i]
        for k in range(i):
            s -= a[i, k] * b[k]
        b[i] = s / a[i, i]
    for up in range(6):
        i = 5 - up
        s = b[i]
        for k in range(i + 1, 6):
            s -= a[k, i] * b[k]
        b[i] = s / a[i, i]


@kernel
def _used_rows(count, normal, work):
    """work.small = sum of g gᵀ over the rows in use, with its diagonal shifted, factored."""
    top = 0.0
    for i in range(6):
        for j in range(i + 1):
            s = 0.0
            for c in range(count):
                if work.sign[c] > 0.0:
                    s += normal[c, i] * normal[c, j]
            work.small[i, j] = s
        top = max(top, work.small[i, i])
    for i in range(6):
        work.small[i, i] += SHIFT * top
    _factor(work)


@kernel
def _shorten(count, normal, impulse, z, work):
    """Replace the impulses by the shortest p >= 0 with the same effect Gᵀ p = r.

    p = max(0, G y), with G+ᵀ G+ y = r over the rows G+ where it is positive: Newton's method on a
    piecewise linear system. Keeps the impulses if that does not end.
    """
    y, r, change = work.y, work.r, work.change
    size = 0.0
    for k in range(6):
        r[k] = work.goal[k] - z[k]
        size = max(size, abs(r[k]))
    touching = 0
    for i in range(count):
        work.other[i] = row_speed(normal, i, work.goal) - row_speed(normal, i, z) + work.q[i]
        work.sign[i] = 1.0 if work.other[i] <= TOUCHING * size else -1.0
        touching += 1 if work.sign[i] > 0.0 else 0
        work.other[i] = work.sign[i]
    if touching < 2:
        return
    for _ in range(MAX_ITERATIONS):
        _used_rows(count, normal, work)
        for k in range(6):
            y[k] = 0.0
        for _ in range(REFINEMENTS):
            for k in range(6):
                change[k] = r[k]
            for i in range(count):
                if work.sign[i] > 0.0:
                    push(normal, i, -row_speed(normal, i, y), change)
            _solve_factored(work, change)
            for k in range(6):
                y[k] += change[k]
        same, worst = True, 0.0
        for i in range(count):
            p = row_speed(normal, i, y)
            wanted = 1.0 if p > 0.0 and work.other[i] > 0.0 else -1.0
            if wanted != work.sign[i] and abs(p) > TOUCHING * size:
                same = False
            work.sign[i] = wanted
        if same:
            for k in range(6):
                change[k] = r[k]
            for i in range(count):
                if work.sign[i] > 0.0:
                    push(normal, i, -row_speed(normal, i, y), change)
            for k in range(6):
                worst = max(worst, abs(change[k]))
            if worst <= TOUCHING * size:
                for i in range(count):
                    impulse[i] = max(row_speed(normal, i, y), 0.0) if work.sign[i] > 0.0 else 0.0
            return


@kernel
def _mix(count, before, z, impulse, work):
    """Mix z with the answer of e = 0, which is in work.goal and work.x, down to energy `before`."""
    aa, ab = 0.0, 0.0
    for k in range(6):
        step = z[k] - work.goal[k]
        aa += step * step
        ab += step * work.goal[k]
    room_left = max(before - _energy(work.goal), 0.0)
    # |goal + s step|² / 2 = before for the s in 0..1.
    root = sqrt(ab * ab + 2.0 * aa * room_left)
    s = 2.0 * room_left / (root + ab) if ab > 0.0 else (root - ab) / aa
    s = min(max(s, 0.0), 1.0)
    for k in range(6):
        z[k] = work.goal[k] + s * (z[k] - work.goal[k])
    for i in range(count):
        impulse[i] = work.x[i] + s * (impulse[i] - work.x[i])


@kernel
def bounce_off(count, normal, bounce, z, impulse, work):
    """Normal impact of all contacts: z and impulse (count,) per mass; False if not solved."""
    before = _energy(z)
    for k in range(6):
        work.start[k] = z[k]
    if not _normal_problem(count, normal, bounce, 1.0, z, impulse, work):
        if not _normal_problem(count, normal, bounce, -1.0, z, impulse, work):
            return False
    _shorten(count, normal, impulse, z, work)
    for k in range(6):
        z[k] = work.goal[k]
    if _energy(z) > before * (1.0 + 1e-14):
        _normal_problem(count, normal, bounce, 0.0, work.start, work.x, work)
        _shorten(count, normal, work.x, work.start, work)
        _mix(count, before, z, impulse, work)
    return True


@kernel
def apply_friction(count, slide, friction, impulse, z, rubbed, work):
    """Frictional impact (3.61, 3.62): z and rubbed (count,) per mass, `impulse` being normal.

    slide   (count, 6) rows against the sliding of each contact; zero rows slide nowhere
    The pairs of the complementarity problem are (f, Q f + c + t) and (t, mu p - f).
    """
    used = 0
    for i in range(count):
        rubbed[i] = 0.0
        if friction[i] * impulse[i] > 0.0:
            work.active[used] = i
            used += 1
    n = 2 * used
    for a in range(n):
        for b in range(n):
            work.matrix[a, b] = 0.0
    for a in range(used):
        i = work.active[a]
        work.q[a] = row_speed(slide, i, z)
        work.q[used + a] = friction[i] * impulse[i]
        work.matrix[a, used + a], work.matrix[used + a, a] = 1.0, -1.0
        for b in range(a + 1):
            work.matrix[a, b] = work.matrix[b, a] = row_dot(slide, i, slide, work.active[b])
    if lemke(n, work.matrix, work.q, work.x, work.pivots) != SOLVED:
        return False
    for a in range(used):
        i = work.active[a]
        rubbed[i] = min(work.x[a], friction[i] * impulse[i])
        push(slide, i, rubbed[i], z)
    return True
