"""Files whose readers run in a process of their own (model/reading_apart.py): LAS, LAZ and DXF."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from drystone.model.reading_apart import Limits, limits_of, read_apart
from drystone.rockfall.optional_packages import load

SPARE = Limits(memory=512 << 20, seconds=10)  # beyond what the size of a file gives


@contextmanager
def opened_apart(path: Path, package: str, script: str, kind: str) -> Iterator[BinaryIO]:
    """What main(path, out) of `script`, beside this file, has written of the file at `path`.

    package   that the script needs
    kind      of the file, for what is refused: "a point cloud"
    """
    load(package, f"Reading {path.name}")
    limits = limits_of(SPARE, path.stat().st_size)
    start = f"{path.name} cannot be read as {kind}"
    with read_apart(Path(__file__).with_name(script), path, limits, start) as out:
        with open(out, "rb") as stream:
            yield stream
