"""Seals of a recording: with all that goes to the file at a time goes a digest of it.

A row says how long each array then was, and a digest of what was added, of the row before and of
the start. So it shows whether anything was changed or cut off since, also what a replay cannot
compute again; and whether the recording was closed, so that nothing was to follow.
"""

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np

# In this order they are written out, see Recorder._write_out.
WRITTEN = ("journal", "hash", "number", "pose", "frame")

SEAL = np.dtype([*((name, "<i8") for name in WRITTEN), ("closed", "<i8"), ("digest", "<u8")])


class Sealer:
    """Makes one row after the other."""

    def __init__(self, image: bytes, every: int, dt: float, first_step: int) -> None:
        head = repr((int(every), float(dt).hex(), int(first_step))).encode()
        self._digest = blake2b(head + image, digest_size=8).digest()
        self._length = dict.fromkeys(WRITTEN, 0)

    def row(self, added: Mapping[str, np.ndarray], closed: bool) -> np.ndarray:
        """(1,) SEAL after the arrays `added`, by name, were appended."""
        digest = blake2b(self._digest, digest_size=8)
        for name in WRITTEN:
            rows = added.get(name)
            if rows is not None and len(rows):
                self._length[name] += len(rows)
                digest.update(np.ascontiguousarray(rows))
        lengths = tuple(self._length.values())
        digest.update(repr((lengths, bool(closed))).encode())
        self._digest = digest.digest()
        value = (*lengths, int(closed), int.from_bytes(self._digest, "little"))
        return np.array([value], dtype=SEAL)


def broken_seal(seals: np.ndarray, sealer: Sealer, lengths: Mapping[str, int], read) -> str:
    """What is wrong with the arrays that were sealed, in words; "" if nothing is.

    lengths   of the arrays as they are
    read      gives rows a to b of an array
    """
    if not len(seals):
        return "it has no seal"
    last = seals[-1]
    for name in WRITTEN:
        if lengths[name] < last[name]:
            return f"{name} is cut off: {last[name]} rows were written, {lengths[name]} are there"
        if last["closed"] and lengths[name] > last[name]:
            return f"{name} has {lengths[name]} rows, but only {last[name]} were written"
    before = np.zeros(1, dtype=SEAL)[0]
    for k, seal in enumerate(seals):
        if any(not before[name] <= seal[name] <= last[name] for name in WRITTEN):
            return f"its seal {k} is damaged"
        added = {name: read(name, int(before[name]), int(seal[name])) for name in WRITTEN}
        if sealer.row(added, bool(seal["closed"]))[0] != seal:
            changed = "the start, or " * (k == 0)
            return f"{changed}what was written up to frame {seal['frame']} was changed since"
        before = seal
    return ""
