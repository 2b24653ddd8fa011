"""Equal but for rounding, on any processor: tolerances in terms of the size of the numbers.

What two formulas, or one formula with and without fused multiply-add, make of the same numbers
differs by some roundings of 2e-16 of the largest number that went in, not of what came out.
"""

import numpy as np

ROUNDING = 1e-12  # of the size of what went in: some thousand roundings, far below any mistake


def close(found, expected, scale=1.0) -> bool:
    """Are they equal to rounding? `scale` is the size of the numbers they were computed from."""
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape or expected.ndim == 0, (found.shape, expected.shape)
    return bool((np.abs(found - expected) <= ROUNDING * scale).all())
