"""Mesh files of other formats (glTF, 3MF, archives ...), read by trimesh in a process apart.

A few hundred bytes of these can stand for gigabytes: archives are packed, scenes repeat a part a
thousand times within a thousand others, sizes are claimed. So trimesh reads them in a process of
its own (trimesh_process.py), with as much memory and time as an honest file of that size takes,
and with no other files than those beside it.
"""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.files import reason

# Memory beyond that of an empty process: [bytes], and bytes for each byte of the file.
SPARE_BYTES, BYTES_PER_BYTE = 256 << 20, 100
# Time of the processor [s], and for each megabyte.
SPARE_SECONDS, SECONDS_PER_MEGABYTE = 4, 5
# The clock may take so many times that, on a busy machine, before we no longer wait.
PATIENCE = 5


def read_foreign(path: Path, who: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) in units of the file and faces (m, 3)."""
    size = path.stat().st_size
    memory = SPARE_BYTES + BYTES_PER_BYTE * size
    seconds = SPARE_SECONDS + SECONDS_PER_MEGABYTE * size // 1_000_000
    script = Path(__file__).with_name("trimesh_process.py")
    command = [sys.executable, "-P", str(script), str(path.resolve()), str(memory), str(seconds)]
    start = f"{who}: cannot read {path.name} as a mesh"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE * seconds
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{start}: it takes longer than {PATIENCE * seconds} s.") from None
    except OSError as error:
        raise InputError(f"{start}: its reader does not start: {reason(error)}.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = said[-1] if said and done.returncode == 1 else (
            f"it takes more than {memory >> 20} MB or {seconds} s, too much for a file of "
            f"{size} bytes."
        )  # fmt: skip
        raise InputError(f"{start}: {why[:300]}")
    stream = io.BytesIO(done.stdout)
    vertices, faces = (np.load(stream, allow_pickle=False) for _ in range(2))
    return vertices, faces
