"""Geometric stiffness of joint forces [Andrews2017], in the matrix of the secant iteration alone.

A body of inertia I on which a joint pulls outwards with the force F at the arm r oscillates with
the square of the angular frequency F r / I. Where dt² F r / I is not small the direction of the
arm, and with it the torque of the joint, changes within the step by as much as it was. secant.py
iterates on that; the iteration converges where its matrix knows of it: to the inertia is added

    K = share dt (a.p)₊ (1 - a aᵀ / a²) / 2       p: impulse of the joint, a: arm, share: of the
                                                  last velocity in the displacement

and to the momentum K w, w the spin of the last iterate. When the iteration has converged both
terms are the same, and the motion is that of the inertia alone: nothing is slower for it.
"""

from math import sqrt

from drystone.forces.free_velocity import set_rotation
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross, dot, mul, rotation_matrix, scale

LEAST = 0.02  # K / I from which on it is worth adding


@kernel
def _force(j, joints, rows):
    """Impulse of joint `j` on its body B, from what stands in rows [N s]."""
    x, y, z = 0.0, 0.0, 0.0
    for r in range(joints.row_first[j], joints.row_first[j + 1]):
        x += rows.impulse[r] * rows.linear[r, 0]
        y += rows.impulse[r] * rows.linear[r, 1]
        z += rows.impulse[r] * rows.linear[r, 2]
    return x, y, z


@kernel
def _arm(j, side, joints, axis):
    """How far the point of the joint lies from that principal axis of the body [m]."""
    total = 0.0
    for k in range(3):
        if k != axis:
            total += joints.anchor[j, 3 * side + k] ** 2
    return sqrt(total)


@kernel
def _stiffness_ratio(j, side, joints, rows, inv_inertia, dt):
    """dt² F r / I of joint `j` on one of its bodies, about the axis for which it is largest."""
    b, worst = joints.body[j, side], 0.0
    if b < inv_inertia.shape[0]:
        for axis in range(3):
            worst = max(worst, inv_inertia[b, axis] * _arm(j, side, joints, axis))
    f = _force(j, joints, rows)
    return worst * dt * sqrt(dot(f, f))


@inner_kernel
def stiffest(first, last, joints, joint_work, inv_inertia, dt):
    """The largest dt² F r / I of the joints of the blocks first .. last."""
    before, worst = -1, 0.0
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            for side in range(2):
                ratio = _stiffness_ratio(j, side, joints, joint_work.rows, inv_inertia, dt)
                if not ratio <= worst:
                    worst = ratio
        before = j
    return worst


@kernel
def _world_arm(j, side, b, joints, q):
    """The arm of joint `j` on its body `b` with these quaternions, in world axes [m]."""
    local = (
        joints.anchor[j, 3 * side], joints.anchor[j, 3 * side + 1], joints.anchor[j, 3 * side + 2]
    )  # fmt: skip
    return mul(rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3]), local)


@kernel
def _add_stiffness(j, side, joints, rows, start, end, added, factor):
    """Add K of joint `j` on one of its bodies; arms are the means of start and end."""
    b = joints.body[j, side]
    if b >= start.shape[0]:
        return
    f = _force(j, joints, rows)
    p = f if side == 1 else (-f[0], -f[1], -f[2])
    x, y = _world_arm(j, side, b, joints, start), _world_arm(j, side, b, joints, end)
    a = (0.5 * (x[0] + y[0]), 0.5 * (x[1] + y[1]), 0.5 * (x[2] + y[2]))
    square, pull = dot(a, a), factor * dot(a, p)
    if not pull > 0.0 or square == 0.0:
        return
    n = scale(a, 1.0 / sqrt(square))
    added[b, 0] += pull * (1.0 - n[0] * n[0])
    added[b, 1] -= pull * n[0] * n[1]
    added[b, 2] -= pull * n[0] * n[2]
    added[b, 3] += pull * (1.0 - n[1] * n[1])
    added[b, 4] -= pull * n[1] * n[2]
    added[b, 5] += pull * (1.0 - n[2] * n[2])


@kernel
def _times(tensor, b, o, v):
    """Symmetric matrix of six numbers of row `b`, from place `o` on, times `v`."""
    x, y, z = v
    return (
        tensor[b, o] * x + tensor[b, o + 1] * y + tensor[b, o + 2] * z,
        tensor[b, o + 1] * x + tensor[b, o + 3] * y + tensor[b, o + 4] * z,
        tensor[b, o + 2] * x + tensor[b, o + 4] * y + tensor[b, o + 5] * z,
    )


@kernel
def _soften_mass(b, added, mass):
    """World inverse inertia T of body `b` becomes (1 + T K)⁻¹ T; axes without stay so."""
    e = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
    # columns of 1 + T K
    x, y, z = (
        _times(mass, b, 1, _times(added, b, 0, e[0])),
        _times(mass, b, 1, _times(added, b, 0, e[1])),
        _times(mass, b, 1, _times(added, b, 0, e[2])),
    )
    x, y, z = (1.0 + x[0], x[1], x[2]), (y[0], 1.0 + y[1], y[2]), (z[0], z[1], 1.0 + z[2])
    yz, zx, xy = cross(y, z), cross(z, x), cross(x, y)
    f = 1.0 / dot(x, yz)
    t0, t1, t2 = _times(mass, b, 1, e[0]), _times(mass, b, 1, e[1]), _times(mass, b, 1, e[2])
    mass[b, 1], mass[b, 2], mass[b, 3] = f * dot(yz, t0), f * dot(yz, t1), f * dot(yz, t2)
    mass[b, 4], mass[b, 5] = f * dot(zx, t1), f * dot(zx, t2)
    mass[b, 6] = f * dot(xy, t2)


@kernel
def _is_stiffened(b, added, mass):
    return (
        added[b, 0] * mass[b, 1] + added[b, 3] * mass[b, 4] + added[b, 5] * mass[b, 6]
        + 2.0 * (added[b, 1] * mass[b, 2] + added[b, 2] * mass[b, 3] + added[b, 4] * mass[b, 5])
    ) > LEAST  # fmt: skip


@inner_kernel
def relax_bodies(first, last, bodies, state, joint_work, motion):
    """Take K away again: masses and free velocities as they were."""
    added, kept = joint_work.added_inertia, joint_work.free_spin
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b == state.position.shape[0] or joint_work.stiffened[b] == 0:
                continue
            joint_work.stiffened[b] = 0
            q = state.rotation
            set_rotation(
                b, (q[b, 0], q[b, 1], q[b, 2], q[b, 3]), bodies, motion.rotation_matrix, motion.mass
            )
            for k in range(6):
                added[b, k] = 0.0
            for k in range(3):
                motion.free[b, 3 + k] = kept[b, k]


@inner_kernel
def stiffen_bodies(first, last, joints, state, end, joint_work, motion, share, dt):
    """Add K to the bodies of the blocks first .. last on which joints pull hard.

    end   quaternions after the step, of the last iterate, whose velocities are in last_twist

    Returns whether there are such bodies. relax_bodies() must have run.
    """
    added, mass, free, before = joint_work.added_inertia, motion.mass, motion.free, -1
    spin = joint_work.last_twist
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            for side in range(2):
                _add_stiffness(
                    j, side, joints, joint_work.rows, state.rotation, end, added, 0.5 * share * dt
                )
        before = j
    some = False
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b == state.position.shape[0] or joint_work.stiffened[b] == 1:
                continue
            if mass[b, 0] == 0.0 or not _is_stiffened(b, added, mass):
                for k in range(6):
                    added[b, k] = 0.0
                continue
            joint_work.stiffened[b], some = 1, True
            _soften_mass(b, added, mass)
            v = (spin[b, 3] - free[b, 3], spin[b, 4] - free[b, 4], spin[b, 5] - free[b, 5])
            change = _times(mass, b, 1, _times(added, b, 0, v))
            for k in range(3):
                joint_work.free_spin[b, k] = free[b, 3 + k]
                free[b, 3 + k] += change[k]
    return some


@inner_kernel
def stiffness_defect(first, last, bodies, joint_work, twist):
    """What K (w - w of the last iterate) leaves in the angular momenta, as a velocity [m/s]: that
    of the kinetic energy which a body would have by it."""
    worst, inverse, last_twist = 0.0, bodies.inv_inertia, joint_work.last_twist
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            if b == bodies.kind.shape[0] or joint_work.stiffened[b] == 0:
                continue
            m = _times(
                joint_work.added_inertia, b, 0,
                (
                    twist[b, 3] - last_twist[b, 3],
                    twist[b, 4] - last_twist[b, 4],
                    twist[b, 5] - last_twist[b, 5],
                ),
            )  # fmt: skip
            answer = max(inverse[b, 0], inverse[b, 1], inverse[b, 2]) * bodies.inv_mass[b]
            defect = dot(m, m) * answer
            if not defect <= worst:
                worst = defect
    return sqrt(worst)
