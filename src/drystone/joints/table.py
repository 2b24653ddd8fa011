"""The joints of a world as arrays, and the rows that they put into the contact problem.

A row is one scalar constraint on two bodies A and B, in world axes:

    u = l.(v_B - v_A) + b.w_B - a.w_A        v of the centres of mass, w spins, arms inside a and b

Its impulse p acts with l on B and -l on A, with the torque b on B and -a on A. Solved is

    w = u + softness p + bias,   lower <= p <= upper:
    w = 0 where p lies strictly between, w >= 0 where p = lower, w <= 0 where p = upper

A joint first has the rows that hold it together, then for each of its free coordinates, in this
order and only if they were asked for: lower limit, upper limit, drive, friction. The number of
rows of a joint never changes from step to step; a limit that is far away is a row with much room.
"""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from drystone.joints.drives import Motor, Servo
from drystone.vec import mul_t, quaternion_product, rotation_matrix

BALL, HINGE, UNIVERSAL, SLIDER, FIXED, DISTANCE, PLANAR, CYLINDRICAL, SPRING = range(9)
FLAT_HINGE, FLAT_SLIDER, FLAT_FIXED = range(9, 12)  # in two dimensions, see flat.py

# What a row is for: JointRows.kind.
ROW_EQUALITY, ROW_LIMIT, ROW_DRIVE, ROW_FRICTION, ROW_SPRING = range(5)

DRIVE_NONE, DRIVE_SPEED, DRIVE_POSITION = range(3)

COORDINATES = 3  # a joint has at most so many free coordinates with limits, drive and friction
NUMBERS = 6


class Joints(NamedTuple):
    """What is fixed about joints, but for `value`, which a run needs to go on bit for bit."""

    kind: np.ndarray  # (nj,) int32, BALL ... FLAT_FIXED
    body: np.ndarray  # (nj, 2) int32, bodies A and B; n stands for the fixed world
    anchor: np.ndarray  # (nj, 6) its point on A, on B, from the centres of mass, body axes [m]
    frame: np.ndarray  # (nj, 8) quaternions of its axes on A, on B: joint axes -> body axes
    row_first: np.ndarray  # (nj + 1,) int32
    number: np.ndarray  # (nj, 6) what a kind needs beside: see the file of that kind
    limit: np.ndarray  # (nj, 3, 2) of each coordinate: lower, upper [rad] or [m]; ∓inf: none
    drive_mode: np.ndarray  # (nj, 3) int32, DRIVE_NONE ... DRIVE_POSITION
    drive: np.ndarray  # (nj, 3, 4) speed or target, stiffness, damping, largest force
    friction: np.ndarray  # (nj, 3) force or torque [N] or [N m]
    value: np.ndarray  # (nj, 3) coordinates of the last fill, whole turns counted [rad] or [m]


class JointRows(NamedTuple):
    """Rows of all joints in one step."""

    body: np.ndarray  # (nr, 2) int32
    linear: np.ndarray  # (nr, 3) l
    angular: np.ndarray  # (nr, 6) a, then b [m], or without unit for rows of angles
    error: np.ndarray  # (nr,) what drift has left to correct [m] or [rad]; < 0 for limits
    bias: np.ndarray  # (nr,) [m/s] or [rad/s]
    softness: np.ndarray  # (nr,) [1/kg] or [1/(kg m²)]
    lower: np.ndarray  # (nr,) bounds of the impulse [N s] or [N m s]
    upper: np.ndarray  # (nr,)
    impulse: np.ndarray  # (nr,) of the last solve, and so the guess for the next
    kind: np.ndarray  # (nr,) int32, ROW_EQUALITY ... ROW_SPRING


class Coordinate(NamedTuple):
    """What a person asked of one free coordinate of a joint."""

    limits: tuple[float, float] = (-inf, inf)
    drive: Motor | Servo | None = None
    friction: float = 0.0

    def row_count(self) -> int:
        lower, upper = self.limits
        limits = 1 if lower == upper else (lower > -inf) + (upper < inf)
        return limits + (self.drive is not None) + (self.friction > 0.0)


def pack_joints(
    joints: Sequence,
    row_of: Callable,
    offset: np.ndarray,
    turn: np.ndarray,
    origin=(0.0, 0.0, 0.0),
    kind_of: Callable | None = None,
) -> Joints:
    """Table of `joints`, a list of Ball, Hinge, ...

    row_of   row of a body in the arrays; not asked about the fixed world
    offset   (n, 3) centres of mass in the frames of the shapes [m]
    turn     (n, 4) quaternions: body (principal) axes -> axes of the shapes
    origin   the world's local origin [m]
    kind_of  kind and number of rows of a joint; flat.flat_kind in two dimensions
    """
    kinds = [kind_of(joint) if kind_of else (joint._kind, joint.row_count) for joint in joints]
    count = len(joints)
    table = Joints(
        kind=np.array([kind for kind, _ in kinds], np.int32).reshape(count),
        body=np.zeros((count, 2), np.int32),
        anchor=np.zeros((count, 6)),
        frame=np.zeros((count, 8)),
        row_first=np.zeros(count + 1, np.int32),
        number=np.zeros((count, NUMBERS)),
        limit=np.zeros((count, COORDINATES, 2)),
        drive_mode=np.zeros((count, COORDINATES), np.int32),
        drive=np.zeros((count, COORDINATES, 4)),
        friction=np.zeros((count, COORDINATES)),
        value=np.zeros((count, COORDINATES)),
    )
    for j, joint in enumerate(joints):
        table.row_first[j + 1] = table.row_first[j] + kinds[j][1]
        for side, body in enumerate(joint.bodies):
            row = len(offset) if body is None else row_of(body)
            table.body[j, side] = row
            _write_side(table, j, side, joint.attachment, row, offset, turn, origin)
        write_settings(table, j, joint)
    return table


def _write_side(table, j, side, attachment, row, offset, turn, origin):
    """From the frame of the shape to that of the centre of mass and the principal axes."""
    anchor, frame = attachment.anchors[side], attachment.frames[side]
    if row == len(offset):
        anchor = tuple(p - o for p, o in zip(anchor, origin, strict=True))
    else:
        w, x, y, z = (float(c) for c in turn[row])
        arm = tuple(p - float(o) for p, o in zip(anchor, offset[row], strict=True))
        anchor = mul_t(rotation_matrix(w, x, y, z), arm)
        frame = quaternion_product((w, -x, -y, -z), frame)
    table.anchor[j, 3 * side : 3 * side + 3] = anchor
    table.frame[j, 4 * side : 4 * side + 4] = frame


def write_settings(table: Joints, j: int, joint) -> None:
    """Limits, drives and friction of joint `j`, also while a world runs.

    The number of rows must stay the same: pack anew where a limit, drive or friction is added.
    """
    table.limit[j], table.drive_mode[j] = (-inf, inf), DRIVE_NONE
    table.drive[j], table.friction[j], table.number[j] = 0.0, 0.0, 0.0
    numbers = joint._numbers()
    table.number[j, : len(numbers)] = numbers
    for k, coordinate in enumerate(joint._coordinates()):
        table.limit[j, k] = coordinate.limits
        table.friction[j, k] = coordinate.friction
        drive = coordinate.drive
        if isinstance(drive, Motor):
            table.drive_mode[j, k] = DRIVE_SPEED
            table.drive[j, k] = drive.speed, 0.0, 0.0, drive.bound
        elif isinstance(drive, Servo):
            table.drive_mode[j, k] = DRIVE_POSITION
            table.drive[j, k] = drive.target, drive.stiffness, drive.damping, drive.bound


def joint_rows(table: Joints) -> JointRows:
    """Room for the rows of `table`; what fill_joint_rows() does not write is in place."""
    count = int(table.row_first[-1])
    f, rows_of = np.zeros, np.diff(table.row_first)
    return JointRows(
        body=np.ascontiguousarray(np.repeat(table.body, rows_of, axis=0), np.int32),
        linear=f((count, 3)), angular=f((count, 6)), error=f(count), bias=f(count),
        softness=f(count), lower=f(count), upper=f(count), impulse=f(count),
        kind=np.zeros(count, np.int32),
    )  # fmt: skip


def carry_over(old_list, old: Joints, old_rows, new_list, new: Joints, new_rows) -> None:
    """Counted turns and impulses of joints that are in both lists, into the new tables.

    Impulses of a joint whose number of rows changed start from zero.
    """
    place = {id(joint): j for j, joint in enumerate(old_list)}
    for j, joint in enumerate(new_list):
        i = place.get(id(joint))
        if i is None:
            continue
        new.value[j] = old.value[i]
        was, now = slice(*old.row_first[i : i + 2]), slice(*new.row_first[j : j + 2])
        if was.stop - was.start == now.stop - now.start:
            new_rows.impulse[now] = old_rows.impulse[was]
