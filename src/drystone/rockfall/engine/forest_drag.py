"""Vegetation drag: in a forest, below the tree tops, -c v acts on the centre of mass.

After the drag layer of RAMMS [Leine2014]: c [kg/s] is the zone's, v the velocity of the centre
of mass, and the zone reaches up to a height above the ground.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.model.checks import float_array, of_kind
from drystone.model.signatures import public
from drystone.rockfall.terrain.regions import NOWHERE, Region, RegionIndex, build_regions, region_at


class Forest(NamedTuple):
    zones: RegionIndex  # codes are rows of the arrays below
    drag: np.ndarray  # (k,) [kg/s]
    height: np.ndarray  # (k,) tree tops above the ground [m]


@public
def build_forest(
    polygons: Sequence[ArrayLike],
    drag: ArrayLike,
    height: ArrayLike,
    priority: Sequence[float] | None = None,
) -> Forest:
    """Zones from local polygons; where they overlap, priority and order decide as for regions."""
    count = len(of_kind("polygons", polygons, tuple | list, "a list of polygons"))
    drag, height, ranks = (
        float_array(name, np.zeros(count) if value is None else value).reshape(-1)
        for name, value in (("drag", drag), ("height", height), ("priority", priority))
    )
    for name, values in (("drag", drag), ("height", height), ("priority", ranks)):
        if values.shape != (count,) or not np.isfinite(values).all():
            raise InputError(f"{name} must hold {count} finite numbers, one for each polygon.")
    regions = [Region(polygon, k, ranks[k]) for k, polygon in enumerate(polygons)]
    return Forest(
        build_regions(regions),
        drag,
        height,
    )


@kernel
def drag_at(x, y, above, forest):
    """Drag [kg/s] on a rock whose centre of mass is `above` the ground [m] at local x, y."""
    zone = region_at(x, y, forest.zones)
    if zone == NOWHERE or above > forest.height[zone]:
        return 0.0
    return forest.drag[zone]
