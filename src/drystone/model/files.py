"""Paths that a user gave, and files that are written whole or not at all."""

import os
import re
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from drystone.errors import InputError
from drystone.model.checks import shown

MOST_BYTES = 2 * 2**30  # of a file that is read as a whole


def as_path(value, who: str = "") -> Path:
    """`value` as a Path; `who` begins the sentence if it is none."""
    start = f"{who}: " if who else ""
    if not isinstance(value, str | os.PathLike):
        raise InputError(f"{start}the file is {shown(value)}, must be a text or a pathlib.Path.")
    try:
        name = os.fspath(value)
        if isinstance(name, str) and name and b"\0" not in os.fsencode(name):
            return Path(name)
    except Exception:  # of a __fspath__ of its own; letters that no disk knows
        pass
    raise InputError(f"{start}the file is {shown(value)}, which is not the name of a file.")


def optional_path(value, who: str = "") -> Path | None:
    return None if value is None else as_path(value, who)


def existing_file(value, who: str = "") -> Path:
    """The path of an ordinary file that is there."""
    path = as_path(value, who)
    start = f"{who}: {path}" if who else f"{path}"
    try:
        kind = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{start}: there is no such file.") from None
    except OSError as error:
        raise InputError(f"{start}: cannot be read: {reason(error)}.") from None
    if not stat.S_ISREG(kind):
        what = "a folder" if stat.S_ISDIR(kind) else "a device or pipe"
        raise InputError(f"{start}: is {what}, must be a file.")
    return path


def read_file(path: Path, who: str = "") -> bytes:
    """All bytes of existing_file(path)."""
    path = existing_file(path, who)
    start = f"{who}: {path}" if who else f"{path}"
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:  # one with holes takes no room on the disk
            raise InputError(
                f"{start}: has {size / 2**30:.1f} GiB; files of more than {MOST_BYTES >> 30} GiB "
                f"are not read."
            )
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{start}: cannot be read: {reason(error)}.") from None


def write_file(value, data: bytes, failure: str) -> Path:
    """Write a whole file; an older one of that name is replaced only by a complete one.

    failure   what the sentence says if it fails, such as "the world cannot be saved there"

    A file that is linked to is replaced where it lies. What is no ordinary file, such as
    /dev/full, is written to as it is, for to replace it would remove a device.
    """
    path = as_path(value)
    try:
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise InputError(f"{path}: {failure}: it is a folder.")
        if target.exists() and not target.is_file():
            with open(target, "wb") as file:
                file.write(data)
        else:
            _replace_file(target, data)
    except OSError as error:
        raise InputError(f"{path}: {failure}: {reason(error)}.") from None
    return path


def write_text(value, text: str) -> None:
    """write_file() of a text, in a folder that is made if it is not there."""
    path = as_path(value)
    make_folder(path.parent, "the folder cannot be made")
    write_file(path, text.encode(), "it cannot be written there")


def make_folder(path: Path, failure: str) -> None:
    """The folder and those above it."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: {failure}: {reason(error)}.") from None


def reason(error: BaseException) -> str:
    """The first line of what an error says, without a full stop."""
    text = getattr(error, "strerror", None) or str(error)
    said = re.search(r"error message = '([^']+)'", str(error))  # HDF5 says much else before it
    lines = (said[1] if said else text).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def _replace_file(path: Path, data: bytes) -> None:
    handle, draft = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(draft, 0o666 & ~_umask())  # mkstemp lets nobody else read
        os.replace(draft, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(draft)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
