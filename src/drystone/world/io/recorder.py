"""Recordings: everything needed to watch a run, and to run it again bit for bit.

    start           bytes of a saved world (checkpoint.py): where the run began
    frame           one row every so many steps: step, energy, contacts, first row in `pose`
    pose, number    position and orientation (7) of every body of a frame, and its number
    hash            of the state after every step
    journal         JSON lines: what the user changed while it ran, and before which step
    seal            how much was in the file at each flush, with a digest of it (seal.py)

The file is in HDF5's SWMR mode: others can read it while it grows, and after a crash it holds all
up to the last flush.
"""

import json
import os
import shutil
from pathlib import Path
from time import monotonic
from typing import Any

import h5py
import numpy as np

from drystone.constraints.joints.joint import Joint
from drystone.errors import InputError, SimulationError
from drystone.forces.force import Element
from drystone.model.checks import of_kind, shown
from drystone.model.files import as_path, existing_file, reason, write_file
from drystone.model.hdf5 import write_attributes
from drystone.model.materials import Material
from drystone.model.signatures import public
from drystone.steppers.step_report import StepReport
from drystone.world.body import Body, FixedBody
from drystone.world.io import serialize as to
from drystone.world.io.checkpoint import world_image
from drystone.world.io.frames import FRAME, frame_of
from drystone.world.io.seal import SEAL, WRITTEN, Sealer
from drystone.world.io.serialize_forces import describe_force
from drystone.world.io.serialize_joints import describe_joint
from drystone.world.world import World

FORMAT, VERSION = "drystone recording", 2  # 1 had no seals

# Arrays that grow: the kind of their numbers, their width, and rows in a chunk.
ARRAYS = {
    "pose": ("<f8", (7,), 1024),
    "number": ("<i8", (), 1024),
    "frame": (FRAME, (), 256),
    "hash": ("<u8", (), 1024),
    "journal": ("u1", (), 4096),
    "seal": (SEAL, (), 256),
}
# What is in memory goes to the file at least so often [s]: as much as a crash can cost.
FLUSH_SECONDS = 0.25
# ... or when this much has gathered [bytes].
FLUSH_BYTES = 4 << 20
# With less than this free on the disk [bytes] a recording ends while it still ends well.
SPARE_BYTES = 8 << 20

_IN_USE: set[str] = set()  # files that this process is recording to


@public
def record(world: World, path: str | Path, every: int = 4) -> "Recorder":
    """Record `world` to the HDF5 file `path`, poses every `every` steps; use it in a `with`."""
    return Recorder(world, path, every)


@public
class Recorder:
    """A recording that is being made. `close()` ends it, as does leaving its `with` block."""

    def __init__(self, world: World, path: str | Path, every: int = 4) -> None:
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise InputError(
                f"every is {shown(every)}, must be an integer number of steps, at least 1."
            )
        of_kind("world", world, World, "a World")
        if world._recorder is not None:
            raise InputError(
                f"this world is being recorded to {world._recorder.path} already; close that first."
            )
        self.path, self.every = as_path(path), int(every)
        self._place = os.path.realpath(self.path)
        if self._place in _IN_USE:
            raise InputError(f"{self.path}: another world is being recorded there; close that.")
        self._world = world
        # A replay is told in every step what muscles did.
        image = world_image(world, characters=False)
        self._first_step = world.step_count
        self._rows = 0  # in `pose`
        self._waiting: dict[str, list] = {name: [] for name in WRITTEN}
        self._bytes, self._flushed = 0, monotonic()
        self._sealer = Sealer(image, self.every, world.dt, world.step_count)
        self._take_frame()
        self._file = _create(self.path, image, self.every, world, self._take_rows(False))
        _IN_USE.add(self._place)
        world._recorder = self
        world._settings = world._settings._replace(hashing=1)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and let go of the world. Closing twice does nothing."""
        if self._file is None:
            return
        self._guarded(lambda: self._write_out(closed=True))
        if self._file is not None:
            self._guarded(self._file.close)
            self._let_go()

    # Called by the world

    def before(self, count: int) -> int:
        """How many of `count` steps may run in one go."""
        return min(count, self.every - (self._world.step_count - self._first_step) % self.every)

    def after(self, report: StepReport) -> None:
        """Take up what these steps brought."""
        self._store("hash", report.hashes)
        if report.done and (self._world.step_count - self._first_step) % self.every == 0:
            self._take_frame()
        if self._bytes > FLUSH_BYTES or monotonic() - self._flushed > FLUSH_SECONDS:
            self._flush()

    def note(self, edit: str, value: Any) -> None:
        """Write down what the user changes, before it is done."""
        line = {"step": self._world.step_count, "edit": edit, "value": _plain(value)}
        text = json.dumps(line).encode() + b"\n"
        self._store("journal", np.frombuffer(text, dtype=np.uint8))

    # Inside

    def _store(self, name, rows):
        if len(rows):
            self._waiting[name].append(rows)
            self._bytes += rows.nbytes

    def _take_frame(self):
        for name, rows in frame_of(self._world, self._rows)._asdict().items():
            self._store(name, rows)
        self._rows += len(self._world)

    def _flush(self):
        self._guarded(self._write_out)
        self._bytes, self._flushed = 0, monotonic()

    def _write_out(self, closed=False):
        if shutil.disk_usage(self.path.parent).free < self._bytes + SPARE_BYTES:
            raise OSError("the disk is full")
        # A run may be killed between any two of these. Edits come first, frames and their seal
        # last: no hash in the file then depends on an edit that is not, no frame on poses or
        # hashes that are not.
        for name, rows in self._take_rows(closed).items():
            dataset = self._file[name]
            dataset.resize(len(dataset) + len(rows), axis=0)
            dataset[-len(rows) :] = rows
            dataset.flush()

    def _take_rows(self, closed) -> dict[str, np.ndarray]:
        """What waits, by the array that it goes to, in the order of writing."""
        waiting, self._waiting = self._waiting, {name: [] for name in WRITTEN}
        rows = {name: np.concatenate(parts) for name, parts in waiting.items() if parts}
        return rows | {"seal": self._sealer.row(rows, closed)} if rows or closed else rows

    def _guarded(self, action):
        """Do something with the file; if that fails the recording ends, the world does not."""
        try:
            action()
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            world, file = self._world, self._file
            self._let_go()
            if file is not None:
                _abandon(file)
            raise SimulationError(
                f"{self.path}: the recording cannot go on ({reason(error)}). The world is "
                f"unharmed and stands at step {world.step_count}; what was written before can be "
                f"read."
            ) from None

    def _let_go(self):
        self._file = None
        _IN_USE.discard(self._place)
        self._world._recorder = None
        self._world._settings = self._world._settings._replace(hashing=0)


def _create(path: Path, image: bytes, every: int, world, rows: dict) -> h5py.File:
    """The file with its first frame, open for more.

    It is made in memory and written by ourselves: HDF5, which meets a full disk while it makes a
    file, brings down the process at its end; and an older recording of that name stays until then.
    """
    with h5py.File("new", "w", driver="core", backing_store=False, libver="latest") as file:
        write_attributes(file, format=FORMAT, version=VERSION, every=every, dt=world.dt)
        write_attributes(file, first_step=world.step_count)
        file.create_dataset("start", data=np.frombuffer(image, dtype=np.uint8))
        for name, (kind, width, chunk) in ARRAYS.items():
            dataset = file.create_dataset(
                name, (0, *width), kind, maxshape=(None, *width), chunks=(chunk, *width)
            )
            if name in rows:
                dataset.resize(len(rows[name]), axis=0)
                dataset[:] = rows[name]
        file.flush()
        fresh = file.id.get_file_image()
    write_file(path, fresh, "the recording cannot be written there")
    try:
        opened = h5py.File(existing_file(path), "r+", libver="latest")
    except OSError as error:
        raise _not_written(path, error) from None
    try:
        opened.swmr_mode = True
    except (OSError, RuntimeError, ValueError) as error:
        _abandon(opened)
        raise _not_written(path, error) from None
    return opened


def _not_written(path: Path, error: Exception) -> InputError:
    return InputError(f"{path}: the recording cannot be written there: {reason(error)}.")


def _abandon(file) -> None:
    """Close a file that can no longer be written.

    HDF5 would try once more to write what it holds, fail, and bring down the whole process
    when the file is freed. So its descriptor is first redirected to where writing always works.
    """
    try:
        sink = os.open(os.devnull, os.O_RDWR)
        os.dup2(sink, file.id.get_vfd_handle())
        os.close(sink)
        file.close()
    except (OSError, RuntimeError, ValueError):
        _ABANDONED.append(file)


_ABANDONED: list = []  # files that could not even be closed: freeing them is not safe


def _plain(value):
    """An edit as JSON holds it."""
    if isinstance(value, Body | FixedBody):
        described = to.describe_body(value) if isinstance(value, Body) else to.describe_fixed(value)
        described["shape"] = to.describe_shape(value._shape, to.inline)
        described["material"] = to.describe_material(value._material)
        if isinstance(value, Body):
            described["start"] = to.describe_start(value._start)
        return described
    if isinstance(value, Joint):
        return describe_joint(value)
    if isinstance(value, Element):
        return describe_force(value)
    if isinstance(value, Material):
        return to.describe_material(value)
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value
