"""Named arrays in HDF5 files: written atomically, read with checks."""

import os
from contextlib import suppress
from pathlib import Path

import numpy as np

from drystone.errors import InputError

# An HDF5 array may claim any size and store nothing of it. Deflate, the usual compression, shrinks
# at most 1032 to 1, so what claims more than this times what is stored is no honest array.
LARGEST_RATIO = 1100


def write_arrays(path, kind: str, version: int, arrays: dict) -> None:
    """Write all `arrays` that are not None; an older file of that name survives a failure."""
    import h5py  # a tenth of a second, which worlds that are not saved need not wait for

    path = Path(path)
    part = path.with_name(path.name + ".part")
    try:
        with h5py.File(part, "w") as file:
            # Of fixed length: HDF5 hangs on texts of variable length in files that are damaged.
            file.attrs["format"], file.attrs["version"] = np.bytes_(kind), version
            for name, array in arrays.items():
                if array is not None:
                    file[name] = array
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):  # it may be what could not be written
            part.unlink()
        raise InputError(f"{path}: the problem could not be written ({error}).") from None


def read_array(group, name: str) -> np.ndarray:
    """The array of numbers `name` of an HDF5 group; a scalar has shape ()."""
    import h5py

    where = f"{group.name}/{name}".strip("/")
    if name not in group:
        raise InputError(f"{where} is missing.")
    array = group[name]
    if not isinstance(array, h5py.Dataset) or array.dtype.kind not in "iuf" or array.shape is None:
        raise InputError(f"{where} is no array of numbers.")
    if array.nbytes > LARGEST_RATIO * array.id.get_storage_size():
        raise InputError(f"{where} claims {array.size} numbers, which the file does not hold.")
    return np.asarray(array[()])


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
