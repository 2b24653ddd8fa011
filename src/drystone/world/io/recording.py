"""Recordings as files: frames, hashes and edits, read back, also while they grow."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import h5py
import numpy as np

from drystone.errors import InputError
from drystone.world.body import Body
from drystone.world.io import serialize as to
from drystone.world.io.checkpoint import world_from_image
from drystone.world.io.recorder import FORMAT, FRAME, VERSION, WRITTEN
from drystone.world.world import World

if TYPE_CHECKING:
    from drystone.world.io.replay import Replay


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
        """Take in what was written since; for a recording that is still growing."""
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
                body = restored_body(world, edit["value"])
                found[body.number] = body
        return found

    def journal(self) -> list[dict]:
        """What the user changed: step, edit, value."""
        lines = self._file["journal"][()].tobytes().split(b"\n")
        try:
            edits = [json.loads(line) for line in lines[:-1]]  # the last is empty, or cut off
        except ValueError:
            edits = [None]
        for edit in edits:
            if not isinstance(edit, dict) or not isinstance(edit.get("step"), int):
                raise InputError(f"{self.path}: its journal is damaged.")
        return edits

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
