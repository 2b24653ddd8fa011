"""Forward dynamics by the articulated body algorithm, linear in the number of links
[Featherstone2008, table 7.1]; a joint may have up to six rates.

    I_A = I + Σ_children (I_A - U D⁻¹ Uᵀ),   U = I_A S,   D = Sᵀ U + armature,   u = τ - Sᵀ p_A
    q̈ = D⁻¹ (u - Uᵀ a'),   a' = a_parent + Ṡ q̇
"""

import numpy as np

from drystone.constraints.reduced.dynamics import carried_acceleration
from drystone.constraints.reduced.spatial import cross_force, inertia_times, load6, store6
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, scale, sub


@kernel
def _spread(inertia, i, out):
    """Row `i` of inertias of ten numbers as a matrix of 36: [[I, h×], [-h×, m]]."""
    for k in range(36):
        out[i, k] = 0.0
    h0, h1, h2 = inertia[i, 1], inertia[i, 2], inertia[i, 3]
    place = ((4, 5, 6), (5, 7, 8), (6, 8, 9))
    for r in range(3):
        for c in range(3):
            out[i, 6 * r + c] = inertia[i, place[r][c]]
        out[i, 6 * (3 + r) + 3 + r] = inertia[i, 0]
    out[i, 4], out[i, 5] = -h2, h1
    out[i, 9], out[i, 11] = h2, -h0
    out[i, 15], out[i, 16] = -h1, h0
    out[i, 19], out[i, 20] = h2, -h1
    out[i, 24], out[i, 26] = -h2, h0
    out[i, 30], out[i, 31] = h1, -h0


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


@kernel
def _eliminate(model, i, work):
    """U and D⁻¹ of joint `i` from its articulated inertia."""
    lo, hi = model.first_v[i], model.first_v[i + 1]
    for d in range(lo, hi):
        for r in range(6):
            value = 0.0
            for c in range(6):
                value += work.articulated[i, 6 * r + c] * work.motion[d, c]
            work.seen[d, r] = value
    for d in range(lo, hi):
        for e in range(lo, hi):
            value = model.armature[d] if d == e else 0.0
            for c in range(6):
                value += work.motion[e, c] * work.seen[d, c]
            work.inner[d, e - lo] = value
    invert_block(work.inner, lo, hi - lo)


@kernel
def _eliminate_one(model, i, d, work):
    """_eliminate() of a joint of one rate, and the inertia of its link handed to the parent."""
    inertia, s = work.articulated, work.motion
    s0, s1, s2, s3, s4, s5 = s[d, 0], s[d, 1], s[d, 2], s[d, 3], s[d, 4], s[d, 5]
    total = model.armature[d]
    for r in range(6):
        o = 6 * r
        u = (
            inertia[i, o] * s0 + inertia[i, o + 1] * s1 + inertia[i, o + 2] * s2
            + inertia[i, o + 3] * s3 + inertia[i, o + 4] * s4 + inertia[i, o + 5] * s5
        )  # fmt: skip
        work.seen[d, r] = u
        total += s[d, r] * u
    work.inner[d, 0] = 1.0 / total
    parent = model.parent[i]
    if parent < 0:
        return
    for r in range(6):
        share = work.seen[d, r] / total
        for c in range(6):
            inertia[parent, 6 * r + c] += inertia[i, 6 * r + c] - share * work.seen[d, c]


@kernel
def eliminate_links(model, work):
    """Articulated inertias of all links, after place_links() and place_inertias()."""
    first, last = work.span[0], work.span[1]
    for i in range(first, last):
        _spread(work.inertia, i, work.articulated)
    for i in range(last - 1, first - 1, -1):
        lo, hi, parent = model.first_v[i], model.first_v[i + 1], model.parent[i]
        if hi - lo == 1:
            _eliminate_one(model, i, np.int64(lo), work)
            continue
        _eliminate(model, i, work)
        if parent < 0:
            continue
        for r in range(6):
            for c in range(6):
                value = work.articulated[i, 6 * r + c]
                for d in range(lo, hi):
                    for e in range(lo, hi):
                        value -= work.seen[d, r] * work.inner[d, e - lo] * work.seen[e, c]
                work.articulated[parent, 6 * r + c] += value


@kernel
def _load_bias(model, v, push, work):
    """v ×* I v less what pushes from outside, into work.bias; Ṡ q̇ into work.acceleration."""
    for i in range(work.span[0], work.span[1]):
        w, u = load6(work.velocity, i)
        t, f = inertia_times(work.inertia, i, w, u)
        t, f = cross_force(w, u, t, f)
        outer = load6(push, i)
        store6(work.bias, i, sub(t, outer[0]), sub(f, outer[1]))
        a, b = carried_acceleration(model, i, v, work)
        store6(work.acceleration, i, a, b)


@kernel
def _left_over(d, lo, hi, i, work):
    """D⁻¹ (u - Uᵀ a') of rate `d` of link `i`."""
    value = 0.0
    for e in range(lo, hi):
        left = work.left[e]
        for c in range(6):
            left -= work.seen[e, c] * work.acceleration[i, c]
        value += work.inner[d, e - lo] * left
    return value


@kernel
def _hand_down(model, i, work):
    """Bias force of link `i`, its joint eliminated, on to its parent."""
    lo, hi, parent = model.first_v[i], model.first_v[i + 1], model.parent[i]
    for r in range(6):
        value = work.bias[i, r]
        for c in range(6):
            value += work.articulated[i, 6 * r + c] * work.acceleration[i, c]
        work.bias[parent, r] += value
    for d in range(lo, hi):
        value = _left_over(d, lo, hi, i, work)
        for r in range(6):
            work.bias[parent, r] += work.seen[d, r] * value


@kernel
def forward_dynamics(model, v, tau, gravity, push, work, out):
    """Accelerations for the forces `tau`, after eliminate_links() and move_links()."""
    first, last = work.span[0], work.span[1]
    _load_bias(model, v, push, work)
    for i in range(last - 1, first - 1, -1):
        for d in range(model.first_v[i], model.first_v[i + 1]):
            value = tau[d]
            for c in range(6):
                value -= work.motion[d, c] * work.bias[i, c]
            work.left[d] = value
        if model.parent[i] >= 0:
            _hand_down(model, i, work)
    for i in range(first, last):
        lo, hi = model.first_v[i], model.first_v[i + 1]
        w, u = (0.0, 0.0, 0.0), (-gravity[0], -gravity[1], -gravity[2])
        if model.parent[i] >= 0:
            w, u = load6(work.acceleration, model.parent[i])
        a, b = load6(work.acceleration, i)
        w, u = add(w, a), add(u, b)
        store6(work.acceleration, i, w, u)
        for d in range(lo, hi):
            out[d] = _left_over(d, lo, hi, i, work)
        for d in range(lo, hi):
            a, b = load6(work.motion, d)
            w, u = add(w, scale(a, out[d])), add(u, scale(b, out[d]))
        store6(work.acceleration, i, w, u)
