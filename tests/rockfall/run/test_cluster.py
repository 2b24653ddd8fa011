"""A real Dask cluster of worker processes on this machine, one of them killed on the way."""

import sys
import threading

import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError  # noqa: E402
from drystone.rockfall.run import cluster as module  # noqa: E402
from fake_runs import digests, run  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def patience():
    """On a busy machine a worker needs longer to come back than the 15 s that Dask gives it."""
    with dask.config.set({"distributed.deploy.lost-worker-timeout": "10m"}):
        yield


def local_cluster(workers, threads):
    """Processes with a nanny each, which starts a dead one again."""
    paths = ":".join(filter(None, sys.path))
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=threads,
        processes=True,
        dashboard_address=":0",
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


def test_what_kills_every_worker_is_named_and_its_neighbour_done(tmp_path, monkeypatch):
    """Two chunks roll side by side in one process, which the first one kills each time."""
    monkeypatch.setattr(module, "ATTEMPTS", 3)
    with local_cluster(workers=1, threads=2) as cluster:
        lethal = dict(count=32, deadly_run=5, roll_seconds=0.05, cluster=cluster.scheduler_address)
        with pytest.raises(DrystoneError, match="died over runs 0 to 15, tried alone"):
            run(tmp_path / "out", **lethal)
        parts = [part.name for part in (tmp_path / "out").rglob("*.part")]
        assert parts == ["chunk-000001.part"]
        run(tmp_path / "again", count=20, cluster=cluster.scheduler_address)  # it still works


def test_no_scheduler_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ANSWER", 1.0)
    with pytest.raises(DrystoneError, match="no Dask scheduler answers at 'tcp://127.0.0.1:1'"):
        run(tmp_path / "out", count=20, cluster="tcp://127.0.0.1:1")


def test_a_cluster_without_workers_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NO_WORKER", 1.0)
    monkeypatch.setattr(module, "CHECK", 0.1)
    with local_cluster(workers=0, threads=1) as empty:
        with pytest.raises(DrystoneError, match="no worker for 1 s. Start workers, then go on"):
            run(tmp_path / "out", count=20, cluster=empty.scheduler_address)


def test_a_scheduler_that_ends_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "ANSWER", 2.0)
    with local_cluster(workers=0, threads=1) as closing:
        ended = threading.Timer(2.0, closing.close)
        ended.start()
        with pytest.raises(DrystoneError, match="no longer answers. Start it again, then go on"):
            run(tmp_path / "out", count=20, cluster=closing.scheduler_address)
        ended.join(60.0)


def test_workers_that_finish_nothing_are_not_waited_for(tmp_path, monkeypatch, cluster):
    """Sixteen rocks of two seconds each make a chunk; what was done before is kept."""
    monkeypatch.setattr(module, "LONGEST_CHUNK", 1.0)
    monkeypatch.setattr(module, "CHECK", 0.1)
    with pytest.raises(DrystoneError, match="for 1 s none has finished a chunk of runs"):
        run(tmp_path / "out", count=20, roll_seconds=2.0, cluster=cluster.scheduler_address)
