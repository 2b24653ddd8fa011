"""Box trees over triangles: every triangle in one leaf, every box holds its own, who owns what."""

from functools import cache

import numpy as np
import pytest

from drystone.shapes import Box, Terrain
from drystone.shapes.bvh.build import MOST_LEVELS, build_tree
from drystone.shapes.bvh.wide import GROWTH, WIDTH, build_wide
from drystone.shapes.triangle_table import build_table, with_tree
from narrow_twin import bare_shapes
from triangle_twin import bare_parts, box_mesh, bumpy, el, mesh_part, star, torus

MESHES = {
    "torus": torus(),
    "el": el(),
    "star": star(),
    "box": box_mesh(1.0, 2.0, 3.0, cuts=3),
    "bumpy": bumpy(np.random.default_rng(3)),
}


def planted(mesh):
    return with_tree(build_table(*mesh))


def bits(table, first):
    """(triangle, which) of every set bit first * 2**k, k < 3."""
    return [(t, i) for t in range(len(table.owns)) for i in range(3) if table.owns[t] & first << i]


@pytest.mark.parametrize("name", MESHES)
def test_leaves_hold_every_triangle_once_and_boxes_hold_their_own(name):
    table = planted(MESHES[name])
    corners = table.vertex[table.triangle]
    seen, deepest = [], 0
    waiting = [(0, 0)]
    while waiting:
        node, level = waiting.pop()
        deepest = max(deepest, level)
        second, count = table.node_link[node]
        low, high = table.node_box[node, :3], table.node_box[node, 3:]
        if count:
            assert count <= 4
            own = np.arange(second, second + count)
            seen.extend(own)
            assert (corners[own].min(axis=(0, 1)) == low).all()
            assert (corners[own].max(axis=(0, 1)) == high).all()
            continue
        for child in (node + 1, second):
            assert (table.node_box[child, :3] >= low).all()
            assert (table.node_box[child, 3:] <= high).all()
            waiting.append((child, level + 1))
    assert sorted(seen) == list(range(len(table.triangle)))
    assert deepest <= MOST_LEVELS


def opened_surface(table, child_node, child_link):
    """Surface of all wide nodes, boxes grown as in wide.py; that of the best."""
    side = table.node_box[:, 3:] - table.node_box[:, :3]
    side += GROWTH * np.sqrt(half_area(side[0]))

    @cache
    def best(node, room):
        second, count = table.node_link[node]
        if count:
            return 0.0
        split = min(
            (best(node + 1, k) + best(second, room - k) for k in range(1, room)), default=np.inf
        )
        return min(split, half_area(side[node]) + best_below(node))

    def best_below(node):
        second = table.node_link[node, 0]
        return min(best(node + 1, k) + best(second, WIDTH - k) for k in range(1, WIDTH))

    inner = child_node[(child_link[:, 1] == 0) & (child_node >= 0)]
    return sum(half_area(side[node]) for node in inner), best(0, 1)


def half_area(side):
    return side[0] * side[1] + side[1] * side[2] + side[2] * side[0]


@pytest.mark.parametrize("name", MESHES)
def test_lanes_hold_every_leaf_in_the_order_of_the_tree_and_little_surface(name):
    table = planted(MESHES[name])
    _, child_link, child_node = build_wide(table.node_box, table.node_link)
    leaves, waiting = [], [0]
    while waiting:
        child = waiting.pop()
        if child_link[child, 1] > 0:
            leaves.append(child_node[child])
            continue
        siblings = range(WIDTH * child_link[child, 0], WIDTH * child_link[child, 0] + WIDTH)
        waiting.extend(k for k in reversed(siblings) if child_node[k] >= 0)
    assert leaves == list(np.flatnonzero(table.node_link[:, 1] > 0))
    opened, best = opened_surface(table, child_node, child_link)
    assert opened == pytest.approx(best, rel=1e-5)  # they are weighed in single precision


def test_triangles_on_one_spot_are_halved():
    """No cut tells them apart, and the tree must not become as deep as they are many."""
    triangle = np.zeros((1000, 3), np.int32) + np.arange(3, dtype=np.int32)
    order, node_box, node_link = build_tree(np.eye(3), triangle)
    assert sorted(order) == list(range(1000))
    assert node_link[node_link[:, 1] > 0, 1].sum() == 1000


@pytest.mark.parametrize("name", MESHES)
def test_a_tree_changes_the_order_of_the_triangles_and_nothing_else(name):
    before = build_table(*MESHES[name])
    after = with_tree(before)

    def named(table):
        return {tuple(np.roll(t, -t.argmin())): i for i, t in enumerate(table.triangle)}

    old, new = named(before), named(after)
    assert old.keys() == new.keys()
    for corners, i in old.items():
        j = new[corners]
        assert (before.normal[i] == after.normal[j]).all()
        theirs = {tuple(sorted(before.triangle[k])) for k in before.neighbour[i]}
        ours = {tuple(sorted(after.triangle[k])) for k in after.neighbour[j]}
        assert theirs == ours
    for cell in range(len(before.cell_first) - 1):
        part = slice(before.cell_first[cell], before.cell_first[cell + 1])
        theirs = {tuple(sorted(before.triangle[k])) for k in before.cell_triangle[part]}
        ours = {tuple(sorted(after.triangle[k])) for k in after.cell_triangle[part]}
        assert theirs == ours
        assert (np.diff(after.cell_triangle[part]) > 0).all()


@pytest.mark.parametrize("cuts", [1, 2, 5])
def test_a_box_has_eight_corners_and_twelve_edges_however_it_is_cut(cuts):
    table = planted(box_mesh(1.0, 2.0, 3.0, cuts=cuts))
    corners = bits(table, 1)
    at = {tuple(table.vertex[table.triangle[t, k]]) for t, k in corners}
    assert len(corners) == 8
    assert at == {(x, y, z) for x in (-0.5, 0.5) for y in (-1.0, 1.0) for z in (-1.5, 1.5)}
    assert len(bits(table, 8)) == 12 * cuts


def test_corners_of_a_ring_are_on_its_outside():
    """Inside, the surface rises both along the ring: no flat thing touches a vertex there."""
    table = planted(torus(major=0.1, minor=0.04))
    corners = bits(table, 1)
    radius = [np.hypot(*table.vertex[table.triangle[t, k], :2]) for t, k in corners]
    assert len(corners) == 24 * 7
    assert min(radius) >= 0.1 - 1e-12


def test_hollow_edges_have_no_owner():
    """The L has one hollow edge, upright in its inner corner, and its ends are no corners."""
    table = planted(el(size=0.1))
    for t, k in bits(table, 1):
        assert not np.allclose(table.vertex[table.triangle[t, k], :2], (0.1, 0.1))
    for t, k in bits(table, 8):
        ends = table.vertex[table.triangle[t, [k, (k + 1) % 3]], :2]
        assert not np.allclose(ends, (0.1, 0.1))


def test_terrains_get_a_tree_only_in_a_world_with_a_mesh():
    ground = Terrain.from_grid(np.zeros((4, 4)), 1.0)
    alone = bare_shapes(ground, Box(1, 1, 1))
    assert alone.tree.tolist() == [-1]
    assert len(alone.node_box) == 0 and (alone.owns == 0).all()

    beside = bare_parts(mesh_part(*torus()), ground.parts()[0], mesh_part(*el()))
    assert (beside.tree >= 0).all()
    for k in range(3):
        first = beside.tree[k]
        last = beside.tree[k + 1] if k < 2 else len(beside.node_box)
        leaf = beside.node_link[first:last, 1] > 0
        rows = beside.node_link[first:last][leaf]
        own = np.concatenate([np.arange(t, t + n) for t, n in rows])
        start, count = beside.terrain[k, 1:3]
        assert sorted(own) == list(range(start, start + count))


def test_the_border_of_a_terrain_is_owned():
    table = with_tree(Terrain.from_grid(np.zeros((4, 5)), 1.0).table)
    assert len(bits(table, 8)) == 2 * (3 + 4)
    assert len(bits(table, 1)) == 4


def test_sides_of_a_wall_are_parted():
    """No node above the size of a few triangles holds both sides of a thin plate."""
    vertices, faces = box_mesh(1.0, 1.0, 0.01, cuts=8)
    table = planted((vertices, faces))
    looks = np.sign(np.round(table.normal[:, 2]))  # up, down, or to a side
    waiting, parted = [(0, 0, len(faces))], 0
    while waiting:
        node, first, last = waiting.pop()
        second, count = table.node_link[node]
        if count:
            continue
        middle = first + _triangles_under(table, node + 1)
        mine = looks[first:middle], looks[middle:last]
        if (mine[0] >= 0).all() and (mine[1] <= 0).all() and len(mine[0]) > 16:
            parted += len(mine[0])
            continue
        waiting += [(node + 1, first, middle), (second, middle, last)]
    assert parted > 0.8 * (looks > 0).sum()


def _triangles_under(table, node):
    second, count = table.node_link[node]
    if count:
        return int(count)
    return _triangles_under(table, node + 1) + _triangles_under(table, second)
