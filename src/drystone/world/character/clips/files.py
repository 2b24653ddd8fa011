"""Clip files: which reader takes a file, the units, and files too large to be clips."""

from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, number, positive, shown
from drystone.model.files import existing_file, read_file

# Larger than any clip: an hour at 120 Hz of 31 joints is 400 MB as text; read_file() would take
# more than this in one piece [bytes].
LARGEST_FILE = 512 << 20

# The CMU database writes lengths in inches, divided by 0.45.
UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "inch": 0.0254, "cmu": 0.0254 / 0.45}
PEOPLE = (1.2, 2.3)  # heights of people, whose logarithms are compared [m]
USUAL = 1.7


def load_clip(path, unit=None, skeleton=None, rate=None):
    """See Clip.load()."""
    path = existing_file(path, "clip")
    rate = None if rate is None else positive("Clip.load: rate", rate, "Hz")
    size = path.stat().st_size
    if size > LARGEST_FILE:
        raise InputError(f"{path.name}: has {size} bytes; no clip needs more than {LARGEST_FILE}.")
    scale = _unit(unit)
    content = read_file(path)
    kind = path.suffix.lower()
    if kind == ".asf":
        raise InputError(f"{path.name}: is a skeleton; load its motion, an AMC file.")
    if kind == ".amc":
        from drystone.world.character.clips.acclaim import read_amc

        return read_amc(content, path, scale, skeleton, rate)
    for what, value in (("skeleton", skeleton), ("rate", rate)):
        if value is not None:
            raise InputError(f"{path.name}: {what} is for AMC files; others have their own.")
    start = content[:64].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"{"):
        from drystone.world.character.clips.deepmimic import read_deepmimic

        return read_deepmimic(content, path, 1.0 if scale is None else scale)
    from drystone.world.character.clips.bvh import read_bvh

    return read_bvh(content, path, scale)


def _unit(unit) -> float | None:
    if unit is None:
        return None
    if isinstance(unit, str):
        if unit not in UNITS:
            raise InputError(
                f"unit is {shown(unit)}, which is unknown. {did_you_mean(unit, UNITS)}"
            )
        return UNITS[unit]
    value = number("unit", unit)
    if not value > 0.0:
        raise InputError(f"unit is {value:g}, must be > 0: the metres in a unit of the file.")
    return value


def guess_unit(name: str, height: float, more: tuple[float, ...] = ()) -> float:
    """The unit, of those known and `more`, in which a skeleton of that height is most like a
    person."""
    if not height > 0.0:
        raise InputError(
            f"{name}: its skeleton has no height, so its unit cannot be guessed; give unit=."
        )
    fits = {u: abs(np.log(height * u / USUAL)) for u in (*UNITS.values(), *more)}
    best = min(fits, key=fits.__getitem__)
    if not PEOPLE[0] <= height * best <= PEOPLE[1]:
        raise InputError(
            f"{name}: its skeleton is {height:g} units high, which is a person in none of "
            f"{', '.join(UNITS)}; give unit=, the metres in one."
        )
    return best


def decoded(content: bytes, path: Path) -> str:
    """The text of a file; names may hold letters of any language."""
    if b"\0" in content[:4096]:
        raise InputError(f"{path.name}: is no text, so it is no BVH file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")
