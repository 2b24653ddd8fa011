"""Chunks on a cluster, through Dask: the scheduler gives a lost worker's chunks to another.

Each chunk is one task under its own key. Its arrays come back to the caller, who alone writes
files: a chunk that two workers computed counts once. The workers need the same versions of
Drystone, and must reach the study's input files under the same paths.
"""

import threading
from collections.abc import Iterator

from drystone.errors import DrystoneError
from drystone.rockfall.extra import load
from drystone.rockfall.plan import Plan

# A chunk may be on that many workers that die before it is held to be its own fault.
ATTEMPTS = 5
AHEAD = 3  # chunks in flight for each thread of the cluster: enough to keep it busy, few in memory

_contexts: dict = {}


def compute_remotely(study, plan: Plan, digest: str, chunk: int) -> bytes:
    """On a worker: the content of one part file; scene and scratch arrays are kept for the next."""
    from drystone.rockfall.chunk import compute_chunk, make_context
    from drystone.rockfall.parts import pack_part

    key = (digest, threading.get_ident())  # scratch arrays are not shared between threads
    if key not in _contexts:
        for old in [k for k in _contexts if k[0] != digest]:
            del _contexts[old]
        _contexts[key] = make_context(study, plan)
    return pack_part(compute_chunk(_contexts[key], chunk))


def compute_on_cluster(
    study, plan: Plan, chunks: list[int], address: str
) -> Iterator[tuple[int, bytes]]:
    """(chunk, content of its part file) of all `chunks`, in the order in which they get done."""
    distributed = load("distributed", "A cluster")
    try:
        client = distributed.Client(address, timeout="20s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise DrystoneError(f"no Dask scheduler answers at {address!r} ({error}).") from None
    with client:
        client.run_on_scheduler(_allow_failures)
        digest = plan.digest()
        shared = client.scatter((study, plan), broadcast=True)
        waiting, flying = iter(chunks), distributed.as_completed()

        def submit() -> None:
            chunk = next(waiting, None)
            if chunk is not None:
                name = f"rockfall-{digest[:12]}-{chunk}"
                flying.add(client.submit(_unpacked, shared, digest, chunk, key=name, retries=1))

        threads = sum(client.nthreads().values()) or 1
        for _ in range(AHEAD * threads):
            submit()
        for future in flying:
            chunk = int(future.key.rpartition("-")[2])
            yield chunk, _result(distributed, future, plan, chunk)
            future.release()
            submit()


def _unpacked(shared, digest: str, chunk: int) -> bytes:
    return compute_remotely(*shared, digest, chunk)


def _allow_failures(dask_scheduler) -> None:
    dask_scheduler.allowed_failures = max(dask_scheduler.allowed_failures, ATTEMPTS)


def _result(distributed, future, plan: Plan, chunk: int) -> bytes:
    try:
        return future.result()
    except distributed.KilledWorker:
        runs = plan.runs(chunk)
        raise DrystoneError(
            f"{ATTEMPTS} workers of the cluster died over runs {runs.start} to {runs.stop - 1}. "
            "See their logs; then go on with resume (--resume)."
        ) from None
