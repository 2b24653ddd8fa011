"""Mesh: a closed triangle mesh (polyhedron) of any form, from arrays or a file.

A mesh is taken as it is, never replaced by its convex hull. Its triangles lie in the same tables
as those of a terrain; all bodies that are given the same Mesh share them.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.arrays import MESH
from drystone.model.checks import existing_rows, flag, point_array, positive, shown, vector
from drystone.model.files import as_path
from drystone.model.finding import Finding
from drystone.shapes.compound import Compound
from drystone.shapes.convex_decomposition import decompose
from drystone.shapes.mass_properties import MassProperties, polyhedron_mass, read_only
from drystone.shapes.mesh_repair.check import examine
from drystone.shapes.mesh_repair.files import read_mesh
from drystone.shapes.mesh_repair.repair import repair_mesh
from drystone.shapes.part import Part
from drystone.shapes.surface import Surface
from drystone.shapes.triangle_table import TerrainTable, build_table

GENERATORS = ("triangles", "field")
# A file of a thing larger than this [m] is probably in millimetres.
LARGE_FILE = 10.0


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Mesh:
    """A solid whose surface is made of triangles: closed, oriented outward, not crossing itself.

    vertices   (n, 3) [m]
    faces      (m, 3) integers, corners counter-clockwise seen from outside
    generator  how contacts with other meshes and terrains are found: "triangles", from pairs of
               triangles, or "field", from its signed distance, also if only one of two says so
    repair     True: what can be repaired is, and `findings` says what was done
    reduce     False: every point that was found is a contact, up to 512 of a pair, instead of the
               at most eleven that hold the bodies as well; slow, to compare with

    Vertices at the same place, up to rounding, become one. What is suspicious but can be used is
    in `findings`; what cannot be used raises InputError. Cavities are shells oriented inward.
    """

    table: TerrainTable  # vertices relative to `offset`
    offset: np.ndarray  # (3,) in the shape's frame, near the middle of its box [m]
    faces: np.ndarray  # (m, 3) corners of the triangles, rows of `vertices`
    generator: str
    reduce: bool
    findings: tuple[Finding, ...]

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        generator: str = "triangles",
        repair: bool = False,
        reduce: bool = True,
    ) -> None:
        vertex, offset, face, findings = _accepted("Mesh", vertices, faces, repair)
        self._set(vertex, offset, face, findings, generator, reduce)

    def _set(self, vertex, offset, faces, findings, generator, reduce) -> None:
        """From welded vertices relative to `offset`, already checked."""
        generator, reduce = _known(generator), flag("Mesh: reduce", reduce)
        faces = np.ascontiguousarray(faces, dtype=np.int32)
        faces.flags.writeable = False
        table = build_table(vertex, faces.astype(np.int64))
        fields = {
            "table": replace(table, uses_sdf=generator == "field", reduced=reduce),
            "offset": offset,
            "faces": faces,
            "generator": generator,
            "reduce": reduce,
            "findings": tuple(findings),
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        extent = " x ".join(f"{x:.4g}" for x in np.ptp(self.table.vertex, axis=0))
        return f"Mesh({len(self.faces)} triangles, {extent} m)"

    @property
    def vertices(self) -> np.ndarray:
        """(n, 3) welded vertices in the shape's frame [m]."""
        return self.table.vertex + self.offset

    @property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper corner of the box that holds it, in the shape's frame [m]."""
        vertex = self.table.vertex
        return vertex.min(axis=0) + self.offset, vertex.max(axis=0) + self.offset

    @classmethod
    def load(
        cls,
        path: str | Path,
        scale: float = 1.0,
        repair: bool = False,
        generator: str = "triangles",
        reduce: bool = True,
    ) -> "Mesh":
        """From a file: STL, OBJ, PLY, glTF, ... whatever trimesh reads, with its axes as they are.

        scale  metres per unit of the file: 0.001 if it is in millimetres
        """
        path, scale = as_path(path, "Mesh"), positive("Mesh: scale", scale, "")
        vertices, faces = read_mesh(path)
        with np.errstate(over="ignore"):  # what is too large is named below
            vertices = vertices * scale
        mesh = cls.__new__(cls)
        vertex, offset, faces, findings = _accepted(path.name, vertices, faces, repair)
        mesh._set(vertex, offset, faces, findings, generator, reduce)
        size = float(np.ptp(mesh.table.vertex, axis=0).max())
        if scale == 1.0 and size > LARGE_FILE:
            hint = Finding(
                "hint", path.name, f"is {size:.3g} m large.",
                "Lengths are in metres; a file in millimetres needs scale=0.001.",
            )  # fmt: skip
            object.__setattr__(mesh, "findings", (*mesh.findings, hint))
        return mesh

    def describe(self, put: Callable) -> dict:
        """Plain values for a file; `put` stores an array and returns what stands for it."""
        tables = {"vertex": self.table.vertex, "triangle": self.faces, "offset": self.offset}
        return {
            "generator": self.generator,
            "reduce": self.reduce,
            "findings": [list(finding) for finding in self.findings],
            **{key: put(array) for key, array in tables.items()},
        }

    @classmethod
    def restored(cls, value: dict, get: Callable) -> "Mesh":
        """The mesh that described itself so, bit for bit; `get` is the inverse of `put`."""
        vertex = point_array("Mesh: vertices", get(value["vertex"]), 3)
        offset = np.array(vector("Mesh: offset", get(value["offset"])))
        faces = existing_rows("Mesh: faces", get(value["triangle"]), len(vertex)).reshape(-1, 3)
        findings = [Finding(*map(str, finding)) for finding in value["findings"]]
        errors = [f for f in examine("Mesh", vertex, faces).findings if f.severity == "error"]
        if errors:
            raise InputError(_refusal(errors))
        mesh = cls.__new__(cls)
        mesh._set(vertex, offset, faces, findings, value["generator"], value.get("reduce", True))
        return mesh

    def check(self) -> list[Finding]:
        """What is suspicious about it, and what repair=True did when it was made."""
        return list(self.findings)

    def decompose(
        self, threshold: float = 0.05, most: int | None = None, seed: int = 0
    ) -> Compound:
        """A Compound of ConvexHulls that covers about the same space, by coacd.

        threshold  how hollow a hull may be, as a part of the size; 0.01 is fine, 1 is coarse
        most       hulls at most; None: as many as the threshold asks for

        An approximation that is faster in contact, never made unless asked for. Its mass is
        that of the hulls; for that of the mesh give mass= and inertia= to add_body().
        """
        return decompose(self.vertices, self.faces, threshold, most, seed)

    def mass_properties(self) -> MassProperties:
        return self._mass

    @cached_property  # a thousand bodies may share this shape
    def _mass(self) -> MassProperties:
        volume, centre, inertia = polyhedron_mass(self.table.vertex, self.faces)
        return read_only(MassProperties(volume, centre + self.offset, inertia))

    def parts(self) -> list[Part]:
        return [self._part]

    def surfaces(self) -> list[Surface]:
        return [Surface(self.vertices, self.faces, smooth=False)]

    @cached_property
    def _part(self) -> Part:
        half = np.abs(self.table.vertex).max(axis=0)
        half.flags.writeable = False
        return Part(MESH, half, self.table.radius, self.offset, geometry=self.table)


def _accepted(name: str, vertices, faces, repair: bool):
    """Welded vertices, their offset, faces and findings; raises InputError if they are unusable."""
    done, repair = [], flag("Mesh: repair", repair)
    if repair:
        vertices, faces, done = repair_mesh(name, vertices, faces)
    found = examine(name, vertices, faces, repaired=repair)
    errors = [finding for finding in found.findings if finding.severity == "error"]
    if errors:
        raise InputError(_refusal(errors))
    return found.vertex, found.offset, found.face, [*done, *found.findings]


def _refusal(errors: list[Finding]) -> str:
    """One sentence for each error, the first with the name of the mesh."""
    first, *rest = errors
    text = f"{first.object}: {first.what} {first.fix}"
    return text + "".join(f" Also: it {finding.what}" for finding in rest)


def _known(generator) -> str:
    if not isinstance(generator, str) or generator not in GENERATORS:
        raise InputError(
            f"Mesh: generator is {shown(generator)}, must be one of "
            f"{', '.join(map(repr, GENERATORS))}."
        )
    return generator
