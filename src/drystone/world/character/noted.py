"""What a character keeps of every step; and what touched its bones: forces, how fast they slid."""

from math import hypot

import numpy as np

from drystone.constraints.coulomb import slip_at
from drystone.jit import kernel
from drystone.world.character.muscles import Noted

BY_STEP = (
    "error", "torque", "power", "root_error", "root_force", "pose", "given", "touch", "slip",
)  # fmt: skip


def room_for(n: int, joints: int, bones: int) -> Noted:
    """Of `n` steps."""
    return Noted(
        error=np.zeros((n, joints)), torque=np.zeros((n, joints, 3)), power=np.zeros((n, joints)),
        root_error=np.zeros((n, 2)), root_force=np.zeros((n, 6)), pose=np.zeros((n, bones, 7)),
        last=np.zeros((bones, 6)), push=np.zeros((bones, 6)), spin=np.zeros((bones, 3)),
        fed=np.zeros((joints, 3)), given=np.zeros((n, joints, 3)),
        touch=np.zeros((n, bones, 3)), slip=np.zeros((n, bones)),
    )  # fmt: skip


def grown(noted: Noted) -> Noted:
    """Room for as many steps again."""
    n = len(noted.error)
    new = room_for(2 * n, noted.error.shape[1], noted.last.shape[0])
    for name in BY_STEP:
        getattr(new, name)[:n] = getattr(noted, name)
    for name in ("last", "push", "spin", "fed"):
        getattr(new, name)[:] = getattr(noted, name)
    return new


@kernel
def note_touch(row, count, parts, impacts, bone, rows, twist, dt, noted):
    """Forces from outside on each bone, and the greatest speed at which what presses on it slides.

    count    contacts
    parts    in which the step was taken; work holds the impulses of the last of them
    impacts  whether there were impacts within the step
    bone     (bodies + 1,) number of the bone of each body, -1 of others
    """
    for b in range(noted.touch.shape[1]):
        noted.slip[row, b] = 0.0
        for x in range(3):
            noted.touch[row, b, x] = 0.0
    for r in range(count):
        a, b = bone[rows.body[r, 0]], bone[rows.body[r, 1]]
        if (a < 0) == (b < 0):  # of others, or of two bones of its own
            continue
        own, sign = (b, 1.0) if b >= 0 else (a, -1.0)
        pressed = 0.0
        for c in range(3):
            impulse = rows.impulse[r, c]
            if impacts:
                impulse += rows.impact_impulse[r, c]
            if c == 0:
                pressed = impulse
            for x in range(3):
                noted.touch[row, own, x] += sign * parts * impulse * rows.frame[r, 3 * c + x] / dt
        if pressed <= 0.0:
            continue
        _, u1, u2 = slip_at(r, rows, twist)
        noted.slip[row, own] = max(noted.slip[row, own], hypot(u1, u2))
