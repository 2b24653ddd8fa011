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
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import integer, of_kind
from drystone.model.signatures import public
from drystone.rockfall.input_files import as_path
from drystone.rockfall.results.results import Results
from drystone.rockfall.run.chunk import compute_chunk, dump_context, make_context
from drystone.rockfall.run.made_files import noted
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
from drystone.rockfall.run.progress_bar import ProgressBar
from drystone.rockfall.run.result_folder import (
    clear_results,
    layout_in,
    make_parts,
    part_path,
    remove_leftovers,
    remove_parts,
    require_usable,
)
from drystone.rockfall.run.workers import compute_on_workers
from drystone.rockfall.study.check import check_study
from drystone.rockfall.study.schema import MOST_WORKERS
from drystone.rockfall.study.study import Study


@public
def run_study(
    study: Study,
    out: str | Path,
    workers: int | None = None,
    cluster: str | None = None,
    progress: bool = True,
    resume: bool = False,
    roll: str = ROLL,
    tls: dict[str, str | Path] | None = None,
    overwrite: bool = False,
) -> Results:
    """Roll all rocks of `study` and write all its results into the folder `out`.

    It overwrites nothing: where `out` holds files of these names that no run has made, it is
    refused, and at the end only part files of its own are removed.

    workers    processes; None for what the study says, or all cores
    cluster    address of a Dask scheduler, which is used instead
    tls        files for an encrypted cluster: ca_file, cert and key, as Dask calls them
    progress   show a bar on stderr
    resume     go on with what an interrupted run has left in `out`
    roll       module:function of the engine that rolls many rocks
    overwrite  remove the results of an earlier run from `out` first; files of others stay
    """
    if overwrite and resume:
        raise InputError("overwrite and resume were both given; one removes what the other needs.")
    of_kind("study", study, Study, "a Study, as Study.load() reads it")
    out = as_path("out", out)
    workers = worker_count(workers if workers is not None else study.runs.workers)
    plan = make_plan(study, roll, layout_in(out, resume))
    manifest = make_manifest(study, plan) | {"findings": _findings(study)}
    if overwrite:
        clear_results(out)
    if _finished(out, manifest):
        remove_leftovers(out, plan.chunks)
        _take_title(out, manifest)
        return Results(out)
    if resume:
        _check_code(out, manifest, study, plan)
    require_usable(out, manifest, resume)
    cover = _cover(study, plan)  # now, while the terrain is there
    with _computer(study, plan, workers, cluster, tls) as compute:
        parts = _begin(out, manifest)
        done = _verified(parts, plan)
        left = [chunk for chunk in range(plan.chunks) if chunk not in done]
        before = sum(len(plan.runs(chunk)) for chunk in done)
        with _kept(parts, plan), ProgressBar(progress, plan.count, before) as bar:
            with closing(compute(left, bar.say)) as answers:
                for chunk, content in answers:
                    write_whole(part_path(parts, chunk), content)
                    bar.advance(len(plan.runs(chunk)))
    with _kept(parts, plan), _writable(out):
        with noted(out / "rasters"):
            merge_parts([part_path(parts, k) for k in range(plan.chunks)], plan, out, cover)
        date = datetime.now().astimezone().isoformat(timespec="minutes")
        write_manifest(out, manifest | {"finished": True, "date": date})
        remove_parts(out, plan.chunks)
    return Results(out)


def _cover(study, plan: Plan):
    """Materials, forest and trees of a study that has such, for the maps."""
    if getattr(study, "settings", None) is None or plan.layout == 1:
        return None
    from drystone.rockfall.study.cover import cover_of

    return cover_of(study, plan.raster, plan.ground)


def _findings(study) -> list[str]:
    """Warnings and hints of `check`, for the report."""
    if getattr(study, "settings", None) is None:
        return []
    return [str(finding) for finding in check_study(study).findings]


def worker_count(asked: int | None) -> int:
    """How many processes; all cores that this process may use by default."""
    if asked is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return integer("workers", asked, 1, MOST_WORKERS)


@contextmanager
def _computer(study, plan: Plan, workers: int, cluster: str | None, tls):
    """A function that yields (chunk, content) of chunks. A cluster is reached first: with a wrong
    address nothing is written."""
    if cluster is None:
        if tls is not None:
            raise InputError("tls was given without a cluster. Give the cluster's address too.")
        yield lambda chunks, say: _compute_here(study, plan, chunks, workers, say)
        return
    from drystone.rockfall.run.cluster import compute_on_cluster, connect

    with connect(cluster, tls) as scheduler:
        yield lambda chunks, say: compute_on_cluster(study, plan, chunks, scheduler, say)


def _compute_here(study, plan, chunks, workers, say) -> Iterator[tuple[int, bytes]]:
    if not chunks:
        return
    # The first one here: it compiles once for all, and finds what is wrong at once.
    context = make_context(study, plan)
    yield chunks[0], pack_part(compute_chunk(context, chunks[0]))
    if workers == 1:
        for chunk in chunks[1:]:
            yield chunk, pack_part(compute_chunk(context, chunk))
        return
    if len(chunks) > 1:
        with tempfile.TemporaryDirectory(prefix="drystone-") as shared:
            dump_context(context, Path(shared))
            del context
            study.forget()
            yield from compute_on_workers(shared, plan, chunks[1:], workers, say)


def _finished(out: Path, manifest: dict) -> bool:
    """Whether `out` holds the results of this very study, complete."""
    before = read_manifest(out)
    return bool(before and before.get("finished") and not differences(before, manifest))


def _take_title(out: Path, manifest: dict) -> None:
    """Author, revision and the like of finished results are those that the study has now."""
    before = read_manifest(out) or {}
    if before.get("study") != manifest["study"]:
        write_manifest(out, before | {"study": manifest["study"]})


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
        return  # require_usable() says in what
    done = _verified(out / "parts", plan)
    if done:
        chunk = min(done)
        content = pack_part(compute_chunk(make_context(study, plan), chunk))
        if content != part_path(out / "parts", chunk).read_bytes():
            runs = plan.runs(chunk)
            raise InputError(
                f"{out} holds an unfinished run begun with another version of Drystone, which "
                f"computes runs {runs.start} to {runs.stop - 1} differently. Go on with that "
                f"version, or choose another folder."
            )
    write_manifest(out, same_code)


def _begin(out: Path, manifest: dict) -> Path:
    """From here on the folder holds an unfinished run: its manifest, then its parts."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(out, error) from None
    write_manifest(out, manifest | {"finished": False})
    return make_parts(out)


def _verified(parts: Path, plan: Plan) -> set[int]:
    """The chunks that are there and whole; damaged ones are removed, to be computed again."""
    done = set()
    for chunk in range(plan.chunks):
        path = part_path(parts, chunk)
        if path.exists():
            try:
                read_part(path)
                done.add(chunk)
            except DamagedPart:
                path.unlink()
            except OSError as error:
                raise InputError(
                    f"{path} cannot be read ({error.strerror}). Make it readable, or remove it."
                ) from None
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
