"""The folder of a run: what a run writes into it, and that it touches nothing else there.

A run begins only where none of its names is taken, so that it overwrites nothing. The folder of
its parts gets a marker when the run makes it. At the end the run removes its own part files by
their names, and the folder only if the marker says that a run made it and nothing else is left in
it. Runs begun before there was a marker go on: their manifest says that they are runs.
"""

import re
from contextlib import suppress
from pathlib import Path

from drystone.errors import InputError
from drystone.rockfall.results.tables import FILES
from drystone.rockfall.run.made_files import MARKER, made_names
from drystone.rockfall.run.manifest import DECIDING, differences, read_manifest
from drystone.rockfall.run.part_files import disk_error, write_whole
from drystone.rockfall.run.plan import LAYOUT

PARTS = "parts"
MADE = (".tif", ".asc", ".prj", ".qml", ".png", ".xml")  # files in folders that a run fills
FOLDERS = ("rasters", "figures", "screenshots")
WRITTEN = (
    PARTS, *FILES.values(), "trajectories.gpkg", "rasters", "layout.json", "statistics.json",
    "barriers.csv", "check_lines.csv", "report.html", "figures", "results.qgs", "report.pdf",
    "view.html", "sources.csv", "barrier_design.csv", "screenshots",
)  # fmt: skip
PART = re.compile(r"chunk-(\d{6,18})\.part")
# What write_whole() leaves of a part when the process is killed within it.
HALF_WRITTEN = re.compile(r"\.(chunk-\d{6,}\.part|" + re.escape(MARKER) + r")\.\d+\.tmp")


def part_path(parts: Path, chunk: int) -> Path:
    return parts / f"chunk-{chunk:06d}.part"


def require_usable(out: Path, manifest: dict, resume: bool) -> None:
    """Raises InputError rather than touch what is not of this very run. Writes nothing."""
    before = read_manifest(out)
    if before is None:
        _require_free(out)
        return
    state = "results" if before.get("finished") else "an unfinished run"
    changed = differences(before, manifest)
    if changed == [DECIDING["code"]] and not before.get("finished"):
        raise InputError(
            f"{out} holds {state}; {changed[0]} changed since. Go on with it if it computes the "
            f"same bits (--resume), or begin anew (--overwrite)."
        )
    if changed:
        raise InputError(
            f"{out} holds {state} of another study: {' and '.join(changed)} changed since. "
            f"Choose another folder, or begin anew in this one (--overwrite)."
        )
    if not resume:
        raise InputError(
            f"{out} holds {state}. Go on with it (--resume), or begin anew (--overwrite)."
        )


def layout_in(out: Path, resume: bool) -> int:
    """The layout of parts to go on with: that of what is there already."""
    before = read_manifest(out)
    if before is not None and (resume or before.get("finished")) and before["format"] < LAYOUT:
        return int(before["format"])
    return LAYOUT


def clear_results(out: Path) -> None:
    """Remove what a run has made in `out`, and nothing else. InputError if no run made it."""
    before = read_manifest(out)
    if before is None:
        return
    try:
        _require_ours(out)
        remove_parts(out, -(-before["runs"] // max(before["chunk"], 1)))
        for name in (*WRITTEN, "manifest.json"):
            path = out / name
            if name in FOLDERS and path.is_dir() and not path.is_symlink():
                for file in path.iterdir():
                    file.unlink()
                path.rmdir()
            elif name != PARTS and path.is_file():
                path.unlink()
    except OSError as error:
        raise InputError(f"{out} cannot be cleared ({error.strerror}).") from None


def _require_ours(out: Path) -> None:
    """Before anything is removed: InputError if a folder of a run holds files of others."""
    for folder in (out / name for name in FOLDERS if (out / name).is_dir()):
        names = made_names(folder)
        for file in folder.iterdir():
            ours = file.suffix in MADE if names is None else file.name in names
            if not ours or not file.is_file():
                raise InputError(
                    f"{file} is in a folder that a run fills, but no run has made it. Move it away."
                )


def _require_free(out: Path) -> None:
    try:
        if out.exists() and not out.is_dir():
            raise InputError(f"{out} is a file. Choose a folder for the results.")
        taken = [name for name in WRITTEN if _holds_something(out / name)]
    except OSError as error:
        raise InputError(f"{out} cannot be read ({error.strerror}). Choose another.") from None
    if taken:
        raise InputError(
            f"{out} holds {' and '.join(taken)} that no run has made, which this one would "
            f"overwrite. Choose another folder for the results, or move them away."
        )


def _holds_something(path: Path) -> bool:
    """Whether there is a file, or a folder with anything in it."""
    if path.is_dir():
        return any(path.iterdir())
    return path.is_symlink() or path.exists()


def make_parts(out: Path) -> Path:
    """The folder of the parts, with the marker if it was not there before."""
    parts = out / PARTS
    try:
        parts.mkdir(parents=True)
    except FileExistsError:
        if not parts.is_dir():
            raise InputError(f"{parts} is a file, but parts go there. Move it away.") from None
        return parts
    except OSError as error:
        raise disk_error(parts, error) from None
    write_whole(parts / MARKER, b"Made by a run of Drystone, which removes it when it is done.\n")
    return parts


def remove_parts(out: Path, chunks: int) -> None:
    """Remove the parts of a run that is finished, and nothing else."""
    parts = out / PARTS
    if not parts.is_dir():
        return
    for path in list(parts.iterdir()):
        part = PART.fullmatch(path.name)
        if HALF_WRITTEN.fullmatch(path.name) or (part and int(part[1]) < chunks):
            path.unlink(missing_ok=True)
    if (parts / MARKER).is_file():
        (parts / MARKER).unlink()
        with suppress(OSError):  # not empty: the rest is not ours
            parts.rmdir()


def remove_leftovers(out: Path, chunks: int) -> None:
    """Of a run that was killed between its last write and the removal of its parts."""
    if (out / PARTS / MARKER).is_file():
        with suppress(OSError):
            remove_parts(out, chunks)
