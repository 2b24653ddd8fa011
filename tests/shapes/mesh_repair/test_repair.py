"""Defects of meshes are named, and those that can be are repaired."""

import re

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.shapes import Mesh, check_mesh
from drystone.shapes.mesh_repair.self_intersection import crossing_faces, near_pairs
from mesh_twin import box_at, box_mesh, channel, joined, torus

BOX = trimesh.creation.box((1, 2, 3))
V, F = np.array(BOX.vertices), np.array(BOX.faces)
SIZE = len(V)


def changed(array, row, value):
    array = np.array(array, dtype=float if isinstance(value, float) else None)
    array[row] = value
    return array


def turned(faces, *rows):
    faces = faces.copy()
    faces[list(rows)] = faces[list(rows)][:, ::-1]
    return faces


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


def test_a_thing_with_a_mask_of_its_own_is_no_masked_array():
    """A Body has one, of collision groups."""

    class Masked:
        _mask = 3

    assert any("not numbers" in finding.what for finding in check_mesh(Masked(), [[0, 1, 2]]))
