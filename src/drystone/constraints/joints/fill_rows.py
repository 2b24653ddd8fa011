"""Stage 4: the rows of all joints, at the poses of the bodies at the start of a step."""

import numpy as np

from drystone.constraints.joints.ball import fill_ball
from drystone.constraints.joints.cylindrical import fill_cylindrical
from drystone.constraints.joints.distance import fill_distance
from drystone.constraints.joints.fixed import fill_fixed
from drystone.constraints.joints.hinge import fill_hinge
from drystone.constraints.joints.planar import fill_planar
from drystone.constraints.joints.planar_2d import fill_flat_fixed, fill_flat_hinge, fill_flat_slider
from drystone.constraints.joints.slider import fill_slider
from drystone.constraints.joints.spring_damper import fill_spring
from drystone.constraints.joints.universal import fill_universal
from drystone.jit import inlined, inner_kernel, kernel
from drystone.model.joint_arrays import (
    BALL,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    FLAT_FIXED,
    FLAT_HINGE,
    FLAT_SLIDER,
    HINGE,
    PLANAR,
    SLIDER,
    SPRING,
    UNIVERSAL,
)


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
