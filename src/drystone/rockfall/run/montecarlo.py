"""Run a study: many rocks, in chunks of fixed size, on any number of workers.

Every run is drawn from the seed and its own number alone, every chunk is computed from its own
runs alone, and all chunks are merged in their order. So the bits of the results depend neither on
the number of workers, nor on which of them did what, nor on how often the run was interrupted.

A finished chunk is a part file (part_files.py). `resume` verifies those that are there and computes
the rest. Where the code has changed since, one finished chunk is computed again first: only if it
has the same bits does the run go on. Memory holds a chunk per worker; merging maps the parts from
the disk.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drystone.errors import DrystoneError, InputError
from drystone.rockfall.results.results import Results
from drystone.rockfall.run.chunk import compute_chunk, make_context
from drystone.rockfall.run.manifest import differences, make_manifest, read_manifest, write_manifest
from drystone.rockfall.run.merge import merge_parts
from drystone.rockfall.run.part_files import (
    DamagedPart,
    disk_error,
    pack_part,
    read_part,
    write_whole,
)
from drystone.rockfall.run.plan import ROLL, Plan, make_plan
from drystone.rockfall.run.workers import compute_on_workers
from drystone.rockfall.study.study import Study


def run_study(
    study: Study,
    out: str | Path,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = True,
    resume: bool = False,
    roll: str = ROLL,
) -> Results:
    """Roll all rocks of `study` and write all its results into the folder `out`.

    workers    processes; None for what the study says, or all cores
    cluster    address of a Dask scheduler, which is used instead
    progress   show a bar on stderr
    resume     go on with what an interrupted run has left in `out`
    roll       module:function of the engine that rolls many rocks
    """
    out, workers = Path(out), worker_count(workers if workers is not None else study.runs.workers)
    plan = make_plan(study, roll)
    manifest = make_manifest(study, plan)
    if _finished(out, manifest):
        return Results(out)
    if resume:
        _check_code(out, manifest, study, plan)
    parts = _prepare(out, manifest, resume)
    done = _verified(parts, plan)
    left = [chunk for chunk in range(plan.chunks) if chunk not in done]
    with _kept(parts, plan), _bar(progress, plan, done) as advance:
        for chunk, content in _compute(study, plan, left, workers, cluster):
            write_whole(_part_path(parts, chunk), content)
            advance(len(plan.runs(chunk)))
    with _kept(parts, plan), _writable(out):
        merge_parts([_part_path(parts, k) for k in range(plan.chunks)], plan, out)
        write_manifest(out, manifest | {"finished": True})
        shutil.rmtree(parts)
    return Results(out)


def worker_count(asked: int | None) -> int:
    """How many processes; all cores that this process may use by default."""
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise InputError(f"workers is {asked!r}, must be an integer, 1 at least.")
    return asked


def _compute(study, plan, chunks, workers, cluster) -> Iterator[tuple[int, bytes]]:
    if not chunks:
        return
    if cluster is not None:
        from drystone.rockfall.run.cluster import compute_on_cluster

        yield from compute_on_cluster(study, plan, chunks, cluster)
        return
    # The first one here: it compiles the kernels once for all, and finds what is wrong at once.
    context = make_context(study, plan)
    yield chunks[0], pack_part(compute_chunk(context, chunks[0]))
    if workers == 1:
        for chunk in chunks[1:]:
            yield chunk, pack_part(compute_chunk(context, chunk))
        return
    del context
    if len(chunks) > 1:
        yield from compute_on_workers(study, plan, chunks[1:], workers)


def _part_path(parts: Path, chunk: int) -> Path:
    return parts / f"chunk-{chunk:06d}.part"


def _finished(out: Path, manifest: dict) -> bool:
    """Whether `out` holds the results of this very study, complete."""
    before = read_manifest(out)
    return bool(before and before.get("finished") and not differences(before, manifest))


def _check_code(out: Path, manifest: dict, study, plan: Plan) -> None:
    """Accept other code of Drystone than began the run if it computes a finished chunk alike.

    The digest of the code changes with every comment in it, so a run of weeks could not be resumed
    after an update that leaves the physics alone.
    """
    before = read_manifest(out)
    if before is None or before.get("finished") or before.get("code") == manifest["code"]:
        return
    same_code = before | {"code": manifest["code"]}
    if differences(same_code, manifest):
        return  # _prepare() says in what
    done = _verified(out / "parts", plan)
    if done:
        chunk = min(done)
        content = pack_part(compute_chunk(make_context(study, plan), chunk))
        if content != _part_path(out / "parts", chunk).read_bytes():
            runs = plan.runs(chunk)
            raise InputError(
                f"{out} holds an unfinished run begun with another version of Drystone, which "
                f"computes runs {runs.start} to {runs.stop - 1} differently. Go on with that "
                f"version, or choose another folder."
            )
    write_manifest(out, same_code)


def _prepare(out: Path, manifest: dict, resume: bool) -> Path:
    """The folder of the parts; raises InputError rather than touch another run's results."""
    before, parts = read_manifest(out), out / "parts"
    if before is not None:
        state = "results" if before.get("finished") else "an unfinished run"
        changed = differences(before, manifest)
        if changed:
            raise InputError(
                f"{out} holds {state} of another study: {' and '.join(changed)} changed since. "
                f"Choose another folder, or delete it first."
            )
        if not resume:
            raise InputError(f"{out} holds {state}. Go on with it (--resume), or delete it first.")
    try:
        parts.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(parts, error) from None
    write_manifest(out, manifest | {"finished": False})
    return parts


def _verified(parts: Path, plan: Plan) -> set[int]:
    """The chunks that are there and whole; damaged ones are removed, to be computed again."""
    done = set()
    for chunk in range(plan.chunks):
        path = _part_path(parts, chunk)
        if path.exists():
            try:
                read_part(path)
                done.add(chunk)
            except DamagedPart:
                path.unlink()
    return done


@contextmanager
def _kept(parts: Path, plan: Plan):
    """On Ctrl-C, say in the error what is kept and how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        count = len(list(parts.glob("chunk-*.part")))
        raise Interrupted(
            f"interrupted: {count} of {plan.chunks} chunks of runs are kept in {parts}. "
            f"Go on with resume (--resume)."
        ) from None


class Interrupted(DrystoneError, KeyboardInterrupt):  # noqa: N818  says what it is
    """A run that the user ended; what was finished is kept."""


@contextmanager
def _writable(out: Path):
    """Errors of the disk, also those that libraries of files give names of their own."""
    try:
        yield
    except DrystoneError:
        raise
    except Exception as error:
        library = type(error).__module__.partition(".")[0]
        if not isinstance(error, OSError) and library not in ("pyogrio", "rasterio", "pyarrow"):
            raise
        raise disk_error(getattr(error, "filename", None) or out, error) from None


@contextmanager
def _bar(shown: bool, plan: Plan, done: set[int]):
    """A function to call with the number of runs that got done."""
    if not shown:
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"), TimeLeft(),
    )  # fmt: skip
    before = sum(len(plan.runs(chunk)) for chunk in done)
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("Compiling, first runs", total=plan.count, completed=before, rate="")

        def advance(count: int) -> None:
            # rich's own speed: over the last half minute, and only of what was done now
            bar.update(task, advance=count, description="Rolling")
            speed = bar.tasks[0].speed
            bar.update(task, rate=f"{speed:.1f} runs/s" if speed else "")

        yield advance
