"""`drystone rockfall`: what it writes, what it prints where, and how it ends."""

import pytest
from typer.testing import CliRunner

from drystone.cli.rockfall import app
from drystone.rockfall.study.check import check_study
from drystone.rockfall.study.study import Study

for package in ("rasterio", "pyproj", "shapely", "pyogrio"):
    pytest.importorskip(package, reason="needs the extra drystone[rockfall]")

runner = CliRunner()


def test_new_writes_a_study_that_is_fine(tmp_path):
    result = runner.invoke(app, ["new", str(tmp_path / "demo")])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip().endswith("study.toml") and "Next:" in result.stderr
    names = {path.name for path in (tmp_path / "demo").iterdir()}
    assert names == {"study.toml", "terrain.asc", "ground.geojson"}
    result = runner.invoke(app, ["check", str(tmp_path / "demo" / "study.toml")])
    assert result.exit_code == 0, result.output
    for word in ("terrain.asc, 91,142 triangles", "EPSG:2056", "source cliff", "seed 1", "hint:"):
        assert word in result.stdout


def test_new_is_the_same_every_time_and_overwrites_nothing(tmp_path):
    for name in ("a", "b"):
        runner.invoke(app, ["new", str(tmp_path / name)])
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    result = runner.invoke(app, ["new", str(tmp_path / "a")])
    assert result.exit_code == 2 and "there already" in result.stderr


def changed(folder, **changes):
    study = Study.load(folder / "study.toml")
    return Study.from_table(study.describe() | changes, folder)


@pytest.fixture(scope="module")
def valley(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "demo"
    runner.invoke(app, ["new", str(folder)])
    return folder


def findings(study):
    return [str(finding) for finding in check_study(study).findings]


def test_check_finds_what_is_suspicious(valley):
    materials = Study.load(valley / "study.toml").describe()["materials"]
    far = [[0.0, 0.0], [9.0, 0.0], [9.0, 9.0]]
    materials = materials | {"regions": [{"material": "rock", "polygon": far}]}
    study = changed(
        valley, materials=materials, runs={"count": 50},
        check_lines=[{"name": "away", "line": [[0.0, 0.0], [1.0, 1.0]]}],
    )  # fmt: skip
    told = "\n".join(findings(study))
    assert "warning: material meadow: is used nowhere" in told
    assert "warning: a region of rock: lies off the terrain" in told
    assert "warning: check line away: lies off the terrain" in told
    assert "too few for the 99th percentile" in told


def test_check_counts_holes_inside_the_terrain(valley):
    rows = (valley / "terrain.asc").read_text().splitlines()
    cells = rows[100].split()
    rows[100] = " ".join([*cells[:50], "-9999", "-9999", *cells[52:]])
    (valley / "holes.asc").write_text("\n".join(rows))
    study = changed(valley, terrain={"file": "holes.asc", "crs": "EPSG:2056"})
    assert any("has 1 holes inside it, 2 cells in all" in told for told in findings(study))


def test_run_refuses_a_missing_folder_of_results(tmp_path):
    result = runner.invoke(app, ["report", str(tmp_path)])
    assert result.exit_code == 2 and "no results" in result.stderr


@pytest.mark.slow
def test_run_writes_results_and_says_where(valley):
    study, out = str(valley / "study.toml"), valley / "out"
    result = runner.invoke(
        app, ["run", study, "--count", "6", "--seed", "3", "--workers", "1", "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert str(out) in result.stdout.replace("\n", "")
    assert (out / "report.html").stat().st_size > 10_000
    assert (out / "rasters" / "velocity_p95.tif").is_file()
