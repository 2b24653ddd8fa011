"""Constraint rows of joints within a step, in blocks of three, as Newton's method takes them.

The rows of a joint (constraints/joints/pack.py) are cut into blocks of three consecutive ones, the
last filled up with rows that are absent (number -1): a ball joint is one block, a hinge two. In the
matrix of an island a block stands where a contact could (solvers/newton/system.py).
"""

from typing import NamedTuple

import numpy as np

from drystone.constraints.contact_rows import inertia_times
from drystone.constraints.kinematic_trees import KinematicTrees, build_trees
from drystone.jit import inner_kernel, kernel
from drystone.jit.table import table
from drystone.model.joint_arrays import JointRows, Joints, joint_rows

# Redundant constraints (a loop in a plane, two hinges on one door) leave the Delassus matrix W
# without an inverse. This share of its diagonal is added to the rows of joints; what they give way
# for it lies below the tolerance by orders of magnitude.
SOFTNESS = 1e-11

BY_RATTLE, BY_SECANT, BY_SUBSTEPS = 1, 2, 3  # JointWork.done


@table
class JointWork(NamedTuple):
    """The joints of a world in one step."""

    rows: JointRows
    end_rows: JointRows  # the same at the predicted end of the step; coordinates are shared
    node_row: np.ndarray  # (nodes, 3) int32: rows of each block, -1 where absent
    node_body: np.ndarray  # (nodes, 2) int32
    node_joint: np.ndarray  # (nodes,) int32
    node_list: np.ndarray  # (nodes,) int32: blocks, group by group (islands.py)
    group_node: np.ndarray  # (n + 2,) int32: first of each group in that list
    row_list: np.ndarray  # (rows,) int32: rows of the blocks in that list
    row_first: np.ndarray  # (nodes + 1,) int32: first of each block of that list in row_list
    island_group: np.ndarray  # (n + 1,) int32: group of an island with joints, -1 for others
    done: np.ndarray  # (n + 2,) int32: for groups integrated smoothly, BY_RATTLE ...
    residual: np.ndarray  # (n + 2,) of these [m/s], [rad/s]
    stabilize: np.ndarray  # (n + 2,) int32: 1 for groups with position errors after the step
    curve: np.ndarray  # (rows, 3) State.joint_curve of this step, stored when it is finalized
    # bodies on which joints pull hard, while secant.py iterates, see
    # solvers/articulated/geometric_stiffness.py
    stiffened: np.ndarray  # (n + 1,) int32: 1 if something is added
    added_inertia: np.ndarray  # (n + 1, 6) added to the inertia: xx xy xz yy yz zz [kg m²]
    free_spin: np.ndarray  # (n + 1, 3) free spin without that [rad/s]
    last_twist: np.ndarray  # (n + 1, 6) velocities of the last iterate
    # (n + 2,) int32: 1 for groups that RATTLE declined but that move smoothly, 2 if substeps did
    smooth: np.ndarray
    kept_linear: np.ndarray  # (rows, 3) rows of the solve while stabilization.py uses others
    kept_angular: np.ndarray  # (rows, 6)
    kept_state: np.ndarray  # (n + 1, 13) poses and velocities at the start of substeps
    kept_start: np.ndarray  # (n + 1, 6) start_twist likewise
    kept_value: np.ndarray  # (nj, 3) coordinates likewise
    part_state: np.ndarray  # (n + 1, 13) as kept_state, at the start of one substep
    part_row: np.ndarray  # (rows, 4) impulse and curve likewise
    part_value: np.ndarray  # (nj, 3) coordinates likewise
    moving: np.ndarray  # (n + 1,) int32: bodies of a group, kinematic ones too
    energy: np.ndarray  # (n + 2, 6) of groups: see solvers/articulated/energy_balance.py [J]
    body_list: np.ndarray  # (n + 1,) int32: scratch, bodies of a group
    stamp: np.ndarray  # (n + 2,) int64: last visit of each body, and the number of this visit
    start_twist: np.ndarray  # (n + 1, 6) velocities at the start of the step that fit the joints
    end_position: np.ndarray  # (n + 1, 3) predicted poses at the end of the step
    end_rotation: np.ndarray  # (n + 1, 4)
    filled: np.ndarray  # (nj, 15) poses of A and B and the step for which the rows of a joint are
    zero: np.ndarray  # (rows,) zeros
    slack: np.ndarray  # (rows,) velocities of rows with a bound, above it [m/s], [rad/s]
    bias_change: np.ndarray  # (rows,) that position errors ask for [m/s], [rad/s]
    trees: KinematicTrees


def joint_work_of(joints: Joints, bodies) -> JointWork | None:
    """The blocks of `joints` and scratch for a world of these arrays.Bodies; None without joints.

    It starts empty: what is kept from step to step can be found again from the state.
    """
    return new_joint_work(joints, bodies) if len(joints.kind) else None


def new_joint_work(joints: Joints, table) -> JointWork:
    bodies = len(table.inv_mass)
    node_row, node_joint = [], []
    for j in range(len(joints.kind)):
        rows = list(range(joints.row_first[j], joints.row_first[j + 1]))
        for k in range(0, len(rows), 3):
            node_row.append((*rows[k : k + 3], -1, -1)[:3])
            node_joint.append(j)
    count = len(node_row)
    node_joint = np.array(node_joint, np.int32).reshape(count)
    rotation = np.zeros((bodies + 1, 4))
    rotation[:, 0] = 1.0
    rows = joint_rows(joints)
    return JointWork(
        rows=rows,
        end_rows=joint_rows(joints)._replace(value=rows.value),
        node_row=np.array(node_row, np.int32).reshape(count, 3),
        node_body=np.ascontiguousarray(joints.body[node_joint]).reshape(count, 2),
        node_joint=node_joint,
        node_list=np.zeros(count, np.int32),
        group_node=np.zeros(bodies + 2, np.int32),
        row_list=np.zeros(joints.row_first[-1], np.int32),
        row_first=np.zeros(count + 1, np.int32),
        island_group=np.zeros(bodies + 1, np.int32),
        done=np.zeros(bodies + 2, np.int32),
        residual=np.zeros(bodies + 2),
        stabilize=np.zeros(bodies + 2, np.int32),
        curve=np.zeros((joints.row_first[-1], 3)),
        stiffened=np.zeros(bodies + 1, np.int32),
        added_inertia=np.zeros((bodies + 1, 6)),
        free_spin=np.zeros((bodies + 1, 3)),
        last_twist=np.zeros((bodies + 1, 6)),
        smooth=np.zeros(bodies + 2, np.int32),
        kept_linear=np.zeros((joints.row_first[-1], 3)),
        kept_angular=np.zeros((joints.row_first[-1], 6)),
        kept_state=np.zeros((bodies + 1, 13)),
        kept_start=np.zeros((bodies + 1, 6)),
        kept_value=np.zeros((len(joints.kind), 3)),
        part_state=np.zeros((bodies + 1, 13)),
        part_row=np.zeros((joints.row_first[-1], 4)),
        part_value=np.zeros((len(joints.kind), 3)),
        moving=np.zeros(bodies + 1, np.int32),
        energy=np.zeros((bodies + 2, 6)),
        body_list=np.zeros(bodies + 1, np.int32),
        stamp=np.zeros(bodies + 2, np.int64),
        start_twist=np.zeros((bodies + 1, 6)),
        end_position=np.zeros((bodies + 1, 3)),
        end_rotation=rotation,
        filled=np.full((len(joints.kind), 15), np.nan),
        zero=np.zeros(joints.row_first[-1]),
        slack=np.zeros(joints.row_first[-1]),
        bias_change=np.zeros(joints.row_first[-1]),
        trees=build_trees(joints, table),
    )


# A world without joints has no joint_work: None, which lets Numba leave the rest of a kernel out.


@inner_kernel
def list_rows(joint_work, count):
    """The rows of the first `count` blocks of node_list, so that a loop over them is one loop."""
    used = 0
    for d in range(count):
        joint_work.row_first[d] = used
        for k in range(3):
            r = joint_work.node_row[joint_work.node_list[d], k]
            if r >= 0:
                joint_work.row_list[used] = r
                used += 1
    joint_work.row_first[count] = used


@inner_kernel
def nodes_of(g, joint_work):
    """First block of group `g` in node_list, and the one after its last."""
    return np.int64(joint_work.group_node[g]), np.int64(joint_work.group_node[g + 1])


@inner_kernel
def contacts_of(g, rows):
    """First contact row of group `g`, and the one after its last."""
    first, last = rows.group_first[g], rows.group_first[g + 1]
    return np.int64(rows.slab_first[first]), np.int64(rows.slab_first[last])


@inner_kernel
def take_nodes(joint_work, n, first, count, pair):
    """Bodies of `count` blocks from place `first` of the list on, into pair[n:]."""
    if joint_work is None:
        return
    for d in range(count):
        node = joint_work.node_list[first + d]
        pair[n + d, 0], pair[n + d, 1] = (
            joint_work.node_body[node, 0],
            joint_work.node_body[node, 1],
        )


@inner_kernel
def take_node(joint_work, place, i, impulse):
    """Impulses of the block at `place` of the list."""
    if joint_work is None:
        return
    for k in range(3):
        r = joint_work.node_row[joint_work.node_list[place], k]
        impulse[i, k] = joint_work.rows.impulse[r] if r >= 0 else 0.0


@inner_kernel
def joint_jacobian(joint_work, place, i, jacobian):
    """Row by row what a block sees of its two bodies; see gather.Links."""
    if joint_work is None:
        return
    node = joint_work.node_list[place]
    linear, angular = joint_work.rows.linear, joint_work.rows.angular
    for k in range(3):
        r = joint_work.node_row[node, k]
        for m in range(3):
            a, b = 6 * k + m, 18 + 6 * k + m
            jacobian[i, a] = -linear[r, m] if r >= 0 else 0.0
            jacobian[i, a + 3] = -angular[r, m] if r >= 0 else 0.0
            jacobian[i, b] = linear[r, m] if r >= 0 else 0.0
            jacobian[i, b + 3] = angular[r, 3 + m] if r >= 0 else 0.0


@inner_kernel
def row_velocity(r, rows, twist):
    """What row `r` sees of the velocities [m/s] or [rad/s]; the fixed world may be left out."""
    a, b, n = rows.body[r, 0], rows.body[r, 1], twist.shape[0]
    u = 0.0
    for m in range(3):
        if b < n:
            u += rows.linear[r, m] * twist[b, m] + rows.angular[r, 3 + m] * twist[b, 3 + m]
        if a < n:
            u -= rows.linear[r, m] * twist[a, m] + rows.angular[r, m] * twist[a, 3 + m]
    return u


@inner_kernel
def push_joint_row(r, p, rows, mass, twist):
    """Give the bodies of row `r` the impulse `p`."""
    for side in range(2):
        b = rows.body[r, side]
        if mass[b, 0] == 0.0:
            continue
        s = p if side == 1 else -p
        spin = inertia_times(
            b,
            (
                rows.angular[r, 3 * side],
                rows.angular[r, 3 * side + 1],
                rows.angular[r, 3 * side + 2],
            ),
            mass,
        )
        for m in range(3):
            twist[b, m] += s * mass[b, 0] * rows.linear[r, m]
            twist[b, 3 + m] += s * spin[m]


@inner_kernel
def push_node(joint_work, place, p0, p1, p2, mass, twist):
    """Give a block new impulses, and the bodies what they have changed by."""
    if joint_work is None:
        return
    node = joint_work.node_list[place]
    impulse = joint_work.rows.impulse
    for k in range(3):
        r = joint_work.node_row[node, k]
        if r < 0:
            continue
        p = p0 if k == 0 else (p1 if k == 1 else p2)
        push_joint_row(r, p - impulse[r], joint_work.rows, mass, twist)
        impulse[r] = p


@inner_kernel
def joint_law(joint_work, place, c, i, free, links, island):
    """Free velocities, bounds and softness of a block: contact `c` of the group, `i` in order."""
    if joint_work is None:
        return
    node = joint_work.node_list[place]
    rows = joint_work.rows
    for k in range(3):
        r = joint_work.node_row[node, k]
        if r < 0:
            island.q[i, k], island.soft[i, k], island.own[i, k] = 0.0, 0.0, 1.0
            island.lower[i, k], island.upper[i, k] = 0.0, 0.0
            continue
        own = 0.0
        for m in range(6):
            a, b = 6 * k + m, 18 + 6 * k + m
            own += links.jacobian[c, a] * links.answer[c, a]
            own += links.jacobian[c, b] * links.answer[c, b]
        island.q[i, k] = row_velocity(r, rows, free) + rows.bias[r]
        island.soft[i, k] = rows.softness[r] + SOFTNESS * own
        island.own[i, k] = own + island.soft[i, k]
        island.lower[i, k], island.upper[i, k] = rows.lower[r], rows.upper[r]
        for bound in (rows.lower[r], rows.upper[r]):
            if bound != 0.0 and abs(bound) < np.inf:
                island.bounded[0] = True
    island.friction[i] = 0.0
    island.scale[i] = (island.own[i, 0] + island.own[i, 1] + island.own[i, 2]) / 3.0


@kernel
def _start_row(r, rows, last_impulse, mass, twist):
    p = min(max(last_impulse[r], rows.lower[r]), rows.upper[r])
    rows.impulse[r] = p
    push_joint_row(r, p, rows, mass, twist)


@kernel
def start_joints(joint_work, state, mass, twist):
    """The warm start: impulses of the last step, within the bounds of this one."""
    rows = joint_work.rows
    for r in range(rows.impulse.shape[0]):
        _start_row(r, rows, state.joint_impulse, mass, twist)


@inner_kernel
def start_group(first, last, joint_work, state, motion):
    """Free velocities and the warm start for the blocks first .. last, as start_joints() does."""
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            for i in range(6):
                motion.twist[b, i] = motion.free[b, i]
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        _start_row(r, joint_work.rows, state.joint_impulse, motion.mass, motion.twist)
