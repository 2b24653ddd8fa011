"""Reading recordings, and running them again to see whether every step comes out the same."""

import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import choice
from drystone.world import joint_edits
from drystone.world.body import Body
from drystone.world.io import serialize as to
from drystone.world.io.checkpoint import world_from_image
from drystone.world.io.recorder import FORMAT, FRAME, VERSION, WRITTEN
from drystone.world.io.serialize_forces import restore_force
from drystone.world.io.serialize_joints import change_joint, restore_joint
from drystone.world.world import World

SETTABLE = (
    "position", "orientation", "velocity", "spin", "force", "torque", "mass", "inertia", "asleep",
    "name",
)  # fmt: skip

# Steps in one go during a replay; between two edits it makes no difference.
BLOCK = 256


@dataclass(frozen=True)
class Replay:
    """What came of running a recording again."""

    path: Path
    world: World  # at the end of the replay
    steps: int  # run again
    verified: bool  # every hash was compared and is equal
    first_difference: int | None  # step after which the state is not that of the recording
    complaint: str = ""  # what differs, for people

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
        return _replay(recording, verify, progress)


class Recording:
    """A recording on disk, finished or still growing; `refresh()` takes in what is new.

    Frames k = 0 ... len - 1 are `every` steps apart.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        if not self.path.is_file():
            raise InputError(f"{self.path}: there is no such file.")
        self._file = None
        try:
            growing = _is_growing(self.path)
            self._file = h5py.File(self.path, "r", libver="latest", swmr=growing)
            self._open()
        except InputError:
            self.close()
            raise
        except Exception as error:  # a damaged file can raise anything
            self.close()
            reason = " ".join(str(error).split())[:200]
            raise InputError(
                f"{self.path}: is damaged or no Drystone recording ({reason})."
            ) from None

    def _open(self):
        attrs = self._file.attrs
        if attrs.get("format") != FORMAT:
            what = attrs.get("format", "an HDF5 file of another program")
            raise InputError(f"{self.path}: is no recording but {what}.")
        if int(attrs["version"]) != VERSION:
            raise InputError(
                f"{self.path}: has format version {int(attrs['version'])}; "
                f"this Drystone reads version {VERSION}."
            )
        self.every, self.dt = int(attrs["every"]), float(attrs["dt"])
        self.first_step = int(attrs["first_step"])
        if self._file["frame"].dtype != FRAME:
            raise InputError(f"{self.path}: its list of frames is of the wrong kind.")
        self.refresh()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def refresh(self) -> None:
        """Look again how far a recording that is being written has come."""
        file = self._file
        if file.swmr_mode:
            for name in reversed(WRITTEN):
                file[name].refresh()
        rows = min(len(file["pose"]), len(file["number"]))
        frames = file["frame"][()]
        ends = frames["first"] + frames["count"]
        whole = (frames["first"] >= 0) & (frames["count"] >= 0) & (ends <= rows)
        self._frames = frames[: len(frames) if whole.all() else int(np.argmin(whole))]
        self.hashes = file["hash"][()]  # (steps,) uint64, after every step

    def __len__(self) -> int:
        return len(self._frames)

    @property
    def steps(self) -> np.ndarray:
        """(frames,) step counts."""
        return self._frames["step"]

    @property
    def times(self) -> np.ndarray:
        """(frames,) [s]"""
        return self.steps * self.dt

    @property
    def kinetic(self) -> np.ndarray:
        """(frames,) [J]"""
        return self._frames["kinetic"]

    @property
    def potential(self) -> np.ndarray:
        """(frames,) [J]"""
        return self._frames["potential"]

    @property
    def contact_counts(self) -> np.ndarray:
        """(frames,)"""
        return self._frames["contacts"]

    @property
    def residuals(self) -> np.ndarray:
        """(frames,) [m/s]"""
        return self._frames["residual"]

    def positions(self, k: int) -> np.ndarray:
        """(n, 3) of the bodies of frame `k` [m]."""
        return self._rows("pose", k)[:, :3]

    def orientations(self, k: int) -> np.ndarray:
        """(n, 4) of the bodies of frame `k`, w, x, y, z."""
        return self._rows("pose", k)[:, 3:]

    def numbers(self, k: int) -> np.ndarray:
        """(n,) which body each row of frame `k` is: `Body.number`."""
        return self._rows("number", k)

    def _rows(self, name, k):
        if not -len(self) <= k < len(self):
            raise InputError(f"{self.path}: there is no frame {k}, only 0 to {len(self) - 1}.")
        first, count = (int(self._frames[part][k]) for part in ("first", "count"))
        return self._file[name][first : first + count]

    def start(self) -> World:
        """The world as it was when the recording began."""
        return world_from_image(self._file["start"][()].tobytes(), str(self.path))

    def bodies(self) -> dict[int, Body]:
        """Every body that ever was in the recording, by its number: for shapes and names."""
        world = self.start()
        found = {body.number: body for body in world.bodies}
        for edit in self.journal():
            if edit["edit"] == "add_body":
                body = _restored_body(world, edit["value"])
                found[body.number] = body
        return found

    def journal(self) -> list[dict]:
        """What a person changed: step, edit, value."""
        lines = self._file["journal"][()].tobytes().split(b"\n")
        try:
            edits = [json.loads(line) for line in lines[:-1]]  # the last is empty, or cut off
        except ValueError:
            edits = [None]
        for edit in edits:
            if not isinstance(edit, dict) or not isinstance(edit.get("step"), int):
                raise InputError(f"{self.path}: its journal is damaged.")
        return edits

    def verify(self) -> Replay:
        """Run it again and compare every step."""
        return _replay(self, True, None)


def _is_growing(path: Path) -> bool:
    """Whether a writer has the file open, or died while it had.

    HDF5 opens such a file only in SWMR mode; but in that mode it waits for ever for the missing
    part of a file that was cut off, so other files, and shorter ones, must not be opened so.
    """
    with open(path, "rb") as file:
        head = file.read(48)  # the superblock, version 3
    if len(head) < 48 or head[:8] != b"\x89HDF\r\n\x1a\n" or head[8] != 3:
        return False
    written = int.from_bytes(head[28:36], "little")
    if path.stat().st_size < written:
        raise InputError(f"{path}: is cut off: {written} bytes were written, fewer are there.")
    return bool(head[11] & 0b101)  # open for writing, SWMR writing


def _replay(recording: Recording, verify: bool, progress) -> Replay:
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
        stop = min(edits[0]["step"] - first if edits else len(wanted), done + BLOCK, len(wanted))
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
    """Do again what a person did."""
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


def _restored_body(world, value) -> Body:
    shape = to.restore_shape(value["shape"], to.from_inline)
    material = to.restore_material(value["material"])
    return to.restore_body(world, value, shape, material, to.restore_start(value["start"]))


def _add_body(world, value):
    body = _restored_body(world, value)
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
