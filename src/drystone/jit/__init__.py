"""How kernels are compiled: decorators, stages by function pointer, tables by pointer, vectors,
clock.
"""

from drystone.jit.decorators import (
    cache_folder,
    entry_of,
    inlined,
    inner_kernel,
    kernel,
    parallel_kernel,
    source_digest,
)

__all__ = [
    "cache_folder",
    "entry_of",
    "inlined",
    "inner_kernel",
    "kernel",
    "parallel_kernel",
    "source_digest",
]
