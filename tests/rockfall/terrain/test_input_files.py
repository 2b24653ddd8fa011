"""Files that a study reads: what is refused, and clouds, drawings, projections."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.terrain.crs import scale_at
from drystone.rockfall.terrain.raster_files import metres_in, read_raster
from drystone.rockfall.terrain.slope import Slope
from drystone.rockfall.terrain.vector_files import read_features

rasterio = pytest.importorskip("rasterio")
pyproj = pytest.importorskip("pyproj")
shapely = pytest.importorskip("shapely")
pyogrio = pytest.importorskip("pyogrio")


def tif(path, z, crs="EPSG:2056", west=2.6e6, north=1.2e6, cell=2.0, **more):
    z = np.atleast_3d(np.asarray(z))
    z = np.moveaxis(z, 2, 0) if z.shape[2] > 1 else z[None, :, :, 0]
    profile = {"driver": "GTiff", "dtype": z.dtype, "count": len(z), "width": z.shape[2],
               "height": z.shape[1], "crs": crs,
               "transform": rasterio.Affine(cell, 0, west, 0, -cell, north)} | more  # fmt: skip
    with rasterio.open(path, "w", **profile) as file:
        file.write(z)
    return path


@pytest.mark.parametrize("crs", ["EPSG:4978", "EPSG:5714", "EPSG:4326"])
def test_what_is_no_map_is_refused(tmp_path, crs):
    path = tif(tmp_path / "z.tif", np.ones((5, 5), "f4"), crs=None)
    with pytest.raises(InputError, match="must be projected|in degrees"):
        Slope.from_file(path, crs=crs)


def test_projected_and_engineering_systems_are_taken(tmp_path):
    path = tif(tmp_path / "z.tif", np.ones((5, 5), "f4"), crs=None)
    axes = 'AXIS["x",east],AXIS["y",north],LENGTHUNIT["metre",1]'
    site = f'ENGCRS["site",EDATUM["d"],CS[Cartesian,2],{axes}]'
    for crs in ("EPSG:2056", "EPSG:32632", "EPSG:3857", site):
        assert Slope.from_file(path, crs=crs).crs is not None


def test_scale_of_a_map():
    assert scale_at(pyproj.CRS(2056), 2.6e6, 1.2e6) == pytest.approx(1.0, abs=1e-4)
    mercator = pyproj.Transformer.from_crs(4326, 3857, always_xy=True).transform(8.0, 46.8)
    off = scale_at(pyproj.CRS(3857), *mercator)
    assert off == pytest.approx(1.0 / np.cos(np.radians(46.8)), rel=0.01)
    assert scale_at(None, 0.0, 0.0) == 1.0


def test_pictures_are_no_terrain(tmp_path):
    rgb = np.full((5, 5, 3), 120, np.uint8)
    with pytest.raises(InputError, match="is a picture"):
        Slope.from_file(tif(tmp_path / "rgb.tif", rgb, photometric="RGB"))
    with pytest.raises(InputError, match="complex"):
        Slope.from_file(tif(tmp_path / "c.tif", np.ones((5, 5), np.complex64)))


def test_a_prj_in_latin_1_is_one_sentence(tmp_path):
    grid = "ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 1\n" + "1 2 3\n" * 3
    (tmp_path / "z.asc").write_text(grid)
    (tmp_path / "z.prj").write_bytes('GEOGCS["Zürich"]'.encode("latin-1"))
    with pytest.raises(InputError, match="not a text file in UTF-8"):
        Slope.from_file(tmp_path / "z.asc")


def test_layers_are_asked_for_by_name(tmp_path):
    slope = Slope.from_grid(np.zeros((20, 20)), 1.0)
    path = tmp_path / "lines.gpkg"
    for name, y in (("one", 5.0), ("two", 8.0)):
        line = shapely.to_wkb([shapely.LineString([(2, y), (9, y)])])
        pyogrio.raw.write(str(path), np.array(line, dtype=object), [], [], layer=name,
                          driver="GPKG", geometry_type="LineString", crs="EPSG:2056",
                          append=path.exists())  # fmt: skip
    with pytest.raises(InputError, match="has 2 layers: one, two"):
        read_features(path, slope, ("line",))
    with pytest.raises(InputError, match="no layer 'tow'"):
        read_features(path, slope, ("line",), "tow")
    found = read_features(path, slope, ("line",), "two")
    assert shapely.get_coordinates(found.shapes)[0, 1] + slope.origin[1] == 8.0


def test_lines_of_a_drawing(tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    drawing = ezdxf.new()
    space = drawing.modelspace()
    space.add_lwpolyline([(1, 1), (5, 1), (9, 4)], dxfattribs={"layer": "nets"})
    space.add_line((0, 0), (1, 0), dxfattribs={"layer": "other"})
    block = drawing.blocks.new("posts")
    block.add_line((0, 0), (2, 0))  # on layer 0: on that of the insert
    block.add_line((0, 0), (0, 2), dxfattribs={"layer": "ropes"})
    space.add_blockref("posts", (3, 4), dxfattribs={"layer": "inserted"})
    drawing.saveas(tmp_path / "nets.dxf")
    slope = Slope.from_grid(np.zeros((20, 20)), 1.0)
    for layer, end in (("inserted", (5, 4)), ("ropes", (3, 6))):
        found = read_features(tmp_path / "nets.dxf", slope, ("line",), layer)
        places = shapely.get_coordinates(found.shapes) + slope.origin[:2]
        np.testing.assert_allclose(places, [(3, 4), end])
    found = read_features(tmp_path / "nets.dxf", slope, ("line",), "nets")
    np.testing.assert_allclose(
        shapely.get_coordinates(found.shapes) + slope.origin[:2], [(1, 1), (5, 1), (9, 4)]
    )
    (tmp_path / "bad.dxf").write_text("nonsense")
    with pytest.raises(InputError, match="cannot be read as a DXF"):
        read_features(tmp_path / "bad.dxf", slope, ("line",))


def cloud(path, classes):
    laspy = pytest.importorskip("laspy")
    rng = np.random.default_rng(1)
    header = laspy.LasHeader(point_format=3, version="1.2")
    header.scales, header.offsets = [0.001] * 3, [2.6e6, 1.2e6, 0.0]
    points = laspy.LasData(header)
    x, y = rng.uniform(0, 40, (2, 3000))
    points.x, points.y = 2.6e6 + x, 1.2e6 + y
    points.z = 100.0 + 0.5 * x + np.where(classes == 2, 0.0, 7.0)
    points.classification = np.full(3000, classes, np.uint8) if np.isscalar(classes) else classes
    points.write(path)
    return path


@pytest.mark.parametrize("suffix", ["las", "laz"])
def test_the_ground_of_a_point_cloud(tmp_path, suffix):
    """A plane, with trees above it that do not count."""
    pytest.importorskip("lazrs")
    classes = np.where(np.arange(3000) % 3 == 0, 5, 2).astype(np.uint8)
    slope = Slope.from_file(cloud(tmp_path / f"p.{suffix}", classes), "EPSG:2056", cell=2.0)
    assert slope.spacing == 2.0
    x, y = np.random.default_rng(2).uniform(5, 35, (2, 50))
    at = slope.height(2.6e6 + x - slope.origin[0], 1.2e6 + y - slope.origin[1])
    np.testing.assert_allclose(at, 100.0 + 0.5 * x, atol=0.01)
    with pytest.raises(InputError, match="class ground"):
        Slope.from_file(cloud(tmp_path / "trees.las", 5), "EPSG:2056")
    (tmp_path / "bad.laz").write_bytes(b"nonsense")
    with pytest.raises(InputError, match="cannot be read as a point cloud"):
        Slope.from_file(tmp_path / "bad.laz", "EPSG:2056")


def test_reprojection_when_asked_for(tmp_path):
    """A plane that rises to the east, from UTM to the Swiss grid: heights stay, places move."""
    x = 2.0 * np.arange(60)
    z = np.broadcast_to(500.0 + 0.3 * x, (60, 60)).astype("f4")
    path = tif(tmp_path / "utm.tif", z, "EPSG:32632", 400_000.0, 5_200_000.0)
    slope = Slope.from_file(path, reproject="EPSG:2056")
    assert slope.crs.to_epsg() == 2056
    change = pyproj.Transformer.from_crs(32632, 2056, always_xy=True)
    east, north = change.transform(400_000.0 + 61.0, 5_200_000.0 - 61.0)
    height = slope.height(east - slope.origin[0], north - slope.origin[1])
    assert height == pytest.approx(500.0 + 0.3 * 60.0, abs=0.2)
    with pytest.raises(InputError, match="reproject is 'EPSG:0'"):
        Slope.from_file(path, reproject="EPSG:0")


@pytest.mark.parametrize(
    ("unit", "size"),
    [("m", 1.0), ("Metre", 1.0), ("metres a.s.l.", 1.0), ("mm", 1e-3), ("cm", 1e-2),
     ("ft", 0.3048), ("US survey foot", 1200 / 3937), ("us-ft", 1200 / 3937), ("Feet", 0.3048),
     ("kilometre", 1e3), ("", None), (None, None), ("rock type", None)],
)  # fmt: skip
def test_units_of_heights(tmp_path, unit, size):
    assert metres_in(unit) == size
    path = tif(tmp_path / "z.tif", np.full((5, 5), 1.5, "f4"), "EPSG:32632", 4e5, 5.2e6)
    with rasterio.open(path, "r+") as file:
        file.units = (unit or "",)
    if size in (1.0, None):
        assert Slope.from_file(path).vertices[0, 2] == 1.5
        return
    with pytest.raises(InputError, match=f"heights are in {unit}, must be in metres"):
        Slope.from_file(path)
    moved = Slope.from_file(path, reproject="EPSG:2056").vertices[:, 2]
    np.testing.assert_allclose(moved, 1.5 * size)


def test_heights_of_a_system_in_feet(tmp_path):
    """A county's grid: its plan in US feet, and its heights only where it says so."""
    z = np.full((9, 9), 1000.0, "f4")
    place = {"west": 1e6, "north": 2e5, "cell": 6.0}
    foot = 1200 / 3937
    path = tif(tmp_path / "both.tif", z, "EPSG:2263+6360", **place)
    slope = Slope.from_file(path, reproject="EPSG:32618")
    np.testing.assert_allclose(slope.vertices[:, 2], 1000.0 * foot, rtol=1e-6)
    assert slope.spacing == pytest.approx(6.0 * foot, rel=1e-3)
    path = tif(tmp_path / "plan.tif", z, "EPSG:2263", **place)
    with pytest.raises(InputError, match=r"nothing says .*'EPSG:2263\+5703' \(metres\)"):
        Slope.from_file(path, reproject="EPSG:32618")
    for heights, size in (("5703", 1.0), ("6360", foot)):
        slope = Slope.from_file(path, f"EPSG:2263+{heights}", reproject="EPSG:32618")
        np.testing.assert_allclose(slope.vertices[:, 2], 1000.0 * size, rtol=1e-6)


def test_a_prj_in_capitals_is_found(tmp_path):
    grid = "ncols 3\nnrows 3\nxllcorner 0\nyllcorner 0\ncellsize 1\n" + "1 2 3\n" * 3
    (tmp_path / "Z.ASC").write_text(grid)
    (tmp_path / "Z.PRJ").write_text(pyproj.CRS(2056).to_wkt("WKT1_ESRI"))
    assert Slope.from_file(tmp_path / "Z.ASC").crs.is_projected


@pytest.mark.parametrize("mark", [" ", ";", "\t", "; "])
def test_points_with_decimal_commas(tmp_path, mark):
    rows = [f"{x},5{mark}{y},0{mark}{x + y},25" for y in (0, 2, 4) for x in (0, 2, 4)]
    for head in ("", f"x{mark}y{mark}z\n"):
        (tmp_path / "p.xyz").write_text(head + "\n".join(rows) + "\n")
        slope = Slope.from_file(tmp_path / "p.xyz", "local")
        places = slope.vertices + slope.origin
        np.testing.assert_array_equal(places[:, 2], places[:, 0] - 0.5 + places[:, 1] + 0.25)
    for rows in (
        ["1, 2, 3", "2, 2, 3", "1, 3, 3", "2, 3, 3"],
        ["1,2,3", "2,2,3", "1,3,3", "2,3,3"],
    ):
        (tmp_path / "p.xyz").write_text("\n".join(rows))
        assert len(Slope.from_file(tmp_path / "p.xyz", "local").vertices) == 4
    (tmp_path / "p.xyz").write_text("1 2 3 9\n2 2 3 9\n1 3 3 9\n")
    with pytest.raises(InputError, match="hold 4 numbers, must hold three"):
        Slope.from_file(tmp_path / "p.xyz", "local")


def test_triangles_of_a_point_cloud(tmp_path):
    """A wall of 80 degrees, which a grid of the same spacing makes gentler."""
    laspy = pytest.importorskip("laspy")
    pytest.importorskip("lazrs")
    rng = np.random.default_rng(3)
    x, y = rng.uniform(0, 40, (2, 4000))
    edge = np.repeat([20.0, 21.0], 200)
    x, y = np.append(x, edge), np.append(y, rng.uniform(0, 40, 400))
    z = 100.0 + np.interp(x, [20.0, 21.0], [0.0, np.tan(np.radians(80.0))])
    header = laspy.LasHeader(point_format=6, version="1.4")
    header.scales, header.offsets = [1e-4] * 3, [2.6e6, 1.2e6, 0.0]
    header.add_crs(pyproj.CRS(2056))
    points = laspy.LasData(header)
    points.x, points.y, points.z = 2.6e6 + x, 1.2e6 + y, z
    points.classification = np.full(len(x), 2, np.uint8)
    points.write(tmp_path / "p.laz")
    slope = Slope.from_file(tmp_path / "p.laz", tin=True)
    assert slope.grid is None and slope.crs.to_epsg() == 2056
    area = slope.area_vectors()
    assert (area[:, 2] > 0.0).all() and area[:, 2].sum() == pytest.approx(1600.0, rel=0.02)
    steep = np.degrees(np.arccos(area[:, 2] / np.linalg.norm(area, axis=1)))
    wall = np.abs(
        slope.vertices[slope.triangles][:, :, 0].mean(axis=1) + slope.origin[0] - 2600020.5
    )
    assert np.median(steep[wall < 0.3]) == pytest.approx(80.0, abs=0.1)
    u, v = rng.uniform(2, 38, (2, 200))
    at = slope.height(2.6e6 + u - slope.origin[0], 1.2e6 + v - slope.origin[1])
    flat = np.abs(u - 20.5) > 1.5
    expected = 100.0 + np.where(u > 20.5, np.tan(np.radians(80.0)), 0.0)
    np.testing.assert_allclose(at[flat], expected[flat], atol=1e-3)
    thin = Slope.from_file(tmp_path / "p.laz", cell=2.0, tin=True)
    assert 350 <= len(thin.vertices) <= 441
    assert set(map(tuple, np.round(thin.vertices + thin.origin, 3))) <= set(
        map(tuple, np.round(slope.vertices + slope.origin, 3))
    )
    tif(tmp_path / "z.tif", np.ones((5, 5), "f4"))
    with pytest.raises(InputError, match="is no point cloud"):
        Slope.from_file(tmp_path / "z.tif", tin=True)
    with pytest.raises(InputError, match="moves rasters only"):
        Slope.from_file(tmp_path / "p.laz", tin=True, reproject="EPSG:32632")


HEAD = "ncols 3\nnrows 3\nxllcorner 2600000\nyllcorner 1200000\n"


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("cellsize 2,5\nNODATA_value -9999\n", "1,5 2 3\n4 -9999 6\n7 8 9,25\n"),
        ("dx 2.5\ndy 2.5\nNODATA_value nan\n", "1.5 2 3\n4 nan 6\n7 8 9.25\n"),
    ],
)
def test_grids_of_other_programs(tmp_path, head, rows):
    """Decimal commas; dx and dy in place of cellsize, and NaN as NoData, as GDAL writes them."""
    (tmp_path / "t.asc").write_text(HEAD + head + rows)
    raster = read_raster(tmp_path / "t.asc")
    np.testing.assert_array_equal(raster.values, [[7, 8, 9.25], [4, np.nan, 6], [1.5, 2, 3]])
    assert (raster.x0, raster.y0, raster.dx, raster.dy) == (2600001.25, 1200001.25, 2.5, 2.5)


def test_cells_of_an_ascii_grid_are_square(tmp_path):
    (tmp_path / "t.asc").write_text(HEAD + "dx 2\ndy 3\n" + 3 * "1 2 3\n")
    with pytest.raises(InputError, match="its cells are 2 x 3 m, must be square"):
        read_raster(tmp_path / "t.asc")
