"""`auto` beside Siconos on problems from files: time to the same error, by one measure.

    drystone bench --siconos FOLDER [--peer-python /usr/bin/python3]

Siconos (Debian's python3-siconos with python3-scipy) runs in an interpreter of its own, one
process for each problem and method, with W given sparse. Its time is that of its driver alone,
the least of three runs; ours is that of all of solve(), report included, the least of
five. What counts is the relative natural-map error of the impulses, measured here for both.
"""

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

from drystone.bench.peer_overlap import FOLDER, has_modules
from drystone.constraints.files.load import load_problem
from drystone.constraints.residual import relative_error
from drystone.errors import InputError
from drystone.model.files import write_text
from drystone.solvers.auto import Auto
from drystone.world.io.text_table import text_table

METHODS = ("PROX", "NSGS", "ADMM")
FEW_CONTACTS = 20  # problems with no more are over before a clock can tell
MAX_SECONDS = 60.0  # for all runs of one method on one problem
REPEAT = 5
SLACK = 10.0  # a peer's answer counts up to this multiple of the tolerance: its measure differs

COLUMNS = (
    ("problem", "problem", "{}"),
    ("contacts", "contacts", "{}"),
    ("auto ms", "auto", "{:.3g}"),
    ("error", "error", "{:.0e}"),
    ("PROX ms", "PROX", "{:.3g}"),
    ("NSGS ms", "NSGS", "{:.3g}"),
    ("ADMM ms", "ADMM", "{:.3g}"),
    ("best", "best", "{}"),
    ("its error", "best_error", "{:.0e}"),
    ("times faster", "ratio", "{:.3g}"),
    ("what auto did", "method", "{}"),
)


def save_for_siconos(problem, path: Path) -> None:
    """W by columns, q and friction, for drive_siconos.py."""
    w = problem.W().tocsc()
    np.savez(
        path, data=w.data, index=w.indices, first=w.indptr, q=problem.q().ravel(),
        friction=problem.friction,
    )  # fmt: skip


def run_method(problem, method, tolerance, python: Path, folder: Path) -> dict:
    """Seconds and our error of one method; without seconds where it failed."""
    saved, answer = folder / "problem.npz", folder / "impulse.npy"
    command = [python, FOLDER / "drive_siconos.py", saved, method, answer]
    command += ["--tolerance", tolerance]
    try:
        run = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=MAX_SECONDS
        )
    except subprocess.TimeoutExpired:
        return {}
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode != 0 or not lines:
        return {}
    row = json.loads(lines[-1])
    error = relative_error(problem, np.load(answer))
    return row | {"error": error} if error <= SLACK * tolerance else {}


def run_auto(problem, tolerance) -> dict:
    """The best of some runs, each from zero."""
    solver = Auto(tolerance=tolerance, measure="relative")
    best = np.inf
    for _ in range(REPEAT):
        impulse = np.zeros((problem.contact_count, 3))
        start = perf_counter()
        info = solver.solve(problem, impulse)
        best = min(best, perf_counter() - start)
    error = relative_error(problem, impulse)
    return {"auto": 1e3 * best, "error": error, "method": info.method, "done": info.converged}


def compare(name, problem, tolerance, python: Path, folder: Path) -> dict:
    """One row of the table."""
    save_for_siconos(problem, folder / "problem.npz")
    row = {"problem": name, "contacts": problem.contact_count}
    results = {m: run_method(problem, m, tolerance, python, folder) for m in METHODS}
    row |= {m: 1e3 * r["seconds"] for m, r in results.items() if r}
    row |= run_auto(problem, tolerance)
    done = [m for m in METHODS if results[m]]
    if done and row["done"]:
        best = min(done, key=lambda m: results[m]["seconds"])
        row |= {
            "best": best,
            "best_error": results[best]["error"],
            "ratio": row[best] / row["auto"],
        }
    return row


def compare_all(paths, tolerance: float, python: Path):
    """Rows of all problems with enough contacts, as they come."""
    with TemporaryDirectory() as folder:
        for path in paths:
            problem = load_problem(path)
            if problem.contact_count > FEW_CONTACTS:
                yield compare(path.name.split(".")[0], problem, tolerance, python, Path(folder))


def run_siconos(folder: Path, python: Path, tolerance: float, json_file, screen, results) -> None:
    """Print the table and the median; talk goes to `screen`, results to `results`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is no folder with problems.")
    if set(has_modules(python, ["siconos", "scipy"])) != {"siconos", "scipy"}:
        screen.print(
            f"Siconos is not installed for {python}; on Debian: "
            f"apt install python3-siconos python3-scipy",
            markup=False,
        )
        return
    rows = []
    for row in compare_all(sorted(folder.iterdir()), tolerance, python):
        rows.append(row)
        screen.print(f"{row['problem']}: {row['auto']:.3g} ms", markup=False)
    if json_file is not None:
        write_text(json_file, json.dumps(rows, indent=1))
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
    results.print(summary(rows, tolerance), markup=False, soft_wrap=True)


def summary(rows, tolerance) -> str:
    """The median ratio in a sentence."""
    ratios = [row["ratio"] for row in rows if "ratio" in row]
    failed = sum(not row["done"] for row in rows)
    median = f"{np.median(ratios):.3g}" if ratios else "?"
    return (
        f"auto takes 1/{median} of the time of the best of {', '.join(METHODS)}: median of "
        f"{len(ratios)} problems with more than {FEW_CONTACTS} contacts that one of them solves; "
        f"auto missed {tolerance:g} on {failed} of {len(rows)}."
    )
