"""Percentiles with confidence bands, and whether there were enough runs for them.

The band is that of the bootstrap: draw n values with replacement from the n at hand, take the
percentile, and repeat. Its j-th smallest draw is the value of rank ceil(n U), with U the j-th
smallest of n uniform numbers, a Beta(j, n + 1 - j) variable. So a resample costs two random
numbers instead of n, and the band is the bootstrap's, not an approximation of it.
"""

from dataclasses import dataclass
from math import ceil, floor, log

import numpy as np

from drystone.jit import kernel
from drystone.rockfall.results.cell_statistics import PERCENTS

CONFIDENCE = 0.95
MOST_RUNS = 5_000_000  # of a study (study/schema.py): more would be no advice
RESAMPLES = 2000  # the ends of a 95 % band are then known to about 3 % of its width
DRAWN = 200_000  # values of a censored bootstrap that are drawn at a time
WIDTH = 0.10  # half the band over the value: a percentile known to 10 % serves a design


@dataclass(frozen=True)
class Estimate:
    """A percentile of one quantity over runs, with what is known about its precision."""

    share: float  # 0.95 for the 95 % percentile
    value: float
    low: float  # confidence band
    high: float
    count: int  # values that it was taken from
    enough: bool
    statement: str

    def as_dict(self) -> dict:
        return {
            "value": self.value, "low": self.low, "high": self.high, "count": self.count,
            "enough": self.enough, "statement": self.statement,
        }  # fmt: skip


def bootstrap_band(
    values, share: float, seed: int = 0, confidence: float = CONFIDENCE, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Confidence band of the percentile `share` of `values`; NaN if there are none."""
    if len(values) == 0:
        return np.nan, np.nan
    rng = np.random.default_rng([seed, len(values), round(1e6 * share)])
    tail = 0.5 * (1.0 - confidence)
    low, high = np.quantile(resample(values, share, rng, resamples), [tail, 1.0 - tail])
    return float(low), float(high)


def resample(values, share: float, rng: np.random.Generator, count: int) -> np.ndarray:
    """(count,) percentiles, each of len(values) values drawn from `values` with replacement."""
    ordered = np.sort(np.asarray(values, float))
    n = len(ordered)
    place = share * (n - 1)
    j, part = floor(place) + 1, place - floor(place)
    here = rng.beta(j, n + 1 - j, count)
    drawn = ordered[np.minimum((n * here).astype(np.int64), n - 1)]
    if part > 0.0:
        # the smallest of the n - j uniform numbers above `here`
        gap = 1.0 - rng.random(count) ** (1.0 / (n - j))
        above = here + (1.0 - here) * gap
        upper = ordered[np.minimum((n * above).astype(np.int64), n - 1)]
        drawn = drawn + part * (upper - drawn)
    return drawn


def least_count(share: float, confidence: float = CONFIDENCE) -> int:
    """Values needed for the largest to exceed the percentile with that confidence: p^n <= 1 - c.

    With fewer the band has no upper end that data support: 59 for 95 %, 299 for 99 %.
    """
    return ceil(log(1.0 - confidence) / log(share))


def estimate(values, share: float, runs: int, seed: int = 0, width: float = WIDTH) -> Estimate:
    """Percentile of `values`, one for each of those of `runs` runs that have one."""
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    n = len(values)
    if n == 0:
        text = f"no run of {runs} has a value"
        return Estimate(share, np.nan, np.nan, np.nan, 0, False, text)
    value = float(np.quantile(values, share))
    low, high = bootstrap_band(values, share, seed)
    half = 0.5 * (high - low) / abs(value) if value != 0.0 else (0.0 if high == low else np.inf)
    need = least_count(max(share, 1.0 - share))
    enough = n >= need and half <= width
    text = _statement(n, runs, need, half, width, enough, low <= 0.0 <= high)
    return Estimate(share, value, low, high, n, enough, text)


def censored_quantile(values, known, share: float) -> float:
    """Percentile of values of which some are only known to be at least so large; NaN: beyond all.

    After Kaplan and Meier (1958): S(x) is the product of 1 - d_i / n_i over all x_i <= x, with d_i
    known values x_i among the n_i that are at least as large. `known` (n,) says which are known.
    """
    ordered, known, _ = _in_order(values, known)
    found, times = np.empty(1), np.empty(len(ordered), dtype=np.int64)
    every = np.arange(len(ordered))
    censored_draws(ordered, known, every, every[None], share, times, found)
    return float(found[0])


def _in_order(values, known) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and `known`, sorted, and the place of each in that order."""
    values, known = np.asarray(values, float), np.asarray(known, bool)
    # At equal values those that are known come first: the others are larger, if anything.
    order = np.lexsort((~known, values))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return values[order], known[order], place


@kernel
def censored_draws(values, known, place, drawn, share, times, found):
    """The percentile of each row of `drawn`, numbers of runs; NaN: beyond all. The `values` are
    sorted, and that of a run is at its `place`.

    A draw is counted, not sorted: 2000 of 1000 values take 5 ms, where sorting each took 90.
    """
    n = values.shape[0]  # `times` is for its own use, one a value
    for k in range(drawn.shape[0]):
        times[:] = 0
        for p in range(drawn.shape[1]):
            times[place[drawn[k, p]]] += 1
        left, survival = float(drawn.shape[1]), 1.0
        found[k] = np.nan
        for i in range(n):
            if times[i] == 0:
                continue
            if known[i]:
                survival *= (left - times[i]) / left
                if survival <= 1.0 - share + 1e-12:
                    found[k] = values[i]
                    break
            left -= times[i]


def censored_estimate(values, known, share: float, runs: int, seed: int = 0) -> Estimate:
    """Percentile with its band, of values some of which are only lower bounds."""
    values, known = np.asarray(values, float), np.asarray(known, bool)
    there = np.isfinite(values)
    values, known = values[there], known[there]
    if known.all():
        return estimate(values, share, runs, seed)
    value, n = censored_quantile(values, known, share), len(values)
    lost = n - int(known.sum())
    if not np.isfinite(value):
        text = (
            f"not known: {lost} of {n} runs did not come to rest, and it lies beyond where they got"
        )
        low = censored_band(values, known, share, seed)[0]
        low = low if np.isfinite(low) else float(values.max())  # S there is above 1 - share
        return Estimate(share, np.nan, low, np.nan, n, False, text)
    low, high = censored_band(values, known, share, seed)
    half = 0.5 * (high - low) / abs(value) if value != 0.0 else np.inf
    need = least_count(max(share, 1.0 - share))
    enough = bool(n >= need and np.isfinite(half) and half <= WIDTH)
    text = _statement(n, runs, need, half, WIDTH, enough, low <= 0.0 <= high)
    text += f"; {lost} runs that did not come to rest count as going farther"
    return Estimate(share, value, low, high, n, enough, text)


def censored_band(values, known, share: float, seed: int = 0) -> tuple[float, float]:
    """Confidence band by the bootstrap over runs; NaN where a resample has no such percentile."""
    n = len(values)
    rng = np.random.default_rng([seed, n, round(1e6 * share), 1])
    count = int(np.clip(20_000_000 // n, 100, RESAMPLES))
    ordered, known, place = _in_order(values, known)
    drawn, times = np.empty(count), np.empty(n, dtype=np.int64)
    for first in range(0, count, max(DRAWN // n, 1)):  # not all in memory at once
        part = drawn[first : first + max(DRAWN // n, 1)]
        chosen = rng.integers(0, n, (len(part), n))
        censored_draws(ordered, known, place, chosen, share, times, part)
    tail = 0.5 * (1.0 - CONFIDENCE)
    ordered = np.sort(drawn)  # NaN, beyond all, last
    return float(ordered[int(tail * (count - 1))]), float(ordered[round((1 - tail) * (count - 1))])


def _statement(n, runs, need, half, width, enough, zero) -> str:
    if n < need and runs * need / n > MOST_RUNS:
        return (
            f"not enough: {n} values of {runs} runs, {need} are needed for this percentile, more "
            f"than a study can have runs for"
        )
    if n < need:
        total = ceil(runs * need / n)
        return (
            f"not enough: {n} values of {runs} runs, {need} are needed for this percentile; "
            f"about {_rounded(total)} runs would do"
        )
    known = f"{n} values, known to ±{100 * half:.1f} %"
    if enough:
        return f"enough: {known}"
    if not np.isfinite(half):
        return f"not enough: {n} values, but the percentile is zero and its band is not"
    # The width of a band falls with the root of the number of runs.
    total = ceil(runs * (half / width) ** 2)
    if zero:
        return f"not enough: {n} values, and the percentile may be zero: its band has both signs"
    if total > MOST_RUNS:
        return f"not enough: {known}; no number of runs that a study can have would do"
    return f"not enough: {known}; about {_rounded(total)} runs would give ±{100 * width:.0f} %"


def _rounded(count: int) -> str:
    """Two digits, upwards: more would pretend to a precision that the estimate has not."""
    scale = 10 ** max(len(str(count)) - 2, 0)
    return f"{ceil(count / scale) * scale:,}"


def summarise(values, runs: int, seed: int = 0, rested=None) -> dict:
    """Mean, percentiles with their bands, and maximum; for tables and reports.

    rested   (n,) where given: the values of the others are only lower bounds
    """
    values = np.asarray(values, float)
    known = values[np.isfinite(values)]
    if rested is not None and not np.all(rested):
        own = values[np.asarray(rested, bool) & np.isfinite(values)]
        entry = {
            "count": len(known), "censored": len(known) - len(own),
            "mean": float(own.mean()) if len(own) else np.nan,
            "max": float(known.max()) if len(known) else np.nan,
            # The largest that was seen is of a run that went on: it is only a lower bound.
            "max_open": bool(len(known) and not (len(own) and own.max() >= known.max())),
        }  # fmt: skip
        for name, share in PERCENTS.items():
            entry[name] = censored_estimate(values, rested, share, runs, seed).as_dict()
        return entry
    entry = {
        "count": len(known),
        "mean": float(known.mean()) if len(known) else np.nan,
        "max": float(known.max()) if len(known) else np.nan,
    }
    for name, share in PERCENTS.items():
        entry[name] = estimate(known, share, runs, seed).as_dict()
    return entry


def largest_per_run(run: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The largest value of each run that has one: values of the same run are not independent."""
    if len(run) == 0:
        return np.zeros(0)
    order = np.lexsort((value, run))
    ordered = run[order]
    last = np.flatnonzero(np.append(np.diff(ordered) != 0, True))
    return value[order][last]
