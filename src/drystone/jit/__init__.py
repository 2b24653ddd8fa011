"""How kernels are compiled: decorators, stages, tables by pointer, vector algebra, the clock."""

from drystone.jit.decorators import (
    entry_of,
    inlined,
    inner_kernel,
    kernel,
    parallel_kernel,
)
from drystone.jit.folders import cache_folder, cache_root, source_digest

__all__ = [
    "cache_folder",
    "cache_root",
    "entry_of",
    "inlined",
    "inner_kernel",
    "kernel",
    "parallel_kernel",
    "source_digest",
]
