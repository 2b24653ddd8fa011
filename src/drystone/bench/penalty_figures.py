"""The experiments of PENALTY IV beside the values that the source gives: tables and figures.

    drystone bench --penalty out          # all of them; or --scenes block-penetrating,mixed-pile

block-penetrating   kinetic energy and penetration after every step (Fig. 8, 9)
block-perturbed     the same, and the mean penetration (Fig. 10, 11)
mixed-pile          whether the pile comes to rest (Fig. 13)
robots              steps a second of diff-drive and humanoid-26, beside `lemke` and `auto` (IV-D)

Each writes NAME.csv, and the first two NAME.png. The source leaves open how deep the cube begins,
how it is turned, and the mass of the ground, which counts in its rule for gains (III C). IV-A gives
gains, those of 50 kg in all; Fig. 12 a cube of 10 kg. A ground of 255 kg (SAGGING) was chosen so
that the mean penetration comes near to that of IV-B; so does (3) not divided by r, at four corners.
"""

from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import did_you_mean
from drystone.model.files import make_folder, write_text
from drystone.scenes import SCENES
from drystone.scenes.experiments.penalty import CUBE_MASS, DEEPEST, MANY
from drystone.solvers.penalty.options import Penalty
from drystone.world.io.text_table import text_table

NAMES = ("block-penetrating", "block-perturbed", "mixed-pile", "robots")
SAGGING = 255.0  # [kg] see above
ROBOT_STEPS = 2500  # IV-D

# Of PENALTY IV-D: steps a second with an LCP, with the penalty method.
SOURCE_RATES = {"diff-drive": (32.6, 80.6), "humanoid-26": (4.4, 30.7)}
SOURCE_MEANS = {"many points": 5.9e-3, "deepest point": 9.0e-2, "lemke": 1.5e-4}  # [m] IV-B
RESTING = 0.05  # [m/s] a body of the pile slower than this is at rest


def cube_course(scene: str, solver, steps: int) -> np.ndarray:
    """(steps, 2) of the cube of `scene`: kinetic energy [J] and penetration [m] after each."""
    world = SCENES[scene].build(solver=solver)
    cube, course = world["cube"], np.empty((steps, 2))
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    for k in range(steps):
        world.step()
        w, x, y, z = cube.orientation
        down = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        lowest = cube.position[2] + float((corners @ down).min())
        course[k] = world.energy().kinetic, max(0.0, -lowest)
    return course


def penetrating_courses(steps: int = 3000) -> dict[str, np.ndarray]:
    """IV-A: many points and the deepest point, each with its gains of the source."""
    return {
        "many points": cube_course("block-penetrating", MANY, steps),
        "deepest point": cube_course("block-penetrating", DEEPEST, steps),
    }


def perturbed_courses(steps: int = 10_000) -> dict[str, np.ndarray]:
    """IV-B: the same two, `lemke`, `auto`, and many points on a ground with a mass."""
    total = CUBE_MASS + SAGGING
    heavy = replace(MANY, proportional=100.0 * total, derivative=50.0 * total, integral=2.0 * total)
    undivided = replace(MANY, proportional=2e4, derivative=1e4, integral=400.0)
    methods = {
        "many points": MANY,
        f"many points, ground of {SAGGING:g} kg": heavy,
        "many points, not divided by 4": undivided,
        "deepest point": DEEPEST,
        "many points, own gains": Penalty(),
        "lemke": "lemke",
        "auto": "auto",
    }
    return {name: cube_course("block-perturbed", by, steps) for name, by in methods.items()}


def course_rows(courses: dict[str, np.ndarray], means: dict) -> list[dict]:
    """A row for each method."""
    rows = []
    for name, course in courses.items():
        last = course[-len(course) // 10 :]
        rows.append({
            "method": name,
            "mean penetration m": course[:, 1].mean(), "source": means.get(name.split(",")[0]),
            "largest m": course[:, 1].max(), "end m": course[-1, 1],
            "median energy J": np.median(course[:, 0]), "end energy J": np.median(last[:, 0]),
        })  # fmt: skip
    return rows


def pile_rows(seconds: float = 8.0) -> list[dict]:
    """IV-C: what the pile does, with the penalty method and with `auto`."""
    rows = []
    for name in ("penalty", "auto"):
        world = SCENES["mixed-pile"].build(solver=name)
        start, worst = process_time(), 0.0
        for _ in range(round(seconds / world.dt)):
            worst = max(worst, world.step().penetration)
        speed = np.array([np.linalg.norm(body.velocity) for body in world.bodies])
        inside = np.abs(world.positions[:, :2]).max() < 1.0
        rows.append({
            "method": name, "bodies": len(world), "at rest": int((speed < RESTING).sum()),
            "median m/s": np.median(speed), "kinetic J": world.energy().kinetic,
            "penetration m": world.info.penetration, "worst m": worst, "inside": bool(inside),
            "ms/step": 1e3 * (process_time() - start) / round(seconds / world.dt),
        })  # fmt: skip
    return rows


def robot_rows(steps: int = ROBOT_STEPS) -> list[dict]:
    """IV-D: steps a second of processor time, one thread each."""
    rows = []
    for scene, (lcp, penalty) in SOURCE_RATES.items():
        rates = {}
        for name in ("penalty", "lemke", "auto"):
            given = {} if name == "penalty" else {"solver": name}
            world = SCENES[scene].build(**given)
            world.step()
            start = process_time()
            for _ in range(steps):
                world.step()
            rates[name] = steps / (process_time() - start)
            rows.append({
                "robot": scene, "method": name, "steps/s": rates[name],
                "source steps/s": {"penalty": penalty, "lemke": lcp}.get(name),
                "penetration m": world.info.penetration, "residual m/s": world.info.residual,
                "x m": world.robots[0].q[0], "y m": world.robots[0].q[1],
            })  # fmt: skip
        for row in rows[-3:]:
            row["times lemke"] = row["steps/s"] / rates["lemke"]
            row["source times"] = {"penalty": penalty / lcp, "lemke": 1.0}.get(row["method"])
    return rows


def run_penalty(names, folder: Path, scale: float, screen, results) -> None:
    """Run the experiments, print the tables, write tables and figures to `folder`.

    scale   part of the steps, for a quick look
    """
    for name in names or ():
        if name not in NAMES:
            raise InputError(f"--scenes {name!r}: no such one. {did_you_mean(name, NAMES)}")
    make_folder(folder, "the results of --penalty cannot be written there")
    for name in names or NAMES:
        with screen.status(f"{name} ..."):
            rows, courses = _run(name, scale)
        results.print(name, style="bold")
        results.print(_table(rows), markup=False, soft_wrap=True)
        _write_csv(folder / f"{name}.csv", rows)
        if courses:
            _write_courses(folder / f"{name}-steps.csv", courses)
            _draw(courses, name, folder / f"{name}.png", screen)
        screen.print(f"Written to {folder}: {name}.csv", markup=False, soft_wrap=True)


def _run(name: str, scale: float) -> tuple[list[dict], dict]:
    if name == "block-penetrating":
        courses = penetrating_courses(max(10, round(3000 * scale)))
        return course_rows(courses, {}), courses
    if name == "block-perturbed":
        courses = perturbed_courses(max(10, round(10_000 * scale)))
        return course_rows(courses, SOURCE_MEANS), courses
    if name == "mixed-pile":
        return pile_rows(8.0 * scale), {}
    return robot_rows(max(10, round(ROBOT_STEPS * scale))), {}


def _columns(rows: list[dict]) -> list:
    columns = []
    for key in dict.fromkeys(key for row in rows for key in row):
        numbers = [r.get(key) for r in rows if isinstance(r.get(key), float | np.floating)]
        columns.append((key, key, "{:.4g}" if numbers else "{}"))
    return columns


def _table(rows: list[dict]) -> str:
    return text_table(rows, _columns(rows))


def _write_csv(path: Path, rows: list[dict]) -> None:
    keys = [key for key, _, _ in _columns(rows)]
    lines = [",".join(keys)]
    for row in rows:
        values = (row.get(key) for key in keys)
        lines.append(",".join("" if v is None else f'"{v}"' if "," in str(v) else str(v)
                              for v in values))  # fmt: skip
    write_text(path, "\n".join(lines) + "\n")


def _write_courses(path: Path, courses: dict) -> None:
    heads, columns = ["step"], [np.arange(1, len(next(iter(courses.values()))) + 1)]
    for name, course in courses.items():
        heads += [f'"{name}: kinetic energy J"', f'"{name}: penetration m"']
        columns += list(course.T)
    lines = [",".join(f"{v:.9g}" for v in row) for row in np.column_stack(columns)]
    write_text(path, "\n".join([",".join(heads), *lines]) + "\n")


def _draw(courses: dict, name: str, path: Path, screen) -> None:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        screen.print("No figure: it needs pip install 'drystone[plot]'.", markup=False)
        return
    figure = Figure((11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    for k, (method, course) in enumerate(courses.items()):
        left.plot(np.maximum(course[:, 0], 1e-16), label=method, color=f"C{k}", linewidth=0.8)
        right.plot(np.maximum(course[:, 1], 1e-8), color=f"C{k}", linewidth=0.8)
        if name == "block-perturbed" and method in SOURCE_MEANS:
            right.axhline(SOURCE_MEANS[method], color=f"C{k}", linestyle="--", linewidth=1)
    left.set(yscale="log", xlabel="step of 1 ms", ylabel="kinetic energy [J]", title=name)
    right.set(yscale="log", xlabel="step of 1 ms", ylabel="penetration [m], side of the cube 1 m")
    if name == "block-perturbed":
        right.set_title("dashed: means of the source")
    left.legend(fontsize="x-small")
    for axes in (left, right):
        axes.grid(alpha=0.3)
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise DrystoneError(f"{path}: the figure cannot be written ({error}).") from None
