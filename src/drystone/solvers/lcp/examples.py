"""Problems with known answers."""

import numpy as np

from drystone.model.checks import integer
from drystone.model.signatures import public
from drystone.solvers.lcp.files import Lcp


@public
def murty(n: int) -> Lcp:
    """The problem of [Murty1988] chapter 6 for which Lemke's algorithm visits 2ⁿ bases.

    M has ones on and twos above its diagonal and is a P-matrix; q_i = -(2ⁱ + ... + 2ⁿ). The only
    solution is z = (0, ..., 0, 2ⁿ). With a column of ones for z0 it takes exactly 2ⁿ pivots, the
    one by which z0 enters included.
    """
    n = integer("n", n, 1, 1023)  # 2ⁿ is a float
    return Lcp(
        np.eye(n) + 2.0 * np.triu(np.ones((n, n)), 1),
        -np.cumsum(2.0 ** np.arange(n, 0, -1))[::-1].copy(),
    )
