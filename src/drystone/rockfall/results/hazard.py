"""Hazard in every cell: how likely, and how often a year, an energy is exceeded there.

Of each run its largest kinetic energy in a cell counts. With n_s runs from source s, of which
k_s(e) exceed the energy e in a cell, and f_s rocks that the source releases in a year,

    P(e) = sum k_s(e) / sum n_s      given a release as the study mixes them; no frequency in time
    F(e) = sum f_s k_s(e) / n_s      a year, if all sources have a frequency

The return period of e is 1 / F(e); the energy of a return period T is the largest e with
F(e) >= 1 / T. The energies 30 and 300 kJ divide weak, medium and strong intensity, and return
periods of 30, 100 and 300 years high, medium and low probability, in the matrix of the Swiss
guidelines (BUWAL 1997; the cantons differ in its lower left corner, where we take the stricter).
"""

from typing import NamedTuple

import numpy as np

from drystone.rockfall.results.cells import CellTable

WEAK, STRONG = 30e3, 300e3  # [J] weak intensity is below the first, strong above the second
PERIODS = (30.0, 100.0, 300.0)  # [years] high, medium and low probability; beyond: very low
# Level of danger by probability (high, medium, low, very low) and intensity (weak, medium, strong).
MATRIX = np.array([[3, 4, 4], [3, 3, 4], [2, 3, 4], [1, 1, 1]])
LEVELS = {1: "residual (yellow and white)", 2: "low (yellow)", 3: "medium (blue)",
          4: "considerable (red)"}  # fmt: skip


class Hazard(NamedTuple):
    """What is mapped, and the weight of a run of each source."""

    energies: tuple[float, ...]  # rising [J]
    periods: tuple[float, ...]  # rising [years]
    runs: int
    weights: np.ndarray | None  # (sources,) f_s / n_s [1/year]; None: no frequencies


def hazard_of(plan, source: np.ndarray) -> Hazard | None:
    """The hazard that a plan asks for; `source` (runs,) is where each run came from."""
    if plan.hazard is None:
        return None
    weights = None
    if plan.frequencies and all(plan.frequencies):
        counts = np.bincount(source, minlength=len(plan.frequencies))
        weights = np.array(plan.frequencies) / np.maximum(counts, 1)
        # A source that no run came from is not seen; `check` warns of it.
    return Hazard(*plan.hazard, plan.count, weights)


def hazard_names(plan) -> dict[str, tuple[str, str]]:
    """{name of the raster: (unit, description)} of all that are written for a plan."""
    if plan.hazard is None:
        return {}
    energies, periods = plan.hazard
    names = {
        f"exceedance_{_kj(e)}kJ": (
            "1",
            f"share of all runs whose kinetic energy exceeds {_kj(e)} kJ in the cell, given a "
            f"release; no frequency in time",
        )
        for e in energies
    }
    if not (plan.frequencies and all(plan.frequencies)):
        return names
    names["annual_passages"] = ("1/year", "rocks that pass the cell in a year")
    for e in energies:
        names[f"annual_exceedance_{_kj(e)}kJ"] = (
            "1/year", f"rocks a year whose kinetic energy exceeds {_kj(e)} kJ in the cell"
        )  # fmt: skip
    for period in periods:
        names[f"energy_{period:g}_years"] = (
            "kJ", f"kinetic energy with a return period of {period:g} years"
        )  # fmt: skip
    names["hazard_level"] = (
        "1",
        "level of danger by the Swiss matrix: 1 residual, 2 low (yellow), 3 medium (blue), 4 "
        "considerable (red)",
    )
    return names


def _kj(energy: float) -> str:
    return f"{energy * 1e-3:g}"


def hazard_band(cells: CellTable, cell: np.ndarray, size: int, hazard: Hazard) -> dict:
    """{name: (size,)} of one band; `cell` (n,) counts from its first."""
    energy = cells.energy.astype(np.float64)
    passed = np.bincount(cell, minlength=size) > 0
    found = {}
    for e in hazard.energies:
        above = np.bincount(cell[energy > e], minlength=size)
        found[f"exceedance_{_kj(e)}kJ"] = np.where(passed, above / hazard.runs, np.nan)
    if hazard.weights is None:
        return found
    weight = hazard.weights[np.maximum(cells.source, 0)]

    def often(rows):
        return np.bincount(cell[rows], weight[rows], minlength=size)

    everything = np.ones(len(cell), bool)
    found["annual_passages"] = np.where(passed, often(everything), np.nan)
    for e in hazard.energies:
        found[f"annual_exceedance_{_kj(e)}kJ"] = np.where(passed, often(energy > e), np.nan)
    for period in hazard.periods:
        found[f"energy_{period:g}_years"] = 1e-3 * _return_energy(
            cell, energy, weight, size, 1.0 / period
        )
    classes = [
        _return_energy(cell, energy, weight, size, 1.0 / period) for period in PERIODS
    ]  # energies of 30, 100, 300 years
    found["hazard_level"] = np.where(passed, _levels(classes), np.nan)
    return found


def _return_energy(cell, energy, weight, size: int, frequency: float) -> np.ndarray:
    """(size,) largest energy that comes at least so often a year [J]; NaN where none does."""
    order = np.lexsort((-energy, cell))
    c, e, w = cell[order], energy[order], weight[order]
    upto = np.cumsum(w)
    first = np.searchsorted(c, np.arange(size))
    before = np.concatenate([[0.0], upto])[first]
    # Within a cell, energies fall: the first whose sum reaches the frequency is the answer.
    reached = upto - before[c] >= frequency * (1.0 - 1e-9)
    result = np.full(size, np.nan)
    rows = np.flatnonzero(reached)
    some, at = np.unique(c[rows], return_index=True)
    result[some] = e[rows[at]]
    return result


def _levels(energies: list[np.ndarray]) -> np.ndarray:
    """Level of danger from the energies (J) of 30, 100 and 300 years: the worst of the three."""
    level = np.ones(len(energies[0]))
    for row, energy in enumerate(energies):
        intensity = np.where(energy > STRONG, 2, np.where(energy > WEAK, 1, 0))
        level = np.where(np.isfinite(energy), np.maximum(level, MATRIX[row][intensity]), level)
    return level
