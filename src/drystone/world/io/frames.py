"""Frames of a recording: what is recorded of a world every so many steps, and compared again."""

from typing import NamedTuple

import numpy as np

FRAME = np.dtype(
    [
        ("step", "<i8"),
        ("first", "<i8"),  # row of its first body in `pose`
        ("count", "<i8"),  # bodies
        ("kinetic", "<f8"),  # [J]
        ("potential", "<f8"),  # [J]
        ("contacts", "<i8"),  # of the step that led here
        ("residual", "<f8"),  # of that step [m/s]
        ("joint_error", "<f8"),  # after it [m]
        ("energy_made", "<f8"),  # by it [J]
    ]
)
EARLIER_FRAME = np.dtype(FRAME.descr[:7])  # of version 1, which says nothing of joints and energy

# Energies and residuals are sums of many terms, whose last digits another version may round
# otherwise; their bits as they were written are under the seal (seal.py).
ROUNDING = 1e-9


class Frame(NamedTuple):
    """A row of `frame` and the rows of `pose` and `number` that belong to it."""

    frame: np.ndarray  # (1,) FRAME
    pose: np.ndarray  # (n, 7) position and orientation
    number: np.ndarray  # (n,) which body


def frame_of(world, first: int) -> Frame:
    """The world as it is now; `first` is the row of its first body."""
    position, orientation = world._poses()
    energy, info = world.energy(), world.info
    of_step = (0, 0.0, 0.0, 0.0)
    if info:
        of_step = info.contacts, info.residual, info.joint_error, info.energy_made
    row = world.step_count, first, len(world), energy.kinetic, energy.potential, *of_step
    pose = np.hstack([position, orientation])
    return Frame(np.array([row], dtype=FRAME), pose, world._build.numbers)


def difference(recorded: Frame, world, is_start: bool) -> str:
    """What of a recorded frame is not as in `world`, in words; "" if nothing is.

    is_start   what is said of the step that led here is not in the recording
    """
    row = recorded.frame[0]
    own = frame_of(world, int(row["first"]))
    for field in ("step", "count", *(() if is_start else ("contacts",))):
        if row[field] != own.frame[0][field]:
            return f"{field} is {row[field]}, must be {own.frame[0][field]}"
    wrong = np.flatnonzero(recorded.number != own.number)
    if len(wrong):
        return f"row {wrong[0]} is of body {recorded.number[wrong[0]]}, not {own.number[wrong[0]]}"
    same = (recorded.pose.view(np.uint64) == own.pose.view(np.uint64)).all(axis=1)
    if not same.all():
        at = int(np.argmin(same))
        who, place = world.bodies[at].name, recorded.pose[at, :3].tolist()
        return f"{who} is at {place}, must be at {own.pose[at, :3].tolist()}, or turned otherwise"
    size = abs(own.frame[0]["kinetic"]) + abs(own.frame[0]["potential"])
    slack = {"kinetic": 1e-3 * ROUNDING * size, "potential": 1e-3 * ROUNDING * size}
    of_step = () if is_start else recorded.frame.dtype.names[6:]
    for field in ("kinetic", "potential", *of_step):
        x, wanted = float(row[field]), float(own.frame[0][field])
        near = abs(x - wanted) <= ROUNDING * abs(wanted) + slack.get(field, 0.0)
        if not near and not (x == wanted or (x != x and wanted != wanted)):
            return f"{field} is {x:g}, must be {wanted:g}"
    return ""
