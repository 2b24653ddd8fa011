"""Position errors of joints after the step, as `info` reports them."""

from math import inf

from drystone.constraints.joints.fill_rows import fill_joint
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import INFO_JOINT_ERROR, INFO_JOINT_SHARE, INFO_WORST_JOINT_ERROR
from drystone.model.joint_arrays import ROW_EQUALITY, ROW_LIMIT

# Of the radius of the smaller body: joints that are further open have not converged. A twentieth of
# a percent of the length of a link, which nobody sees and stabilization.py leaves far behind.
JOINT_TOLERANCE = 1e-3


@inner_kernel
def smaller_radius(j, joints, bodies):
    """Radius of the smaller of the bodies that joint `j` holds [m]."""
    least = 0.0
    for side in range(2):
        b = joints.body[j, side]
        if b < bodies.kind.shape[0] and (least == 0.0 or bodies.radius[b] < least):
            least = bodies.radius[b]
    return least


@inner_kernel
def open_share(first, last, joints, bodies, joint_work):
    """Largest position error that the joints of these blocks have at the start of the step, as a
    share of the radius of the smaller body, an angle in radians: open is more than JOINT_TOLERANCE.
    The one measure of it, for who takes parts and for who declines an open island."""
    rows, worst = joint_work.rows, 0.0
    for d in range(first, last):
        node, radius = joint_work.node_list[d], -1.0
        for k in range(3):
            r = joint_work.node_row[node, k]
            if r < 0 or rows.kind[r] != ROW_EQUALITY:
                continue
            linear = abs(rows.linear[r, 0]) + abs(rows.linear[r, 1]) + abs(rows.linear[r, 2])
            error = abs(rows.error[r])
            if linear > 0.0 and error > 0.0:
                if radius < 0.0:
                    radius = smaller_radius(joint_work.node_joint[node], joints, bodies)
                error = error / radius if radius > 0.0 else inf
            worst = max(worst, error)
    return worst


@kernel
def _is_awake(j, joints, state):
    for side in range(2):
        b = joints.body[j, side]
        if b < state.asleep.shape[0] and state.asleep[b] == 0:
            return True
    return False


@stage
def report_joint_errors(joint_work, joints, bodies, state, dt, info):
    """The largest position error of all joints that are awake, in metres: angles count as what they
    displace at the radius of the smaller body. And as a share of what is tolerated."""
    worst, share, rows = 0.0, 0.0, joint_work.end_rows
    for j in range(joints.kind.shape[0]):
        if not _is_awake(j, joints, state):
            continue
        fill_joint(joints, j, state.position, state.rotation, dt, rows)
        radius = smaller_radius(j, joints, bodies)
        for r in range(joints.row_first[j], joints.row_first[j + 1]):
            if rows.kind[r] != ROW_EQUALITY and rows.kind[r] != ROW_LIMIT:
                continue
            linear = abs(rows.linear[r, 0]) + abs(rows.linear[r, 1]) + abs(rows.linear[r, 2])
            error = abs(rows.error[r]) * (1.0 if linear > 0.0 else radius)
            worst = max(worst, error)
            if radius > 0.0:
                share = max(share, error / (JOINT_TOLERANCE * radius))
    info[INFO_JOINT_ERROR], info[INFO_JOINT_SHARE] = worst, share
    info[INFO_WORST_JOINT_ERROR] = max(info[INFO_WORST_JOINT_ERROR], worst)
