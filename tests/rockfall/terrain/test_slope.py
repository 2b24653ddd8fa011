"""Slopes: every height where it belongs, holes as holes, systems without metres refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.rockfall.terrain.slope import Slope
from shared_data import DATA, needs_data

rasterio = pytest.importorskip("rasterio", reason="needs the extra drystone[rockfall]")
trimesh = pytest.importorskip("trimesh")

TERRAIN = DATA / "terrain"
needs_terrain = needs_data(TERRAIN, "slopes of elevation models")

# Nothing about it is symmetric: 3 rows, 4 columns; written north first, as maps are.
NORTH_FIRST = np.array([[31.5, 32, 33, 34.25], [21, 22.125, 23, 24], [11, 12, -13.75, 14]])
CELL, WEST, SOUTH = 5.0, 2_600_100.0, 1_199_990.0  # outer corner of the raster
# x, y of cell centres, and the height there
KNOWN = [
    (2_600_102.5, 1_200_002.5, 31.5),  # north-west
    (2_600_117.5, 1_200_002.5, 34.25),  # north-east
    (2_600_102.5, 1_199_992.5, 11.0),  # south-west
    (2_600_112.5, 1_199_992.5, -13.75),  # southern row, third column
    (2_600_107.5, 1_199_997.5, 22.125),  # the middle
]


def write_asc(path, values, corner=True):
    shift = 0.0 if corner else 0.5 * CELL
    word = "corner" if corner else "center"
    head = f"ncols {values.shape[1]}\nnrows {values.shape[0]}\nxll{word} {WEST + shift}\n"
    head += f"yll{word} {SOUTH + shift}\ncellsize {CELL}\nNODATA_value -9999\n"
    rows = "\n".join(" ".join(repr(float(x)) for x in row) for row in values)
    path.write_text(head + rows + "\n")


def write_tif(path, values, crs="EPSG:2056", transform=None, **extra):
    if transform is None:
        north = SOUTH + CELL * values.shape[0]
        transform = rasterio.transform.from_origin(WEST, north, CELL, CELL)
    rows, columns = values.shape
    with rasterio.open(
        path, "w", driver="GTiff", height=rows, width=columns, count=1, dtype="float64",
        crs=crs, transform=transform, **extra,
    ) as file:  # fmt: skip
        file.write(values, 1)


def write_xyz(path, values):
    i, j = np.divmod(np.random.default_rng(0).permutation(values.size), values.shape[1])
    x, y = WEST + CELL * (j + 0.5), SOUTH + CELL * (values.shape[0] - i - 0.5)
    lines = [f"{a},{b},{c}" for a, b, c in zip(x, y, values[i, j], strict=True)]
    path.write_text("x,y,z\n" + "\n".join(lines))


def files(folder):
    """The same heights in every format."""
    write_asc(folder / "corner.asc", NORTH_FIRST)
    write_asc(folder / "centre.asc", NORTH_FIRST, corner=False)
    write_tif(folder / "grid.tif", NORTH_FIRST)
    south_up = rasterio.Affine(CELL, 0, WEST, 0, CELL, SOUTH)
    write_tif(folder / "south-up.tif", NORTH_FIRST[::-1], transform=south_up)
    write_xyz(folder / "grid.xyz", NORTH_FIRST)
    names = ("corner.asc", "centre.asc", "grid.tif", "south-up.tif", "grid.xyz")
    return [folder / name for name in names]


def test_heights_are_exact_at_known_points_in_every_format(tmp_path):
    for path in files(tmp_path):
        slope = Slope.from_file(path, crs="EPSG:2056")
        for x, y, z in KNOWN:
            found = slope.height(x - slope.origin[0], y - slope.origin[1])
            assert found == z, (path.name, x, y)
        assert slope.crs.to_epsg() == 2056


def test_local_and_world_coordinates_differ_by_the_origin_alone(tmp_path):
    slope = Slope.from_file(files(tmp_path)[0], crs="local")
    world = slope.vertices + slope.origin
    expected = {(x, y, z) for x, y, z in KNOWN}
    assert expected <= {tuple(row) for row in world.tolist()}
    assert np.abs(slope.vertices[:, :2]).max() < 20.0


def test_triangles_look_up_and_cover_the_grid(tmp_path):
    slope = Slope.from_file(files(tmp_path)[2])
    area = slope.area_vectors()
    assert (area[:, 2] > 0).all() and slope.triangles.dtype == np.int32
    assert area[:, 2].sum() == pytest.approx(15.0 * 10.0, rel=1e-12)


def test_nodata_makes_a_hole_and_nothing_else(tmp_path):
    z = np.arange(30.0).reshape(5, 6)
    z[2, 3] = -9999.0
    write_asc(tmp_path / "hole.asc", z)
    write_tif(tmp_path / "hole.tif", z, nodata=-9999.0)
    for name in ("hole.asc", "hole.tif"):
        slope = Slope.from_file(tmp_path / name, crs="EPSG:2056")
        assert len(slope.triangles) == 2 * (20 - 4)
        x = slope.grid.x0 + CELL * np.array([2.5, 3.5, 1.5, 3.0])
        y = slope.grid.y0 + CELL * np.array([1.5, 2.5, 1.5, 2.0])
        assert np.isnan(slope.height(x, y)).tolist() == [True, True, False, True]
        assert slope.vertices[:, 2].min() >= 0.0


def test_nan_cells_and_undeclared_nodata(tmp_path):
    z = np.arange(30.0).reshape(5, 6)
    z[0, 0] = np.nan
    write_tif(tmp_path / "nan.tif", z)
    assert len(Slope.from_file(tmp_path / "nan.tif").triangles) == 2 * 19
    z[0, 0] = -32768.0
    write_tif(tmp_path / "odd.tif", z)
    with pytest.raises(InputError, match="-32768 m, no ground of this Earth.*nodata = -32768"):
        Slope.from_file(tmp_path / "odd.tif")
    assert len(Slope.from_file(tmp_path / "odd.tif", nodata=-32768.0).triangles) == 2 * 19


@given(st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_grid_height_matches_its_triangles(seed):
    """Against a search of all triangles; points on edges included."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(0, 50, (4, 5))
    z[rng.integers(4), rng.integers(5)] = np.nan
    slope = Slope.from_grid(z, (2.0, 3.0), origin=(100.0, 200.0))
    twin = Slope.from_mesh(slope.vertices + slope.origin, slope.triangles)
    x, y = rng.uniform(-6, 6, 40), rng.uniform(-6, 6, 40)
    x[:10] = np.round(x[:10])
    shift = slope.origin - twin.origin
    expected = [slow_height(slope, *point) for point in zip(x, y, strict=True)]
    np.testing.assert_allclose(slope.height(x, y), expected, atol=1e-9)
    np.testing.assert_allclose(twin.height(x + shift[0], y + shift[1]), expected, atol=1e-9)


def test_every_node_has_its_own_height():
    z = np.random.default_rng(4).uniform(0, 3000, (7, 9))
    slope = Slope.from_grid(z, 0.1, origin=(2_600_000.3, 1_200_000.7), crs="EPSG:2056")
    i, j = np.indices(z.shape)
    assert (slope.height(slope.grid.x0 + 0.1 * j, slope.grid.y0 + 0.1 * i) == z).all()


def slow_height(slope, x, y):
    best = -np.inf
    for a, b, c in slope.vertices[slope.triangles]:
        s, r = np.linalg.solve(np.column_stack([b - a, c - a])[:2], [x - a[0], y - a[1]])
        if s >= -1e-9 and r >= -1e-9 and s + r <= 1 + 1e-9:
            best = max(best, a[2] + s * (b - a)[2] + r * (c - a)[2])
    return best if np.isfinite(best) else np.nan


def overhang():
    """A terrace whose upper sheet reaches out over the lower one."""
    mesh = trimesh.creation.box((4.0, 4.0, 2.0))
    mesh.apply_translation((2_600_000.0, 1_200_000.0, 500.0))
    return mesh


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl"])
def test_meshes_with_overhangs(tmp_path, suffix):
    path = tmp_path / f"box.{suffix}"
    mesh = overhang()
    # STL and PLY are single precision: what users would export is about a local origin.
    mesh.apply_translation((-2_600_000.0, -1_200_000.0, 0.0))
    mesh.export(path)
    slope = Slope.from_file(path, crs="local")
    assert len(slope.triangles) == 12 and len(slope.vertices) == 8
    assert slope.height(1.0, 0.5) == pytest.approx(501.0)  # the top, not the bottom
    assert np.isnan(slope.height(3.0, 0.0))
    outward = np.einsum(
        "ij,ij->i", slope.area_vectors(), slope.vertices[slope.triangles].mean(axis=1) - [0, 0, 500]
    )
    assert (outward > 0).all()


def test_a_terrain_mesh_that_looks_down_is_turned(tmp_path):
    vertices = np.array([[0, 0, 1], [1, 0, 2], [1, 1, 3], [0, 1, 4]], dtype=float)
    trimesh.Trimesh(vertices, [[0, 2, 1], [0, 3, 2]], process=False).export(tmp_path / "down.obj")
    slope = Slope.from_file(tmp_path / "down.obj", crs="local")
    assert (slope.area_vectors()[:, 2] > 0).all()
    trimesh.Trimesh(vertices, [[0, 1, 2], [0, 3, 2]], process=False).export(tmp_path / "mixed.obj")
    with pytest.raises(InputError, match="face opposite sides"):
        Slope.from_file(tmp_path / "mixed.obj", crs="local")


@pytest.mark.parametrize(
    "crs, sentence",
    [
        ("EPSG:4326", "is in degrees.*gdalwarp -t_srs EPSG:32632"),
        ("EPSG:2263", "US survey foot"),
        (None, "no coordinate reference system.*crs = 'EPSG:2056'"),
    ],
)
def test_systems_that_are_not_metres_are_refused(tmp_path, crs, sentence):
    path = tmp_path / "grid.tif"
    small = rasterio.transform.from_origin(9.0, 47.0, 1e-4, 1e-4)
    write_tif(path, NORTH_FIRST, crs=crs, transform=small if crs == "EPSG:4326" else None)
    with pytest.raises(InputError, match=sentence):
        Slope.from_file(path)
    with pytest.raises(InputError, match="EPSG:99999.*unknown"):
        Slope.from_file(path, crs="EPSG:99999")


def test_ascii_grid_takes_its_system_from_the_prj_beside_it(tmp_path):
    pyproj = pytest.importorskip("pyproj")
    write_asc(tmp_path / "grid.asc", NORTH_FIRST)
    (tmp_path / "grid.prj").write_text(pyproj.CRS("EPSG:31254").to_wkt("WKT1_ESRI"))
    assert Slope.from_file(tmp_path / "grid.asc").crs.name.startswith("MGI")


def test_odd_arguments_are_refused(tmp_path):
    path = tmp_path / "grid.asc"
    path.write_text("ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n3 4\n")
    with pytest.raises(InputError, match="nodata"):
        Slope.from_file(path, "local", nodata=[[]])
    with pytest.raises(InputError, match="crs"):
        Slope.from_file(path, np.zeros((3, 3)))


def test_rotated_and_unplaced_rasters_are_refused(tmp_path):
    turned = rasterio.Affine(5, 1, WEST, 1, -5, SOUTH)
    write_tif(tmp_path / "turned.tif", NORTH_FIRST, transform=turned)
    with pytest.raises(InputError, match="rotated"):
        Slope.from_file(tmp_path / "turned.tif")


def test_points_that_are_no_grid_are_refused(tmp_path):
    points = np.random.default_rng(1).uniform(0, 100, (50, 3))
    np.savetxt(tmp_path / "cloud.xyz", points)
    with pytest.raises(InputError, match="not on a regular grid|not a grid"):
        Slope.from_file(tmp_path / "cloud.xyz", crs="local")


def test_a_million_triangles():
    x, y = np.meshgrid(np.arange(1001.0), np.arange(501.0))
    slope = Slope.from_grid(1000 + 0.5 * x + 3 * np.sin(y / 9), 1.0, (2.7e6, 1.1e6), "EPSG:2056")
    assert len(slope.triangles) == 1_000_000
    assert slope.triangles.nbytes + slope.vertices.nbytes < 30e6
    assert slope.height(0.25, 0.0) == pytest.approx(1000 + 0.5 * 500.25 + 3 * np.sin(250 / 9))


@needs_terrain
def test_real_ascii_grid_has_the_heights_that_gdal_reads():
    path = TERRAIN / "avaKot.asc"
    slope = Slope.from_file(path, crs="EPSG:31287")
    with rasterio.open(path) as file:
        band = file.read(1, masked=True)
        rows, columns = np.nonzero(~np.ma.getmaskarray(band))
        x, y = rasterio.transform.xy(file.transform, rows, columns)
    found = slope.height(np.array(x) - slope.origin[0], np.array(y) - slope.origin[1])
    there = np.isfinite(found)
    assert there.sum() > 130_000
    # GDAL keeps single precision: 1e-4 m at 2000 m
    np.testing.assert_allclose(found[there], band[rows, columns][there], atol=2e-4)


@needs_terrain
def test_real_geotiff_with_a_wrong_label():
    path = TERRAIN / "ava_data_scarpExample_fluchthorn.tif"
    with pytest.raises(InputError, match="in degrees, but.*reach 195590: the label is wrong"):
        Slope.from_file(path)
    slope = Slope.from_file(path, crs="EPSG:31254")
    assert len(slope.triangles) == 130_962
    low, high = slope.bounds
    assert 1000 < low[2] < high[2] < 4000
