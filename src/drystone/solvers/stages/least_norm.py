"""Least-norm impulses: of all that hold a body, those that share the load most evenly.

Three or more contacts that stick hold one body by many sets of impulses: a tripod may press its
legs apart. All of them obey Coulomb's law and move the body alike; which one is found depends on
the order of the sweeps. In islands of one body we take the one of least norm: its impulses are

    p_i = a + b x r_i,   with a and b such that  sum p_i = P,  sum r_i x p_i = L,

P and L being what the solver found. It is taken if all of them lie within their cones.
"""

from math import sqrt

from drystone.constraints.coulomb import slip_at
from drystone.constraints.joint_rows import contacts_of
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import add, cross, dot, load, scale

MOST_EVEN = 16  # contacts of a body that are looked at
SINGULAR = 1e-9  # of the largest: a smaller pivot means contacts on a line, which are left alone
INSIDE = 0.999  # of the cone: closer to its surface a contact is about to slide


@kernel
def _lone_body(lo, hi, rows, mass, twist, tolerance):
    """The one body that contacts lo..hi hold, if all stick; else -1."""
    body = -1
    for r in range(lo, hi):
        one, two = rows.body[r, 0], rows.body[r, 1]
        if (mass[one, 0] > 0.0) == (mass[two, 0] > 0.0):
            return -1
        b = two if mass[two, 0] > 0.0 else one
        un, u1, u2 = slip_at(r, rows, twist)
        sticks = rows.bias[r] == 0.0 and un * un + u1 * u1 + u2 * u2 <= tolerance * tolerance
        if not sticks or (body >= 0 and b != body):
            return -1
        body = b
    return body


@kernel
def _is_inside(p, friction):
    return p[0] > 0.0 and sqrt(p[1] * p[1] + p[2] * p[2]) < INSIDE * friction * p[0]


@kernel
def _arm(r, body, rows):
    k = 3 if rows.body[r, 1] == body else 0
    return rows.arm[r, k], rows.arm[r, k + 1], rows.arm[r, k + 2]


@kernel
def _size(lo, hi, body, rows):
    """The longest arm of contacts lo..hi [m]."""
    most = 0.0
    for r in range(lo, hi):
        arm = _arm(r, body, rows)
        most = max(most, dot(arm, arm))
    return sqrt(most)


@kernel
def _set_up(lo, hi, body, rows, size, system):
    """The six equations for a and b, arms in units of `size`, and their right-hand side."""
    for i in range(6):
        for j in range(7):
            system[7 * i + j] = 0.0
    for r in range(lo, hi):
        arm, f = scale(_arm(r, body, rows), 1.0 / size), rows.frame
        p = load(rows.impulse, r)
        push = add(
            scale(load(f, r), p[0]),
            add(
                scale((f[r, 3], f[r, 4], f[r, 5]), p[1]),
                scale((f[r, 6], f[r, 7], f[r, 8]), p[2]),
            ),
        )
        lever, square = cross(arm, push), dot(arm, arm)
        for i in range(3):
            system[7 * i + 6] += push[i]
            system[7 * (3 + i) + 6] += lever[i]
            system[7 * i + i] += 1.0
            for j in range(3):
                system[7 * (3 + i) + 3 + j] += (square if i == j else 0.0) - arm[i] * arm[j]
        # a -> r x a below, b -> b x r above
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            system[7 * (3 + i) + k] += arm[j]
            system[7 * (3 + i) + j] -= arm[k]
            system[7 * i + 3 + j] += arm[k]
            system[7 * i + 3 + k] -= arm[j]


@kernel
def _eliminate(system):
    """Solve by Gaussian elimination with pivots; False if there is no one answer."""
    largest = 0.0
    for i in range(6):
        largest = max(largest, abs(system[7 * i + i]))
    for c in range(6):
        best = c
        for i in range(c + 1, 6):
            if abs(system[7 * i + c]) > abs(system[7 * best + c]):
                best = i
        if abs(system[7 * best + c]) <= SINGULAR * largest:
            return False
        for j in range(7):
            system[7 * c + j], system[7 * best + j] = system[7 * best + j], system[7 * c + j]
        for i in range(6):
            if i != c:
                f = system[7 * i + c] / system[7 * c + c]
                for j in range(c, 7):
                    system[7 * i + j] -= f * system[7 * c + j]
    for c in range(6):
        system[7 * c + 6] /= system[7 * c + c]
    return True


@kernel
def _impulse_of(r, body, rows, size, system):
    """a + b x r of contact `r` in its axes."""
    a, b = (system[6], system[13], system[20]), (system[27], system[34], system[41])
    push, f = add(a, cross(b, scale(_arm(r, body, rows), 1.0 / size))), rows.frame
    return (
        dot(push, load(f, r)),
        dot(push, (f[r, 3], f[r, 4], f[r, 5])),
        dot(push, (f[r, 6], f[r, 7], f[r, 8])),
    )


@stage
def share_evenly(rows, groups, mass, twist, tolerance, system):
    """Least-norm impulses for all islands of one body whose impulses have just changed.

    system   scratch of 42 numbers, six rows of seven
    """
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if hi - lo < 3 or hi - lo > MOST_EVEN or rows.group_sweeps[g] < 2:
            continue
        body = _lone_body(lo, hi, rows, mass, twist, tolerance)
        if body < 0:
            continue
        size = _size(lo, hi, body, rows)
        if size == 0.0:
            continue
        _set_up(lo, hi, body, rows, size, system)
        even = _eliminate(system)
        for r in range(lo, hi):
            even = even and _is_inside(_impulse_of(r, body, rows, size, system), rows.friction[r])
        for r in range(lo, hi):
            if even:
                p = _impulse_of(r, body, rows, size, system)
                rows.impulse[r, 0], rows.impulse[r, 1], rows.impulse[r, 2] = p
