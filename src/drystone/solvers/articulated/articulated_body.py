"""The articulated body algorithm [Featherstone1983]: velocities of a tree of joints, recursively.

Sought are the twists v nearest to given ones, in the norm of the masses, that fit the joints. The
twist of a body that hangs on a joint is that of its parent, carried over, and what the joint lets
free (CLINE 4.8.2; at most three unknowns a joint). Elimination goes from the leaves to the root:

    v_c = X v_p + S q + e       X: the parent's twist at the child, S: free motions, e: J e = -bias

A body with all that hangs on it has an articulated-body inertia A: its kinetic energy is
vᵀ A v / 2 - hᵀ v + ..., and with free motions that are chosen such that Sᵀ (A + drives) S = 1,
U = A S,

    q = Sᵀ (h - A e) - Uᵀ X v_p,   A_p += Xᵀ (A - U Uᵀ) X,   h_p += Xᵀ (h - A e - U Sᵀ (h - A e))

A symmetric 6x6 matrix is 21 numbers: linear part (xx xy xz yy yz zz), linear to angular (nine, row
by row), angular part (six). Drives without bounds are springs and dampers: they add to Sᵀ A S.
"""

from math import inf, sqrt

import numpy as np

from drystone.constraints.joint_rows import row_velocity
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, mad, mul, mul_t, scale, sub, tangents, world_inertia
from drystone.model.joint_arrays import ROW_DRIVE, ROW_EQUALITY

ZERO = (0.0, 0.0, 0.0)


@kernel
def _read(array, i, o):
    return array[i, o], array[i, o + 1], array[i, o + 2]


@kernel
def _matrix(rotation, b):
    return (
        rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3], rotation[b, 4],
        rotation[b, 5], rotation[b, 6], rotation[b, 7], rotation[b, 8],
    )  # fmt: skip


@kernel
def _write(array, i, o, v):
    array[i, o], array[i, o + 1], array[i, o + 2] = v[0], v[1], v[2]


@kernel
def _symmetric_times(array, i, o, v):
    """Symmetric matrix of six numbers from place `o` on, times `v`."""
    x, y, z = v
    xy, xz, yz = array[i, o + 1], array[i, o + 2], array[i, o + 4]
    return (
        array[i, o] * x + xy * y + xz * z,
        xy * x + array[i, o + 3] * y + yz * z,
        xz * x + yz * y + array[i, o + 5] * z,
    )


@kernel
def _inertia_times(inertia, b, v, w):
    """Momentum of body `b` and all that hangs on it, if it moves with (v, w)."""
    q = (
        inertia[b, 6], inertia[b, 7], inertia[b, 8], inertia[b, 9], inertia[b, 10],
        inertia[b, 11], inertia[b, 12], inertia[b, 13], inertia[b, 14],
    )  # fmt: skip
    return (
        add(_symmetric_times(inertia, b, 0, v), mul(q, w)),
        add(mul_t(q, v), _symmetric_times(inertia, b, 15, w)),
    )


@kernel
def _start_inertia(b, bodies, rotation, inertia):
    """Mass and world inertia of body `b` alone; zero about axes about which it cannot rotate."""
    for k in range(15):
        inertia[b, k] = 0.0
    m = 1.0 / bodies.inv_mass[b]
    inertia[b, 0], inertia[b, 3], inertia[b, 5] = m, m, m
    x, y, z = _moments(b, bodies)
    r = _matrix(rotation, b)
    tensor = world_inertia(r, x, y, z)
    for k in range(6):
        inertia[b, 15 + k] = tensor[k]


@kernel
def _moments(b, bodies):
    inverse, own = bodies.inv_inertia, bodies.inertia
    return (
        own[b, 0] if inverse[b, 0] > 0.0 else 0.0,
        own[b, 1] if inverse[b, 1] > 0.0 else 0.0,
        own[b, 2] if inverse[b, 2] > 0.0 else 0.0,
    )


@inner_kernel
def momentum_of(b, bodies, rotation, added, v, w):
    """Linear and angular momentum of body `b` alone, if it moves with (v, w)."""
    r = _matrix(rotation, b)
    own, i = mul_t(r, w), _moments(b, bodies)
    spin = mul(r, (i[0] * own[0], i[1] * own[1], i[2] * own[2]))
    return scale(v, 1.0 / bodies.inv_mass[b]), add(spin, _symmetric_times(added, b, 0, w))


@kernel(inline="always")
def _pose_joint(j, joints, rows, trees):
    """Arms and duals of joint `j` from its rows; returns its free spins."""
    r, points, held = np.int64(joints.row_first[j]), trees.held[j, 0], trees.held[j, 1]
    side = 0 if joints.body[j, 0] == trees.child[j] else 1
    o, far, last, a = 3 * side, 3 - 3 * side, r + points - 1, rows.angular
    # arm x e_x = (0, z, -y), arm x e_z = (y, -x, 0)
    arm = (-a[last, o + 1], a[last, o], a[r, o + 1])
    _write(trees.arm, j, 0, arm)
    _write(trees.lever, j, 0, sub((-a[last, far + 1], a[last, far], a[r, far + 1]), arm))
    x, y, z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    if points == 2:
        _write(trees.dual, j, 0, y)
        return y, y, y
    if held == 0:
        return x, y, z
    g = _read(a, r + 3, 0)
    if held == 1:
        square = dot(g, g)
        _write(trees.dual, j, 0, scale(g, 1.0 / square))
        one, two = tangents(scale(g, 1.0 / sqrt(square)))
        return one, two, z
    h = _read(a, r + 4, 0)
    n = cross(g, h)
    if held == 2:
        square = dot(n, n)
        _write(trees.dual, j, 0, scale(cross(h, n), 1.0 / square))
        _write(trees.dual, j, 3, scale(cross(n, g), 1.0 / square))
        return scale(n, 1.0 / sqrt(square)), y, z
    i = _read(a, r + 5, 0)
    f = 1.0 / dot(n, i)
    _write(trees.dual, j, 0, scale(cross(h, i), f))
    _write(trees.dual, j, 3, scale(cross(i, g), f))
    _write(trees.dual, j, 6, scale(n, f))
    return x, y, z


@kernel
def _is_drive(r, rows):
    """Whether row `r` is a spring and damper without bounds."""
    return rows.kind[r] == ROW_DRIVE and rows.upper[r] == inf and rows.softness[r] > 0.0


@kernel
def _drive_product(j, joints, rows, w, z):
    """What drives add to the product of two free motions with the spins w and z."""
    total = 0.0
    for r in range(joints.row_first[j], joints.row_first[j + 1]):
        if _is_drive(r, rows):
            b = _read(rows.angular, r, 0)
            total += dot(b, w) * dot(b, z) / rows.softness[r]
    return total


@kernel(inline="always")
def _free_motion(j, k, w, joints, rows, trees, driven):
    """Free motion `k` of joint `j`, from the spin `w`: at right angles to those before it."""
    step, seen, c = trees.step, trees.seen, trees.child[j]
    v = cross(_read(trees.arm, j, 0), w)
    for i in range(k):
        u, t = _read(seen, j, 6 * i), _read(seen, j, 6 * i + 3)
        z = _read(step, j, 6 * i + 3)
        f = dot(v, u) + dot(w, t)
        if driven:
            f += _drive_product(j, joints, rows, w, z)
        v, w = mad(v, _read(step, j, 6 * i), -f), mad(w, z, -f)
    u, t = _inertia_times(trees.inertia, c, v, w)
    size = dot(v, u) + dot(w, t)
    if driven:
        size += _drive_product(j, joints, rows, w, w)
    f = 1.0 / sqrt(size)
    _write(step, j, 6 * k, scale(v, f))
    _write(step, j, 6 * k + 3, scale(w, f))
    _write(seen, j, 6 * k, scale(u, f))
    _write(seen, j, 6 * k + 3, scale(t, f))


@kernel(inline="always")
def _hang_on(j, trees):
    """Add what the parent of joint `j` feels of the child: Xᵀ (A - U Uᵀ) X."""
    a, u, c, p = trees.inertia, trees.seen, trees.child[j], trees.parent[j]
    xx, xy, xz, yy, yz, zz = a[c, 0], a[c, 1], a[c, 2], a[c, 3], a[c, 4], a[c, 5]
    q0, q1, q2 = _read(a, c, 6), _read(a, c, 9), _read(a, c, 12)
    rxx, rxy, rxz, ryy, ryz, rzz = a[c, 15], a[c, 16], a[c, 17], a[c, 18], a[c, 19], a[c, 20]
    for k in range(trees.held[j, 2]):
        (x, y, z), t = _read(u, j, 6 * k), _read(u, j, 6 * k + 3)
        xx, xy, xz = xx - x * x, xy - x * y, xz - x * z
        yy, yz, zz = yy - y * y, yz - y * z, zz - z * z
        q0, q1, q2 = mad(q0, t, -x), mad(q1, t, -y), mad(q2, t, -z)
        rxx, rxy, rxz = rxx - t[0] * t[0], rxy - t[0] * t[1], rxz - t[0] * t[2]
        ryy, ryz, rzz = ryy - t[1] * t[1], ryz - t[1] * t[2], rzz - t[2] * t[2]
    d = _read(trees.lever, j, 0)
    # With K d = d x: Q' = Q - P K, R' = R + K Q' + (K Q)ᵀ; rows of P K are rows of P x d.
    s0, s1, s2 = (
        sub(q0, cross((xx, xy, xz), d)),
        sub(q1, cross((xy, yy, yz), d)),
        sub(q2, cross((xz, yz, zz), d)),
    )
    x, y, z = d
    a[p, 0], a[p, 1], a[p, 2] = a[p, 0] + xx, a[p, 1] + xy, a[p, 2] + xz
    a[p, 3], a[p, 4], a[p, 5] = a[p, 3] + yy, a[p, 4] + yz, a[p, 5] + zz
    for k in range(3):
        a[p, 6 + k] += s0[k]
        a[p, 9 + k] += s1[k]
        a[p, 12 + k] += s2[k]
    a[p, 15] += rxx + y * (s2[0] + q2[0]) - z * (s1[0] + q1[0])
    a[p, 16] += rxy + y * s2[1] - z * s1[1] + z * q0[0] - x * q2[0]
    a[p, 17] += rxz + y * s2[2] - z * s1[2] + x * q1[0] - y * q0[0]
    a[p, 18] += ryy + z * (s0[1] + q0[1]) - x * (s2[1] + q2[1])
    a[p, 19] += ryz + z * s0[2] - x * s2[2] + x * q1[1] - y * q0[1]
    a[p, 20] += rzz + x * (s1[2] + q1[2]) - y * (s0[2] + q0[2])


@kernel
def _factor_root(t, root, trees):
    """Cholesky's factors of the inertia of the root; axes without inertia stay as they are."""
    a, factor = trees.inertia, trees.root_factor
    for i in range(6):
        for j in range(i + 1):
            if i < 3:
                total = a[root, (i + j) if j == 0 else (i + j + 1)]
            elif j < 3:
                total = a[root, 6 + 3 * j + i - 3]
            else:
                total = a[root, 15 + ((i + j - 6) if j == 3 else (i + j - 5))]
            for k in range(j):
                total -= factor[t, _place(i, k)] * factor[t, _place(j, k)]
            if i > j:
                factor[t, _place(i, j)] = total / factor[t, _place(j, j)]
            else:
                factor[t, _place(i, i)] = sqrt(total) if total > 0.0 else 1.0


@kernel
def _place(i, j):
    return i * (i + 1) // 2 + j


@inner_kernel
def root_half(t, x, factor):
    """Solve L y = x in place, with the factor L of the root of tree `t`; x is a row of six."""
    for i in range(6):
        total = x[i]
        for k in range(i):
            total -= factor[t, _place(i, k)] * x[k]
        x[i] = total / factor[t, _place(i, i)]


@inner_kernel
def eliminate(t, joints, bodies, rotation, added, rows, trees, driven):
    """Eliminate tree `t` at the poses of its rows; `driven`: with its drives."""
    first, last = np.int64(trees.first[t]), np.int64(trees.first[t + 1])
    for k in range(first, last):
        _start_inertia(trees.child[trees.joint[k]], bodies, rotation, trees.inertia)
    root = trees.root[t]
    if root >= 0:
        _start_inertia(root, bodies, rotation, trees.inertia)
    for k in range(last - 1, first - 1, -1):
        j = trees.joint[k]
        c = trees.child[j]
        for m in range(6):
            trees.inertia[c, 15 + m] += added[c, m]
        spins = _pose_joint(j, joints, rows, trees)
        for m in range(trees.held[j, 2]):
            w = spins[0] if m == 0 else (spins[1] if m == 1 else spins[2])
            _free_motion(j, m, w, joints, rows, trees, driven)
        if k > first or root >= 0:
            _hang_on(j, trees)
    if root >= 0:
        for m in range(6):
            trees.inertia[root, 15 + m] += added[root, m]
        _factor_root(t, root, trees)


@inner_kernel(inline="always")
def member(t, k, trees):
    """Body `k` of tree `t`, from trees.first[t] to trees.first[t + 1]; -1 where none is left."""
    return trees.child[trees.joint[k]] if k < trees.first[t + 1] else trees.root[t]


@kernel(inline="always")
def _sign(j, joints, trees):
    """1 where the child is body B of joint `j`, -1 where it is A."""
    return -1.0 if joints.body[j, 0] == trees.child[j] else 1.0


@kernel(inline="always")
def _held_bias(j, joints, bias, trees):
    """What the rows of joint `j` that hold a point ask for, and the others: two vectors."""
    r, points, held = np.int64(joints.row_first[j]), trees.held[j, 0], trees.held[j, 1]
    point = (bias[r], bias[r + 1] if points == 3 else 0.0, bias[r + points - 1])
    at = r + points
    return point, (
        bias[at] if held > 0 else 0.0,
        bias[at + 1] if held > 1 else 0.0,
        bias[at + 2] if held > 2 else 0.0,
    )


@kernel(inline="always")
def _set_offset(j, joints, bias, trees):
    """e of joint `j`: the least spin that the held directions ask for, and a velocity."""
    s, (point, direction) = _sign(j, joints, trees), _held_bias(j, joints, bias, trees)
    w = ZERO
    for k in range(trees.held[j, 1]):
        x = direction[0] if k == 0 else (direction[1] if k == 1 else direction[2])
        w = mad(w, _read(trees.dual, j, 3 * k), -s * x)
    _write(trees.offset, j, 3, w)
    _write(trees.offset, j, 0, mad(cross(_read(trees.arm, j, 0), w), point, -s))


@kernel
def _drive_push(j, z, joints, rows, trees, full):
    """What drives of joint `j` take from the rate of a free motion with the spin `z`."""
    total, s, w = 0.0, _sign(j, joints, trees), _read(trees.offset, j, 3)
    for r in range(joints.row_first[j], joints.row_first[j + 1]):
        if _is_drive(r, rows):
            b = _read(rows.angular, r, 0)
            ask = dot(b, w) + (s * rows.bias[r] if full else 0.0)
            total += dot(b, z) * ask / rows.softness[r]
    return total


@kernel(inline="always")
def _go_up(j, joints, rows, trees, biased, driven, full, hung):
    """Rates of joint `j` as far as the child knows, and what its parent feels."""
    c, p, flow = trees.child[j], trees.parent[j], trees.flow
    step, seen = trees.step, trees.seen
    f, t = _read(flow, c, 0), _read(flow, c, 3)
    if biased:
        of, ot = _inertia_times(
            trees.inertia, c, _read(trees.offset, j, 0), _read(trees.offset, j, 3)
        )
        f, t = sub(f, of), sub(t, ot)
    g, h = f, t
    for k in range(trees.held[j, 2]):
        z = _read(step, j, 6 * k + 3)
        q = dot(_read(step, j, 6 * k), g) + dot(z, h)
        if driven:
            q -= _drive_push(j, z, joints, rows, trees, full)
        trees.rate[j, k] = q
        f, t = mad(f, _read(seen, j, 6 * k), -q), mad(t, _read(seen, j, 6 * k + 3), -q)
    if hung:
        t = add(t, cross(_read(trees.lever, j, 0), f))
        for k in range(3):
            flow[p, k] += f[k]
            flow[p, 3 + k] += t[k]


@kernel(inline="always")
def _go_down(j, v, w, trees, biased):
    """Twist of the child of joint `j`, from that of its parent."""
    c = trees.child[j]
    v = add(v, cross(w, _read(trees.lever, j, 0)))
    x, y = v, w
    if biased:
        x, y = add(x, _read(trees.offset, j, 0)), add(y, _read(trees.offset, j, 3))
    for k in range(trees.held[j, 2]):
        q = trees.rate[j, k]
        q -= dot(_read(trees.seen, j, 6 * k), v) + dot(_read(trees.seen, j, 6 * k + 3), w)
        x = mad(x, _read(trees.step, j, 6 * k), q)
        y = mad(y, _read(trees.step, j, 6 * k + 3), q)
    _write(trees.flow, c, 0, x)
    _write(trees.flow, c, 3, y)


@kernel
def _solve_root(t, root, trees):
    flow, factor = trees.flow, trees.root_factor
    for i in range(6):
        total = flow[root, i]
        for k in range(i):
            total -= factor[t, _place(i, k)] * flow[root, k]
        flow[root, i] = total / factor[t, _place(i, i)]
    for i in range(5, -1, -1):
        total = flow[root, i]
        for k in range(i + 1, 6):
            total -= factor[t, _place(k, i)] * flow[root, k]
        flow[root, i] = total / factor[t, _place(i, i)]


@inner_kernel
def solve_tree(t, joints, rows, bias, carrier, trees, biased, driven, full):
    """From impulses to velocities of the bodies of tree `t`, both in trees.flow.

    bias     of the rows that hold, if `biased`
    carrier  twists, for a tree that hangs on a kinematic body
    driven   with the drives for which it was eliminated
    full     False: only a correction, without drives and without the motion of the carrier
    """
    first, last = np.int64(trees.first[t]), np.int64(trees.first[t + 1])
    root = trees.root[t]
    for k in range(last - 1, first - 1, -1):
        j = trees.joint[k]
        if biased:
            _set_offset(j, joints, bias, trees)
        _go_up(j, joints, rows, trees, biased, driven, full, k > first or root >= 0)
    if root >= 0:
        _solve_root(t, root, trees)
    for k in range(first, last):
        j = trees.joint[k]
        p, v, w = trees.parent[j], ZERO, ZERO
        if k > first or root >= 0:
            v, w = _read(trees.flow, p, 0), _read(trees.flow, p, 3)
        elif full and p < trees.flow.shape[0] - 1:
            v, w = _read(carrier, p, 0), _read(carrier, p, 3)
        _go_down(j, v, w, trees, biased)


@inner_kernel
def held_error(t, joints, rows, bias, twist, trees):
    """How far the velocities are from what the rows that hold ask for [m/s], [rad/s]."""
    worst, n = 0.0, trees.flow.shape[0] - 1
    for k in range(trees.first[t], trees.first[t + 1]):
        j = trees.joint[k]
        c, p, s = trees.child[j], trees.parent[j], _sign(j, joints, trees)
        point, direction = _held_bias(j, joints, bias, trees)
        arm, w = _read(trees.arm, j, 0), _read(twist, c, 3)
        slip = mad(add(_read(twist, c, 0), cross(w, arm)), point, s)
        if p < n:
            x = _read(twist, p, 3)
            carried = cross(x, add(arm, _read(trees.lever, j, 0)))
            slip, w = sub(slip, add(_read(twist, p, 0), carried)), sub(w, x)
        for m in range(3):
            if not abs(slip[m]) <= worst:
                worst = abs(slip[m])
        r = joints.row_first[j] + trees.held[j, 0]
        for m in range(trees.held[j, 1]):
            x = direction[0] if m == 0 else (direction[1] if m == 1 else direction[2])
            worst = max(worst, abs(dot(_read(rows.angular, r + m, 0), w) + s * x))
    return worst


@kernel(inline="always")
def _joint_impulses(j, joints, rows, twist, trees):
    """Impulses of the rows of joint `j` from all that it hands to its child, in trees.flow."""
    r, points, s = np.int64(joints.row_first[j]), trees.held[j, 0], _sign(j, joints, trees)
    c = trees.child[j]
    f, t = scale(_read(trees.flow, c, 0), s), scale(_read(trees.flow, c, 3), s)
    t = sub(t, cross(_read(trees.arm, j, 0), f))
    rows.impulse[r], rows.impulse[r + points - 1] = f[0], f[2]
    if points == 3:
        rows.impulse[r + 1] = f[1]
    for i in range(r + points, joints.row_first[j + 1]):
        if rows.kind[i] != ROW_EQUALITY:
            rows.impulse[i] = 0.0
        if _is_drive(i, rows):
            rows.impulse[i] = -(row_velocity(i, rows, twist) + rows.bias[i]) / rows.softness[i]
            t = mad(t, _read(rows.angular, i, 0), -rows.impulse[i])
    for k in range(trees.held[j, 1]):
        rows.impulse[r + points + k] = dot(_read(trees.dual, j, 3 * k), t)


@inner_kernel
def set_impulses(t, joints, bodies, rotation, added, rows, free, twist, trees):
    """Impulses of all rows of tree `t` that took its bodies from `free` to `twist`."""
    first, last = np.int64(trees.first[t]), np.int64(trees.first[t + 1])
    for k in range(first, last + 1):
        b = member(t, k, trees)
        if b >= 0:
            v = sub(_read(twist, b, 0), _read(free, b, 0))
            w = sub(_read(twist, b, 3), _read(free, b, 3))
            f, m = momentum_of(b, bodies, rotation, added, v, w)
            _write(trees.flow, b, 0, f)
            _write(trees.flow, b, 3, m)
    for k in range(last - 1, first - 1, -1):
        j = trees.joint[k]
        _joint_impulses(j, joints, rows, twist, trees)
        if k > first or trees.root[t] >= 0:
            f, m = _read(trees.flow, trees.child[j], 0), _read(trees.flow, trees.child[j], 3)
            m = add(m, cross(_read(trees.lever, j, 0), f))
            for i in range(3):
                trees.flow[trees.parent[j], i] += f[i]
                trees.flow[trees.parent[j], 3 + i] += m[i]
