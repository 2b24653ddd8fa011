"""The number of threads that parallel kernels use."""

from contextlib import contextmanager

import numba

from drystone.errors import InputError


@contextmanager
def use_threads(threads: int):
    """Let the engine use so many threads for a while."""
    before = numba.get_num_threads()
    if threads > numba.config.NUMBA_NUM_THREADS:
        raise InputError(
            f"--threads is {threads}, this machine has {numba.config.NUMBA_NUM_THREADS} cores."
        )
    numba.set_num_threads(threads)
    try:
        yield
    finally:
        numba.set_num_threads(before)
