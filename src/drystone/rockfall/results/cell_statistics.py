"""Statistics of raster cells over all runs, exact, in bounded memory.

Each part has one row for each run and cell, sorted by cell, with the largest speed, energy and
height of that run in that cell. The rows of a band of cells are taken out of all parts by
bisection and sorted together: percentiles are those of all values, not of a sketch. Bands are cut
so that one has about BAND_ROWS rows, whatever the number of runs.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from drystone.rockfall.results.cells import CellTable, Raster
from drystone.rockfall.results.hazard import hazard_band

QUANTITIES = ("speed", "energy", "height")
PERCENTS = {"median": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
STATISTICS = ("mean", *PERCENTS, "max")
BAND_ROWS = 4_000_000  # 64 MB of rows, and about ten times that while they are sorted


class Band(NamedTuple):
    """Some rows of the raster, southernmost first."""

    first: int
    last: int  # exclusive
    passages: np.ndarray  # (rows, columns) runs that passed
    values: dict[str, np.ndarray]  # "speed_p95" and so on, NaN where nothing passed
    hazard: dict[str, np.ndarray] = {}  # rasters of results/hazard.py


def cell_bands(
    tables: Iterable[CellTable], raster: Raster, rows: int = BAND_ROWS, hazard=None
) -> Iterator[Band]:
    """All bands from south to north.

    tables  cells of each chunk, sorted by cell, in the order of chunks; gone through once for
            each band, so that they need not all be open at once
    hazard  Hazard of results/hazard.py, if it is wanted
    """
    for first, last in _cut_bands(tables, raster, rows):
        edges = first * raster.columns, last * raster.columns
        band = []
        for table in tables:
            begin, end = np.searchsorted(table.cell, edges)
            band.append([c[begin:end].copy() for c in table if c is not None])
        found = CellTable(*(np.concatenate(column) for column in zip(*band, strict=True)))
        yield _band(found, first, last, raster.columns, hazard)


def _cut_bands(tables, raster: Raster, limit: int) -> list[tuple[int, int]]:
    """Rows of the raster, cut so that no band has many more than `limit` rows of tables."""
    edges = np.arange(raster.rows + 1) * raster.columns
    ahead = np.zeros(raster.rows + 1, np.int64)
    for table in tables:
        ahead += np.searchsorted(table.cell, edges)
    bands, first = [], 0
    while first < raster.rows:
        last = int(np.searchsorted(ahead, ahead[first] + limit, side="right")) - 1
        last = min(max(last, first + 1), raster.rows)
        bands.append((first, last))
        first = last
    return bands


def _band(found: CellTable, first: int, last: int, columns: int, hazard=None) -> Band:
    cell = found.cell.astype(np.int64) - first * columns
    size = (last - first) * columns
    passages = np.bincount(cell, minlength=size)
    values = {}
    for quantity in QUANTITIES:
        summary = group_summary(cell, getattr(found, quantity).astype(np.float64), size)
        for name, array in summary.items():
            values[f"{quantity}_{name}"] = array.reshape(last - first, columns)
    more = hazard_band(found, cell, size, hazard) if hazard is not None else {}
    more = {name: array.reshape(last - first, columns) for name, array in more.items()}
    return Band(first, last, passages.reshape(last - first, columns), values, more)


def group_summary(group: np.ndarray, value: np.ndarray, size: int) -> dict[str, np.ndarray]:
    """Mean, percentiles and maximum of the values of each group 0 to size - 1; NaN if it has none.

    Percentiles between two values are interpolated linearly, as NumPy does by default. Values
    that are NaN (no ground below) do not count.
    """
    known = np.isfinite(value)
    group, value = group[known], value[known]
    order = np.lexsort((value, group))
    group, value = group[order], value[order]
    count = np.bincount(group, minlength=size)
    start = np.concatenate([[0], np.cumsum(count)[:-1]])
    some = np.flatnonzero(count)
    result = {name: np.full(size, np.nan) for name in STATISTICS}
    if len(some) == 0:
        return result
    begin, n = start[some], count[some]
    # Summed from the least to the largest: the same bits in whatever order runs came.
    result["mean"][some] = np.add.reduceat(value, begin) / n
    result["max"][some] = value[begin + n - 1]
    for name, share in PERCENTS.items():
        place = share * (n - 1)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, n - 1)
        low, high = value[begin + below], value[begin + above]
        result[name][some] = low + (place - below) * (high - low)
    return result
