"""Replay: a recording is run again from its start, to see whether every step comes out the same."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import choice
from drystone.world import joint_edits
from drystone.world.io import serialize as to
from drystone.world.io.recording import Recording, restored_body
from drystone.world.io.serialize_forces import restore_force
from drystone.world.io.serialize_joints import change_joint, restore_joint
from drystone.world.world import World

SETTABLE = (
    "position", "orientation", "velocity", "spin", "force", "torque", "mass", "inertia", "asleep",
    "name",
)  # fmt: skip

# Steps in one go during a replay; between two edits it makes no difference.
MANY_STEPS = 256


@dataclass(frozen=True)
class Replay:
    """The result of running a recording again."""

    path: Path
    world: World  # at the end of the replay
    steps: int  # run again
    verified: bool  # every hash was compared and is equal
    first_difference: int | None  # step after which the state is not that of the recording
    complaint: str = ""  # what differs, as a sentence

    def __bool__(self) -> bool:
        return self.first_difference is None


def replay(
    path: str | Path,
    verify: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> Replay:
    """Run the recording `path` again from its own start state and edits.

    verify      compare the hash of every step, stop at the first that differs
    progress    called as progress(steps done, steps in all) now and then
    """
    with Recording(path) as recording:
        return replay_recording(recording, verify, progress)


def replay_recording(recording: Recording, verify: bool, progress=None) -> Replay:
    """replay() of an open recording."""
    world = recording.start()
    world._settings = world._settings._replace(hashing=1)
    wanted, first = recording.hashes, recording.first_step
    edits = recording.journal()
    done, different, complaint = 0, None, ""
    while True:
        while edits and edits[0]["step"] <= first + done:
            _apply(world, edits.pop(0), recording.path)
        if done >= len(wanted):
            break
        next_edit = edits[0]["step"] - first if edits else len(wanted)
        stop = min(next_edit, done + MANY_STEPS, len(wanted))
        try:
            got = world._advance(stop - done).hashes
        except DrystoneError as error:
            different, complaint = first + done + 1, str(error)
            break
        if verify and not np.array_equal(got, wanted[done : done + len(got)]):
            k = done + int(np.argmax(got != wanted[done : done + len(got)]))
            different = first + k + 1
            complaint = (
                f"{recording.path}: the state after step {different} (t = "
                f"{different * world.dt:g} s) has the hash {got[k - done]:016x}, recorded is "
                f"{wanted[k]:016x}."
            )
            break
        done += len(got)
        if progress is not None:
            progress(done, len(wanted))
    world._settings = world._settings._replace(hashing=0)
    return Replay(recording.path, world, done, verify and different is None, different, complaint)


def _apply(world, line: dict, path) -> None:
    """Do again what the user did."""
    try:
        edit, value = line["edit"], line["value"]
        _EDITS[choice("edit", edit, _EDITS)](world, value)
    except DrystoneError:
        raise
    except Exception as error:  # a damaged file can raise anything
        raise InputError(f"{path}: its journal is damaged ({error!r}).") from None


def _thing(world, number):
    for thing in (*world._bodies, *world._fixed):
        if thing._number == number:
            return thing
    raise InputError(f"the journal names body {number}, which is not there.")


def _set(world, value):
    number, field, new = value
    setattr(_thing(world, number), choice("field", field, SETTABLE), new)


def _add_body(world, value):
    body = restored_body(world, value)
    world._bodies.append(body)
    world._next_number = body.number
    world._register(body)


def _add_fixed(world, value):
    shape = to.restore_shape(value["shape"], to.from_inline)
    material = to.restore_material(value["material"])
    thing = to.restore_fixed(world, value, shape, material)
    world._fixed.append(thing)
    world._next_number = thing.number
    world._register(thing)


def _restored_joint(world, value):
    return restore_joint(value, {x._number: x for x in (*world._bodies, *world._fixed)})


def _joint(world, index):
    joints = world.joints
    if type(index) is not int or not 0 <= index < len(joints):
        raise InputError(f"the journal names joint {index!r}, which is not there.")
    return joints[index]


def _add_joint(world, value):
    described, collide = value
    world.add_joint(_restored_joint(world, described), bool(collide))


def _set_joint(world, value):
    index, described = value
    joint = _joint(world, index)
    change_joint(joint, _restored_joint(world, described))
    joint_edits.joint_changed(world, joint)


def _set_pair(world, value):
    material_a, material_b, given = value
    world.set_pair(to.restore_material(material_a), to.restore_material(material_b), **given)


def _gravity(world, value):
    world.gravity = value


def _add_force(world, value):
    world.add_force(restore_force(value, lambda number: _thing(world, number)))


def _set_force(world, value):
    index, described = value
    force = world.forces[index]
    new = restore_force(described, lambda number: _thing(world, number))
    for field in dataclasses.fields(force):
        object.__setattr__(force, field.name, getattr(new, field.name))
    world.force_changed(force)


_EDITS = {
    "add_force": _add_force,
    "set_force": _set_force,
    "remove_force": lambda world, index: world.remove(world.forces[index]),
    "set": _set,
    "add_body": _add_body,
    "add_fixed": _add_fixed,
    "remove": lambda world, number: world.remove(_thing(world, number)),
    "exclude": lambda world, pair: world.exclude(*(_thing(world, number) for number in pair)),
    "add_joint": _add_joint,
    "remove_joint": lambda world, index: world.remove(_joint(world, index)),
    "set_joint": _set_joint,
    "set_pair": _set_pair,
    "gravity": _gravity,
    "sync": lambda world, _: world._synced(),
}
