"""How kernels are compiled: decorators, stages, tables by pointer, vector algebra, the clock."""

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
