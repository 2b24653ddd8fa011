"""A real study, recounted run by run from the trajectories that it stored, and read by GIS."""

from xml.etree import ElementTree

import numpy as np
import pytest

rasterio = pytest.importorskip("rasterio")
pyogrio = pytest.importorskip("pyogrio")
pytest.importorskip("shapely")
pytest.importorskip("pyarrow")

from drystone.rockfall.results.gis_project import material_colour  # noqa: E402
from drystone.rockfall.run.montecarlo import run_study  # noqa: E402
from drystone.rockfall.study.study import Study  # noqa: E402
from drystone.rockfall.study.valley import new_study  # noqa: E402

pytestmark = pytest.mark.slow
RUNS, STEP = 60, 0.002  # [s]: at 40 m/s a point every 8 cm, in cells of 2 m
RATES = {"west": 0.3, "east": 0.02}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    path = new_study(tmp_path_factory.mktemp("recount") / "valley")
    table = Study.load(path).settings.model_dump(by_alias=True, exclude_none=True)
    box = {"west": (10, 200), "east": (200, 388)}
    table["sources"] = [
        {"name": name, "steeper_than_deg": 60.0, "frequency_1_year": RATES[name],
         "polygon": [[2600000 + x, 1200000 + y] for x, y in ((a, 280), (b, 280), (b, 350),
                                                             (a, 350))]}
        for name, (a, b) in box.items()
    ]  # fmt: skip
    table["trees"] = [{"points": [[2600100, 1200170, 0.4]], "height_m": 9, "material": "rock"}]
    table |= {"hazard": {"energies_kj": [30, 300, 1000]}, "runs": {"count": RUNS, "seed": 3}}
    table["output"] |= {"step_s": STEP, "ascii_grids": True}
    return run_study(Study.from_table(table, path.parent), path.parent / "results", 1)


@pytest.fixture(scope="module")
def recount(results):
    """Of each run and cell that a stored point lies in: largest speed, energy and height."""
    points, found = results.table("points"), {}
    with rasterio.open(results.folder / "rasters" / "passages.tif") as file:
        row, column = rasterio.transform.rowcol(file.transform, points["x_m"], points["y_m"])
        shape = file.shape
    row, column = np.asarray(row), np.asarray(column)
    inside = (row >= 0) & (column >= 0) & (row < shape[0]) & (column < shape[1])
    speed = np.sqrt(sum(points[f"v{a}_m_s"] ** 2 for a in "xyz"))
    energy = 1e-3 * (points["translational_energy_J"] + points["rotational_energy_J"])
    for k in np.flatnonzero(inside):
        key = (row[k], column[k], points["run"][k])
        values = (speed[k], energy[k], points["height_m"][k])
        found[key] = tuple(map(max, values, found.get(key, values)))
    cells = {}
    for (i, j, run), values in found.items():
        cells.setdefault((i, j), {})[run] = values
    return cells


def compare(results, name, recounted, close):
    """Share of cells in which a raster has what was recounted. A rock may be in a corner of a cell
    for less than a step: a few cells have a run more, and values a little larger."""
    raster = results.raster(name)
    same = [close(raster[at], value) for at, value in recounted.items()]
    return np.mean(same)


def equal(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1.0) or (np.isnan(a) and np.isnan(b))


def test_passages_and_exceedance_are_those_of_the_trajectories(results, recount):
    counts = {at: len(runs) for at, runs in recount.items()}
    assert compare(results, "passages", counts, equal) > 0.97
    assert np.isfinite(results.raster("passages")).sum() <= 1.03 * len(counts)
    source = results.table("runs", ["source"])["source"]
    share = {name: rate / (source == name).sum() for name, rate in RATES.items()}
    for kj in (30, 300, 1000):
        above = {at: [r for r, (_, e, _) in runs.items() if e > kj] for at, runs in recount.items()}
        once = {at: len(runs) / RUNS for at, runs in above.items()}
        often = {at: sum(share[source[r]] for r in runs) for at, runs in above.items()}
        assert compare(results, f"exceedance_{kj}kJ", once, equal) > 0.97
        assert compare(results, f"annual_exceedance_{kj}kJ", often, equal) > 0.97


def test_percentiles_are_those_of_the_trajectories(results, recount):
    def near(a, b):
        return abs(a - b) <= 0.01 * max(abs(b), 1.0)

    for number, stem in enumerate(("velocity", "kinetic_energy", "jump_height")):
        for name, share in (("median", 0.5), ("p90", 0.9), ("p95", 0.95), ("max", 1.0)):
            told = {
                at: np.quantile([values[number] for values in runs.values()], share)
                for at, runs in recount.items()
            }
            assert compare(results, f"{stem}_{name}", told, near) > 0.95, (stem, name)


def test_annual_frequencies_sum_up(results):
    """Over the cells of a line across the whole slope, every release passes once or more."""
    annual, share = results.raster("annual_passages"), results.table("runs", ["source"])["source"]
    first = {name: (share == name).sum() for name in RATES}
    points = results.table("points", ["run", "x_m", "y_m"])
    with rasterio.open(results.folder / "rasters" / "passages.tif") as file:
        rows, columns = rasterio.transform.rowcol(file.transform, points["x_m"], points["y_m"])
    visited = {(r, i, j) for r, i, j in zip(points["run"], rows, columns, strict=True)}
    total = sum(RATES[share[r]] / first[share[r]] for r, _, _ in visited)
    assert np.nansum(annual) == pytest.approx(total, rel=0.01)


def test_gis_reads_what_was_written(results):
    folder = results.folder
    for path in (folder / "rasters").glob("*.tif"):
        with rasterio.open(path) as file:
            assert file.crs.to_epsg() == 2056 and file.nodata == -9999.0 and file.units[0]
            x, y = file.transform.c, file.transform.f
            assert file.res == (2.0, 2.0) and (x % 2.0, y % 2.0) == (2599999 % 2, 1199999 % 2)
            style = ElementTree.parse(path.with_suffix(".qml")).getroot()
            assert style.find(".//rasterrenderer") is not None
    layers = dict(pyogrio.list_layers(folder / "trajectories.gpkg"))
    assert {"trajectories", "deposition", "impacts", "barriers"} <= set(layers)
    for name in layers:
        info = pyogrio.read_info(folder / "trajectories.gpkg", layer=name)
        assert info["crs"] == "EPSG:2056" and info["features"] > 0
    project = ElementTree.fromstring((folder / "results.qgs").read_text().partition("\n")[2])
    sources = [part.text for part in project.iter("datasource")]
    assert all((folder / source.partition("|")[0]).is_file() for source in sources)


def test_the_cover_of_the_ground_is_in_a_raster(results):
    codes, names = results.raster("material"), results.layout["materials"]
    with rasterio.open(results.folder / "rasters" / "material.tif") as file:
        assert file.descriptions[0].endswith("0 talus, 1 rock, 2 meadow, 3 road")

        def at(x, y):
            return names[int(codes[file.index(2600000 + x, 1200000 + y)])]

        assert [at(201, 320), at(201, 200), at(201, 60)] == ["rock", "talus", "meadow"]
    style = (results.folder / "rasters" / "material.qml").read_text()
    assert all(f'label="{name}" color="{material_colour(k)}"' in style
               for k, name in enumerate(names))  # fmt: skip
    assert len(results.layout["forest"]) == 4
    np.testing.assert_allclose(results.layout["trees"], [[2600100, 1200170, 0.4, 9.0]])
