"""Scenarios: each in its folder, compared in one page; finished ones are kept."""

import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import InputError  # noqa: E402
from drystone.rockfall.report.view import write_view  # noqa: E402
from drystone.rockfall.results.results import Results  # noqa: E402
from drystone.rockfall.run.sweep import sweep_study  # noqa: E402
from drystone.rockfall.study.study import Study  # noqa: E402
from drystone.rockfall.study.valley import new_study  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    path = new_study(tmp_path_factory.mktemp("sweep") / "valley")
    table = Study.load(path).settings.model_dump(by_alias=True, exclude_none=True)
    table["runs"] = {"count": 16}
    table["scenarios"] = [{"name": "no net: 1", "set": {"barriers.net.capacity_kj": 1e-6}}]
    return Study.from_table(table, path.parent)


@pytest.fixture(scope="module")
def page(study):
    return sweep_study(study, study.folder / "sweep", workers=1)


def test_every_scenario_has_results_and_a_row(study, page):
    text, folder = page.read_text(), study.folder / "sweep"
    assert "no net: 1" in text and "barriers.net.capacity_kj" in text
    base, bare = (Results(folder / name) for name in ("as-the-study-is", "no-net-1"))
    stopped = [each.statistics["barriers"][0]["stopped"] for each in (base, bare)]
    assert stopped[0] > 0 and stopped[1] == 0
    assert (base.table("runs")["mass_kg"] == bare.table("runs")["mass_kg"]).all()


def test_finished_scenarios_are_kept(study, page):
    manifests = [path.stat().st_mtime_ns for path in page.parent.rglob("manifest.json")]
    sweep_study(study, page.parent, workers=1)
    assert [p.stat().st_mtime_ns for p in page.parent.rglob("manifest.json")] == manifests
    table = study.settings.model_dump(by_alias=True, exclude_none=True)
    table["scenarios"] = [{"name": "x", "set": {"barriers.gate.height_m": 3}}]
    with pytest.raises(InputError, match="none is called 'gate'"):
        sweep_study(Study.from_table(table, study.folder), study.folder / "other")
    assert not (study.folder / "other").exists()


def test_the_view_needs_nothing_else(page):
    view = write_view(Results(page.parent / "as-the-study-is")).read_text()
    assert "http:" not in view and "https:" not in view and "src=" not in view
    assert "webgl" in view
