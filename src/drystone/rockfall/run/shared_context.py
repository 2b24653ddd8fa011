"""What workers of one machine share: the scene of a study, made once and mapped by all of them.

The caller pickles its context. Arrays larger than SHARED bytes go into one file beside the pickle,
and whoever loads it maps them: the pages are in memory once, however many processes read them. They
are mapped copy-on-write, for compiled code takes arrays that can be written to.
"""

import io
import mmap
import pickle
from pathlib import Path

import numpy as np

SHARED = 65_536  # bytes; smaller arrays are not worth a mapping
ALIGN = 64
ARRAYS, OBJECTS = "arrays.bin", "objects.pickle"


class _Dumper(pickle.Pickler):
    def __init__(self, file, arrays):
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self.arrays, self.known = arrays, {}

    def persistent_id(self, thing):
        if not isinstance(thing, np.ndarray) or thing.nbytes < SHARED or thing.dtype.hasobject:
            return None
        if not thing.flags.c_contiguous:
            return None
        if id(thing) not in self.known:
            self.arrays.write(b"\0" * (-self.arrays.tell() % ALIGN))
            where = self.arrays.tell()
            self.arrays.write(thing.data.cast("B") if thing.size else b"")
            # Kept alive with its place: another array must not get the same id.
            self.known[id(thing)] = (where, thing.dtype.str, thing.shape), thing
        return self.known[id(thing)][0]


class _Loader(pickle.Unpickler):
    def __init__(self, file, mapped):
        super().__init__(file)
        self.mapped = mapped

    def persistent_load(self, pid):
        where, kind, shape = pid
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self.mapped, np.dtype(kind), count, where).reshape(shape)


def dump_shared(folder: Path, thing) -> None:
    """Write `thing` into `folder`."""
    objects = io.BytesIO()
    with open(folder / ARRAYS, "wb") as arrays:
        _Dumper(objects, arrays).dump(thing)
        arrays.write(b"\0" * ALIGN)  # an empty file cannot be mapped
    (folder / OBJECTS).write_bytes(objects.getvalue())


def load_shared(folder: Path):
    """What was dumped there, its large arrays mapped; the files may be removed afterwards."""
    with open(folder / ARRAYS, "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    with open(folder / OBJECTS, "rb") as file:
        return _Loader(file, mapped).load()
