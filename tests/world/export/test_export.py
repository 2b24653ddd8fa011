"""Exports, read back by the libraries of the programs that they are for."""

import csv
import json

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.model.rotation import matrix_from_quaternion
from drystone.world.export.drawing import drawing_of_recording, triangles
from drystone.world.export.html import page

TOLERANCE = 1e-6  # [m], and of entries of rotation matrices


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A hundred bodies of several shapes that spin and fall; one comes later, one goes."""
    path = tmp_path_factory.mktemp("export") / "fall.h5"
    rng = np.random.default_rng(3)
    world = ds.World()
    world.add_fixed(ds.Plane())
    world.add_fixed(ds.Box(1, 2, 3), position=(8, 0, 0), name="post")
    shapes = (ds.Box(0.3, 0.2, 0.1), ds.Sphere(0.15), ds.Capsule(0.1, 0.2), ds.Cylinder(0.1, 0.3))
    for k in range(100):
        world.add_body(
            shapes[k % 4], position=(k % 10 - 4.5, k // 10 - 4.5, 2 + rng.random()),
            spin=rng.normal(size=3), name=f"body {k}",
        )  # fmt: skip
    with ds.record(world, path, every=6):
        world.run(0.2)
        world.add_body(ds.Cone(0.2, 0.4), position=(0, 0, 4), name="late")
        world.remove(world["body 7"])
        world.run(0.2)
    with ds.Recording(path) as opened:
        yield opened


@pytest.fixture(scope="module")
def drawing(recording):
    return drawing_of_recording(recording)


def test_a_drawing_holds_every_frame_and_who_is_there(recording, drawing):
    assert drawing.pose.shape == (len(recording), 101, 7)
    there = ~np.isnan(drawing.pose[:, :, 0])
    assert (there.sum(axis=1) == recording.body_counts).all()
    assert not there[0, drawing.names.index("late")]
    assert not there[-1, drawing.names.index("body 7")]


def test_triangles_point_outwards_and_enclose_the_volume():
    for shape in (ds.Box(1, 2, 3), ds.Sphere(1.0), ds.Capsule(0.5, 1), ds.Cone(0.5, 1)):
        geometry = triangles(shape)
        a, b, c = geometry.vertices.reshape(-1, 3, 3).transpose(1, 0, 2)
        volume = np.einsum("ni,ni->", a, np.cross(b, c)) / 6.0
        assert volume == pytest.approx(shape.mass_properties().volume, rel=0.05)
        assert (np.einsum("ni,ni->n", np.cross(b - a, c - a), geometry.normals[::3]) > 0).all()


def _matrix(translation, xyzw):
    x, y, z, w = xyzw
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = matrix_from_quaternion((w, x, y, z)), translation
    return out


def test_gltf_read_by_pygltflib_has_every_pose(recording, drawing, tmp_path):
    pygltflib = pytest.importorskip("pygltflib")
    file = pygltflib.GLTF2().load(str(recording.export(tmp_path / "fall.glb")))
    blob = file.binary_blob()

    def array(index, width):
        accessor = file.accessors[index]
        view = file.bufferViews[accessor.bufferView]
        return np.frombuffer(blob, "<f4", accessor.count * width, view.byteOffset).reshape(
            accessor.count, width
        )

    root = file.nodes[file.scenes[file.scene].nodes[0]]
    upright = _matrix(root.translation, root.rotation)
    # glTF has y up: what is up here, z, must be y there.
    assert upright[:3, :3] @ (0, 0, 1) == pytest.approx((0, 1, 0), abs=1e-12)
    back = np.eye(4)
    back[:3, :3] = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])  # y up to z up
    animation, found = file.animations[0], {}
    for channel in animation.channels:
        sampler = animation.samplers[channel.sampler]
        width = {"translation": 3, "rotation": 4, "scale": 3}[channel.target.path]
        name = file.nodes[channel.target.node].name
        found[name, channel.target.path] = array(sampler.output, width)
        times = array(sampler.input, 1)[:, 0]
    assert times == pytest.approx(drawing.times, abs=1e-6)
    for k, name in enumerate(drawing.names):
        for frame, pose in enumerate(drawing.pose[:, k]):
            if np.isnan(pose[0]):
                assert (found[name, "scale"][frame] == 0).all()
                continue
            own = _matrix(found[name, "translation"][frame], found[name, "rotation"][frame])
            got = back @ upright @ own
            assert np.abs(got[:3, 3] - pose[:3]).max() < TOLERANCE
            assert np.abs(got[:3, :3] - matrix_from_quaternion(pose[3:])).max() < TOLERANCE


def test_gltf_read_by_trimesh_has_the_meshes(recording, tmp_path):
    import trimesh

    scene = trimesh.load(recording.export(tmp_path / "fall.glb"))
    # Nodes with a mesh: 101 bodies and the post. y is up: the bodies hang 2 to 3 m above it.
    assert len(scene.graph.nodes_geometry) == 102
    transform, _ = scene.graph["body 0"]
    assert 1.9 < transform[1, 3] < 3.1


def test_usd_read_by_pixars_library_has_every_pose(recording, drawing, tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    geom = pytest.importorskip("pxr.UsdGeom")
    for ending in (".usdc", ".usda"):
        stage = usd.Stage.Open(str(recording.export(tmp_path / f"fall{ending}")))
        assert geom.GetStageUpAxis(stage) == "Z" and geom.GetStageMetersPerUnit(stage) == 1.0
        rate = stage.GetTimeCodesPerSecond()
        span = (stage.GetEndTimeCode() - stage.GetStartTimeCode()) / rate
        assert span == pytest.approx(drawing.times[-1] - drawing.times[0])
        prims = {prim.GetCustomDataByKey("name"): prim for prim in stage.Traverse()}
        for k, name in enumerate(drawing.names):
            body = geom.Xformable(prims[name])
            for frame, pose in enumerate(drawing.pose[:, k]):
                seen = geom.Imageable(prims[name]).ComputeVisibility(frame) != "invisible"
                assert seen == (not np.isnan(pose[0]))
                if not seen:
                    continue
                got = np.array(body.ComputeLocalToWorldTransform(frame)).T  # USD has rows
                assert np.abs(got[:3, 3] - pose[:3]).max() < TOLERANCE
                assert np.abs(got[:3, :3] - matrix_from_quaternion(pose[3:])).max() < TOLERANCE
        mesh = geom.Mesh(stage.GetPrimAtPath(prims["body 0"].GetPath().AppendChild("surface")))
        assert len(mesh.GetPointsAttr().Get()) == 36  # a box of twelve triangles


def test_tables_hold_every_pose_in_full_precision(recording, drawing, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    with open(recording.export(tmp_path / "fall.csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == recording.body_counts.sum()
    table = parquet.read_table(recording.export(tmp_path / "fall.parquet"))
    assert table.num_rows == len(rows)
    there = drawing.pose[~np.isnan(drawing.pose[:, :, 0])]
    for j, column in enumerate(("x_m", "y_m", "z_m", "qw", "qx", "qy", "qz")):
        assert (np.array([float(row[column]) for row in rows]) == there[:, j]).all()
        assert (table[column].to_numpy() == there[:, j]).all()
    assert rows[0]["name"] == "body 0" and float(rows[-1]["time_s"]) == drawing.times[-1]


def test_ply_read_by_trimesh_stands_where_the_bodies_do(recording, drawing, tmp_path):
    import trimesh

    mesh = trimesh.load(recording.export(tmp_path / "end.ply", frame=0), process=False)
    expected = sum(len(drawing.geometry[k].faces) for k in drawing.shape[:100]) + 12
    assert len(mesh.faces) == expected
    box = mesh.vertices[:36]
    assert box.mean(axis=0) == pytest.approx(drawing.pose[0, 0, :3], abs=1e-6)


def test_a_page_holds_its_script_and_no_address(drawing):
    text = page(drawing._replace(names=["</script>"] * 101), "a <b> title")
    assert "a &lt;b&gt; title" in text and text.count("</script>") == 1
    assert "http://" not in text and "https://" not in text
    start = text.index("const SCENE = ") + len("const SCENE = ")
    scene = json.loads(text[start : text.index(";\n", start)].replace("<\\/", "</"))
    assert len(scene["bodies"]) == 101 and scene["times"] == drawing.times.tolist()


def test_what_cannot_be_written_is_refused_in_a_sentence(recording, tmp_path):
    with pytest.raises(ds.InputError, match="files ending in .gltx cannot be written"):
        recording.export(tmp_path / "fall.gltx")
    with pytest.raises(ds.InputError, match="frame is 99"):
        recording.export(tmp_path / "fall.ply", frame=99)


def test_a_recording_with_overwritten_poses_is_refused_in_a_sentence(recording, tmp_path):
    path = tmp_path / "damaged.h5"
    path.write_bytes(recording.path.read_bytes())
    with h5py.File(path, "r+") as file:
        pose = file["pose"][:]
        pose[len(pose) // 2] = 1e300
        file["pose"][:] = pose
    with ds.Recording(path) as damaged, pytest.raises(ds.InputError, match="damaged: what frame"):
        drawing_of_recording(damaged)
