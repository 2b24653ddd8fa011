"""Recordings as files: frames, hashes and edits, read back, also while they grow."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np

from drystone.errors import InputError
from drystone.model.checks import integer, positive, shown
from drystone.model.files import existing_file
from drystone.model.hdf5 import (
    check_sizes,
    find_dataset,
    open_file,
    read_attribute,
    read_dataset,
    reading,
)
from drystone.model.signatures import public
from drystone.world.body import Body
from drystone.world.io import serialize as to
from drystone.world.io.checkpoint import world_from_image
from drystone.world.io.frames import EARLIER_FRAME, Frame
from drystone.world.io.recorder import ARRAYS, FORMAT, VERSION
from drystone.world.io.seal import SEAL, WRITTEN, Sealer, broken_seal
from drystone.world.world import World

if TYPE_CHECKING:
    from drystone.world.io.replay import Replay

ADDING = ("add_body", "add_fixed", "add_robot")  # edits that bring things with numbers


@public
class Recording:
    """A recording on disk, finished or still growing; `refresh()` takes in what is new.

    Frames k = 0 ... len - 1 are `every` steps apart.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path)
        self._file = None
        try:
            with self._reading():
                growing = _is_growing(self.path)
                self._file = open_file(
                    self.path, self.path.stat().st_size, libver="latest", swmr=growing
                )
                self._check_head()
                self.refresh()
        except BaseException:
            self.close()
            raise

    def _reading(self):
        return reading(self.path, "Drystone recording")

    def _check_head(self):
        file, what = self._file, "an HDF5 file of another program"
        if "format" not in file.attrs or (what := read_attribute(file, "format", str)) != FORMAT:
            raise InputError(f"is no recording but {what}.")
        self.version = read_attribute(file, "version", int)
        if self.version not in (1, VERSION):
            raise InputError(
                f"has format version {self.version}; this Drystone reads versions 1 and {VERSION}."
            )
        self.every, self.dt = (
            integer("its attribute every", read_attribute(file, "every", int), 1),
            positive("its attribute dt", read_attribute(file, "dt", float), "s"),
        )
        first_step = read_attribute(file, "first_step", int)
        self.first_step = integer("its attribute first_step", first_step, 0)
        kinds = {"start": ("u1", ())} | {name: shape[:2] for name, shape in ARRAYS.items()}
        if self.version == 1:
            del kinds["seal"]
        for name, (kind, width) in kinds.items():
            dataset = find_dataset(file, name)
            earlier = self.version == 1 and name == "frame" and dataset.dtype == EARLIER_FRAME
            right = dataset.dtype == np.dtype(kind) or earlier
            if not right or dataset.shape[1:] != width or not dataset.ndim:
                raise InputError(f"its array {name} is of the wrong kind.")
            if dataset.id.get_create_plist().get_nfilters():
                raise InputError(f"its array {name} is packed, which no recording is.")

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    @property
    def _open(self) -> h5py.File:
        if self._file is None:
            raise InputError(f"{self.path}: the recording was closed; open it again.")
        return self._file

    def refresh(self) -> None:
        """Take in what was written since; for a recording that is still growing."""
        file = self._open
        with self._reading():
            if file.swmr_mode:
                for name in ("seal", *reversed(WRITTEN)):
                    if name in file:
                        file[name].refresh()
                check_sizes(file, self.path.stat().st_size)
            rows = min(len(file["pose"]), len(file["number"]))
            frames = read_dataset(file["frame"])
            first, count = frames["first"], frames["count"]
            whole = (first >= 0) & (count >= 0) & (first <= rows - count)
            self._frames = frames[: len(frames) if whole.all() else int(np.argmin(whole))]
            self.hashes = read_dataset(file["hash"])  # (steps,) uint64, after every step

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
    def body_counts(self) -> np.ndarray:
        """(frames,) bodies"""
        return self._frames["count"]

    @property
    def residuals(self) -> np.ndarray:
        """(frames,) [m/s]"""
        return self._frames["residual"]

    @property
    def joint_errors(self) -> np.ndarray:
        """(frames,) largest position error of a joint [m]; NaN if the recording does not say."""
        return self._told("joint_error")

    @property
    def energy_made(self) -> np.ndarray:
        """(frames,) by the step, in islands with joints [J]; NaN if the recording does not say."""
        return self._told("energy_made")

    def _told(self, name: str) -> np.ndarray:
        frames = self._frames
        return frames[name] if name in frames.dtype.names else np.full(len(frames), np.nan)

    def positions(self, k: int) -> np.ndarray:
        """(n, 3) of the bodies of frame `k` [m]."""
        return self._rows("pose", k)[:, :3]

    def orientations(self, k: int) -> np.ndarray:
        """(n, 4) of the bodies of frame `k`, w, x, y, z."""
        return self._rows("pose", k)[:, 3:]

    def numbers(self, k: int) -> np.ndarray:
        """(n,) which body each row of frame `k` is: `Body.number`."""
        return self._rows("number", k)

    def frame(self, k: int) -> Frame:
        """Frame `k` as it was recorded."""
        k = self._number_of(k)
        return Frame(self._frames[k : k + 1], self._rows("pose", k), self._rows("number", k))

    def _number_of(self, k) -> int:
        """0 ... of a frame, which may be counted from the last one as -1."""
        number = integer(f"{self.path}: frame", k)
        if not -len(self) <= number < len(self):
            raise InputError(
                f"{self.path}: there is no frame {shown(k)}, only 0 to {len(self) - 1}."
            )
        return number % len(self)

    def _rows(self, name, k):
        k = self._number_of(k)
        first, count = (int(self._frames[part][k]) for part in ("first", "count"))
        return self._between(name, first, first + count)

    def _between(self, name, first, end):
        with self._reading():
            return self._open[name][first:end]

    def start(self) -> World:
        """The world as it was when the recording began."""
        return world_from_image(self._start_image(), str(self.path))

    def _start_image(self) -> bytes:
        with self._reading():
            return read_dataset(self._open["start"]).tobytes()

    def bodies(self) -> dict[int, Body]:
        """Every body that ever was in the recording, by its number: for shapes and names."""
        from drystone.world.io.replay import apply_edit

        world = self.start()
        # Whatever takes a number is added again, so that links of robots get theirs.
        with self._reading():
            for edit in self.journal():
                if edit["edit"] in ADDING:
                    apply_edit(world, edit, self.path)
        return {body.number: body for body in world.bodies}

    def export(self, path: str | Path, frame: int = -1) -> Path:
        """Write it for another program, by the ending of `path`: .html (plays offline), .glb
        (glTF), .usd, .usda, .usdc, .csv, .parquet, .ply.

        frame   of .ply, which holds one alone; the last if not given
        """
        from drystone.world.export.drawing import drawing_of_recording
        from drystone.world.export.export import export_drawing

        return export_drawing(drawing_of_recording(self), path, self.path.name, frame)

    def _repr_html_(self) -> str:
        """The replay in a cell of a notebook; it still plays when the notebook was saved."""
        from drystone.world.export.notebook import cell_of_recording

        return cell_of_recording(self)

    def __repr__(self) -> str:
        end = self.times[-1] if len(self) else 0.0
        return f"<Recording {str(self.path)!r}: {len(self)} frames up to t = {end:g} s>"

    def journal(self) -> list[dict]:
        """What the user changed: step, edit, value."""
        with self._reading():
            lines = read_dataset(self._open["journal"]).tobytes().split(b"\n")
        try:
            edits = [json.loads(line) for line in lines[:-1]]  # the last is empty, or cut off
        except (ValueError, RecursionError):
            edits = [None]
        for edit in edits:
            if not isinstance(edit, dict) or set(edit) != {"step", "edit", "value"}:
                raise InputError(f"{self.path}: its journal is damaged.")
            if type(edit["step"]) is not int or not isinstance(edit["edit"], str):
                raise InputError(f"{self.path}: its journal is damaged.")
        return edits

    def broken_seal(self) -> str:
        """What was changed or cut off since it was written, in words; "" if nothing was."""
        if self.version == 1:
            return ""  # there were none
        file = self._open
        with self._reading():
            sealer = Sealer(self._start_image(), self.every, self.dt, self.first_step)
            lengths = {name: len(file[name]) for name in WRITTEN}
            return broken_seal(self._seals(), sealer, lengths, self._between)

    @property
    def is_closed(self) -> bool:
        """Whether its writer ended it; if not it grows, or its writer died."""
        seals = self._seals()
        return len(seals) > 0 and bool(seals[-1]["closed"])

    def _seals(self) -> np.ndarray:
        with self._reading():
            return read_dataset(self._open["seal"]) if self.version > 1 else np.zeros(0, SEAL)

    def verify(self) -> "Replay":
        """Run it again and compare every step."""
        from drystone.world.io.replay import replay_recording

        return replay_recording(self, True)


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


def restored_body(world, value) -> Body:
    """The body of an edit "add_body"."""
    shape = to.restore_shape(value["shape"], to.from_inline)
    material = to.restore_material(value["material"])
    return to.restore_body(world, value, shape, material, to.restore_start(value["start"]))
