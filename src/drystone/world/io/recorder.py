"""Recordings: everything needed to watch a run, and to run it again bit for bit.

    start           bytes of a saved world (checkpoint.py): where the run began
    frame           one row every so many steps: step, energy, contacts, first row in `pose`
    pose, number    position and orientation (7) of every body of a frame, and its number
    hash            of the state after every step
    journal         JSON lines: what the user changed while it ran, and before which step

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
from drystone.model.materials import Material
from drystone.steppers.step_report import StepReport
from drystone.world.body import Body, FixedBody
from drystone.world.io import serialize as to
from drystone.world.io.checkpoint import world_image
from drystone.world.io.serialize_forces import describe_force
from drystone.world.io.serialize_joints import describe_joint
from drystone.world.world import World

FORMAT, VERSION = "drystone recording", 1

FRAME = np.dtype(
    [
        ("step", "<i8"),
        ("first", "<i8"),  # row of its first body in `pose`
        ("count", "<i8"),  # bodies
        ("kinetic", "<f8"),  # [J]
        ("potential", "<f8"),  # [J]
        ("contacts", "<i8"),  # of the step that led here
        ("residual", "<f8"),  # of that step [m/s]
    ]
)

# In this order they are written out, see Recorder._write_out.
WRITTEN = ("journal", "hash", "number", "pose", "frame")
# What is in memory goes to the file at least so often [s]: as much as a crash can cost.
FLUSH_SECONDS = 0.25
# ... or when this much has gathered [bytes].
FLUSH_BYTES = 4 << 20
# With less than this free on the disk [bytes] a recording ends while it still ends well.
SPARE_BYTES = 8 << 20


def record(world: World, path: str | Path, every: int = 4) -> "Recorder":
    """Record `world` to the HDF5 file `path`, poses every `every` steps; use it in a `with`."""
    return Recorder(world, path, every)


class Recorder:
    """A recording that is being made. `close()` ends it, as does leaving its `with` block."""

    def __init__(self, world: World, path: str | Path, every: int = 4) -> None:
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise InputError(f"every is {every!r}, must be an integer number of steps, at least 1.")
        if world._recorder is not None:
            raise InputError(
                f"this world is being recorded to {world._recorder.path} already; close that first."
            )
        self.path, self.every = Path(path), int(every)
        self._world = world
        image = np.frombuffer(world_image(world), dtype=np.uint8)
        self._first_step = world.step_count
        self._rows = 0  # in `pose`
        self._waiting: dict[str, list] = {name: [] for name in WRITTEN}
        self._bytes, self._flushed = 0, monotonic()
        self._file = _create(self.path, image, self.every, world)
        world._recorder = self
        world._settings = world._settings._replace(hashing=1)
        self._take_frame()
        self._flush()

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left and let go of the world. Closing twice does nothing."""
        if self._file is None:
            return
        self._flush()
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
        world = self._world
        position, orientation = world._poses()
        energy, info = world.energy(), world.info
        frame = np.array(
            [
                (
                    world.step_count, self._rows, len(world), energy.kinetic, energy.potential,
                    info.contacts if info else 0, info.residual if info else 0.0,
                )
            ],
            dtype=FRAME,
        )  # fmt: skip
        self._store("pose", np.hstack([position, orientation]))
        self._store("number", world._build.numbers)
        self._store("frame", frame)
        self._rows += len(world)

    def _flush(self):
        self._guarded(self._write_out)
        self._bytes, self._flushed = 0, monotonic()

    def _write_out(self):
        if shutil.disk_usage(self.path.parent).free < self._bytes + SPARE_BYTES:
            raise OSError("the disk is full")
        # A run may be killed between any two of these. Edits come first and frames last: no hash
        # in the file then depends on an edit that is not, no frame on poses or hashes that are not.
        for name in WRITTEN:
            waiting, self._waiting[name] = self._waiting[name], []
            if waiting:
                dataset = self._file[name]
                rows = np.concatenate(waiting)
                dataset.resize(len(dataset) + len(rows), axis=0)
                dataset[-len(rows) :] = rows
                dataset.flush()

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
                f"{self.path}: the recording cannot go on ({_first_line(error)}). The world is "
                f"unharmed and stands at step {world.step_count}; what was written before can be "
                f"read."
            ) from None

    def _let_go(self):
        self._file = None
        self._world._recorder = None
        self._world._settings = self._world._settings._replace(hashing=0)


def _create(path: Path, image, every: int, world) -> h5py.File:
    try:
        file = h5py.File(path, "w", libver="latest")
        file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
        file.attrs["every"], file.attrs["dt"] = every, world.dt
        file.attrs["first_step"] = world.step_count
        file.create_dataset("start", data=image)
        for name, kind, width, chunk in (
            ("pose", "<f8", (7,), 1024),
            ("number", "<i8", (), 1024),
            ("frame", FRAME, (), 256),
            ("hash", "<u8", (), 1024),
            ("journal", "u1", (), 4096),
        ):
            file.create_dataset(
                name, (0, *width), kind, maxshape=(None, *width), chunks=(chunk, *width)
            )
        file.swmr_mode = True
    except OSError as error:
        raise InputError(
            f"{path}: the recording cannot be written there: {_first_line(error)}."
        ) from None
    return file


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


def _first_line(error) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


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
