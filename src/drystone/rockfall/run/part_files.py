"""Part files: the arrays of one finished chunk of runs, written whole or not at all.

A part is  magic (8 bytes) | SHA-256 of the rest (32) | length of the header (8) | header, JSON |
arrays, each at a multiple of 64 bytes. It is written under another name, flushed to the disk,
and then renamed, so that a file of the right name is complete; the checksum finds what was
damaged later. Arrays are mapped, not read, so that a part larger than the memory can be merged.
"""

import errno
import hashlib
import json
import mmap
import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError

MAGIC = b"rockpt01"
ALIGN = 64  # bytes; more than any field of the records needs
PREFIX = len(MAGIC) + 32 + 8


class DamagedPart(DrystoneError):  # noqa: N818  says what it is
    """A part file whose content is not what was written."""


def pack_part(arrays: dict[str, np.ndarray]) -> bytes:
    """The content of a part file."""
    entries, blocks, offset = {}, [], 0
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        gap = -offset % ALIGN
        blocks += [b"\0" * gap, array.tobytes()]
        descr = array.dtype.descr if array.dtype.names else array.dtype.str
        entries[name] = {"dtype": descr, "shape": array.shape, "offset": offset + gap}
        offset += gap + array.nbytes
    header = json.dumps(entries).encode()
    header += b" " * (-(PREFIX + len(header)) % ALIGN)
    body = b"".join([len(header).to_bytes(8, "little"), header, *blocks])
    return MAGIC + hashlib.sha256(body).digest() + body


def unpack_part(content, what: str = "part", verify: bool = True) -> dict[str, np.ndarray]:
    """The arrays of a part (bytes or a mapped file), without a copy; raises DamagedPart."""
    view = memoryview(content)
    whole = len(view) >= PREFIX and bytes(view[:8]) == MAGIC
    if not whole or (verify and hashlib.sha256(view[40:]).digest() != bytes(view[8:40])):
        raise DamagedPart(f"{what} is damaged: its checksum is not that of its content.")
    start = PREFIX + int.from_bytes(view[40:48], "little")
    try:
        entries = json.loads(bytes(view[PREFIX:start]))
        return {name: _array(view, start, entry) for name, entry in entries.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedPart(f"{what} is damaged: its header cannot be read ({error}).") from None


def _array(view, start: int, entry: dict) -> np.ndarray:
    shape = tuple(entry["shape"])
    count, offset = int(np.prod(shape)), start + entry["offset"]
    return np.frombuffer(view, _dtype(entry["dtype"]), count, offset).reshape(shape)


def _dtype(described):
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([tuple(tuple(x) if isinstance(x, list) else x for x in f) for f in described])


def read_part(path: Path, verify: bool = True) -> dict[str, np.ndarray]:
    """The arrays of a part file, mapped from the disk; `verify` reads all of it."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise DamagedPart(f"{path} is empty.")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return unpack_part(content, str(path), verify)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that it is there whole or not at all, also after a loss of power."""
    path = Path(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(part, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise disk_error(path, error) from None


def disk_error(path: Path, error: Exception) -> DrystoneError:
    """One sentence on why `path` could not be written, with the remedy."""
    full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    full = full or "full" in str(error)
    why = "the disk is full" if full else (getattr(error, "strerror", None) or str(error))
    fix = "Free some space" if full else "Make the folder writable"
    return DrystoneError(
        f"{path} could not be written: {why}. All runs finished before are kept. {fix}, "
        "then go on with resume (--resume)."
    )
