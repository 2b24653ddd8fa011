"""Shapes of bodies and ground: what the user names, their mass, and their tables.

A new convex shape is a file of its own (its class, and the kernels that the narrow phase asks for),
a line in SHAPES below, its kind in model/arrays.py, its branches in kinds.py, and its name in
drystone/__init__.py.
"""

from drystone.model.rotation import (
    matrix_from_quaternion,
    quaternion_from_matrix,
    unit_quaternion,
)
from drystone.model.signatures import public
from drystone.shapes.box import Box
from drystone.shapes.capsule import Capsule
from drystone.shapes.compound import Compound
from drystone.shapes.cone import Cone
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

# All shapes by name, as files know them.
SHAPES = {
    shape.__name__: public(shape)
    for shape in (
        Plane, Sphere, Box, Capsule, Cylinder, Cone, Disc, Polygon, Segment,
        Compound, ConvexHull, Mesh, Terrain,
    )
}  # fmt: skip

__all__ = [
    "SHAPES",
    "Box",
    "Capsule",
    "Compound",
    "Cone",
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
