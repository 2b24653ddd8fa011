"""What covers the ground of a study, for maps: the material of every cell, forest zones, trees."""

from typing import NamedTuple

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.engine.triangle_grid import Grid, ground_below
from drystone.rockfall.terrain.ground_surface import height_at
from drystone.rockfall.terrain.materials import FACE, material_at

CELLS = 1_000_000  # looked at in one call, 50 MB with what they need
OFF = -1  # code of a cell without ground


class Cover(NamedTuple):
    """Local coordinates; `codes` has the southern row first."""

    materials: list[str]
    codes: np.ndarray  # (rows, columns) int16 index into `materials`, OFF where there is no ground
    forest: np.ndarray  # (e, 4) edges of all zones: x, y of their ends [m]
    trees: np.ndarray  # (n, 4) x, y, diameter, height [m]


@kernel
def cover_codes(x, y, known, by_triangle, grid, surface, codes):
    """Material of points on the ground; `by_triangle`: some triangles have one of their own."""
    for p in range(x.shape[0]):
        if not known[p]:
            continue
        triangle = 0
        if by_triangle:
            triangle, _ = ground_below(grid, x[p], y[p], np.inf)
            if triangle < 0:
                continue
        codes[p] = material_at(triangle, FACE, x[p], y[p], surface)


def cover_of(study, raster, ground) -> Cover:
    """The cover in the cells of `raster`, where `ground` has a height at their middle."""
    surface = study.surface
    by_triangle = len(surface.triangle_material) > 0
    grid = study.scene().grid if by_triangle else Grid.build(np.eye(3), np.array([[0, 1, 2]]))
    codes = np.full((raster.rows, raster.columns), OFF, dtype=np.int16)
    rows = max(CELLS // raster.columns, 1)
    x = raster.x0 + raster.cell * (np.arange(raster.columns) + 0.5)
    for first in range(0, raster.rows, rows):
        last = min(first + rows, raster.rows)
        y = raster.y0 + raster.cell * (np.arange(first, last) + 0.5)
        px, py = (np.ascontiguousarray(part.ravel()) for part in np.meshgrid(x, y))
        known = np.isfinite(height_at(ground, px, py))
        found = np.full(len(px), OFF, dtype=np.int16)
        cover_codes(px, py, known, by_triangle, grid, surface, found)
        codes[first:last] = found.reshape(last - first, -1)
    return Cover(study.material_names, codes, study.forest.zones.rim, study.trees.trunks)
