"""What the engine tells about the steps that it ran."""

from typing import NamedTuple

import numpy as np

from drystone.constraints.problem import SolveInfo, solve_info
from drystone.model.arrays import (
    INFO_CONTACTS,
    INFO_ENERGY_LOST,
    INFO_ENERGY_MADE,
    INFO_ENERGY_SHARE,
    INFO_EXCESS,
    INFO_FAILED_BODY,
    INFO_GIVEN_UP,
    INFO_ISLANDS,
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
    INFO_TOTAL_ENERGY_LOST,
    INFO_TOTAL_GIVEN_UP,
    INFO_TOTAL_SWEEPS,
    INFO_TOTAL_UNRESOLVED,
    INFO_UNRESOLVED,
    INFO_WORST_ENERGY_MADE,
    INFO_WORST_JOINT_ERROR,
    INFO_WORST_PENETRATION,
    INFO_WORST_RESIDUAL,
    Work,
)
from drystone.solvers.newton.hybrid import describe_islands


class StepReport(NamedTuple):
    """What run_steps() tells about the steps that it ran."""

    done: int
    failed: bool  # a number was not finite; the state is that of the last good step
    failed_body: int
    failed_contact: int  # a contact of that body, or -1
    info: SolveInfo  # of the last step
    nonconverged: int  # steps that did not reach the tolerance
    worst_residual: float  # [m/s]
    worst_penetration: float  # [m]
    worst_joint_error: float  # [m]
    worst_energy_made: float  # in one step [J]
    sweeps: int  # in all steps together
    contacts: int  # of the last step
    hashes: np.ndarray  # (done,) uint64 if settings.hashing, else empty
    unresolved: int = 0  # pairs of meshes, in all steps together, see SolveInfo
    given_up: int = 0  # likewise
    energy_lost: float = 0.0  # likewise [J]


def step_report(work, done, failed, hashes, solver) -> StepReport:
    """Of `done` steps; `failed`: a number was not finite in the next one."""
    # As lists: twenty looks into an array would take as long as the step of one box.
    info, measures = work.log.info.tolist(), work.log.measures.tolist()
    body = int(info[INFO_FAILED_BODY]) if failed else -1
    return StepReport(
        done=done,
        failed=failed,
        failed_body=body,
        failed_contact=_contact_of(work, body) if failed else -1,
        info=solve_info(
            _is_good(info), info[INFO_SWEEPS], info[INFO_RESIDUAL],
            info[INFO_CONTACTS], -info[INFO_PENETRATION], measures, info[INFO_ISLANDS],
            solver, _method(info),
            stopped=int(info[INFO_STOPPED]), overlaps=int(info[INFO_OVERLAPS]),
            unresolved=int(info[INFO_UNRESOLVED]), given_up=int(info[INFO_GIVEN_UP]),
            tolerance=info[INFO_TOLERANCE],
            joint_error=info[INFO_JOINT_ERROR], energy_made=info[INFO_ENERGY_MADE],
            energy_lost=info[INFO_ENERGY_LOST],
        ),
        nonconverged=int(info[INFO_NONCONVERGED]),
        worst_residual=info[INFO_WORST_RESIDUAL],
        worst_penetration=info[INFO_WORST_PENETRATION],
        worst_joint_error=info[INFO_WORST_JOINT_ERROR],
        worst_energy_made=info[INFO_WORST_ENERGY_MADE],
        sweeps=int(info[INFO_TOTAL_SWEEPS]),
        contacts=int(info[INFO_CONTACTS]),
        hashes=np.concatenate(hashes) if hashes else _NO_HASHES,
        unresolved=int(info[INFO_TOTAL_UNRESOLVED]),
        given_up=int(info[INFO_TOTAL_GIVEN_UP]),
        energy_lost=info[INFO_TOTAL_ENERGY_LOST],
    )  # fmt: skip


_NO_HASHES = np.zeros(0, np.uint64)


def _is_good(info) -> bool:
    """Whether the last step was solved to the tolerance, joints fit, no energy was made and nothing
    was given up."""
    left = info[INFO_OVERLAPS] + info[INFO_UNRESOLVED] + info[INFO_GIVEN_UP]
    solved = info[INFO_EXCESS] <= 1.0 and left == 0
    return bool(solved and info[INFO_JOINT_SHARE] <= 1.0 and info[INFO_ENERGY_SHARE] <= 1.0)


def _method(info) -> str:
    """What solved the islands of the last step."""
    newton, steps = int(info[INFO_NEWTON_ISLANDS]), int(info[INFO_NEWTON_STEPS])
    return describe_islands(int(info[INFO_ISLANDS]), newton, steps)


def _contact_of(work: Work, body: int) -> int:
    """First contact of `body` in this step, or -1."""
    count = int(work.log.info[INFO_CONTACTS])
    found = np.flatnonzero((work.rows.body[:count] == body).any(axis=1))
    return int(found[0]) if len(found) else -1
