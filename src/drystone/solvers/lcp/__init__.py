"""Linear complementarity problems, pure and mixed, by Lemke's algorithm: CLINE 2.7 and 4.8.

result = ds.lcp.solve(M, q)                  # w = M z + q, z >= 0, w >= 0, wᵀz = 0
result = ds.lcp.solve_mixed(A, B, C, D, a, b)    # also 0 = A x + C z + a, x of any sign
problem = ds.lcp.load("lcp_mmc.dat")
"""

from drystone.solvers.lcp.examples import murty
from drystone.solvers.lcp.files import Lcp, MixedLcp, load
from drystone.solvers.lcp.lemke import LcpResult, lcp_error, solve
from drystone.solvers.lcp.mixed import MixedResult, solve_mixed

__all__ = [
    "Lcp",
    "LcpResult",
    "MixedLcp",
    "MixedResult",
    "lcp_error",
    "load",
    "murty",
    "solve",
    "solve_mixed",
]
