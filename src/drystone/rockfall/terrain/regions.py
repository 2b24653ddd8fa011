"""Point in polygon, inside compiled code: which region of the map holds a point?

Each region has a priority and a code (a material, a forest zone). Of those that hold a point the
one with the largest priority answers; among equals the one listed last, as on a map where later
things are drawn on top (ROCFALL 4.1).

A uniform grid of cells is laid over all of them. A cell that no rim passes knows its answer; the
others list the regions that may answer, best first, and a point is then tested against their
rims by counting crossings. So the answer is exact, and nearly always one look-up.
"""

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.model.checks import of_kind
from drystone.rockfall.optional_packages import load

NOWHERE = -1
MIXED = -2
CELLS = 256  # along the longer side: 65,536 at most, half a megabyte


class Region(NamedTuple):
    polygon: object  # shapely, local
    code: int
    priority: float = 0.0


class RegionIndex(NamedTuple):
    low: np.ndarray  # (2,) south-western corner [m]
    cell: float  # [m]
    shape: np.ndarray  # (2,) int64 columns, rows; 0, 0 without regions
    code: np.ndarray  # (cells,) int32 the answer, NOWHERE or MIXED
    start: np.ndarray  # (cells + 1,) int64 lists of the mixed cells
    listed: np.ndarray  # (k,) int32 regions, best first; -1 - r where r holds the whole cell
    region_code: np.ndarray  # (r,) int32
    rim_start: np.ndarray  # (r + 1,) int64
    rim: np.ndarray  # (e, 4) edges of all rims: x, y of their ends [m]


def build_regions(regions: Sequence[Region]) -> RegionIndex:
    """`regions` in the order in which they were given."""
    # The best first: largest priority, then the last.
    order = sorted(range(len(regions)), key=lambda r: (-regions[r].priority, -r))
    ranked = [regions[r] for r in order]
    code = np.array([region.code for region in ranked], dtype=np.int32)
    rims = [_rim(region.polygon) for region in ranked]
    rim_start = np.concatenate([[0], np.cumsum([len(rim) for rim in rims])]).astype(np.int64)
    rim = np.concatenate([*rims, np.empty((0, 4))])
    low, cell, shape = _cells(rim)
    answer, start, listed = _fill(ranked, code, low, cell, shape)
    return RegionIndex(low, cell, shape, answer, start, listed, code, rim_start, rim)


def _rim(polygon) -> np.ndarray:
    """(e, 4) edges of all rings, holes included."""
    shapely = load("shapely", "Geometry")
    of_kind("polygon", polygon, shapely.Polygon | shapely.MultiPolygon, "a polygon of shapely")
    edges = []
    for part in shapely.get_parts(polygon):
        for ring in (part.exterior, *part.interiors):
            xy = shapely.get_coordinates(ring)
            edges.append(np.hstack([xy[:-1], xy[1:]]))
    return np.concatenate(edges)


def _cells(rim: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
    if len(rim) == 0:
        return np.zeros(2), 1.0, np.zeros(2, dtype=np.int64)
    ends = rim.reshape(-1, 2)
    low, high = ends.min(axis=0), ends.max(axis=0)
    cell = float((high - low).max()) / CELLS
    # One more than fits, so that the far rim lies in a cell too.
    return low, cell, np.floor((high - low) / cell).astype(np.int64) + 1


def _fill(ranked, code, low, cell, shape):
    """What each cell answers, and the lists of those that a rim passes."""
    shapely = load("shapely", "Geometry")
    count = int(shape[0] * shape[1])
    answer = np.full(count, NOWHERE, dtype=np.int32)
    if count == 0:
        return answer, np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    row, column = np.divmod(np.arange(count), int(shape[0]))
    x, y = low[0] + cell * column, low[1] + cell * row
    boxes = shapely.STRtree(shapely.box(x, y, x + cell, y + cell))
    polygons = [region.polygon for region in ranked]
    touched, cells = boxes.query(polygons, predicate="intersects")
    holder, held = boxes.query(polygons, predicate="contains_properly")
    # Nothing below the first region that holds the whole cell can answer.
    best = np.full(count, len(ranked))
    np.minimum.at(best, held, holder)
    above = touched < best[cells]
    touched, cells = touched[above], cells[above]
    known = best < len(ranked)
    answer[known] = code[best[known]]
    answer[cells] = MIXED
    return answer, *_lists(touched, cells, best, answer == MIXED, len(ranked))


def _lists(touched, cells, best, mixed, regions):
    """Of every mixed cell the regions whose rim passes it, then the one that holds all of it."""
    closing = np.flatnonzero(mixed & (best < regions))
    cell = np.concatenate([cells, closing])
    rank = np.concatenate([touched, best[closing]])
    listed = np.concatenate([touched, -1 - best[closing]])
    order = np.lexsort((rank, cell))
    count = np.bincount(cell, minlength=len(mixed))
    return np.concatenate([[0], np.cumsum(count)]), listed[order].astype(np.int32)


@kernel
def _holds(r, x, y, index):
    """Whether region r holds the point: a ray to the east crosses its rims an odd number of times.

    A rim's edge owns its lower end, so a point on a shared rim is in one of two neighbours.
    """
    inside = False
    for e in range(index.rim_start[r], index.rim_start[r + 1]):
        x1, y1, x2, y2 = index.rim[e, 0], index.rim[e, 1], index.rim[e, 2], index.rim[e, 3]
        if (y1 <= y) != (y2 <= y):
            if x < x1 + (y - y1) * (x2 - x1) / (y2 - y1):
                inside = not inside
    return inside


@kernel
def region_at(x, y, index):
    """Code of the region that answers at local x, y, or NOWHERE."""
    if index.shape[0] == 0:
        return NOWHERE
    j = floor((x - index.low[0]) / index.cell)
    i = floor((y - index.low[1]) / index.cell)
    if i < 0 or j < 0 or j >= index.shape[0] or i >= index.shape[1]:
        return NOWHERE
    k = i * index.shape[0] + j
    if index.code[k] != MIXED:
        return index.code[k]
    for q in range(index.start[k], index.start[k + 1]):
        r = index.listed[q]
        if r < 0:
            return index.region_code[-1 - r]
        if _holds(r, x, y, index):
            return index.region_code[r]
    return NOWHERE


@kernel
def regions_over(x, y, index, code):
    """`region_at` for arrays of points."""
    for p in range(x.shape[0]):
        code[p] = region_at(x[p], y[p], index)
