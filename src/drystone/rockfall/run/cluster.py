"""Chunks on a cluster, through Dask: the scheduler gives a lost worker's chunks to another.

Each chunk is one task under its own key. Its arrays come back to the caller, who alone writes
files: a chunk that two workers computed counts once. Dask holds a worker's death against every
chunk that waited there, so a chunk that it gives up is only suspected: it is tried once more,
alone, when all the others are done. A task carries the study, not the terrain:
workers must reach the study's input files under the same paths, and make the plan anew. Its
digest says whether they found the same files.

No wait is without an end. Dask itself waits for ever when no worker is left, and workers do get
lost for good: a `LocalCluster` closes a worker's nanny if the worker is not there 15 s after it
died (`distributed.deploy.lost-worker-timeout`), although on a busy machine the next is on its way.
"""

import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from time import monotonic

from drystone.errors import DrystoneError
from drystone.rockfall.run.chunk import Context, compute_chunk, make_context
from drystone.rockfall.run.part_files import pack_part
from drystone.rockfall.run.plan import LONGEST_CHUNK, Plan, make_plan
from drystone.rockfall.run.scheduler import GONE, Scheduler
from drystone.rockfall.run.scheduler import connect as connect

# A chunk may be on that many workers that die before it is held to be its own fault.
ATTEMPTS = 5
AHEAD = 3  # chunks in flight for each thread of the cluster: enough to keep it busy, few in memory

# Limits of all waits [s]. Workers that a batch system starts may take minutes to come; giving up
# costs no more than a resume.
TRANSFER = 120.0  # of a finished chunk; one lost with its worker is computed anew meanwhile
NO_WORKER = 600.0  # until the first worker is there, or the next after the last one died
CHECK = 2.0  # between two questions whether there are workers
QUIET = 30.0  # without a chunk, until the wait is spoken of

_contexts: dict[tuple[str, int], Context] = {}


def compute_on_cluster(
    study, plan: Plan, chunks: list[int], scheduler: Scheduler, say: Callable[[str], None]
) -> Iterator[tuple[int, bytes]]:
    """(chunk, content of its part file) of all `chunks`, in the order in which they get done."""
    digest = plan.digest()

    def task(chunk: int) -> tuple:
        return compute_remotely, study, plan.roll, digest, chunk

    def name(chunk: int) -> str:
        runs = plan.runs(chunk)
        return f"runs {runs.start} to {runs.stop - 1}"

    yield from compute_tasks(scheduler, f"rockfall-{digest[:16]}", task, name, chunks, say)


def compute_tasks(
    scheduler: Scheduler, key: str, task: Callable, name: Callable, numbers: list[int], say
) -> Iterator[tuple[int, object]]:
    """(number, result) of the tasks with these numbers, in the order in which they get done.

    key    under which the cluster knows them, with their number
    task   number -> (function, its arguments)
    name   number -> what it is, for people
    """
    if not numbers:
        return
    tasks = _Tasks(scheduler, key, task, say)
    suspects = yield from tasks.compute(numbers)
    deadly = []
    for number in suspects:
        deadly += yield from tasks.compute([number], suspected=True)
    if deadly:
        raise DrystoneError(
            f"more than {ATTEMPTS} workers of the cluster died over "
            f"{', '.join(map(name, sorted(deadly)))}, tried alone. All others are done. See the "
            "workers' logs; then go on with resume (--resume)."
        )


class _Tasks:
    """The chunks in flight on a cluster, and the limits of the wait for them."""

    def __init__(self, scheduler: Scheduler, key: str, task: Callable, say):
        self.scheduler, self.key, self.task, self.say = scheduler, key, task, say
        self.flying = {}  # futures by their keys: Dask drops a task that nobody holds
        self.done = queue.SimpleQueue()  # those of them that are
        self.heard = self.manned = monotonic()  # last chunk that came back, last sight of a worker
        scheduler.ask(scheduler.client.run_on_scheduler, _allow_failures)

    def compute(self, chunks: list[int], suspected: bool = False):
        """Yields (chunk, content); returns the chunks whose workers died."""
        waiting, killed = iter(chunks), []
        threads = self.scheduler.ask(self.scheduler.client.nthreads)
        for chunk in islice(waiting, AHEAD * max(sum(threads.values()), 1)):
            self._submit(chunk, suspected)
        while self.flying:
            future = self._next_done()
            chunk = int(future.key.rpartition("-")[2])
            try:
                content = self._fetch(future)
            except TimeoutError:  # lost with its worker, Dask computes it anew
                future.add_done_callback(self.done.put)
                continue
            except self.scheduler.distributed.KilledWorker:
                killed.append(chunk)
            else:
                yield chunk, content
                self.heard = monotonic()
            del self.flying[future.key]
            future.release()
            for following in islice(waiting, 1):
                self._submit(following, suspected)
        return killed

    def _submit(self, chunk: int, suspected: bool) -> None:
        key = f"{self.key}-{'alone-' * suspected}{chunk}"
        future = self.flying[key] = self.scheduler.submit(*self.task(chunk), key=key)
        future.add_done_callback(self.done.put)

    def _fetch(self, future):
        """What a task has computed; its error, if it is one of the task."""
        try:
            return future.result(timeout=TRANSFER)
        except (TimeoutError, self.scheduler.distributed.KilledWorker, DrystoneError):
            raise
        except self.scheduler.distributed.CancelledError:
            raise self.scheduler.failure(GONE) from None
        except ImportError as error:
            raise self.scheduler.failure(
                f"has a worker that cannot load what a study needs ({error}). Install the same "
                "Drystone there"
            ) from None
        except Exception:
            if self.scheduler.client.status == "running":
                raise
            raise self.scheduler.failure(GONE) from None

    def _next_done(self):
        """The next future that is done; DrystoneError when no more can be expected."""
        self.manned = monotonic()
        while True:
            with suppress(queue.Empty):
                return self.done.get(timeout=CHECK)
            now, nthreads = monotonic(), self.scheduler.client.nthreads
            if self.scheduler.ask(nthreads):
                self.manned = now
            elif now - self.manned > NO_WORKER:
                raise self.scheduler.failure(
                    f"has had no worker for {NO_WORKER:g} s. Start workers"
                )
            if now - self.heard > LONGEST_CHUNK:
                raise self.scheduler.failure(
                    f"has workers, but for {LONGEST_CHUNK:g} s none has finished a chunk of runs. "
                    "See the workers' logs"
                )
            self._speak(now)

    def _speak(self, now: float) -> None:
        if self.manned < now:
            self.say(f"No worker, for {now - self.manned:.0f} of at most {NO_WORKER:g} s")
        elif now - self.heard > QUIET:
            limit = LONGEST_CHUNK
            self.say(f"No chunk of runs came for {now - self.heard:.0f} of at most {limit:g} s")


def compute_remotely(study, roll: str, digest: str, chunk: int) -> bytes:
    """On a worker: the content of one part file. The scene is kept for the next chunk."""
    key = digest, threading.get_ident()  # threads do not share scratch arrays
    if key not in _contexts:
        for old in [k for k in _contexts if k[0] != digest]:
            del _contexts[old]
        plan = make_plan(study, roll)
        if plan.digest() != digest:
            raise DrystoneError(
                "a worker of the cluster reads other input files than the caller, or has another "
                "version of Drystone. Give all the same files under the same paths."
            )
        _contexts[key] = make_context(study, plan)
    return pack_part(compute_chunk(_contexts[key], chunk))


def _allow_failures(dask_scheduler) -> None:
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, ATTEMPTS)
