"""Islands and levels against a graph library."""

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import drystone as ds
from drystone.constraints.islands import (
    SLAB_ROWS,
    TALLY_GROUPS,
    TALLY_ISLANDS,
    TALLY_LEVELS,
    TALLY_SLABS,
)
from drystone.model.arrays import INFO_CONTACTS


def towns(seed=0, many=12):
    """Walls and stacks of boxes apart from each other, some on a kinematic slab they share."""
    world = build_towns(seed, many)
    world.step()
    return world


def build_towns(seed=0, many=12):
    rng = np.random.default_rng(seed)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane())
    world.add_body(ds.Box(3, 3, 0.2), position=(-5, 0, 0.1), kinematic=True)
    for x in (-6.0, -4.0):
        world.add_body(ds.Box(0.5, 0.5, 0.5), position=(x, 0, 0.45))
    for k in range(many):
        for i in range(int(rng.integers(1, 5))):
            world.add_body(ds.Box(1, 1, 1), position=(3.0 * k, 4, 0.5 + i))
    for row in range(12):  # one large island
        for i in range(12 - row):
            world.add_body(ds.Box(1, 1, 1), position=(i + 0.5 * row, -4, 0.5 + row))
    world.add_body(ds.Sphere(0.5), position=(0, 30, 30))  # touches nothing
    return world


@pytest.fixture(scope="module")
def world():
    return towns()


def touching_pairs(world):
    """(k, 2) moving bodies that touch, and whether each body touches anything."""
    table, kinematic = world.contacts(), np.array([b.kinematic for b in world.bodies])
    pairs = np.column_stack([table.body_a, table.body_b])
    moving = (pairs >= 0) & ~kinematic[pairs]
    touched = np.zeros(len(world), bool)
    touched[pairs[moving]] = True
    return pairs[moving.all(axis=1)], touched


def test_islands_are_the_connected_components(world):
    """Same island if and only if connected; neither ground nor kinematic bodies connect."""
    pairs, touched = touching_pairs(world)
    n, island = len(world), world._work.graph.island
    graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(n, n))
    label = connected_components(graph, directed=False)[1]
    assert (island[~touched] == -1).all() and (island[touched] >= 0).all()
    ours, theirs = island[touched], label[touched]
    assert len({*zip(ours.tolist(), theirs.tolist(), strict=True)}) == len(set(theirs.tolist()))
    assert len(set(ours.tolist())) == len(set(theirs.tolist()))
    assert world.info.islands == world._work.graph.tally[TALLY_ISLANDS] == len(set(ours.tolist()))
    assert world.info.islands == 2 + 12 + 1


def test_touching_bodies_are_at_most_one_level_apart(world):
    """This is what makes two colours enough."""
    pairs, touched = touching_pairs(world)
    level = world._work.graph.level
    assert np.abs(level[pairs[:, 0]] - level[pairs[:, 1]]).max() <= 1
    assert set(level[touched].tolist()) == set(range(world._work.graph.tally[TALLY_LEVELS]))


def test_rows_are_all_contacts_in_slabs_of_some_size(world):
    work = world._work
    count = int(work.log.info[INFO_CONTACTS])
    assert sorted(work.contact_list.row_contact[:count].tolist()) == list(range(count))
    slabs, groups = work.graph.tally[TALLY_SLABS], work.graph.tally[TALLY_GROUPS]
    edges = work.rows.slab_first[: slabs + 1]
    assert edges[0] == 0 and edges[-1] == count and (np.diff(edges) > 0).all()
    first = work.rows.group_first[: groups + 1]
    assert first[0] == 0 and first[-1] == slabs and (np.diff(first) > 0).all()
    many = [g for g in range(groups) if first[g + 1] - first[g] > 1]
    assert len(many) == 1  # the large island
    sizes = np.diff(edges[first[many[0]] : first[many[0] + 1] + 1])
    assert sizes.min() >= SLAB_ROWS // 2


def test_slabs_of_different_groups_share_no_moving_body(world):
    p = world.problem()
    moving = p.mass[:, 0] > 0
    seen = set()
    for g in range(len(p.group_first) - 1):
        rows = slice(p.slab_first[p.group_first[g]], p.slab_first[p.group_first[g + 1]])
        here = {int(b) for b in np.unique(p.body[rows]) if moving[b]}
        assert not seen & here
        seen |= here


def test_order_does_not_depend_on_the_history():
    """Bodies that touched others before, and came here later, get the rows of bodies built here."""
    fresh, moved = towns(), build_towns()
    places = moved.positions
    for body, place in zip(moved.bodies, np.roll(places, 7, axis=0), strict=True):
        body.position = place + (0.0, 0.0, 0.02)
    moved.run(20 * moved.dt)
    before = moved.problem().body
    for body, place in zip(moved.bodies, places, strict=True):
        body.position, body.orientation = place, (1, 0, 0, 0)
        body.velocity = body.spin = (0, 0, 0)
    moved.step()
    one, two = fresh.problem(), moved.problem()
    assert not np.array_equal(before, one.body)
    assert np.array_equal(one.body, two.body)
    assert np.array_equal(one.slab_first, two.slab_first)
    assert np.array_equal(one.group_first, two.group_first)
    np.testing.assert_allclose(one.arm, two.arm, atol=1e-12)
