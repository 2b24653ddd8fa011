"""Force elements of a world as arrays (structure of arrays), for kernels.

A row is one element on one body, or between two. What acts on all bodies has a row for each.
"""

from typing import NamedTuple

import numpy as np

from drystone.jit.table import table

NUMBERS = 4


@table
class Elements(NamedTuple):
    """Rows of all elements, and scratch of a step; n bodies, n stands for the fixed world."""

    kind: np.ndarray  # (ne,) int32: SPRING, DRAG ..., each in the file of its force
    body: np.ndarray  # (ne, 2) int32, bodies A and B; what has no other end has n as B
    anchor: np.ndarray  # (ne, 6) points on A, on B, from the centres of mass, body axes [m]
    number: np.ndarray  # (ne, 4) see the file of the kind
    before: np.ndarray  # (n, 6) scratch: forces [N] and torques [N m] at the start of the step
    after: np.ndarray  # (n, 6) scratch: at its end
