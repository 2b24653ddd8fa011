"""Meshes against meshes, planes and terrains: distances, overlaps, thin walls, no bumps."""

import numpy as np
import pytest

from drystone.collision.narrowphase.mesh.collide import NEAREST_ONLY
from drystone.collision.narrowphase.mesh.constants import NEARBY, TOUCHING
from drystone.model.arrays import SWEPT_COLUMNS
from drystone.shapes import Plane, Terrain
from narrow_twin import pose_row, random_rotation, turn
from shared_data import DATA, needs_data
from triangle_twin import (
    bare_parts,
    box_mesh,
    bumpy,
    distance,
    el,
    meet,
    mesh_part,
    nothing_kept,
    placed,
    prism,
    star,
    surface_distance,
    torus,
)

ERLEBEN = DATA / "meshes" / "erleben"
RNG = np.random.default_rng(5)
MESHES = {
    "torus": torus(around=16, across=8),
    "el": el(),
    "star": star(),
    "bumpy": bumpy(RNG),
    "box": box_mesh(0.1, 0.1, 0.1),
}
TABLES = {
    (a, b): bare_parts(mesh_part(*MESHES[a]), mesh_part(*MESHES[b])) for a in MESHES for b in MESHES
}
PAIRS = sorted(TABLES)


def apart(a, b, gap, rng):
    """Random poses of two meshes at the distance `gap`, and that distance as the twin says."""
    pose = np.stack([pose_row((0, 0, 0), random_rotation(rng)) for _ in range(2)])
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    pose[1, :3] = 0.6 * way
    for _ in range(30):
        found = distance(placed(MESHES[a], pose[0]), placed(MESHES[b], pose[1]))
        if abs(found - gap) < 0.01 * gap:
            break
        pose[1, :3] -= (found - gap) * way  # never farther than it is: no step goes through
    return pose, found


@pytest.mark.parametrize("a, b", PAIRS)
def test_deepest_contact_is_the_distance(a, b):
    """Against every vertex-face and edge-edge distance, in the separated case, to rounding."""
    rng = np.random.default_rng(PAIRS.index((a, b)))
    for gap in (0.004, 1e-4):
        pose, found = apart(a, b, gap, rng)
        contacts = meet(TABLES[a, b], pose, 0.02)[0]
        assert 1 <= len(contacts.gap) <= 11
        assert contacts.gap.min() == pytest.approx(found, abs=1e-9)
        alone = meet(TABLES[a, b], pose, 0.02, axis=np.full((1, 8), NEAREST_ONLY))[0]
        assert len(alone.gap) == 1 and alone.gap[0] == contacts.gap.min()
        assert len(meet(TABLES[a, b], pose, found - 1e-9)[0].gap) == 0
        assert len(meet(TABLES[a, b], pose, found + 1e-9)[0].gap) >= 1


@pytest.mark.parametrize("a, b", PAIRS)
def test_contacts_span_from_surface_to_surface(a, b):
    rng = np.random.default_rng(100 + PAIRS.index((a, b)))
    pose, _ = apart(a, b, 0.002, rng)
    one, two = placed(MESHES[a], pose[0]), placed(MESHES[b], pose[1])
    contacts = meet(TABLES[a, b], pose, 0.01)[0]
    half = 0.5 * contacts.gap[:, None] * contacts.normal
    assert np.linalg.norm(contacts.normal, axis=1) == pytest.approx(1.0, abs=1e-12)
    assert surface_distance(contacts.point - half, one) == pytest.approx(0.0, abs=1e-9)
    assert surface_distance(contacts.point + half, two) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("a, b", PAIRS)
def test_a_slight_overlap_is_found_where_the_bodies_met(a, b):
    """Pushed together along the normal by 0.2 mm more than the gap, the overlap is that much."""
    rng = np.random.default_rng(200 + PAIRS.index((a, b)))
    pose, found = apart(a, b, 1e-4, rng)
    before = meet(TABLES[a, b], pose, 1e-3)[0]
    normal = before.normal[before.gap.argmin()]
    pose[1, :3] -= (found + 2e-4) * normal
    after = meet(TABLES[a, b], pose, 1e-3)[0]
    assert after.gap.min() == pytest.approx(-2e-4, abs=5e-5)
    deepest = after.normal[after.gap.argmin()]
    assert deepest @ normal > 0.9


def test_either_order_of_the_pair_gives_the_same_contacts():
    rng = np.random.default_rng(8)
    tables = TABLES["star", "torus"]
    for _ in range(5):
        pose, _ = apart("star", "torus", 0.002, rng)
        one, two = meet(tables, pose, 0.01, pairs=((0, 1), (1, 0)))
        assert np.sort(two.gap) == pytest.approx(np.sort(one.gap), abs=1e-12)
        order = [np.linalg.norm(two.point - p, axis=1).argmin() for p in one.point]
        assert two.normal[order] == pytest.approx(-one.normal, abs=1e-9)


@pytest.mark.parametrize("a, b", PAIRS)
def test_cached_triangles_do_not_change_what_is_found(a, b):
    """Two that hardly move against each other: with what they keep and without, same bits.

    How far is looked changes from step to step, and the two begin apart or overlap a little.
    """
    rng = np.random.default_rng(12 + PAIRS.index((a, b)))
    used = 0
    for start in (1e-4, -3e-4, -1e-3):
        pose, _ = apart(a, b, 1e-4, rng)
        nearest = meet(TABLES[a, b], pose, 1e-3)[0]
        pose[1, :3] += (start - 1e-4) * nearest.normal[nearest.gap.argmin()]
        axis, kept = np.zeros((1, 8)), nothing_kept(1)
        for margin in rng.choice([2e-3, 1e-3, 3e-4], size=30):
            pose[1, :3] += rng.normal(size=3) * 2e-5
            pose[1, 3:] = (turn(rng.normal(size=3), 1e-4) @ pose[1, 3:].reshape(3, 3)).ravel()
            before = kept["cached_axis"].copy()
            one = meet(TABLES[a, b], pose, margin, axis=axis, kept=kept)[0]
            two = meet(TABLES[a, b], pose, margin)[0]
            assert len(one.gap) == len(two.gap) and (one.gap == two.gap).all()
            assert (one.point == two.point).all() and (one.normal == two.normal).all()
            used += before[0, 0] == TOUCHING and (before == kept["cached_axis"]).all()
    assert 10 < used < 90


@pytest.mark.parametrize("a, b", PAIRS)
def test_pair_that_may_be_struck_has_its_nearest_contact(a, b):
    """Within the margin, but not by its own motion: one contact, at the distance."""
    rng = np.random.default_rng(200 + PAIRS.index((a, b)))
    pose, found = apart(a, b, 0.004, rng)
    contacts = meet(TABLES[a, b], pose, 0.02, still=True)[0]
    assert len(contacts.gap) == 1 and contacts.gap[0] == pytest.approx(found, abs=1e-9)


@pytest.mark.slow
def test_only_what_the_step_may_bring_together_is_found():
    """Of all candidates those that are nearer than the two approach there, else the nearest."""
    rng, margin, fewer, none = np.random.default_rng(300), 0.02, 0, 0
    for a, b in 6 * PAIRS:
        tables = TABLES[a, b]
        pose, found = apart(a, b, 0.004, rng)
        move, spin = 0.01 * rng.normal(size=(2, 3)), 0.02 * rng.normal(size=(2, 3))
        way = np.zeros((2, SWEPT_COLUMNS))
        way[:, :3], way[:, 4:7], way[:, 7:10] = move, spin, move
        way[:, 3] = tables.radius * np.linalg.norm(spin, axis=1)
        way[:, 10], way[:, 11] = 1e-4, [2e-4, 1e-4]
        every = meet(tables, pose, margin, slots=512)[0]
        some = meet(tables, pose, margin, way=way, slots=512)[0]
        motion = move + np.cross(spin, every.point[:, None] - pose[:, :3])
        approach = ((motion[:, 0] - motion[:, 1]) * every.normal).sum(axis=1)
        slack = 0.05 * min(margin, *tables.thickness) + 4e-4  # gravity once
        expected = every.gap < slack + np.maximum(approach, 0.0)
        if not expected.any():
            none += 1
            assert len(some.gap) == 1 and some.gap[0] == pytest.approx(found, abs=1e-9)
            continue
        assert (some.gap == every.gap[expected]).all()
        assert (some.point == every.point[expected]).all()
        fewer += len(some.gap) < len(every.gap)
    assert fewer > 8 and none > 8


@pytest.mark.parametrize("still", [False, True])
def test_cache_and_number_of_pairs_do_not_change_what_is_found(still):
    """Bodies that drift past each other, with memory from step to step and without, bit for bit.

    They move by themselves and have all contacts; or others may strike them, and they have one.
    """
    rng = np.random.default_rng(9)
    ring = mesh_part(*MESHES["torus"])
    tables = bare_parts(*[ring] * 10)
    pairs = [(i, j) for i in range(10) for j in range(i)]
    axis, memory = np.zeros((len(pairs), 8)), nothing_kept(len(pairs))
    pose = np.stack([
        pose_row(0.16 * np.array([i % 3, i // 3 % 3, i // 9]), random_rotation(rng))
        for i in range(10)
    ])  # fmt: skip
    touched, margin = 0, 0.01 if still else 0.004
    for _ in range(30):
        pose[:, :3] += rng.normal(size=(10, 3)) * 0.002
        for p in pose:
            p[3:] = (turn(rng.normal(size=3), 0.02) @ p[3:].reshape(3, 3)).ravel()
        kept = meet(tables, pose, margin, pairs, axis, memory, still)
        fresh = meet(tables, pose, margin, pairs, still=still)
        for one, two in zip(kept, fresh, strict=True):
            if len(one.gap) == 0 and (two.gap < -0.03).any():
                continue  # it overlapped by more than is looked for, and was taken as apart
            touched += len(one.gap) > 0
            assert len(one.gap) == len(two.gap)
            assert (one.point == two.point).all() and (one.normal == two.normal).all()
            assert (one.gap == two.gap).all()
        alone = [meet(tables, pose, margin, [pair], still=still)[0] for pair in pairs[:5]]
        for one, two in zip(fresh, alone, strict=False):
            assert len(one.gap) == len(two.gap) and (one.point == two.point).all()
    marked = memory["cached_axis"][:, 0] == NEARBY
    assert touched > 100 and (marked.sum() > 5 or not still)


@pytest.mark.parametrize("cuts", [1, 4])
@pytest.mark.parametrize("gap", [1e-4, 0.0, -1e-5, -1e-3])
def test_a_box_on_a_box_stands_on_its_four_corners(cuts, gap):
    """Wherever it stands, however the surfaces are cut into triangles: as on a plane."""
    lower = mesh_part(*box_mesh(0.4, 0.4, 0.1, cuts=5))
    upper = mesh_part(*box_mesh(0.1, 0.1, 0.1, cuts=cuts))
    tables = bare_parts(lower, upper)
    for x in np.linspace(-0.1, 0.1, 23):
        pose = [pose_row(), pose_row((x, 0.31 * x, 0.1 + gap), turn((0, 0, 1), 0.2 + x))]
        contacts = meet(tables, pose, 1e-3)[0]
        assert len(contacts.gap) == 4
        assert contacts.gap == pytest.approx(gap, abs=1e-12)
        assert contacts.normal == pytest.approx(np.tile((0.0, 0.0, 1.0), (4, 1)), abs=1e-9)
        corners = placed(box_mesh(0.1, 0.1, 0.1), pose[1])[0]
        for p in contacts.point:
            assert np.linalg.norm(corners[:, :2] - p[:2], axis=1).min() < 1e-9


def test_crossed_bars_touch_at_the_corners_of_their_common_square():
    bar = mesh_part(*box_mesh(0.4, 0.1, 0.1, cuts=2))
    pose = [pose_row(), pose_row((0.02, 0.01, 0.1), turn((0, 0, 1), np.pi / 2))]
    contacts = meet(bare_parts(bar, bar), pose, 1e-4)[0]
    assert len(contacts.gap) == 4
    expected = {(x, y) for x in (-0.03, 0.07) for y in (-0.05, 0.05)}
    assert {tuple(np.round(p[:2], 9)) for p in contacts.point} == expected


@pytest.mark.parametrize("height", [1e-4, -1e-4, -6e-4])
def test_a_corner_at_a_thin_wall_is_held_by_the_side_it_came_from(height):
    """The wall is 1 mm thick; 0.6 mm inside, the far side is nearer, but it is not the way in."""
    wall = mesh_part(*box_mesh(0.3, 0.3, 0.001, cuts=3))
    box = mesh_part(*box_mesh(0.1, 0.1, 0.1))
    stand = turn((1, -1, 0), np.arctan(np.sqrt(2.0)))  # a corner points down
    for side in (1, -1):
        up = np.diag([1.0, side, side])
        lift = side * (0.0005 + 0.05 * np.sqrt(3.0) + height)
        pose = [pose_row(), pose_row((0, 0, lift), up @ stand)]
        contacts = meet(bare_parts(wall, box), pose, 1e-3)
        assert contacts[0].gap.min() == pytest.approx(height, abs=1e-9)
        assert (side * contacts[0].normal[:, 2] > 0.5).all()


def test_a_corner_in_a_hollow_is_held_by_both_sides():
    """The L from above: an inner corner of two walls; a box pushed into it feels both."""
    walls, box = mesh_part(*el(size=0.1, height=0.4)), mesh_part(*box_mesh(0.04, 0.04, 0.04))
    tables = bare_parts(walls, box)
    for gap in (1e-5, 0.0, -1e-5, -2e-4):
        pose = [pose_row(), pose_row((0.12 + gap, 0.12 + gap, 0.2))]
        contacts = meet(tables, pose, 1e-4)[0]
        for way in np.eye(3)[:2]:
            like = contacts.normal @ way > 0.999
            assert like.sum() == 4
            assert contacts.gap[like] == pytest.approx(gap, abs=1e-12)
        assert len(contacts.gap) == 8


def test_a_ring_around_a_peg_is_held_all_around():
    """Contacts on all sides although each side alone has enough of them to fill the slots."""
    angle = 2 * np.pi * np.arange(48) / 48
    circle = np.stack([np.cos(angle), np.sin(angle)], -1)
    peg = mesh_part(*prism(0.0595 * circle, 0.3))
    ring = mesh_part(*torus(around=48, across=16))
    contacts = meet(bare_parts(peg, ring), [pose_row(), pose_row((0, 0, 0.15))], 2e-3)[0]
    assert 4 <= len(contacts.gap) <= 11
    direction = np.sort(np.arctan2(contacts.normal[:, 1], contacts.normal[:, 0]))
    steps = np.diff(np.append(direction, direction[0] + 2 * np.pi))
    assert steps.max() < np.radians(120)  # else it could leave sideways


@pytest.mark.parametrize("cuts", [1, 3])
def test_on_a_plane_a_mesh_box_is_a_box(cuts):
    tables = bare_parts(Plane().parts()[0], mesh_part(*box_mesh(0.1, 0.2, 0.3, cuts=cuts)))
    contacts = meet(tables, [pose_row(), pose_row((0.3, 0, 0.15 + 1e-4))], 1e-3)[0]
    assert contacts.gap == pytest.approx(1e-4, abs=1e-12)
    assert contacts.normal == pytest.approx(np.tile((0.0, 0.0, 1.0), (4, 1)))
    spots = {tuple(np.round(p[:2] - (0.3, 0.0), 9)) for p in contacts.point}
    assert spots == {(x, y) for x in (-0.05, 0.05) for y in (-0.1, 0.1)}
    turned = meet(tables, [pose_row(), pose_row((0.3, 0, 0.1504))], 1e-3, pairs=((1, 0),))[0]
    assert turned.normal == pytest.approx(np.tile((0.0, 0.0, -1.0), (4, 1)))


@pytest.mark.parametrize("name", MESHES)
def test_on_a_plane_the_lowest_vertex_is_found(name):
    rng = np.random.default_rng(11)
    tables = bare_parts(Plane().parts()[0], mesh_part(*MESHES[name]))
    for _ in range(10):
        pose = np.stack([
            pose_row(rng.normal(size=3), random_rotation(rng)),
            pose_row((0, 0, 0), random_rotation(rng)),
        ])  # fmt: skip
        up = pose[0, 3:].reshape(3, 3)[:, 2]
        low = (placed(MESHES[name], pose[1])[0] - pose[0, :3]) @ up
        pose[1, :3] -= (low.min() + 0.001) * up
        contacts = meet(tables, pose, 1e-3)[0]
        assert contacts.gap.min() == pytest.approx(-0.001, abs=1e-12)
        assert contacts.normal == pytest.approx(np.tile(up, (len(contacts.gap), 1)))


@pytest.mark.parametrize("gap", [1e-4, 0.0, -1e-5, -1e-3])
def test_a_mesh_box_slides_on_flat_triangles_as_on_a_plane(gap):
    """Nothing but the four corners, whatever edges and vertices of the ground they pass."""
    ground = Terrain.from_grid(np.zeros((9, 9)), 0.05, origin=(-0.2, -0.2)).parts()[0]
    tables = bare_parts(ground, mesh_part(*box_mesh(0.06, 0.06, 0.06, cuts=2)))
    for x in np.linspace(-0.1, 0.1, 31):
        pose = [ground_pose(ground), pose_row((x, 0.5 * x, 0.03 + gap), turn((0, 0, 1), x))]
        contacts = meet(tables, pose, 1e-3)[0]
        assert len(contacts.gap) == 4
        assert contacts.gap == pytest.approx(gap, abs=1e-12)
        assert contacts.normal == pytest.approx(np.tile((0.0, 0.0, 1.0), (4, 1)), abs=1e-9)


def ground_pose(part):
    return pose_row(part.position)


def test_a_ring_on_rough_ground_is_as_near_as_the_twin_says():
    rng = np.random.default_rng(12)
    heights = rng.normal(size=(12, 12)) * 0.02
    terrain = Terrain.from_grid(heights, 0.06, origin=(-0.33, -0.33))
    ground = terrain.parts()[0]
    tables = bare_parts(mesh_part(*MESHES["torus"]), ground)
    surface = (terrain.table.vertex + ground.position, terrain.table.triangle)
    for _ in range(8):
        pose = np.stack([pose_row((0, 0, 0.5), random_rotation(rng)), ground_pose(ground)])
        for _ in range(20):
            found = distance(placed(MESHES["torus"], pose[0]), surface)
            if found < 1.01e-3:
                break
            pose[0, 2] -= found - 1e-3
        contacts = meet(tables, pose, 0.01)[0]
        assert contacts.gap.min() == pytest.approx(found, abs=1e-9)
        assert (contacts.normal[contacts.gap.argmin(), 2]) < 0.0


def erleben(name):
    """A mesh of the hard cases, turned so that its y is up."""
    vertices, faces = [], []
    for line in (ERLEBEN / f"{name}.obj").read_text().splitlines():
        kind, *rest = line.split() or [""]
        if kind == "v":
            x, y, z = map(float, rest)
            vertices.append((x, -z, y))
        elif kind == "f":
            faces.append([int(i.split("/")[0]) - 1 for i in rest])
    return np.array(vertices), np.array(faces)


needs_erleben = needs_data(ERLEBEN, "the hard cases of contacts between meshes by Erleben")
UPSIDE_DOWN = turn((1, 0, 0), np.pi)


@needs_erleben
@pytest.mark.parametrize("gap", [0.01, 1e-4, -1e-4])
@pytest.mark.parametrize("name", ["spike", "wedge"])
def test_a_sharp_thing_on_a_flat_one_pushes_straight_up(name, gap):
    tables = bare_parts(mesh_part(*erleben("internal_edges")), mesh_part(*erleben(name)))
    for x in (0.0, 0.31, -0.47):
        pose = [pose_row(), pose_row((x, 0.2 * x, 3.5 + gap), UPSIDE_DOWN)]
        contacts = meet(tables, pose, 0.02)[0]
        assert contacts.gap == pytest.approx(gap, abs=1e-9)
        assert contacts.normal[:, 2] == pytest.approx(1.0, abs=1e-9)
        assert len(contacts.gap) == (1 if name == "spike" else 2)


@needs_erleben
@pytest.mark.parametrize("gap", [0.01, 1e-4])
@pytest.mark.parametrize("name", ["spike", "wedge"])
def test_sharp_things_point_to_point(name, gap):
    """Tip over tip, edge over edge: as they come closer the way between them stays upright."""
    tables = bare_parts(mesh_part(*erleben(name)), mesh_part(*erleben(name)))
    contacts = meet(tables, [pose_row(), pose_row((0, 0, 6 + gap), UPSIDE_DOWN)], 0.02)[0]
    assert contacts.gap.min() == pytest.approx(gap, abs=1e-9)
    assert contacts.normal[:, 2] == pytest.approx(1.0, abs=1e-9)
    crossed = turn((0, 0, 1), np.pi / 2) @ UPSIDE_DOWN
    contacts = meet(tables, [pose_row(), pose_row((0, 0, 6 + gap), crossed)], 0.02)[0]
    assert contacts.gap.min() == pytest.approx(gap, abs=1e-9)
    assert contacts.normal[:, 2] == pytest.approx(1.0, abs=1e-9)


@needs_erleben
@pytest.mark.parametrize("gap", [0.01, 0.0, -0.005])
def test_a_box_over_the_cliff_stands_on_the_part_that_is_there(gap):
    """It hangs over the edge: two corners and the edge of the cliff hold it, nothing else."""
    tables = bare_parts(mesh_part(*erleben("cliff")), mesh_part(*box_mesh(0.4, 0.4, 0.4)))
    contacts = meet(tables, [pose_row(), pose_row((0.45, 0.0, 0.7 + gap))], 0.02)[0]
    assert contacts.gap == pytest.approx(gap, abs=1e-9)
    assert contacts.normal == pytest.approx(np.tile((0.0, 0.0, 1.0), (4, 1)), abs=1e-9)
    spots = {tuple(np.round(p[:2], 9)) for p in contacts.point}
    assert spots == {(x, y) for x in (0.25, 0.5) for y in (-0.2, 0.2)}


@needs_erleben
@pytest.mark.parametrize("gap", [0.003, -0.003])
def test_a_box_over_the_crack_is_held_by_its_rims(gap):
    """The crack opens upward; the box lies across it and must not be drawn in."""
    tables = bare_parts(mesh_part(*erleben("crack")), mesh_part(*box_mesh(1.4, 0.4, 0.4)))
    contacts = meet(tables, [pose_row(), pose_row((0, 0, 0.7 + gap))], 0.02)[0]
    assert contacts.gap == pytest.approx(gap, abs=1e-9)
    assert contacts.normal[:, 2] == pytest.approx(1.0, abs=1e-6)
    assert np.ptp(contacts.point[:, 0]) == pytest.approx(1.4, abs=1e-6)


@needs_erleben
def test_a_wedge_in_the_crack_is_held_by_both_slopes():
    """Its sides are steeper than those of the crack, so its edge touches the ground of it."""
    tables = bare_parts(mesh_part(*erleben("crack")), mesh_part(*erleben("wedge")))
    contacts = meet(tables, [pose_row(), pose_row((0, 0, 3.001), UPSIDE_DOWN)], 0.01)[0]
    assert len(contacts.gap) >= 2
    assert contacts.normal[:, 2].min() > 0.5
    lean = contacts.normal[:, 0]
    assert lean.min() < -0.5 < 0.5 < lean.max()
    assert contacts.gap.min() > 0.0


@needs_erleben
def test_a_block_on_the_hole_is_held_all_around():
    tables = bare_parts(mesh_part(*erleben("hole")), mesh_part(*box_mesh(1.4, 1.4, 0.4)))
    for gap in (0.01, -0.003):
        contacts = meet(tables, [pose_row(), pose_row((0, 0, 0.7 + gap))], 0.02)[0]
        assert contacts.gap == pytest.approx(gap, abs=1e-9)
        assert contacts.normal[:, 2] == pytest.approx(1.0, abs=1e-6)
        assert np.ptp(contacts.point[:, :2], axis=0) == pytest.approx((1.4, 1.4), abs=1e-6)
