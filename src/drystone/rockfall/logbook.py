"""Writing the records of a trajectory from compiled code.

Records of all rocks of a batch follow each other in one buffer. Compiled code sees it as two tables
of the same memory, of floats and of whole numbers, with a word for each field.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.records import ARC, CROSSING, END, IMPACT

# An arc goes on if the acceleration stays the same up to this [m/s²], rounding of sums.
SAME = 1e-9


class Logbook(NamedTuple):
    """Buffers of records; `used` (6,) int64 is arcs, impacts, crossings written, then scratch."""

    arc: np.ndarray  # (A, 15) float64
    arc_int: np.ndarray  # the same as int64
    impact: np.ndarray  # (I, 23)
    impact_int: np.ndarray
    crossing: np.ndarray  # (C, 15)
    crossing_int: np.ndarray
    end: np.ndarray  # (rocks, 13)
    end_int: np.ndarray
    used: np.ndarray  # (3,) int64


class Pages(NamedTuple):
    """The same buffers as records."""

    arc: np.ndarray
    impact: np.ndarray
    crossing: np.ndarray
    end: np.ndarray


def open_logbook(arcs: int, impacts: int, crossings: int, rocks: int) -> tuple[Logbook, Pages]:
    """Empty buffers of those sizes."""
    kinds = ((ARC, arcs), (IMPACT, impacts), (CROSSING, crossings), (END, rocks))
    pages = Pages(*(np.zeros(count, dtype=kind) for kind, count in kinds))
    tables = []
    for page in pages:
        words = page.dtype.itemsize // 8
        tables.append(page.view(np.float64).reshape(-1, words))
        tables.append(page.view(np.int64).reshape(-1, words))
    return Logbook(*tables, np.zeros(3, dtype=np.int64)), pages


@kernel
def _put(table, i, column, v):
    table[i, column], table[i, column + 1], table[i, column + 2] = v[0], v[1], v[2]


@kernel
def log_arc(log, first, jumped, t0, t1, x, v, a, w, kind):
    """Note a motion, as part of the last arc if it goes on with it; False if there is no room.

    first    number of the first arc of this rock
    jumped   whether the velocity changed at t0
    """
    n = log.used[0]
    if n > first and not jumped and log.arc_int[n - 1, 14] == kind:
        row = n - 1
        if (
            abs(log.arc[row, 8] - a[0]) <= SAME
            and abs(log.arc[row, 9] - a[1]) <= SAME
            and abs(log.arc[row, 10] - a[2]) <= SAME
        ):
            log.arc[row, 1] = t1
            return True
    if n == log.arc.shape[0]:
        return False
    log.arc[n, 0], log.arc[n, 1] = t0, t1
    _put(log.arc, n, 2, x)
    _put(log.arc, n, 5, v)
    _put(log.arc, n, 8, a)
    _put(log.arc, n, 11, w)
    log.arc_int[n, 14] = kind
    log.used[0] = n + 1
    return True


@kernel
def log_impact(log, t, x, normal, v_in, v_out, w_in, w_out, e_in, e_out, triangle, material):
    n = log.used[1]
    if n == log.impact.shape[0]:
        return False
    log.impact[n, 0] = t
    _put(log.impact, n, 1, x)
    _put(log.impact, n, 4, normal)
    _put(log.impact, n, 7, v_in)
    _put(log.impact, n, 10, v_out)
    _put(log.impact, n, 13, w_in)
    _put(log.impact, n, 16, w_out)
    log.impact[n, 19], log.impact[n, 20] = e_in, e_out
    log.impact_int[n, 21], log.impact_int[n, 22] = triangle, material
    log.used[1] = n + 1
    return True


@kernel
def log_crossing(log, t, barrier, x, v, w, height, energy, taken, outcome):
    n = log.used[2]
    if n == log.crossing.shape[0]:
        return False
    log.crossing[n, 0] = t
    log.crossing_int[n, 1] = barrier
    _put(log.crossing, n, 2, x)
    _put(log.crossing, n, 5, v)
    _put(log.crossing, n, 8, w)
    log.crossing[n, 11], log.crossing[n, 12], log.crossing[n, 13] = height, energy, taken
    log.crossing_int[n, 14] = outcome
    log.used[2] = n + 1
    return True


@kernel
def log_end(log, rock, t, x, q, reason, mass, arcs, impacts, crossings):
    log.end[rock, 0] = t
    _put(log.end, rock, 1, x)
    for k in range(4):
        log.end[rock, 4 + k] = q[k]
    log.end_int[rock, 8] = reason
    log.end[rock, 9] = mass
    log.end_int[rock, 10], log.end_int[rock, 11] = arcs, impacts
    log.end_int[rock, 12] = crossings
