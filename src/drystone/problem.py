"""The seam and the judge: the contact problem, what a solve reports, and how it is measured."""

from typing import NamedTuple


class SolveInfo(NamedTuple):
    """What one solve, or one step, reports. A passive observer: nothing here feeds back."""

    converged: bool
    iterations: int  # sweeps, or whatever the solver counts, of its hardest island
    residual: float  # [m/s] as residual() measures it for the solver's law
    contacts: int = 0
    penetration: float = 0.0  # deepest overlap at the start of the step [m]
