"""Profiles, histograms and convergence of a study; and all figures by name, as PNG."""

import io
from pathlib import Path

import numpy as np

from drystone.rockfall.optional_packages import load
from drystone.rockfall.report.maps import SHOWN, draw_inputs, draw_raster, draw_trajectories
from drystone.rockfall.report.plot_style import new_figure, spread_runs
from drystone.rockfall.results.barrier_curves import passages_of, stopped_share
from drystone.rockfall.results.energy_line import line_angle
from drystone.rockfall.results.percentiles import bootstrap_band, largest_per_run
from drystone.rockfall.results.results import Results
from drystone.rockfall.run.part_files import write_whole

DPI = 110
CURVE_HEIGHTS = (2.0, 3.0, 4.0, 5.0, 7.0)  # [m] of the nets whose curves are drawn
CURVE_CAPACITIES = (100.0, 500.0, 1000.0, 2000.0, 5000.0)  # [kJ]
PROFILES = 80  # trajectories in the profile
STEPS = 30  # numbers of runs at which convergence is looked at
HISTOGRAMS = (  # column of `runs`, factor to the unit, heading
    ("max_speed_m_s", 1.0, "largest velocity [m/s]"),
    ("max_energy_J", 1e-3, "largest kinetic energy [kJ]"),
    ("max_height_m", 1.0, "largest height above ground [m]"),
    ("path_m", 1.0, "length of the way in plan [m]"),
    ("duration_s", 1.0, "duration [s]"),
    ("mass_kg", 1e-3, "mass [t]"),
)


def draw_profile(results: Results):
    """Heights of trajectories over the way they went, in plan; the ground below the longest."""
    runs = results.table("runs", ["run", "path_m"])
    shown = sorted({*spread_runs(len(runs["run"]), PROFILES), int(np.argmax(runs["path_m"]))})
    points = results.table("points", ["run", "x_m", "y_m", "z_m", "height_m"], shown)
    kept = np.unique(points["run"])  # of some runs no points may be stored
    longest = int(kept[np.argmax(runs["path_m"][kept])]) if len(kept) else -1
    figure = new_figure((9, 4.8))
    panel = figure.subplots()
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(points["run"])) + 1, [len(points["run"])]])
    for first, last in zip(cuts[:-1], cuts[1:], strict=True):
        if first == last:
            continue
        x, y, z, height = (points[k][first:last] for k in ("x_m", "y_m", "z_m", "height_m"))
        way = np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])
        panel.plot(way, z, color="tab:orange", linewidth=0.5, alpha=0.6)
        if points["run"][first] == longest:
            _longest(panel, way, x, y, z, height)
    panel.set_xlabel("way in plan [m]")
    panel.set_ylabel("height [m]")
    panel.set_title(f"{len(kept)} trajectories over their way; the longest with its ground")
    if len(kept):
        panel.legend(fontsize=8)
    panel.grid(alpha=0.3)
    return figure


def _longest(panel, way, x, y, z, height) -> None:
    panel.plot(way, z, color="black", linewidth=1, label="longest run")
    panel.plot(way, z - height, color="tab:green", linewidth=1.5, label="ground below it")
    ends = np.array([[x[0], y[0], z[0]], [x[-1], y[-1], z[-1]]])
    label = f"from start to end; reach angle {line_angle(ends[0], ends[1]):.1f} degrees"
    panel.plot(way[[0, -1]], z[[0, -1]], "--", color="tab:blue", linewidth=1, label=label)


def draw_histograms(results: Results):
    """Distributions over runs, with the 95 % percentile and its band."""
    figure = new_figure((11, 6.2))
    for panel, (column, factor, heading) in zip(
        figure.subplots(2, 3).ravel(), HISTOGRAMS, strict=True
    ):
        values = results.table("runs", [column])[column] * factor
        draw_distribution(panel, values, heading, results.manifest["seed"])
    figure.suptitle(f"{results.manifest['runs']} runs; line and band: 95 % percentile")
    return figure


def draw_distribution(panel, values, heading: str, seed: int) -> None:
    values = values[np.isfinite(values)]
    panel.set_xlabel(heading)
    if len(values) == 0:
        panel.text(0.5, 0.5, "no values", ha="center", transform=panel.transAxes)
        return
    panel.hist(values, bins=min(40, max(5, int(np.sqrt(len(values))))), color="tab:gray")
    low, high = bootstrap_band(values, 0.95, seed)
    panel.axvspan(low, high, color="tab:red", alpha=0.25)
    panel.axvline(np.quantile(values, 0.95), color="tab:red")
    share = panel.twinx()
    share.plot(np.sort(values), (np.arange(len(values)) + 1) / len(values), color="tab:blue")
    share.set_ylim(0, 1.02)
    share.tick_params(labelsize=7)
    share.set_ylabel("share of these runs", fontsize=7)
    panel.set_ylabel("runs")


def draw_place(results: Results, kind: str, number: int, name: str):
    """Velocity, energy and height at one barrier (`crossings`) or check line (`lines`)."""
    table = results.table(kind)
    here = table["barrier" if kind == "crossings" else "line"] == number
    run = table["run"][here]
    speed = np.sqrt(sum(table[f"v{axis}_m_s"][here] ** 2 for axis in "xyz"))
    figure = new_figure((11, 3.4))
    quantities = (
        (speed, "velocity [m/s]"),
        (table["energy_J"][here] * 1e-3, "kinetic energy [kJ]"),
        (table["height_m"][here], "height of the centre of mass [m]"),
    )
    for panel, (values, heading) in zip(figure.subplots(1, 3), quantities, strict=True):
        draw_distribution(panel, largest_per_run(run, values), heading, results.manifest["seed"])
    figure.suptitle(f"{name}: {len(np.unique(run))} of {results.manifest['runs']} runs")
    return figure


def draw_barrier(results: Results, number: int, passages):
    """What nets of other heights and capacities would stop here, and where along the line."""
    figure = new_figure((11, 4.0))
    left, middle, right = figure.subplots(1, 3)
    capacities = np.geomspace(10.0, 10_000.0, 60)
    for height in CURVE_HEIGHTS:
        shares = [stopped_share(passages, height, 1e3 * c) for c in capacities]
        left.plot(capacities, shares, label=f"{height:g} m high")
    left.set_xscale("log")
    left.set_xlabel("capacity [kJ]")
    heights = np.linspace(0.5, 12.0, 60)
    for capacity in CURVE_CAPACITIES:
        shares = [stopped_share(passages, h, 1e3 * capacity) for h in heights]
        middle.plot(heights, shares, label=f"{capacity:g} kJ")
    middle.set_xlabel("height of the net [m]")
    for panel in (left, middle):
        panel.set_ylabel("share stopped")
        panel.set_ylim(0.0, 1.02)
        # Beside the curves: within the panel it would cover some of them.
        panel.legend(fontsize=6.5, ncols=3, loc="upper center", bbox_to_anchor=(0.5, -0.2))
        panel.grid(alpha=0.3)
    right.hist(passages.along, bins=min(30, max(5, len(passages.run) // 10)), color="tab:gray")
    right.set_xlabel("distance along the line [m]")
    right.set_ylabel("runs")
    name = results.statistics["barriers"][number]["name"]
    figure.suptitle(f"{name}: {len(passages.run)} runs reach it", fontsize=10)
    return figure


def draw_convergence(results: Results):
    """95 % percentiles over the first n runs, with their bands: whether more runs matter."""
    figure = new_figure((11, 3.4))
    columns = (("max_speed_m_s", 1.0, "velocity [m/s]"), ("max_energy_J", 1e-3, "energy [kJ]"),
               ("max_height_m", 1.0, "height [m]"))  # fmt: skip
    for panel, (column, factor, heading) in zip(figure.subplots(1, 3), columns, strict=True):
        values = results.table("runs", [column])[column] * factor
        values = values[np.isfinite(values)]
        panel.set_xlabel("runs")
        panel.set_ylabel(f"95 % of the largest {heading}")
        if len(values) < 2:
            continue
        counts = np.unique(np.geomspace(2, len(values), STEPS).round().astype(int))
        bands = np.array([bootstrap_band(values[:n], 0.95) for n in counts])
        panel.fill_between(counts, *bands.T, color="tab:red", alpha=0.25)
        panel.plot(counts, [np.quantile(values[:n], 0.95) for n in counts], color="tab:red")
        panel.set_xscale("log")
        panel.grid(alpha=0.3)
    return figure


def draw_all(results: Results) -> dict[str, bytes]:
    """{name: PNG} of all figures of a study."""
    figures = {"map_inputs": draw_inputs(results), "map_trajectories": draw_trajectories(results)}
    for name in (*SHOWN, *results.hazard_names):
        figures[f"map_{name}"] = draw_raster(results, name)
    figures["profile"] = draw_profile(results)
    figures["histograms"] = draw_histograms(results)
    figures["convergence"] = draw_convergence(results)
    for kind, key in (("crossings", "barriers"), ("lines", "lines")):
        for number, entry in enumerate(results.statistics[key]):
            label = "barrier" if key == "barriers" else "line"
            figure = draw_place(results, kind, number, entry["name"])
            figures[f"{label}_{number + 1}"] = figure
    for number, passages in all_passages(results).items():
        if len(passages.run):
            figures[f"curves_{number + 1}"] = draw_barrier(results, number, passages)
    return {name: _png(figure) for name, figure in figures.items()}


def all_passages(results: Results) -> dict:
    """{number: Passages} of all crossing barriers."""
    barriers = results.statistics["barriers"]
    if not any(entry["kind"] == "crossing" for entry in barriers):
        return {}
    crossings, mass = results.table("crossings"), results.table("runs", ["run", "mass_kg"])
    lines = results.layout["barriers"]
    return {
        number: passages_of(crossings, mass, number, np.array(lines[number]["points"], float))
        for number, entry in enumerate(barriers)
        if entry["kind"] == "crossing"
    }


def _png(figure) -> bytes:
    content = io.BytesIO()
    figure.set_dpi(DPI)
    canvas = load("matplotlib.backends.backend_agg", "A figure").FigureCanvasAgg(figure)
    # Figure.savefig() draws all twice, the first time for the layout, which drawing makes anyway.
    # No software or date in the file: the same results give the same bytes.
    canvas.print_png(content, metadata={"Software": None})
    return content.getvalue()


def write_figures(images: dict[str, bytes], folder: Path) -> None:
    folder = Path(folder)
    folder.mkdir(exist_ok=True)
    for name, content in images.items():
        write_whole(folder / f"{name}.png", content)
