"""Which material a contact has: the order of ROCFALL 4.1, edges and vertices, exact regions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.rockfall.terrain.materials import (
    CORNER,
    EDGE,
    FACE,
    NONE,
    Texture,
    build_surface,
    materials_at,
    uniform_surface,
)
from drystone.rockfall.terrain.regions import NOWHERE, Region, build_regions, regions_over
from drystone.rockfall.terrain.slope import Slope

shapely = pytest.importorskip("shapely", reason="needs the extra drystone[rockfall]")


def square(x, y, side=1.0):
    return shapely.box(x, y, x + side, y + side)


def ask(surface, triangle, feature, x, y):
    """Materials at one or many points."""
    triangle, feature, x, y = np.broadcast_arrays(triangle, feature, x, y)
    answer = np.empty(x.size, dtype=np.int32)
    materials_at(
        triangle.ravel().astype(np.int32), feature.ravel().astype(np.int32),
        x.ravel().astype(float), y.ravel().astype(float), surface, answer,
    )  # fmt: skip
    return answer.reshape(x.shape)


def codes(index, x, y):
    answer = np.empty(len(x), dtype=np.int32)
    regions_over(x, y, index, answer)
    return answer


def test_order_triangle_then_region_then_texture_then_default():
    """Four points, each with one rule less."""
    slope = Slope.from_grid(np.zeros((3, 5)), 1.0)
    ids = np.full(len(slope.triangles), NONE)
    ids[0] = 3
    texture = Texture(np.array([[1, 1, 1, NONE]], np.int32), np.array([-2.0, -1.0]), np.ones(2))
    surface = build_surface(
        slope.triangles, np.zeros(4), np.zeros(4), 0, ids,
        [Region(square(-2, -1, 2.0), 2)], texture,
    )  # fmt: skip
    y = -0.5
    assert ask(surface, 0, FACE, -1.7, y) == 3
    assert ask(surface, 1, FACE, -1.7, y) == 2
    assert ask(surface, 1, FACE, 0.5, y) == 1
    assert ask(surface, 1, FACE, 1.5, y) == 0
    assert ask(surface, 1, FACE, 99.0, 99.0) == 0


def slow_least(slope, ids, vertices):
    """Least id of the triangles that have all of `vertices`."""
    found = [
        ids[t] for t, triangle in enumerate(slope.triangles)
        if set(vertices) <= set(triangle.tolist()) and ids[t] != NONE
    ]  # fmt: skip
    return min(found, default=7)


@given(st.lists(st.integers(-1, 5), min_size=24, max_size=24))
@settings(max_examples=40, deadline=None)
def test_edges_and_vertices_have_the_least_id_around_them(ids):
    """Against a search of all triangles; material 7 is the default."""
    slope = Slope.from_grid(np.zeros((4, 5)), 1.0)
    surface = build_surface(slope.triangles, np.zeros(8), np.zeros(8), 7, np.array(ids))
    for t, triangle in enumerate(slope.triangles.tolist()):
        for k in range(3):
            edge = (triangle[k], triangle[(k + 1) % 3])
            assert ask(surface, t, EDGE + k, 0.0, 0.0) == slow_least(slope, ids, edge)
            assert ask(surface, t, CORNER + k, 0.0, 0.0) == slow_least(slope, ids, edge[:1])
        assert ask(surface, t, FACE, 0.0, 0.0) == (7 if ids[t] == NONE else ids[t])


def test_priority_decides_and_then_the_order():
    regions = [Region(square(0, 0), 5, 1.0), Region(square(0, 0), 6, 2.0)]
    regions += [Region(square(3, 0), 7), Region(square(3, 0), 8)]
    index = build_regions(regions)
    found = codes(index, np.array([0.5, 3.5, 2.0]), np.array([0.5, 0.5, 0.5]))
    assert found.tolist() == [6, 8, NOWHERE]


@pytest.mark.slow
@given(st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_regions_match_shapely(seed):
    """Overlapping stars with holes, some beside each other."""
    rng = np.random.default_rng(seed)
    regions = []
    for code in range(6):
        angle = np.sort(rng.uniform(0, 2 * np.pi, 12))
        radius, middle = rng.uniform(4, 30, 12), rng.uniform(-40, 40, 2)
        rim = middle + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        polygon = shapely.Polygon(rim).buffer(0).difference(shapely.Point(middle).buffer(2.0))
        if polygon.area > 0:
            regions.append(Region(polygon, code, float(rng.integers(3))))
    index = build_regions(regions)
    x, y = rng.uniform(-80, 80, (2, 2000))
    expected = np.full(len(x), NOWHERE)
    for region in sorted(regions, key=lambda region: region.priority):
        expected[shapely.contains_xy(region.polygon, x, y)] = region.code
    assert (codes(index, x, y) == expected).all()


def test_neighbours_leave_no_gap_and_do_not_overlap():
    """Points exactly on the shared rim belong to one of the two."""
    index = build_regions([Region(square(0, 0), 1), Region(square(1, 0), 2)])
    y = np.linspace(0.001, 0.999, 50)
    assert set(codes(index, np.ones(50), y).tolist()) <= {1, 2}


def test_texture_cells_are_half_open_and_south_first():
    ids = np.array([[0, 1], [2, NONE]], np.int32)
    texture = Texture(ids, np.array([10.0, 20.0]), np.array([2.0, 3.0]))
    surface = build_surface(np.empty((0, 3), np.int32), np.zeros(4), np.zeros(4), 3,
                            texture=texture)  # fmt: skip
    x = np.array([10.0, 11.999, 12.0, 10.5, 13.0, 9.999, 14.0])
    y = np.array([20.0, 22.999, 20.0, 23.0, 24.0, 20.0, 20.0])
    assert ask(surface, 0, FACE, x, y).tolist() == [0, 0, 1, 2, 3, 3, 3]


def test_one_material_everywhere():
    surface = uniform_surface(0.4, 0.7)
    assert ask(surface, 12345, CORNER + 2, 1e6, -1e6) == 0
    assert surface.friction.tolist() == [0.7] and surface.normal_restitution.tolist() == [0.4]


def test_ids_must_be_one_for_each_triangle():
    slope = Slope.from_grid(np.zeros((2, 2)), 1.0)
    with pytest.raises(InputError, match="3 material ids were given for 2 triangles"):
        build_surface(slope.triangles, [0.5], [0.5], 0, np.zeros(3))
