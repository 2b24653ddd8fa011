"""The last step: its contacts, and its contact problem, from the work arrays."""

from typing import NamedTuple

import numpy as np

from drystone.constraints.islands import TALLY_GROUPS, TALLY_SLABS
from drystone.constraints.joint_blocks import block_impulses, joint_blocks
from drystone.constraints.problem import ContactProblem
from drystone.model.arrays import (
    FIXED,
    FLAG_PARTS,
    INFO_CONTACTS,
    INFO_IMPACTS,
    MOVING,
    ROLLING,
    Model,
    State,
    Work,
)


class ContactArrays(NamedTuple):
    """The contacts of the last step, one row each. World axes unless said otherwise."""

    body: np.ndarray  # (nc, 2) A and B, -1 for the fixed world
    point: np.ndarray  # (nc, 3) at the start of the step, relative to the local origin [m]
    frame: np.ndarray  # (nc, 3, 3) rows: normal from A to B, tangent 1, tangent 2
    gap: np.ndarray  # (nc,) at the start of the step [m]
    impulse: np.ndarray  # (nc, 3) on B, axes of the contact [N s]
    velocity: np.ndarray  # (nc, 3) of B seen from A after the step, axes of the contact [m/s]
    torque: np.ndarray  # (nc, 3) impulse of rolling and spinning friction on B, world [N m s]
    friction: np.ndarray  # (nc,)
    friction_2: np.ndarray  # (nc,) along tangent 2; the same unless the friction is elliptic


def parts_of(work: Work) -> int:
    """In how many parts the last step was taken (steppers/cut_step.py). Work holds the last of
    them; as impulses over the step those count whose forces act in it."""
    return max(1, int(work.log.flag[FLAG_PARTS]))


def contact_arrays(model: Model, state: State, work: Work, ellipses=None) -> ContactArrays:
    """Copies of the contacts of the last step, sorted by pair of shapes."""
    count = int(work.log.info[INFO_CONTACTS])
    rows = work.rows
    order = np.argsort(work.contact_list.row_contact[:count], kind="stable")
    body = rows.body[:count][order]
    problem = last_problem(model, state, work, ellipses)
    friction_2 = problem.friction if ellipses is None else problem.friction_2
    velocity = problem.relative(work.motion.twist)
    if problem.surface is not None:
        velocity[:, 1:] += problem.surface
    velocity = velocity[order]
    impulse = rows.impulse[:count].copy()
    if work.log.info[INFO_IMPACTS] > 0:
        impulse += rows.impact_impulse[:count]
    impulse *= parts_of(work)
    torque = np.zeros((count, 3))
    if rows.special[ROLLING] == 1:
        frame = rows.frame[:count].reshape(count, 3, 3)
        torque = parts_of(work) * np.einsum("ck,ckx->cx", rows.torque[:count], frame)[order]
    return ContactArrays(
        body=np.where(body == len(state.position), FIXED, body),
        point=work.contact_list.place[:count, :3].copy(),
        frame=rows.frame[:count][order].reshape(count, 3, 3),
        gap=rows.gap[:count][order],
        impulse=impulse[order],
        velocity=velocity,
        torque=torque,
        friction=rows.friction[:count][order],
        friction_2=friction_2[order],
    )


def last_problem(
    model: Model, state: State, work: Work, ellipses=None, joint_work=None
) -> ContactProblem:
    """The contact problem of the last step, or of the last part of it; without `joint_work` that of
    the contacts alone.

    Joints of islands that RATTLE moved (solvers/articulated/solve_islands.py) stand in it as they
    are after the step.
    """
    count, tally, rows = int(work.log.info[INFO_CONTACTS]), work.graph.tally, work.rows
    return ContactProblem(
        body=rows.body[:count].copy(),
        frame=rows.frame[:count].copy(),
        arm=rows.arm[:count].copy(),
        friction=rows.friction[:count].copy(),
        bias=rows.bias[:count].copy(),
        gap=rows.gap[:count].copy(),
        mass=work.motion.mass.copy(),
        free=work.motion.free[:, :6].copy(),
        slab_first=rows.slab_first[: tally[TALLY_SLABS] + 1].copy(),
        group_first=rows.group_first[: tally[TALLY_GROUPS] + 1].copy(),
        friction_2=None if ellipses is None else ellipses.friction_of_rows(work)[1],
        joints=joint_blocks(joint_work, work.motion.mass, int(tally[TALLY_GROUPS])),
        surface=last_surface(rows, count),
    )


def last_surface(rows, count: int) -> np.ndarray | None:
    """Velocities of surfaces along the tangents (nc, 2); None if none moves."""
    if rows.special[MOVING] == 0:
        return None
    tangents = rows.frame[:count, 3:].reshape(count, 2, 3)
    return np.einsum("ckx,cx->ck", tangents, rows.surface[:count])


def last_impulse(problem: ContactProblem, work: Work, joint_work=None) -> np.ndarray:
    """(block_count, 3) impulses of the contacts and joints of last_problem()."""
    contacts = work.rows.impulse[: problem.contact_count]
    if problem.joints is None:
        return contacts.copy()
    return np.vstack([contacts, block_impulses(problem.joints, joint_work.rows)])
