"""Stage 4: the rows of all joints, at the poses of the bodies at the start of a step."""

from drystone.jit import inner_kernel
from drystone.joints.ball import fill_ball
from drystone.joints.cylindrical import fill_cylindrical
from drystone.joints.distance import fill_distance
from drystone.joints.fixed import fill_fixed
from drystone.joints.hinge import fill_hinge
from drystone.joints.layout import (
    BALL,
    CYLINDRICAL,
    DISTANCE,
    FIXED,
    HINGE,
    PLANAR,
    SLIDER,
    SPRING,
    UNIVERSAL,
)
from drystone.joints.place import place_joint
from drystone.joints.planar import fill_planar
from drystone.joints.slider import fill_slider
from drystone.joints.spring import fill_spring
from drystone.joints.universal import fill_universal


@inner_kernel
def fill_joint_rows(
    # problem
    joints,
    # in
    position, rotation, dt,
    # out
    rows,
):  # fmt: skip
    """Fill `rows` but for the impulses, and joints.value.

    position  (n, 3) or (n + 1, 3) centres of mass [m]
    rotation  (n, 4) or (n + 1, 4) quaternions; what lies beyond the last row is the fixed world
    """
    for j in range(joints.kind.shape[0]):
        fill_joint(joints, j, position, rotation, dt, rows)


@inner_kernel
def fill_joint(joints, j, position, rotation, dt, rows):
    """Rows of joint `j`."""
    r = int(joints.row_first[j])
    place = place_joint(joints, j, position, rotation)
    kind = joints.kind[j]
    if kind == BALL:
        fill_ball(joints, j, r, place, dt, rows)
    elif kind == HINGE:
        fill_hinge(joints, j, r, place, dt, rows)
    elif kind == UNIVERSAL:
        fill_universal(joints, j, r, place, dt, rows)
    elif kind == SLIDER:
        fill_slider(joints, j, r, place, dt, rows)
    elif kind == FIXED:
        fill_fixed(joints, j, r, place, dt, rows)
    elif kind == DISTANCE:
        fill_distance(joints, j, r, place, dt, rows)
    elif kind == PLANAR:
        fill_planar(joints, j, r, place, dt, rows)
    elif kind == CYLINDRICAL:
        fill_cylindrical(joints, j, r, place, dt, rows)
    elif kind == SPRING:
        fill_spring(joints, j, r, place, dt, rows)
