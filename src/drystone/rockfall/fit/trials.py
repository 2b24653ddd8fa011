"""The trials of a back-analysis: what the simulation gives at sets of values spread by Sobol.

At each the same rocks are rolled from the same starts, here on all cores or as tasks of a cluster.
They are kept in `trials.npz` as they get done, so that an interrupted fit goes on.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

import numpy as np
from scipy import stats

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import choice
from drystone.rockfall.engine.records import AT_REST
from drystone.rockfall.engine.roll import VALUES, roll_many
from drystone.rockfall.results.check_lines import CheckLine, LineFinder
from drystone.rockfall.run.manifest import file_digest
from drystone.rockfall.run.part_files import disk_error
from drystone.rockfall.run.progress_bar import ProgressBar
from drystone.rockfall.terrain.ground_surface import ground_of

FITTED = ("restitution", "friction", "rolling")
RANGES = {"restitution": (0.02, 0.8), "friction": (0.1, 1.2), "rolling": (0.0, 0.5)}
FILE = "trials.npz"
SAVED = 30.0  # [s] between two savings of what is done: the most that an interruption costs


@dataclass
class Trials:
    """What the simulation gives at each trial."""

    names: list[str]  # "restitution.talus" and so on
    low: np.ndarray
    high: np.ndarray
    values: np.ndarray  # (t, k)
    ends: list[np.ndarray] = field(default_factory=list)  # (runs, 2) local, NaN: not at rest
    heights: list[dict[int, np.ndarray]] = field(default_factory=list)  # by check line


class Roller:
    """Rolls the rocks of a study with other values of its materials."""

    def __init__(self, study, names: list[str], runs: int):
        few = study.with_runs(count=runs, sampling="latin-hypercube")
        samples = [few.sample(k) for k in range(runs)]
        self.rocks, self.starts = [s[0] for s in samples], [s[1] for s in samples]
        self.drawn = np.array([np.stack(s[2]) for s in samples])  # (runs, 4, materials)
        self.scene, self.options = study.scene(), study.options
        self.places = [
            (VALUES.index(what), study.material_names.index(material))
            for what, material in (name.split(".", 1) for name in names)
        ]
        lines = [CheckLine(line.name, line.points) for line in study.check_lines]
        self.finder = LineFinder(lines, ground_of(study.slope))

    def trial(self, values: np.ndarray, threads: int | None):
        """(runs, 2) where the rocks came to rest, and heights by check line."""
        own = self.drawn.copy()
        for (what, material), value in zip(self.places, values, strict=True):
            own[:, what, material] = value
        rows = tuple(np.ascontiguousarray(own[:, k]) for k in range(len(VALUES)))
        paths = roll_many(self.rocks, self.starts, self.scene, self.options, rows, threads=threads)
        return _ends(paths), _heights(paths, self.finder)


def run_trials(
    study, out, materials, runs, trials, workers=None, resume=False, cluster=None, tls=None,
    progress=False,
) -> Trials:  # fmt: skip
    """Roll `runs` rocks at each of `trials` sets of values; those in `out` are kept if resumed."""
    library = _plan_trials(study, materials, trials)
    path, digest = Path(out) / FILE, _digest(study, library, runs)
    done = _load(path, library, digest) if resume else 0
    if not resume and path.exists():
        raise InputError(
            f"{out} holds a fit already. Go on with it (--resume), or delete it first."
        )
    left, saved = list(range(done, trials)), monotonic()
    with _rolling(study, library, runs, workers, cluster, tls, digest) as roll:
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise disk_error(Path(out), error) from None
        with ProgressBar(progress, trials, done, "trials") as bar:
            try:
                with closing(roll(left, bar.say)) as answers:
                    for _ in _in_order(library, answers, bar):
                        if monotonic() - saved > SAVED:
                            _save(path, library, digest)
                            saved = monotonic()
            finally:
                _save(path, library, digest)
    return library


def _in_order(library: Trials, answers, bar) -> Iterator[int]:
    """Take trials over in their order, which is the file's; a cluster gives them in any."""
    early = {}
    for t, found in answers:
        early[t] = found
        bar.advance(1)
        while len(library.ends) in early:
            ends, heights = early.pop(len(library.ends))
            library.ends.append(ends)
            library.heights.append(heights)
        yield t


@contextmanager
def _rolling(study, library: Trials, runs: int, workers, cluster, tls, digest: str):
    """A function that yields (trial, what it gave); a cluster is reached before anything is
    written."""
    if cluster is None:
        if tls is not None:
            raise InputError("tls was given without a cluster. Give the cluster's address too.")
        yield lambda left, say: _roll_here(study, library, runs, workers, left)
        return
    from drystone.rockfall.run.cluster import compute_tasks, connect

    def task(t: int) -> tuple:
        return trial_remotely, study, library.names, library.values[t], runs, digest

    with connect(cluster, tls) as scheduler:
        key = f"rockfall-fit-{digest[:16]}"
        yield lambda left, say: compute_tasks(
            scheduler, key, task, lambda t: f"trial {t}", left, say
        )


def _roll_here(study, library: Trials, runs: int, workers, left: list[int]) -> Iterator:
    roller = Roller(study, library.names, runs) if left else None
    for t in left:
        yield t, roller.trial(library.values[t], workers)


_rollers: dict[str, Roller] = {}


def trial_remotely(study, names: list[str], values: np.ndarray, runs: int, digest: str):
    """On a worker: one trial. What it rolls is kept for the next."""
    roller = _rollers.get(digest)
    if roller is None:
        if inputs_digest(study) != digest.partition("-")[2]:
            raise DrystoneError(
                "a worker of the cluster reads other input files than the caller. Give all the "
                "same files under the same paths."
            )
        roller = Roller(study, names, runs)
        _rollers.clear()
        _rollers[digest] = roller
    return roller.trial(values, 1)


def inputs_digest(study) -> str:
    """Of the study and its files."""
    files = {str(path): file_digest(path) for path in study.input_files()}
    told = json.dumps([study.describe(), files], sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _digest(study, library: Trials, runs: int) -> str:
    """Of all that decides about the trials."""
    plan = json.dumps([library.names, library.values.tolist(), runs])
    return f"{hashlib.sha256(plan.encode()).hexdigest()[:16]}-{inputs_digest(study)}"


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


def _save(path: Path, library: Trials, digest: str) -> None:
    part = path.with_name(".trials.tmp.npz")
    flat = [
        (t, line, h) for t, by in enumerate(library.heights) for line, hs in by.items() for h in hs
    ]
    try:
        np.savez_compressed(
            part, names=np.array(library.names), values=library.values, digest=digest,
            ends=np.array(library.ends), heights=np.array(flat, dtype=float).reshape(-1, 3),
        )  # fmt: skip
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise disk_error(path, error) from None


def _load(path: Path, library: Trials, digest: str) -> int:
    """Take over the trials of a file; how many there are."""
    if not path.exists():
        return 0
    try:
        with np.load(path) as file:
            same = str(file["digest"]) == digest
            ends, flat = file["ends"], file["heights"]
    except (OSError, ValueError, KeyError, EOFError):
        raise InputError(
            f"{path} is damaged, or of an older version. Delete it and fit anew."
        ) from None
    if not same:
        raise InputError(
            f"{path} is of a fit with other trials, of another study, or with other input files. "
            f"Choose another folder."
        )
    for t in range(len(ends)):
        mine = flat[flat[:, 0] == t]
        library.ends.append(ends[t])
        library.heights.append({int(k): mine[mine[:, 1] == k, 2] for k in np.unique(mine[:, 1])})
    return len(ends)
