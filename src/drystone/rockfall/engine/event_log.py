"""Writing the records of a trajectory from compiled code.

Records of all rocks of a batch follow each other in one buffer. Compiled code sees it as two tables
of the same memory, of floats and of integers, with a word for each field.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.records import ARC, CROSSING, END, IMPACT, STATE, Trajectory

# Sizes of the buffers at first: records of a few dozen rocks, 3 MB a thread.
ARCS, IMPACTS, CROSSINGS, STATES = 12_000, 6_000, 400, 20_000

# How the compiled path of one rock ends: complete, or what has to be larger to do it again.
DONE, LOG_FULL, FOUND_FULL = range(3)

FOUND = 4_096  # capacity for triangles near a rock, at first

# An arc goes on if the acceleration stays the same up to this [m/s²], rounding of sums.
SAME = 1e-9


class Logbook(NamedTuple):
    """Buffers of records; `used` is how many arcs, impacts, crossings and states are written."""

    arc: np.ndarray  # (A, 24) float64
    arc_int: np.ndarray  # the same as int64
    impact: np.ndarray  # (I, 23)
    impact_int: np.ndarray
    crossing: np.ndarray  # (C, 15)
    crossing_int: np.ndarray
    end: np.ndarray  # (rocks, 13)
    end_int: np.ndarray
    state: np.ndarray  # (P, 14); with P = 0 none are noted
    used: np.ndarray  # (4,) int64


class Pages(NamedTuple):
    """The same buffers as records."""

    arc: np.ndarray
    impact: np.ndarray
    crossing: np.ndarray
    end: np.ndarray
    state: np.ndarray


def open_logbook(
    arcs: int, impacts: int, crossings: int, states: int, rocks: int
) -> tuple[Logbook, Pages]:
    """Empty buffers of those sizes."""
    kinds = ((ARC, arcs), (IMPACT, impacts), (CROSSING, crossings), (END, rocks), (STATE, states))
    pages = Pages(*(np.zeros(count, dtype=kind) for kind, count in kinds))
    tables = []
    for page in pages:
        words = page.dtype.itemsize // 8
        tables.append(page.view(np.float64).reshape(-1, words))
        tables.append(page.view(np.int64).reshape(-1, words))
    return Logbook(*tables[:-1], np.zeros(4, dtype=np.int64)), pages


def collect(roll_one, first: int, last: int, rocks: int, states: bool = False) -> list[Trajectory]:
    """Trajectories of the rocks first to last; buffers that are too small grow.

    roll_one   (k, capacity for triangles, logbook) -> DONE, LOG_FULL or FOUND_FULL
    """
    sizes, found, k = np.array([ARCS, IMPACTS, CROSSINGS, STATES if states else 0]), FOUND, first
    log, pages = open_logbook(*sizes, rocks)
    result = []
    # A loop in compiled code would be another 12 s of compilation, for 0.1 ms a rock.
    while k < last:
        used = log.used.copy()
        status = roll_one(k, found, log)
        if status == DONE:
            result.append(_cut(pages, used, log.used, k, states))
            k += 1
        elif status == FOUND_FULL:
            found *= 4
            log.used[:] = used
        else:
            sizes = sizes if used.any() else 4 * sizes  # a single rock filled the log
            log, pages = open_logbook(*sizes, rocks)
    return result


def _cut(pages: Pages, used, upto, k: int, states: bool) -> Trajectory:
    """The records of rock k, copied out of the buffers."""
    tables = (pages.arc, pages.impact, pages.crossing, pages.state)
    parts = [t[a:b].copy() for t, a, b in zip(tables, used, upto, strict=True)]
    return Trajectory(*parts[:3], pages.end[k].copy(), parts[3] if states else None)


@kernel
def _put(table, i, column, v):
    table[i, column], table[i, column + 1], table[i, column + 2] = v[0], v[1], v[2]


@kernel
def log_arc(log, first, jumped, state, t1, a, w_end, e_start, e_end, kind):
    """Note a motion, as part of the last arc if it goes on with it; False if the log is full.

    first            number of the first arc of this rock
    jumped           whether the velocity changed where it begins
    state            (t, x, q, v, w) there
    e_start, e_end   kinetic energy of rotation there and at t1 [J]
    """
    t0, x, q, v, w = state
    n = log.used[0]
    if n > first and not jumped and log.arc_int[n - 1, 19] == kind:
        row = n - 1
        if (
            abs(log.arc[row, 8] - a[0]) <= SAME
            and abs(log.arc[row, 9] - a[1]) <= SAME
            and abs(log.arc[row, 10] - a[2]) <= SAME
        ):
            log.arc[row, 1], log.arc[row, 18] = t1, e_end
            _put(log.arc, row, 14, w_end)
            return True
    if n == log.arc.shape[0]:
        return False
    log.arc[n, 0], log.arc[n, 1] = t0, t1
    _put(log.arc, n, 2, x)
    _put(log.arc, n, 5, v)
    _put(log.arc, n, 8, a)
    _put(log.arc, n, 11, w)
    _put(log.arc, n, 14, w_end)
    log.arc[n, 17], log.arc[n, 18] = e_start, e_end
    log.arc_int[n, 19] = kind
    for k in range(4):
        log.arc[n, 20 + k] = q[k]
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
def log_state(log, t, x, q, v, w):
    """Note the state of the rock, if states are wanted; False if the log is full."""
    n = log.used[3]
    if log.state.shape[0] == 0:
        return True
    if n == log.state.shape[0]:
        return False
    log.state[n, 0] = t
    _put(log.state, n, 1, x)
    for k in range(4):
        log.state[n, 4 + k] = q[k]
    _put(log.state, n, 8, v)
    _put(log.state, n, 11, w)
    log.used[3] = n + 1
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
