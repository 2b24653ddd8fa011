"""Joints of two dimensions, the x-z plane: the same objects, without the rows that hold there.

    Hinge (about y)    x and z of p_B - p_A = 0                          two rows
    Slider (in plane)  t.(p_B - p_A) = 0 with t = y x x_A; angle = 0     two rows
    Fixed              x and z of p_B - p_A = 0; angle = 0               three rows

The angle is that of B against A about the world's y: a = b = y. Coordinates, Distance and
SpringDamper are those of three dimensions. Bodies must not move out of the plane, for the rows
that would hold them there are missing: their inverse masses in these directions are zero.
"""

from math import atan2

from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    NOWHERE,
    along_axis,
    count_turns,
    in_world,
    twist,
    write_across,
    write_coordinate,
    write_row,
)
from drystone.errors import InputError, UnsupportedFeature
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import cross
from drystone.model.joint_arrays import (
    DISTANCE,
    FIXED,
    FLAT_FIXED,
    FLAT_HINGE,
    FLAT_SLIDER,
    HINGE,
    ROW_EQUALITY,
    SLIDER,
    SPRING,
)

UPWARD = (0.0, 1.0, 0.0)  # the normal of the plane

# Kind and rows that hold it together, of the joints that lose some.
FLAT = {HINGE: (FLAT_HINGE, 2), SLIDER: (FLAT_SLIDER, 2), FIXED: (FLAT_FIXED, 3)}

# How far an axis may lean from where it must be [rad]: rounding of what a person computed.
LEAN = 1e-9


@kernel
def _write_point(place, r, rows):
    for i in range(0, 3, 2):
        e = (1.0 if i == 0 else 0.0, 0.0, 1.0 if i == 2 else 0.0)
        a, b = cross(place.arm_a, e), cross(place.arm_b, e)
        write_row(rows, r, e, a, b, place.apart[i], ROW_EQUALITY)
        r += 1
    return r


@kernel
def _write_angle(place, r, rows):
    q, x, y, z = place.turn
    lean = in_world(place, (x, y, z))[1]
    angle = 2.0 * atan2(lean, q) if q >= 0.0 else 2.0 * atan2(-lean, -q)
    write_row(rows, r, NOWHERE, UPWARD, UPWARD, angle, ROW_EQUALITY)
    return r + 1


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_hinge(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = _write_point(place, r, rows)
    angle, lin, a, b = twist(place)
    angle = count_turns(angle, rows.value[j, 0])
    write_coordinate(joints, j, 0, r, angle, lin, a, b, dt, rows)


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_slider(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = _write_angle(place, write_across(place, cross(UPWARD, place.x_a), r, rows), rows)
    way, lin, a, b = along_axis(place)
    write_coordinate(joints, j, 0, r, way, lin, a, b, dt, rows)


@inner_kernel(no_cpython_wrapper=True)
def fill_flat_fixed(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    _write_angle(place, _write_point(place, r, rows), rows)


def flat_kind(joint) -> tuple[int, int]:
    """Kind and number of rows of a joint in two dimensions, or one clear sentence."""
    name, kind = type(joint).__name__, joint._kind
    if kind in (DISTANCE, SPRING):
        return kind, joint.row_count
    if kind not in FLAT:
        raise UnsupportedFeature(
            f"{name}: is not in two dimensions; use Hinge, Slider, Fixed, Distance or SpringDamper."
        )
    x, y, z = getattr(joint, "axis", UPWARD)
    if kind == HINGE and max(abs(x), abs(z)) > LEAN:
        raise InputError(f"Hinge: axis is {joint.axis}, must be (0, ±1, 0) in two dimensions.")
    if kind == SLIDER and abs(y) > LEAN:
        raise InputError(f"Slider: axis is {joint.axis}, must be (x, 0, z) in two dimensions.")
    kind, held = FLAT[kind]
    return kind, held + joint.row_count - joint._held_rows
