"""stepper="event": steps that end where bodies touch (CLINE 4.1, step 6).

Only contacts that touch take part in a step. If at its end two bodies overlap by more than the
skin, the step is taken back and cut in half, until none do. There the new contacts touch, the next
part of the step begins with their impact, and so on until the whole step is done. Nothing is known
of contacts before they happen, where the default step lets them close within the step but not more.

The answer costs a few collision searches for each digit of the time of impact.
"""

import numpy as np

from drystone.constraints.last_step import last_problem
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.model import capacity
from drystone.model.arrays import COUNTER_STEP, INFO_CONTACTS, State
from drystone.model.capacity import for_new_work
from drystone.model.state_hash import hash_state
from drystone.motion.stabilization import TINY
from drystone.solvers.supported_features import solver_name
from drystone.steppers.driver import Step

# A part of the step is cut no further than this share of the whole: 2^-20 of 1/240 s is 4 ns, in
# which even a bullet moves by 4 μm. What then still overlaps is left to the contacts.
LEAST_SHARE = 2.0**-20

# Parts that are tried in one step. A body that rocks or chatters to rest touches ever more often;
# after so many the rest of the step is taken as by default, contacts known before they happen.
# One impact takes up to 40.
MOST_PARTS = 80

FAR = 1e6  # [m], [m/s]: the gap and the bias of a contact that is not to act


def take_steps(world, count: int):
    """One step of `world`, in as many parts as it takes: state, work and report."""
    if not world._solver.compiled:
        raise UnsupportedFeature(
            f"stepper 'event' does not support the solver {solver_name(world._solver)!r}; use "
            f"'auto' or 'nsgs'."
        )
    model, settings, state, work = world._build.model, world._settings, world._state, world._work
    external = Forces(world) if world._forces else None
    begin, first, whole = _copy(state), int(state.counter[COUNTER_STEP]), settings.dt
    done, part, tried = 0.0, whole, 0
    while True:
        old = _copy(state)
        if external is not None:
            external.ahead = done
        part_settings = settings._replace(dt=part, hashing=0)
        tried += 1
        cut = tried < MOST_PARTS
        state, work, report, before, through = _take_part(
            world, state, work, part_settings, external, cut
        )
        if report.failed:
            return _put_back(state, begin), work, report
        after = max(_deepest_overlap(model, state, part_settings), through)
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
    hashes = [hash_state(state)] if settings.hashing else []
    return state, work, report._replace(hashes=np.array(hashes, np.uint64))


def _copy(state: State) -> State:
    return State(*(array.copy() for array in state))


def _put_back(state: State, old: State) -> State:
    """`state` as it was, in arrays of the capacity that they have now: scratch has it too."""
    for array, before in zip(state, old, strict=True):
        array[: len(before)] = before
    return state


class _Part(Step):
    """A part of the step in which, if it may be `cut`, only contacts that touch act."""

    cut: bool

    def constraints(self):
        super().constraints()
        rows, count = self.work.rows, int(self.work.log.info[INFO_CONTACTS])
        self.gap = rows.gap[:count].copy()
        self.depth = float((-self.gap / (rows.skin[:count] + TINY)).max(initial=0.0))
        apart = self.apart = np.flatnonzero(self.cut & (self.gap > rows.skin[:count]))
        rows.gap[apart], rows.bias[apart] = FAR, FAR
        rows.restitution[apart], rows.impulse[apart] = 0.0, 0.0


def _take_part(world, state, work, settings, external, cut: bool):
    """A step of settings.dt in which, if `cut`, only contacts that touch act.

    Returns state, work, report, the deepest overlap at its start, in skins, and infinity if a body
    has passed through another: by more than its radius, which a collision search at the end may not
    see.
    """
    model = world._build.model
    part = _Part(model, state, work, settings, world._joint_work, external)
    part.cut = cut
    state, work, report = part.run()
    rows, gap, count = work.rows, part.gap, len(part.gap)
    rows.gap[:count] = gap
    moved = last_problem(model, state, work).relative(work.motion.move)[:, 0] * settings.dt
    radius = np.append(model.bodies.radius, np.inf)[rows.body[:count]].min(axis=1)
    passed = part.apart[(gap + moved < -radius)[part.apart]]
    return state, work, report, part.depth, np.inf if len(passed) else 0.0


def _deepest_overlap(model, state, settings) -> float:
    """The deepest overlap of `state`, in skins; with scratch of its own, for what the step leaves
    behind must not be that of another collision search."""
    search = Step(model, for_new_work(state), capacity.allocate(model), settings)
    search.run_until("contacts")
    work = search.work
    contact_list, count = work.contact_list, int(work.log.info[INFO_CONTACTS])
    radius = np.append(model.bodies.radius, np.inf)[contact_list.body[:count]].min(axis=1)
    overlap = -contact_list.place[:count, 6] / (settings.skin * radius + TINY)
    return float(overlap.max(initial=0.0))
