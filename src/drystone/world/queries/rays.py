"""Ray casts: what a ray meets first, for one ray or many."""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.collision.queries.cast import cast_rays
from drystone.errors import InputError
from drystone.model.checks import bits, float_array, shown
from drystone.model.signatures import public
from drystone.world.body import Body, FixedBody
from drystone.world.queries.scene import body_index, scene_of, skipped_shapes


@public
class RayHit(NamedTuple):
    """What a ray met. World axes."""

    body: Body | FixedBody
    distance: float  # from the origin of the ray [m]; 0 if it begins inside the body
    point: np.ndarray  # (3,) [m]
    normal: np.ndarray  # (3,) outward unit normal of the body; against the ray if it begins inside


@public
@dataclass(frozen=True)
class RayHits:
    """What many rays met, one row each. World axes."""

    hit: np.ndarray  # (n,) bool: whether it met anything
    distance: np.ndarray  # (n,) [m], inf without a hit
    point: np.ndarray  # (n, 3) [m], NaN without a hit
    normal: np.ndarray  # (n, 3) unit, zero without a hit
    body: np.ndarray  # (n,) index in world.bodies; -1: the fixed world, or nothing
    _shape: np.ndarray
    _owners: tuple

    @property
    def things(self) -> list[Body | FixedBody | None]:
        """The Body or FixedBody that each ray met, None without a hit."""
        owners = (*self._owners, None)
        return [owners[s] for s in self._shape.tolist()]

    def __len__(self) -> int:
        return len(self.hit)


def _checked_rays(origins, directions, length) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    origin = float_array("ray: origin", origins)
    direction = float_array("ray: direction", directions)
    if origin.shape == (3,) and direction.ndim == 2:
        origin = np.broadcast_to(origin, (len(direction), 3))
    if direction.shape == (3,) and origin.ndim == 2:
        direction = np.broadcast_to(direction, (len(origin), 3))
    if origin.shape == direction.shape == (3,):
        origin, direction = origin[None], direction[None]
    for what, value in (("origin", origin), ("direction", direction)):
        if value.ndim != 2 or value.shape[1] != 3:
            raise InputError(f"ray: {what} has shape {value.shape}, must be (3,) or (n, 3).")
        if not np.isfinite(value).all():
            raise InputError(f"ray: {what} has a number that is not finite.")
    if len(origin) != len(direction):
        raise InputError(f"ray: {len(origin)} origins, but {len(direction)} directions.")
    size = np.sqrt(np.einsum("ij,ij->i", direction, direction))
    if not size.all():
        raise InputError(f"ray: direction {int(np.argmin(size))} is (0, 0, 0), must point away.")
    lengths = float_array("ray: length", length)
    if lengths.shape not in ((), (len(origin),)):
        raise InputError(f"ray: length has shape {lengths.shape}, must be ({len(origin)},) or one.")
    far = np.ascontiguousarray(np.broadcast_to(lengths, len(origin)))
    if np.isnan(far).any() or (far < 0.0).any():
        raise InputError(f"ray: length is {shown(length)}, must be >= 0 [m].")
    return np.ascontiguousarray(origin), direction / size[:, None], far


def ray_casts(
    world, origins: ArrayLike, directions: ArrayLike, length=inf, mask: int = -1, ignore=None
) -> RayHits:
    """See World.ray_casts()."""
    origin, direction, far = _checked_rays(origins, directions, length)
    scene, mask = scene_of(world), bits("ray: mask", mask)
    skipped = skipped_shapes(world, scene, ignore)
    hit, place = np.empty(len(origin), np.int32), np.empty((len(origin), 4))
    cast_rays(
        scene.built.model.shapes, scene.tree, origin - np.array(world._origin), direction, far,
        mask, skipped, hit, place,
    )  # fmt: skip
    met, distance = hit >= 0, place[:, 0].copy()
    point = origin + direction * np.where(met, distance, np.nan)[:, None]
    body = np.where(met, np.append(body_index(scene), -1)[hit], -1)
    return RayHits(met, distance, point, place[:, 1:].copy(), body, hit, scene.owners)


def ray_cast(world, origin, direction, length=inf, mask: int = -1, ignore=None) -> RayHit | None:
    """See World.ray_cast()."""
    given = float_array("ray: origin", origin), float_array("ray: direction", direction)
    if given[0].shape != (3,) or given[1].shape != (3,):
        raise InputError("ray_cast: origin and direction are three numbers; many: ray_casts().")
    hits = ray_casts(world, given[0][None], given[1][None], length, mask, ignore)
    if not hits.hit[0]:
        return None
    return RayHit(hits.things[0], float(hits.distance[0]), hits.point[0], hits.normal[0])
