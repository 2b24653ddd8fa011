"""Probability distributions: quantities that vary from rock to rock, as a study writes them.

| in the study | meaning |
|---|---|
| `0.5` | always that |
| `{ uniform = [a, b] }` | all between alike |
| `{ triangular = [a, mode, b] }` | rising to the mode, then falling |
| `{ normal = [mean, sd], min = a, max = b }` | normal, cut off |
| `{ lognormal = [mean, sd] }` | mean and sd of the quantity, not of its logarithm |
| `{ gamma = [mean, sd] }` | |
| `{ exponential = mean }` | |
| `{ beta = [p, q], min = a, max = b }` | beta on a to b |
| `{ values = [...], weights = [...] }` | one of them |
| `{ quantiles = [x0, ..., xn] }` | a measured curve: as often between any two neighbours |

`min` and `max` cut any of them off. A draw is the inverse of the cumulative distribution at a
number between 0 and 1, so that stratified numbers (Latin hypercube) give stratified draws.
"""

from dataclasses import dataclass
from math import inf, isfinite, log, sqrt

import numpy as np
from scipy import special

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, shown

KINDS = {
    "uniform": 2, "triangular": 3, "normal": 2, "lognormal": 2, "gamma": 2, "exponential": 1,
    "beta": 2, "values": None, "quantiles": None,
}  # fmt: skip
# A draw at exactly 0 or 1 would be infinite for a normal distribution.
LEAST = 2.0**-53


@dataclass(frozen=True)
class Distribution:
    """kind and its numbers; `low` and `high` cut it off."""

    kind: str
    numbers: tuple[float, ...]
    weights: tuple[float, ...] = ()
    low: float = -inf
    high: float = inf

    def draw(self, u: float) -> float:
        """The value below which a share u of all draws lies."""
        u = min(max(float(u), LEAST), 1.0 - LEAST)
        if self.kind == "fixed":
            return self.numbers[0]
        if self.kind == "values":
            return self.numbers[int(np.searchsorted(np.cumsum(self.shares()), u, side="right"))]
        below, above = self._share_below(self.low), self._share_below(self.high)
        value = self._inverse(below + u * (above - below))
        return min(max(value, self.low), self.high)

    def shares(self) -> np.ndarray:
        """Of `values`: how often each comes."""
        weights = np.array(self.weights or np.ones(len(self.numbers)))
        weights = np.where(self._kept(), weights, 0.0)
        return weights / weights.sum()

    def support(self) -> tuple[float, float]:
        """The smallest and largest value that can be drawn."""
        if self.kind == "fixed":
            return self.numbers[0], self.numbers[0]
        if self.kind == "values":
            kept = np.array(self.numbers)[self._kept() & (self.shares() > 0.0)]
            return float(kept.min()), float(kept.max())
        low, high = {
            "normal": (-inf, inf), "lognormal": (0.0, inf), "gamma": (0.0, inf),
            "exponential": (0.0, inf), "beta": (self.low, self.high),
        }.get(self.kind, (min(self.numbers), max(self.numbers)))  # fmt: skip
        return max(low, self.low), min(high, self.high)

    def describe(self) -> str:
        """For reports: 0.5, normal(0.5, 0.1) in 0.3 to 0.7."""
        numbers = ", ".join(f"{x:g}" for x in self.numbers)
        if self.kind == "fixed":
            return numbers
        cut = ""
        if isfinite(self.low) or isfinite(self.high):
            cut = f" in {self.low:g} to {self.high:g}"
        return f"{self.kind}({numbers}){cut}"

    def entry(self):
        """What a study says for it: a number or a table."""
        if self.kind == "fixed":
            return self.numbers[0]
        single = self.kind == "exponential"
        table = {self.kind: self.numbers[0] if single else list(self.numbers)}
        table |= {"weights": list(self.weights)} if self.weights else {}
        table |= {"min": self.low} if isfinite(self.low) else {}
        return table | ({"max": self.high} if isfinite(self.high) else {})

    def _kept(self) -> np.ndarray:
        values = np.array(self.numbers)
        return (values >= self.low) & (values <= self.high)

    def _share_below(self, x: float) -> float:
        """Cumulative distribution of the one that is not cut off."""
        if x == -inf:
            return 0.0
        if x == inf:
            return 1.0
        n = self.numbers
        if self.kind == "uniform":
            return _clip((x - n[0]) / (n[1] - n[0]))
        if self.kind == "triangular":
            return _triangle_below(x, *n)
        if self.kind == "normal":
            return float(special.ndtr((x - n[0]) / n[1]))
        if self.kind == "lognormal":
            mu, sigma = _log_moments(*n)
            return float(special.ndtr((log(x) - mu) / sigma)) if x > 0.0 else 0.0
        if self.kind in ("gamma", "exponential"):
            shape, scale = _gamma(self.kind, n)
            return float(special.gammainc(shape, max(x, 0.0) / scale))
        if self.kind == "beta":
            return _clip((x - self.low) / (self.high - self.low))
        return float(np.interp(x, n, np.linspace(0.0, 1.0, len(n))))  # quantiles

    def _inverse(self, share: float) -> float:
        n = self.numbers
        if self.kind == "uniform":
            return n[0] + share * (n[1] - n[0])
        if self.kind == "triangular":
            return _triangle_inverse(share, *n)
        if self.kind == "normal":
            return n[0] + n[1] * float(special.ndtri(share))
        if self.kind == "lognormal":
            mu, sigma = _log_moments(*n)
            return float(np.exp(mu + sigma * special.ndtri(share)))
        if self.kind in ("gamma", "exponential"):
            shape, scale = _gamma(self.kind, n)
            return scale * float(special.gammaincinv(shape, share))
        if self.kind == "beta":
            return self.low + (self.high - self.low) * float(special.betaincinv(*n, share))
        return float(np.interp(share, np.linspace(0.0, 1.0, len(n)), n))  # quantiles


def fixed(value: float) -> Distribution:
    return Distribution("fixed", (float(value),))


def read_distribution(value) -> Distribution:
    """From what a study holds: a number or a table; see the module."""
    if isinstance(value, Distribution):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | dict):
        raise InputError(
            f"is {shown(value)}, must be a number or a table such as {{uniform = [1, 2]}}."
        )
    if not isinstance(value, dict):
        return fixed(_finite("", value))
    kinds = [key for key in value if key in KINDS]
    for key in value:
        if key not in (*KINDS, "min", "max", "weights"):
            raise InputError(
                f"has no entry {shown(key)}. {did_you_mean(key, (*KINDS, 'min', 'max'))}"
            )
    if len(kinds) != 1:
        raise InputError(f"needs one of {', '.join(KINDS)}, but has {kinds or 'none'}.")
    return _checked(kinds[0], value)


def _checked(kind: str, table: dict) -> Distribution:
    given = table[kind] if isinstance(table[kind], list | tuple) else [table[kind]]
    numbers = tuple(_finite(kind, x) for x in given)
    if KINDS[kind] is not None and len(numbers) != KINDS[kind]:
        raise InputError(f"{kind} has {len(numbers)} numbers, must have {KINDS[kind]}.")
    low, high = _finite("min", table.get("min", -inf)), _finite("max", table.get("max", inf))
    if not low < high:
        raise InputError(f"min is {low:g} and max is {high:g}, min must be the smaller.")
    weights = tuple(_finite("weights", w) for w in table.get("weights", ()))
    if weights and (
        kind != "values" or len(weights) != len(numbers) or min(weights) < 0.0
        or not 0.0 < sum(weights) < inf
    ):  # fmt: skip
        raise InputError("weights must be one number >= 0 for each of the values, not all 0.")
    _require_sense(kind, numbers, low, high)
    result = Distribution(kind, numbers, weights, low, high)
    if kind == "values":
        reachable = result._kept() & (np.array(weights or [1.0] * len(numbers)) > 0.0)
        possible = bool(reachable.any())
    else:
        possible = result._share_below(high) > result._share_below(low)
    if not possible:
        raise InputError(f"{kind} has no value between min = {low:g} and max = {high:g}.")
    return result


def _require_sense(kind: str, n: tuple, low: float, high: float) -> None:
    if kind in ("normal", "lognormal", "gamma") and not n[1] > 0.0:
        raise InputError(f"{kind}: sd is {n[1]:g}, must be > 0. For one value give a number.")
    if kind in ("lognormal", "gamma", "exponential") and not n[0] > 0.0:
        raise InputError(f"{kind}: mean is {n[0]:g}, must be > 0.")
    if kind == "uniform" and not n[0] < n[1]:
        raise InputError(f"uniform: {n[0]:g} to {n[1]:g}, the first must be the smaller.")
    if kind == "triangular" and not (n[0] <= n[1] <= n[2] and n[0] < n[2]):
        raise InputError(f"triangular: {n[0]:g}, {n[1]:g}, {n[2]:g} must rise.")
    if kind == "beta" and not (min(n) > 0.0 and isfinite(low) and isfinite(high)):
        raise InputError("beta needs two numbers > 0, and min and max.")
    if kind == "quantiles" and not (len(n) >= 2 and all(np.diff(n) > 0.0)):
        raise InputError("quantiles must be at least two numbers that rise.")
    if kind == "values" and not n:
        raise InputError("values must not be empty.")


def _finite(what: str, value) -> float:
    infinite = what in ("min", "max") and isinstance(value, float) and abs(value) == inf
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{what} is {shown(value)}, must be a number.".lstrip())
    try:
        if isfinite(value) or infinite:
            return float(value)
    except OverflowError:
        raise InputError(f"{what} is beyond 1e308, must be a finite number.".lstrip()) from None
    raise InputError(f"{what} is {shown(value)}, must be a finite number.".lstrip())


def _clip(share: float) -> float:
    return min(max(share, 0.0), 1.0)


def _triangle_below(x: float, a: float, mode: float, b: float) -> float:
    if x <= a:
        return 0.0
    if x >= b:
        return 1.0
    if x < mode:
        return (x - a) ** 2 / ((b - a) * (mode - a))
    return 1.0 - (b - x) ** 2 / ((b - a) * (b - mode))


def _triangle_inverse(share: float, a: float, mode: float, b: float) -> float:
    if share * (b - a) < mode - a:
        return a + sqrt(share * (b - a) * (mode - a))
    return b - sqrt((1.0 - share) * (b - a) * (b - mode))


def _log_moments(mean: float, sd: float) -> tuple[float, float]:
    """Mean and deviation of the logarithm."""
    variance = log(1.0 + (sd / mean) ** 2)
    return log(mean) - 0.5 * variance, sqrt(variance)


def _gamma(kind: str, n: tuple) -> tuple[float, float]:
    """Shape and scale."""
    mean, sd = (n[0], n[0]) if kind == "exponential" else n
    return (mean / sd) ** 2, sd**2 / mean
