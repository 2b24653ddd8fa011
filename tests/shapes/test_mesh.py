"""Meshes as shapes: defects that are named, repair, exact mass, files, sharing, saving."""

import re
import sys
from fractions import Fraction

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.errors import InputError
from drystone.model.arrays import MESH
from drystone.shapes import Mesh, check_mesh
from drystone.shapes.mesh_repair.self_intersection import crossing_faces, near_pairs
from mesh_twin import box_mesh, channel, torus
from shared_data import DATA, needs_data

MESHES = DATA / "meshes"
needs_meshes = needs_data(MESHES, "scanned meshes: their defects and exact mass")

BOX = trimesh.creation.box((1, 2, 3))
V, F = np.array(BOX.vertices), np.array(BOX.faces)
SIZE = len(V)


def joined(*pieces):
    """Vertices and faces of several (vertices, faces) as one mesh."""
    shift = np.cumsum([0] + [len(v) for v, _ in pieces])
    faces = [f + s for (_, f), s in zip(pieces, shift, strict=False)]
    return np.vstack([v for v, _ in pieces]), np.vstack(faces)


def changed(array, row, value):
    array = np.array(array, dtype=float if isinstance(value, float) else None)
    array[row] = value
    return array


def turned(faces, *rows):
    faces = faces.copy()
    faces[list(rows)] = faces[list(rows)][:, ::-1]
    return faces


def box_at(x, size=(1, 1, 1)):
    box = trimesh.creation.box(size)
    return np.array(box.vertices) + [x, 0, 0], np.array(box.faces)


def wall_inside():
    """A box with a diagonal wall: an edge of three faces."""
    return V, np.vstack([F, [[0, 1, 7], [0, 7, 6]]])


def spike_through():
    """A ball, one vertex of which was pulled through the other side."""
    ball = trimesh.creation.icosphere(2)
    v = np.array(ball.vertices)
    v[0] = -1.3 * v[0]
    return v, np.array(ball.faces)


def klein_bottle(n=8):
    """A torus whose last ring is glued on in a mirror: closed, but with one side only."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    a, b = 2 * np.pi * i / n, 2 * np.pi * j / n
    r = 3 + np.cos(a / 2) * np.sin(b) - np.sin(a / 2) * np.sin(2 * b)
    z = np.sin(a / 2) * np.sin(b) + np.cos(a / 2) * np.sin(2 * b)
    vertices = np.stack([r * np.cos(a), r * np.sin(a), z], axis=-1).reshape(-1, 3)
    faces = []
    for i in range(n):
        for j in range(n):
            p, q = i * n + j, i * n + (j + 1) % n
            k, m = (((i + 1) * n + j, (i + 1) * n + (j + 1) % n) if i + 1 < n
                    else ((n - j) % n, (n - j - 1) % n))  # fmt: skip
            faces += [(p, q, m), (p, m, k)]
    return vertices, np.array(faces)


FLAT = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.4, 0.5, 0]], dtype=float)
BALL = trimesh.creation.icosphere(1)
BALL = np.array(BALL.vertices), np.array(BALL.faces)

BROKEN = {
    "no faces": ((V, np.zeros((0, 3), int)), "is empty: it has no faces"),
    "no vertices": ((np.zeros((0, 3)), F), "is empty: it has no vertices"),
    "squares": ((V, np.zeros((6, 4), int)), r"faces of shape \(6, 4\)"),
    "two dimensions": ((V[:, :2], F), r"vertices of shape \(8, 2\)"),
    "text": ((V, [["a", "b", "c"]]), "faces that are not numbers"),
    "faces as floats": ((V, F.astype(float)), "faces of float64"),
    "nan": ((changed(V, 3, np.nan), F), "not finite: vertex 3"),
    "infinite": ((changed(V, 5, np.inf), F), "not finite: vertex 5"),
    "endless": ((V * 1e155, F), r"too large: vertex 0 is .*8 such vertices"),
    "complex": ((V + 1j, F), "vertices that are not numbers"),
    "masked": ((np.ma.array(V, mask=V > 1), F), "vertices that are masked"),
    "counted from one": ((V, F + 1), "index out of range"),
    "negative index": ((V, changed(F, (4, 1), -1)), "index out of range: face 4"),
    "all in one point": ((np.zeros((8, 3)), F), "all its vertices at one point"),
    "a face is missing": ((V, F[:-1]), r"is open: edge \d+ - \d+ of face \d+ .*3 such edges"),
    "two holes": ((BALL[0], BALL[1][[k for k in range(80) if k not in (0, 50)]]),
                  "is open: .*around 2 holes"),
    "a face is turned": ((V, turned(F, 7)), "inconsistent winding: .*of face 7"),
    "inside-out": ((V, F[:, ::-1]), "is inside-out"),
    "no area": ((V, np.vstack([F, [[0, 1, 1]]])), r"degenerate faces: face 12 \(corners 0, 1, 1\)"),
    "twice": ((V, np.vstack([F, F[3:4]])), "duplicate faces: face 12 has the corners of face 3"),
    "back to back": ((V, np.vstack([F, F[3:4, ::-1]])), "duplicate faces: face 12"),
    "a wall inside": (wall_inside(), "non-manifold edges: .* shared by 3 faces"),
    "two boxes at an edge": (joined(box_at(0), (box_at(1)[0] + [0, 1, 0], F)),
                             "non-manifold edges: .* shared by 4 faces"),
    "two boxes overlap": (joined(box_at(0), box_at(0.3, (1, 0.9, 0.8))), "intersects itself: face"),
    "two boxes face to face": (joined(box_at(0), box_at(1, (1, 0.5, 0.6))), "intersects itself"),
    "spike through": (spike_through(), "intersects itself: face"),
    "one side only": (klein_bottle(), "inconsistent winding"),
    "flat": ((FLAT, np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [0, 2, 1], [0, 3, 2]])),
             "intersects itself"),
    "a solid in a solid": (joined(box_at(0, (4, 4, 4)), box_at(0)), "a shell within a shell"),
    "one of two inside-out": (joined(box_at(0), (box_at(3)[0], F[:, ::-1])),
                              r"inside-out \(the shell of face 12\)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_broken_mesh_is_refused_and_the_defect_is_named(name):
    (vertices, faces), phrase = BROKEN[name]
    found = check_mesh(vertices, faces)
    assert found[0].severity == "error" and all(f.what and f.fix for f in found)
    with pytest.raises(InputError, match=phrase):
        Mesh(vertices, faces)
    assert any(re.search(phrase, f.what) for f in found)


SUSPICIOUS = {
    "millimetres": ((V * 1000, F), "warning", "implausible units: it is 3e\\+03 m large"),
    "microns": ((V * 1e-5, F), "warning", "implausible units"),
    "triangles of their own": ((V[F].reshape(-1, 3), np.arange(36).reshape(-1, 3)),
                               "hint", "duplicate vertices: 28"),
    "a vertex too many": ((np.vstack([V, [[9, 9, 9]]]), F), "hint", "1 vertices that no face uses"),
    "two bodies": (joined(box_at(0), box_at(3)), "hint", r"2 separate shells \(2 parts\).*face 12"),
    "a cavity": (joined(box_at(0, (4, 4, 4)), (box_at(0)[0], F[:, ::-1])),
                 "hint", "one part and a cavity"),
}  # fmt: skip


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_suspicious_mesh_is_accepted_with_a_finding(name):
    (vertices, faces), severity, phrase = SUSPICIOUS[name]
    mesh = Mesh(vertices, faces)
    found = [f for f in mesh.findings if re.search(phrase, f.what)]
    assert [f.severity for f in found] == [severity]
    assert mesh.check() == list(mesh.findings)


def test_sound_meshes_have_no_findings():
    for mesh in (torus(), channel(), box_mesh(1, 2, 3)):
        assert mesh.findings == () and check_mesh(mesh.vertices, mesh.faces) == []


def test_repair_says_what_it_did_and_leaves_a_sound_mesh():
    ball = trimesh.creation.icosphere(2)
    v, f = np.array(ball.vertices), np.array(ball.faces)
    f = np.vstack([turned(f, 5, 6, 7)[2:], f[10:11], [[3, 3, 4]]])[:, ::-1]
    mesh = Mesh(v, f, repair=True)
    text = " ".join(finding.what for finding in mesh.findings)
    for phrase in ("1 degenerate", "1 duplicate", "2 holes|1 holes", "turned", "inside-out"):
        assert any(part in text for part in phrase.split("|")), (phrase, text)
    assert mesh.mass_properties().volume == pytest.approx(ball.volume, rel=1e-2)
    assert check_mesh(mesh.vertices, mesh.faces) == []


def test_repair_closes_a_crack():
    v, f = np.array(BALL[0]), np.array(BALL[1])
    half = v[f].mean(axis=1)[:, 2] > 0
    upper = f[half] + len(v)
    vertices = np.vstack([v, v + 1e-4])  # the halves do not meet any more
    with pytest.raises(InputError, match="is open"):
        Mesh(vertices, np.vstack([f[~half], upper]))
    mesh = Mesh(vertices, np.vstack([f[~half], upper]), repair=True)
    assert "merged" in mesh.findings[0].what and len(mesh.faces) == len(f)
    assert mesh.mass_properties().volume == pytest.approx(trimesh.Trimesh(v, f).volume, rel=1e-3)


def test_repair_gives_a_corner_on_a_side_to_the_neighbour():
    """A needle between two faces: without it the vertex on the long side would be loose."""
    vertices = np.array([[0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2], [1, 0, 0]], dtype=float)
    faces = np.array([[0, 2, 4], [4, 2, 1], [0, 4, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    with pytest.raises(InputError, match="degenerate"):
        Mesh(vertices, faces)
    mesh = Mesh(vertices, faces, repair=True)
    assert len(mesh.faces) == 6
    assert mesh.mass_properties().volume == pytest.approx(8 / 6)


@pytest.mark.parametrize("parts", [(0.5,), (0.3, 0.8), (0.2, 0.5, 0.9)])
def test_repair_closes_a_slit_of_any_length(parts):
    """Corners on the long edge of a box, which the face on its other side does not know."""
    (a, b, c), count = F[0], len(parts)
    along = np.array([V[a] + part * (V[b] - V[a]) for part in parts])
    fan = [a, *range(SIZE, SIZE + count), b]
    faces = np.vstack([F[1:], [(fan[k], fan[k + 1], c) for k in range(count + 1)]])
    mesh = Mesh(np.vstack([V, along]), faces, repair=True)
    assert "slits were closed" in mesh.findings[0].what
    assert len(mesh.faces) == len(F) + 2 * count
    assert mesh.mass_properties().volume == pytest.approx(6.0)


def test_large_holes_are_not_filled():
    with pytest.raises(InputError, match="is open"):
        Mesh(V, F[2:], repair=True)


LOST = {
    "a large hole": ((V, F[2:]), "is open"),
    "a single triangle": ((V, F[:1]), "is open"),
    "on a line": (([(k, 0, 0) for k in range(4)], [(0, 1, 2), (1, 2, 3), (0, 1, 3), (0, 2, 3)]),
                  r"degenerate faces: face 0 .*4 such faces"),
    "one side only": (klein_bottle(), "non-manifold edges"),
}  # fmt: skip


@pytest.mark.parametrize("name", LOST)
def test_what_repair_cannot_cure_is_refused_without_advising_it(name):
    (vertices, faces), phrase = LOST[name]
    with pytest.raises(InputError, match=phrase) as refusal:
        Mesh(vertices, faces, repair=True)
    assert "repair=True" not in str(refusal.value)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 79), st.integers(0, 79), st.sampled_from(["drop", "turn", "copy", "squeeze"]))
def test_one_defect_anywhere_is_found_and_repaired(a, b, defect):
    v, f = BALL
    word = {"drop": "open", "turn": "winding", "copy": "duplicate", "squeeze": "degenerate"}[defect]
    if defect == "drop":
        f = np.delete(f, a, axis=0)
    elif defect == "turn":
        f = turned(f, a)
    elif defect == "copy":
        f = np.vstack([f, np.roll(f[a], 1 + b % 2)[None]])
    else:
        f = np.vstack([f, [[f[a, 0], f[b, 1], f[a, 0]]]])
    assert any(word in finding.what for finding in check_mesh(v, f))
    volume = Mesh(v, f, repair=True).mass_properties().volume
    assert volume == pytest.approx(Mesh(*BALL).mass_properties().volume, rel=1e-12)


# Self-intersection


def pierces(p, q, a, b, c):
    """Whether segment pq passes through triangle abc, by signs of volumes."""

    def volume(u, v, w, x):
        return np.sign(np.linalg.det([v - u, w - u, x - u]))

    around = {volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)}
    return volume(p, a, b, c) != volume(q, a, b, c) and len(around) == 1


def test_crossings_are_those_of_the_twin():
    rng = np.random.default_rng(4)
    corners = rng.uniform(size=(60, 1, 3)) + 0.25 * rng.normal(size=(60, 3, 3))
    vertex, face = corners.reshape(-1, 3), np.arange(180).reshape(-1, 3)
    wanted = []
    for i in range(60):
        for j in range(i + 1, 60):
            sides = [(x[k], x[k - 2], *y) for x, y in ((corners[i], corners[j]),
                     (corners[j], corners[i])) for k in range(3)]  # fmt: skip
            if any(pierces(*side) for side in sides):
                wanted.append((i, j))
    assert len(wanted) > 50
    np.testing.assert_array_equal(crossing_faces(vertex, face), wanted)


def test_pairs_of_boxes_are_all_found():
    rng = np.random.default_rng(5)
    for count in (1, 2, 3, 77):
        corners = rng.uniform(size=(count, 1, 3)) + 0.1 * rng.normal(size=(count, 3, 3))
        lower, upper = corners.min(axis=1), corners.max(axis=1)
        meet = (lower[:, None] <= upper[None]).all(-1) & (lower[None] <= upper[:, None]).all(-1)
        wanted = {(i, j) for i, j in np.argwhere(meet) if i < j}
        assert {tuple(pair) for pair in near_pairs(corners)} == wanted


# Mass


def exact_mass(vertices, faces):
    """Volume, centre and inertia about it at density 1, in whole numbers of 2**-80 m."""
    unit = 2**80
    x = np.array([[int(Fraction(float(c)) * unit) for c in row] for row in vertices], dtype=object)
    a, b, c = (x[faces[:, k]] for k in range(3))
    det = (a[:, 0] * (b[:, 1] * c[:, 2] - b[:, 2] * c[:, 1])
           + a[:, 1] * (b[:, 2] * c[:, 0] - b[:, 0] * c[:, 2])
           + a[:, 2] * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]))  # fmt: skip
    s = a + b + c
    volume = Fraction(int(det.sum()), 6)
    centre = [Fraction(int((det * s[:, i]).sum()), 24) / volume for i in range(3)]
    second = [[Fraction(int((det * sum(y[:, i] * y[:, j] for y in (s, a, b, c))).sum()), 120)
               - volume * centre[i] * centre[j] for j in range(3)] for i in range(3)]  # fmt: skip
    trace = sum(second[i][i] for i in range(3))
    inertia = [[(trace if i == j else 0) - second[i][j] for j in range(3)] for i in range(3)]
    return (
        float(volume / unit**3),
        np.array([float(c / unit) for c in centre]),
        np.array([[float(m / unit**5) for m in row] for row in inertia]),
    )


def turned_piece():
    """A chess piece in the manner of a pawn, turned from a profile [m]."""
    z = np.linspace(0, 0.04, 30)
    profile = np.column_stack([0.004 + 0.006 * np.cos(9 * z / 0.04) ** 2, z])
    profile[0, 0] = profile[-1, 0] = 0.0
    return trimesh.creation.revolve(profile, sections=40)


def assert_exact(mesh):
    volume, centre, inertia = exact_mass(mesh.vertices, mesh.faces)
    mass = mesh.mass_properties()
    size = np.ptp(mesh.vertices, axis=0).max()
    assert mass.volume == pytest.approx(volume, rel=1e-10)
    np.testing.assert_allclose(mass.centre, centre, rtol=0, atol=1e-10 * size)
    np.testing.assert_allclose(mass.inertia, inertia, rtol=0, atol=1e-10 * inertia.max())


def test_mass_of_a_torus_and_a_turned_piece_is_exact():
    piece = turned_piece()
    assert_exact(torus(around=60, across=30))
    assert_exact(Mesh(piece.vertices, piece.faces))
    assert_exact(Mesh(torus().vertices + [300, 40, 1000], torus().faces))


@needs_meshes
@pytest.mark.parametrize("name", ["stanford-bunny.obj", "pawn.stl", "gear-solid.obj"])
def test_mass_of_scans_is_exact(name):
    scale = 0.001 if name.endswith("stl") else 1.0
    assert_exact(Mesh.load(MESHES / name, scale=scale, repair="bunny" in name))


def test_thin_shell():
    """Half a hollow ball of radius 0.1 m, 1 mm thick."""
    angle = np.linspace(0, np.pi / 2, 40)
    outer = np.column_stack([np.cos(angle), np.sin(angle)]) * 0.1
    inner = outer[::-1] * 0.99
    profile = np.vstack([outer, inner])
    shell = trimesh.creation.revolve(profile[np.r_[:80, 0]], sections=80)
    mesh = Mesh(shell.vertices, shell.faces, repair=True)
    exact = 2 / 3 * np.pi * (0.1**3 - 0.099**3)
    assert mesh.mass_properties().volume == pytest.approx(exact, rel=0.01)


# Files


@pytest.mark.parametrize("kind", ["stl", "obj", "ply", "glb", "gltf"])
def test_files(tmp_path, kind):
    path = tmp_path / f"thing.{kind}"
    if kind == "gltf":
        for name, text in trimesh.Scene(BOX).export(file_type="gltf").items():
            (tmp_path / name).write_bytes(text)
        path = tmp_path / "model.gltf"
    else:
        BOX.export(path)
    mesh = Mesh.load(path, scale=0.001)
    np.testing.assert_allclose(np.ptp(mesh.vertices, axis=0), [0.001, 0.002, 0.003], rtol=1e-6)
    assert mesh.mass_properties().volume == pytest.approx(6e-9, rel=1e-6)


def test_a_file_that_is_large_hints_at_millimetres(tmp_path):
    BOX.copy().apply_scale(20).export(tmp_path / "big.stl")
    assert "scale=0.001" in Mesh.load(tmp_path / "big.stl").findings[-1].fix


def test_bad_files_are_refused(tmp_path):
    (tmp_path / "text.stl").write_text("nothing")
    with pytest.raises(InputError, match="text.stl"):
        Mesh.load(tmp_path / "text.stl")
    with pytest.raises(InputError, match="no file"):
        Mesh.load(tmp_path / "absent.stl")
    open_box = trimesh.Trimesh(V, F[1:])
    open_box.export(tmp_path / "open.ply")
    with pytest.raises(InputError, match="open.ply: is open"):
        Mesh.load(tmp_path / "open.ply")
    with pytest.raises(InputError, match="scale"):
        Mesh.load(tmp_path / "open.ply", scale=0)
    with pytest.raises(InputError, match="too large"):
        BOX.export(tmp_path / "box.ply")
        Mesh.load(tmp_path / "box.ply", scale=1e300)
    for path in (None, 5, b"b.stl"):
        with pytest.raises(InputError, match="the file is .*must be a text"):
            Mesh.load(path)


def damaged_files():
    """Name, content and what is said of it."""
    stl, text = BOX.export(file_type="stl"), BOX.export(file_type="stl_ascii").encode()
    ply = BOX.export(file_type="ply")
    words = BOX.export(file_type="ply", encoding="ascii")
    obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
    return {
        "cut.stl": (stl[:-1], "truncated or damaged: .*12 triangles, .*684 bytes, .*683"),
        "more.stl": (stl + b"garbage", "12 triangles, .*684 bytes, but the file has 691"),
        "count.stl": (stl[:80] + b"\x0d" + stl[81:], "says 13 triangles, .* room for 12"),
        "head.stl": (stl[:50], "truncated: it has 50 bytes"),
        "half.stl": (text[: len(text) // 2], "a facet without its endfacet"),
        "late.stl": (text[: text.index(b"endsolid")], "12 facets, then no endsolid"),
        "large.obj": (obj + b"f 1 2 9\n", "line 4 of large.obj has vertex 9; there are 3"),
        "zero.obj": (obj + b"f 0 1 2\n", "has vertex 0; there are 3, from 1"),
        "two.obj": (obj + b"f 1 2\n", "has 2 corners"),
        "word.obj": (obj + b"f 1 2 x\n", "line 4 of word.obj must hold numbers"),
        "short.obj": (obj[:-3] + b"\nf 1 2 3\n", "fewer than 3 numbers"),
        "cut.ply": (ply[:-9], r"truncated: .*takes \d+ bytes or more, but \d+ follow"),
        "points.ply": (ply[: ply.index(b"end_header") + 11 + 96], "truncated: .* but 96 follow"),
        "head.ply": (ply[:60], "no end_header"),
        "half.ply": (words[:-40], r"truncated: .*takes 20 lines or more, but 1\d follow"),
        "line.ply": (words.rstrip()[:-5], "header says 12 faces, 11 are whole"),
    }


@pytest.mark.parametrize("name", damaged_files())
def test_damaged_files_are_refused_for_what_is_wrong(tmp_path, name):
    content, phrase = damaged_files()[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=phrase):
        Mesh.load(tmp_path / name)


def prism(outline, height=1.0):
    """The text of an OBJ with one face for each end, and squares between."""
    n = len(outline)
    lines = [f"v {x} {y} {z}" for z in (0.0, height) for x, y in outline]
    lines += ["f " + " ".join(str(k) for k in range(n, 0, -1))]
    lines += ["f " + " ".join(str(k - n) for k in range(n))]  # counted from the end
    for k in range(n):
        a, b = k + 1, (k + 1) % n + 1
        lines.append(f"f {a}//1 {b}//1 {b + n}//1 {a + n}//1")
    return "\n".join(lines)


OUTLINES = {
    "L": ([(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)], 0.51),
    "arrow": ([(0, 0), (1, 1), (2, 0), (1, 2)], 1.0),
    "comb": ([(0, 0), (5, 0), (5, 2), (4, 2), (4, 1), (3, 1),
              (3, 2), (2, 2), (2, 1), (1, 1), (1, 2), (0, 2)], 8.0),
    "in line": ([(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (0, 2)], 4.0),
}  # fmt: skip


@pytest.mark.parametrize("name", OUTLINES)
def test_faces_of_many_corners_need_not_be_convex(tmp_path, name):
    outline, area = OUTLINES[name]
    (tmp_path / "prism.obj").write_text(prism(outline))
    mesh = Mesh.load(tmp_path / "prism.obj")
    assert len(mesh.faces) == 4 * len(outline) - 4
    assert mesh.mass_properties().volume == pytest.approx(area)


def test_a_polygon_that_crosses_itself_is_refused(tmp_path):
    (tmp_path / "bow.obj").write_text(prism([(0, 0), (1, 1), (1, 0), (0, 1)]))
    with pytest.raises(InputError, match="intersects itself"):
        Mesh.load(tmp_path / "bow.obj")


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="generator is 'magic'"):
        Mesh(V, F, generator="magic")
    for option in ("reduce", "repair"):
        for value in ("no", None, 2, np.nan):
            with pytest.raises(InputError, match=f"{option} is .*must be True or False"):
                Mesh(V, F, **{option: value})
    assert Mesh(V, F, reduce=np.bool_(False)).reduce is False


SHARED = {
    "bishop.stl": "degenerate faces", "king.stl": "intersects itself",
    "knight.stl": "non-manifold edges", "queen.stl": "intersects itself",
    "rook.stl": "intersects itself", "humerus.stl": "is open", "stanford-bunny.obj": "is open",
    "pawn.stl": None, "l_talus.stl": None, "fandisk.obj": None, "gear-solid.obj": None,
    "rocker-arm.obj": None, "erleben/cliff.obj": None, "erleben/crack.obj": None,
    "erleben/hole.obj": None, "erleben/internal_edges.obj": None, "erleben/spike.obj": None,
    "erleben/wedge.obj": None,
}  # fmt: skip


@needs_meshes
@pytest.mark.parametrize("name", SHARED)
def test_shared_meshes_load_or_are_refused_for_the_right_reason(name):
    if SHARED[name] is None:
        mesh = Mesh.load(MESHES / name)
        assert mesh.mass_properties().volume > 0
        assert not any(finding.severity == "error" for finding in mesh.findings)
    else:
        with pytest.raises(InputError, match=SHARED[name]):
            Mesh.load(MESHES / name)


# Decomposition


def test_decomposition_is_a_compound_of_hulls():
    pytest.importorskip("coacd")
    mesh = channel()
    hulls = mesh.decompose(threshold=0.05)
    assert isinstance(hulls, ds.Compound) and len(hulls.members) >= 3
    volume = mesh.mass_properties().volume
    assert hulls.mass_properties().volume == pytest.approx(volume, rel=0.02)
    assert len(mesh.decompose(threshold=1, most=1).members) == 1
    with pytest.raises(InputError, match="threshold is 7"):
        mesh.decompose(threshold=7)


def test_options_of_a_decomposition_are_checked():
    wrong = {"threshold": ("a", np.nan), "most": (2.5, "a", 0), "seed": ("a", -1, 0.5)}
    for option, values in wrong.items():
        for value in values:
            with pytest.raises(InputError, match=f"{option} is"):
                torus().decompose(**{option: value})


def test_decomposition_without_coacd_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(InputError, match=r"drystone\[mesh\]"):
        torus().decompose()


# In a world


def test_a_thousand_bodies_share_their_tables():
    mesh = torus(0.1, 0.03)
    world = ds.World()
    for k in range(1000):
        world.add_body(mesh, position=(k % 10, k // 10, 0))
    shapes = world._synced().model.shapes
    assert (shapes.kind == MESH).all() and (shapes.table == 0).all()
    assert len(shapes.terrain) == 1 and len(shapes.triangle) == len(mesh.faces)


def test_body_of_a_mesh_has_its_mass_and_box():
    world = ds.World()
    body = world.add_body(torus(), ds.Material(density=1000), position=(1, 2, 3))
    assert body.mass == pytest.approx(1000 * torus().mass_properties().volume)
    lower, upper = body.shape.bounds
    np.testing.assert_allclose(upper - lower, 2 * body.shape.parts()[0].size, atol=1e-5)
    assert "triangles" in repr(body.shape)


def test_findings_are_repeated_by_the_world():
    world = ds.World(gravity=(0, 0, 0))
    world.add_body(Mesh(V * 1000, F), name="huge")
    assert any("huge (Mesh)" in f.object and "units" in f.what for f in world.check())


def test_saved_world_keeps_its_meshes(tmp_path):
    world = ds.World()
    mesh = Mesh(*joined(box_at(0, (0.2, 0.2, 0.2)), box_at(1, (0.2, 0.2, 0.2))), generator="field")
    world.add_fixed(mesh)
    world.add_body(mesh, position=(0, 0, 5))
    world.save(tmp_path / "world.h5")
    loaded = ds.World.load(tmp_path / "world.h5")
    shape = loaded.bodies[0].shape
    assert shape is loaded.fixed[0].shape
    assert shape.generator == "field" and shape.findings == mesh.findings
    np.testing.assert_array_equal(shape.vertices, mesh.vertices)
    np.testing.assert_array_equal(shape.faces, mesh.faces)
    for name in ("vertex", "triangle", "normal", "neighbour", "cell_triangle"):
        np.testing.assert_array_equal(getattr(shape.table, name), getattr(mesh.table, name))
