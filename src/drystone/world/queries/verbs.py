"""The questions that a world answers: the methods of World for rays, closest points and overlap."""

from math import inf
from typing import Any

from numpy.typing import ArrayLike

from drystone.model.signatures import public
from drystone.shapes.part import Shape
from drystone.world.body import Body, FixedBody
from drystone.world.queries import distance, rays
from drystone.world.queries.distance import ClosestPoints
from drystone.world.queries.rays import RayHit, RayHits


@public
class Queries:
    """Rays, closest points, overlap: of the bodies where they are now, no step is needed.

    mask     bits: only things with one of them in their group are seen
    ignore   a body, or several, that are passed over
    """

    def ray_cast(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        length: float = inf,
        mask: int = -1,
        ignore: Any = None,
    ) -> RayHit | None:
        """What a ray of that length [m] meets first: body, distance, point, normal; or None.

        Bodies and closed meshes are solid: a ray that begins inside one meets it at distance 0.
        Terrain is met from its front alone.
        """
        return rays.ray_cast(self, origin, direction, length, mask, ignore)

    def ray_casts(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        length: ArrayLike = inf,
        mask: int = -1,
        ignore: Any = None,
    ) -> RayHits:
        """What many rays meet first, on all cores: (n, 3) origins and directions, or one for all.

        length   one for all, or (n,) [m]
        """
        return rays.ray_casts(self, origins, directions, length, mask, ignore)

    def closest_points(self, a: Body | FixedBody, b: Body | FixedBody) -> ClosestPoints:
        """Where two things are nearest, and how far apart; negative where they overlap."""
        return distance.closest_points(self, a, b)

    def overlap(self, a: Body | FixedBody, b: Body | FixedBody) -> bool:
        """Whether two things touch or overlap."""
        return distance.closest_points(self, a, b).distance <= 0.0

    def closest_to(
        self,
        shape: Shape,
        position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0),
        within: float | None = None,
        mask: int = -1,
        ignore: Any = None,
    ) -> ClosestPoints | None:
        """The thing nearest to a shape that is in no world; None if none is `within` [m]."""
        return distance.closest_to(self, shape, position, orientation, within, mask, ignore)

    def overlaps(
        self,
        shape: Shape,
        position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0),
        mask: int = -1,
        ignore: Any = None,
    ) -> list:
        """The bodies and fixed things that a shape at that pose would touch."""
        return distance.overlaps(self, shape, position, orientation, mask, ignore)
