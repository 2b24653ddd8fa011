"""Products and sums in one instruction (fused multiply-add), for kernels that do little else.

A compiler may fuse a product with a sum only where it may change digits, and does so here and not
there: a kernel would give other bits in another caller. `fma` says where, so that bits stay.
"""

import numba
from numba import types
from numba.extending import intrinsic

from drystone.jit import inner_kernel


@intrinsic
def fma(typing_context, a, b, c):
    """a b + c, rounded once."""

    def codegen(context, builder, signature, args):
        return builder.fma(*args)

    number = types.float64
    return number(number, number, number), codegen


if numba.config.DISABLE_JIT:  # to step through kernels in a debugger

    def fma(a, b, c):
        return a * b + c


@inner_kernel
def mul_add(s, a, b):
    """s a + b."""
    return fma(s, a[0], b[0]), fma(s, a[1], b[1]), fma(s, a[2], b[2])


@inner_kernel
def dot3(a, b):
    return fma(a[0], b[0], fma(a[1], b[1], a[2] * b[2]))


@inner_kernel
def cross_add(a, b, c):
    """a × b + c."""
    return (
        fma(a[1], b[2], fma(-a[2], b[1], c[0])),
        fma(a[2], b[0], fma(-a[0], b[2], c[1])),
        fma(a[0], b[1], fma(-a[1], b[0], c[2])),
    )


@inner_kernel
def matrix_add(m, v, c):
    """M v + c of a matrix of nine floats."""
    return (
        fma(m[0], v[0], fma(m[1], v[1], fma(m[2], v[2], c[0]))),
        fma(m[3], v[0], fma(m[4], v[1], fma(m[5], v[2], c[1]))),
        fma(m[6], v[0], fma(m[7], v[1], fma(m[8], v[2], c[2]))),
    )


@inner_kernel
def matrix_times(m, v):
    """M v."""
    return (
        fma(m[0], v[0], fma(m[1], v[1], m[2] * v[2])),
        fma(m[3], v[0], fma(m[4], v[1], m[5] * v[2])),
        fma(m[6], v[0], fma(m[7], v[1], m[8] * v[2])),
    )
