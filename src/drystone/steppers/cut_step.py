"""Steps that are taken in parts.

Contacts are planes, found at the start of a step. Meshes that lie deep in each other have contacts
with any normals, and in steps of 0.01 s links that fall taut, or a ball of 249 t on its chain, sank
deeper into each other from step to step, until some had left each other (chain-net), or were held
by a few millimetres (wrecking-ball). In four parts of a step the same links stay within a tenth of
that. What spins fast on joints and touches something is the other reason
(solvers/articulated/spinning.py).

The step sees that itself, after its contacts and before anything has been changed
(timestep.constraints), so that State alone decides. To everybody else it is one step: its number,
its info, which tells the worst of the parts, and impulses, which are those of the last part as if
its forces acted over all of the step.
"""

import numpy as np

from drystone.model.arrays import (
    COUNTER_STEP,
    FLAG_PARTS,
    FLAG_WHOLE,
    INFO_ENERGY_LOST,
    INFO_ENERGY_MADE,
    INFO_ENERGY_SHARE,
    INFO_EXCESS,
    INFO_GIVEN_UP,
    INFO_IMPACTS,
    INFO_JOINT_ERROR,
    INFO_JOINT_SHARE,
    INFO_NEWTON_ISLANDS,
    INFO_NEWTON_STEPS,
    INFO_NONCONVERGED,
    INFO_OVERLAPS,
    INFO_PENETRATION,
    INFO_RESIDUAL,
    INFO_STOPPED,
    INFO_SWEEPS,
    INFO_TOLERANCE,
    INFO_UNRESOLVED,
    INFO_WANTED,
    State,
)
from drystone.steppers.driver import grow
from drystone.timestep import DONE, NOT_FINITE

WORST = [
    INFO_RESIDUAL, INFO_TOLERANCE, INFO_EXCESS, INFO_PENETRATION, INFO_OVERLAPS, INFO_UNRESOLVED,
    INFO_GIVEN_UP, INFO_JOINT_ERROR, INFO_JOINT_SHARE, INFO_ENERGY_SHARE, INFO_SWEEPS,
    INFO_NEWTON_ISLANDS,
]  # fmt: skip
SUMMED = [
    INFO_ENERGY_MADE, INFO_ENERGY_LOST, INFO_STOPPED, INFO_IMPACTS, INFO_NEWTON_STEPS,
]  # fmt: skip


def take_parts(loop, model, state, settings, work, joint_work, elements):
    """One step in as many parts as it wants; state, work and DONE or NOT_FINITE, with the state as
    it was."""
    parts = int(work.log.info[INFO_WANTED])
    part = settings._replace(
        dt=settings.dt / parts, hashing=0, budget_time=settings.budget_time / parts
    )
    begin = State(*(array.copy() for array in state))
    first, missed = int(state.counter[COUNTER_STEP]), work.log.info[INFO_NONCONVERGED]
    worst, total = np.zeros(len(WORST)), np.zeros(len(SUMMED))
    work.log.flag[FLAG_WHOLE] = 0
    _scale_impulses(state, 1.0 / parts)
    for _ in range(parts):
        state, work, status = _take_part(loop, model, state, part, work, joint_work, elements)
        if status == NOT_FINITE:
            for array, before in zip(state, begin, strict=True):
                array[: len(before)] = before
            break
        info = work.log.info
        worst, total = np.maximum(worst, info[WORST]), total + info[SUMMED]
    else:
        _scale_impulses(state, parts)
        state.counter[COUNTER_STEP] = first + 1
        info[WORST], info[SUMMED] = worst, total
        info[INFO_NONCONVERGED] = missed + (info[INFO_NONCONVERGED] > missed)
    work.log.flag[FLAG_WHOLE], work.log.flag[FLAG_PARTS] = 1, parts
    return state, work, status


def _take_part(loop, model, state, settings, work, joint_work, elements):
    while True:
        _, status = loop(model, state, settings, work, joint_work, elements, 1)
        if status in (DONE, NOT_FINITE):
            return state, work, status
        state, work = grow(state, work, status, int(work.log.info[INFO_WANTED]))


def _scale_impulses(state, share) -> None:
    """Warm starts of the step as those of a part, or back."""
    state.cached_impulse[:] *= share
    state.joint_impulse[:] *= share
