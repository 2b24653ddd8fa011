"""Clock for compiled code: the processor's time stamp counter, and how long a tick is."""

import time
from functools import cache

import numba
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from drystone.jit import kernel


@intrinsic
def _read_ticks(typing_context):
    def codegen(context, builder, signature, args):
        function = builder.module.declare_intrinsic(
            "llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), ())
        )
        return builder.call(function, ())

    return types.uint64(), codegen


@kernel
def ticks():
    """Ticks since some moment in the past."""
    return _read_ticks()


if numba.config.DISABLE_JIT:  # to step through kernels in a debugger
    ticks = time.perf_counter_ns


@cache
def tick_seconds() -> float:
    """Length of a tick [s], measured once against the system's clock."""
    ticks()  # compile or load it before the clock runs
    start, start_ticks = time.perf_counter(), ticks()
    while time.perf_counter() - start < 0.02:
        pass
    return (time.perf_counter() - start) / max(1, int(ticks()) - int(start_ticks))
