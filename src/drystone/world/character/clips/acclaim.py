"""ASF and AMC (Acclaim), as the CMU database has them: a skeleton, and in another file its motion.

A bone begins where its parent ends, and turns there: bone j is a joint of the clip, at
direction * length of its parent. Angles are applied in their order about fixed axes, so the last is
outermost: with C the rotation of the axes of a bone and R that of a frame, its joint turns by
C R C* in the axes of the root. y points up in the files, as in bvh.py.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, shown
from drystone.model.files import existing_file, read_file
from drystone.world.character import quaternions
from drystone.world.character.clips.bvh import INWARDS, MOST_JOINTS, OUTWARDS, RIGID
from drystone.world.character.clips.clip import Clip
from drystone.world.character.clips.files import UNITS, decoded, guess_unit

USUAL_RATE = 120.0  # of the CMU database [Hz]; most AMC files do not say theirs
MOST = 1e9  # of any number in a file
TURNS, MOVES, STRETCH = ("rx", "ry", "rz"), ("tx", "ty", "tz"), "l"
AS_SPACE = str.maketrans(",()", "   ")


class Bone(NamedTuple):
    name: str
    end: np.ndarray  # (3,) where its children begin, in units of the file
    axes: np.ndarray  # (4,) C, inner axes
    order: tuple[str, ...]  # of the numbers in a frame


class Skeleton(NamedTuple):
    bones: list[Bone]  # the root first, parents before children
    parents: list[int]
    height: float  # of the zero pose, in units of the file
    length: float  # the number behind "length" of its units
    degrees: bool


def read_amc(content: bytes, path: Path, unit: float | None, skeleton, rate) -> Clip:
    """The clip in an AMC file, with the skeleton of the ASF file given, or of one beside it."""
    where = existing_file(skeleton, "skeleton") if skeleton is not None else find_skeleton(path)
    held = read_asf(read_file(where), where)
    lines = _lines(decoded(content, path))
    degrees, own_rate, first = _flags(path.name, lines, held.degrees)
    data, notes = _frames(path.name, lines, first, held), []
    if rate is None and own_rate is None:
        notes.append(f"its file does not say its rate: taken to be {USUAL_RATE:g} frames a second")
    rate = next(r for r in (rate, own_rate, USUAL_RATE) if r is not None)
    if unit is None:
        more = tuple(base / held.length for base in UNITS.values())
        unit = guess_unit(where.name, held.height, more)
    return _clip(path, held, data, degrees, unit, 1.0 / rate, notes)


def find_skeleton(path: Path) -> Path:
    """02_01.asf, 02.asf, or the only ASF file beside 02_01.amc."""
    beside = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf")
    stem = path.stem.lower()
    for name in (stem, stem.partition("_")[0]):
        for other in beside:
            if other.stem.lower() == name:
                return other
    if len(beside) == 1:
        return beside[0]
    raise InputError(
        f"{path.name}: is a motion without its skeleton, and beside it there "
        f"{'is no ASF file' if not beside else f'are {len(beside)} ASF files'}; "
        f'give skeleton="....asf".'
    )


# The skeleton


def _lines(text: str) -> list[tuple[int, list[str]]]:
    """Number and words of each line that has some."""
    found = []
    for k, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].translate(AS_SPACE).split()
        if words:
            found.append((k, words))
    return found


def read_asf(content: bytes, path: Path) -> Skeleton:
    """The skeleton in an ASF file."""
    name = path.name
    sections: dict[str, list] = {}
    lines = _lines(decoded(content, path))
    if not lines:
        raise InputError(f"{name}: is empty.")
    if not lines[0][1][0].startswith(":"):
        raise InputError(f"{name}: begins with {shown(lines[0][1][0])}, an ASF file with a colon.")
    here: list = []
    for k, words in lines:
        if words[0].startswith(":"):
            key = words[0][1:].lower()
            if key in sections:
                raise InputError(f"{name}: line {k} begins a second part {shown(words[0])}.")
            here = sections[key] = []
        else:
            here.append((k, words))
    for key in ("root", "bonedata", "hierarchy"):
        if key not in sections:
            raise InputError(f"{name}: has no part :{key}, so it is no whole ASF file.")
    length, degrees = _units(name, sections.get("units", []))
    bones = {"root": _root(name, sections["root"])}
    for bone in _bones(name, sections["bonedata"], degrees):
        if bone.name in bones:
            raise InputError(f"{name}: has a second bone that is called {shown(bone.name)}.")
        bones[bone.name] = bone
        if len(bones) > MOST_JOINTS:
            raise InputError(f"{name}: has more than {MOST_JOINTS} bones.")
    order, parents = _tree(name, sections["hierarchy"], bones)
    found = [bones[bone] for bone in order]
    return Skeleton(found, parents, _height(found, parents), length, degrees)


def _units(name: str, lines) -> tuple[float, bool]:
    length, degrees = 1.0, True
    for k, words in lines:
        key = words[0].lower()
        if key == "length":
            (length,) = _numbers(name, k, words[1:2], 1)
            if not length > 1.0 / MOST:
                raise InputError(f"{name}: line {k} has the length {length:g}, must be > 0.")
        elif key == "angle":
            said = words[1].lower() if len(words) > 1 else ""
            if said[:3] not in ("deg", "rad"):
                raise InputError(
                    f"{name}: line {k} has the angle {shown(said)}, must be deg or rad."
                )
            degrees = said.startswith("deg")
    return length, degrees


def _root(name: str, lines) -> Bone:
    order: tuple[str, ...] = ()
    for k, words in lines:
        key = words[0].lower()
        if key == "order":
            order = _order(name, k, words[1:], (*MOVES, *TURNS))
        elif key == "orientation" and _numbers(name, k, words[1:4], 3).any():
            # Programs differ in whether it comes before the motion or after it.
            raise InputError(
                f"{name}: line {k} turns the root of the skeleton, which programs understand in "
                f"different ways; only the orientation 0 0 0 is read."
            )
        elif key == "position" and _numbers(name, k, words[1:4], 3).any():
            raise InputError(
                f"{name}: line {k} moves the root of the skeleton, which programs understand in "
                f"different ways; only the position 0 0 0 is read."
            )
    if not order:
        raise InputError(f"{name}: its root has no order of numbers.")
    return Bone("root", np.zeros(3), np.array((1.0, 0.0, 0.0, 0.0)), order)


def _bones(name: str, lines, degrees: bool) -> list[Bone]:
    found: list[Bone] = []
    said: dict | None = None
    start = 0
    for k, words in lines:
        key = words[0].lower()
        if said is None:
            if key != "begin":
                raise InputError(f"{name}: line {k} has {shown(words[0])}, must begin a bone.")
            said, start = {}, k
        elif key == "begin":
            raise InputError(f"{name}: the bone of line {start} has no end before line {k}.")
        elif key == "end":
            found.append(_bone(name, start, said, degrees))
            said = None
        else:
            said[key] = (k, words[1:])  # what is not known here, such as limits, has no say
    if said is not None:
        raise InputError(f"{name}: the bone of line {start} has no end; the file was cut off.")
    return found


def _bone(name: str, line: int, said: dict, degrees: bool) -> Bone:
    for key in ("name", "direction", "length"):
        if key not in said:
            raise InputError(f"{name}: the bone of line {line} has no {key}.")
    k, words = said["name"]
    if not words:
        raise InputError(f"{name}: line {k} gives no name.")
    own = words[0]
    k, words = said["direction"]
    way = _numbers(name, k, words, 3)
    k, words = said["length"]
    (length,) = _numbers(name, k, words, 1)
    size = float(np.linalg.norm(way))
    if length < 0.0 or (size == 0.0 and length > 0.0):
        raise InputError(f"{name}: bone {own} has no direction, or a length below zero.")
    axes = np.array((1.0, 0.0, 0.0, 0.0))
    if "axis" in said:
        k, words = said["axis"]
        turns = "".join(words[3:4]).lower() or "xyz"
        if sorted(turns) != ["x", "y", "z"]:
            raise InputError(f"{name}: line {k} has the axis {shown(words[3])}, must be like XYZ.")
        angles = _numbers(name, k, words[:3], 3)
        axes = _turned({"xyz".index(c): angles["xyz".index(c)] for c in turns}, degrees)
    k, words = said.get("dof", (line, []))
    order = _order(name, k, words, (*TURNS, *MOVES, STRETCH))
    return Bone(own, way * (length / size if size else 0.0), axes, order)


def _order(name: str, line: int, words: list[str], known: tuple[str, ...]) -> tuple[str, ...]:
    """What the numbers of a bone are, in their order."""
    found: list[str] = []
    for word in words:
        if word.lower() not in known:
            raise InputError(
                f"{name}: line {line} has {shown(word)}. {did_you_mean(word.lower(), known)}"
            )
        if word.lower() in found:
            raise InputError(f"{name}: line {line} has {word} twice.")
        found.append(word.lower())
    return tuple(found)


def _tree(name: str, lines, bones: dict) -> tuple[list[str], list[int]]:
    """Bones in an order with parents first, and the number of each one's parent."""
    above: dict[str, str] = {}
    for k, words in lines:
        if words[0].lower() in ("begin", "end") and len(words) == 1:
            continue
        for word in words:
            if word not in bones:
                raise InputError(
                    f"{name}: line {k} has the bone {shown(word)}. {did_you_mean(word, bones)}"
                )
        for child in words[1:]:
            if child in above or child == "root":
                raise InputError(f"{name}: line {k} hangs {child} up a second time.")
            above[child] = words[0]
    order, parents = ["root"], [-1]
    for j, bone in enumerate(order):  # it grows on the way
        for child in (c for c, parent in above.items() if parent == bone):
            order.append(child)
            parents.append(j)
    lost = next((bone for bone in bones if bone not in order), None)
    if lost is not None:
        raise InputError(f"{name}: bone {lost} does not hang on the root.")
    return order, parents


def _height(bones: list[Bone], parents: list[int]) -> float:
    y = np.zeros(len(bones))  # of the end of each
    for j, parent in enumerate(parents[1:], 1):
        y[j] = y[parent] + bones[j].end[1]
    return float(y.max() - y.min())


def _numbers(name: str, line: int, words: list[str], count: int) -> np.ndarray:
    found = []
    for word in words:
        try:
            value = float(word)
        except ValueError:
            value = np.nan
        if not abs(value) < MOST:
            raise InputError(f"{name}: line {line} has {shown(word)}, must be a number.")
        found.append(value)
    if len(found) != count:
        raise InputError(f"{name}: line {line} has {len(found)} numbers, must have {count}.")
    return np.array(found)


# The motion


def _flags(name: str, lines, degrees: bool) -> tuple[bool, float | None, int]:
    """Whether angles are degrees, frames a second if they are given, and the first line of a frame
    among `lines`."""
    rate = None
    for i, (k, words) in enumerate(lines):
        word = words[0].lower()
        if not word.startswith(":"):
            return degrees, rate, i
        if word in (":degrees", ":radians"):
            degrees = word == ":degrees"
        elif word == ":samples-per-second":
            (rate,) = _numbers(name, k, words[1:], 1)
            if not 1e-4 <= rate <= 1e6:
                raise InputError(f"{name}: line {k} has {rate:g} frames a second.")
    raise InputError(f"{name}: is empty, or has no frames.")


def _frames(name: str, lines, first: int, held: Skeleton) -> list[np.ndarray]:
    """(frames, numbers) of each bone."""
    wanted = {bone.name: len(bone.order) for bone in held.bones if bone.order}
    rows: dict[str, list] = {bone: [] for bone in wanted}
    count, frame = 0, 0
    for k, words in lines[first:]:
        if len(words) == 1 and words[0].isascii() and words[0].isdigit() and len(words[0]) < 16:
            _whole(name, k, count, rows)
            if count and int(words[0]) != frame + 1:
                raise InputError(f"{name}: line {k} has frame {words[0]} after frame {frame}.")
            count, frame = count + 1, int(words[0])
            continue
        own = rows.get(words[0])
        if own is None:
            known = did_you_mean(words[0], rows)
            raise InputError(
                f"{name}: line {k} moves {shown(words[0])}, which its skeleton does not. {known}"
            )
        if len(own) != count - 1:
            what = "twice in a frame" if count else "before the first frame"
            raise InputError(f"{name}: line {k} has bone {words[0]} {what}.")
        own.append(_numbers(name, k, words[1:], wanted[words[0]]))
    _whole(name, lines[-1][0], count, rows)
    if not count:
        raise InputError(f"{name}: has no frames.")
    return [np.reshape(rows.get(b.name, []), (count, len(b.order))) for b in held.bones]


def _whole(name: str, line: int, count: int, rows: dict) -> None:
    """Whether a frame that ends has all bones."""
    lacking = next((bone for bone, own in rows.items() if len(own) < count), None)
    if lacking is not None:
        raise InputError(f"{name}: the frame that ends at line {line} lacks bone {lacking}.")


def _clip(path: Path, held: Skeleton, data, degrees: bool, unit: float, dt: float, notes) -> Clip:
    frames = len(data[0])
    rotations = np.zeros((frames, len(held.bones), 4))
    rotations[..., 0] = 1.0
    offsets = np.zeros((len(held.bones), 3))
    root = np.zeros((frames, 3))
    for j, (bone, parent) in enumerate(zip(held.bones, held.parents, strict=True)):
        numbers = dict(zip(bone.order, data[j].T, strict=True))
        angles = {TURNS.index(w): x for w, x in numbers.items() if w in TURNS}
        turn = _turned(angles, degrees)
        rotations[:, j] = quaternions.product(
            quaternions.product(bone.axes, turn), quaternions.conjugate(bone.axes)
        )
        moved = {w: x for w, x in numbers.items() if w not in TURNS}
        if j == 0:
            for axis, word in enumerate(MOVES):
                root[:, axis] = moved.get(word, 0.0)
            continue
        offsets[j] = held.bones[parent].end
        if moved and np.abs(list(moved.values())).max() > RIGID * max(held.height, 1e-9):
            raise InputError(
                f"{path.name}: bone {bone.name} is moved within its parent, or changes its length; "
                f"bones must be rigid."
            )
    ends = [
        (j, unit * bone.end[INWARDS])
        for j, bone in enumerate(held.bones)
        if j and j not in held.parents and bone.end.any()
    ]
    return Clip(
        [bone.name for bone in held.bones], held.parents, unit * offsets[:, INWARDS],
        unit * root[:, INWARDS], quaternions.unit(rotations), dt, ends, path.stem or "clip", unit,
        notes=notes,
    )  # fmt: skip


def _turned(angles: dict, degrees: bool) -> np.ndarray:
    """Rotations about the axes of the file, each fixed: the last is the outermost."""
    q = np.array((1.0, 0.0, 0.0, 0.0))
    for axis, angle in angles.items():
        turn = quaternions.about(OUTWARDS[axis], np.radians(angle) if degrees else angle)
        q = quaternions.product(turn, q)
    return q
