"""Back-analysis of a study: which restitution, friction and rolling resistance fit what fell.

Trials spread over the space of values (Sobol, trials.py). At each the same rocks are rolled from
the same starts, and the features of where they come to rest are kept (observations.py). An emulator
of these gives the likelihood of the observed ones and the confidence region (likelihood.py). One
deposit in five is held out: the best values are judged by how well they tell these.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, process_time

import numpy as np
from scipy import stats

from drystone.errors import InputError
from drystone.model.checks import integer, of_kind
from drystone.model.signatures import public
from drystone.rockfall.fit.likelihood import (
    Emulator,
    Region,
    build_emulator,
    confidence_region,
    design_rows,
    log_likelihood,
)
from drystone.rockfall.fit.observations import (
    Frame,
    deposit_features,
    frame_of,
    height_features,
    read_deposits,
    read_heights,
)
from drystone.rockfall.fit.trials import Trials, run_trials
from drystone.rockfall.input_files import as_path
from drystone.rockfall.run.part_files import write_whole
from drystone.rockfall.study.study import Study

CONFIDENCE = 0.90
HELD_OUT = 0.2  # share of the deposits
AT_LEAST = 0.5  # share of the rocks that must come to rest for a trial to count
PAGE_NAME = "fit.html"
NOT_COVERED = (
    "The best values lie where most rocks leave the terrain, or do not reach the lines: there is "
    "nothing near them that deposits could be compared with. Enlarge the terrain."
)


@dataclass
class Fit:
    """The result of a back-analysis."""

    names: list[str]
    region: Region
    emulator: Emulator
    observed: list
    frame: Frame
    deposits: int
    held_out: float  # probability of held-out deposits as far from what is told, or farther
    seconds: float  # of wall clock
    cpu: float  # of all cores of this machine together
    nearest: int = 0  # usable trial nearest to the best values
    covered: bool = True  # whether no trial that is not usable is nearer
    heights: dict | None = None  # of each line: seen, and those of that trial [m]
    page: Path | None = None

    @property
    def doubt(self) -> str:
        """Why the best values may not be the best; empty if they may."""
        return "" if self.covered else NOT_COVERED

    def lines(self) -> list[str]:
        """For people: best values, region, how well it tells what was held out, and the time."""
        rows = [
            f"{name:28} {best:.3f}   90 % region {low:.3f} to {high:.3f}"
            for name, best, low, high in zip(
                self.names, self.region.best, self.region.low, self.region.high, strict=True
            )
        ]
        rows.append(
            f"held-out deposits: p = {self.held_out:.2f} (below 0.05: the model does not tell them)"
        )
        for name, (seen, _) in (self.heights or {}).items():
            rows.append(f"{len(seen)} passage heights at {name}")
        rows.append(f"{self.deposits} deposits, {self.seconds:.0f} s, {self.cpu:.0f} s of CPU here")
        rows += [self.doubt] if self.doubt else []
        return rows + ([str(self.page)] if self.page else [])


@public
def fit_study(
    study: Study,
    deposits: str | Path,
    out: str | Path,
    heights: str | Path | None = None,
    materials: list[str] | None = None,
    runs: int = 200,
    trials: int = 120,
    workers: int | None = None,
    resume: bool = False,
    cluster: str | None = None,
    tls: dict[str, str | Path] | None = None,
    progress: bool = False,
) -> Fit:
    """Fit the materials of `study` to observed deposits, and write fit.html and fit.json to `out`.

    deposits    file of points in the terrain's system, or one that is moved to it; or CSV of x, y
    heights     CSV of line (a check line of the study) and height_m, if some were seen
    materials   those to fit, None: all; the others stay as the study has them
    runs        rocks at each trial
    cluster     address of a Dask scheduler, which is used instead of this machine's cores; with
                tls as for run_study
    progress    show a bar on stderr
    """
    of_kind("study", study, Study, "a Study, as Study.load() reads it")
    out = as_path("out", out)
    runs, trials = integer("runs", runs, 20, 100_000), integer("trials", trials, 20, 10_000)
    began, cpu = monotonic(), process_time()
    places = read_deposits(deposits, study.slope)
    passages = {} if heights is None else read_heights(heights, [x.name for x in study.check_lines])
    library = run_trials(
        study, out, materials, runs, trials, workers, resume, cluster, tls, progress
    )
    starts = np.array([study.with_runs(count=runs).sample(k)[1].position for k in range(runs)])
    fit = fit_trials(library, starts[:, :2], places, passages, study.runs.seed)
    named = [line.name for line in study.check_lines]
    fit.heights = {named[k]: both for k, both in (fit.heights or {}).items()}
    fit.seconds, fit.cpu = monotonic() - began, process_time() - cpu
    from drystone.rockfall.fit.page import fit_page

    fit.page = out / PAGE_NAME
    write_whole(fit.page, fit_page(study, fit, library, places).encode())
    figures = zip(fit.names, fit.region.best, fit.region.low, fit.region.high, strict=True)
    told = {name: {"best": b, "low": lo, "high": hi} for name, b, lo, hi in figures}
    write_whole(
        out / "fit.json", json.dumps(told | {"held_out_p": fit.held_out}, indent=1).encode()
    )
    return fit


def fit_trials(library: Trials, starts, deposits, heights=None, seed: int = 1) -> Fit:
    """The fit of observed deposits (n, 2) to trials that are there.

    starts    (m, 2) of the simulated rocks, local
    heights   {check line: (h,) passage heights [m]}
    """
    heights = heights or {}
    rng = np.random.default_rng([seed, 9])
    order = rng.permutation(len(deposits))
    held = order[: max(int(HELD_OUT * len(deposits)), 1)]
    used = np.setdiff1d(order, held)
    frame = frame_of(starts, deposits[used])
    usable = [np.isfinite(ends[:, 0]).mean() >= AT_LEAST for ends in library.ends]
    for k in heights:  # a trial in which next to nothing crosses a line cannot tell its heights
        usable = [
            u and len(by.get(k, ())) > 2 for u, by in zip(usable, library.heights, strict=True)
        ]
    rows = np.flatnonzero(usable)
    if len(rows) < 2 * (len(library.names) + 1):
        raise InputError(
            f"only {len(rows)} of {len(usable)} trials have enough rocks at rest (and across the "
            f"lines). Enlarge the terrain, or move the sources."
        )
    scales = {k: (float(h.mean()), float(h.std()) or 1.0) for k, h in heights.items()}
    means, spreads = [], []
    for t in rows:
        ends = library.ends[t]
        parts = [deposit_features(ends[np.isfinite(ends[:, 0])], frame)]
        parts += [height_features(library.heights[t][k], *scales[k]) for k in heights]
        means.append(np.concatenate([p.mean(axis=0) for p in parts]))
        spreads.append(_blocks([np.cov(p.T) for p in parts]))
    emulator = build_emulator(
        library.values[rows], np.array(means), np.array(spreads), library.low, library.high
    )
    features = deposit_features(deposits, frame)
    first = np.arange(features.shape[1])
    observed = [(first, features[used].mean(axis=0), len(used))]
    for j, (k, h) in enumerate(heights.items()):
        part = features.shape[1] + 2 * j + np.arange(2)
        observed.append((part, height_features(h, *scales[k]).mean(axis=0), len(h)))
    region = confidence_region(emulator, observed, CONFIDENCE, seed)
    p = _held_out(emulator, region, features[held])
    away = (((library.values - region.best) / (library.high - library.low)) ** 2).sum(axis=1)
    nearest = int(rows[np.argmin(away[rows])])
    return Fit(
        library.names, region, emulator, observed, frame, len(deposits), p, 0.0, 0.0, nearest,
        nearest == int(np.argmin(away)),
        {k: (h, np.asarray(library.heights[nearest][k])) for k, h in heights.items()},
    )  # fmt: skip


def _blocks(parts: list[np.ndarray]) -> np.ndarray:
    size = sum(len(p) for p in parts)
    whole, at = np.zeros((size, size)), 0
    for part in parts:
        whole[at : at + len(part), at : at + len(part)] = part
        at += len(part)
    return whole


def _held_out(emulator: Emulator, region: Region, features: np.ndarray) -> float:
    """Probability of a mean as far from what the best values tell, or farther."""
    first, n = np.arange(features.shape[1]), len(features)
    at = [(first, features.mean(axis=0), n)]
    told = log_likelihood(emulator, region.best, at)[0]
    # The same at its own peak, m(theta) = s: what differs is the squared distance.
    x = 2.0 * (region.best[None] - emulator.low) / (emulator.high - emulator.low) - 1.0
    mean = (design_rows(x, emulator.powers) @ emulator.mean)[0, first]
    peak = log_likelihood(emulator, region.best, [(first, mean, n)])[0]
    return float(stats.chi2.sf(2.0 * (peak - told), len(first)))
