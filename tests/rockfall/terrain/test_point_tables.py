"""Points of CSV files, as spreadsheets of many countries write them."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.study.study import Study
from drystone.rockfall.study.valley import new_study
from drystone.rockfall.terrain.point_tables import read_points
from drystone.rockfall.terrain.slope import Slope
from drystone.rockfall.terrain.vector_files import read_features

pyproj = pytest.importorskip("pyproj")
shapely = pytest.importorskip("shapely")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

WAYS = {
    "commas": "id,x,y,diameter_m\n1,2600100.5,1200180.25,0.4\n2,2600110,1200181,0.35\n",
    "semicolons": "id;X;Y;diameter_m\n1;2600100.5;1200180.25;0.4\n2;2600110;1200181;0.35\n",
    "decimal commas": "id;x;y;diameter_m\n1;2600100,5;1200180,25;0,4\n2;2600110;1200181;0,35\n",
    "tabs": "diameter_m\teast\tnorth\n0.4\t2600100.5\t1200180.25\n0.35\t2600110\t1200181\n",
    "blanks": "x y diameter_m\n2600100.5 1200180.25 0.4\n\n2600110 1200181 0.35\n",
    "quotes and a mark": '\ufeff"x","y","species","diameter_m"\r\n"2600100.5","1200180.25",'
    '"oak, old","0.4"\r\n2600110,1200181,fir,0.35\r\n',
}


@pytest.mark.parametrize("way", WAYS)
def test_points_of_a_table(tmp_path, way):
    (tmp_path / "p.csv").write_bytes(WAYS[way].encode())
    points, table, system = read_points(tmp_path / "p.csv")
    expected = [(2600100.5, 1200180.25), (2600110.0, 1200181.0)]
    np.testing.assert_array_equal(shapely.get_coordinates(points), expected)
    np.testing.assert_array_equal(table["diameter_m"], [0.4, 0.35])
    assert system is None


def test_heights_and_degrees(tmp_path):
    (tmp_path / "z.csv").write_text("x,y,z\n1,2,3\n4,5,6\n")
    points, _, _ = read_points(tmp_path / "z.csv")
    np.testing.assert_array_equal(
        shapely.get_coordinates(points, include_z=True), [(1, 2, 3), (4, 5, 6)]
    )
    east, north = 2_600_100.0, 1_200_180.0
    back = pyproj.Transformer.from_crs(2056, 4326, always_xy=True)
    lon, lat = back.transform(east, north)
    (tmp_path / "d.csv").write_text(f"lat,lon\n{lat!r},{lon!r}\n")
    slope = Slope.from_grid(np.zeros((9, 9)), 40.0, (2.6e6, 1.2e6), crs="EPSG:2056")
    found = read_features(tmp_path / "d.csv", slope, ("point",))
    place = shapely.get_coordinates(found.shapes)[0] + slope.origin[:2]
    np.testing.assert_allclose(place, (east, north), atol=1e-3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("1,2\n3,4\n", "first line must name the columns"),
        ("a,b\n3,4\n", "x and y among them.*but names a, b"),
        ("x,y\n3,4\n5\n", "line 3: has 1 entries, must have 2"),
        ("x,y\n\n3,4\n5,six\n", "line 4: y is 'six'; every line must hold a number"),
        ("x,y\n", "holds no geometry"),
        ("x,y\n3,nan\n", "a coordinate is nan"),
        ('x,y,what\n3,4,"a\nb"\n', "in quotes reaches over the end"),
        ("x,y\n3," + 200_000 * "4" + "\n", "cannot be read as a table"),
        ("x,y\n3," + 500 * "4" + "\n", "a coordinate is inf"),
        ("\0\0", "first line must name|names no|x and y among them"),
    ],
)
def test_tables_that_are_none(tmp_path, text, words):
    slope = Slope.from_grid(np.zeros((9, 9)), 1.0)
    (tmp_path / "p.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        read_features(tmp_path / "p.csv", slope, ("point",))
    (tmp_path / "p.csv").write_text("x,y\n3,4\n")
    with pytest.raises(InputError, match="holds a Point, must hold line"):
        read_features(tmp_path / "p.csv", slope, ("line",))


def test_trees_and_sources_of_a_study(tmp_path):
    path = new_study(tmp_path / "valley")
    rows = [f"{2600020 + 5 * k};1200180,5;0,4" for k in range(60)]
    (path.parent / "trees.csv").write_text("x;y;diameter_m\n" + "\n".join(rows))
    (path.parent / "blocks.csv").write_text("x,y\n2600100,1200320\n2600200,1200320\n")
    table = Study.load(path).settings.model_dump(by_alias=True, exclude_none=True)
    table["trees"] = [{"file": "trees.csv", "height_m": 12, "material": "rock"}]
    table["sources"] = [{"name": "blocks", "file": "blocks.csv"}]
    study = Study.from_table(table, path.parent)
    assert len(study.trees.trunks) == 60
    np.testing.assert_allclose(study.trees.trunks[:, 2], 0.4)
    assert study.trees.trunks[1, 0] + study.slope.origin[0] == 2_600_025.0
    assert {round(study.sample(k)[1].position[0] + study.slope.origin[0]) for k in range(20)} <= {
        *range(2600098, 2600103), *range(2600198, 2600203)
    }  # fmt: skip
    assert path.parent / "trees.csv" in study.input_files()
    (path.parent / "trees.csv").write_text("x;y;diameter_m\n2600020;1200180;\n")
    with pytest.raises(InputError, match="must hold a number in every row"):
        Study.from_table(table, path.parent).trees  # noqa: B018
