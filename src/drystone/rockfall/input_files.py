"""Files and folders that a user names: paths that are paths, text that is text."""

import os
from pathlib import Path

from drystone.errors import InputError
from drystone.model.checks import shown


def as_path(what: str, value) -> Path:
    """`value` as a path; anything that cannot be one is refused."""
    try:
        text = os.fsdecode(os.fspath(value))
        os.fsencode(text)
    except Exception:  # no path, a __fspath__ of its own, letters that no disk knows
        raise InputError(f"{what} is {shown(value)}, must be a path.") from None
    if not text or "\0" in text:
        raise InputError(f"{what} is {shown(value)}, which is no path.")
    return Path(text)


def is_file(path: Path) -> bool:
    """Whether there is a file; names that no system takes (too long) are none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def beside(path: Path, suffix: str) -> Path | None:
    """The file of that name with another suffix, in capitals or not; None if there is none."""
    wanted = path.with_suffix(suffix).name.lower()
    exact = path.with_suffix(suffix)
    if is_file(exact):
        return exact
    try:
        found = sorted(file for file in path.parent.iterdir() if file.name.lower() == wanted)
    except OSError:
        return None
    return next((file for file in found if is_file(file)), None)


def read_utf8(path: Path) -> str:
    """The text of a file in UTF-8, with or without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path.name} is not a text file in UTF-8 (byte {error.start}). Save it as UTF-8."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}).") from None


def megabytes(size: float) -> str:
    return f"{size / 1e6:.3g} MB"
