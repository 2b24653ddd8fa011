"""Shapes of bodies and ground: what a person names, their mass, and their tables."""

from drystone.model.rotation import (
    matrix_from_quaternion,
    quaternion_from_matrix,
    unit_quaternion,
)
from drystone.shapes.box import Box
from drystone.shapes.capsule import Capsule
from drystone.shapes.compound import Compound
from drystone.shapes.convex_hull import ConvexHull
from drystone.shapes.cylinder import Cylinder
from drystone.shapes.mass_properties import MassProperties, principal_axes
from drystone.shapes.mesh import Mesh
from drystone.shapes.mesh_repair.check import check_mesh
from drystone.shapes.part import Part
from drystone.shapes.plane import Plane
from drystone.shapes.polytope import Polytope
from drystone.shapes.sphere import Sphere
from drystone.shapes.tables import Entry, build_shapes
from drystone.shapes.terrain import Terrain
from drystone.shapes.triangle_table import TerrainTable
from drystone.shapes.two_dimensions.disc import Disc
from drystone.shapes.two_dimensions.polygon import Polygon
from drystone.shapes.two_dimensions.segment import Segment

__all__ = [
    "Box",
    "Capsule",
    "Compound",
    "ConvexHull",
    "Cylinder",
    "Disc",
    "Entry",
    "MassProperties",
    "Mesh",
    "Part",
    "Plane",
    "Polygon",
    "Polytope",
    "Segment",
    "Sphere",
    "Terrain",
    "TerrainTable",
    "build_shapes",
    "check_mesh",
    "matrix_from_quaternion",
    "principal_axes",
    "quaternion_from_matrix",
    "unit_quaternion",
]
