"""HDF5 files: the one place through which all of them are written and read.

A file is never trusted. Before anything of it is read its whole tree is looked at: links that
lead elsewhere, arrays whose numbers lie in other files, and packings other than deflate are
refused, and so is what claims to be much larger than the file is. What is packed is unpacked here,
for HDF5 unpacks without a limit. Whatever else goes wrong becomes one InputError.
"""

import math
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.files import write_file

# What the arrays of a file may take in memory, as numbers of 8 bytes: this much ...
SPARE_BYTES = 32 << 20
# ... and this many times the file. Deflate shrinks at most 1032 to 1, regular worlds 36 to 1.
LARGEST_RATIO = 100
# Filters of HDF5 that can be undone without trust.
DEFLATE, SHUFFLE = 1, 2
# Letters of the longest text that an attribute of ours has.
LONGEST_TEXT = 1000


def allowance(file_bytes: int) -> int:
    """How many bytes the arrays of a file of that size may take in memory."""
    return SPARE_BYTES + LARGEST_RATIO * file_bytes


# Writing


def write_arrays(path, kind: str, version: int, arrays: dict) -> None:
    """Write all `arrays` that are not None; an older file of that name survives a failure."""
    import h5py  # a tenth of a second, which worlds that are not saved need not wait for

    # In memory: HDF5 never sees the disk, so that a full one cannot confuse it.
    with h5py.File("problem", "w", driver="core", backing_store=False) as file:
        write_attributes(file, format=kind, version=version)
        for name, array in arrays.items():
            if array is not None:
                file[name] = array
        file.flush()
        image = file.id.get_file_image()
    write_file(path, image, "the problem cannot be written there")


def write_attributes(file, **values) -> None:
    """Texts of fixed length: HDF5 hangs on those of variable length in files that are damaged."""
    for name, value in values.items():
        file.attrs[name] = np.bytes_(value.encode()) if isinstance(value, str) else value


# Opening


@contextmanager
def reading(name, kind: str) -> Iterator[None]:
    """Turn what goes wrong inside into one InputError that names the file `name`."""
    try:
        yield
    except InputError as error:
        text = str(error)
        raise InputError(text if str(name) in text else f"{name}: {text}") from None
    except DrystoneError:
        raise
    except Exception as error:  # a damaged file can raise anything
        text = " ".join(str(error).split())[:200].rstrip(".")
        raise InputError(
            f"{name}: is damaged or no {kind} ({type(error).__name__}: {text})."
        ) from None


def open_file(source, file_bytes: int, **options):
    """An h5py.File, open for reading, whose tree can be trusted not to lead anywhere else."""
    import h5py

    file = h5py.File(source, "r", **options)
    try:
        check_sizes(file, file_bytes)
    except BaseException:
        file.close()
        raise
    return file


def check_sizes(file, file_bytes: int) -> None:
    """Refuse what leads out of the file, and arrays that are too large for it."""
    from h5py import h5l, h5o

    seen, waiting, total = set(), [("", file.id)], 0
    while waiting:
        where, group = waiting.pop()
        for key in group:
            name = f"{where}/{key.decode('utf-8', 'replace')}".strip("/")
            if group.links.get_info(key).type != h5l.TYPE_HARD:
                raise InputError(f"{name} is a link to another place; Drystone follows none.")
            item = h5o.open(group, key)
            address = h5o.get_info(item).addr
            if address in seen:
                continue
            seen.add(address)
            kind = type(item).__name__
            if kind == "GroupID":
                waiting.append((name, item))
            elif kind == "DatasetID":
                total += _memory(name, item)
                if total > allowance(file_bytes):
                    raise InputError(
                        f"{name} claims {math.prod(item.shape or (0,))} numbers, which a file of "
                        f"{file_bytes} bytes does not hold."
                    )


def _memory(name: str, item) -> int:
    """Bytes that reading an array takes; refuses arrays that are not in the file itself."""
    from h5py import h5d

    plan = item.get_create_plist()
    if plan.get_external_count() or plan.get_layout() == h5d.VIRTUAL:
        raise InputError(f"{name} takes its numbers from another file; Drystone reads none of it.")
    width = item.get_type().get_size()
    size = math.prod(item.shape or (0,)) * max(width, 8)
    if plan.get_layout() == h5d.CHUNKED:
        size = max(size, math.prod(plan.get_chunk()) * width)
    return size


# Reading


def read_attribute(file, name: str, kind: type):
    """The attribute `name`: one number or text of Python's `kind`."""
    import h5py

    if name not in file.attrs:
        raise InputError(f"its attribute {name} is missing.")
    found = file.attrs.get_id(name)
    single, stored = found.shape == (), found.dtype
    text = stored.kind == "S" or h5py.check_string_dtype(stored) is not None
    if single and kind is str and text and stored.itemsize <= LONGEST_TEXT:
        value = file.attrs[name]
        value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        if len(value) <= LONGEST_TEXT:
            return str(value)
    elif single and kind is not str and stored.kind in ("iu" if kind is int else "iuf"):
        return kind(file.attrs[name])
    noun = {str: "a text", int: "an integer", float: "a number"}[kind]
    raise InputError(f"its attribute {name} is of the wrong kind, must be {noun}.")


def read_group(group, name: str):
    """The group `name` in another."""
    import h5py

    if name not in group:
        raise InputError(f"{name} is missing.")
    found = group[name]
    if not isinstance(found, h5py.Group):
        raise InputError(f"{name} is no group of arrays.")
    return found


def find_dataset(group, name: str):
    """The h5py.Dataset `name`, which open_file() has looked at."""
    import h5py

    where = f"{group.name}/{name}".strip("/")
    if name not in group:
        raise InputError(f"{where} is missing.")
    found = group[name]
    if not isinstance(found, h5py.Dataset) or found.shape is None:
        raise InputError(f"{where} is no array.")
    return found


def read_dataset(dataset) -> np.ndarray:
    """All of an array, unpacked with its size as the limit."""
    plan = dataset.id.get_create_plist()
    filters = [plan.get_filter(k)[0] for k in range(plan.get_nfilters())]
    if not filters:
        return np.asarray(dataset[()])
    if not set(filters) <= {DEFLATE, SHUFFLE}:
        raise InputError(
            f"{dataset.name.strip('/')} is packed by filter {filters[-1]} of HDF5, which is not "
            f"read; pack it with gzip, as h5repack -f GZIP=4 does."
        )
    return _unpacked(dataset, filters)


def _unpacked(dataset, filters: list[int]) -> np.ndarray:
    from h5py import h5t

    stored, kind = dataset.id, dataset.dtype
    if kind.hasobject or h5t.py_create(kind) != stored.get_type():
        raise InputError(f"{dataset.name.strip('/')} holds numbers of a kind that is not read.")
    shape, chunk = dataset.shape, dataset.chunks
    chunks = math.prod(-(-n // c) for n, c in zip(shape, chunk, strict=True))
    places: list = []

    def note(place):
        places.append(place)
        return len(places) > chunks or None  # a damaged list may be endless

    stored.chunk_iter(note)
    array = np.full(shape, dataset.fillvalue, dtype=kind)
    for place in places:
        start = place.chunk_offset
        if any(a >= n for a, n in zip(start, shape, strict=True)):
            raise InputError(f"{dataset.name.strip('/')} has a part outside of it.")
        mask, data = stored.read_direct_chunk(start)
        used = [f for k, f in enumerate(filters) if not mask >> k & 1]
        part = _inflated(dataset.name, data, used, math.prod(chunk) * kind.itemsize, kind.itemsize)
        part = np.frombuffer(part, dtype=kind).reshape(chunk)
        into = tuple(slice(a, min(a + c, n)) for a, c, n in zip(start, chunk, shape, strict=True))
        array[into] = part[tuple(slice(0, s.stop - s.start) for s in into)]
    return array


def _inflated(name: str, data: bytes, filters: list[int], size: int, width: int) -> bytes:
    for code in reversed(filters):
        if code == DEFLATE:
            stream = zlib.decompressobj()
            data = stream.decompress(data, size)
            if not stream.eof and stream.decompress(stream.unconsumed_tail, 1):
                raise InputError(f"{name.strip('/')} is damaged: more is packed than it holds.")
        else:
            data = np.frombuffer(data, np.uint8).reshape(width, -1).T.tobytes()
    if len(data) != size:
        raise InputError(f"{name.strip('/')} is damaged: less is packed than it holds.")
    return data


def read_array(group, name: str, kinds: str = "iuf") -> np.ndarray:
    """The array of numbers `name` of an HDF5 group; a scalar has shape ()."""
    dataset = find_dataset(group, name)
    if dataset.dtype.kind not in kinds:
        raise InputError(f"{dataset.name.strip('/')} is no array of numbers.")
    return read_dataset(dataset)


def read_numbers(group, name: str) -> np.ndarray:
    """The one-dimensional array of floats `name`."""
    array = read_array(group, name)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}, must be a list of numbers.")
    return array.astype(np.float64)


def read_integers(group, name: str) -> np.ndarray:
    """The one-dimensional array of integers `name`."""
    array = read_array(group, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of integers.")
    return array.astype(np.int64)


def read_integer(group, name: str) -> int:
    """The single integer `name`."""
    array = read_array(group, name)
    if array.size != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be one integer.")
    return int(array.reshape(-1)[0])
