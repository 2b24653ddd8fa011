"""Which files of a folder runs and reports have made: a list beside them, by which they go again.

A user may keep pictures of his own among the figures; they are none of ours to remove.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from drystone.rockfall.run.part_files import write_whole

MARKER = ".made-by-a-run-of-drystone"


@contextmanager
def noted(folder: Path) -> Iterator[None]:
    """Files of `folder` that are written inside are noted as made by a run."""
    before = _files(folder)
    yield
    written = {name for name, stamp in _files(folder).items() if before.get(name) != stamp}
    names = sorted((written | (made_names(folder) or set())) - {MARKER})
    if written - {MARKER}:
        write_whole(folder / MARKER, "".join(f"{name}\n" for name in names).encode())


def made_names(folder: Path) -> set[str] | None:
    """Names of the files that runs made in `folder`; None: versions before kept no list."""
    try:
        return set((folder / MARKER).read_text(encoding="utf-8").splitlines()) | {MARKER}
    except (OSError, UnicodeDecodeError):
        return None


def _files(folder: Path) -> dict[str, tuple[int, int]]:
    """What a file that is written, also anew, differs in."""
    if not folder.is_dir():
        return {}
    with os.scandir(folder) as entries:
        stats = [(entry.name, entry.stat(follow_symlinks=False)) for entry in entries]
    return {name: (stat.st_ino, stat.st_mtime_ns) for name, stat in stats}
