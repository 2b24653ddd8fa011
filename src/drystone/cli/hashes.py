"""drystone hashes: bits of scenes and of rockfall, printed and compared with those of before."""

from collections.abc import Iterator
from pathlib import Path

from drystone.bench.state_hashes import SCENES, hash_scene
from drystone.cli.console import compiling
from drystone.errors import InputError
from drystone.model.files import read_file, write_text

ROCKFALL = "rockfall"


def run_hashes(names: list[str], steps: int, out: Path | None, against: Path | None,
               screen, results) -> list[str]:  # fmt: skip
    """Print one line for each name; returns the names of those that differ from `against`."""
    before = {} if against is None else read_hashes(against)
    lines, differ = [], []
    with compiling(screen):
        for name, line in hash_lines(names or [*SCENES, ROCKFALL], steps):
            results.print(line, markup=False, soft_wrap=True)
            lines.append(line)
            if against is not None and before.get(name) != line.split()[1]:
                differ.append(name)
    if out is not None:
        write_text(out, "\n".join(lines) + "\n")
    return differ


def hash_lines(names: list[str], steps: int) -> Iterator[tuple[str, str]]:
    """Name, and the line with its hash."""
    for name in names:
        if name == ROCKFALL:
            from drystone.rockfall.bench.trajectory_hash import hash_trajectories

            yield name, f"{name:18} {hash_trajectories()}"
        else:
            digest, last = hash_scene(name, steps)
            yield name, f"{name:18} {digest} {last}"


def read_hashes(path: Path) -> dict[str, str]:
    """Hash by name, from a file that --out wrote."""
    lines = read_file(path).decode("utf-8", "replace").splitlines()
    rows = [line.split() for line in lines if line.strip()]
    if not rows or any(len(row) < 2 for row in rows):
        raise InputError(f"{path}: holds no hashes; write it with drystone hashes --out FILE.")
    return {row[0]: row[1] for row in rows}
