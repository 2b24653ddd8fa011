"""A real Dask cluster of worker processes on this machine, one of them killed on the way."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pytest.importorskip("pyarrow")
pytest.importorskip("rasterio")
pytest.importorskip("pyogrio")

from drystone.errors import DrystoneError, InputError  # noqa: E402
from drystone.rockfall.run import cluster as module  # noqa: E402
from drystone.rockfall.run import scheduler  # noqa: E402
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


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "tcp://no-such-host.invalid:8786"])
def test_no_scheduler_is_a_clear_error_and_leaves_nothing_behind(tmp_path, address):
    with pytest.raises(DrystoneError, match="no Dask scheduler answers at 'tcp://.*correct the"):
        run(tmp_path / "out", count=20, cluster=address)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("address", ["", "nonsense", "tcp://", "tcp://a:b", "http://a:1", 7])
def test_what_is_no_address_is_refused(tmp_path, address):
    with pytest.raises(InputError, match="cluster is .*must b"):
        run(tmp_path / "out", count=20, cluster=address)


def test_what_is_no_scheduler_is_not_waited_for(tmp_path, monkeypatch):
    """Something else listens there, and says nothing."""
    monkeypatch.setattr(scheduler, "ANSWER", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(DrystoneError, match="does not answer as a Dask scheduler"):
            run(tmp_path / "out", count=20, cluster=address)
    assert not (tmp_path / "out").exists()


def test_a_cluster_without_workers_is_not_waited_for(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NO_WORKER", 1.0)
    monkeypatch.setattr(module, "CHECK", 0.1)
    with local_cluster(workers=0, threads=1) as empty:
        with pytest.raises(DrystoneError, match="no worker for 1 s. Start workers, then go on"):
            run(tmp_path / "out", count=20, cluster=empty.scheduler_address)


def test_a_scheduler_that_ends_is_named(tmp_path):
    with local_cluster(workers=0, threads=1) as closing:
        ended = threading.Timer(2.0, closing.close)
        ended.start()
        with pytest.raises(DrystoneError, match="no longer answers. Start it again, then go on"):
            run(tmp_path / "out", count=20, cluster=closing.scheduler_address)
        ended.join(60.0)


LIMIT = 280.0  # [s] for a process to come up on a busy machine; the harness ends a test after 600 s


@contextmanager
def scheduler_process(*options, host="tcp://127.0.0.1"):
    """A scheduler in a process of its own, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["-m", "distributed.cli.dask_scheduler", "--host", f"{host}:{port}"]
    with dask_process(*command, "--dashboard-address", "127.0.0.1:0", *options) as process:
        deadline = time.monotonic() + LIMIT
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                break
            except OSError:
                assert time.monotonic() < deadline and process.poll() is None
                time.sleep(0.1)
        yield process, f"{host}:{port}"


@contextmanager
def dask_process(*command):
    paths = {"PYTHONPATH": ":".join(filter(None, sys.path)), "NUMBA_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, *command], env=os.environ | paths, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait(60.0)


def worker_process(address, *options):
    """Without a nanny: whoever is killed stays dead."""
    return dask_process(
        "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1",
        "--dashboard-address", "127.0.0.1:0", *options,
    )  # fmt: skip


def run_aside(out, address, **study):
    """A run in a thread; what it raised is in the list when it is done."""
    raised = []

    def go():
        try:
            run(out, cluster=address, **study)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=go, daemon=True)
    thread.start()
    return thread, raised


def wait_for_parts(out, count, thread, raised):
    deadline = time.monotonic() + LIMIT
    while len(list(out.glob("parts/*.part"))) < count:
        assert time.monotonic() < deadline and thread.is_alive(), raised
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_scheduler_that_is_killed_or_stuck_is_one_sentence_and_a_resume(
    tmp_path, monkeypatch, how
):
    out = tmp_path / "out"
    study = dict(count=90, roll_seconds=0.06)
    with scheduler_process() as (process, address), worker_process(address):
        thread, raised = run_aside(out, address, **study)
        wait_for_parts(out, 1, thread, raised)
        monkeypatch.setattr(scheduler, "ANSWER", 5.0)
        process.send_signal(how)
        thread.join(LIMIT)
        assert not thread.is_alive()
    assert isinstance(raised[0], DrystoneError)
    assert "no longer answers. Start it again, then go on with resume" in str(raised[0])
    run(tmp_path / "alone", count=90)
    run(out, resume=True, **study)
    assert digests(out) == digests(tmp_path / "alone")


def test_when_all_workers_are_gone_the_run_ends_and_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "NO_WORKER", 3.0)
    monkeypatch.setattr(module, "CHECK", 0.2)
    monkeypatch.setattr(module, "TRANSFER", 5.0)
    out = tmp_path / "out"
    study = dict(count=90, roll_seconds=0.06)
    with scheduler_process() as (_, address):
        with worker_process(address) as worker:
            monkeypatch.setattr(module, "NO_WORKER", LIMIT)
            thread, raised = run_aside(out, address, **study)
            wait_for_parts(out, 1, thread, raised)
            monkeypatch.setattr(module, "NO_WORKER", 3.0)
            worker.kill()
            thread.join(LIMIT)
            assert not thread.is_alive()
    assert "has had no worker for 3 s. Start workers, then go on" in str(raised[0])
    run(tmp_path / "alone", count=90)
    run(out, resume=True, **study)
    assert digests(out) == digests(tmp_path / "alone")


KILLS = int(os.environ.get("DRYSTONE_KILLS", "3"))  # each takes some seconds


def test_workers_killed_at_random_moments_change_nothing(tmp_path):
    """One of two is killed at any time of a run, from before its first task to after its last; the
    other, and the one that comes after it, do the rest within a limit."""
    rng, study = np.random.default_rng(20), dict(count=90, roll_seconds=0.01)
    run(tmp_path / "alone", count=90)
    wanted = digests(tmp_path / "alone")
    with scheduler_process() as (_, address), ExitStack() as stack:
        workers = [stack.enter_context(worker_process(address)) for _ in range(2)]
        began = time.monotonic()
        run(tmp_path / "first", cluster=address, **study)
        takes = 1.0 if KILLS < 10 else time.monotonic() - began
        for k in range(KILLS):
            out = tmp_path / str(k)
            thread, raised = run_aside(out, address, **study)
            time.sleep(rng.uniform(0.0, takes))
            workers[k % 2].kill()
            workers[k % 2] = stack.enter_context(worker_process(address))
            thread.join(LIMIT)
            assert not thread.is_alive() and not raised, (k, raised)
            assert digests(out) == wanted
            print(f"kill {k + 1}: {time.monotonic() - began:.0f} s since the first run")


def test_workers_that_finish_nothing_are_not_waited_for(tmp_path, monkeypatch, cluster):
    """Sixteen rocks of two seconds each make a chunk; what was done before is kept."""
    monkeypatch.setattr(module, "LONGEST_CHUNK", 1.0)
    monkeypatch.setattr(module, "CHECK", 0.1)
    with pytest.raises(DrystoneError, match="for 1 s none has finished a chunk of runs"):
        run(tmp_path / "out", count=20, roll_seconds=2.0, cluster=cluster.scheduler_address)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A certificate that is its own authority; the extra has no package that makes them."""
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    command += ["-subj", "/CN=localhost", "-keyout", "key.pem", "-out", "cert.pem"]
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=60)
    except FileNotFoundError:
        pytest.skip("not tested: TLS (there is no openssl to make a certificate with)")
    return {"ca_file": folder / "cert.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}


def test_a_cluster_with_tls(tmp_path, certificates, monkeypatch):
    monkeypatch.setattr(scheduler, "ANSWER", 5.0)
    options = []
    for name, file in certificates.items():
        options += [f"--tls-{name.replace('_', '-')}", str(file)]
    with scheduler_process(*options, host="tls://127.0.0.1") as (_, address):
        with pytest.raises(InputError, match="is encrypted, but tls_ca_file.*--tls-ca-file"):
            run(tmp_path / "plain", count=20, cluster=address)
        plain = address.replace("tls://", "tcp://")
        with pytest.raises(DrystoneError, match="does not answer as a Dask scheduler"):
            run(tmp_path / "plain", count=20, cluster=plain)
        with worker_process(address, *options):
            monkeypatch.setattr(scheduler, "ANSWER", LIMIT)
            run(tmp_path / "out", count=20, cluster=address, tls=certificates)
    run(tmp_path / "alone", count=20)
    assert digests(tmp_path / "out") == digests(tmp_path / "alone")


@pytest.mark.parametrize(
    ("tls", "sentence"),
    [
        ({"ca_file": "nowhere.pem"}, "no file nowhere.pem"),
        ({"cafile": "x"}, "Did you mean 'ca_file'"),
    ],
)
def test_wrong_tls_options_are_named(tmp_path, tls, sentence):
    with pytest.raises(InputError, match=sentence):
        run(tmp_path / "out", count=20, cluster="tls://127.0.0.1:1", tls=tls)
