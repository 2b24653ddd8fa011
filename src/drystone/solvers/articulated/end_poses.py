"""Poses at the end of the step, predicted, and the position errors that joints have there.

For RATTLE (rattle.py) and the secant iteration (secant.py), which correct the velocities until
these errors are gone, and for post-stabilization (stabilization.py), which corrects the
displacements.
"""

from drystone.constraints.joints.fill_rows import fill_joint
from drystone.jit import inner_kernel
from drystone.jit.vec import rotate_quaternion
from drystone.motion.displacement import displace_body

# [m], [rad]: a position error at the start of the step that is larger than this is left to
# stabilization.py. To take it away by a velocity would add energy.
SMALL_ERROR = 1e-7


@inner_kernel
def predict_poses(first, last, bodies, state, joint_work, motion, displace, old, impacts, dt):
    """Poses of the bodies of the blocks first .. last after the step.

    displace  compute their displacements from the velocities first: from those at the start of the
              step, `old`, and those that are solved; with so many impacts

    Returns the largest angle by which a body rotates [rad].
    """
    stamp, mark, most = joint_work.stamp, joint_work.stamp.shape[0] - 1, 0.0
    stamp[mark] += 1
    for d in range(first, last):
        node = joint_work.node_list[d]
        for side in range(2):
            b = joint_work.node_body[node, side]
            if b == state.position.shape[0] or stamp[b] == stamp[mark]:
                continue
            stamp[b] = stamp[mark]
            if displace:
                displace_body(b, bodies, old, state.rotation, motion, impacts, dt)
            move, q = motion.move, state.rotation
            for k in range(3):
                joint_work.end_position[b, k] = state.position[b, k] + dt * move[b, k]
            rotated = rotate_quaternion(
                (q[b, 0], q[b, 1], q[b, 2], q[b, 3]),
                (dt * move[b, 3], dt * move[b, 4], dt * move[b, 5]),
            )
            for k in range(4):
                joint_work.end_rotation[b, k] = rotated[k]
            most = max(most, dt * (abs(move[b, 3]) + abs(move[b, 4]) + abs(move[b, 5])))
    return most


@inner_kernel
def fill_end_rows(first, last, joints, joint_work, dt):
    """Rows of the joints of the blocks first .. last at the poses that predict_poses() found."""
    before = -1
    position, rotation = joint_work.end_position, joint_work.end_rotation
    for d in range(first, last):
        j = joint_work.node_joint[joint_work.node_list[d]]
        if j != before:
            fill_joint(joints, j, position, rotation, dt, joint_work.end_rows)
        before = j


@inner_kernel(inline="always")
def error_made(r, error, joint_work):
    """Position error `error` of row `r` after the step, less what was there before it."""
    before = joint_work.rows.error[r]
    return error - (before if abs(before) > SMALL_ERROR else 0.0)


@inner_kernel(inline="always")
def note_error(r, error, joint_work, dt):
    """Bias by which row `r` has no position error after the step, where it had `error`.

    Returns the size of that error, less what was there before the step [m], [rad].
    """
    off = error_made(r, error, joint_work)
    joint_work.bias_change[r] = 2.0 * off / dt
    return abs(off)
