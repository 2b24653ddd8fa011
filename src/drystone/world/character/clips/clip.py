"""Clip: a skeleton and its poses over time, as motion capture gives them.

Inside, z points up and lengths are in metres. A joint has an axis system of its own; in the zero
pose of the skeleton all of them are those of the world. `rotations` are relative to the parent.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import (
    choice,
    float_array,
    integer,
    listed,
    not_negative,
    number,
    positive,
    shown,
    text,
    vector,
)
from drystone.model.finding import Finding
from drystone.model.signatures import public
from drystone.world.character import quaternions
from drystone.world.character.clips.edits import (
    branch_of,
    mirror_pairs,
    repeat_root,
    resample,
    smooth,
)
from drystone.world.character.clips.floor import find_slope, levelled_root

CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")


@public
class Clip:
    """Poses of a skeleton at equal intervals.

    names       of the joints, the root first and parents before children
    parents     (nj,) number of each joint's parent, -1 for the root
    offsets     (nj, 3) of each joint in its parent's axes [m]
    positions   (n, 3) of the root [m], z up
    rotations   (n, nj, 4) relative to the parent, w x y z
    dt          between two frames [s]
    ends        (joint, offset) of what ends a chain, such as the tip of a toe, in its axes [m]
    name        for sentences and file names
    unit        metres in a unit of the file that it came from
    channels    of each joint in a BVH file, () where there are none; None: all three rotations
    notes       sentences on what its reader took for granted; check() says them
    """

    def __init__(
        self,
        names: Sequence[str],
        parents: Sequence[int] | np.ndarray,
        offsets: ArrayLike,
        positions: ArrayLike,
        rotations: ArrayLike,
        dt: float,
        ends: Sequence[tuple[int, Any]] = (),
        name: str = "clip",
        unit: float = 1.0,
        channels: Sequence[tuple[str, ...]] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self.name = text("Clip: name", name)
        named = listed(f"{name}: names", names, "a list of names")
        self.names = tuple(text(f"{name}: a joint's name", n) for n in named)
        count = len(self.names)
        if not count or len(set(self.names)) < count:
            raise InputError(
                f"{name}: joints are {shown(self.names)}, must have names of their own."
            )
        numbers = listed(f"{name}: parents", parents, "a list of numbers")
        self.parents = np.array(
            [integer(f"{name}: a parent", p, -1, count) for p in numbers], np.int64
        )
        if len(self.parents) != count or self.parents[0] != -1:
            raise InputError(
                f"{name}: parents are {shown(parents)}, must be one a joint, -1 first."
            )
        if (self.parents[1:] < 0).any() or (self.parents >= np.arange(count)).any():
            raise InputError(
                f"{name}: parents are {shown(parents)}, must stand before their children."
            )
        self.offsets = _array(f"{name}: offsets", offsets, (count, 3))
        self.rotations = _array(f"{name}: rotations", rotations, (None, count, 4))
        self.positions = _array(f"{name}: positions", positions, (len(self.rotations), 3))
        if not len(self.rotations):
            raise InputError(f"{name}: has no frames.")
        size = np.linalg.norm(self.rotations, axis=-1)
        if np.abs(size - 1.0).max() > 1e-3:
            raise InputError(f"{name}: rotations must be unit quaternions (w, x, y, z).")
        self.rotations = self.rotations / size[..., None]
        self.dt = positive(f"{name}: dt", dt, "s")
        self.unit = positive(f"{name}: unit", unit)
        self.ends = tuple(_end(name, end, count) for end in listed(f"{name}: ends", ends))
        default = tuple(
            ("Xposition", "Yposition", "Zposition") * (j == 0)
            + ("Zrotation", "Yrotation", "Xrotation")
            for j in range(count)
        )
        self.channels = default if channels is None else _channels(name, channels, count)
        self.notes = tuple(text(f"{name}: a note", n) for n in listed(f"{name}: notes", notes))
        for array in (self.parents, self.offsets, self.rotations, self.positions):
            array.flags.writeable = False

    @staticmethod
    def load(
        path: str | Path,
        unit: float | str | None = None,
        skeleton: str | Path | None = None,
        rate: float | None = None,
    ) -> "Clip":
        """A clip from a BVH file, an AMC file, or a motion of DeepMimic (.txt, .json).

        unit      metres in a unit of the file, or "m", "cm", "mm", "inch", "cmu"; None: guessed
                  from the height of the skeleton (`check()` says so)
        skeleton  of an AMC file: the ASF file; None: 02_01.asf, 02.asf, or the only one beside
                  02_01.amc
        rate      of an AMC file, which mostly does not say it [Hz]; None: 120 (`check()` says so)
        """
        from drystone.world.character.clips.files import load_clip

        return load_clip(path, unit, skeleton, rate)

    def save(self, path: str | Path) -> None:
        """Write a BVH file: y up, in the unit of the clip, with its channels."""
        from drystone.world.character.clips.bvh import write_bvh

        write_bvh(self, path)

    # What there is

    def __len__(self) -> int:
        return len(self.rotations)

    @property
    def duration(self) -> float:
        """From the first frame to the last [s]."""
        return (len(self) - 1) * self.dt

    @property
    def times(self) -> np.ndarray:
        """(n,) of the frames [s]."""
        return self.dt * np.arange(len(self))

    @property
    def height(self) -> float:
        """Of the skeleton in its zero pose, from the lowest to the highest point [m]."""
        at = np.zeros_like(self.offsets)
        for j, parent in enumerate(self.parents[1:], 1):
            at[j] = at[parent] + self.offsets[j]
        tips = [at[j] + end for j, end in self.ends]
        z = np.concatenate((at, np.reshape(tips, (-1, 3))))[:, 2]
        return float(z.max() - z.min())

    def index(self, joint: str) -> int:
        """The number of a joint."""
        return self.names.index(choice(f"{self.name}: joint", joint, self.names))

    def poses(self) -> tuple[np.ndarray, np.ndarray]:
        """(n, nj, 3) positions of the joints [m] and (n, nj, 4) orientations, in the world."""
        at = np.empty((*self.rotations.shape[:2], 3))
        turned = np.empty_like(self.rotations)
        at[:, 0], turned[:, 0] = self.positions, self.rotations[:, 0]
        for j, parent in enumerate(self.parents[1:], 1):
            at[:, j] = at[:, parent] + quaternions.rotate(turned[:, parent], self.offsets[j])
            turned[:, j] = quaternions.product(turned[:, parent], self.rotations[:, j])
        return at, turned

    def check(self) -> list[Finding]:
        """What looks wrong: list of Finding(severity, object, what, fix)."""
        from drystone.world.character.clips.check import check_clip

        return check_clip(self)

    # Other clips made of it

    def resampled(self, rate: float) -> "Clip":
        """With `rate` frames a second: cubic curves through positions and rotations."""
        rate = positive("resampled: rate", rate, "Hz")
        if self.duration * rate > 1e7:
            raise InputError(
                f"resampled: rate is {rate:g} Hz, which makes more than 10 million frames."
            )
        positions, rotations = resample(self, rate)
        return self._with(positions=positions, rotations=rotations, dt=1.0 / rate)

    def trimmed(self, start: float = 0.0, end: float | None = None) -> "Clip":
        """The frames from `start` to `end` [s]; None: to the last."""
        start = not_negative("trimmed: start", start)
        end = self.duration if end is None else positive("trimmed: end", end, "s")
        first, last = round(start / self.dt), min(round(end / self.dt), len(self) - 1)
        if first >= last:
            raise InputError(
                f"trimmed: from {start:g} to {end:g} s there are fewer than two of the "
                f"{len(self)} frames of {self.name}, which lasts {self.duration:g} s."
            )
        part = slice(first, last + 1)
        return self._with(positions=self.positions[part], rotations=self.rotations[part])

    def smoothed(self, cutoff: float = 6.0) -> "Clip":
        """Without what is faster than `cutoff` [Hz]: Butterworth, there and back [Winter2009]."""
        cutoff = positive("smoothed: cutoff", cutoff, "Hz")
        positions, rotations = smooth(self, cutoff)
        return self._with(positions=positions, rotations=rotations)

    def levelled(self) -> "Clip":
        """Turned by up to 3 degrees so that the floor its feet stand on is level, as floors are."""
        slope = find_slope(self)
        if slope is None:
            return self
        positions, root = levelled_root(self, slope)
        rotations = np.concatenate((root[:, None], self.rotations[:, 1:]), axis=1)
        return self._with(positions=positions, rotations=rotations)

    def moved(self, by: ArrayLike = (0, 0, 0), turn: float = 0.0) -> "Clip":
        """Elsewhere: turned by `turn` [rad] about the vertical through the first place of its root,
        then moved `by` [m]. A figure of it stands on a ground that is moved as well."""
        way = np.array(vector("moved: by", by))
        spin = quaternions.about(2, np.array(number("moved: turn", turn)))
        start = self.positions[0]
        rotations = self.rotations.copy()
        rotations[:, 0] = quaternions.product(spin, rotations[:, 0])
        at = start + quaternions.rotate(spin, self.positions - start) + way
        return self._with(positions=at, rotations=rotations)

    def mirrored(self) -> "Clip":
        """Left and right changed: joints keep their names, and do what the other side did.

        The mirror is upright, and stands in the world across the line from side to side.
        """
        other = mirror_pairs(self)
        axis = self._side_axis()
        flip = np.ones(3)
        flip[axis] = -1.0
        turn = np.ones(4)
        turn[[1 + k for k in range(3) if k != axis]] = -1.0
        ends = [(other[j], at * flip) for j, at in self.ends]
        return self._with(
            offsets=self.offsets[other] * flip, positions=self.positions * flip,
            rotations=self.rotations[:, other] * turn, ends=sorted(ends, key=lambda end: end[0]),
        )  # fmt: skip

    def branch(self, joint: str) -> "Clip":
        """The joint and all that hangs on it, as a clip whose root moves as it did."""
        kept = branch_of(self, self.index(joint))
        at, turned = self.poses()
        number = {j: k for k, j in enumerate(kept)}
        rotations = self.rotations[:, kept].copy()
        rotations[:, 0] = turned[:, kept[0]]
        offsets = self.offsets[kept].copy()
        offsets[0] = 0.0
        root = ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation")
        return self._with(
            names=[self.names[j] for j in kept],
            parents=[number.get(int(self.parents[j]), -1) for j in kept],
            offsets=offsets, positions=at[:, kept[0]], rotations=rotations,
            ends=[(number[j], end) for j, end in self.ends if j in number],
            channels=(root, *(self.channels[j] for j in kept[1:])),
        )  # fmt: skip

    def repeated(self, times: int) -> "Clip":
        """A cycle again and again, each from where the one before it ended; z stays.

        Where the pose at its end is not that at its start, they meet halfway.
        """
        times = integer("repeated: times", times, 1, 10_000)
        if times == 1:
            return self
        positions, rotations = repeat_root(self, times)
        return self._with(positions=positions, rotations=rotations)

    def scaled(self, factor: float) -> "Clip":
        """Of a figure that is `factor` times as large."""
        factor = positive("scaled: factor", factor, "")
        ends = [(j, factor * end) for j, end in self.ends]
        return self._with(
            offsets=factor * self.offsets, positions=factor * self.positions, ends=ends
        )

    def __repr__(self) -> str:
        return (
            f"<Clip {self.name!r}: {len(self.names)} joints, {len(self)} frames at "
            f"{1.0 / self.dt:.6g} Hz, {self.duration:.4g} s>"
        )

    # Inside

    def _side_axis(self) -> int:
        """The axis that leads from one side to the other in the zero pose: x or y."""
        other = mirror_pairs(self)
        apart = np.abs(self.offsets - self.offsets[other]).sum(axis=0)[:2]
        return int(apart.argmax())

    def _with(self, **changed: Any) -> "Clip":
        names = (
            "names", "parents", "offsets", "positions", "rotations", "dt", "ends", "name", "unit",
            "channels", "notes",
        )  # fmt: skip
        return Clip(**({name: getattr(self, name) for name in names} | changed))


def _end(name: str, value, count: int) -> tuple[int, np.ndarray]:
    must = "the number of a joint, and an offset"
    pair = listed(f"{name}: an end", value, must)
    if len(pair) != 2:
        raise InputError(f"{name}: an end is {shown(value)}, must be {must}.")
    joint, at = pair
    return integer(f"{name}: an end", joint, 0, count - 1), _array(f"{name}: an end", at, (3,))


def _channels(name: str, value, count: int) -> tuple[tuple[str, ...], ...]:
    rows = listed(f"{name}: channels", value)
    if len(rows) != count:
        raise InputError(f"{name}: channels of {len(rows)} joints, must be those of {count}.")
    return tuple(
        tuple(
            choice(f"{name}: a channel", word, CHANNELS)
            for word in listed(f"{name}: channels", row)
        )
        for row in rows
    )


def _array(what: str, value, shape: tuple) -> np.ndarray:
    array = np.array(float_array(what, value), dtype=np.float64)
    fits = array.ndim == len(shape) and all(
        want is None or want == got for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{what} have shape {array.shape}, must be ({wanted}).")
    if not np.isfinite(array).all():
        raise InputError(f"{what} have a number that is not finite.")
    return np.ascontiguousarray(array)
