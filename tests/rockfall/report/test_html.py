"""Rasters, tables, maps and the report, as other programs see them."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

rasterio = pytest.importorskip("rasterio")
pyogrio = pytest.importorskip("pyogrio")
shapely = pytest.importorskip("shapely")
pyproj = pytest.importorskip("pyproj")
parquet = pytest.importorskip("pyarrow.parquet")

import fakes  # noqa: E402
from drystone.errors import InputError  # noqa: E402
from drystone.rockfall.report.html import report_study  # noqa: E402
from drystone.rockfall.report.html_parts import table  # noqa: E402
from drystone.rockfall.report.maps import hillshade, shrink  # noqa: E402
from drystone.rockfall.results.rasters import raster_names  # noqa: E402
from drystone.rockfall.results.results import Results  # noqa: E402
from fake_runs import run  # noqa: E402

ROAD = SimpleNamespace(name="road <&>", points=[[-46.0, -50.0], [-46.0, 50.0]])
X0, Y0 = 2600000.0, 1200000.0
COUNT = 60


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    plain = fakes.PlaneSlope.__init__.__defaults__
    fakes.PlaneSlope.__init__.__defaults__ = (plain[0], pyproj.CRS.from_epsg(2056))
    try:
        return run(
            tmp_path_factory.mktemp("files") / "out", count=COUNT, lines=[ROAD], ascii_grids=True
        )
    finally:
        fakes.PlaneSlope.__init__.__defaults__ = plain


def test_rasters_lie_where_they_should(results):
    for name, (unit, text) in raster_names().items():
        with rasterio.open(results.folder / "rasters" / f"{name}.tif") as file:
            assert file.crs.to_epsg() == 2056 and file.nodata == -9999.0
            assert file.units[0] == unit and file.descriptions[0] == text
            assert file.transform == rasterio.Affine(2, 0, X0 - 61, 0, -2, Y0 + 59)
            assert file.dtypes == ("float32",)


def test_north_is_up(results):
    """Ends of runs, counted by hand with the raster's own index, row 0 in the north."""
    runs = results.table("runs")
    with rasterio.open(results.folder / "rasters" / "deposition.tif") as file:
        grid, index = file.read(1), file.index
    expected = np.zeros_like(grid)
    for x, y in zip(runs["end_x_m"], runs["end_y_m"], strict=True):
        expected[index(x, y)] += 1
    np.testing.assert_array_equal(np.where(grid < 0, 0, grid), expected)
    assert expected.sum() == COUNT


def test_terrain_is_the_plane(results):
    """z = -x at the nodes of the terrain, which are the centres of the cells."""
    terrain = results.raster("terrain")
    x = -60 + 2 * np.arange(terrain.shape[1])
    np.testing.assert_allclose(terrain, np.broadcast_to(-x, terrain.shape), atol=1e-5)


def test_passages_and_maxima_agree_with_the_points(results):
    """Every stored point lies in a cell that counts its run, below that cell's maxima."""
    points, (west, _, _, north) = results.table("points"), results.extent
    row = ((north - points["y_m"]) / 2).astype(int)
    column = ((points["x_m"] - west) / 2).astype(int)
    passages = results.raster("passages")
    runs_at = {}
    for r, c, k in zip(row, column, points["run"], strict=True):
        runs_at.setdefault((r, c), set()).add(k)
    for (r, c), runs in runs_at.items():
        assert passages[r, c] >= len(runs)
    speed = np.sqrt(sum(points[f"v{axis}_m_s"].astype(float) ** 2 for axis in "xyz"))
    assert np.all(speed <= results.raster("velocity_max")[row, column] * (1 + 1e-6))
    assert np.all(points["height_m"] <= results.raster("jump_height_max")[row, column] + 1e-5)
    energy = (points["translational_energy_J"] + points["rotational_energy_J"]) * 1e-3
    assert np.all(energy <= results.raster("kinetic_energy_max")[row, column] * (1 + 1e-5))


def test_statistics_of_cells_are_in_order(results):
    for stem in ("velocity", "kinetic_energy", "jump_height"):
        layers = [results.raster(f"{stem}_{s}") for s in ("median", "p90", "p95", "p99", "max")]
        for low, high in zip(layers[:-1], layers[1:], strict=True):
            known = np.isfinite(low)
            assert np.all(low[known] <= high[known])
    reach, passages = results.raster("reach_probability"), results.raster("passages")
    np.testing.assert_allclose(reach, passages / COUNT, rtol=1e-6)


def test_ascii_grids_say_the_same(results):
    """Read back by GDAL: the same place, the same numbers to the last bit, the same system."""
    for name in raster_names():
        with (
            rasterio.open(results.folder / "rasters" / f"{name}.tif") as file,
            rasterio.open(results.folder / "rasters" / f"{name}.asc") as grid,
        ):
            assert grid.transform == file.transform and grid.nodata == file.nodata
            assert pyproj.CRS.from_user_input(grid.crs).to_epsg() == 2056
            np.testing.assert_array_equal(grid.read(1).astype(np.float32), file.read(1))


def test_parquet_says_its_system(results):
    schema = parquet.read_schema(results.folder / "trajectories.parquet")
    assert pyproj.CRS.from_wkt(schema.metadata[b"crs"].decode()).to_epsg() == 2056
    some = results.table("points", ["run", "t_s"], [3, 5])
    assert set(some["run"]) == {3, 5} and set(some) == {"run", "t_s"}


def test_geopackage_has_lines_and_points_with_heights(results):
    path = results.folder / "trajectories.gpkg"
    layers = {name: kind for name, kind in pyogrio.list_layers(path)}
    assert layers == {
        "trajectories": "LineString Z", "deposition": "Point Z", "impacts": "Point Z"
    }  # fmt: skip
    meta, _, geometry, fields = pyogrio.raw.read(path, layer="trajectories")
    assert pyproj.CRS.from_user_input(meta["crs"]).to_epsg() == 2056
    assert len(geometry) == COUNT
    points = results.table("points", runs=[11])
    number = int(np.flatnonzero(fields[list(meta["fields"]).index("run")] == 11)[0])
    line = shapely.get_coordinates(shapely.from_wkb(geometry[number]), include_z=True)
    np.testing.assert_array_equal(line, np.column_stack([points[k] for k in ("x_m", "y_m", "z_m")]))


def test_check_line_figures(results):
    entry = results.statistics["lines"][0]
    table = results.table("lines")
    assert entry["crossed"] == len(np.unique(table["run"])) > 10
    np.testing.assert_allclose(table["x_m"], X0 - 46)
    # The plane falls at 45 degrees, and the rocks end on it a little to the side.
    assert 40 < entry["shadow_angle_deg"]["min"] <= 45.0001
    text = (results.folder / "check_lines.csv").read_text().splitlines()
    assert len(text) == 2 and "energy_kJ_p95_low" in text[0] and "design_poor_E_kJ" in text[0]


@pytest.mark.slow
def test_report_needs_nothing_else(results):
    """No reference to anything outside, everything escaped, all inputs inside."""
    page = report_study(results).read_text()
    assert not re.search(r"(src|href)=\"(?!data:)", page) and "<script" not in page
    assert "road &lt;&amp;&gt;" in page and "road <&>" not in page
    for word in ("seed", "SHA-256", "UNI 11211-4", "numba", "Enough runs"):
        assert word in page
    images = sorted(path.name for path in (results.folder / "figures").glob("*.png"))
    assert page.count("data:image/png;base64,") == len(images) >= 14
    assert "line_1.png" in images and "map_trajectories.png" in images
    json.loads((results.folder / "statistics.json").read_text())  # no NaN, which is no JSON


def test_long_names_take_two_lines_and_numbers_do_not():
    page = table(["name", "energy"], [["net of the second row", "1103 (966.4 – 1184) *"]])
    assert '<td class="words">net of the second row</td>' in page
    assert "<td>1103 (966.4 – 1184) *</td>" in page


def test_hillshade_by_hand():
    """A plane that looks at the sun (north-west, 45 degrees up) is white, the level one sin 45."""
    y, x = np.mgrid[0:5, 0:6].astype(float)  # rows run to the south
    level = np.zeros((5, 6))
    np.testing.assert_allclose(hillshade(level, (1.0, 1.0)), np.sin(np.pi / 4))
    to_the_sun = (x + y) / np.sqrt(2)  # rises to the south-east at 45 degrees
    np.testing.assert_allclose(hillshade(to_the_sun, (1.0, 1.0)), 1.0)


def test_shrinking_keeps_what_was_passed():
    values = np.full((2500, 1300), np.nan)
    values[2499, 1299] = 7.0
    small = shrink(values, np.nanmax, 500)
    assert max(small.shape) <= 500 and small[-1, -1] == 7.0 and np.isfinite(small).sum() == 1


def test_folders_without_results_are_named(tmp_path, results):
    with pytest.raises(InputError, match="holds no results"):
        Results(tmp_path)
    with pytest.raises(InputError, match="no raster 'speed'"):
        results.raster("speed")
    with pytest.raises(InputError, match="no table 'x'"):
        results.table("x")
