"""What all figures of a study share."""

import numpy as np

from drystone.rockfall.optional_packages import load

RUNS_SHOWN = 300  # trajectories in a figure: more only blacken it


def new_figure(size: tuple[float, float]):
    """A figure of its own, without the state of pyplot."""
    return load("matplotlib.figure", "A figure").Figure(size, layout="constrained")


def spread_runs(count: int, shown: int = RUNS_SHOWN) -> list[int]:
    """Numbers of runs, evenly over all."""
    return np.unique(np.linspace(0, count - 1, min(count, shown)).round().astype(int)).tolist()
