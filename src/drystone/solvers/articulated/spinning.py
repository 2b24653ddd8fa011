"""In how many parts a step is to be taken because of what spins fast on joints, or has come open.

RATTLE cuts the step of an island that nothing touches by itself (substeps.py). Where contacts,
springs or limits act, bodies move by the velocity after the step along secants of its start and
end, and that loses what a joint does to the axis of a body that rotates far meanwhile: a gyroscope
of 300 rad/s on a stand lost 84 % of its energy in 1 s of steps of 1/240 s, one in light gimbals
93 %, and no residual saw it. In parts of a tenth of a radian it is 0.04 %. All of the world takes
them (steppers/cut_step.py), for contacts are to be found again in each.

Wheels and rotors turn far in every step, and their hinges know nothing of that: a body that is
balanced, and symmetric about the axis of its hinge, shows the same to it at any angle. What counts
of its spin is how fast the axis nutates, against the inertia of what holds it.

The other reason is a joint that the last step has left open: secants that do not close it at once
leave it wider from step to step, until a chain has left its ball.
"""

from math import ceil, inf, sqrt

from drystone.constraints.joint_rows import contacts_of, nodes_of, row_velocity
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import dot, load, mul, rotation_matrix
from drystone.model.arrays import DEFAULT_DRIFT, KINEMATIC
from drystone.model.joint_arrays import (
    COUPLING,
    CYLINDRICAL,
    GEAR,
    HINGE,
    RACK,
    ROW_LIMIT,
    ROW_SPRING,
)
from drystone.solvers.articulated.joint_error import JOINT_TOLERANCE, open_share

LARGEST_ANGLE = 0.2  # [rad] from which on a step is taken in parts
FINER = 0.1  # [rad] in a part
MOST_PARTS = 64  # a step has a bound: 1500 rad/s in steps of 1/240 s
# With parts of 4 ms a ball of 50 kg still left its chain of links of 50 g.
PART_IF_OPEN, PARTS_IF_OPEN = 1e-3, 16  # [s], at most so many
BALANCED = 1e-3  # of the radius, of the inertia: what a rotor may be off by


@kernel
def _is_rough(g, rows, joint_work, state):
    """Whether contacts, springs or limits act on group `g`."""
    (first, last), (lo, hi), joined = nodes_of(g, joint_work), contacts_of(g, rows), joint_work.rows
    if lo < hi:
        return first < last
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if joined.kind[r] == ROW_SPRING:
            return True
        if joined.kind[r] == ROW_LIMIT and (
            state.joint_impulse[r] != 0.0
            or row_velocity(r, joined, state.twist) + joined.bias[r] < 0.0
        ):
            return True
    return False


@kernel
def _nutation(j, side, joints, bodies, spin, q):
    """Rate at which the axis of hinge `j` nutates because its body on this side rotates about it
    [rad/s]; infinite if the body is no rotor on it."""
    b, o = joints.body[j, side], 4 * side
    to_body = rotation_matrix(
        joints.frame[j, o], joints.frame[j, o + 1], joints.frame[j, o + 2], joints.frame[j, o + 3]
    )
    axis, anchor, moments = mul(to_body, (1.0, 0.0, 0.0)), 3 * side, load(bodies.inertia, b)
    arm = (
        joints.anchor[j, anchor], joints.anchor[j, anchor + 1], joints.anchor[j, anchor + 2]
    )  # fmt: skip
    along = dot(arm, axis)
    if dot(arm, arm) - along * along > (BALANCED * bodies.radius[b]) ** 2:
        return inf
    about = 0.0
    for k in range(3):
        about += axis[k] * axis[k] * moments[k]
    across = 0.5 * (moments[0] + moments[1] + moments[2] - about)
    for k in range(3):
        answer = axis[k] * axis[k] * about + (1.0 - axis[k] * axis[k]) * across
        if abs(moments[k] - answer) > BALANCED * (about + across):
            return inf
    rotating = dot(spin, mul(rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3]), axis))
    tilting = sqrt(max(dot(spin, spin) - rotating * rotating, 0.0))
    holder = joints.body[j, 1 - side]
    if holder == bodies.kind.shape[0] or bodies.kind[holder] == KINEMATIC:
        return tilting
    x, y, z = load(bodies.inertia, holder)
    return max(tilting, about * abs(rotating) / (across + min(x, y, z)))


@kernel
def _angle_seen(j, side, joints, bodies, state, dt):
    """By how much joint `j` sees its body on this side rotate in the step [rad]."""
    b, kind = joints.body[j, side], joints.kind[j]
    if b == bodies.kind.shape[0] or bodies.inv_mass[b] == 0.0:
        return 0.0
    spin = (state.twist[b, 3], state.twist[b, 4], state.twist[b, 5])
    angle = dt * sqrt(dot(spin, spin))
    if angle <= LARGEST_ANGLE or kind == GEAR or kind == RACK or kind == COUPLING:
        return 0.0
    if kind == HINGE or kind == CYLINDRICAL:
        angle = min(angle, dt * _nutation(j, side, joints, bodies, spin, state.rotation))
    return angle


@stage
def parts_for_spins(joint_work, joints, bodies, state, rows, groups, settings):
    """In how many parts the step is to be taken; 1: whole."""
    if settings.newton == 0 or settings.drift != DEFAULT_DRIFT:
        return 1
    most, least = 0.0, 1
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        worst = 0.0
        # What is open by as much as a body is large does not fit together, and costs no parts.
        if JOINT_TOLERANCE < open_share(first, last, joints, bodies, joint_work) <= 1.0:
            least = min(int(ceil(settings.dt / PART_IF_OPEN)), PARTS_IF_OPEN)
        for d in range(first, last):
            j = joint_work.node_joint[joint_work.node_list[d]]
            for side in range(2):
                worst = max(worst, _angle_seen(j, side, joints, bodies, state, settings.dt))
        if worst > max(most, LARGEST_ANGLE) and _is_rough(g, rows, joint_work, state):
            most = worst
    return max(min(int(ceil(most / FINER)), MOST_PARTS), least)
