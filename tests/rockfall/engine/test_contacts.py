"""Contacts of a pose: corners on faces, faces on ridges and peaks, and no false ones on the way."""

import numpy as np
import pytest

from drystone.rockfall.engine.contacts import Contacts, find_contacts, reduce_contacts
from drystone.rockfall.engine.rock import Rock, pack_rocks
from drystone.rockfall.engine.triangle_grid import Grid
from drystone.rockfall.terrain.materials import CORNER, EDGE, FACE
from rock_scenes import about, matrix

SKIN = 1e-3
FLAT = np.array([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0.0]])


def touch(rock, x, q, vertices, triangles):
    grid = Grid.build(vertices, triangles)
    contacts = Contacts.empty()
    found = np.arange(len(triangles), dtype=np.int32)
    m = tuple(matrix(q).ravel())
    count = find_contacts(
        pack_rocks([rock]), 0, tuple(map(float, x)), m, grid, found, len(found), SKIN, contacts,
        np.zeros((8, 4)),
    )  # fmt: skip
    return count, contacts


def test_a_block_lies_on_four_corners_over_any_triangles():
    count, c = touch(
        Rock.block(1, 1, 1), (1, 1.2, 0.5002), about("z", 20), FLAT, [[0, 1, 2], [0, 2, 3]]
    )
    assert count == 4
    assert c.gap[:4] == pytest.approx(np.full(4, 2e-4))
    assert np.abs(c.normal[:4] - [0, 0, 1]).max() < 1e-12
    assert c.spot[:4, 2] == pytest.approx(np.full(4, -0.5))


def test_a_corner_over_a_flat_edge_is_one_contact_of_both_triangles():
    rock = Rock.block(1, 1, 1)
    stand = np.array(
        [np.cos(0.4776583), -0.6785983 * np.sin(0.4776583), 0.7345138 * np.sin(0.4776583), 0]
    )
    low = (rock.vertices @ matrix(stand).T)[:, 2].min()
    corner = rock.vertices[np.argmin((rock.vertices @ matrix(stand).T)[:, 2])]
    x = -(matrix(stand) @ corner) + [0, 0, 2e-4]
    count, c = touch(rock, x, stand, FLAT, [[0, 1, 2], [0, 2, 3]])
    assert low < -0.6
    assert count == 1
    assert c.feature[0] in (EDGE, EDGE + 1, EDGE + 2)
    assert c.normal[0] == pytest.approx([0, 0, 1], abs=1e-9)


@pytest.mark.parametrize("ahead", [-3e-4, -1e-5, 0.0, 1e-5, 3e-4])
def test_a_corner_that_passes_a_flat_edge_does_not_feel_it(ahead):
    """Two coplanar triangles meet at x = 0; the lowest corner is near it, within the skin."""
    rock = Rock.sphere(1.0)
    vertices = np.array([[-5, -5, 0], [0, -5, 0], [0, 5, 0], [5, 0, 0.0]])
    count, c = touch(rock, (ahead, 0, 0.5003), (1, 0, 0, 0), vertices, [[0, 1, 2], [1, 3, 2]])
    assert count == 1
    assert c.normal[0] == pytest.approx([0, 0, 1], abs=1e-9)
    assert c.gap[0] == pytest.approx(3e-4)


def test_a_face_on_a_ridge_lies_on_both_ends_of_the_common_part():
    """A roof along y: a unit block's lower face touches the ridge from y = -0.5 to 0.5."""
    vertices = np.array(
        [[-2, -3, -2], [0, -3, 0], [0, 3, 0], [-2, 3, -2], [2, -3, -2], [2, 3, -2.0]]
    )
    triangles = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]
    count, c = touch(Rock.block(1, 1, 1), (0.1, 0, 0.5002), (1, 0, 0, 0), vertices, triangles)
    assert count == 2
    assert sorted(c.spot[:2, 1]) == pytest.approx([-0.5, 0.5])
    assert c.spot[:2, 0] == pytest.approx([-0.1, -0.1])
    assert np.abs(c.normal[:2] - [0, 0, 1]).max() < 1e-9
    assert ((c.feature[:2] >= EDGE) & (c.feature[:2] < CORNER)).all()


def test_a_face_on_a_peak_is_a_contact_with_the_corner():
    vertices = np.array([[1, 0, -1], [0, 1, -1], [-1, 0, -1], [0, -1, -1], [0, 0, 0.0]])
    triangles = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4]]
    count, c = touch(Rock.block(1, 1, 1), (0.1, 0.2, 0.5002), (1, 0, 0, 0), vertices, triangles)
    assert count == 1
    assert c.spot[0] == pytest.approx([-0.1, -0.2, -0.5], abs=3e-4)
    assert c.normal[0] == pytest.approx([0, 0, 1], abs=1e-9)
    assert c.feature[0] >= CORNER


def test_crossed_edges_meet_at_one_point():
    """A block that stands on an edge along x, over a ridge along y."""
    vertices = np.array(
        [[-2, -3, -2], [0, -3, 0], [0, 3, 0], [-2, 3, -2], [2, -3, -2], [2, 3, -2.0]]
    )
    triangles = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]
    x = (0.2, 0.3, np.sqrt(0.5) + 2e-4)
    count, c = touch(Rock.block(1, 1, 1), x, about("x", 45), vertices, triangles)
    assert count == 1
    assert c.spot[0] == pytest.approx([-0.2, 0.0, -np.sqrt(0.5)], abs=1e-3)
    assert c.normal[0] == pytest.approx([0, 0, 1], abs=1e-9)


def test_a_sphere_in_a_valley_touches_both_sides():
    vertices = np.array([[-3, -3, 3], [0, -3, 0], [0, 3, 0], [-3, 3, 3], [3, -3, 3], [3, 3, 3.0]])
    triangles = [[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]]
    height = 0.5 * np.sqrt(2.0) + 2e-4
    count, c = touch(Rock.sphere(1.0), (0, 0.1, height), (1, 0, 0, 0), vertices, triangles)
    assert count == 2
    assert sorted(c.normal[:2, 0]) == pytest.approx([-np.sqrt(0.5), np.sqrt(0.5)])
    assert (c.feature[:2] == FACE).sum() >= 1


def test_thinning_keeps_the_nearest_and_the_widest():
    contacts = Contacts.empty()
    angle = np.linspace(0, 2 * np.pi, 32, endpoint=False)
    contacts.spot[:32, 0], contacts.spot[:32, 1] = np.cos(angle), np.sin(angle)
    contacts.normal[:32] = [0, 0, 1]
    contacts.gap[:32] = 1e-3
    contacts.gap[5] = 1e-4
    assert reduce_contacts(contacts, 32, 4) == 4
    assert contacts.gap[0] == 1e-4
    kept = np.sort(np.arctan2(contacts.spot[:4, 1], contacts.spot[:4, 0]))
    assert np.diff(kept).min() > 1.0  # spread all round: about a quarter turn apart
