"""Muscles in a step: feed-forward torque plus feedback on each joint's angle and speed (CLINE 5.8).

drive_muscles() runs before a step and writes what the step reads: State.force of the bones, and the
targets of the servos in Joints.drive, which are linearly implicit, so that no gain is too high for
the step (CLINE 5.1.2 found that it needs such an integrator). Torques are those of the clip in the
axes of the parent (body coordinates), turned to where the parent is half a step later; so is the
target. note_joints() and note_poses() run after it and keep what happened.
"""

from math import atan2, sqrt
from typing import NamedTuple

import numpy as np

from drystone.constraints.joints.row_blocks import quaternion_of, rotation_vector
from drystone.jit import inner_kernel, kernel
from drystone.jit.table import table
from drystone.jit.vec import (
    add,
    dot,
    load,
    mul,
    mul_t,
    norm,
    quaternion_product,
    rotate_quaternion,
    rotation_matrix,
    scale,
    sub,
)
from drystone.model.joint_arrays import ROW_DRIVE

FOLLOW, ASSISTED, FREE = range(3)  # what the root does
# Feedback: by servos, which are implicit; or explicit, of the same kind as the feed-forward, which
# then can take its place to the last bit (feedforward.py).
NO_FEEDBACK, IMPLICIT, EXPLICIT = range(3)
LARGEST_SHIFT = 1.5  # [rad] of a target, well below the half revolution that has no direction


@table
class Muscles(NamedTuple):
    """What muscles need of a clip: n steps, nj joints, nb bones. "Joint axes" are those that a Ball
    has on its body A, the parent."""

    body: np.ndarray  # (nb,) int64 rows of the bones in the world
    joint: np.ndarray  # (nj,) int64 rows of the joints
    parent: np.ndarray  # (nj,) int64 bone that a joint hangs on; bone j + 1 hangs on joint j
    target: np.ndarray  # (n, nj, 3) rotation vector in joint axes in the middle of each step [rad]
    speed: np.ndarray  # (n, nj, 3) of the joint, joint axes, likewise [rad/s]
    torque: np.ndarray  # (n, nj, 3) of the clip, joint axes, likewise [N m]
    after: np.ndarray  # (n, nj, 4) rotation in joint axes after each step
    stiffness: np.ndarray  # (nj,) [N m/rad]
    damping: np.ndarray  # (nj,) [N m s/rad]
    tensor: np.ndarray  # (nj, 9) inertia of what hangs on a joint, joint axes of it [kg m²]
    rate: np.ndarray  # (2,) of explicit feedback: stiffness [1/s²], damping [1/s] of that inertia
    effort: np.ndarray  # (nj,) share of |torque| that adds to the stiffness [1/rad]
    root_pose: np.ndarray  # (n, 7) of the root after each step: centre [m], principal axes
    root_twist: np.ndarray  # (n, 6) likewise
    root_force: (
        np.ndarray
    )  # (n, 6) residual force and torque, principal axes of the root [N], [N m]
    root_gain: np.ndarray  # (6,) stiffness, damping, most of a force; the same of torques
    mode: np.ndarray  # (3,) int64 FOLLOW ..., whether there is feed-forward, NO_FEEDBACK ...
    origin: np.ndarray  # (3,) of the world's arrays [m]


@table
class Noted(NamedTuple):
    """What happened, step by step."""

    error: np.ndarray  # (n, nj) angle between each joint and the clip after the step [rad]
    torque: np.ndarray  # (n, nj, 3) of the muscles, in the parent's joint axes [N m]
    power: np.ndarray  # (n, nj) that they gave [W]
    root_error: np.ndarray  # (n, 2) distance [m] and angle [rad] of the root from the clip
    root_force: np.ndarray  # (n, 6) that pushed the root, world axes, about its centre [N], [N m]
    pose: np.ndarray  # (n, nb, 7) centre and principal axes of each bone after the step
    last: np.ndarray  # (nb, 6) what was written to State.force before the step
    push: np.ndarray  # (nb, 6) the part of it that the user gave
    spin: np.ndarray  # (nb, 3) before the step [rad/s]
    fed: np.ndarray  # (nj, 3) torque beside the servo in this step, world axes [N m]
    given: np.ndarray  # (n, nj, 3) the same, in joint axes in the middle of the step [N m]
    touch: np.ndarray  # (n, nb, 3) what touched a bone from outside put on it, world axes [N]
    slip: np.ndarray  # (n, nb) greatest speed at which that slid [m/s]


@inner_kernel
def _quaternion(array, b):
    return array[b, 0], array[b, 1], array[b, 2], array[b, 3]


@inner_kernel
def _joint_frame(joints, j, rotation):
    """Axes of joint `j` on its body A, as a matrix."""
    frame = joints.frame
    own = (frame[j, 0], frame[j, 1], frame[j, 2], frame[j, 3])
    q = quaternion_product(rotation, own)
    return rotation_matrix(q[0], q[1], q[2], q[3])


@inner_kernel
def _turn_between(a, b):
    """Rotation vector that takes the quaternion `a` to `b` [rad]."""
    w, x, y, z = quaternion_product(b, (a[0], -a[1], -a[2], -a[3]))
    sign = 1.0 if w >= 0.0 else -1.0
    v = (sign * x, sign * y, sign * z)
    s = norm(v)
    return scale(v, 2.0 * atan2(s, sign * w) / s if s > 1e-12 else 2.0)


@inner_kernel
def _turned(j, m_a, m_b, joints, state):
    """Rotation of joint `j` in joint axes, between bodies `m_a` and `m_b`."""
    f = joints.frame
    own_a = (f[j, 0], f[j, 1], f[j, 2], f[j, 3])
    own_b = (f[j, 4], f[j, 5], f[j, 6], f[j, 7])
    a = quaternion_product(_quaternion(state.rotation, m_a), own_a)
    b = quaternion_product(_quaternion(state.rotation, m_b), own_b)
    return quaternion_product((a[0], -a[1], -a[2], -a[3]), b)


@inner_kernel
def _feedback(i, k, m, joints, state):
    """Torque towards where the clip is at the start of the step, in joint axes."""
    j, a, b = m.joint[i], m.body[m.parent[i]], m.body[i + 1]
    wanted = (
        m.after[k - 1, i, 0],
        m.after[k - 1, i, 1],
        m.after[k - 1, i, 2],
        m.after[k - 1, i, 3],
    )
    turned = _turned(j, a, b, joints, state)
    turn = _turn_between(turned, wanted)
    axes = _joint_frame(joints, j, _quaternion(state.rotation, a))
    spin = (
        state.twist[b, 3] - state.twist[a, 3], state.twist[b, 4] - state.twist[a, 4],
        state.twist[b, 5] - state.twist[a, 5],
    )  # fmt: skip
    now = mul_t(axes, spin)
    speed = (
        0.5 * (m.speed[k - 1, i, 0] + m.speed[k, i, 0]) - now[0],
        0.5 * (m.speed[k - 1, i, 1] + m.speed[k, i, 1]) - now[1],
        0.5 * (m.speed[k - 1, i, 2] + m.speed[k, i, 2]) - now[2],
    )  # fmt: skip
    pull = add(scale(turn, m.rate[0]), scale(speed, m.rate[1]))
    # A bone is a tenth as heavy about its own axis: one gain for all would be too much for that.
    own = rotation_matrix(turned[0], turned[1], turned[2], turned[3])
    t = m.tensor
    heavy = (
        t[i, 0], t[i, 1], t[i, 2], t[i, 3], t[i, 4], t[i, 5], t[i, 6], t[i, 7], t[i, 8],
    )  # fmt: skip
    return mul(own, mul(heavy, mul_t(own, pull)))


@inner_kernel
def _cut(v, most):
    size = norm(v)
    return scale(v, most / size) if size > most else v


@inner_kernel
def _shifted(k, i, m, torque, stiffness):
    """The target that lets the servo give `torque` where the joint is as in the clip, and what is
    left of it.

    A torque of State.force would turn a light bone by many radians in a step before its joint holds
    it: bounding boxes and contacts, which are found before, would be those of that. The ankles of
    a figure that stands had 145 contacts in place of 8.
    """
    wanted = quaternion_of((m.target[k, i, 0], m.target[k, i, 1], m.target[k, i, 2]))
    if stiffness == 0.0:
        return rotation_vector(wanted), torque
    ahead = _cut(scale(torque, 1.0 / stiffness), LARGEST_SHIFT)
    target = rotation_vector(quaternion_product(quaternion_of(ahead), wanted))
    return target, sub(torque, scale(ahead, stiffness))


@inner_kernel
def _drive_joint(i, k, row, m, joints, filled, state, dt, noted):
    """Servo and torque of joint `i` in step `k`."""
    j, a, b = m.joint[i], m.body[m.parent[i]], m.body[i + 1]
    # Half a step later the parent has turned on: torques act in the middle of the step.
    q = rotate_quaternion(
        _quaternion(state.rotation, a),
        (0.5 * dt * state.twist[a, 3], 0.5 * dt * state.twist[a, 4], 0.5 * dt * state.twist[a, 5]),
    )
    axes = _joint_frame(joints, j, q)
    given = (m.torque[k, i, 0], m.torque[k, i, 1], m.torque[k, i, 2])
    torque = given if m.mode[1] == 1 else (0.0, 0.0, 0.0)
    if m.mode[2] == EXPLICIT and k > 0:
        torque = add(torque, _feedback(i, k, m, joints, state))
    if m.mode[2] == IMPLICIT:
        more = m.effort[i] * norm(given)
        stiffness = m.stiffness[i] + more
        damping = m.damping[i]
        if more > 0.0 and m.stiffness[i] > 0.0:
            damping *= sqrt(stiffness / m.stiffness[i])
        speed = (m.speed[k, i, 0], m.speed[k, i, 1], m.speed[k, i, 2])
        # The servo damps the whole speed of the joint; that of the clip is given back.
        torque = (
            torque[0] + damping * speed[0], torque[1] + damping * speed[1],
            torque[2] + damping * speed[2],
        )  # fmt: skip
        target, torque = _shifted(k, i, m, torque, stiffness)
        for c in range(3):
            joints.drive[j, c, 0] = target[c]
            joints.drive[j, c, 1] = stiffness
            joints.drive[j, c, 2] = damping
        filled[j, 0] = np.nan  # its rows are filled anew
    t = mul(axes, torque)
    for c in range(3):
        noted.fed[i, c], noted.given[row, i, c] = t[c], torque[c]
        state.force[b, 3 + c] += t[c]
        state.force[a, 3 + c] -= t[c]


@inner_kernel
def _follow(k, m, state, dt):
    """The speed that takes a kinematic root to where the clip has it after the step."""
    b = m.body[0]
    wanted = (m.root_pose[k, 3], m.root_pose[k, 4], m.root_pose[k, 5], m.root_pose[k, 6])
    turn = _turn_between(_quaternion(state.rotation, b), wanted)
    for c in range(3):
        way = m.root_pose[k, c] - m.origin[c] - state.position[b, c]
        state.twist[b, c] = way / dt
        state.twist[b, 3 + c] = turn[c] / dt


@inner_kernel
def _assist(k, row, m, state, noted):
    """The residual force of the clip, and feedback on the root within its bounds."""
    b, gain = m.body[0], m.root_gain
    q = _quaternion(state.rotation, b)
    axes = rotation_matrix(q[0], q[1], q[2], q[3])
    force = mul(axes, (m.root_force[k, 0], m.root_force[k, 1], m.root_force[k, 2]))
    torque = mul(axes, (m.root_force[k, 3], m.root_force[k, 4], m.root_force[k, 5]))
    wanted = (m.root_pose[k, 3], m.root_pose[k, 4], m.root_pose[k, 5], m.root_pose[k, 6])
    turn = _turn_between(q, wanted)
    pull = (0.0, 0.0, 0.0)
    wind = (0.0, 0.0, 0.0)
    if m.mode[2] != NO_FEEDBACK:
        x, v = load(state.position, b), state.twist
        to = sub(sub(load(m.root_pose, k), (m.origin[0], m.origin[1], m.origin[2])), x)
        faster = sub(load(m.root_twist, k), load(v, b))
        pull = add(scale(to, gain[0]), scale(faster, gain[1]))
        wind = (
            gain[3] * turn[0] + gain[4] * (m.root_twist[k, 3] - v[b, 3]),
            gain[3] * turn[1] + gain[4] * (m.root_twist[k, 4] - v[b, 4]),
            gain[3] * turn[2] + gain[4] * (m.root_twist[k, 5] - v[b, 5]),
        )  # fmt: skip
    pull, wind = _cut(pull, gain[2]), _cut(wind, gain[5])
    for c in range(3):
        noted.root_force[row, c] = force[c] + pull[c]
        noted.root_force[row, 3 + c] = torque[c] + wind[c]
        state.force[b, c] += force[c] + pull[c]
        state.force[b, 3 + c] += torque[c] + wind[c]


@kernel
def drive_muscles(k, row, m, joints, filled, state, dt, noted):
    """Forces and targets of one step.

    k     of the clip: its last step when it is over
    row   in `noted`
    """
    for i in range(m.body.shape[0]):
        b = m.body[i]
        state.asleep[b] = 0
        state.rest_time[b] = 0.0
        for c in range(6):
            if state.force[b, c] != noted.last[i, c]:  # the user has set it anew
                noted.push[i, c] = state.force[b, c]
            state.force[b, c] = noted.push[i, c]
        for c in range(3):
            noted.spin[i, c] = state.twist[b, 3 + c]
    for i in range(m.joint.shape[0]):
        _drive_joint(i, k, row, m, joints, filled, state, dt, noted)
    for c in range(6):
        noted.root_force[row, c] = 0.0
    if m.mode[0] == FOLLOW:
        _follow(k, m, state, dt)
    elif m.mode[0] == ASSISTED:
        _assist(k, row, m, state, noted)
    for i in range(m.body.shape[0]):
        for c in range(6):
            noted.last[i, c] = state.force[m.body[i], c]


@inner_kernel
def _note_joint(i, k, row, m, joints, rows, state, dt, noted):
    j, a, b = m.joint[i], m.body[m.parent[i]], m.body[i + 1]
    torque = (noted.fed[i, 0], noted.fed[i, 1], noted.fed[i, 2])
    for r in range(joints.row_first[j], joints.row_first[j + 1]):
        if rows.kind[r] == ROW_DRIVE:
            p = rows.impulse[r] / dt
            torque = (
                torque[0] + p * rows.angular[r, 3], torque[1] + p * rows.angular[r, 4],
                torque[2] + p * rows.angular[r, 5],
            )  # fmt: skip
    before = sub(load(noted.spin, i + 1), load(noted.spin, m.parent[i]))
    after = (
        state.twist[b, 3] - state.twist[a, 3], state.twist[b, 4] - state.twist[a, 4],
        state.twist[b, 5] - state.twist[a, 5],
    )  # fmt: skip
    noted.power[row, i] = 0.5 * (dot(torque, before) + dot(torque, after))
    own = mul_t(_joint_frame(joints, j, _quaternion(state.rotation, a)), torque)
    turned = _turned(j, a, b, joints, state)
    wanted = (m.after[k, i, 0], m.after[k, i, 1], m.after[k, i, 2], m.after[k, i, 3])
    noted.error[row, i] = norm(_turn_between(turned, wanted))
    for c in range(3):
        noted.torque[row, i, c] = own[c]


@kernel
def note_joints(k, row, m, joints, rows, state, dt, noted):
    """What the step brought: errors, torques, powers."""
    for i in range(m.joint.shape[0]):
        _note_joint(i, k, row, m, joints, rows, state, dt, noted)


@kernel
def note_poses(k, row, m, state, noted):
    """Where the step brought the bones."""
    for i in range(m.body.shape[0]):
        b = m.body[i]
        for c in range(3):
            noted.pose[row, i, c] = state.position[b, c] + m.origin[c]
        for c in range(4):
            noted.pose[row, i, 3 + c] = state.rotation[b, c]
    b = m.body[0]
    wanted = (m.root_pose[k, 3], m.root_pose[k, 4], m.root_pose[k, 5], m.root_pose[k, 6])
    turn = _turn_between(_quaternion(state.rotation, b), wanted)
    apart = (
        noted.pose[row, 0, 0] - m.root_pose[k, 0], noted.pose[row, 0, 1] - m.root_pose[k, 1],
        noted.pose[row, 0, 2] - m.root_pose[k, 2],
    )  # fmt: skip
    noted.root_error[row, 0] = norm(apart)
    noted.root_error[row, 1] = norm(turn)
