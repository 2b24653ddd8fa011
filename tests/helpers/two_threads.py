"""Scripts in a process of their own that has two threads, for tests of equal bits."""

import os
import subprocess
import sys

LIMIT = 500  # seconds; these scripts take ten, and a minute or two if they have to compile


def printed_by(script: str, *args) -> str:
    """What `script` prints; it chooses by numba.set_num_threads() how many threads it uses."""
    # Passive: where another program has the second core, threads that spin wait for milliseconds.
    threading = {"NUMBA_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    result = subprocess.run(
        [sys.executable, "-c", script, *map(str, args)],
        env=os.environ | threading, capture_output=True, text=True, check=False, timeout=LIMIT,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout
