"""Back-analysis of a study: which restitution, friction and rolling resistance fit what fell.

Trials spread over the space of values (Sobol). At each the same rocks are rolled from the same
starts, and the features of where they come to rest are kept (observations.py). An emulator of these
gives the likelihood of the observed ones and the confidence region (likelihood.py). One deposit in
five is held out: the best values are judged by how well they tell these.

Trials are kept in `trials.npz` as they get done, so that an interrupted fit goes on.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic, process_time

import numpy as np
from scipy import stats

from drystone.errors import InputError
from drystone.model.checks import choice, integer, of_kind
from drystone.model.signatures import public
from drystone.rockfall.engine.records import AT_REST
from drystone.rockfall.engine.roll import VALUES, roll_many
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
from drystone.rockfall.input_files import as_path
from drystone.rockfall.results.check_lines import CheckLine, LineFinder
from drystone.rockfall.run.part_files import disk_error, write_whole
from drystone.rockfall.study.study import Study
from drystone.rockfall.terrain.ground_surface import ground_of

FITTED = ("restitution", "friction", "rolling")
RANGES = {"restitution": (0.02, 0.8), "friction": (0.1, 1.2), "rolling": (0.0, 0.5)}
CONFIDENCE = 0.90
HELD_OUT = 0.2  # share of the deposits
AT_LEAST = 0.5  # share of the rocks that must come to rest for a trial to count
FILE, PAGE_NAME = "trials.npz", "fit.html"


@dataclass
class Trials:
    """What the simulation gives at each trial."""

    names: list[str]  # "restitution.talus" and so on
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray  # (t, k)
    ends: list[np.ndarray] = field(default_factory=list)  # (runs, 2) local, NaN: not at rest
    heights: list[dict[int, np.ndarray]] = field(default_factory=list)  # by check line


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
    cpu: float  # of all cores together
    page: Path | None = None

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
        rows.append(f"{self.deposits} deposits, {self.seconds:.0f} s, {self.cpu:.0f} s of CPU")
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
) -> Fit:
    """Fit the materials of `study` to observed deposits, and write fit.html and fit.json to `out`.

    deposits    file of points in the terrain's system, or one that is moved to it; or CSV of x, y
    heights     CSV of line (a check line of the study) and height_m, if some were seen
    materials   those to fit, None: all; the others stay as the study has them
    runs        rocks at each trial
    """
    of_kind("study", study, Study, "a Study, as Study.load() reads it")
    out = as_path("out", out)
    runs, trials = integer("runs", runs, 20, 100_000), integer("trials", trials, 20, 10_000)
    began, cpu = monotonic(), process_time()
    places = read_deposits(deposits, study.slope)
    passages = {} if heights is None else read_heights(heights, [x.name for x in study.check_lines])
    library = run_trials(study, out, materials, runs, trials, workers, resume)
    starts = np.array([study.with_runs(count=runs).sample(k)[1].position for k in range(runs)])
    fit = fit_trials(library, starts[:, :2], places, passages, study.runs.seed)
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


def run_trials(study, out, materials, runs, trials, workers=None, resume=False) -> Trials:
    """Roll `runs` rocks at each of `trials` sets of values; those in `out` are kept if resumed."""
    library = _plan_trials(study, materials, trials)
    path = Path(out) / FILE
    done = _load(path, library, runs) if resume else 0
    if not resume and path.exists():
        raise InputError(
            f"{out} holds a fit already. Go on with it (--resume), or delete it first."
        )
    try:
        Path(out).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise disk_error(Path(out), error) from None
    few = study.with_runs(count=runs, sampling="latin-hypercube")
    samples = [few.sample(k) for k in range(runs)]
    rocks, starts = [s[0] for s in samples], [s[1] for s in samples]
    drawn = np.array([np.stack(s[2]) for s in samples])  # (runs, 4, materials)
    scene, options = study.scene(), study.options
    finder = LineFinder(
        [CheckLine(line.name, line.points) for line in study.check_lines], ground_of(study.slope)
    )
    for t in range(done, trials):
        own = drawn.copy()
        for name, value in zip(library.names, library.values[t], strict=True):
            what, material = name.split(".", 1)
            own[:, VALUES.index(what), study.material_names.index(material)] = value
        rows = tuple(np.ascontiguousarray(own[:, k]) for k in range(len(VALUES)))
        paths = roll_many(rocks, starts, scene, options, rows, threads=workers)
        library.ends.append(_ends(paths))
        library.heights.append(_heights(paths, finder))
        if t % 10 == 9 or t == trials - 1:
            _save(path, library, runs)
    return library


def _plan_trials(study, materials, trials: int) -> Trials:
    chosen = study.material_names if materials is None else materials
    for name in chosen:
        choice("materials to fit", name, study.material_names)
    names = [f"{what}.{material}" for material in chosen for what in FITTED]
    low, high = np.array([RANGES[name.split(".", 1)[0]] for name in names]).T
    sobol = stats.qmc.Sobol(len(names), seed=np.random.default_rng([study.runs.seed, 6]))
    with np.errstate(all="ignore"):
        values = low + (high - low) * sobol.random(1 << int(np.ceil(np.log2(trials))))[:trials]
    return Trials(names, low, high, values)


def _ends(paths) -> np.ndarray:
    return np.array([
        p.end["x"][:2] if p.end["reason"] in AT_REST else (np.nan, np.nan) for p in paths
    ])  # fmt: skip


def _heights(paths, finder: LineFinder) -> dict[int, np.ndarray]:
    found: dict[int, list[float]] = {}
    for k, path in enumerate(paths):
        rows = finder.find(k, path.arcs, float(path.end["mass"]))
        for line in np.unique(rows["line"]):
            found.setdefault(int(line), []).append(rows["height"][rows["line"] == line].max())
    return {line: np.array(values) for line, values in found.items()}


def _save(path: Path, library: Trials, runs: int) -> None:
    part = path.with_name(".trials.tmp.npz")
    flat = [
        (t, line, h) for t, by in enumerate(library.heights) for line, hs in by.items() for h in hs
    ]
    np.savez_compressed(
        part, names=np.array(library.names), values=library.values, runs=runs,
        ends=np.array(library.ends), heights=np.array(flat, dtype=float).reshape(-1, 3),
    )  # fmt: skip
    part.replace(path)


def _load(path: Path, library: Trials, runs: int) -> int:
    """Take over the trials of a file; how many there are."""
    if not path.exists():
        return 0
    try:
        with np.load(path) as file:
            same = file["names"].tolist() == library.names and int(file["runs"]) == runs
            same = same and np.array_equal(file["values"], library.values)
            ends, flat = file["ends"], file["heights"]
    except (OSError, ValueError, KeyError):
        raise InputError(f"{path} is damaged. Delete it and fit anew.") from None
    if not same:
        raise InputError(f"{path} is of a fit with other trials. Choose another folder.")
    for t in range(len(ends)):
        mine = flat[flat[:, 0] == t]
        library.ends.append(ends[t])
        library.heights.append({int(k): mine[mine[:, 1] == k, 2] for k in np.unique(mine[:, 1])})
    return len(ends)


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
    return Fit(library.names, region, emulator, observed, frame, len(deposits), p, 0.0, 0.0)


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
