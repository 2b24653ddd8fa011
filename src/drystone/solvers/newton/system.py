"""The linear system of a Newton step: which contacts are open, stick or slide, and what that gives.

The three cases are those of semismooth.py. A contact that sticks has the unknowns p_n, p_1, p_2 and
the equations u = 0. One that slides along a, with b at right angles to it, has p_n and the impulse
y along b; its impulse is p_n (n + mu a) + y b, and its equations are u_n = 0 and u_b + drag y = 0.
So the columns of a block belong to n + mu a and b, its rows to n and b. Where nothing couples to
tangent 2, its unknown is left out.

Three rows of a joint (model/joint_arrays.py) are a contact of a fourth kind, HELD. A row whose
impulse lies between its bounds has the unknown p and the equation u + softness p = 0; one at a
bound has none. `free` tells which are which, one bit a row.
"""

from math import inf, sqrt

from drystone.jit import inner_kernel, kernel

OPEN, STICK, SLIDE, HELD = 0, 1, 2, 3


@inner_kernel
def prox_weight(c, k, island, alpha):
    """What alpha D is for row `k` of joint block `c`: joints without bounds do without it."""
    free = island.lower[c, k] == -inf and island.upper[c, k] == inf
    return 0.0 if free else alpha * island.own[c, k]


@inner_kernel
def clamp_row(c, k, island, alpha, impulse, velocity):
    """Where row `k` of joint block `c` wants its impulse; beyond its bounds or between."""
    own = island.own[c, k] + prox_weight(c, k, island, alpha)
    return impulse[c, k] - velocity[c, k] / own


@kernel
def _free_rows(c, island, alpha, impulse, velocity):
    """The rows of joint block `c` between their bounds, one bit each, and their number."""
    mask, count = 0, 0
    for k in range(3):
        z = clamp_row(c, k, island, alpha, impulse, velocity)
        if island.lower[c, k] < z < island.upper[c, k]:
            mask, count = mask | (1 << k), count + 1
    return mask, count


@inner_kernel
def set_statuses(n, island, alpha, impulse, velocity, status, free, axis, drag, row):
    """What each contact does, and where its unknowns stand; returns their number.

    Rows of joints that rest on a bound get the impulse of that bound.
    """
    total = 0
    for c in range(n):
        if island.joint[c]:
            row[c], status[c] = total, HELD
            free[c], count = _free_rows(c, island, alpha, impulse, velocity)
            total += count
            for k in range(3):
                if free[c] & (1 << k) == 0:
                    z = clamp_row(c, k, island, alpha, impulse, velocity)
                    low = z <= island.lower[c, k]
                    impulse[c, k] = island.lower[c, k] if low else island.upper[c, k]
            continue
        s = (1.0 + alpha) * island.scale[c]
        zn = impulse[c, 0] - velocity[c, 0] / s
        z1, z2 = impulse[c, 1] - velocity[c, 1] / s, impulse[c, 2] - velocity[c, 2] / s
        length, bound = sqrt(z1 * z1 + z2 * z2), island.friction[c] * zn
        row[c] = total
        if not zn > 0.0:
            status[c] = OPEN
        elif length <= bound and island.friction[c] > 0.0:
            status[c] = STICK
            total += 2 if island.flat[c] else 3
        else:
            status[c] = SLIDE
            axis[c, 0], axis[c, 1] = (z1 / length, z2 / length) if length > 0.0 else (1.0, 0.0)
            # A contact with next to no friction has no equation across its sliding direction.
            firm = bound > 1e-12 * length and not island.flat[c]
            drag[c] = s * (length - bound) / bound if firm else 0.0
            total += 2 if firm else 1
    row[n] = total
    return total


@inner_kernel
def set_low(n, island, row, low):
    """First column of every row of the matrix, from the contacts that are coupled."""
    for c in range(n):
        left = row[c]
        for k in range(island.first[c], island.first[c + 1]):
            j = island.column[k]
            if row[j] < left and row[j] < row[j + 1]:
                left = row[j]
        for i in range(row[c], row[c + 1]):
            low[i] = left


@kernel
def _entries(k, v):
    return v[k, 0], v[k, 1], v[k, 2], v[k, 3], v[k, 4], v[k, 5], v[k, 6], v[k, 7], v[k, 8]


@kernel
def _pick(mask, x, y, z):
    """Those of x, y, z whose bit is set, first; what follows is of no use."""
    if mask & 1:
        return x, (y if mask & 2 else z), z
    return (y, z, z) if mask & 2 else (z, z, z)


@kernel
def _add_block(i, j, b, status, free, axis, mu, row, at, matrix):
    """Block `b` of the contacts i and j, seen by the unknowns of j and the equations of i."""
    b0, b1, b2, b3, b4, b5, b6, b7, b8 = b
    if status[j] == SLIDE:
        x, y = axis[j, 0], axis[j, 1]
        b0, b1 = b0 + mu * (x * b1 + y * b2), x * b2 - y * b1
        b3, b4 = b3 + mu * (x * b4 + y * b5), x * b5 - y * b4
        b6, b7 = b6 + mu * (x * b7 + y * b8), x * b8 - y * b7
    elif status[j] == HELD:
        b0, b1, b2 = _pick(free[j], b0, b1, b2)
        b3, b4, b5 = _pick(free[j], b3, b4, b5)
        b6, b7, b8 = _pick(free[j], b6, b7, b8)
    if status[i] == SLIDE:
        x, y = axis[i, 0], axis[i, 1]
        b3, b4, b5 = x * b6 - y * b3, x * b7 - y * b4, x * b8 - y * b5
    elif status[i] == HELD:
        b0, b3, b6 = _pick(free[i], b0, b3, b6)
        b1, b4, b7 = _pick(free[i], b1, b4, b7)
        b2, b5, b8 = _pick(free[i], b2, b5, b8)
    k = row[j]
    rows, columns = row[i + 1] - row[i], row[j + 1] - k
    if rows == 0 or columns == 0:
        return
    r = at[row[i]]
    matrix[r + k] += b0
    if columns > 1:
        matrix[r + k + 1] += b1
    if columns > 2:
        matrix[r + k + 2] += b2
    if rows > 1:
        r = at[row[i] + 1]
        matrix[r + k] += b3
        if columns > 1:
            matrix[r + k + 1] += b4
        if columns > 2:
            matrix[r + k + 2] += b5
    if rows > 2:
        r = at[row[i] + 2]
        matrix[r + k] += b6
        if columns > 1:
            matrix[r + k + 1] += b7
        if columns > 2:
            matrix[r + k + 2] += b8


@inner_kernel
def fill_matrix(n, island, alpha, status, free, axis, drag, row, at, matrix):
    """Add the equations of all contacts that are not open."""
    for i in range(n):
        if status[i] == OPEN:
            continue
        for k in range(island.first[i], island.first[i + 1]):
            j = island.column[k]
            if status[j] != OPEN:
                b = _entries(k, island.value)
                _add_block(i, j, b, status, free, axis, island.friction[j], row, at, matrix)
        if status[i] == HELD:
            a0 = island.soft[i, 0] + prox_weight(i, 0, island, alpha)
            a1 = island.soft[i, 1] + prox_weight(i, 1, island, alpha)
            a2 = island.soft[i, 2] + prox_weight(i, 2, island, alpha)
        else:
            a0 = a1 = a2 = alpha * island.scale[i]
        b = (a0, 0.0, 0.0, 0.0, a1, 0.0, 0.0, 0.0, a2)
        _add_block(i, i, b, status, free, axis, island.friction[i], row, at, matrix)
        if status[i] == SLIDE and row[i + 1] - row[i] == 2:
            matrix[at[row[i] + 1] + row[i] + 1] += drag[i]


@kernel
def _bound_velocity(i, island, status, free, impulse):
    """What rows of joints that rest on a bound other than zero do to contact `i` [m/s]."""
    u0, u1, u2 = 0.0, 0.0, 0.0
    for k in range(island.first[i], island.first[i + 1]):
        j = island.column[k]
        if status[j] != HELD or free[j] == 7:
            continue
        for m in range(3):
            if free[j] & (1 << m) == 0 and impulse[j, m] != 0.0:
                u0 += island.value[k, m] * impulse[j, m]
                u1 += island.value[k, 3 + m] * impulse[j, m]
                u2 += island.value[k, 6 + m] * impulse[j, m]
    return u0, u1, u2


@inner_kernel
def fill_right_side(n, island, alpha, centre, status, free, axis, row, impulse, y):
    """-(q - alpha D c) in the equations of each contact."""
    for c in range(n):
        r = row[c]
        width = row[c + 1] - r
        if width == 0:
            continue
        bn, b1, b2 = -island.q[c, 0], -island.q[c, 1], -island.q[c, 2]
        if island.bounded[0]:
            u0, u1, u2 = _bound_velocity(c, island, status, free, impulse)
            bn, b1, b2 = bn - u0, b1 - u1, b2 - u2
        if status[c] == HELD:
            bn += prox_weight(c, 0, island, alpha) * centre[c, 0]
            b1 += prox_weight(c, 1, island, alpha) * centre[c, 1]
            b2 += prox_weight(c, 2, island, alpha) * centre[c, 2]
            bn, b1, b2 = _pick(free[c], bn, b1, b2)
        else:
            a = alpha * island.scale[c]
            bn, b1, b2 = bn + a * centre[c, 0], b1 + a * centre[c, 1], b2 + a * centre[c, 2]
        y[r] = bn
        if status[c] == SLIDE:
            if width > 1:
                y[r + 1] = axis[c, 0] * b2 - axis[c, 1] * b1
        elif width > 1:
            y[r + 1] = b1
            if width > 2:
                y[r + 2] = b2


@inner_kernel
def read_impulses(n, friction, status, free, axis, row, y, impulse):
    """Impulses from the unknowns."""
    for c in range(n):
        r, width = row[c], row[c + 1] - row[c]
        pn, p1, p2 = 0.0, 0.0, 0.0
        if status[c] == HELD:
            for k in range(3):
                if free[c] & (1 << k):
                    impulse[c, k] = y[r]
                    r += 1
            continue
        if status[c] == STICK:
            pn, p1, p2 = y[r], y[r + 1], (y[r + 2] if width > 2 else 0.0)
        elif status[c] == SLIDE:
            pn, side = y[r], (y[r + 1] if width > 1 else 0.0)
            p1 = friction[c] * pn * axis[c, 0] - side * axis[c, 1]
            p2 = friction[c] * pn * axis[c, 1] + side * axis[c, 0]
        impulse[c, 0], impulse[c, 1], impulse[c, 2] = pn, p1, p2
