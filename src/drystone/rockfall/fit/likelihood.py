"""The likelihood of observed means of features, by an emulator of what the simulation gives.

At each trial set of values the simulated rocks give the mean m and the covariance C of the features
of one deposit. Polynomials in the values are fitted to the means over all trials; what they miss
(by leaving one trial out at a time) is a model error E. The mean of n observed deposits is then
normal,

    s ~ N(m(theta), C(theta) / n + E),

a synthetic likelihood (Wood 2010, Nature 466). The confidence region holds all values whose log
likelihood is within half the quantile of chi-squared of the largest (Wilks).
"""

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from scipy import stats

CUBIC = 3  # values up to which polynomials are cubic; with more of them they are quadratic
RIDGE = 1e-6
POINTS = 2**14  # of the space of values at which the likelihood is looked at


class Emulator(NamedTuple):
    """Means and covariances of features as functions of the values, scaled to 0..1."""

    low: np.ndarray  # (k,)
    high: np.ndarray  # (k,)
    powers: list  # of the polynomials
    mean: np.ndarray  # (terms, f)
    root: np.ndarray  # (terms, f (f + 1) / 2) of the logarithm of the covariance
    error: np.ndarray  # (f, f) model error


def _terms(count: int, degree: int) -> list[tuple[int, ...]]:
    return [c for d in range(degree + 1) for c in combinations_with_replacement(range(count), d)]


def design_rows(x: np.ndarray, powers) -> np.ndarray:
    """(p, terms) products of the columns of x (p, k)."""
    columns = [np.prod(x[:, list(p)], axis=1) if p else np.ones(len(x)) for p in powers]
    return np.column_stack(columns)


def build_emulator(values, means, covariances, low, high) -> Emulator:
    """From trials: values (t, k), means (t, f) and covariances (t, f, f) of the features."""
    x = 2.0 * (values - low) / (high - low) - 1.0
    degree = 3 if x.shape[1] <= CUBIC else 2
    powers = _terms(x.shape[1], degree)
    while len(powers) > len(x) // 2 and degree > 1:
        degree -= 1
        powers = _terms(x.shape[1], degree)
    design = design_rows(x, powers)
    gram = design.T @ design + RIDGE * len(x) * np.eye(design.shape[1])
    hat = design @ np.linalg.solve(gram, design.T)
    mean = np.linalg.solve(gram, design.T @ means)
    left_out = (means - design @ mean) / (1.0 - np.diag(hat))[:, None]
    error = left_out.T @ left_out / len(x)
    logs = np.array([_packed(_log(c)) for c in covariances])
    root = np.linalg.solve(gram, design.T @ logs)
    return Emulator(low, high, powers, mean, root, error)


def _log(matrix: np.ndarray) -> np.ndarray:
    value, vector = np.linalg.eigh(matrix)
    value = np.maximum(value, 1e-9 * max(value.max(), 1e-9))
    return (vector * np.log(value)) @ vector.T


def _packed(matrix: np.ndarray) -> np.ndarray:
    return matrix[np.tril_indices(len(matrix))]


def log_likelihood(emulator: Emulator, values: np.ndarray, observed: list) -> np.ndarray:
    """(p,) at values (p, k); `observed` [(columns of features, mean (f,), n)] of each kind."""
    x = 2.0 * (np.atleast_2d(values) - emulator.low) / (emulator.high - emulator.low) - 1.0
    design = design_rows(x, emulator.powers)
    means, logs = design @ emulator.mean, design @ emulator.root
    f = means.shape[1]
    full = np.zeros((len(x), f, f))
    rows, columns = np.tril_indices(f)
    full[:, rows, columns] = logs
    full[:, columns, rows] = logs
    value, vector = np.linalg.eigh(full)
    spread = np.einsum("pij,pj,pkj->pik", vector, np.exp(np.clip(value, -40.0, 40.0)), vector)
    total = np.zeros(len(x))
    for part, mean, count in observed:
        c = spread[:, part][:, :, part] / count + emulator.error[np.ix_(part, part)]
        c = c + 1e-9 * np.eye(len(part))
        away = mean - means[:, part]
        solved = np.linalg.solve(c, away[:, :, None])[:, :, 0]
        _, logdet = np.linalg.slogdet(c)
        total += -0.5 * (np.einsum("pi,pi->p", away, solved) + logdet)
    return total


class Region(NamedTuple):
    """Best values, and what is as good but for chance."""

    best: np.ndarray  # (k,)
    peak: float  # largest log likelihood
    limit: float  # least log likelihood within the region
    points: np.ndarray  # (p, k) of the region
    low: np.ndarray  # (k,) least and largest of each value in it
    high: np.ndarray


def confidence_region(emulator: Emulator, observed: list, share: float, seed: int) -> Region:
    """The region that holds the true values in `share` of all cases."""
    low, high = emulator.low, emulator.high
    sobol = stats.qmc.Sobol(len(low), seed=np.random.default_rng([seed, 7]))
    points = low + (high - low) * sobol.random(POINTS)
    likelihood = log_likelihood(emulator, points, observed)
    best = points[np.argmax(likelihood)]
    rng = np.random.default_rng([seed, 8])
    for width in (0.1, 0.03, 0.01):  # nearer and nearer to the peak
        near = np.clip(best + width * (high - low) * rng.normal(size=(2000, len(low))), low, high)
        near = np.vstack([best, near])
        found = log_likelihood(emulator, near, observed)
        best = near[np.argmax(found)]
        points, likelihood = np.vstack([points, near]), np.concatenate([likelihood, found])
    peak = float(likelihood.max())
    limit = peak - 0.5 * float(stats.chi2.ppf(share, len(low)))
    inside = points[likelihood >= limit]
    return Region(best, peak, limit, inside, inside.min(axis=0), inside.max(axis=0))


def holds(emulator: Emulator, observed: list, region: Region, values) -> bool:
    """Whether values (k,) lie in a region."""
    return bool(log_likelihood(emulator, np.asarray(values, float), observed)[0] >= region.limit)
