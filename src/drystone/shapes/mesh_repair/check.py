"""Validation of triangle meshes: each finding names the defect and the fix.

Faces and vertices are numbered as they were given. Later checks leave out what earlier ones
found to be no triangle at all, so that one defect is not reported as another.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from drystone.model.finding import Finding
from drystone.model.signatures import public
from drystone.shapes.mesh_repair.self_intersection import crossing_faces
from drystone.shapes.mesh_repair.topology import Edges, edges_of, loops_of, shells_of
from drystone.shapes.part import rounded_offset
from drystone.shapes.triangle_table import flat_faces, weld

LARGEST, SMALLEST = 1e3, 1e-4  # [m] outside of this the unit was probably not the metre
# [m] Beyond it moments of inertia, its fifth power, come near the largest float.
ENDLESS = 1e50
# A closed surface that encloses less than this part of the cube of its size encloses nothing:
# rounding of the sum over its faces.
NO_VOLUME = 1e-13
REPAIR = "repair=True does that"


@dataclass
class Surface:
    """A mesh while it is checked."""

    name: str
    vertex: np.ndarray  # (n, 3) welded, relative to `offset` [m]
    offset: np.ndarray  # (3,) [m]
    given: np.ndarray  # (m, 3) corners as given
    face: np.ndarray  # (m, 3) corners, rows of `vertex`
    valid: np.ndarray  # rows of `face` that are triangles and no copies
    repaired: bool = False  # what is still wrong then, repair does not cure
    findings: list = field(default_factory=list)

    def add(self, severity: str, what: str, fix: str) -> None:
        self.findings.append(Finding(severity, self.name, what, fix))

    def or_repair(self, fix: str, repair: str = REPAIR) -> str:
        """The fix by hand, and what repair=True would do where it was not tried."""
        return f"{fix}." if self.repaired else f"{fix}; {repair}."

    @property
    def sound(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    @property
    def size(self) -> float:
        """Longest side of its box [m]."""
        return float(np.ptp(self.vertex, axis=0).max())


@public
def check_mesh(vertices: ArrayLike, faces: ArrayLike) -> list[Finding]:
    """All findings about a mesh of vertices (n, 3) [m] and faces (m, 3), the worst first.

    With an "error" among them Mesh(vertices, faces) raises InputError.
    """
    order = ("error", "warning", "hint")
    found = examine("Mesh", vertices, faces).findings
    return sorted(found, key=lambda finding: order.index(finding.severity))


def examine(name: str, vertices, faces, repaired: bool = False) -> Surface:
    """The welded surface with all that was found; its arrays are of use only if it is sound."""
    surface = welded_surface(name, vertices, faces)
    surface.repaired = repaired
    if not surface.sound:
        return surface
    _check_vertices(surface, len(vertices))
    _check_faces(surface)
    if not len(surface.valid):
        return surface
    edges = edges_of(surface.face[surface.valid], len(surface.vertex))
    _check_edges(surface, edges)
    crossing = _check_crossings(surface)
    if surface.sound:
        _check_shells(surface, edges)
    elif not crossing and edges.closed and edges.oriented:
        _check_volume(surface)
    return surface


# Arrays


def welded_surface(name: str, vertices, faces) -> Surface:
    """The surface of these arrays; without faces, and with errors, if they are none."""
    empty = Surface(name, np.zeros((0, 3)), np.zeros(3), *(np.zeros((0, 3), int),) * 2, np.zeros(0))
    points = _numbers(empty, "vertices", vertices, np.float64, "x, y, z a row")
    corners = _numbers(empty, "faces", faces, None, "triangles; cut larger faces into them")
    if not empty.sound:
        return empty
    _check_values(empty, points, corners)
    if not empty.sound:
        return empty
    corners = corners.astype(np.int64)
    used = points[np.unique(corners)]
    lower, upper = used.min(axis=0), used.max(axis=0)
    size = float(np.linalg.norm(upper - lower))
    if not size > 0.0:
        empty.add("error", "has all its vertices at one point.", "Check the file or the scale.")
        return empty
    offset = rounded_offset(0.5 * (lower + upper), size)
    vertex, number = weld(points - offset, corners)
    return Surface(name, vertex, offset, corners, number[corners], np.arange(len(corners)))


def _numbers(surface: Surface, what: str, values, kind, meaning: str):
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        surface.add("error", f"has {what} that are masked.", "Fill them in, or leave them out.")
        return np.zeros((0, 3))
    try:
        array = np.asarray(values)
        # Not asked for at once: numpy would drop an imaginary part.
        array = array if kind is None or array.dtype.kind == "c" else array.astype(kind)
    except Exception:  # of numbers beyond floats, of objects that raise what they like
        array = None
    if array is None or array.dtype.kind not in "iuf":
        surface.add("error", f"has {what} that are not numbers.", f"Give {what} of shape (n, 3).")
        return np.zeros((0, 3))
    if array.size == 0:
        surface.add("error", f"is empty: it has no {what}.", "Give at least four triangles.")
    elif array.ndim != 2 or array.shape[1] != 3:
        surface.add(
            "error", f"has {what} of shape {array.shape}.", f"It must be (n, 3): {meaning}."
        )
    elif what == "faces" and array.dtype.kind == "f":
        surface.add("error", f"has faces of {array.dtype}.", "Give integers, rows of the vertices.")
    return array


def _check_values(surface: Surface, points, corners) -> None:
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(bad):
        surface.add(
            "error",
            f"has numbers that are not finite: vertex {bad[0]} is {points[bad[0]].tolist()} "
            f"({len(bad)} such vertices).",
            "Remove these vertices and their faces.",
        )
    bad = np.flatnonzero((np.isfinite(points) & (np.abs(points) > ENDLESS)).any(axis=1))
    if len(bad):
        surface.add(
            "error",
            f"has numbers that are too large: vertex {bad[0]} is {points[bad[0]].tolist()} m "
            f"({len(bad)} such vertices).",
            f"Lengths are in metres, at most {ENDLESS:g}; is the scale right?",
        )
    bad = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(bad):
        surface.add(
            "error",
            f"has an index out of range: face {bad[0]} is {corners[bad[0]].tolist()}, but vertices "
            f"go from 0 to {len(points) - 1} ({len(bad)} such faces).",
            "Files that count from 1 need faces - 1.",
        )


# Vertices and faces


def _check_vertices(surface: Surface, given: int) -> None:
    unused = given - len(np.unique(surface.given))
    if unused:
        surface.add("hint", f"has {unused} vertices that no face uses.", "They are left out.")
    double = given - unused - len(surface.vertex)
    if double:
        surface.add(
            "hint",
            f"has duplicate vertices: {double} lie where another one does.",
            "They are merged.",
        )
    if surface.size > LARGEST or surface.size < SMALLEST:
        large = "a file in millimetres needs scale=0.001."
        surface.add(
            "warning",
            f"has implausible units: it is {surface.size:.3g} m large.",
            f"Lengths are in metres; {large if surface.size > 1.0 else 'was it scaled twice?'}",
        )


def _check_faces(surface: Surface) -> None:
    flat = flat_faces(surface.vertex, surface.face)
    bad = np.flatnonzero(flat)
    if len(bad):
        surface.add(
            "error",
            f"has degenerate faces: face {bad[0]} ({_corners(surface, bad[0])}) has no area "
            f"({len(bad)} such faces).",
            surface.or_repair("Remove them"),
        )
    copy, first = copies_of(surface.face)
    copy &= ~flat
    bad = np.flatnonzero(copy)
    if len(bad):
        surface.add(
            "error",
            f"has duplicate faces: face {bad[0]} has the corners of face {first[bad[0]]} "
            f"({_corners(surface, bad[0])}; {len(bad)} such faces).",
            surface.or_repair("Remove the copies"),
        )
    surface.valid = np.flatnonzero(~flat & ~copy)


def copies_of(face: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m,) whether an earlier face has the same corners in any order; (m,) the first such."""
    alike = np.sort(face, axis=1)
    _, first, inverse = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    first = first[inverse.reshape(-1)]
    return first != np.arange(len(face)), first


def _corners(surface: Surface, row: int) -> str:
    return "corners " + ", ".join(map(str, surface.given[row].tolist()))


def _edge(surface: Surface, half_edge: int) -> str:
    """`edge 3 - 7 of face 12` as given; half-edges are numbered among the valid faces."""
    row, k = surface.valid[half_edge // 3], half_edge % 3
    a, b = surface.given[row, k], surface.given[row, (k + 1) % 3]
    return f"edge {a} - {b} of face {row}"


# Edges


def _check_edges(surface: Surface, edges: Edges) -> None:
    if len(edges.open):
        loops = loops_of(surface.face[surface.valid], edges)
        holes = f" around {len(loops)} holes" if len(loops) > 1 else ""
        surface.add(
            "error",
            f"is open: {_edge(surface, edges.open[0])} has no face on its other side "
            f"({len(edges.open)} such edges{holes}).",
            surface.or_repair("Close it", "repair=True fills small holes")
            + " Ground that is open by nature is a Terrain.",
        )
    if len(edges.crowded):
        surface.add(
            "error",
            f"has non-manifold edges: {_edge(surface, edges.crowded[0])} is shared by "
            f"{edges.crowd} faces ({len(edges.crowded)} such edges).",
            "An edge has two faces: remove inner walls, or make each part a Mesh of a Compound.",
        )
    if len(edges.against):
        other = surface.valid[edges.against[0, 1] // 3]
        surface.add(
            "error",
            f"has inconsistent winding: {_edge(surface, edges.against[0, 0])} and of face {other} "
            f"runs the same way in both, so one of them is turned over ({len(edges.against)} such "
            f"edges).",
            surface.or_repair("Turn faces so that all are counter-clockwise seen from outside"),
        )


def _check_crossings(surface: Surface) -> bool:
    pairs = surface.valid[crossing_faces(surface.vertex, surface.face[surface.valid])]
    if len(pairs):
        a, b = pairs[0]
        surface.add(
            "error",
            f"intersects itself: face {a} ({_corners(surface, a)}) passes through face {b} "
            f"({_corners(surface, b)}; {len(pairs)} such pairs).",
            "Unite overlapping parts in a modeller, or give each as a Mesh of a Compound.",
        )
    return len(pairs) > 0


# Volume and shells


def _check_volume(surface: Surface) -> None:
    """Of a surface with other defects, which yet has an inside."""
    face = surface.face[surface.valid]
    volume = signed_volume(surface.vertex, face)
    if volume < 0.0:
        _add_inside_out(surface, "", volume)


def _add_inside_out(surface: Surface, which: str, volume: float) -> None:
    surface.add(
        "error",
        f"is inside-out{which}: faces are clockwise seen from outside (volume {volume:.3g} m³).",
        surface.or_repair("Turn them round with faces[:, ::-1]"),
    )


def signed_volume(vertex: np.ndarray, face: np.ndarray) -> float:
    a, b, c = (vertex[face[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def _check_shells(surface: Surface, edges: Edges) -> None:
    """Of a closed, consistently oriented surface that does not cross itself."""
    label = shells_of(edges)
    count = int(label.max()) + 1
    shells = [surface.face[label == k] for k in range(count)]
    volumes = np.array([signed_volume(surface.vertex, shell) for shell in shells])
    flat = np.flatnonzero(np.abs(volumes) <= NO_VOLUME * surface.size**3)
    if len(flat):
        face = int(np.flatnonzero(label == flat[0])[0])
        surface.add(
            "error",
            f"encloses no volume: the shell of face {face} is flat.",
            "Give it a thickness, or remove it.",
        )
        return
    depth = nesting(surface.vertex, shells, volumes)
    for k in np.flatnonzero((volumes > 0.0) != (depth % 2 == 0)):
        face = int(np.flatnonzero(label == k)[0])
        if depth[k] % 2:
            surface.add(
                "error",
                f"has a shell within a shell: that of face {face} lies inside another and is "
                f"turned outward, so its volume would count twice.",
                surface.or_repair("Turn it inward if it is a cavity, else remove it"),
            )
        else:
            which = f" (the shell of face {face})" if count > 1 else ""
            _add_inside_out(surface, which, volumes[k])
    if count > 1:
        _add_shells(surface, label, depth)


def _add_shells(surface: Surface, label, depth) -> None:
    inner, apart = int((depth % 2).sum()), int((depth % 2 == 0).sum())
    text = f"{apart} parts" if apart > 1 else "one part"
    text += f" and {inner} cavities" if inner > 1 else (" and a cavity" if inner else "")
    first = int(np.flatnonzero(label == 1)[0])
    surface.add(
        "hint",
        f"has {int(label.max()) + 1} separate shells ({text}); the second begins at face {first}.",
        "They move as one body; make a Mesh of each if they should not.",
    )


def nesting(vertex: np.ndarray, shells: list, volumes: np.ndarray) -> np.ndarray:
    """(k,) how many other shells hold each; none of them cross."""
    depth = np.zeros(len(shells), dtype=np.int64)
    boxes = [(vertex[s].min(axis=(0, 1)), vertex[s].max(axis=(0, 1))) for s in shells]
    for i, shell in enumerate(shells):
        point = vertex[shell[0]].mean(axis=0)
        for j, other in enumerate(shells):
            if i == j or abs(volumes[i]) >= abs(volumes[j]):
                continue
            lower, upper = boxes[j]
            if (point < lower).any() or (point > upper).any():
                continue
            depth[i] += abs(winding(vertex[other] - point)) > 0.5
    return depth


def winding(corners: np.ndarray) -> float:
    """Winding number of triangles (m, 3, 3) about the origin: solid angle / 4 pi [Oosterom1983]."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    top = np.einsum("ij,ij->i", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a)))
    return float(np.arctan2(top, la * lb * lc + ab * lc + bc * la + ca * lb).sum() / (2.0 * np.pi))
