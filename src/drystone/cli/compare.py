"""What `drystone compare` does: find the problems, solve them all, print, write JSON and plots."""

import json
from dataclasses import dataclass, field, fields
from math import isfinite
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from drystone.bench import solver_plots
from drystone.bench.method_runs import COLUMNS as RUN_COLUMNS
from drystone.bench.method_runs import force_methods, run_methods
from drystone.bench.solver_comparison import (
    FACTORS,
    FAILED,
    Outcome,
    find_solvers,
    load_problems,
    natural_measure,
    performance_profile,
    problem_files,
    try_solver,
)
from drystone.cli.console import compiling
from drystone.constraints.problem import ContactProblem
from drystone.errors import DrystoneError, InputError, UnsupportedFeature
from drystone.model.checks import choice, did_you_mean, positive
from drystone.model.files import write_text
from drystone.scenes import SCENES
from drystone.world.io.text_table import text_table

FORMAT = "drystone-compare"
JSON, CONVERGENCE, PROFILE = "compare.json", "convergence.png", "profile.png"
UNITS = {"velocity": "residual() of each solver's law, in m/s", "relative": "natural-map error"}

# heading, key, format
COLUMNS = (
    ("problem", "problem", "{}"),
    ("contacts", "contacts", "{}"),
    ("solver", "solver", "{}"),
    ("law", "law", "{}"),
    ("converged", "converged", "{}"),
    ("natural map", "natural_map", "{:.1e}"),
    ("residual m/s", "residual", "{:.1e}"),
    ("iterations", "iterations", "{}"),
    ("seconds", "seconds", "{:.3g}"),
    ("work", "work", "{:.4g}"),
    ("energy J", "energy_change", "{:.4g}"),
)
PROFILE_COLUMNS = (
    ("solver", "solver", "{}"),
    *((f"x{factor:g}", f"{factor:g}", "{:.0%}") for factor in FACTORS),
    ("solved", "solved", "{}"),
)


@dataclass
class Report:
    """All that is known so far, and how it is written."""

    what: str
    kind: str  # "scene", "problem" or "folder"
    measure: str
    tolerance: float
    seconds_limit: float
    folder: Path
    skipped: dict[str, str] = field(default_factory=dict)  # files that could not be read, and why
    outcomes: list[Outcome] = field(default_factory=list)
    runs: list[dict] = field(default_factory=list)  # see bench/method_runs.py
    finished: bool = False

    def write(self) -> None:
        """Write the JSON; whenever that is interrupted, the one before it is still complete."""
        content = {
            "format": FORMAT,
            "what": self.what,
            "kind": self.kind,
            "measure": self.measure,
            "tolerance": self.tolerance,
            "seconds_limit": self.seconds_limit,
            "finished": self.finished,
            "skipped": self.skipped,
            "outcomes": [_as_dict(outcome) for outcome in self.outcomes],
        }
        if self.runs:
            content["runs"] = self.runs
        if self.kind == "folder" and self.outcomes:
            content["profile"] = performance_profile(self.outcomes).rows()
        text = json.dumps(_plain(content), indent=1, allow_nan=False)
        write_text(self.folder / JSON, text + "\n")


def run_compare(
    what, names, tolerance, measure, steps, options, seconds_limit, output, plot, screen, results
) -> tuple[bool, bool]:
    """Compare; returns whether it came to its end, and whether all files and solvers were fine."""
    positive("--tolerance", tolerance, "")
    positive("--seconds-limit", seconds_limit, "s")
    if measure is not None:
        choice("--measure", measure, UNITS)
    forces, every = force_methods(names), names
    names = None if names is None else [name for name in names if name not in forces]
    find_solvers(names, tolerance, measure or "velocity")  # unknown names are to be told at once
    plot = _plot_or_not(plot, screen)
    kind, where, label = _locate(what, options)
    if forces and kind != "scene":
        raise UnsupportedFeature(
            f"{forces[0]} solves no contact problem, so it can be compared on a scene alone."
        )
    folder = _claim(Path(f"compare-{label}") if output is None else output, where)
    problems, skipped = _find_problems(kind, what, steps, options, screen)
    measure = measure or natural_measure(problems.values())
    report = Report(where, kind, measure, tolerance, seconds_limit, folder, skipped)
    unit = "" if measure == "relative" else " m/s"
    screen.print(
        f"Measure: {measure} ({UNITS[measure]}); tolerance {tolerance:g}{unit}; "
        f"{seconds_limit:g} s for each solve.",
        markup=False, soft_wrap=True,
    )  # fmt: skip
    _open_folder(report)
    try:
        _solve_all(report, problems, find_solvers(names, tolerance, measure), screen)
        if forces:
            _run_all(report, every, steps, options, screen)
        report.finished = True
    except KeyboardInterrupt:
        screen.print("Stopped; what was done so far is saved.", markup=False)
    report.write()
    _show(report, plot, screen, results)
    failed = [o for o in report.outcomes if o.converged == FAILED]
    return report.finished, not (failed or skipped)


def _locate(what: str, options: dict) -> tuple[str, str, str]:
    """Kind of thing that `what` is, its full name, and a short one."""
    path = Path(what)
    if what in SCENES:
        return "scene", what, what
    if options:
        raise InputError(f"--set is for scenes, and there is no scene {what!r}.")
    if path.exists():
        path = path.resolve()
        if path.is_dir():
            return "folder", str(path), path.name
        return "problem", str(path), path.stem
    if path.suffix or len(path.parts) > 1:
        raise InputError(f"{what}: there is no such file or folder.")
    guess = did_you_mean(what, SCENES)
    raise InputError(f"{what}: there is no scene, file or folder of that name. {guess}")


def _claim(folder: Path, where: str) -> Path:
    """The folder to write into, unless that would overwrite something else than our own."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--output {folder}: this is a file, must be a folder.")
    taken = [name for name in (JSON, CONVERGENCE, PROFILE) if (folder / name).exists()]
    if taken and _written_about(folder) != where:
        raise InputError(
            f"{folder / taken[0]}: is there already and is not about {where}; "
            f"choose another folder with --output."
        )
    return folder


def _written_about(folder: Path) -> str | None:
    try:
        content = json.loads((folder / JSON).read_text())
        return content["what"] if content["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _open_folder(report: Report) -> None:
    """Make the folder; plots of an earlier run must not stand beside new results."""
    try:
        report.folder.mkdir(parents=True, exist_ok=True)
        for name in (CONVERGENCE, PROFILE):
            (report.folder / name).unlink(missing_ok=True)
        report.write()
    except OSError as error:
        raise InputError(f"--output {report.folder}: cannot be written ({error}).") from None


def _find_problems(kind, what, steps, options, screen) -> tuple[dict, dict]:
    """Problems by name, and the files that could not be read with the reason."""
    if kind == "scene":
        return {what: _scene_problem(what, steps, options, screen)}, {}
    if kind == "problem":
        return {Path(what).name: ContactProblem.load(Path(what))}, {}
    with screen.status("Reading ..."):
        problems, skipped = load_problems(problem_files(Path(what)))
    for reason in skipped.values():
        screen.print(f"skipped: {reason}", style="yellow", markup=False, soft_wrap=True)
    if not problems:
        raise InputError(f"{what}: none of its {len(skipped)} files can be read.")
    return problems, skipped


def _scene_problem(name, steps, options, screen):
    """The contact problem of step `steps` of a scene, in which nothing sleeps."""
    scene = SCENES[name]
    options = {key: scene.read_option(key, text) for key, text in options.items()}
    world = scene.build(**({"sleeping": False} | options))
    with compiling(screen):
        world.step()
    world.run((steps - 1) * world.dt, progress=screen.is_terminal)
    problem = world.problem()
    if problem.block_count == 0:
        raise InputError(f"{name}: nothing touches in step {steps}; take another with --steps.")
    return problem


def _solve_all(report: Report, problems: dict, solvers: dict, screen) -> None:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=screen) as bar:
        task = bar.add_task("", total=len(problems) * len(solvers))
        for problem_name, problem in problems.items():
            for name, solver in solvers.items():
                bar.update(task, description=f"{problem_name}: {name}")
                outcome = try_solver(
                    problem_name, problem, name, solver, report.seconds_limit,
                    history=report.kind != "folder",
                )  # fmt: skip
                report.outcomes.append(outcome)
                report.write()
                bar.advance(task)


def _run_all(report: Report, names, steps: int, options: dict, screen) -> None:
    """Forces and impulses on the same scene, from its start."""
    scene = SCENES[report.what]
    options = {key: scene.read_option(key, text) for key, text in options.items()}
    with screen.status(f"{steps} steps by each method ..."):
        report.runs = run_methods(report.what, names, steps, options)
    report.write()


def _plot_or_not(wanted: bool | None, screen) -> bool:
    """Whether to draw. Who asks for plots gets them or an error, who does not say gets a word."""
    if wanted is False:
        return False
    try:
        solver_plots.check_plots()
    except DrystoneError as error:
        if wanted:
            raise
        screen.print(f"No plots: {error}", markup=False, soft_wrap=True)
        return False
    return True


def _show(report: Report, plot: bool, screen, results) -> None:
    outcomes, folder = report.outcomes, report.folder
    rows = [vars(outcome) for outcome in outcomes]
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
    for o in outcomes:
        if o.converged == FAILED:
            screen.print(f"{o.problem}: {o.solver} failed: {o.message}", style="red",
                         markup=False, soft_wrap=True)  # fmt: skip
    if report.runs:
        results.print(f"\n{report.what}: the scene itself, run by each", style="bold")
        results.print(text_table(report.runs, RUN_COLUMNS), markup=False, soft_wrap=True)
    written = [JSON]
    if report.kind == "folder" and outcomes:
        profile = performance_profile(outcomes)
        results.print(
            f"\nShare of {len(profile.problems)} problems solved within a factor of the best time "
            f"({report.measure} {report.tolerance:g})",
            markup=False, soft_wrap=True,
        )  # fmt: skip
        results.print(text_table(profile.rows(), PROFILE_COLUMNS), markup=False, soft_wrap=True)
        if plot:
            solver_plots.draw_profile(profile, folder / PROFILE)
            written.append(PROFILE)
    elif plot and outcomes:
        path = folder / CONVERGENCE
        solver_plots.draw_convergence(outcomes, report.measure, report.tolerance, path)
        written.append(CONVERGENCE)
    screen.print(f"Written to {folder}: {', '.join(written)}", markup=False, soft_wrap=True)
    screen.print("Next: drystone solvers, for what each solver supports", markup=False)


def _as_dict(outcome: Outcome) -> dict:
    row = {f.name: getattr(outcome, f.name) for f in fields(outcome)}
    if outcome.course is not None:
        row["course"] = outcome.course._asdict()
    return row


def _plain(value):
    """`value` out of what JSON knows: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(entry) for entry in value]
    if isinstance(value, float | np.floating):
        return float(value) if isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
