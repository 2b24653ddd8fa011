"""From the parts of all bodies to the flat tables that the compiled stages read."""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from drystone.model.arrays import BOX, HULL, MESH, TERRAIN, Shapes
from drystone.shapes.bvh.normal_cones import CONE_COLUMNS
from drystone.shapes.bvh.wide import WIDTH, side_by_side
from drystone.shapes.part import Part
from drystone.shapes.polytope import Polytope
from drystone.shapes.sdf.cache import find_sdf
from drystone.shapes.sdf.closest_point import vertex_normals
from drystone.shapes.sdf.feature_samples import find_samples
from drystone.shapes.sdf.octree import VALUES
from drystone.shapes.triangle_table import build_table, flat_faces, with_tree
from drystone.shapes.two_dimensions.outline import Outline

# Worlds are built many times: geometry -> its surface with a tree; that -> its field, its samples
_planted, _fields, _samples = WeakKeyDictionary(), WeakKeyDictionary(), WeakKeyDictionary()


class Entry(NamedTuple):
    """One part of one body, and how it takes part in contact."""

    body: int  # number of the body, FIXED for the world
    part: Part
    local_position: np.ndarray  # (3,) of the part in the body's frame [m]
    local_rotation: np.ndarray  # (3, 3) part axes -> body axes
    material: int  # row of the pair tables
    group: int  # bits: what it is
    mask: int  # bits: what it touches


def build_shapes(entries: list[Entry]) -> Shapes:
    """The tables of these entries, in their order; every geometry is stored once."""
    columns = list(zip(*entries, strict=True)) or [()] * len(Entry._fields)
    body, parts, position, rotation, material, group, mask = columns
    count = len(parts)
    local = np.empty((count, 12))
    local[:, :3] = np.array(position, dtype=np.float64).reshape(count, 3)
    local[:, 3:] = np.array(rotation, dtype=np.float64).reshape(count, 9)
    polytopes, terrains, table = _number_geometries(parts)
    surface = np.full(count, -1, dtype=np.int32)
    if any(part.kind == MESH for part in parts):
        terrains, surface = _plant_all(parts, polytopes, terrains, table)
    return Shapes(
        kind=np.array([part.kind for part in parts], dtype=np.int32),
        body=np.array(body, dtype=np.int32),
        local=local,
        size=np.array([part.size for part in parts], dtype=np.float64).reshape(count, 3),
        radius=np.array([part.radius for part in parts], dtype=np.float64),
        thickness=np.array([part.half_thickness for part in parts], dtype=np.float64),
        table=table,
        surface=surface,
        unreduced=np.array([_is_unreduced(part) for part in parts], dtype=np.int32),
        material=np.array(material, dtype=np.int32),
        group=_bits(group),
        mask=_bits(mask),
        **_polytope_tables(polytopes),
        **_terrain_tables(terrains),
        **_field_tables(terrains),
    )


def _is_unreduced(part) -> bool:
    """Whether all its contacts are kept."""
    return part.kind == MESH and not part.geometry.reduced


def _bits(values) -> np.ndarray:
    """Masks of 32 bits as int32: 0xFFFFFFFF and -1 both mean all bits."""
    return np.array(values, dtype=np.int64).astype(np.int32)


def _number_geometries(parts) -> tuple[list, list, np.ndarray]:
    numbers = {}  # by identity: Polytope and TerrainTable hash so
    polytopes, terrains = [], []
    table = np.full(len(parts), -1, dtype=np.int32)
    for s, part in enumerate(parts):
        if part.geometry is None or isinstance(part.geometry, Outline):
            continue
        number = numbers.get(part.geometry)
        if number is None:
            assert part.kind in (BOX, HULL, TERRAIN, MESH)
            known = terrains if part.kind in (TERRAIN, MESH) else polytopes
            number = numbers[part.geometry] = len(known)
            known.append(part.geometry)
        table[s] = number
    return polytopes, terrains, table


def _plant_all(parts, polytopes, terrains, table) -> tuple[list, np.ndarray]:
    """All surfaces that a mesh can touch, with trees: terrains, meshes, then polytopes."""
    planted = [_plant(geometry) for geometry in (*terrains, *polytopes)]
    kind = np.array([part.kind for part in parts], dtype=np.int32)
    flat = (kind == BOX) | (kind == HULL)
    surface = np.where(flat, table + len(terrains), np.int32(-1))
    return planted, np.where((kind == TERRAIN) | (kind == MESH), table, surface).astype(np.int32)


def _plant(geometry):
    if geometry not in _planted:
        terrain = geometry
        if isinstance(geometry, Polytope):
            faces = geometry.triangles
            faces = faces[~flat_faces(geometry.vertex, faces)]
            terrain = build_table(geometry.vertex, faces.astype(np.int64))
        _planted[geometry] = with_tree(terrain)
    return _planted[geometry]


def _stack(tables, shape=(), dtype=np.int32) -> np.ndarray:
    """All tables end to end; with none, an empty array of the right kind."""
    empty = np.empty((0, *shape), dtype=dtype)
    return np.ascontiguousarray(np.concatenate([empty, *tables]), dtype=dtype)


def _starts(counts: np.ndarray) -> np.ndarray:
    return np.cumsum(counts) - counts


def _counts(items, name: str) -> np.ndarray:
    return np.array([len(getattr(item, name)) for item in items], dtype=np.int64)


def _polytope_tables(polytopes) -> dict[str, np.ndarray]:
    vertices = _counts(polytopes, "vertex")
    faces = _counts(polytopes, "face_plane")
    edges = _counts(polytopes, "edge")
    face_loop = _stack([p.face_loop for p in polytopes], (2,))
    face_loop[:, 0] += np.repeat(_starts(_counts(polytopes, "loop")), faces).astype(np.int32)
    vertex_star = _stack([p.vertex_star for p in polytopes], (2,))
    vertex_star[:, 0] += np.repeat(_starts(_counts(polytopes, "star")), vertices).astype(np.int32)
    rows = (_starts(vertices), vertices, _starts(faces), faces, _starts(edges), edges)
    return {
        "polytope": np.ascontiguousarray(np.stack(rows, axis=1), dtype=np.int32),
        "vertex": _stack([p.vertex for p in polytopes], (3,), np.float64),
        "face_plane": _stack([p.face_plane for p in polytopes], (4,), np.float64),
        "face_loop": face_loop,
        "loop": _stack([p.loop for p in polytopes]),
        "edge": _stack([p.edge for p in polytopes], (4,)),
        "vertex_star": vertex_star,
        "star": _stack([p.star for p in polytopes]),
    }


def _terrain_tables(terrains) -> dict[str, np.ndarray]:
    triangles = _counts(terrains, "triangle")
    cells = np.array([t.cells[0] * t.cells[1] for t in terrains], dtype=np.int64)
    cells_x = np.array([t.cells[0] for t in terrains], dtype=np.int64)
    cells_y = np.array([t.cells[1] for t in terrains], dtype=np.int64)
    entries = _counts(terrains, "cell_triangle")
    starts = _starts(entries)
    first = [t.cell_first[:-1] + start for t, start in zip(terrains, starts, strict=True)]
    rows = (
        _starts(_counts(terrains, "vertex")), _starts(triangles), triangles,
        _starts(cells), cells_x, cells_y,
    )  # fmt: skip
    grid = [[[*t.corner, t.side]] for t in terrains]
    return {
        "terrain": np.ascontiguousarray(np.stack(rows, axis=1), dtype=np.int32),
        "terrain_grid": _stack(grid, (3,), np.float64),
        "terrain_vertex": _stack([t.vertex for t in terrains], (3,), np.float64),
        "triangle": _stack([t.triangle for t in terrains], (3,)),
        "triangle_normal": _stack([t.normal for t in terrains], (3,), np.float64),
        "neighbour": _stack([t.neighbour for t in terrains], (3,)),
        "cell_first": _stack([*first, [entries.sum()]]),
        "cell_triangle": _stack([t.cell_triangle for t in terrains]),
        **_tree_tables(terrains, triangles),
    }


def _tree_tables(terrains, triangles: np.ndarray) -> dict[str, np.ndarray]:
    nodes, children = _counts(terrains, "node_box"), _counts(terrains, "child_link")
    none = [np.zeros(count, np.int32) for count in triangles]
    owns = [bits if t.owns is None else t.owns for t, bits in zip(terrains, none, strict=True)]
    node_links = [t.node_link for t in terrains]
    child_links = [t.child_link for t in terrains]
    cones = _stack([t.child_cone for t in terrains], (CONE_COLUMNS,), np.float64)
    return {
        "tree": np.where(nodes > 0, _starts(nodes), -1).astype(np.int32),
        "node_box": _stack([t.node_box for t in terrains], (6,), np.float64),
        "node_link": _shifted(node_links, nodes, _starts(nodes), triangles),
        "wide_root": np.where(children > 0, _starts(children) // WIDTH, -1).astype(np.int32),
        "wide_box": _stack([t.wide_box for t in terrains], (), np.float64),
        "child_link": _shifted(child_links, children, _starts(children) // WIDTH, triangles),
        "child_cone": cones,
        "wide_cone": side_by_side(cones),
        "owns": _stack(owns),
    }


def _kept(known: WeakKeyDictionary, find, table):
    if table not in known:
        known[table] = find(table)
    return known[table]


def _field_tables(terrains) -> dict[str, np.ndarray]:
    """Tables of those that ask for an SDF and of all that may meet them, else of nothing."""
    terrains = terrains if any(t.uses_sdf for t in terrains) else []
    fields = [_kept(_fields, find_sdf, t) if t.uses_sdf else None for t in terrains]
    samples = [_kept(_samples, find_samples, t) for t in terrains]
    there = [f for f in fields if f is not None]
    cells = np.array([0 if f is None else len(f.child) for f in fields], dtype=np.int64)
    child = _stack([f.child for f in there])
    child += np.where(child >= 0, np.repeat(_starts(cells), cells), 0).astype(np.int32)
    frames = [[[*f.lower, f.side]] if f is not None else np.zeros((1, 4)) for f in fields]
    nodes, tangents = _counts(samples, "sphere"), _counts(samples, "tangent")
    first = [s.tangent_first[:-1] + a for s, a in zip(samples, _starts(tangents), strict=True)]
    normals = [vertex_normals(t.vertex, t.triangle, t.normal) for t in terrains]
    links, segments = [s.link for s in samples], _counts(samples, "segment")
    return {
        "octree": np.where(cells > 0, _starts(cells), -1).astype(np.int32),
        "octree_frame": _stack(frames, (4,), np.float64),
        "octree_child": child,
        "octree_value": _stack([f.value for f in there], (VALUES,), np.float64),
        "vertex_normal": _stack(normals, (3,), np.float64),
        "sample_root": _starts(nodes).astype(np.int32),
        "sample_sphere": _stack([s.sphere for s in samples], (4,), np.float64),
        "sample_link": _shifted(links, nodes, _starts(nodes), segments),
        "sample_segment": _stack([s.segment for s in samples], (6,), np.float64),
        "tangent_first": _stack([*first, [tangents.sum()]]),
        "tangent": _stack([s.tangent for s in samples], (3,), np.float64),
    }


def _shifted(links, counts: np.ndarray, first: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Links to nodes (or wide nodes) and triangles, numbered through all terrains."""
    link = _stack(links, (2,))
    to_node, to_triangle = np.repeat(first, counts), np.repeat(_starts(triangles), counts)
    link[:, 0] += np.where(link[:, 1] > 0, to_triangle, to_node).astype(np.int32)
    return link
