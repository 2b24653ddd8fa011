"""Bodies with flush sides that stand on meshes with a field."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.model.arrays import MESH
from drystone.shapes.part import NO_SIZE, Part
from drystone.steppers.precompile import run_fields
from narrow_twin import pose_row
from triangle_twin import bare_parts, box_mesh, el, meet, mesh_part, prism

ROOT2 = np.sqrt(2.0)
# All one metre high, about the origin.
SOLIDS = {
    "cube": trimesh.creation.box((1, 1, 1)),
    "hexagon": trimesh.creation.cylinder(0.5, 1.0, sections=6),
    "cylinder": trimesh.creation.cylinder(0.5, 1.0, sections=32),
    "annulus": trimesh.creation.annulus(0.3, 0.5, 1.0, sections=32),
    "tube": trimesh.creation.annulus(0.4 * ROOT2, 0.5 * ROOT2, 1.0, sections=4),
}


@pytest.fixture(scope="module", autouse=True)
def connected():
    run_fields()  # what the first step of a world does


def shape(name, generator="field"):
    if name == "box":
        return ds.Box(1, 1, 1)
    if name == "hull":
        return ds.ConvexHull(SOLIDS["cylinder"].vertices)
    return ds.Mesh(SOLIDS[name].vertices, SOLIDS[name].faces, generator=generator)


def fielded(mesh) -> Part:
    part = mesh_part(*mesh)
    return Part(MESH, NO_SIZE, part.radius, geometry=replace(part.geometry, uses_sdf=True))


def about_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("shift", [(0, 0), (0.03, 0), (0, -0.2), (0.03, 1e-12), (0.03, 1e-6)])
@pytest.mark.parametrize("depth", [-1e-4, 0.0, 1e-12, 1e-8, 1e-5, 1e-3, 0.05])
def test_flush_cubes_hold_each_other_by_the_face_between_them(shift, depth):
    """At the four corners of the area on which they stand, however deep."""
    cube = fielded(box_mesh(1, 1, 1))
    poses = [pose_row(), pose_row([*shift, 1.0 - depth])]
    (c,) = meet(bare_parts(cube, cube), poses, 1e-3)
    standing = c.normal[:, 2] > 0.999
    assert c.gap[standing] == pytest.approx(-depth, abs=1e-8)  # 1e-6 aside
    spread = np.ptp(c.point[standing, :2], axis=0)
    assert spread == pytest.approx(1.0 - np.abs(shift), abs=2e-5 + 4 * abs(depth))


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-7, 1e-5, 1e-3])
@pytest.mark.parametrize("depth", [0.0, 1e-8, 1e-6, 1e-4])
def test_cubes_that_are_turned_a_little_hold_each_other_at_all_corners(angle, depth):
    cube = fielded(box_mesh(1, 1, 1))
    poses = [pose_row(), pose_row([0, 0, 1.0 - depth], about_z(angle))]
    (c,) = meet(bare_parts(cube, cube), poses, 1e-3)
    standing = c.normal[:, 2] > 0.999
    assert c.gap[standing] == pytest.approx(-depth, abs=1e-9)
    assert np.ptp(c.point[standing, :2], axis=0) == pytest.approx(1.0, abs=2e-3)


def test_flush_cubes_side_by_side_hold_each_other_sideways_alone():
    cube = fielded(box_mesh(1, 1, 1))
    for depth in (0.0, 1e-9, 1e-6, 1e-3):
        (c,) = meet(bare_parts(cube, cube), [pose_row(), pose_row([1.0 - depth, 0, 0])], 1e-3)
        assert len(c.gap) >= 4
        assert c.normal == pytest.approx(np.tile([1.0, 0, 0], (len(c.gap), 1)), abs=1e-9)


@pytest.mark.parametrize("depth", [(0, 0), (1e-6, 1e-6), (1e-6, -1e-6), (-1e-6, 1e-6)])
def test_block_in_the_hollow_of_a_flush_angle_is_held_by_both_of_its_sides(depth):
    """How deep the block is in the upright and in the foot of the L [m]."""
    block = box_mesh(0.05, 0.05, 0.05)
    middle = [0.125 - depth[0], 0.125 - depth[1], 0.025]
    tables = bare_parts(fielded(el()), fielded(block))
    (c,) = meet(tables, [pose_row(), pose_row(middle)], 1e-4)
    push = c.normal.sum(axis=0)
    assert push[0] > 0.9 and push[1] > 0.9
    assert c.normal[:, 2] == pytest.approx(0.0, abs=1e-9)


def rest(lower, upper, position, orientation=(1, 0, 0, 0), seconds=0.6):
    """Where `upper` comes to rest on `lower`, which is turned alike and fixed at the origin."""
    world = ds.World(sleeping=False)
    world.add_fixed(lower, orientation=orientation)
    body = world.add_body(upper, position=position, orientation=orientation)
    world.run(seconds)
    assert np.linalg.norm(body.velocity) < 1e-3
    return body.position


@pytest.mark.parametrize("gap", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("shift", [(0, 0), (0.03, 0), (0.1, 0), (0, -0.3)])
@pytest.mark.parametrize("upper", ["cube", "box"])
def test_cube_stands_on_its_flush_twin(upper, shift, gap):
    position = rest(shape("cube"), shape(upper), (*shift, 1.0 + gap))
    assert position == pytest.approx([*shift, 1.0], abs=1e-4)


@pytest.mark.parametrize("gap", [0.0, 1e-3])
@pytest.mark.parametrize(
    "lower, upper",
    [
        ("hexagon", "hexagon"), ("cylinder", "cylinder"), ("annulus", "annulus"),
        ("cylinder", "annulus"), ("annulus", "cylinder"), ("cylinder", "hull"), ("tube", "tube"),
        ("cube", "tube"),
    ],
)  # fmt: skip
def test_prism_stands_on_a_flush_one(lower, upper, gap):
    position = rest(shape(lower), shape(upper), (0, 0, 1.0 + gap))
    assert position == pytest.approx([0, 0, 1.0], abs=1e-4)


@pytest.mark.parametrize("shift", [0.0, 0.03, 0.1])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_stack_of_flush_cubes_stands(count, shift):
    world, cube = ds.World(sleeping=False), shape("cube")
    world.add_fixed(ds.Plane())
    bodies = [world.add_body(cube, position=(shift * (i % 2), 0, 0.5 + i)) for i in range(count)]
    world.run(1.0)
    for i, body in enumerate(bodies):
        assert body.position == pytest.approx([shift * (i % 2), 0, 0.5 + i], abs=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_random_flush_boxes_rest_as_with_triangles(seed):
    """Sides flush along x or y or both, turned about z, so that rounding is on every side."""
    rng = np.random.default_rng(seed)
    low, high = rng.uniform(0.3, 1.0, size=(2, 3))
    flush = np.array([True, rng.random() < 0.5])[rng.permutation(2)]
    high[:2] = np.where(flush, low[:2], high[:2])
    shift = np.where(flush, 0.0, 0.2 * (low - high)[:2])
    if rng.random() < 0.5:  # one side flush of bodies of other widths
        high[:2] *= np.where(flush, 0.7, 1.0)
        shift = np.where(flush, 0.5 * (low - high)[:2], shift)
    angle = rng.uniform(0, 2 * np.pi)
    turn = (np.cos(0.5 * angle), 0, 0, np.sin(0.5 * angle))
    gap = rng.choice([0.0, 1e-3, 0.05])
    position = (*(about_z(angle)[:2, :2] @ shift), 0.5 * (low + high)[2] + gap)
    found = [
        rest(*[ds.Mesh(*box_mesh(*size), generator=g) for size in (low, high)], position, turn)
        for g in ("triangles", "field")
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-4)
    assert found[1][2] == pytest.approx(0.5 * (low + high)[2], abs=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_random_prism_shifted_along_a_side_rests_as_with_triangles(seed):
    rng = np.random.default_rng(seed)
    angle = np.sort(2 * np.pi * (np.arange(5) + rng.uniform(0, 0.5, 5)) / 5)
    outline = 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    k = rng.integers(5)
    along = outline[k] - outline[k - 1]
    shift = rng.choice([0.02, 0.1]) * along
    solid = prism(outline, 0.4)
    found = [
        rest(*[ds.Mesh(*solid, generator=g)] * 2, (*shift, 0.4 + 1e-3))
        for g in ("triangles", "field")
    ]
    assert found[1] == pytest.approx(found[0], abs=1e-4)
    assert found[1][2] == pytest.approx(0.4, abs=1e-4)
