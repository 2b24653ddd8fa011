"""Signed distances on octrees, their files, and contacts that are found from them."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.model.arrays import MESH, TERRAIN
from drystone.shapes.bvh.build import OWNS_CORNER
from drystone.shapes.part import NO_SIZE, Part
from drystone.shapes.sdf import cache
from drystone.shapes.sdf.feature_samples import find_samples
from drystone.shapes.triangle_table import build_table, with_tree
from drystone.steppers.precompile import run_fields
from mesh_twin import signed_distance
from narrow_twin import pose_row, random_rotation
from triangle_twin import bare_parts, box_mesh, bumpy, distance, el, meet, mesh_part, placed, torus

MESHES = {
    "torus": torus(),
    "el": el(),
    "bumpy": bumpy(np.random.default_rng(3)),
    "box": box_mesh(0.1, 0.13, 0.07),
}
# Gaps agree with those of the triangles to this part of the smaller radius.
ACCURATE = 1e-6


@pytest.fixture(scope="module", autouse=True)
def connected():
    run_fields()  # what the first step of a world does


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path)
    return tmp_path


def planted(mesh):
    return with_tree(build_table(*mesh))


def fielded(mesh) -> Part:
    part = mesh_part(*mesh)
    return Part(MESH, NO_SIZE, part.radius, geometry=replace(part.geometry, uses_sdf=True))


def both(*meshes):
    """Tables for the two generators."""
    return bare_parts(*[mesh_part(*m) for m in meshes]), bare_parts(*[fielded(m) for m in meshes])


def leaves(found):
    """Lower corner, side and row of every leaf."""
    waiting = [(found.lower, found.side, 0)]
    while waiting:
        lower, side, cell = waiting.pop()
        if found.child[cell] < 0:
            yield lower, side, cell
            continue
        for k in range(8):
            step = np.array([k & 1, k >> 1 & 1, k >> 2])
            waiting.append((lower + 0.5 * side * step, 0.5 * side, found.child[cell] + k))


def interpolated(value, u):
    """Of one cell at u, three numbers from 0 to 1."""
    total = 0.0
    for k in range(8):
        bits = np.array([k & 1, k >> 1 & 1, k >> 2])
        total += value[k] * np.where(bits == 1, u, 1.0 - u).prod()
    return total


@pytest.mark.parametrize("name", MESHES)
def test_corners_of_cells_are_exact_and_the_error_between_them_is_bounded(name, folder):
    vertices, faces = MESHES[name]
    table, rng = planted((vertices, faces)), np.random.default_rng(5)
    found = cache.find_sdf(table)
    cells = list(leaves(found))
    assert 8 * len(cells) == 7 * len(found.child) + 1  # every cell is a leaf or has eight children
    for i in rng.integers(len(cells), size=40):
        lower, side, cell = cells[i]
        k = rng.integers(8)
        corner = lower + side * np.array([k & 1, k >> 1 & 1, k >> 2])
        exact = signed_distance(vertices, faces, corner)
        assert found.value[cell, k] == pytest.approx(exact, abs=1e-12)
        u = rng.uniform(size=3)
        exact = signed_distance(vertices, faces, lower + side * u)
        miss = abs(interpolated(found.value[cell], u) - exact)
        assert miss <= 2.0 * (cache.TOLERANCE * table.radius + cache.SHARE * abs(exact))
        assert miss <= found.value[cell, 8] + 1e-3 * side


def test_a_smaller_tolerance_takes_more_cells_and_misses_by_less(folder):
    table = planted(MESHES["torus"])
    coarse, fine = cache.find_sdf(table, 0.02), cache.find_sdf(table, 0.005)
    assert len(fine.child) > 1.5 * len(coarse.child)
    assert len(list(folder.iterdir())) == 2


def test_field_is_read_from_its_file(folder, monkeypatch):
    table = planted(MESHES["el"])
    made = cache.find_sdf(table)
    monkeypatch.setattr(cache, "build_octree", None)
    read = cache.find_sdf(table)
    assert (read.child == made.child).all() and (read.value == made.value).all()
    with pytest.raises(TypeError):  # another mesh has no file
        cache.find_sdf(planted(MESHES["box"]))


@pytest.mark.parametrize("harm", ["cut", "changed", "empty", "other"])
def test_broken_file_is_made_again(folder, harm):
    table = planted(MESHES["el"])
    made = cache.find_sdf(table)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    if harm == "other":
        np.savez(path, child=made.child, value=made.value + 1e-3, digest=np.zeros(64, np.uint8))
    else:
        half = len(whole) // 2
        changed = whole[:half] + bytes([whole[half] ^ 255]) + whole[half + 1 :]
        path.write_bytes({"cut": whole[:half], "changed": changed, "empty": b""}[harm])
    again = cache.find_sdf(table)
    assert (again.child == made.child).all() and (again.value == made.value).all()
    assert path.read_bytes() == whole and list(folder.iterdir()) == [path]


def test_whatever_byte_of_the_file_is_damaged_it_is_made_again(folder):
    """Archives fail in many ways: methods of packing that nobody knows, passwords, sizes."""
    made = cache.find_sdf(planted(MESHES["box"]))
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    end = whole.rindex(b"PK\x05\x06")
    names = [k for k in range(len(whole)) if whole[k : k + 4] in (b"PK\x01\x02", b"PK\x03\x04")]
    for place in sorted(
        {0, end, *range(end, len(whole)), *(k + j for k in names for j in range(60))}
    ):
        for bits in (1, 255):
            path.write_bytes(whole[:place] + bytes([whole[place] ^ bits]) + whole[place + 1 :])
            found = cache._read(path)
            assert found is None or (found[1] == made.value).all()


def test_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "cache_folder", lambda: tmp_path / "file" / "fields")
    assert len(cache.find_sdf(planted(MESHES["box"])).child) > 1


def test_samples_are_the_corners_and_all_of_the_ridges():
    table = planted(MESHES["box"])
    samples = find_samples(table)
    corner = (samples.segment[:, :3] == samples.segment[:, 3:]).all(axis=1)
    assert corner.sum() == np.count_nonzero(table.owns[:, None] & OWNS_CORNER << np.arange(3)) == 8
    length = np.linalg.norm(samples.segment[~corner, 3:] - samples.segment[~corner, :3], axis=1)
    assert length.sum() == pytest.approx(4 * (0.1 + 0.13 + 0.07))
    assert length.max() <= 0.1 * table.radius * (1 + 1e-12)
    assert (np.diff(samples.tangent_first)[~corner] == 2).all()


def touching(rng, tables, radii, target):
    """Poses of two bodies whose gap, by the triangles, is `target`."""
    direction, x = rng.normal(size=3), sum(radii)
    direction /= np.linalg.norm(direction)
    first, turn = pose_row(np.zeros(3), random_rotation(rng)), random_rotation(rng)
    for _ in range(60):
        poses = [first, pose_row(x * direction, turn)]
        gap = meet(tables, poses, 0.3 * min(radii))[0].gap
        if len(gap) and gap.min() <= target + 1e-9:
            return poses
        x -= gap.min() - target if len(gap) else 0.25 * min(radii)
    return None


@pytest.mark.parametrize("names", [("torus", "torus"), ("bumpy", "box"), ("el", "torus")])
def test_gaps_and_normals_are_those_of_the_triangles(names):
    meshes, rng = [MESHES[name] for name in names], np.random.default_rng(7)
    one, two = both(*meshes)
    seen = 0
    for target in (1e-3, 1e-4, 0.0, -1e-6) * 8:
        poses = touching(rng, one, one.radius, target)
        if poses is None:
            continue
        (c,), (d,) = meet(one, poses, 2e-3), meet(two, poses, 2e-3)
        if c.gap.min() < -1e-5:
            continue  # it came to lie in the other: the way out is a matter of choice
        assert 0 < len(d.gap) <= 11
        i, j = c.gap.argmin(), d.gap.argmin()
        assert d.gap[j] == pytest.approx(c.gap[i], abs=ACCURATE * min(one.radius))
        if d.gap[j] > 1e-5:
            least = distance(*[placed(m, p) for m, p in zip(meshes, poses, strict=True)])
            assert d.gap[j] == pytest.approx(least, abs=ACCURATE * min(one.radius))
        assert d.normal[j] @ c.normal[i] > 0.999
        seen += 1
    assert seen > 10


def test_a_field_on_one_side_is_enough():
    """Against a plain mesh, in either order, and a terrain; the same contacts as with two."""
    rng = np.random.default_rng(11)
    one, two = both(MESHES["torus"], MESHES["box"])
    torus_part, box_part = mesh_part(*MESHES["torus"]), mesh_part(*MESHES["box"])
    mixed = (
        bare_parts(fielded(MESHES["torus"]), box_part),
        bare_parts(torus_part, fielded(MESHES["box"])),
        bare_parts(fielded(MESHES["torus"]), replace(box_part, kind=TERRAIN)),
    )
    for _ in range(6):
        poses = touching(rng, one, one.radius, 1e-4)
        (expected,) = meet(two, poses, 1e-3)
        for tables in mixed:
            (found,) = meet(tables, poses, 1e-3)
            assert found.gap.min() == pytest.approx(expected.gap.min(), abs=1e-9)
            (turned,) = meet(tables, poses, 1e-3, pairs=((1, 0),))
            j, k = found.gap.argmin(), turned.gap.argmin()
            assert turned.normal[k] == pytest.approx(-found.normal[j], abs=1e-4)


def test_crossed_planks_touch_where_their_edges_cross():
    plank = box_mesh(1.0, 0.2, 0.1)
    tables = bare_parts(fielded(plank), fielded(plank))
    quarter = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    for gap in (1e-4, -1e-4):
        (c,) = meet(tables, [pose_row(), pose_row([0, 0, 0.1 + gap], quarter)], 1e-3)
        assert sorted(map(tuple, np.round(c.point[:, :2], 3))) == [
            (-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)
        ]  # fmt: skip
        assert c.gap == pytest.approx(gap, rel=1e-3)
        assert c.normal == pytest.approx(np.tile([0, 0, 1.0], (4, 1)), abs=1e-9)


def test_deep_corners_all_leave_through_the_face_that_is_nearest_to_the_deepest():
    """PENALTY (4): a corner near the side of the box below is nearer to that side, not to the top,
    and yet it came in through the top."""
    below, above = box_mesh(1.0, 1.0, 1.0), box_mesh(0.8, 0.8, 0.8)
    tables = bare_parts(fielded(below), fielded(above))
    (c,) = meet(tables, [pose_row(), pose_row([0.07, 0.06, 0.84])], 1e-3)
    corners = c.gap < -0.05
    assert corners.sum() >= 3
    assert c.normal[corners] == pytest.approx(np.tile([0, 0, 1.0], (corners.sum(), 1)), abs=1e-9)
    assert c.gap.min() == pytest.approx(-0.06, abs=1e-9)


def test_corner_in_a_hollow_is_held_by_both_faces():
    """The tip of a tetrahedron in the inner corner of the L, a hundredth of a millimetre off."""
    tip = np.array([[0.0, 0.0, 0.0], [0.05, 0.03, 0.01], [0.03, 0.05, -0.01], [0.05, 0.05, 0.04]])
    faces = np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]])
    if trimesh.Trimesh(tip, faces).volume < 0:
        faces = faces[:, ::-1]
    tables = bare_parts(fielded(el()), fielded((tip, faces)))
    (c,) = meet(tables, [pose_row(), pose_row([0.10001, 0.10002, 0.02])], 1e-4)
    assert sorted(map(tuple, np.round(c.normal, 9) + 0.0)) == [(0, 1, 0), (1, 0, 0)]
    assert sorted(c.gap) == pytest.approx([1e-5, 2e-5], abs=1e-9)


def stack_height(generator, count=10):
    """Height of the uppermost of tori that were dropped on each other, turned and shifted."""
    vertices, faces = torus(around=16, across=8)
    ring = ds.Mesh(vertices, faces, generator=generator)
    world = ds.World(dt=1 / 120)
    world.add_fixed(ds.Plane())
    for i in range(count):
        turn = (np.cos(0.2 * i), 0, 0, np.sin(0.2 * i))
        shift = (0.003 * np.sin(2 * i), 0.003 * np.cos(2 * i), 0.042 + 0.083 * i)
        top = world.add_body(ring, ds.Material(friction=0.8), position=shift, orientation=turn)
    world.run(3.0)
    assert np.linalg.norm(top.velocity) < 0.01
    return top.position[2]


def test_pile_of_tori_settles_to_the_same_height_with_both_generators():
    heights = [stack_height(generator) for generator in ("triangles", "field")]
    assert heights[1] == pytest.approx(heights[0], rel=0.01)
    assert 0.6 < heights[1] < 0.8


def test_ring_falls_along_a_peg_through_its_hole():
    """The peg is in the hole all the way, and the ring ends flat on the ground around it."""
    vertices, faces = torus()
    ring = ds.Mesh(vertices, faces, generator="field")
    peg = trimesh.creation.cylinder(0.055, 0.6, sections=24)
    world = ds.World(dt=1 / 240)
    world.add_fixed(ds.Plane())
    smooth = ds.Material(friction=0.1)
    world.add_fixed(
        ds.Mesh(peg.vertices, peg.faces, generator="field"), smooth, position=(0, 0, 0.3)
    )
    body = world.add_body(ring, smooth, position=(0.002, 0, 0.4))
    world.run(0.7)
    assert body.position[2] == pytest.approx(0.04, abs=1e-3)
    assert np.hypot(*body.position[:2]) < 0.006


def test_mesh_with_a_field_rests_on_a_terrain():
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 6), np.linspace(-0.5, 0.5, 6))
    world = ds.World(dt=1 / 240)
    flat = ds.Terrain.from_grid(np.zeros_like(x), 0.2, (-0.5, -0.5))
    world.add_fixed(flat)
    cuboid = ds.Mesh(*box_mesh(0.2, 0.2, 0.1), generator="field")
    block = world.add_body(cuboid, position=(0.03, 0.01, 0.06))
    world.run(0.5)
    assert block.position == pytest.approx([0.03, 0.01, 0.05], abs=1e-4)
