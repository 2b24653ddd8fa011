"""The joints of a world as arrays, and the constraint rows that they put into the problem.

A row is one scalar constraint on two bodies A and B, in world axes:

    u = l.(v_B - v_A) + b.w_B - a.w_A        v of the centres of mass, w spins, arms inside a and b

Its impulse p acts with l on B and -l on A, with the torque b on B and -a on A. Solved is

    w = u + softness p + bias,   lower <= p <= upper:
    w = 0 where p lies strictly between, w >= 0 where p = lower, w <= 0 where p = upper

A joint first has the rows that hold it together, then for each of its free coordinates, in this
order and only if they were asked for: lower limit, upper limit, drive, friction. The number of
rows of a joint never changes from step to step; a limit that is far away is a row with a large gap.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit.table import table

BALL, HINGE, UNIVERSAL, SLIDER, FIXED, DISTANCE, PLANAR, CYLINDRICAL, SPRING = range(9)
FLAT_HINGE, FLAT_SLIDER, FLAT_FIXED = range(
    9, 12
)  # in two dimensions, see constraints/joints/planar_2d.py
GEAR, RACK, COUPLING = range(12, 15)

# What a row is for: JointRows.kind.
ROW_EQUALITY, ROW_LIMIT, ROW_DRIVE, ROW_FRICTION, ROW_SPRING = range(5)

DRIVE_NONE, DRIVE_SPEED, DRIVE_POSITION = range(3)

COORDINATES = 3  # a joint has at most so many free coordinates with limits, drive and friction
NUMBERS = 6


@table
class Joints(NamedTuple):
    """What is constant about joints."""

    kind: np.ndarray  # (nj,) int32, BALL ... COUPLING
    body: np.ndarray  # (nj, 2) int32, bodies A and B; n stands for the fixed world
    anchor: np.ndarray  # (nj, 6) its point on A, on B, from the centres of mass, body axes [m]
    frame: np.ndarray  # (nj, 8) quaternions of its axes on A, on B: joint axes -> body axes
    row_first: np.ndarray  # (nj + 1,) int32
    number: np.ndarray  # (nj, 6) what a kind needs beside: see the file of that kind
    limit: np.ndarray  # (nj, 3, 2) of each coordinate: lower, upper [rad] or [m]; ∓inf: none
    drive_mode: np.ndarray  # (nj, 3) int32, DRIVE_NONE ... DRIVE_POSITION
    drive: np.ndarray  # (nj, 3, 4) speed or target, stiffness, damping, largest force
    friction: np.ndarray  # (nj, 3) force or torque [N] or [N m]


@table
class JointRows(NamedTuple):
    """Rows of all joints in one step."""

    body: np.ndarray  # (nr, 2) int32
    linear: np.ndarray  # (nr, 3) l
    angular: np.ndarray  # (nr, 6) a, then b [m], or without unit for rows of angles
    error: np.ndarray  # (nr,) what drift has left to correct [m] or [rad]; < 0 for limits
    bias: np.ndarray  # (nr,) [m/s] or [rad/s]
    softness: np.ndarray  # (nr,) [1/kg] or [1/(kg m²)]
    spring: np.ndarray  # (nr, 3) of springs and servos: offset, stiffness, damping
    lower: np.ndarray  # (nr,) bounds of the impulse [N s] or [N m s]
    upper: np.ndarray  # (nr,)
    impulse: np.ndarray  # (nr,) of the last solve, and so the guess for the next
    kind: np.ndarray  # (nr,) int32, ROW_EQUALITY ... ROW_SPRING
    value: np.ndarray  # (nj, 3) free coordinates of the last fill, revolutions counted [rad], [m]


def joint_rows(table: Joints) -> JointRows:
    """Arrays for the rows of `table`; what fill_joint_rows() does not write is in place."""
    count = int(table.row_first[-1])
    f, rows_of = np.zeros, np.diff(table.row_first)
    return JointRows(
        body=np.ascontiguousarray(np.repeat(table.body, rows_of, axis=0), np.int32),
        linear=f((count, 3)), angular=f((count, 6)), error=f(count), bias=f(count),
        softness=f(count), spring=f((count, 3)), lower=f(count), upper=f(count), impulse=f(count),
        kind=np.zeros(count, np.int32), value=f((len(table.kind), COORDINATES)),
    )  # fmt: skip
