"""Chunks on a cluster, through Dask: the scheduler gives a lost worker's chunks to another.

Each chunk is one task under its own key. Its arrays come back to the caller, who alone writes
files: a chunk that two workers computed counts once. Dask holds a worker's death against every
chunk that waited there, so a chunk that it gives up is only suspected: it is tried once more,
alone, when all the others are done. A task carries the study, not the terrain:
workers must reach the study's input files under the same paths, and make the plan anew. Its
digest says whether they found the same files.
"""

import threading
from collections.abc import Iterator
from itertools import islice

from drystone.errors import DrystoneError
from drystone.rockfall.optional_packages import load
from drystone.rockfall.run.chunk import Context, compute_chunk, make_context
from drystone.rockfall.run.part_files import pack_part
from drystone.rockfall.run.plan import Plan, make_plan

# A chunk may be on that many workers that die before it is held to be its own fault.
ATTEMPTS = 5
AHEAD = 3  # chunks in flight for each thread of the cluster: enough to keep it busy, few in memory
PATIENCE = "20s"  # to wait for the scheduler

_contexts: dict[tuple[str, int], Context] = {}


def compute_on_cluster(
    study, plan: Plan, chunks: list[int], address: str
) -> Iterator[tuple[int, bytes]]:
    """(chunk, content of its part file) of all `chunks`, in the order in which they get done."""
    distributed = load("distributed", "A cluster")
    try:
        client = distributed.Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise DrystoneError(f"no Dask scheduler answers at {address!r} ({error}).") from None
    with client:
        client.run_on_scheduler(_allow_failures)
        digest, waiting = plan.digest(), iter(chunks)

        def submit(chunk: int, suspected: bool = False):
            key = f"rockfall-{digest[:16]}-{'alone-' * suspected}{chunk}"
            return client.submit(compute_remotely, study, plan.roll, digest, chunk, key=key)

        at_once = AHEAD * max(sum(client.nthreads().values()), 1)
        flying = distributed.as_completed(
            [submit(chunk) for chunk in islice(waiting, at_once)], loop=client.loop
        )
        suspects = []
        for future in flying:
            chunk = int(future.key.rpartition("-")[2])
            try:
                yield chunk, future.result()
            except distributed.KilledWorker:
                suspects.append(chunk)
            future.release()
            for following in islice(waiting, 1):
                flying.add(submit(following))
        deadly = []
        for chunk in suspects:
            try:
                yield chunk, submit(chunk, suspected=True).result()
            except distributed.KilledWorker:
                deadly.append(chunk)
    if deadly:
        runs = [plan.runs(chunk) for chunk in sorted(deadly)]
        named = ", ".join(f"{some.start} to {some.stop - 1}" for some in runs)
        raise DrystoneError(
            f"more than {ATTEMPTS} workers of the cluster died over runs {named}, tried alone. All "
            "others are done. See the workers' logs; then go on with resume (--resume)."
        )


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
