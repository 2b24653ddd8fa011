"""The one place that decides how kernels are compiled and where they are cached."""

import hashlib
import os
from pathlib import Path

import numba


def _source_digest(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=8)
    digest.update(numba.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        source = path.read_bytes()
        if b"kernel" in source:  # an edit to cli.py should not rebuild the solvers
            digest.update(source)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Folder of the compiled kernels of exactly these sources."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "drystone"
    checks = "-checked" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    return root / (_source_digest(Path(__file__).parent) + checks)


# Numba rebuilds a cached kernel when its own file changes, but not when a kernel or a
# constant it took from another file does: it silently runs the old one. A folder keyed
# on all files with kernels rules that out, at the price of a full rebuild after an edit
# to any of them. The setting is process-wide, so it also moves other packages' caches.
if "NUMBA_CACHE_DIR" not in os.environ:
    numba.config.CACHE_DIR = str(cache_folder())


def kernel(function=None, **options):
    """Compile `function`. Never pass fastmath=True: it deletes our NaN checks.

    Kernels do not allocate, so Numba need not count references (`_nrt`): counting those of a
    tuple of sixty arrays at every call costs more than most kernels do. A kernel that does
    allocate says so with `_nrt=True`.
    """
    options = {"cache": True, "error_model": "numpy", "nogil": True, "_nrt": False} | options
    return numba.njit(**options)(function) if function else numba.njit(**options)


def parallel_kernel(function):
    """Compile a thin `prange` loop over independent work; its answer has no thread count in it."""
    return kernel(function, parallel=True, _nrt=True)
