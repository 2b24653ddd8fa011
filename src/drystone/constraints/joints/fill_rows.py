"""All kinds of joints: the list of them, and what is chosen by kind: rows and position errors.

Numba cannot call through a table of kernels that are cached, so each choice is a ladder.
"""

import numpy as np

from drystone.constraints.joints.ball import Ball, fill_ball
from drystone.constraints.joints.coupling import Coupling, fill_coupling
from drystone.constraints.joints.cylindrical import Cylindrical, fill_cylindrical
from drystone.constraints.joints.distance import Distance, fill_distance
from drystone.constraints.joints.fixed import (
    Fixed,
    fill_fixed,
    fill_flat_fixed,
    fixed_errors,
    flat_fixed_errors,
)
from drystone.constraints.joints.gear import Gear, fill_gear
from drystone.constraints.joints.hinge import Hinge, fill_flat_hinge, fill_hinge, hinge_errors
from drystone.constraints.joints.planar import Planar, fill_planar
from drystone.constraints.joints.position_error import joint_quaternions
from drystone.constraints.joints.rack import Rack, fill_rack
from drystone.constraints.joints.slider import Slider, fill_flat_slider, fill_slider
from drystone.constraints.joints.spring_damper import SpringDamper, fill_spring
from drystone.constraints.joints.universal import Universal, fill_universal, universal_errors
from drystone.errors import UnsupportedFeature
from drystone.jit import inlined, inner_kernel, kernel
from drystone.model.joint_arrays import (
    BALL,
    COUPLING,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    FLAT_FIXED,
    FLAT_HINGE,
    FLAT_SLIDER,
    GEAR,
    HINGE,
    PLANAR,
    RACK,
    SLIDER,
    SPRING,
    UNIVERSAL,
)
from drystone.model.signatures import public

# Every joint. Saved worlds (world/io/serialize_joints.py), spanning trees
# (constraints/kinematic_trees.py) and two dimensions read their list here.
JOINTS = (
    Hinge, Slider, Fixed, Distance, SpringDamper, Ball, Universal, Cylindrical, Planar, Gear, Rack,
    Coupling,
)  # fmt: skip
for _joint in JOINTS:
    public(_joint)


def flat_kind(joint) -> tuple[int, int]:
    """Kind and number of rows of a joint in two dimensions, or one clear sentence."""
    flat = joint._flat
    if flat is None:
        *names, last = (kind.__name__ for kind in JOINTS if kind._flat is not None)
        raise UnsupportedFeature(
            f"{type(joint).__name__}: is not in two dimensions; use {', '.join(names)} or {last}."
        )
    joint._check_flat()
    held = joint._held_rows if flat.held_rows is None else flat.held_rows
    return flat.kind, held + joint.row_count - joint._held_rows


@kernel
def fill_joint_rows(
    # problem
    joints,
    # in
    position, rotation, dt,
    # out
    rows,
):  # fmt: skip
    """Fill `rows` but for the impulses.

    position  (n, 3) or (n + 1, 3) centres of mass [m]
    rotation  (n, 4) or (n + 1, 4) quaternions; what lies beyond the last row is the fixed world
    """
    for j in range(joints.kind.shape[0]):
        fill_joint(joints, j, position, rotation, dt, rows)


@kernel
def _same_pose(b, o, position, rotation, filled, j):
    """Whether body `b` is to the last bit where row `j` of `filled` says, from place `o` on."""
    if b >= position.shape[0]:
        return True
    for k in range(3):
        if position[b, k] != filled[j, o + k]:
            return False
    for k in range(4):
        if rotation[b, k] != filled[j, o + 3 + k]:
            return False
    return True


@inner_kernel
def is_filled(joints, j, position, rotation, dt, filled):
    """Whether the rows of joint `j` are those of these poses and this step."""
    return (
        filled[j, 14] == dt
        and _same_pose(joints.body[j, 0], 0, position, rotation, filled, j)
        and _same_pose(joints.body[j, 1], 7, position, rotation, filled, j)
    )


@inner_kernel
def note_filled(joints, j, position, rotation, dt, filled):
    """For which poses and step the rows of joint `j` are."""
    for side in range(2):
        b = joints.body[j, side]
        if b < position.shape[0]:
            for k in range(3):
                filled[j, 7 * side + k] = position[b, k]
            for k in range(4):
                filled[j, 7 * side + 3 + k] = rotation[b, k]
    filled[j, 14] = dt


_fill_hinge = inlined(fill_hinge)


@kernel
def _fill_hinges(joints, listed, k, last, position, rotation, dt, rows):
    """Rows of the joints listed[k], ... as far as they are hinges; returns the place after them.

    A call hands over some twenty arrays, which takes longer than a hinge does.
    """
    while k < last and joints.kind[listed[k]] == HINGE:
        j = listed[k]
        _fill_hinge(joints, j, np.int64(joints.row_first[j]), position, rotation, dt, rows)
        k += 1
    return k


@inner_kernel
def fill_listed(joints, listed, first, last, position, rotation, dt, rows):
    """Rows of the joints listed[first], ..., listed[last - 1]."""
    k = np.int64(first)
    while k < last:
        if joints.kind[listed[k]] == HINGE:
            k = _fill_hinges(joints, listed, k, last, position, rotation, dt, rows)
        else:
            fill_joint(joints, listed[k], position, rotation, dt, rows)
            k += 1


@kernel
def fill_joint(joints, j, position, rotation, dt, rows):
    """Rows of joint `j`.

    Every kind finds its place for itself: with the place found here and handed on, the compiler
    kept all of them in one frame, and a hinge took 950 ns in place of 155.
    """
    r, kind = np.int64(joints.row_first[j]), joints.kind[j]
    if kind == BALL:
        fill_ball(joints, j, r, position, rotation, dt, rows)
    elif kind == HINGE:
        fill_hinge(joints, j, r, position, rotation, dt, rows)
    elif kind == UNIVERSAL:
        fill_universal(joints, j, r, position, rotation, dt, rows)
    elif kind == SLIDER:
        fill_slider(joints, j, r, position, rotation, dt, rows)
    elif kind == FIXED:
        fill_fixed(joints, j, r, position, rotation, dt, rows)
    elif kind == DISTANCE:
        fill_distance(joints, j, r, position, rotation, dt, rows)
    elif kind == PLANAR:
        fill_planar(joints, j, r, position, rotation, dt, rows)
    elif kind == CYLINDRICAL:
        fill_cylindrical(joints, j, r, position, rotation, dt, rows)
    elif kind == SPRING:
        fill_spring(joints, j, r, position, rotation, dt, rows)
    elif kind == FLAT_HINGE:
        fill_flat_hinge(joints, j, r, position, rotation, dt, rows)
    elif kind == FLAT_SLIDER:
        fill_flat_slider(joints, j, r, position, rotation, dt, rows)
    elif kind == FLAT_FIXED:
        fill_flat_fixed(joints, j, r, position, rotation, dt, rows)
    elif kind == GEAR:
        fill_gear(joints, j, r, position, rotation, dt, rows)
    elif kind == RACK:
        fill_rack(joints, j, r, position, rotation, dt, rows)
    elif kind == COUPLING:
        fill_coupling(joints, j, r, position, rotation, dt, rows)


@inner_kernel(inline="always")
def direction_errors(joints, j, rotation):
    """Errors of the rows of joint `j` that hold directions, in their order; zero for no row.

    Of joints that the articulated body algorithm can eliminate; `rotation` has a row for the fixed
    world.
    """
    kind, (q_a, r) = joints.kind[j], joint_quaternions(joints, j, rotation)
    q, x, y, z = r
    c, up, side = 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + q * z), 2.0 * (x * z - q * y)
    if kind == HINGE:
        return hinge_errors(c, up, side)
    if kind == UNIVERSAL:
        return universal_errors(c, up, side, joints.number[j, 0])
    if kind == FIXED:
        return fixed_errors(r)
    if kind == FLAT_FIXED:
        return flat_fixed_errors(r, q_a)
    return 0.0, 0.0, 0.0
