"""BVH (Biovision hierarchy): a tree of joints with channels, then a line of numbers a frame.

y points up in the file, z is forwards; inside z is up: (x, y, z) becomes (z, x, y). Rotations are
applied in the order of the channels, about the axes of the joint, the first outermost.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, shown
from drystone.model.files import write_file
from drystone.world.character import quaternions
from drystone.world.character.clips.clip import Clip
from drystone.world.character.clips.files import decoded, guess_unit

POSITIONS = ("Xposition", "Yposition", "Zposition")
ROTATIONS = ("Xrotation", "Yrotation", "Zrotation")
_KNOWN = {name.lower(): name for name in (*POSITIONS, *ROTATIONS)}
MOST_JOINTS = 1000  # a body with fingers and a face has 200
# A bone may change its length by so much of the height, in a file with positions for every joint.
RIGID = 0.01
INWARDS = [2, 0, 1]  # file axes of the inner x, y, z
OUTWARDS = [1, 2, 0]


def read_bvh(content: bytes, path: Path, unit: float | None) -> Clip:
    """The clip in a BVH file."""
    name, lines = path.name, decoded(content, path).splitlines()
    # The format has no comments, but some programs write such lines.
    lines = ["" if line.lstrip().startswith("#") else line for line in lines]
    if not any(line.strip() for line in lines):
        raise InputError(f"{name}: is empty.")
    motion = next((k for k, line in enumerate(lines) if line.strip().upper() == "MOTION"), None)
    tree = _Hierarchy(name, lines[:motion])
    if motion is None:
        raise InputError(f"{name}: has no line MOTION, so it has no frames.")
    frames, dt, row = _heading(name, lines, motion + 1)
    count = sum(map(len, tree.channels))
    # A number takes two bytes with its separator: what cannot be in the file is not asked for.
    if frames * count > len(content) // 2 + 1:
        raise InputError(
            f"{name}: says that it has {frames} frames of {count} numbers, which a file of "
            f"{len(content)} bytes does not hold."
        )
    data = _numbers(name, lines, row, frames, count)
    scale = guess_unit(name, tree.height()) if unit is None else unit
    return _clip(tree, data, dt, scale, path.stem)


class _Hierarchy:
    """The joints of a file, read word by word without recursion: depth costs no stack."""

    def __init__(self, name: str, lines: list[str]) -> None:
        self.file, self.at = name, 0
        self.words = [(word, k) for k, line in enumerate(lines, 1) for word in line.split()]
        self.names: list[str] = []
        self.parents: list[int] = []
        self.offsets: list[tuple] = []
        self.channels: list[tuple] = []
        self.ends: list[tuple[int, tuple]] = []
        if self._next("HIERARCHY").upper() != "HIERARCHY":
            raise InputError(
                f"{name}: begins with {shown(self.words[0][0])}, a BVH file with HIERARCHY."
            )
        if self._next("ROOT").upper() != "ROOT":
            raise InputError(f"{name}: {self._line()} must begin the ROOT.")
        self._read_tree()

    def height(self) -> float:
        """Of the zero pose, in units of the file."""
        y = np.zeros(len(self.names))
        for j, parent in enumerate(self.parents[1:], 1):
            y[j] = y[parent] + self.offsets[j][1]
        tips = [y[j] + end[1] for j, end in self.ends]
        every = np.concatenate((y, tips))
        return float(every.max() - every.min())

    def _read_tree(self) -> None:
        open_joints = [self._begin(-1)]
        while open_joints:
            word, line = self._next("}"), self._line()
            kind = word.upper()
            if kind == "}":
                open_joints.pop()
            elif kind == "JOINT":
                open_joints.append(self._begin(open_joints[-1]))
            elif kind == "END":
                self._end_site(open_joints[-1])
            elif kind == "OFFSET":
                if self.offsets[open_joints[-1]] != ():
                    joint = self.names[open_joints[-1]]
                    raise InputError(f"{self.file}: {line} has a second OFFSET of joint {joint}.")
                self.offsets[open_joints[-1]] = self._three("OFFSET")
            elif kind == "CHANNELS":
                self._read_channels(open_joints[-1])
            else:
                raise InputError(
                    f"{self.file}: {line} has {shown(word)}, must be JOINT, End Site, OFFSET, "
                    f"CHANNELS or a brace."
                )
        if self.at < len(self.words):
            word = self.words[self.at][0]
            extra = "a second ROOT" if word.upper() == "ROOT" else shown(word)
            self.at += 1
            raise InputError(f"{self.file}: {self._line()} has {extra} after the end of the tree.")
        for joint, offset in zip(self.names, self.offsets, strict=True):
            if offset == ():
                raise InputError(f"{self.file}: joint {joint} has no OFFSET.")

    def _begin(self, parent: int) -> int:
        joint, line = self._next("the name of a joint"), self._line()
        while self.at < len(self.words) and self.words[self.at][0] != "{":
            if self.words[self.at][1] != self.words[self.at - 1][1]:
                break  # names may have several words, on one line
            joint += " " + self._next("a name")
        if joint in self.names:
            raise InputError(
                f"{self.file}: {line} has a second joint that is called {shown(joint)}."
            )
        if len(self.names) == MOST_JOINTS:
            raise InputError(f"{self.file}: has more than {MOST_JOINTS} joints.")
        self._brace(f"joint {joint}")
        self.names.append(joint)
        self.parents.append(parent)
        self.offsets.append(())
        self.channels.append(())
        return len(self.names) - 1

    def _end_site(self, joint: int) -> None:
        line = self.words[self.at - 1][1]
        self._next("Site")
        while self.at < len(self.words) and self.words[self.at] not in (("{", line), ("}", line)):
            if self.words[self.at][1] != line:
                break  # some programs name it, on the same line
            self.at += 1
        self._brace("an End Site")
        if self._next("OFFSET").upper() != "OFFSET":
            raise InputError(f"{self.file}: {self._line()} must give the OFFSET of an End Site.")
        self.ends.append((joint, self._three("OFFSET of an End Site")))
        if self._next("}") != "}":
            raise InputError(f"{self.file}: {self._line()} must close the End Site with a brace.")

    def _read_channels(self, joint: int) -> None:
        word = self._next("the number of channels")
        count = int(word) if word.isascii() and word.isdigit() and len(word) < 3 else -1
        if not 0 <= count <= 6:
            raise InputError(
                f"{self.file}: {self._line()} has {shown(word)} channels, must be 0 to 6."
            )
        found: list[str] = []
        for _ in range(count):
            word = self._next("a channel")
            if word.lower() not in _KNOWN:
                raise InputError(
                    f"{self.file}: {self._line()} has the channel {shown(word)}. "
                    f"{did_you_mean(word, _KNOWN.values())}"
                )
            if _KNOWN[word.lower()] in found:
                raise InputError(f"{self.file}: {self._line()} has the channel {word} twice.")
            found.append(_KNOWN[word.lower()])
        self.channels[joint] = tuple(found)

    def _three(self, what: str) -> tuple[float, float, float]:
        found = []
        for _ in range(3):
            word = self._next(f"a number of an {what}")
            value = _float(word)
            if value is None or not np.isfinite(value) or abs(value) > 1e9:
                raise InputError(
                    f"{self.file}: {self._line()} has {shown(word)} in an {what}, must be a number."
                )
            found.append(value)
        return found[0], found[1], found[2]

    def _brace(self, of: str) -> None:
        if self._next("{") != "{":
            raise InputError(f"{self.file}: {self._line()} must open the brace of {of}.")

    def _next(self, wanted: str) -> str:
        if self.at >= len(self.words):
            raise InputError(
                f"{self.file}: the hierarchy ends too early, where {shown(wanted)} should be: a "
                f"brace is not closed, or the file was cut off."
            )
        self.at += 1
        return self.words[self.at - 1][0]

    def _line(self) -> str:
        return f"line {self.words[self.at - 1][1]}"


def _float(word: str) -> float | None:
    try:
        return float(word)
    except ValueError:
        return None


def _heading(name: str, lines: list[str], at: int) -> tuple[int, float, int]:
    """Number of frames, time between two, and the first line of numbers."""
    found = {}
    for wanted in ("Frames:", "Frame Time:"):
        while at < len(lines) and not lines[at].strip():
            at += 1
        line = " ".join(lines[at].split()) if at < len(lines) else ""
        if not line.lower().startswith(wanted.lower()):
            raise InputError(
                f"{name}: line {at + 1} is {shown(line)}, must be {wanted!r} and a number."
            )
        found[wanted] = line[len(wanted) :].strip()
        at += 1
    text, time = found["Frames:"], found["Frame Time:"]
    frames = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else 0
    if frames < 1:
        raise InputError(f"{name}: Frames is {shown(text)}, must be a whole number of 1 or more.")
    dt = _float(time)
    if dt is None or not 1e-6 <= dt <= 1e4:
        raise InputError(
            f"{name}: Frame Time is {shown(time)}, must be the seconds between frames."
        )
    return frames, dt, at


def _numbers(name: str, lines: list[str], at: int, frames: int, count: int) -> np.ndarray:
    """(frames, count) of the lines from `at` on."""
    rows = [(k, line) for k, line in enumerate(lines[at:], at + 1) if line.strip()]
    if len(rows) != frames:
        raise InputError(f"{name}: says that it has {frames} frames, and has {len(rows)}.")
    data = np.empty((frames, count))
    for k, (line, text) in enumerate(rows):
        words = text.split()
        if len(words) != count:
            raise InputError(
                f"{name}: line {line} has {len(words)} numbers, the channels need {count}."
            )
        try:
            data[k] = words
        except ValueError:
            wrong = next(word for word in words if _float(word) is None)
            raise InputError(f"{name}: line {line} has {shown(wrong)}, must be a number.") from None
        if not (np.abs(data[k]) < 1e9).all():
            raise InputError(f"{name}: line {line} has a number that is not finite, or beyond 1e9.")
    return data


def _clip(tree: _Hierarchy, data: np.ndarray, dt: float, unit: float, name: str) -> Clip:
    frames, count = len(data), len(tree.names)
    rotations = np.zeros((frames, count, 4))
    rotations[..., 0] = 1.0
    offsets = np.array(tree.offsets)
    root = np.tile(offsets[0], (frames, 1))
    first = 0
    for j, channels in enumerate(tree.channels):
        place = np.full((frames, 3), np.nan)
        for k, channel in enumerate(channels, first):
            axis = "XYZ".index(channel[0])
            if channel in POSITIONS:
                place[:, axis] = data[:, k]
            else:
                turn = quaternions.about(OUTWARDS[axis], np.radians(data[:, k]))
                rotations[:, j] = quaternions.product(rotations[:, j], turn)
        first += len(channels)
        if j == 0:
            root = np.where(np.isnan(place), root, place)
        elif not np.isnan(place).all():
            offsets[j] = _bone(tree, j, np.where(np.isnan(place), offsets[j], place))
    offsets[0] = 0.0
    return Clip(
        tree.names, tree.parents, unit * offsets[:, INWARDS], unit * root[:, INWARDS],
        quaternions.unit(rotations), dt,
        [(j, unit * np.array(end)[INWARDS]) for j, end in tree.ends],
        name or "clip", unit, tree.channels,
    )  # fmt: skip


def _bone(tree: _Hierarchy, j: int, place: np.ndarray) -> np.ndarray:
    """The offset of a joint whose position is given in every frame: bones are rigid."""
    middle = np.median(place, axis=0)
    moved = float(np.abs(place - middle).max())
    if moved > RIGID * max(tree.height(), 1e-9):
        raise InputError(
            f"{tree.file}: joint {tree.names[j]} is moved by up to {moved:g} units within its "
            f"parent; bones must be rigid."
        )
    return middle


# Writing


def write_bvh(clip: Clip, path) -> None:
    """See Clip.save()."""
    at = 1.0 / clip.unit
    lines = ["HIERARCHY"]
    children = [np.flatnonzero(clip.parents == j).tolist() for j in range(len(clip.names))]
    orders = [_order(clip, j) for j in range(len(clip.names))]
    # Without recursion: a chain of a thousand joints is a clip too.
    waiting: list = [(0, 0)]
    while waiting:
        j, depth = waiting.pop()
        tabs = "\t" * depth
        if j < 0:
            lines.append(f"{tabs}}}")
            continue
        lines += [f"{tabs}{'JOINT' if j else 'ROOT'} {clip.names[j]}", f"{tabs}{{"]
        lines.append(f"{tabs}\tOFFSET {_three(at * clip.offsets[j][OUTWARDS])}")
        lines.append(f"{tabs}\tCHANNELS {len(orders[j])} {' '.join(orders[j])}")
        for end in (end for k, end in clip.ends if k == j):
            lines += [f"{tabs}\tEnd Site", f"{tabs}\t{{"]
            lines += [f"{tabs}\t\tOFFSET {_three(at * end[OUTWARDS])}", f"{tabs}\t}}"]
        waiting.append((-1, depth))
        waiting += [(child, depth + 1) for child in reversed(children[j])]
    order = _depth_first(children)
    columns = np.concatenate([_columns(clip, j, orders[j], at) for j in order], axis=1)
    lines += ["MOTION", f"Frames: {len(clip)}", f"Frame Time: {clip.dt:.9g}"]
    lines += [" ".join(f"{x:.9g}" for x in row) for row in columns.tolist()]
    write_file(path, ("\n".join(lines) + "\n").encode(), "the clip cannot be written there")


def _depth_first(children: list) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        j = waiting.pop()
        order.append(j)
        waiting += reversed(children[j])
    return order


def _order(clip: Clip, j: int) -> tuple[str, ...]:
    """Channels of a joint: its own, or all three rotations where they do not say its motion."""
    own = clip.channels[j]
    turns = tuple(name for name in own if name in ROTATIONS)
    if j == 0:
        places = tuple(name for name in own if name in POSITIONS)
        own = (places if len(places) == 3 else POSITIONS) + turns
    else:
        own = turns
    if len(turns) < 3 and np.abs(clip.rotations[:, j, 1:]).max() > 1e-12:
        own = own[: len(own) - len(turns)] + ("Zrotation", "Yrotation", "Xrotation")
    return own


def _columns(clip: Clip, j: int, order: tuple[str, ...], scale: float) -> np.ndarray:
    """Numbers of a joint: positions in units of the file, rotations in degrees."""
    out = np.zeros((len(clip), len(order)))
    turns = "".join(name[0] for name in order if name in ROTATIONS)
    place = scale * clip.positions[:, OUTWARDS]
    angles = np.zeros((len(clip), 0))
    if len(turns) == 3:
        w, x, y, z = clip.rotations[:, j].T
        turned = Rotation.from_quat(np.stack((y, z, x, w), axis=-1))  # in the axes of the file
        angles = turned.as_euler(turns, degrees=True, suppress_warnings=True)
    k = 0
    for column, name in enumerate(order):
        if name in POSITIONS:
            out[:, column] = place[:, POSITIONS.index(name)]
        elif len(turns) == 3:
            out[:, column] = angles[:, k]
            k += 1
    return out


def _three(v: np.ndarray) -> str:
    return " ".join(f"{x:.9g}" for x in v.tolist())
