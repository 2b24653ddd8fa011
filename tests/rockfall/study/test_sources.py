"""Sources: by true area in space, on the ground, and rocks that start free of it."""

import numpy as np
import pytest
from scipy import stats

from drystone.errors import InputError
from drystone.rockfall.engine.place_start import set_down
from drystone.rockfall.study.sources import area_source, line_source, point_source
from drystone.rockfall.terrain.slope import Slope

shapely = pytest.importorskip("shapely", reason="needs the extra drystone[rockfall]")


def cliff():
    """Flat for x < 0, falling with 75 degrees for x > 0."""
    x = np.arange(-10.0, 11.0)
    z = np.where(x <= 0, 500.0, 500.0 - np.tan(np.radians(75)) * x)
    return Slope.from_grid(np.tile(z, (21, 1)), 1.0, origin=(-10.0, -10.0))


def places(source, count, seed=0):
    u = np.random.default_rng(seed).random((count, 3))
    return [source.place(row) for row in u]


def test_area_is_sampled_as_it_is_in_space():
    """Half of the map is the cliff, but cos 75° : 1 of the rock: 79.4 % of the starts."""
    slope = cliff()
    source = area_source(slope, shapely.box(-8, -8, 8, 8))
    steep = 1.0 / np.cos(np.radians(75))
    assert source.upto[-1] == pytest.approx(16 * 8 * (1 + steep), rel=1e-12)
    x = np.array([place.point[0] for place in places(source, 4000)])
    share = steep / (1 + steep)
    assert (x > 0).mean() == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 4000))
    # even over the face itself
    assert stats.kstest(x[x > 0] / 8.0, "uniform").pvalue > 1e-3


def test_clipped_area_is_exact_and_no_start_is_outside():
    """A polygon whose rim cuts triangles: plan area of the flat part by shapely."""
    slope = Slope.from_grid(np.full((30, 30), 7.0), 1.0)
    rim = [(-9.3, -7.1), (6.2, -9.4), (7.7, 3.2), (0.1, 0.2), (-5.0, 9.9)]
    polygon = shapely.Polygon(rim).difference(shapely.box(-3.3, -4.4, -1.2, -2.7))
    source = area_source(slope, polygon)
    assert source.upto[-1] == pytest.approx(polygon.area, rel=1e-12)
    points = np.array([place.point for place in places(source, 500)])
    assert shapely.intersects_xy(polygon.buffer(1e-9), points[:, 0], points[:, 1]).all()
    np.testing.assert_allclose(points[:, 2], 7.0, rtol=1e-12)


def test_steep_ground_alone_and_in_a_polygon():
    slope = cliff()
    face = 10 * 20 / np.cos(np.radians(75))
    assert area_source(slope, None, 60.0).upto[-1] == pytest.approx(face)
    half = area_source(slope, shapely.box(-20, 0, 20, 20), 60.0)
    assert half.upto[-1] == pytest.approx(face / 2)
    with pytest.raises(InputError, match="is empty: there is no ground steeper than 80 degrees"):
        area_source(slope, None, 80.0)


def test_upright_and_overhanging_faces_of_a_mesh_count():
    trimesh = pytest.importorskip("trimesh")
    box = trimesh.creation.box((4.0, 6.0, 2.0))
    slope = Slope.from_mesh(box.vertices, box.faces)
    whole = area_source(slope, shapely.box(-5, -5, 5, 5), 0.5)
    assert whole.upto[-1] == pytest.approx(box.area - 4.0 * 6.0)  # all but the top
    assert (np.abs(whole.normals @ [0, 0, 1]) < 1e-12).sum() == 8  # the sides


def test_line_is_sampled_by_its_length_in_space():
    slope = cliff()
    source = line_source(slope, [np.array([[-5.0, 0.0], [5.0, 0.0]])])
    steep = 1.0 / np.cos(np.radians(75))
    assert source.upto[-1] == pytest.approx(5 * (1 + steep))
    points = np.array([place.point for place in places(source, 2000)])
    assert (points[:, 0] > 0).mean() == pytest.approx(steep / (1 + steep), abs=0.04)
    np.testing.assert_allclose(points[:, 2], slope.height(points[:, 0], points[:, 1]), atol=1e-9)


def test_points_on_the_ground_or_exactly_where_they_are():
    slope = cliff()
    grounded = point_source(slope, np.array([[-4.0, 0.0], [4.0, 1.0]]))
    chosen = {tuple(place.point) for place in places(grounded, 50)}
    assert {point[:2] for point in chosen} == {(-4.0, 0.0), (4.0, 1.0)}
    normal = grounded.place([0.9, 0, 0]).normal
    assert normal == pytest.approx([np.sin(np.radians(75)), 0, np.cos(np.radians(75))])
    assert point_source(slope, np.array([[-4.0, 0.0, 503.0]])).place([0, 0, 0]).exact
    with pytest.raises(InputError, match="below the ground at 500 m"):
        point_source(slope, np.array([[-4.0, 0.0, 499.0]]))


def with_hole():
    z = np.full((20, 20), 100.0)
    z[8:12, 8:12] = np.nan
    return Slope.from_grid(z, 1.0)


def test_holes_at_a_source_are_errors():
    slope = with_hole()
    for make in (
        lambda: point_source(slope, np.array([[0.0, 0.0]])),
        lambda: line_source(slope, [np.array([[-5.0, 0.0], [5.0, 0.0]])]),
        lambda: area_source(slope, shapely.box(-4, -4, 4, 4)),
        lambda: area_source(slope, shapely.box(5, 5, 30, 8)),
    ):
        with pytest.raises(InputError, match="hole|outside|no ground"):
            make()
    area_source(slope, shapely.box(4, 4, 8, 8))


@pytest.mark.parametrize("radius", [0.2, 1.0, 3.0])
def test_rocks_start_free_of_the_ground_and_near_it(radius):
    """On rough ground with gullies; distances against a search of all triangles."""
    rng = np.random.default_rng(2)
    slope = Slope.from_grid(100 + np.cumsum(rng.normal(0, 0.8, (30, 30)), axis=0), 1.0)
    source = area_source(slope, shapely.box(-8, -8, 8, 8))
    corners = slope.vertices[slope.triangles]
    free = 0
    for place in places(source, 40, seed=int(10 * radius)):
        centre = set_down(slope, place.point, place.normal, radius)
        if centre is None:
            continue
        assert slow_distance(centre, corners) >= radius * (1 - 1e-9)
        assert np.linalg.norm(centre - place.point) <= 4.1 * radius
        free += 1
    assert free > 10


def slow_distance(point, corners):
    """Least distance over a fine net of points of each triangle, minus what the net may miss."""
    share = np.linspace(0, 1, 9)
    a, b = np.meshgrid(share, share)
    inside = a + b <= 1
    s, r = a[inside], b[inside]
    net = (
        corners[:, None, 0] * (1 - s - r)[None, :, None]
        + corners[:, None, 1] * s[None, :, None]
        + corners[:, None, 2] * r[None, :, None]
    )
    return np.linalg.norm(net - point, axis=2).min()


def test_a_slot_too_narrow_for_the_rock_is_refused():
    x = np.arange(-5.0, 6.0)
    z = np.where(np.abs(x) < 0.5, 0.0, 40.0)  # a cleft of 3 degrees
    slope = Slope.from_grid(np.tile(z, (11, 1)), 1.0, origin=(-5.0, -5.0))
    assert set_down(slope, np.zeros(3), np.array([0.0, 0.0, 1.0]), 3.0) is None
    gully = Slope.from_grid(np.tile(np.abs(x), (11, 1)), 1.0, origin=(-5.0, -5.0))
    centre = set_down(gully, np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.5)
    assert centre == pytest.approx([0, 0, 0.5 * np.sqrt(2)], rel=2e-3)  # touches both sides


@pytest.mark.parametrize("radius", [0.2, 1.0, 3.0])
def test_no_rock_starts_inside_the_other_wall_of_a_gully(radius):
    """Along the normal of a steep wall the one opposite is passed; a mesh knows no heights."""
    rng = np.random.default_rng(2)
    slope = Slope.from_grid(100 + np.cumsum(rng.normal(0, 0.8, (30, 30)), axis=0), 1.0)
    mesh = Slope.from_mesh(slope.vertices + slope.origin, slope.triangles)
    shift = mesh.origin - slope.origin
    free = 0
    for place in places(area_source(slope, shapely.box(-8, -8, 8, 8)), 80, seed=7):
        centre = set_down(slope, place.point, place.normal, radius)
        again = set_down(mesh, place.point - shift, place.normal, radius)
        assert (centre is None) == (again is None)
        if centre is not None:
            assert centre[2] > slope.height(*centre[:2])
            np.testing.assert_allclose(again + shift, centre, atol=1e-9)
            free += 1
    assert free > 40


def test_under_an_overhang_a_rock_starts_as_before():
    """The roof above it is no ground that it is in."""
    flat = np.array([[-20, -20, 0], [20, -20, 0], [20, 20, 0], [-20, 20, 0]], float)
    roof = flat + (0.0, 0.0, 9.0)
    triangles = np.array([[0, 1, 2], [0, 2, 3], [4, 6, 5], [4, 7, 6]])
    slope = Slope.from_mesh(np.vstack([flat, roof]), triangles)
    centre = set_down(slope, np.array([0.3, 0.7, 0.0]), np.array([0.0, 0.0, 1.0]), 1.0)
    assert centre == pytest.approx([0.3, 0.7, 1.0], rel=2e-3)
