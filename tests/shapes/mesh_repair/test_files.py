"""Mesh files: kinds, units, damage, faces of many corners."""

import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import trimesh

from drystone.errors import InputError
from drystone.shapes import Mesh, Terrain

BOX = trimesh.creation.box((1, 2, 3))
V, F = np.array(BOX.vertices), np.array(BOX.faces)


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
    with pytest.raises(InputError, match="no such file"):
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


@pytest.mark.parametrize("kind", [Mesh, Terrain])
def test_corners_that_do_not_exist_are_named(tmp_path, kind):
    ply = BOX.export(file_type="ply", encoding="ascii").replace(b"3 1 3 0", b"3 1 3 99")
    assert b"3 1 3 99" in ply
    (tmp_path / "far.ply").write_bytes(ply)
    with pytest.raises(InputError, match="far.ply.* 99"):
        kind.load(tmp_path / "far.ply")
    (tmp_path / "far.obj").write_bytes(b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
    with pytest.raises(InputError, match="far.obj has vertex 9"):
        kind.load(tmp_path / "far.obj")


@pytest.mark.parametrize("kind", [Mesh, Terrain])
def test_coordinates_beyond_all_measure_are_named(tmp_path, kind):
    for number in ("1e200", "1e308", "inf", "nan"):
        text = f"v 0 0 0\nv 1 0 0\nv 0 {number} 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
        (tmp_path / "far.obj").write_text(text)
        with pytest.raises(InputError, match=r"finite|too large|at most 1e\+50 m"):
            kind.load(tmp_path / "far.obj")


def zip_bomb(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.obj", b"v 0 0 0\n" * 40_000_000)


def gltf_bomb(path):
    accessor = {"componentType": 5126, "count": 400_000_000, "type": "VEC3"}
    index = {"componentType": 5125, "count": 3, "type": "SCALAR"}
    path.write_text(json.dumps({
        "asset": {"version": "2.0"}, "accessors": [accessor, index],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "nodes": [{"mesh": 0}], "scenes": [{"nodes": [0]}], "scene": 0,
    }))  # fmt: skip


def corner_bomb(path):
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf" + " 1 2 3" * 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("make, name", [(zip_bomb, "a.zip"), (gltf_bomb, "a.gltf"),
                                        (corner_bomb, "a.obj")])  # fmt: skip
def test_a_small_file_takes_no_gigabytes(tmp_path, make, name):
    """In a process of its own, whose memory, with that of its children, is looked at."""
    make(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 1_000_000
    code = (
        "import resource, sys, drystone as ds\n"
        "try: ds.Mesh.load(sys.argv[1])\n"
        "except ds.InputError as error: print(error)\n"
        "with open('/proc/self/status') as status:\n"  # ru_maxrss is that of pytest at the fork
        "    print(next(line.split()[1] for line in status if line.startswith('VmHWM')))\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / name], capture_output=True,
                          text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stderr
    said, own, children = done.stdout.strip().rsplit("\n", 2)
    assert name in said and int(own) < 1 << 20 and int(children) < 1 << 20  # kB


def test_a_mesh_reaches_no_files_elsewhere(tmp_path):
    (tmp_path / "in").mkdir()
    for name, text in trimesh.Scene(BOX).export(file_type="gltf").items():
        (tmp_path / "in" / name).write_bytes(text)
    model = tmp_path / "in" / "model.gltf"
    said = json.loads(model.read_text())
    Mesh.load(model)
    said["buffers"][0]["uri"] = "../" + said["buffers"][0]["uri"]
    model.write_text(json.dumps(said))
    with pytest.raises(InputError, match="not beside it"):
        Mesh.load(model)


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
