"""Saved worlds that are changed on disk, and the comparison of two worlds bit for bit."""

import json

import h5py
import numpy as np

from drystone.world.io.checkpoint import _checksum


def assert_same_arrays(a, b):
    for one, two, field in zip(a.state, b.state, a.state._fields, strict=True):
        n = min(len(one), len(two))
        assert one[:n].tobytes() == two[:n].tobytes(), field


def edited(path, good, change):
    """A file made to hurt: changed by `change`, with a checksum that fits."""
    path.write_bytes(good)
    with h5py.File(path, "r+") as file:
        change(file)
        file.attrs["checksum"] = _checksum(file)
    return path


def described(**entries):
    def change(file):
        said = json.loads(file["description"][()].tobytes()) | entries
        del file["description"]
        file["description"] = np.frombuffer(json.dumps(said).encode(), np.uint8)

    return change


def put(name, at, value):
    def change(file):
        file[name][at] = value

    return change


def replace(name, array):
    def change(file):
        del file[name]
        file[name] = array

    return change
