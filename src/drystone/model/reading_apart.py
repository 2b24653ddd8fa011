"""Readers that are not ours, run in a process of their own with as much memory and time as we say.

A few hundred bytes can stand for gigabytes: archives are packed, scenes repeat a part a thousand
times within a thousand others, sizes are claimed. What reads such files is code of others, which
believes them, or crashes. So it runs where that harms nobody, and says what it found in a file.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from drystone.errors import InputError
from drystone.model.files import reason

# The clock may take so many times the seconds of the processor, on a busy machine, before we no
# longer wait.
PATIENCE = 5


class Limits(NamedTuple):
    """What a reader may take."""

    memory: int  # beyond that of the process before it reads [bytes]
    seconds: int  # of the processor [s]


def limits_of(spare: Limits, size: int) -> Limits:
    """`spare`, and what an honest file of `size` bytes takes: a hundred times of it, and 5 µs for
    each byte."""
    return Limits(spare.memory + 100 * size, spare.seconds + 5 * size // 1_000_000)


@contextmanager
def read_apart(script: Path, path: Path, limits: Limits, start: str) -> Iterator[Path]:
    """The file that main(path, out) of `script` has written; `start` begins what we refuse.

    script  imports what it needs and nothing of Drystone, which takes longer to start
    """
    memory, seconds = limits
    launcher = Path(__file__).with_name("limited_process.py")
    with tempfile.TemporaryDirectory(prefix="drystone-read-") as folder:
        out = Path(folder) / "out"
        command = [launcher, script, path.resolve(), out, str(memory), str(seconds)]
        try:
            done = subprocess.run(
                [sys.executable, "-P", *map(os.fspath, command)], cwd=folder,
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                timeout=PATIENCE * seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise InputError(f"{start}: it takes longer than {PATIENCE * seconds} s.") from None
        except OSError as error:
            raise InputError(f"{start}: its reader does not start: {reason(error)}.") from None
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            why = said[-1] if said and done.returncode == 1 else (
                f"it takes more than {memory >> 20} MB or {seconds} s, too much for a file of "
                f"{path.stat().st_size} bytes, or ends its reader."
            )  # fmt: skip
            raise InputError(f"{start}: {why[:300]}")
        yield out
