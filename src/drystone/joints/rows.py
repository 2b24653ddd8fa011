"""Stage 4: the rows of all joints, at the poses of the bodies at the start of a step."""

from drystone.jit import kernel
from drystone.joints.ball import fill_ball
from drystone.joints.fixed import fill_fixed
from drystone.joints.hinge import fill_hinge
from drystone.joints.place import place_joint
from drystone.joints.table import BALL, FIXED, HINGE


@kernel
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
        place = place_joint(joints, j, position, rotation)
        kind, r = joints.kind[j], int(joints.row_first[j])
        if kind == BALL:
            fill_ball(joints, j, r, place, dt, rows)
        elif kind == HINGE:
            fill_hinge(joints, j, r, place, dt, rows)
        elif kind == FIXED:
            fill_fixed(joints, j, r, place, dt, rows)
