"""Plots of a comparison, through matplotlib (the `plot` extra)."""

import io
from pathlib import Path

import numpy as np

from drystone.bench.solver_comparison import CONVERGED, Outcome, Profile
from drystone.errors import DrystoneError, InputError
from drystone.model.files import write_file

# heading of the axis, entry of the history, entry of the outcome
AXES = (
    ("iterations", "iteration", "iterations"),
    ("seconds", "seconds", "seconds"),
    ("work [Gauss-Seidel sweeps]", "work", "work"),
)
ERRORS = {  # measure: (heading of the axis, name in histories and outcomes)
    "velocity": ("residual [m/s]", "residual"),
    "relative": ("relative natural-map error", "natural_map"),
}
FLOOR = 1e-17  # an error of exactly zero has no place on a logarithmic axis


def check_plots() -> None:
    """Raise, naming the extra, if matplotlib is missing: better now than after the run."""
    _new_figure((1, 1))


def _new_figure(size):
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DrystoneError(
            "Plots need matplotlib. Install it with: pip install 'drystone[plot]', "
            "or leave the plots out with --no-plot."
        ) from None
    return Figure(size, layout="constrained")


def draw_convergence(outcomes: list[Outcome], measure: str, tolerance: float, path: Path) -> None:
    """Error of every solver on one problem against iterations, seconds and work."""
    figure = _new_figure((15, 4.6))
    heading, name = ERRORS[measure]
    shown = [o for o in outcomes if o.iterations is not None]
    panels = figure.subplots(1, len(AXES), sharey=True)
    for panel, (label, of_history, of_outcome) in zip(panels, AXES, strict=True):
        smallest = []
        for k, outcome in enumerate(shown):
            x, y = _course(outcome, of_history, of_outcome, name)
            smallest.extend(x[x > 0][:1])
            panel.plot(x, y, **_style(k), label=f"{outcome.solver} ({outcome.law})")
            panel.plot(x[-1:], y[-1:], color=_style(k)["color"], marker=_mark(outcome))
        # Linear up to the first iteration, so that the start has a place too.
        panel.set_xscale("symlog", linthresh=min(smallest, default=1.0))
        panel.set_xlim(left=0)
        panel.set_yscale("log")
        panel.axhline(tolerance, color="0.5", linestyle=":", linewidth=1)
        panel.set_xlabel(label)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel(heading)
    if shown:
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")
        figure.suptitle(f"{shown[0].problem}: {shown[0].contacts} contacts")
    write_figure(figure, path)


def _course(outcome, of_history, of_outcome, name):
    """What is drawn of one solver: its history, or its end alone if it has none."""
    if outcome.course is not None:
        x, y = getattr(outcome.course, of_history), getattr(outcome.course, name)
    else:
        x, y = [getattr(outcome, of_outcome)], [getattr(outcome, name)]
        x = [np.nan if value is None else value for value in x]
    return np.asarray(x, dtype=float), np.maximum(np.asarray(y, dtype=float), FLOOR)


def _style(k: int) -> dict:
    """Ten colours, then the same ones dashed."""
    return {"color": f"C{k % 10}", "linestyle": ("-", "--", ":")[k // 10 % 3]}


def _mark(outcome: Outcome) -> str:
    return "o" if outcome.converged == CONVERGED else "x"


def draw_profile(profile: Profile, path: Path) -> None:
    """Share of the problems solved against the factor of the best time."""
    figure = _new_figure((7.5, 5))
    axes = figure.subplots()
    ratios = np.concatenate(list(profile.ratio.values()))
    end = 1.5 * max(2.0, ratios[np.isfinite(ratios)].max(initial=1.0))
    for k, (solver, ratio) in enumerate(profile.ratio.items()):
        solved = np.sort(ratio[np.isfinite(ratio)])
        share = np.arange(1, len(solved) + 1) / len(ratio)
        x = np.concatenate(([1.0], solved, [end]))
        y = np.concatenate(([0.0], share, share[-1:] if len(solved) else [0.0]))
        axes.step(x, y, where="post", **_style(k), label=solver)
    axes.set_xscale("log")
    axes.set_xlim(1.0, end)
    axes.set_ylim(-0.02, 1.02)
    axes.set_xlabel("factor of the best time")
    axes.set_ylabel(f"share of {len(profile.problems)} problems solved")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    write_figure(figure, path)


def write_figure(figure, path: Path) -> None:
    """Draw in memory, so that a full disk leaves an older plot as it was."""
    content, kind = io.BytesIO(), path.suffix[1:] or "png"
    if kind not in figure.canvas.get_supported_filetypes():
        raise InputError(f"{path}: plots cannot be written as {kind!r}; use .png, .svg or .pdf.")
    figure.savefig(content, format=kind, dpi=120)
    write_file(path, content.getvalue(), "the plot cannot be written there")
