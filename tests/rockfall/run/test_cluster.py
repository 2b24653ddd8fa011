"""A real Dask cluster of worker processes on this machine, one of them killed on the way."""

import sys
from pathlib import Path

import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError  # noqa: E402
from fake_runs import digests, run  # noqa: E402

HERE = Path(__file__).resolve().parent


def local_cluster(workers, threads):
    """Processes with a nanny each, which starts a dead one again."""
    paths = ":".join([str(HERE), *filter(None, sys.path)])
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=True,
        dashboard_address=None,
        env={"PYTHONPATH": paths, "NUMBA_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def cluster():
    with local_cluster(workers=2, threads=1) as running:
        yield running


def test_a_worker_killed_on_the_way_changes_nothing(tmp_path, cluster):
    run(tmp_path / "alone", count=90)
    mark = tmp_path / "killed"
    results = run(
        tmp_path / "out", count=90, deadly_run=40, mark=str(mark), cluster=cluster.scheduler_address
    )
    assert mark.exists()
    assert list(results.table("runs")["run"]) == list(range(90))
    assert digests(tmp_path / "out") == digests(tmp_path / "alone")


def test_what_kills_every_worker_is_named_and_its_neighbour_done(tmp_path):
    """Two chunks roll side by side in one process, which the first one kills each time."""
    with local_cluster(workers=1, threads=2) as cluster:
        lethal = dict(count=32, deadly_run=5, roll_seconds=0.05, cluster=cluster.scheduler_address)
        with pytest.raises(DrystoneError, match="died over runs 0 to 15, tried alone"):
            run(tmp_path / "out", **lethal)
        parts = [part.name for part in (tmp_path / "out").rglob("*.part")]
        assert parts == ["chunk-000001.part"]
        run(tmp_path / "again", count=20, cluster=cluster.scheduler_address)  # it still works


def test_no_scheduler_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr("drystone.rockfall.run.cluster.PATIENCE", "1s")
    with pytest.raises(DrystoneError, match="no Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        run(tmp_path / "out", count=20, cluster="tcp://127.0.0.1:1")
