"""Materials of the slope, and which of them a contact point has (ROCFALL 4.1).

In this order: the id of its triangle; the polygon region over it; the texture raster; the default.
A contact on an edge or vertex has the least id of the triangles around it that have one.

Ids count the materials from 0, in the order of the study. A material has friction mu and
restitution R_n; where they are given also a rolling resistance and a scarring drag, which are no
part of ROCFALL. All may be distributions, drawn anew for every rock.
"""

from collections.abc import Sequence
from math import floor
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.model.checks import (
    float_array,
    index_rows,
    integer,
    number,
    of_kind,
    shown,
    things,
)
from drystone.model.signatures import public
from drystone.rockfall.terrain.regions import NOWHERE, Region, RegionIndex, build_regions, region_at

NONE = -1  # a triangle or texture cell that says nothing about its material

# Where on its triangle a contact lies. EDGE + k: from corner k to corner k + 1. CORNER + k.
FACE = 0
EDGE = 1
CORNER = 4


class Surface(NamedTuple):
    """All that compiled code needs to know the material of a contact; see `material_at`."""

    triangle_material: np.ndarray  # (m,) int32 id or NONE; (0,) if no triangle has one
    edge_material: np.ndarray  # (m, 3) int32, least id at each edge; (0, 3)
    corner_material: np.ndarray  # (m, 3) int32, least id at each corner; (0, 3)
    regions: RegionIndex  # codes are ids
    texture: np.ndarray  # (rows, columns) int32 id or NONE, southern row first; (0, 0) if none
    texture_low: np.ndarray  # (2,) south-western corner of the texture [m], local
    texture_cell: np.ndarray  # (2,) sides of its cells [m]
    default: int  # id
    normal_restitution: np.ndarray  # (k,) R_n of each material, 0 to 1
    friction: np.ndarray  # (k,) mu of each material
    rolling: np.ndarray  # (k,) moment against rolling, per normal force and arm
    scarring: np.ndarray  # (k,) drag force per momentum in a scar [1/s]


class Texture(NamedTuple):
    """Ids on a raster, in local coordinates."""

    ids: np.ndarray  # (rows, columns) int32, southern row first, NONE where nothing is said
    low: np.ndarray  # (2,) south-western corner [m]
    cell: np.ndarray  # (2,) [m]


NO_TEXTURE = Texture(np.empty((0, 0), dtype=np.int32), np.zeros(2), np.ones(2))


@public
def build_surface(
    triangles: np.ndarray,
    normal_restitution: ArrayLike,
    friction: ArrayLike,
    default: int = 0,
    triangle_material: np.ndarray | None = None,
    regions: Sequence[Region] = (),
    texture: Texture = NO_TEXTURE,
    rolling: ArrayLike | None = None,
    scarring: ArrayLike | None = None,
) -> Surface:
    """The surface of `triangles` (m, 3).

    triangle_material  (m,) ids, NONE where a triangle has none of its own
    rolling            (k,) resistance against rolling, a share of the normal force; None: 0
    scarring           (k,) drag in the scar of an impact per momentum [1/s]; None: 0
    """
    restitution = float_array("normal_restitution", normal_restitution)
    mu = float_array("friction", friction)
    _check_values(restitution, mu)
    default = integer("default", default, 0, len(mu) - 1)
    own = _no_ids() if triangle_material is None else _spread(triangles, triangle_material, len(mu))
    regions = things("regions", regions, Region)
    _check_texture(of_kind("texture", texture, Texture, "a Texture"), len(mu))
    soft = (_soft("rolling", rolling, len(mu)), _soft("scarring", scarring, len(mu)))
    rest = (build_regions(regions), *texture, default, restitution, mu, *soft)
    return Surface._make((*own, *rest))


@public
def uniform_surface(
    normal_restitution: float, friction: float, rolling: float = 0.0, scarring: float = 0.0
) -> Surface:
    """One material everywhere."""
    values = (number("normal_restitution", normal_restitution), number("friction", friction))
    return build_surface(
        np.empty((0, 3), dtype=np.int32),
        [values[0]],
        [values[1]],
        rolling=[number("rolling", rolling)],
        scarring=[number("scarring", scarring)],
    )


def _soft(what: str, given: ArrayLike | None, count: int) -> np.ndarray:
    values = float_array(what, np.zeros(count) if given is None else given)
    if values.shape != (count,) or not ((values >= 0.0) & np.isfinite(values)).all():
        raise InputError(f"{what} is {shown(given)}, must hold {count} finite numbers >= 0.")
    return values


def _check_texture(texture: Texture, count: int) -> None:
    ids = texture.ids
    right = isinstance(ids, np.ndarray) and ids.dtype == np.int32 and ids.ndim == 2
    if not right or (ids.size and not NONE <= ids.min() <= ids.max() < count):
        raise InputError(
            f"texture: ids is {shown(ids)}, must be an array (rows, columns) of int32 with "
            f"materials, 0 to {count - 1}, or {NONE}."
        )
    for name in ("low", "cell"):
        given = getattr(texture, name)
        right = isinstance(given, np.ndarray) and given.dtype == np.float64 and given.shape == (2,)
        if not right or not np.isfinite(given).all() or (name == "cell" and not (given > 0).all()):
            raise InputError(f"texture: {name} is {shown(given)}, must be an array of two numbers.")


def _check_values(restitution: np.ndarray, friction: np.ndarray) -> None:
    """One of each for every material: restitution from 0 to 1, friction of 0 and more."""
    if restitution.ndim != 1 or restitution.shape != friction.shape or not len(friction):
        raise InputError(
            f"normal_restitution and friction have the shapes {restitution.shape} and "
            f"{friction.shape}, must be one number each for every material."
        )
    if not ((restitution >= 0.0) & (restitution <= 1.0)).all():
        raise InputError(f"normal_restitution is {shown(restitution)}, must be from 0 to 1.")
    if not ((friction >= 0.0) & np.isfinite(friction)).all():
        raise InputError(f"friction is {shown(friction)}, must be finite and >= 0.")


def _no_ids():
    return np.empty(0, np.int32), np.empty((0, 3), np.int32), np.empty((0, 3), np.int32)


def _spread(triangles: np.ndarray, ids: np.ndarray, count: int):
    """Ids of triangles, of their edges and of their corners."""
    triangles = index_rows("triangles", triangles, np.iinfo(np.int32).max)
    given = float_array("triangle_material", ids, "integers, the rows of materials")
    if not ((given >= NONE) & (given < count) & (given == np.floor(given))).all():
        raise InputError(
            f"triangle_material is {shown(ids)}, must be materials, 0 to {count - 1}, or {NONE}."
        )
    ids = given.astype(np.int32)
    if ids.shape != (len(triangles),):
        raise InputError(
            f"{ids.size} material ids were given for {len(triangles)} triangles; one each is "
            f"needed, {NONE} where a triangle has none."
        )
    if (ids == NONE).all():
        return _no_ids()
    # As the largest number, NONE never is the least.
    rank = np.where(ids == NONE, np.iinfo(np.int32).max, ids)
    corner = _least(triangles.ravel().astype(np.int64), np.repeat(rank, 3))
    start, end = triangles.astype(np.int64), np.roll(triangles, -1, axis=1).astype(np.int64)
    count = int(triangles.max()) + 1
    key = np.minimum(start, end) * count + np.maximum(start, end)
    edge = _least(key.ravel(), np.repeat(rank, 3))
    return ids, edge.reshape(-1, 3), corner.reshape(-1, 3)


def _least(key: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """For every entry the least rank among those with the same key, as an id."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.concatenate([[0], np.flatnonzero(np.diff(ordered)) + 1])
    least = np.minimum.reduceat(rank[order], first)
    result = np.empty(len(key), dtype=np.int64)
    result[order] = np.repeat(least, np.diff(np.append(first, len(key))))
    return np.where(result == np.iinfo(np.int32).max, NONE, result).astype(np.int32)


@kernel
def _own_material(triangle, feature, surface):
    if surface.triangle_material.shape[0] == 0:
        return NONE
    if feature >= CORNER:
        return surface.corner_material[triangle, feature - CORNER]
    if feature >= EDGE:
        return surface.edge_material[triangle, feature - EDGE]
    return surface.triangle_material[triangle]


@kernel
def _texture_material(x, y, surface):
    rows, columns = surface.texture.shape
    if rows == 0:
        return NONE
    j = floor((x - surface.texture_low[0]) / surface.texture_cell[0])
    i = floor((y - surface.texture_low[1]) / surface.texture_cell[1])
    if i < 0 or j < 0 or i >= rows or j >= columns:
        return NONE
    return surface.texture[i, j]


@kernel
def material_at(triangle, feature, x, y, surface):
    """Id of the material of a contact point.

    triangle  that it lies on
    feature   FACE, EDGE + k or CORNER + k: where on it
    x, y      local [m]
    """
    own = _own_material(triangle, feature, surface)
    if own != NONE:
        return int(own)
    region = region_at(x, y, surface.regions)
    if region != NOWHERE:
        return int(region)
    texture = _texture_material(x, y, surface)
    return int(texture) if texture != NONE else int(surface.default)


@kernel
def materials_at(triangle, feature, x, y, surface, material):
    """`material_at` for arrays of points."""
    for p in range(x.shape[0]):
        material[p] = material_at(triangle[p], feature[p], x[p], y[p], surface)
