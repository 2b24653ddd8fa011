"""Forward dynamics by the articulated body algorithm, linear in the number of links
[Featherstone2008, table 7.1]; a joint may have up to six rates.

    I_A = I + Σ_children (I_A - U D⁻¹ Uᵀ),   U = I_A S,   D = Sᵀ U + armature
    q̈ = D⁻¹ (τ - Sᵀ p_A - Uᵀ a'),   a'_link = a' + S q̈,   p_A = f + Σ_children (p_A + U D⁻¹ u)

Unlike there f is the force for q̈ = 0, gravity and Ṡ q̇ included, and a' what is beside that: so
I_A is not multiplied by Ṡ q̇, and does not depend on rates: several of them at one place share it.

An articulated inertia is symmetric: 21 numbers, the upper triangle by rows.
"""

import numpy as np

from drystone.constraints.reduced.dynamics import carried_acceleration
from drystone.constraints.reduced.spatial import load6, store6, turn
from drystone.jit import inner_kernel, kernel
from drystone.jit.fused import cross_add, fma, mul_add
from drystone.jit.vec import add, cross, scale, sub

ROW = (0, 6, 11, 15, 18, 20)  # where the rows of the triangle begin


@inner_kernel
def _spread(inertia, i, out):
    """Row `i` of inertias of ten numbers as a triangle of 21: [[I, h×], [-h×, m]]."""
    m, h0, h1, h2 = inertia[i, 0], inertia[i, 1], inertia[i, 2], inertia[i, 3]
    out[i, 0], out[i, 1], out[i, 2] = inertia[i, 4], inertia[i, 5], inertia[i, 6]
    out[i, 3], out[i, 4], out[i, 5] = 0.0, -h2, h1
    out[i, 6], out[i, 7] = inertia[i, 7], inertia[i, 8]
    out[i, 8], out[i, 9], out[i, 10] = h2, 0.0, -h0
    out[i, 11], out[i, 12], out[i, 13], out[i, 14] = inertia[i, 9], -h1, h0, 0.0
    out[i, 15], out[i, 16], out[i, 17] = m, 0.0, 0.0
    out[i, 18], out[i, 19], out[i, 20] = m, 0.0, m


@inner_kernel
def invert_block(block, first, n):
    """Inverse in place of the symmetric n x n block in rows `first` ..., by Gauss-Jordan."""
    for k in range(n):
        pivot = 1.0 / block[first + k, k]
        for j in range(n):
            block[first + k, j] = pivot * block[first + k, j] if j != k else pivot
        for i in range(n):
            if i != k:
                factor = block[first + i, k]
                for j in range(n):
                    if j != k:
                        block[first + i, j] -= factor * block[first + k, j]
                block[first + i, k] = -factor * pivot


@inner_kernel
def _load21(a, i):
    """The articulated inertia of row `i`."""
    return (
        a[i, 0], a[i, 1], a[i, 2], a[i, 3], a[i, 4], a[i, 5], a[i, 6], a[i, 7], a[i, 8], a[i, 9],
        a[i, 10], a[i, 11], a[i, 12], a[i, 13], a[i, 14], a[i, 15], a[i, 16], a[i, 17], a[i, 18],
        a[i, 19], a[i, 20],
    )  # fmt: skip


@inner_kernel
def _times(a, w, v):
    """An articulated inertia of 21 numbers times a motion."""
    return (
        fma(a[0], w[0], fma(a[1], w[1], a[2] * w[2]))
        + fma(a[3], v[0], fma(a[4], v[1], a[5] * v[2])),
        fma(a[1], w[0], fma(a[6], w[1], a[7] * w[2]))
        + fma(a[8], v[0], fma(a[9], v[1], a[10] * v[2])),
        fma(a[2], w[0], fma(a[7], w[1], a[11] * w[2]))
        + fma(a[12], v[0], fma(a[13], v[1], a[14] * v[2])),
    ), (
        fma(a[3], w[0], fma(a[8], w[1], a[12] * w[2]))
        + fma(a[15], v[0], fma(a[16], v[1], a[17] * v[2])),
        fma(a[4], w[0], fma(a[9], w[1], a[13] * w[2]))
        + fma(a[16], v[0], fma(a[18], v[1], a[19] * v[2])),
        fma(a[5], w[0], fma(a[10], w[1], a[14] * w[2]))
        + fma(a[17], v[0], fma(a[19], v[1], a[20] * v[2])),
    )  # fmt: skip


@inner_kernel
def _six(a, i, w, v):
    """Row `i` of `a` times a motion, in two sums: a chain of links waits for each of them."""
    return fma(a[i, 0], w[0], fma(a[i, 1], w[1], a[i, 2] * w[2])) + fma(
        a[i, 3], v[0], fma(a[i, 4], v[1], a[i, 5] * v[2])
    )


@inner_kernel
def _take_away(out, parent, a, u, s):
    """out[parent] += a - u sᵀ, of six numbers each."""
    u0, u1, u2, u3, u4, u5 = u[0][0], u[0][1], u[0][2], u[1][0], u[1][1], u[1][2]
    s0, s1, s2, s3, s4, s5 = s[0][0], s[0][1], s[0][2], s[1][0], s[1][1], s[1][2]
    out[parent, 0] += fma(-u0, s0, a[0])
    out[parent, 1] += fma(-u0, s1, a[1])
    out[parent, 2] += fma(-u0, s2, a[2])
    out[parent, 3] += fma(-u0, s3, a[3])
    out[parent, 4] += fma(-u0, s4, a[4])
    out[parent, 5] += fma(-u0, s5, a[5])
    out[parent, 6] += fma(-u1, s1, a[6])
    out[parent, 7] += fma(-u1, s2, a[7])
    out[parent, 8] += fma(-u1, s3, a[8])
    out[parent, 9] += fma(-u1, s4, a[9])
    out[parent, 10] += fma(-u1, s5, a[10])
    out[parent, 11] += fma(-u2, s2, a[11])
    out[parent, 12] += fma(-u2, s3, a[12])
    out[parent, 13] += fma(-u2, s4, a[13])
    out[parent, 14] += fma(-u2, s5, a[14])
    out[parent, 15] += fma(-u3, s3, a[15])
    out[parent, 16] += fma(-u3, s4, a[16])
    out[parent, 17] += fma(-u3, s5, a[17])
    out[parent, 18] += fma(-u4, s4, a[18])
    out[parent, 19] += fma(-u4, s5, a[19])
    out[parent, 20] += fma(-u5, s5, a[20])


@inner_kernel
def _eliminate_one(i, d, parent, armature, inertia, motion, inner, seen):
    """_eliminate() of a joint of one rate."""
    w, v = load6(motion, d)
    own = _load21(inertia, i)
    a, b = _times(own, w, v)
    weight = 1.0 / (armature[d] + _six(motion, d, a, b))
    s = (scale(a, weight), scale(b, weight))
    inner[d, 0] = weight
    store6(seen, d, s[0], s[1])
    if parent >= 0:
        _take_away(inertia, parent, own, (a, b), s)


@inner_kernel
def _eliminate(i, lo, hi, parent, armature, work):
    """D⁻¹ and U D⁻¹ of a joint of several rates; its link, freed of them, to the parent."""
    inertia, motion, seen, inner = work.articulated, work.motion, work.seen, work.inner
    own = _load21(inertia, i)
    for d in range(lo, hi):
        w, v = load6(motion, d)
        w, v = _times(own, w, v)
        for e in range(lo, hi):
            inner[e, d - lo] = _six(motion, e, w, v)
        inner[d, d - lo] += armature[d]
    invert_block(inner, lo, hi - lo)
    for d in range(lo, hi):
        w, v = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for e in range(lo, hi):
            a, b = load6(motion, e)
            w, v = add(w, scale(a, inner[d, e - lo])), add(v, scale(b, inner[d, e - lo]))
        w, v = _times(own, w, v)
        store6(seen, d, w, v)
    if parent < 0:
        return
    for k in range(21):
        inertia[parent, k] += inertia[i, k]
    for d in range(lo, hi):
        w, v = load6(motion, d)
        w, v = _times(own, w, v)
        u = (w[0], w[1], w[2], v[0], v[1], v[2])
        for r in range(6):
            for c in range(r, 6):
                inertia[parent, ROW[r] + c - r] -= u[r] * seen[d, c]


@kernel
def _load_bias(model, v, gravity, push, work):
    """Velocities of links, accelerations for q̈ = 0 and the forces that these need."""
    velocity, acceleration, motion = work.velocity, work.acceleration, work.motion
    inertia, bias, first_v, parents = work.inertia, work.bias, model.first_v, model.parent
    none, lifted = (0.0, 0.0, 0.0), (-gravity[0], -gravity[1], -gravity[2])
    lo, hi = work.span[0], work.span[1]
    w, u, x, y = none, none, none, lifted
    for i in range(lo, hi):
        parent, d, last = parents[i], np.int64(first_v[i]), np.int64(first_v[i + 1])
        if parent < 0:
            w, u, x, y = none, none, none, lifted
        elif parent != i - 1:  # else they are those of the link before
            w, u = load6(velocity, parent)
            x, y = load6(acceleration, parent)
        if last - d == 1:
            a, b = load6(motion, d)
            a, b = scale(a, v[d]), scale(b, v[d])
            x, y = cross_add(w, a, x), cross_add(w, b, cross_add(u, a, y))  # of it or its parent
            w, u = add(w, a), add(u, b)
            store6(velocity, i, w, u)
        else:
            for e in range(d, last):
                a, b = load6(motion, e)
                w, u = mul_add(v[e], a, w), mul_add(v[e], b, u)
            store6(velocity, i, w, u)
            t, f = carried_acceleration(model, i, v, work)
            x, y = add(x, t), add(y, f)
        store6(acceleration, i, x, y)
        # I a + v ×* I v, by Jacobi's identity: c is how the link's point at the origin accelerates
        c, h = cross_add(w, u, y), (inertia[i, 1], inertia[i, 2], inertia[i, 3])
        t = cross_add(h, c, cross_add(w, turn(inertia, i, w), turn(inertia, i, x)))
        f = cross_add(w, cross(w, h), cross_add(x, h, scale(c, inertia[i, 0])))
        a, b = load6(push, i)
        store6(bias, i, sub(t, a), sub(f, b))


@inner_kernel
def _hand_down(i, parent, lo, hi, tau, bias, motion, seen, left):
    """u = τ - Sᵀ p_A of the rates of link `i`, and its p_A to the parent."""
    w, v = load6(bias, i)
    x, y = w, v
    for d in range(lo, hi):
        u = tau[d] - _six(motion, d, w, v)
        a, b = load6(seen, d)
        left[d] = u
        x, y = mul_add(u, a, x), mul_add(u, b, y)
    if parent >= 0:
        a, b = load6(bias, parent)
        store6(bias, parent, add(a, x), add(b, y))


@inner_kernel
def _hand_down_one(i, parent, d, tau, bias, motion, seen, inner, left):
    """_hand_down() of a joint of one rate; D⁻¹ u into `left`."""
    w, v = load6(bias, i)
    u = tau[d] - _six(motion, d, w, v)
    left[d] = u * inner[d, 0]
    if parent >= 0:
        a, b = load6(seen, d)
        x, y = load6(bias, parent)
        store6(bias, parent, add(x, mul_add(u, a, w)), add(y, mul_add(u, b, v)))


@kernel
def forward_dynamics(model, v, tau, gravity, push, again, work, out):
    """Accelerations for the rates v and the forces `tau`, after place_inertias().

    push    (nl, 6) forces from outside on the links: torque about the origin, force; world axes
    again   whether links stand where they stood at the last call
    """
    _load_bias(model, v, gravity, push, work)
    lo, hi = work.span[0], work.span[1]
    moved, motion, seen, bias = work.acceleration, work.motion, work.seen, work.bias
    inner, left, first_v, parents = work.inner, work.left, model.first_v, model.parent
    articulated, inertia, armature = work.articulated, work.inertia, model.armature
    if not again:
        for i in range(lo, hi):
            _spread(inertia, i, articulated)
    for i in range(hi - 1, lo - 1, -1):
        first, last, parent = np.int64(first_v[i]), np.int64(first_v[i + 1]), np.int64(parents[i])
        if last - first == 1:
            if not again:
                _eliminate_one(i, first, parent, armature, articulated, motion, inner, seen)
            _hand_down_one(i, parent, first, tau, bias, motion, seen, inner, left)
        else:
            if not again:
                _eliminate(i, first, last, parent, armature, work)
            _hand_down(i, parent, first, last, tau, bias, motion, seen, left)
    x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(lo, hi):
        parent, first, last = parents[i], np.int64(first_v[i]), np.int64(first_v[i + 1])
        if parent < 0:
            x, y = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        elif parent != i - 1:  # else it is that of the link before
            x, y = load6(moved, parent)
        if last - first == 1:
            value = left[first] - _six(seen, first, x, y)
            out[first] = value
            a, b = load6(motion, first)
            x, y = mul_add(value, a, x), mul_add(value, b, y)
        else:
            w, u = x, y
            for d in range(first, last):
                value = -_six(seen, d, w, u)
                for e in range(first, last):
                    value += inner[d, e - first] * left[e]
                out[d] = value
                a, b = load6(motion, d)
                x, y = mul_add(value, a, x), mul_add(value, b, y)
        store6(moved, i, x, y)
