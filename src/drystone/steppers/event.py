"""stepper="event": steps that end where bodies touch (CLINE 4.1, step 6).

Only contacts that touch take part in a step. If at its end two bodies overlap by more than the
skin, the step is taken back and cut in half, until none do. There the new contacts touch, the next
part of the step begins with their impact, and so on until the whole step is done. Nothing is known
of contacts before they happen, where the default step lets them close within the step but not more.

The answer costs a few collision searches for each digit of the moment of touch.
"""

import numpy as np

from drystone import timestep
from drystone.constraints.last_step import last_problem
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.model import capacity
from drystone.model.arrays import COUNTER_STEP, INFO_CONTACTS, State
from drystone.model.capacity import for_new_work
from drystone.motion.stabilization import TINY
from drystone.solvers.supported_features import solver_name
from drystone.steppers import time_stepping

# A part of the step is cut no further than this share of the whole: 2^-20 of 1/240 s is 4 ns, in
# which even a bullet moves by 4 μm. What then still overlaps is left to the contacts.
LEAST_SHARE = 2.0**-20

# Parts that are tried in one step. A body that rocks or chatters to rest touches ever more often;
# after so many the rest of the step is taken as by default, contacts known before they happen.
# One impact takes up to 40.
MOST_PARTS = 80

FAR = 1e6  # [m], [m/s]: the gap and the bias of a contact that is not to act


def step(world):
    """One step of `world`, in as many parts as it takes: state, work and report."""
    if not world._solver.compiled:
        raise UnsupportedFeature(
            f"stepper 'event' does not support the solver {solver_name(world._solver)!r}; use "
            f"'auto' or 'nsgs'."
        )
    model, settings, state, work = world._build.model, world._settings, world._state, world._work
    forces = Forces(world) if world._forces else None
    begin, first, whole = _copy(state), int(state.counter[COUNTER_STEP]), settings.dt
    done, part, tried = 0.0, whole, 0
    while True:
        old = _copy(state)
        if forces is not None:
            forces.ahead = done
        part_settings = settings._replace(dt=part, hashing=0)
        tried += 1
        cut = tried < MOST_PARTS
        state, work, report, before, through = _take_part(
            world, state, work, part_settings, forces, cut
        )
        if report.failed:
            return _put_back(state, begin), work, report
        after = max(_look(model, state, part_settings), through)
        if cut and after > max(1.0, before) and part > LEAST_SHARE * whole:
            state = _put_back(state, old)
            part = 0.5 * part if tried + 1 < MOST_PARTS else whole - done
            continue
        done += part
        if done >= whole * (1.0 - LEAST_SHARE):
            break
        state.counter[COUNTER_STEP] = first  # one step, whatever its parts
        part = whole - done
    state.counter[COUNTER_STEP] = first + 1
    hashes = [timestep.hash_state(state)] if settings.hashing else []
    return state, work, report._replace(hashes=np.array(hashes, np.uint64))


def _copy(state: State) -> State:
    return State(*(array.copy() for array in state))


def _put_back(state: State, old: State) -> State:
    """`state` as it was, in arrays that keep the room that was made since: scratch has it too."""
    for array, before in zip(state, old, strict=True):
        array[: len(before)] = before
    return state


def _take_part(world, state, work, settings, forces, cut: bool):
    """A step of settings.dt in which, if `cut`, only contacts that touch act.

    Returns state, work, report, the deepest overlap at its start, in skins, and infinity if a body
    has passed through another: by more than its radius, which a look at the end may not see.
    """
    model, joint_work = world._build.model, world._linkage
    state, work = time_stepping.find_contacts(model, state, work, settings, world._linkage, forces)
    timestep.pose_rows(model, state, settings, work, joint_work)
    count, rows = int(work.log.info[INFO_CONTACTS]), work.rows
    gap = rows.gap[:count].copy()
    depth = float((-gap / (rows.skin[:count] + TINY)).max(initial=0.0))
    apart = np.flatnonzero(cut & (gap > rows.skin[:count]))
    rows.gap[apart], rows.bias[apart] = FAR, FAR
    rows.restitution[apart], rows.impulse[apart] = 0.0, 0.0
    timestep.start_rows(state, settings, work, joint_work)
    timestep.rattle(model, state, settings, work, joint_work)
    sweeps, residual = timestep.solve(model, state, settings, work, joint_work)
    timestep.measure_step(work.log.info, work.log.measures, work.rows, work.motion)
    solved = sweeps, residual, solver_name(world._solver)
    result = time_stepping.end_step(model, state, work, settings, joint_work, forces, solved)
    rows.gap[:count] = gap
    way = last_problem(model, state, work).relative(work.motion.move)[:, 0] * settings.dt
    radius = np.append(model.bodies.radius, np.inf)[rows.body[:count]].min(axis=1)
    passed = apart[(gap + way < -radius)[apart]]
    return *result, depth, np.inf if len(passed) else 0.0


def _look(model, state, settings) -> float:
    """The deepest overlap of `state`, in skins; with scratch of its own, for what the step leaves
    behind must not be that of a look."""
    work = capacity.allocate(model)
    _, work = time_stepping.find_contacts(model, for_new_work(state), work, settings)
    touch, count = work.contact_list, int(work.log.info[INFO_CONTACTS])
    radius = np.append(model.bodies.radius, np.inf)[touch.body[:count]].min(axis=1)
    overlap = -touch.place[:count, 6] / (settings.skin * radius + TINY)
    return float(overlap.max(initial=0.0))
