"""One time step, start to end. Read this file first.

The scheme of [Anitescu1997] (CLINE 2.49), velocities and impulses as unknowns, positions moved
afterwards. `advance` is the compiled loop over steps. `step_with` is its Python twin for solvers
written in Python: the same stages, called one by one.
"""

from typing import NamedTuple

import numpy as np

from drystone import arrays
from drystone.arrays import (
    COUNTER_KEPT,
    COUNTER_PAIRS,
    INFO_CONTACTS,
    INFO_FAILED_BODY,
    INFO_ISLANDS,
    INFO_NEAR,
    INFO_NONCONVERGED,
    INFO_PENETRATION,
    INFO_PUSHES,
    INFO_RESIDUAL,
    INFO_SWEEPS,
    INFO_TOTAL_SWEEPS,
    INFO_WORST_PENETRATION,
    INFO_WORST_RESIDUAL,
    Model,
    Settings,
    State,
    Work,
)
from drystone.assemble import assemble_rows
from drystone.broadphase import find_pairs, place_shapes
from drystone.clock import ticks
from drystone.commit import find_nonfinite, hash_state, keep_contacts, move_bodies
from drystone.contacts import gather_contacts, number_contacts, select_near
from drystone.drift import displace_bodies, make_room, mark_rough
from drystone.forces import free_twists
from drystone.islands import (
    TALLY_GROUPS,
    TALLY_ISLANDS,
    TALLY_SLABS,
    find_islands,
    order_contacts,
)
from drystone.jit import kernel
from drystone.narrowphase.near import collide_near
from drystone.problem import SolveInfo
from drystone.rest import fall_asleep, wake_touched
from drystone.solvers.nsgs import push_all, solve_rows

STAGES = ("forces", "pairs", "collide", "contacts", "islands", "problem", "solve", "drift", "move")
(_FORCES, _PAIRS, _COLLIDE, _CONTACTS, _ISLANDS, _PROBLEM, _SOLVE, _DRIFT, _MOVE) = range(9)

# Why advance() came back before its steps were done.
DONE, MORE_PAIRS, MORE_SLOTS, MORE_CONTACTS, NOT_FINITE = range(5)


@kernel
def _lap(clock, stage, since):
    now = ticks()
    clock[stage] += now - since
    return now


@kernel
def detect(model, state, settings, work):
    """Stages 1 to 4: free velocities, pairs, contacts. Returns (status, number wanted or found)."""
    shapes, bodies, near, clock = model.shapes, model.bodies, work.near, work.log.clock
    if near.pair.shape[0] < state.counter[COUNTER_PAIRS]:  # a state that was read from a file
        return MORE_PAIRS, state.counter[COUNTER_PAIRS]
    since = ticks()
    free_twists(bodies, state, settings, work.motion)
    since = _lap(clock, _FORCES, since)
    if place_shapes(model, state, settings, work.boxes, work.log.flag):
        wanted = find_pairs(model, state, work.boxes)
        if wanted > state.pair.shape[0]:
            return MORE_PAIRS, wanted
    near_count = 0
    while True:
        near_count = select_near(shapes, bodies.kind, state, work.boxes.box, near)
        since = _lap(clock, _PAIRS, since)
        if near.slot_first[near_count] > near.slot.shape[0]:
            return MORE_SLOTS, near.slot_first[near_count]
        collide_near(shapes, work.boxes, state.pair, state.pair_axis, near, near_count)
        since = _lap(clock, _COLLIDE, since)
        if not wake_touched(shapes.body, bodies.kind, state, near, near_count):
            break
        free_twists(bodies, state, settings, work.motion)  # the woken feel gravity again
    count = number_contacts(near.slot_count, near.contact_first, near_count)
    if count + state.counter[COUNTER_KEPT] > work.touch.body.shape[0]:
        return MORE_CONTACTS, count + state.counter[COUNTER_KEPT]
    gather_contacts(shapes, state, work.motion.turn, near, work.touch, near_count)
    work.log.info[INFO_NEAR] = near_count
    work.log.info[INFO_CONTACTS] = count
    _lap(clock, _CONTACTS, since)
    return DONE, count


@kernel
def pose_problem(model, state, settings, work):
    """Stages 4 and 5: islands, order and rows of the contact problem, warm start applied."""
    info, clock, graph, rows = work.log.info, work.log.clock, work.graph, work.rows
    near_count, count = int(info[INFO_NEAR]), int(info[INFO_CONTACTS])
    body, kind, touch = model.shapes.body, model.bodies.kind, work.touch
    since = ticks()
    find_islands(body, kind, state.pair, work.near, graph, near_count)
    order_contacts(
        body, kind, state.pair, work.near, graph, touch.row_contact, rows, near_count
    )
    info[INFO_ISLANDS] = graph.tally[TALLY_ISLANDS]
    since = _lap(clock, _ISLANDS, since)
    assemble_rows(model.pairing, state, work.motion.mass, touch, rows, count, settings.dt)
    push_all(rows, graph.tally[TALLY_SLABS], work.motion.mass, work.motion.twist)
    _lap(clock, _PROBLEM, since)


@kernel
def finish(model, state, settings, work, sweeps, residual):
    """Stages 6 to 8: displacements, poses, sleep. Returns False if a number is not finite."""
    info, clock, motion, rows = work.log.info, work.log.clock, work.motion, work.rows
    near_count, count = int(info[INFO_NEAR]), int(info[INFO_CONTACTS])
    body, kind = model.shapes.body, model.bodies.kind
    since = ticks()
    mark_rough(motion.rough, rows, count, settings)
    displace_bodies(model.bodies, state, motion, settings.dt)
    pushes = make_room(motion, rows, work.graph.tally[TALLY_SLABS], count, settings)
    since = _lap(clock, _DRIFT, since)
    info[INFO_FAILED_BODY] = find_nonfinite(motion.twist, motion.move, motion.later)
    if info[INFO_FAILED_BODY] >= 0:
        return False
    _report(info, rows.gap, settings, count, sweeps, residual, pushes)
    keep_contacts(body, kind, state, work.near, work.touch, rows, near_count, count)
    move_bodies(state, motion, settings.dt)
    if settings.sleeping == 1:
        fall_asleep(model.bodies, state, settings, work.graph)
    _lap(clock, _MOVE, since)
    return True


@kernel
def _report(info, gap, settings, count, sweeps, residual, pushes):
    deepest = 0.0
    for r in range(count):
        deepest = min(deepest, gap[r])
    info[INFO_RESIDUAL] = residual
    info[INFO_SWEEPS] = sweeps
    info[INFO_PENETRATION] = -deepest
    info[INFO_PUSHES] += pushes
    info[INFO_WORST_RESIDUAL] = max(info[INFO_WORST_RESIDUAL], residual)
    info[INFO_WORST_PENETRATION] = max(info[INFO_WORST_PENETRATION], -deepest)
    info[INFO_TOTAL_SWEEPS] += sweeps
    if not residual <= settings.tolerance:
        info[INFO_NONCONVERGED] += 1


@kernel
def advance(model, state, settings, work, steps):
    """Run up to `steps` steps. Returns (steps done, why it stopped, number wanted)."""
    for done in range(steps):
        status, number = detect(model, state, settings, work)
        if status != DONE:
            return done, status, number
        pose_problem(model, state, settings, work)
        since = ticks()
        sweeps, residual = solve_rows(
            work.rows, work.graph.tally[TALLY_GROUPS], number, work.motion.mass,
            settings.tolerance, settings.max_sweeps, work.motion.twist,
        )  # fmt: skip
        _lap(work.log.clock, _SOLVE, since)
        if not finish(model, state, settings, work, sweeps, residual):
            return done, NOT_FINITE, 0
        if settings.hashing == 1:
            work.log.hashes[done] = hash_state(state)
    return steps, DONE, 0


class StepReport(NamedTuple):
    """What run_steps() tells about the steps that it ran."""

    done: int
    failed: bool  # a number was not finite; the state is that of the last good step
    failed_body: int
    info: SolveInfo  # of the last step
    nonconverged: int  # steps that did not reach the tolerance
    worst_residual: float  # [m/s]
    worst_penetration: float  # [m]
    sweeps: int  # in all steps together
    hashes: np.ndarray  # (done,) uint64 if settings.hashing, else empty


def run_steps(
    model: Model, state: State, work: Work, settings: Settings, count: int
) -> tuple[State, Work, StepReport]:
    """Run `count` steps, making room where a stage asks for it. Nothing is ever dropped."""
    if settings.hashing and len(work.log.hashes) < count:
        work = work._replace(log=work.log._replace(hashes=np.zeros(count, np.uint64)))
    work.log.info[:] = 0.0
    done, hashes = 0, []
    while True:
        ran, status, number = advance(model, state, settings, work, count - done)
        done += ran
        if settings.hashing:
            hashes.append(work.log.hashes[:ran].copy())
        if status in (DONE, NOT_FINITE):
            break
        if status == MORE_PAIRS:
            state, work = arrays.make_pair_room(state, work, int(number))
        elif status == MORE_SLOTS:
            work = arrays.make_slot_room(work, int(number))
        else:
            state, work = arrays.make_contact_room(state, work, int(number))
    info = work.log.info
    report = StepReport(
        done=done,
        failed=status == NOT_FINITE,
        failed_body=int(info[INFO_FAILED_BODY]) if status == NOT_FINITE else -1,
        info=_solve_info(info, settings),
        nonconverged=int(info[INFO_NONCONVERGED]),
        worst_residual=info[INFO_WORST_RESIDUAL],
        worst_penetration=info[INFO_WORST_PENETRATION],
        sweeps=int(info[INFO_TOTAL_SWEEPS]),
        hashes=np.concatenate(hashes) if hashes else np.zeros(0, np.uint64),
    )
    return state, work, report


def _solve_info(info: np.ndarray, settings: Settings) -> SolveInfo:
    residual = float(info[INFO_RESIDUAL])
    return SolveInfo(
        converged=residual <= settings.tolerance,
        iterations=int(info[INFO_SWEEPS]),
        residual=residual,
        contacts=int(info[INFO_CONTACTS]),
        penetration=float(info[INFO_PENETRATION]),
    )


allocate = arrays.allocate
