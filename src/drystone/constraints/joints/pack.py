"""From the joints that the user made to the arrays that kernels read (model/joint_arrays.py)."""

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from drystone.constraints.joints.drives import Motor, Servo
from drystone.jit.vec import mul_t, quaternion_product, rotation_matrix
from drystone.model.joint_arrays import (
    COORDINATES,
    DRIVE_NONE,
    DRIVE_POSITION,
    DRIVE_SPEED,
    NUMBERS,
    Joints,
)


class Coordinate(NamedTuple):
    """What the user asked of one free coordinate of a joint."""

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
    rotation: np.ndarray,
    origin=(0.0, 0.0, 0.0),
    kind_of: Callable | None = None,
) -> Joints:
    """Table of `joints`, a list of Ball, Hinge, ...

    row_of   row of a body in the arrays; not asked about the fixed world
    offset   (n, 3) centres of mass in the frames of the shapes [m]
    rotation     (n, 4) quaternions: body (principal) axes -> axes of the shapes
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
    )
    for j, joint in enumerate(joints):
        table.row_first[j + 1] = table.row_first[j] + kinds[j][1]
        for side, body in enumerate(joint.bodies):
            row = len(offset) if body is None else row_of(body)
            table.body[j, side] = row
            _write_side(table, j, side, joint.attachment, row, offset, rotation, origin)
        write_settings(table, j, joint)
    return table


def _write_side(table, j, side, attachment, row, offset, rotation, origin):
    """From the frame of the shape to that of the centre of mass and the principal axes."""
    anchor, frame = attachment.anchors[side], attachment.frames[side]
    if row == len(offset):
        anchor = tuple(p - o for p, o in zip(anchor, origin, strict=True))
    else:
        w, x, y, z = (float(c) for c in rotation[row])
        arm = tuple(p - float(o) for p, o in zip(anchor, offset[row], strict=True))
        anchor = mul_t(rotation_matrix(w, x, y, z), arm)
        frame = quaternion_product((w, -x, -y, -z), frame)
    table.anchor[j, 3 * side : 3 * side + 3] = anchor
    table.frame[j, 4 * side : 4 * side + 4] = frame


def write_settings(table: Joints, j: int, joint) -> None:
    """Limits, drives and friction of joint `j`, also while a world runs.

    The number of rows must stay the same: pack anew where a limit, drive or friction is added.
    """
    write_values(table, j, joint._coordinates(), joint._numbers())


def write_values(table: Joints, j: int, coordinates: Sequence[Coordinate], numbers: tuple) -> None:
    """write_settings() of a joint with these coordinates and numbers."""
    count = len(coordinates)
    if count < COORDINATES:
        table.limit[j, count:], table.drive_mode[j, count:] = (-inf, inf), DRIVE_NONE
        table.drive[j, count:], table.friction[j, count:] = 0.0, 0.0
    table.number[j] = (*numbers, *[0.0] * (NUMBERS - len(numbers)))
    for k, coordinate in enumerate(coordinates):
        table.limit[j, k] = coordinate.limits
        table.friction[j, k] = coordinate.friction
        table.drive_mode[j, k], table.drive[j, k] = drive_values(coordinate.drive)


def drive_values(drive: Motor | Servo | None) -> tuple[int, tuple]:
    """Mode and numbers of a drive, as in Joints.drive_mode and drive."""
    if isinstance(drive, Motor):
        return DRIVE_SPEED, (drive.speed, 0.0, 0.0, drive.bound)
    if isinstance(drive, Servo):
        return DRIVE_POSITION, (drive.target, drive.stiffness, drive.damping, drive.bound)
    return DRIVE_NONE, (0.0, 0.0, 0.0, 0.0)


def carry_state(old_list, old: Joints, old_state, new_list, new: Joints, new_state) -> None:
    """Counted revolutions and impulses of joints that are in both lists, into the new state.

    Impulses of a joint whose number of rows changed start from zero.
    """
    place = {id(joint): j for j, joint in enumerate(old_list)}
    for j, joint in enumerate(new_list):
        i = place.get(id(joint))
        if i is None:
            continue
        new_state.joint_value[j] = old_state.joint_value[i]
        was, now = slice(*old.row_first[i : i + 2]), slice(*new.row_first[j : j + 2])
        if was.stop - was.start == now.stop - now.start:
            new_state.joint_impulse[now] = old_state.joint_impulse[was]
            new_state.joint_curve[now] = old_state.joint_curve[was]
