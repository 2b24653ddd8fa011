"""What `drystone rockfall bench` and `penetration` print: tables, JSON, and how far they are."""

import json
import platform
from pathlib import Path

from drystone.errors import InputError
from drystone.model.checks import choice
from drystone.model.files import write_text
from drystone.rockfall.bench import penetration_study as study
from drystone.rockfall.bench import rates
from drystone.rockfall.bench.random_trials import ROCKS, default_terrain, read_terrain
from drystone.rockfall.run.montecarlo import worker_count
from drystone.world.io.text_table import text_table

SAY_EVERY = 500  # runs between two lines, where there is no terminal for a progress bar


def run_rates(terrain, count, factors, rocks, threads, repeat, json_file, screen, results) -> None:
    """Time all rows, print a table, write them as JSON."""
    sizes = [_factor(text) for text in factors]
    for rock in rocks:
        choice("--rocks", rock, ROCKS)
    slope, threads = _terrain(terrain, screen), worker_count(threads)
    rows, head = [], {"terrain": slope.name, "threads": threads, "machine": platform.processor()}
    with screen.status("Compiling ...") as status:
        for row in rates.rate_rows(slope, count, threads, sizes, rocks, repeat):
            rows.append(row)
            _write(json_file, head | {"rows": rows})
            text = f"{row['triangles']:,} triangles, {row['rock']}: {row['rate']:.0f} runs/s"
            status.update(text)
            if not screen.is_terminal:
                screen.print(text, markup=False)
    title = f"Trajectories a second on {slope.name}, {threads} threads"
    results.print(title, style="bold", soft_wrap=True)
    results.print(text_table(rows, rates.COLUMNS), markup=False, soft_wrap=True)


def _factor(text: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if factor not in (2.0**k for k in range(-5, 6)):
        raise InputError(f"--factors {text!r}: must be a power of two from 1/32 to 32.")
    return factor


def run_penetration(terrain, runs, seed, workers, json_file, screen, results) -> bool:
    """Roll and measure, print a table; whether nothing penetrated, tunnelled or failed."""
    from rich.progress import Progress

    terrain = terrain or default_terrain()
    slope, workers = _terrain(terrain, screen), worker_count(workers)
    figures, said = [], 0
    with Progress(console=screen) as bar:
        task = bar.add_task("Compiling, first runs", total=runs)
        for part in study.penetration_runs(terrain, runs, seed, workers):
            figures += part
            worst = max(figure.depth for figure in figures)
            below = sum(figure.height < 0.0 for figure in figures)
            text = f"worst depth {worst:+.1e} of the size, {below} tunnelled"
            bar.update(task, completed=len(figures), description=text)
            if not screen.is_terminal and len(figures) - said >= SAY_EVERY:
                said = len(figures)
                screen.print(f"{said} of {runs} runs: {text}", markup=False)
    rows = study.summarise_runs(figures)
    _write(json_file, {"terrain": slope.name, "runs": runs, "seed": seed, "rows": rows})
    title = f"{runs} random rocks on {slope.name}, seed {seed}; a depth below 0 is a gap"
    results.print(title, style="bold", soft_wrap=True)
    results.print(text_table(rows, study.COLUMNS), markup=False, soft_wrap=True)
    ends = ", ".join(f"{n} {reason}" for reason, n in rows[-1]["reasons"].items())
    results.print(f"  ended: {ends}", markup=False, soft_wrap=True)
    return not any(rows[-1][key] for key in ("penetrated", "tunnelled", "failed"))


def _terrain(path: Path | None, screen):
    path = path or default_terrain()
    if path is None:
        screen.print(
            "No elevation model was found (see --terrain): the synthetic valley is used instead.",
            style="yellow",
        )
    return read_terrain(path)


def _write(path: Path | None, content: dict) -> None:
    if path is not None:
        write_text(path, json.dumps(content, indent=1) + "\n")
