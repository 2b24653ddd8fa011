"""Convex hull of points, with coplanar triangles merged into polygons."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.arrays import HULL
from drystone.model.checks import existing_rows, point_array, vector
from drystone.shapes.hull_faces import hull_triangles, merge_faces
from drystone.shapes.mass_properties import MassProperties, read_only
from drystone.shapes.part import NO_SIZE, Part, rounded_offset
from drystone.shapes.polytope import Polytope, polytope_from_loops, polytope_surface
from drystone.shapes.surface import Surface

# Parts of the hull's size (diagonal of its box). Points this near to a face, an edge or each
# other are taken as lying in it: above the rounding of float32 mesh files (6e-8 of the
# coordinates), and a micrometre on a body of one metre.
MERGE_TOLERANCE = 1e-6
# A hull thinner than this is flat for us; ten times the above, so that its two sides stay apart.
FLAT_TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False, init=False, repr=False)
class ConvexHull:
    """Smallest convex body that holds `points` (n, 3) [m], given in the frame of the shape.

    Points inside are dropped; so are those within 1e-6 of the size from a face or edge that
    is there without them. Mass and contact both use the polytope that remains.
    """

    polytope: Polytope  # vertices relative to `offset`
    offset: np.ndarray  # (3,) in the shape's frame, near the centre of mass [m]

    def __init__(self, points: ArrayLike) -> None:
        points = point_array("ConvexHull: points", points, 4)
        polytope, offset = _build(points)
        object.__setattr__(self, "polytope", polytope)
        object.__setattr__(self, "offset", offset)

    def __repr__(self) -> str:
        p = self.polytope
        return f"ConvexHull({len(p.vertex)} vertices, {len(p.face_plane)} faces)"

    @property
    def vertices(self) -> np.ndarray:
        """(n, 3) corners in the shape's frame [m]."""
        return self.polytope.vertex + self.offset

    def mass_properties(self) -> MassProperties:
        return self._mass

    @cached_property  # a thousand bodies may share this shape
    def _mass(self) -> MassProperties:
        volume, centre, inertia = self.polytope.mass_properties()
        return read_only(MassProperties(volume, centre + self.offset, inertia))

    def parts(self) -> list[Part]:
        p = self.polytope
        return [Part(HULL, NO_SIZE, p.radius, self.offset, geometry=p)]

    def surfaces(self) -> list[Surface]:
        return [polytope_surface(self.polytope).moved(self.offset, np.eye(3))]

    def describe(self, put: Callable) -> dict:
        """Plain values for a file; `put` stores an array and returns what stands for it."""
        p = self.polytope
        tables = {"vertex": p.vertex, "face_loop": p.face_loop, "loop": p.loop}
        return {key: put(array) for key, array in (*tables.items(), ("offset", self.offset))}

    @classmethod
    def restored(cls, value: dict, get: Callable) -> "ConvexHull":
        """The hull that described itself so, bit for bit; `get` is the inverse of `put`."""
        vertex = point_array("ConvexHull: vertices", get(value["vertex"]), 3)
        offset = np.array(vector("ConvexHull: offset", get(value["offset"])))
        loops = _loops(get(value["face_loop"]), get(value["loop"]), len(vertex))
        hull = cls.__new__(cls)
        object.__setattr__(hull, "polytope", polytope_from_loops(vertex, loops))
        object.__setattr__(hull, "offset", offset)
        return hull


def _loops(face_loop, loop, vertex_count: int) -> list[list[int]]:
    loop = existing_rows("ConvexHull: faces", loop, vertex_count).tolist()
    faces = [(int(first), int(count)) for first, count in face_loop]
    if any(first < 0 or count < 3 or first + count > len(loop) for first, count in faces):
        raise InputError("ConvexHull: a face does not exist.")
    return [loop[first : first + count] for first, count in faces]


def _build(points: np.ndarray) -> tuple[Polytope, np.ndarray]:
    lower, upper = points.min(axis=0), points.max(axis=0)
    size = float(np.linalg.norm(upper - lower))
    if not size > 0.0:
        raise InputError(
            f"ConvexHull: all {len(points)} points are the same, {points[0].tolist()}. "
            f"Give at least 4 that span a volume."
        )
    offset = rounded_offset(0.5 * (lower + upper), size)
    points = points - offset
    _check_thickness(points, size)
    vertices, triangles = hull_triangles(points, MERGE_TOLERANCE * size)
    vertices, loops = merge_faces(vertices, triangles, MERGE_TOLERANCE * size)
    polytope = polytope_from_loops(vertices, loops)
    # Move the origin to the centre of mass, where the bounding sphere is about smallest.
    shift = rounded_offset(polytope.mass_properties().centre, size)
    if shift.any():
        polytope = polytope_from_loops(vertices - shift, loops)
    return polytope, offset + shift


def _check_thickness(points: np.ndarray, size: float) -> None:
    centred = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    thickness = float(np.ptp(centred @ axes[:, 0]))
    if thickness < FLAT_TOLERANCE * size:
        raise InputError(
            f"ConvexHull: the {len(points)} points lie in a plane (thickness {thickness:.2g} m, "
            f"size {size:.3g} m). Give points that span a volume, or use a thin Box."
        )
