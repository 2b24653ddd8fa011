"""Snapshots in memory, and copies of worlds: what save() and load() do, in microseconds."""

from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from drystone.constraints.joint_rows import joint_work_of
from drystone.errors import InputError
from drystone.model import capacity
from drystone.model.arrays import COUNTER_CACHED, COUNTER_PAIRS, FLAG_PLACED, State
from drystone.model.checks import shown
from drystone.model.signatures import public
from drystone.solvers.reduced.scratch import robot_scratch_of
from drystone.steppers import time_stepping
from drystone.steppers.driver import grow
from drystone.timestep import MORE_CONTACTS, MORE_PAIRS

# Arrays of the state with spare capacity, and the counter that says how much of it is used.
_COUNTED = {
    "pair": COUNTER_PAIRS, "pair_cached": COUNTER_PAIRS, "pair_axis": COUNTER_PAIRS,
    "cached_point": COUNTER_CACHED, "cached_impulse": COUNTER_CACHED,
}  # fmt: skip
_WHOLE = [(k, name) for k, name in enumerate(State._fields) if name not in _COUNTED]
_PARTS = [(k, _COUNTED[name]) for k, name in enumerate(State._fields) if name in _COUNTED]
_COUNTER = State._fields.index("counter")


@public
class Snapshot:
    """What a world was like at a step, to go back to: `world.restore(snapshot)`.

    It holds poses, velocities, coordinates and commands of robots, what muscles of characters
    follow, forces of the user, sleep, all caches (contacts with their impulses, pairs, joints), and
    the settings of joints and surfaces, so that what follows has the same bits each time.
    """

    __slots__ = (
        "_built", "_arrays", "_settings", "_unspent", "_info", "_time", "_characters", "_inputs",
    )  # fmt: skip

    def __init__(self, built: Any, arrays: tuple, settings: Any, rest: tuple) -> None:
        self._built, self._arrays, self._settings = built, arrays, settings
        self._unspent, self._info, self._time, self._characters, self._inputs = rest

    @property
    def time(self) -> float:
        """Of the world when it was taken [s]."""
        return self._time

    def __repr__(self) -> str:
        return f"<Snapshot at t = {self._time:g} s>"


@public
class Snapshots:
    """snapshot(), restore() and copy() of a world."""

    _build: Any
    _state: Any
    _work: Any
    _settings: Any
    _unspent: float
    _info: Any
    _recorder: Any
    _characters: list
    _inputs: object
    _kept_inputs: Any
    time: Any

    def _synced(self) -> Any:
        raise NotImplementedError

    def snapshot(self) -> Snapshot:
        """The state of this moment, in memory, in microseconds. `restore()` goes back to it."""
        built, state = self._synced(), self._state
        arrays: list = [None] * len(state)
        for k, _ in _WHOLE:
            arrays[k] = state[k].copy()
        for k, counter in _PARTS:
            arrays[k] = state[k][: state.counter[counter]].copy()
        characters = tuple(actor._kept() for actor in self._characters)
        rest = (self._unspent, self._info, self.time, characters, inputs_of(self))
        return Snapshot(built, tuple(arrays), self._settings, rest)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this world: what follows has the same bits as it had then.

        Bodies, fixed things and joints must be those of the snapshot; gravity, what joints were
        set to and velocities of surfaces are restored.
        """
        if not isinstance(snapshot, Snapshot):
            raise InputError(f"restore: {shown(snapshot)} is no Snapshot; take world.snapshot().")
        if self._recorder is not None:
            raise InputError("restore: a recording is running, which could not replay it; stop it.")
        if self._synced() is not snapshot._built:
            raise InputError(
                "restore: the world was edited since the snapshot (bodies, materials, joints or "
                "masses); take a new one after an edit."
            )
        arrays = snapshot._arrays
        counter = arrays[_COUNTER]
        for wanted, status in ((COUNTER_PAIRS, MORE_PAIRS), (COUNTER_CACHED, MORE_CONTACTS)):
            at = "pair" if status == MORE_PAIRS else "cached_point"
            if len(getattr(self._state, at)) < counter[wanted]:
                self._state, self._work = grow(
                    self._state, self._work, status, int(counter[wanted])
                )
        state = self._state
        for k, _ in _WHOLE:
            state[k][...] = arrays[k]
        for k, _ in _PARTS:
            state[k][: len(arrays[k])] = arrays[k]
        self._work.log.flag[FLAG_PLACED] = 0  # what slept then may lie elsewhere now
        self._settings, self._unspent = snapshot._settings, snapshot._unspent
        self._info = snapshot._info
        take_inputs(self, snapshot._inputs)
        for actor, kept in zip(self._characters, snapshot._characters, strict=True):
            actor._take(kept)

    def copy(self) -> Any:
        """Another world of the same bodies, joints and forces, that goes on with the same bits.

        Shapes and materials are shared, which nobody can change; a recording is not copied.
        """
        return copy_world(self)


class Inputs(NamedTuple):
    """What joints and surfaces are set to. `token` is a world's until one of them is set anew."""

    token: object
    tables: tuple  # copies of the arrays of _settable()
    fields: tuple  # of each joint, what it was set to
    surfaces: tuple  # of each thing


def _settable(world) -> tuple:
    """The arrays that joint.set() and surface_velocity write in place."""
    joints, pairing = world._build.model.joints, world._build.model.pairing
    return (
        joints.limit, joints.drive_mode, joints.drive, joints.friction, joints.number,
        pairing.surface, pairing.special,
    )  # fmt: skip


def inputs_of(world) -> Inputs:
    """The inputs of `world` now: those of the last time while nothing was set since."""
    known = world._kept_inputs
    if known is None or known.token is not world._inputs or known.tables[0] is not world._build:
        tables = (world._build, *(array.copy() for array in _settable(world)))
        fields = tuple(vars(joint).copy() for joint in world._joints)
        surfaces = tuple(thing._surface for thing in (*world._fixed, *world._bodies))
        known = world._kept_inputs = Inputs(world._inputs, tables, fields, surfaces)
    return known


def take_inputs(world, kept: Inputs) -> None:
    """Go back to the inputs of a snapshot of this very model."""
    if kept.token is world._inputs:
        return
    for array, value in zip(_settable(world), kept.tables[1:], strict=True):
        array[...] = value
    for joint, fields in zip(world._joints, kept.fields, strict=True):
        for name, value in fields.items():
            object.__setattr__(joint, name, value)
    for thing, surface in zip((*world._fixed, *world._bodies), kept.surfaces, strict=True):
        thing._surface = surface
    if world._joint_work is not None:
        world._joint_work.filled[:] = np.nan
    world._inputs, world._kept_inputs = kept.token, kept


def copy_world(world) -> Any:
    """See Snapshots.copy()."""
    world._synced()
    new = world.__class__.__new__(world.__class__)
    memo: dict = {id(world): new}
    for thing in (*world._bodies, *world._fixed):
        for shared in (thing._shape, thing._material):
            memo[id(shared)] = shared
    model = world._build.model
    # Read alone by every step; joints and masses can be written in place.
    for shared in (model.shapes, model.outlines, model.robots, world._solver, world._space):
        memo[id(shared)] = shared
    left_out = (
        "_work", "_joint_work", "_robot_work", "_recorder", "_loop", "_state", "_implicit_problem",
        "_penetration", "_kept_inputs",
    )  # fmt: skip
    for name, value in vars(world).items():
        new.__dict__[name] = None if name in left_out else deepcopy(value, memo)
    new._build.__dict__.pop("joint_number", None)  # by the identity of joints
    new._state = capacity.for_new_work(world._state)
    new._work = capacity.allocate(new._build.model)
    new._joint_work = joint_work_of(new._build.model.joints, new._build.model.bodies)
    new._robot_work = robot_scratch_of(new._build.model, new._joint_work)
    new._loop, new._elements_stale = time_stepping.Loop(), True
    return new


def same_bits(a: State, b: State) -> bool:
    """Whether two states of one model hold the same bits, spare capacity aside."""
    whole = all(np.array_equal(a[k], b[k]) for k, _ in _WHOLE)
    count = [(k, int(a.counter[c])) for k, c in _PARTS]
    return whole and all(np.array_equal(a[k][:n], b[k][:n]) for k, n in count)
