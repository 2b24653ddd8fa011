"""Inverse dynamics (RNEA) and the mass matrix (CRBA) [Featherstone2008, tables 5.1 and 6.2].

    a_i = a_parent + S_i q̈_i + Ṡ_i q̇_i,    f_i = I_i a_i + v_i ×* I_i v_i,    τ_i = S_i . f_i

In world axes about one fixed point Ṡ = v × S with the velocity of what carries S: the link for
rotations, the parent for the displacements of free and planar joints, which stay in its axes.
"""

from drystone.constraints.reduced.kinematics import row9
from drystone.constraints.reduced.spatial import (
    cross_force,
    cross_motion,
    inertia_times,
    load6,
    pair,
    store6,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.fused import dot3, fma, matrix_times, mul_add
from drystone.jit.vec import add, load, sub


@kernel
def _rotated(r, inertia, i):
    """R I Rᵀ of the inertia of row `i`: xx xy xz yy yz zz."""
    a, b, c = inertia[i, 4], inertia[i, 5], inertia[i, 6]
    d, e, f = inertia[i, 7], inertia[i, 8], inertia[i, 9]
    x = matrix_times(r, (a, b, c))
    y = matrix_times(r, (b, d, e))
    z = matrix_times(r, (c, e, f))
    # Columns of R I are x, y, z; rows of it times those of R.
    row0, row1, row2 = (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])
    r0, r1, r2 = (r[0], r[1], r[2]), (r[3], r[4], r[5]), (r[6], r[7], r[8])
    return (
        dot3(row0, r0), dot3(row0, r1), dot3(row0, r2), dot3(row1, r1), dot3(row1, r2),
        dot3(row2, r2),
    )  # fmt: skip


@kernel
def place_inertias(model, work):
    """Inertias of all links in world axes about the origin, after place_links()."""
    inertia, out, pose = model.inertia, work.inertia, work.pose
    lo, hi = work.span[0], work.span[1]
    if lo == hi:
        return
    origin = load(work.origin, model.tree[lo])
    for i in range(lo, hi):
        r, m = row9(pose, i), inertia[i, 0]
        h = matrix_times(r, (inertia[i, 1], inertia[i, 2], inertia[i, 3]))
        p = sub(load(pose, i), origin)
        xx, xy, xz, yy, yz, zz = _rotated(r, inertia, i)
        # I about another point: k is the first moment there, moved by p from h.
        k = mul_add(m, p, h)
        x, y, z = p[0] * (k[0] + h[0]), p[1] * (k[1] + h[1]), p[2] * (k[2] + h[2])
        out[i, 0] = m
        out[i, 1], out[i, 2], out[i, 3] = k
        out[i, 4], out[i, 7], out[i, 9] = xx + (y + z), yy + (x + z), zz + (x + y)
        out[i, 5] = fma(-p[0], k[1], fma(-h[0], p[1], xy))
        out[i, 6] = fma(-p[0], k[2], fma(-h[0], p[2], xz))
        out[i, 8] = fma(-p[1], k[2], fma(-h[1], p[2], yz))


@inner_kernel
def carried_acceleration(model, i, v, work):
    """Σ Ṡ q̇ of joint `i`."""
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for d in range(model.first_v[i], model.first_v[i + 1]):
        a, b = load6(work.motion, d)
        carrier = i if work.carried[d] == 1 else model.parent[i]
        if carrier >= 0:
            x, y = load6(work.velocity, carrier)
            c, e = cross_motion(x, y, a, b)
            w, u = mul_add(v[d], c, w), mul_add(v[d], e, u)
    return w, u


@kernel
def inverse_dynamics(model, v, acceleration, gravity, push, work, tau):
    """τ for rates v and accelerations, after place_links(), place_inertias(), move_links().

    push   (nl, 6) forces from outside on the links: torque about the origin, force; world axes
    """
    lo, hi = work.span[0], work.span[1]
    for i in range(lo, hi):
        parent = model.parent[i]
        w, u = (0.0, 0.0, 0.0), (-gravity[0], -gravity[1], -gravity[2])
        if parent >= 0:
            w, u = load6(work.acceleration, parent)
        c, e = carried_acceleration(model, i, v, work)
        w, u = add(w, c), add(u, e)
        for d in range(model.first_v[i], model.first_v[i + 1]):
            a, b = load6(work.motion, d)
            w, u = mul_add(acceleration[d], a, w), mul_add(acceleration[d], b, u)
        store6(work.acceleration, i, w, u)
        t, f = inertia_times(work.inertia, i, w, u)
        x, y = load6(work.velocity, i)
        g, h = inertia_times(work.inertia, i, x, y)
        g, h = cross_force(x, y, g, h)
        outer = load6(push, i)
        store6(work.force, i, sub(add(t, g), outer[0]), sub(add(f, h), outer[1]))
    for i in range(hi - 1, lo - 1, -1):
        t, f = load6(work.force, i)
        for d in range(model.first_v[i], model.first_v[i + 1]):
            tau[d] = pair(work.motion, d, t, f) + model.armature[d] * acceleration[d]
        parent = model.parent[i]
        if parent >= 0:
            x, y = load6(work.force, parent)
            store6(work.force, parent, add(x, t), add(y, f))


@inner_kernel
def compose_inertias(model, work):
    """Inertias of all links with what hangs on them."""
    lo, hi = work.span[0], work.span[1]
    for i in range(lo, hi):
        for k in range(10):
            work.composite[i, k] = work.inertia[i, k]
    for i in range(hi - 1, lo - 1, -1):
        if model.parent[i] >= 0:
            for k in range(10):
                work.composite[model.parent[i], k] += work.composite[i, k]


@kernel
def fill_mass_matrix(model, work, mass):
    """(nv, nv) of a model of one robot, after place_links() and place_inertias()."""
    compose_inertias(model, work)
    for d in range(mass.shape[0]):
        for e in range(mass.shape[0]):
            mass[d, e] = 0.0
    for d in range(mass.shape[0]):
        a, b = load6(work.motion, d)
        t, f = inertia_times(work.composite, model.dof_link[d], a, b)
        e = d
        while e >= 0:
            mass[d, e] = pair(work.motion, e, t, f)
            mass[e, d] = mass[d, e]
            e = model.above[e]
        mass[d, d] += model.armature[d]
