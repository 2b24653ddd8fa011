"""Replay: a recording is run again from its start, to see whether every step comes out the same."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import choice, flag, float_array, function, shown
from drystone.model.hdf5 import reading
from drystone.model.robot_state import ROBOT_STATE
from drystone.model.signatures import public
from drystone.steppers import take_steps
from drystone.world.edits import joint_edits
from drystone.world.io import serialize as to
from drystone.world.io.frames import difference
from drystone.world.io.recording import Recording, restored_body
from drystone.world.io.serialize_forces import restore_force
from drystone.world.io.serialize_joints import change_joint, restore_joint
from drystone.world.io.serialize_robots import restore_robot
from drystone.world.world import World

SETTABLE = (
    "position", "orientation", "velocity", "spin", "force", "torque", "mass", "inertia", "asleep",
    "name", "group", "mask", "material", "surface_velocity",
)  # fmt: skip

# Steps in one go during a replay; between two edits it makes no difference.
MANY_STEPS = 256


@public
@dataclass(frozen=True)
class Replay:
    """The result of running a recording again."""

    path: Path
    world: World  # at the end of the replay
    steps: int  # run again
    verified: bool  # all that is recorded was compared and is the same
    first_difference: int | None  # step after which the state is not that of the recording
    complaint: str = ""  # what differs or is damaged, as a sentence
    unchecked: str = ""  # what could not be compared, as a sentence

    def __bool__(self) -> bool:
        return not self.complaint


@public
def replay(
    path: str | Path,
    verify: bool = True,
    progress: Callable[[int, int], object] | None = None,
) -> Replay:
    """Run the recording `path` again from its own start state and edits.

    verify      compare the hash of every step and every frame, stop at the first that differs
    progress    called as progress(steps done, steps in all) now and then
    """
    verify, progress = flag("verify", verify), function("progress", progress)
    with Recording(path) as recording:
        return replay_recording(recording, verify, progress)


def replay_recording(recording: Recording, verify: bool, progress=None) -> Replay:
    """replay() of an open recording."""
    world = recording.start()
    run = _Run(recording, world, recording.journal())
    complaint = run.wrong_head() if verify else ""
    try:
        world._settings = world._settings._replace(hashing=1)
        if not complaint:
            complaint = run.all_steps(verify, progress)
    finally:
        world._settings = world._settings._replace(hashing=0)
    if verify and not complaint and (broken := recording.broken_seal()):
        complaint = f"{recording.path}: is damaged: {broken}."
    return Replay(
        recording.path, world, run.done, verify and not complaint, run.different, complaint,
        _unchecked(recording) if verify and not complaint else "",
    )  # fmt: skip


def _unchecked(recording: Recording) -> str:
    if recording.version == 1:
        return (
            "Made by a version that sealed nothing: whether its end was cut off, and the contacts "
            "of its first frame, could not be checked."
        )
    if not recording.is_closed:
        return "It was never closed: what followed the last flush is not in it."
    return ""


class _Run:
    """A recording while it is run again."""

    def __init__(self, recording: Recording, world: World, edits: list[dict]) -> None:
        self.recording, self.world, self.edits = recording, world, edits
        self.wanted, self.first = recording.hashes, recording.first_step
        self.done = 0
        self.different: int | None = None

    def wrong_head(self) -> str:
        """What cannot be, as a sentence, before any step is run."""
        recording, first = self.recording, self.first
        steps, last = len(self.wanted), int(max(recording.steps, default=first))
        for name, said, own in (
            ("dt", recording.dt, self.world.dt),
            ("first_step", first, self.world.step_count),
        ):
            if said != own:
                return f"{recording.path}: is damaged: {name} is {said}, of its start it is {own}."
        if last > first + steps:
            return (
                f"{recording.path}: is damaged: it has frames up to step {last}, but the hashes of "
                f"only {steps} steps, up to step {first + steps}."
            )
        if not len(recording):
            return f"{recording.path}: is damaged: it has no frame, and every recording has one."
        if not steps:
            return f"{recording.path}: holds no steps, so that there is nothing to compare."
        return ""

    def all_steps(self, verify: bool, progress) -> str:
        """Run them; returns what differs, as a sentence."""
        frame = 0
        while True:
            if verify and frame < len(self.recording):
                complaint = self.compare_frame(frame)
                if complaint is not None:
                    frame += 1
                if complaint:
                    return complaint
            while self.edits and self.edits[0]["step"] <= self.first + self.done:
                apply_edit(self.world, self.edits.pop(0), self.recording.path)
            if self.done >= len(self.wanted):
                more = verify and frame < len(self.recording)
                return f"{self.recording.path}: has more frames than steps." if more else ""
            complaint = self.advance(verify)
            if complaint:
                return complaint
            if progress is not None:
                progress(self.done, len(self.wanted))

    def compare_frame(self, k: int) -> str | None:
        """What of frame `k` differs; None: it is not yet its turn."""
        step = self.first + k * self.recording.every
        if step != self.first + self.done:
            return None
        recorded = self.recording.frame(k)
        rows = int(recorded.frame[0]["first"])
        wrong = "" if rows == self.rows_before(k) else f"its first row is {rows}"
        wrong = wrong or difference(recorded, self.world, k == 0)
        if not wrong:
            return ""
        self.different = step
        return f"{self.recording.path}: frame {k}, after step {step}, is not as it was: {wrong}."

    def rows_before(self, k: int) -> int:
        return int(self.recording.body_counts[:k].sum())

    def advance(self, verify: bool) -> str:
        """Some steps, up to the next edit or frame; returns what differs."""
        done, every = self.done, self.recording.every
        stop = min(done + MANY_STEPS, len(self.wanted), done + every - done % every)
        if self.edits:
            stop = min(stop, self.edits[0]["step"] - self.first)
        world = self.world
        try:
            with reading(self.recording.path, "Drystone recording"):
                world._synced()
                # Not World._advance(): it would save a checkpoint of a step that fails.
                world._state, world._work, report = take_steps(world, stop - done)
        except DrystoneError as error:
            self.different = self.first + done + 1
            return str(error)
        if report.done:
            world._info = report.info
        got, wanted = report.hashes, self.wanted[done : done + report.done]
        self.done += report.done
        if verify and not np.array_equal(got, wanted):
            k = int(np.argmax(got != wanted))
            self.done, self.different = done + k, self.first + done + k + 1
            return (
                f"{self.recording.path}: the state after step {self.different} (t = "
                f"{self.different * world.dt:g} s) has the hash {got[k]:016x}, recorded is "
                f"{wanted[k]:016x}."
            )
        if report.failed:
            self.different = self.first + self.done + 1
            who = world.bodies[report.failed_body].name if report.failed_body >= 0 else "a body"
            return (
                f"{self.recording.path}: step {self.different} cannot be made again: a number of "
                f"{who} is not finite."
            )
        return ""


def apply_edit(world, line: dict, path) -> None:
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
    if field == "material":
        new = to.restore_material(new)
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
        raise InputError(f"the journal names joint {shown(index)}, which is not there.")
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


def _solver(world, value):
    world.solver = to.restore_solver(value)


def _add_force(world, value):
    world.add_force(restore_force(value, lambda number: _thing(world, number)))


def _set_force(world, value):
    index, described = value
    force = world.forces[index]
    new = restore_force(described, lambda number: _thing(world, number))
    for field in dataclasses.fields(force):
        object.__setattr__(force, field.name, getattr(new, field.name))
    world.force_changed(force)


def _muscles(world, value):
    from drystone.world.character.character import apply_muscles

    apply_muscles(world, value)


def _add_robot(world, value):
    described, base, start, self_collide = value
    robot = restore_robot(described, to.from_inline)
    robot._base = float_array("base", base).reshape(1, 12)
    world.add_robot(robot, q=start, self_collide=self_collide)


def _set_robot(world, value):
    index, name, new = value
    robots = world.robots
    if type(index) is not int or not 0 <= index < len(robots):
        raise InputError(f"the journal names robot {shown(index)}, which is not there.")
    robots[index]._set(choice("field", name, ROBOT_STATE[:-1]), float_array(name, new))


_EDITS = {
    "muscles": _muscles,
    "add_robot": _add_robot,
    "set_robot": _set_robot,
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
    "solver": _solver,
    "sync": lambda world, _: world._synced(),
}
