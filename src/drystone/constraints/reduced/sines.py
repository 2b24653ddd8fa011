"""Sines and cosines of the angles of joints, several at a time.

The C library takes 15 ns for an angle, two thirds of what a link takes to be placed. These are its
polynomials [FdLibm] without a branch, which the compiler does for four or eight angles at once:
1 ns each. They differ from the library by a unit in the last place at most.
"""

from math import cos, sin

import numpy as np

from drystone.jit import inner_kernel, kernel

# pi / 2 in three parts: n times the first two has no rounding where n has less than 20 bits.
HALF_1, HALF_2 = 1.57079632673412561417e00, 6.07710050630396597660e-11
HALF_3 = 2.02226624879595063154e-21
LARGEST = 1e5  # [rad] angles beyond are left to the library
S1, S2, S3 = -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04
S4, S5, S6 = 2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10
C1, C2, C3 = 4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05
C4, C5, C6 = -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11


@inner_kernel(inline="always")
def sine_cosine(x):
    """sin(x), cos(x) for |x| <= LARGEST."""
    n = np.rint(x * (2.0 / np.pi))
    r, w = x - n * HALF_1, n * HALF_2
    y = r - w
    tail = (r - y) - w - n * HALF_3
    z = y * y
    v = z * y
    s = S2 + z * (S3 + z * (S4 + z * (S5 + z * S6)))
    s = y - ((z * (0.5 * tail - v * s) - tail) - v * S1)
    c = z * (C1 + z * (C2 + z * (C3 + z * (C4 + z * (C5 + z * C6)))))
    half = 0.5 * z
    one = 1.0 - half
    c = one + (((1.0 - one) - half) + (z * c - y * tail))
    pairs = np.floor(0.5 * n)
    odd, sign = n - 2.0 * pairs != 0.0, 1.0 - 2.0 * (pairs - 2.0 * np.floor(0.5 * pairs))
    return sign * (c if odd else s), sign * (-s if odd else c)


@kernel
def fill_sines(lo, hi, sine, cosine):
    """Replace the angles lo ... hi in `sine` by their sines, and fill in their cosines."""
    largest = 0.0
    for i in range(lo, hi):
        largest = max(largest, abs(sine[i]))
    if largest <= LARGEST:
        s, c = sine[lo:hi], cosine[lo:hi]  # of an index from 0 Numba knows that it is no negative
        for k in range(s.shape[0]):
            s[k], c[k] = sine_cosine(s[k])
    else:
        for i in range(lo, hi):
            sine[i], cosine[i] = sin(sine[i]), cos(sine[i])
