"""Rows of joints in two dimensions, the x-z plane: without those that hold there by themselves.

The joints are the same objects; Hinge, Slider and Fixed lose rows (see their files), Distance and
SpringDamper keep theirs. The angle is that of B against A about the world's y: a = b = y. Bodies
must not move out of the plane, for the rows that would hold them there are missing: their inverse
masses in these directions are zero.
"""

from math import atan2

from drystone.constraints.joints.row_blocks import NOWHERE, in_world, write_row
from drystone.jit import inner_kernel
from drystone.jit.vec import cross
from drystone.model.joint_arrays import ROW_EQUALITY

UPWARD = (0.0, 1.0, 0.0)  # the normal of the plane

# How far an axis may lean from where it must be [rad]: rounding of what the user computed.
LEAN = 1e-9


@inner_kernel(no_cpython_wrapper=True)
def write_flat_point(place, r, rows):
    """Two rows that hold the points together in the plane; returns the next row."""
    for i in range(0, 3, 2):
        e = (1.0 if i == 0 else 0.0, 0.0, 1.0 if i == 2 else 0.0)
        a, b = cross(place.arm_a, e), cross(place.arm_b, e)
        write_row(rows, r, e, a, b, place.apart[i], ROW_EQUALITY)
        r += 1
    return r


@inner_kernel(no_cpython_wrapper=True)
def write_flat_angle(place, r, rows):
    """A row that holds the angle about y; returns the next row."""
    q, x, y, z = place.rotation
    lean = in_world(place, (x, y, z))[1]
    angle = 2.0 * atan2(lean, q) if q >= 0.0 else 2.0 * atan2(-lean, -q)
    write_row(rows, r, NOWHERE, UPWARD, UPWARD, angle, ROW_EQUALITY)
    return r + 1
