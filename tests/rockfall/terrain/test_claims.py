"""Point clouds, drawings and systems that claim what is not so, or make no sense."""

import struct

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.terrain.crs import to_slope
from drystone.rockfall.terrain.slope import Slope
from drystone.rockfall.terrain.vector_files import read_features

pyproj = pytest.importorskip("pyproj")
shapely = pytest.importorskip("shapely")


def test_circles_of_a_drawing_have_as_many_chords_as_they_need(tmp_path):
    """One of 10 m has a rim to a centimetre; the rim of a planet is not laid out in centimetres."""
    ezdxf = pytest.importorskip("ezdxf")
    slope = Slope.from_grid(np.zeros((20, 20)), 1.0)
    drawing = ezdxf.new()
    drawing.modelspace().add_circle((10, 10), 10.0)
    drawing.saveas(tmp_path / "small.dxf")
    (found,) = read_features(tmp_path / "small.dxf", slope, ("polygon",)).shapes
    assert found.area == pytest.approx(100.0 * np.pi, rel=3e-3)
    for k in range(20):
        drawing.modelspace().add_arc((k, 0), 4e7, 0, 300)
    drawing.saveas(tmp_path / "large.dxf")
    shapes = read_features(tmp_path / "large.dxf", slope, ("polygon", "line")).shapes
    assert len(shapes) == 21 and len(shapely.get_coordinates(shapes)) < 100_000


def test_a_drawing_larger_than_the_earth_is_refused(tmp_path):
    ezdxf = pytest.importorskip("ezdxf")
    drawing = ezdxf.new()
    drawing.modelspace().add_ellipse((0, 0), (1e200, 0, 0), 1e-6)
    drawing.saveas(tmp_path / "x.dxf")
    slope = Slope.from_grid(np.zeros((20, 20)), 1.0)
    with pytest.raises(InputError, match=r"^x\.dxf.*1e\+08"):
        read_features(tmp_path / "x.dxf", slope, ("line",))


@pytest.mark.parametrize(
    "part, wrong", [("0.9996", "-1"), ("298.257223563", "0.5"), ("Transverse_Mercator", "Nonsense")]
)
def test_a_system_that_makes_no_sense_is_one_sentence(part, wrong):
    """It can be read: that it is no projection shows when places are moved."""
    wkt = pyproj.CRS(32632).to_wkt("WKT1_GDAL").replace(part, wrong)
    with pytest.raises(InputError, match="PROJ cannot move"):
        to_slope("p.shp", np.array([(4e5, 5.2e6)]), wkt, pyproj.CRS(2056))


def cloud(path):
    """3000 points of the ground on 40 x 40 m."""
    laspy = pytest.importorskip("laspy")
    pytest.importorskip("lazrs")
    header = laspy.LasHeader(point_format=3, version="1.4")
    header.scales, header.offsets = [0.001] * 3, [2.6e6, 1.2e6, 0.0]
    points = laspy.LasData(header)
    x, y = np.random.default_rng(1).uniform(0, 40, (2, 3000))
    points.x, points.y, points.z = 2.6e6 + x, 1.2e6 + y, 100.0 + 0.5 * x
    points.classification = np.full(3000, 2, np.uint8)
    points.write(path)
    return path


@pytest.mark.parametrize("suffix", ["las", "laz"])
@pytest.mark.parametrize(
    "place, form, claim",
    [
        (247, "<Q", 29_000_000), (247, "<Q", 2**62), (100, "<I", 2**32 - 1), (105, "<H", 65_000),
        (131, "<d", 1e300), (131, "<d", np.nan), (243, "<I", 2**31),
    ],
)  # fmt: skip
def test_what_the_header_of_a_cloud_claims_is_not_believed(tmp_path, suffix, place, form, claim):
    path = cloud(tmp_path / f"p.{suffix}")
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, place, claim)
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"^p\.{suffix}"):
        Slope.from_file(path, "EPSG:2056", cell=2.0)


def test_cells_far_smaller_than_the_points_are_apart_are_refused(tmp_path):
    path = cloud(tmp_path / "p.las")
    with pytest.raises(InputError, match="too many for 3,000 points"):
        Slope.from_file(path, "EPSG:2056", cell=0.01)
