"""Maps of a study: hillshade, inputs, trajectories, deposition, and rasters over it.

Every map has a scale bar, a north arrow, a legend and the name of its reference system. In maps of
statistics, cells that few runs passed are pale: a percentile of three values says little.
"""

from functools import lru_cache
from textwrap import fill

import numpy as np

from drystone.rockfall.report.inputs import system_name
from drystone.rockfall.report.plot_style import new_figure, spread_runs
from drystone.rockfall.results.gis_project import LEVEL_COLOURS, material_colour
from drystone.rockfall.results.hazard import LEVELS
from drystone.rockfall.results.rasters import raster_names
from drystone.rockfall.results.results import Results

SUN = np.radians([315.0, 45.0])  # azimuth and height: from the north-west, as maps have it
PIXELS = 900  # longest side of a raster in a figure; more would not be seen
MARGIN = 0.15  # of the larger side
TITLE = 95  # characters of a line above a map
CORNER = 0.08  # of a side of a map: no label of its axis is nearer to a corner
FEW = 5  # passages below which a cell is pale
LOGARITHMIC = ("passages", "reach_probability", "deposition")
# The rasters that a report shows, in its order.
SHOWN = (
    "reach_probability", "passages", "deposition", "velocity_p95", "kinetic_energy_p95",
    "jump_height_p95", "velocity_max", "kinetic_energy_max", "jump_height_max",
)  # fmt: skip
REST, LOST = "came to rest", "did not come to rest"
FOREST = "#0b6623"
COLOURS = {"barriers": "#c00000", "lines": "#0050b0", "sources": "#7a1fa2"}
WORDS = {"barriers": "barrier", "lines": "check line", "sources": "source"}


def hillshade(height: np.ndarray, cell: tuple[float, float]) -> np.ndarray:
    """Light on a surface (northern row first), 0 to 1, NaN where it is unknown."""
    south, east = np.gradient(height, cell[1], cell[0])
    normal = np.stack([-east, south, np.ones_like(height)])  # rows run to the south
    normal /= np.linalg.norm(normal, axis=0)
    azimuth, up = SUN
    sun = np.array([np.cos(up) * np.sin(azimuth), np.cos(up) * np.cos(azimuth), np.sin(up)])
    return np.clip(np.tensordot(sun, normal, 1), 0.0, 1.0)


def shrink(values: np.ndarray, reduce, pixels: int = PIXELS) -> np.ndarray:
    """Blocks of cells reduced to one, so that a figure has few pixels; NaN do not count."""
    block = -(-max(values.shape) // pixels)
    if block == 1:
        return values
    padded = [(0, -side % block) for side in values.shape]
    values = np.pad(values, padded, constant_values=np.nan)
    rows, columns = (side // block for side in values.shape)
    blocks = values.reshape(rows, block, columns, block)
    empty = np.isnan(blocks).all(axis=(1, 3))
    safe = np.where(empty[:, None, :, None], 0.0, blocks)
    return np.where(empty, np.nan, reduce(safe, axis=(1, 3)))


@lru_cache(maxsize=1)
def frame_of(results: Results) -> tuple[float, float, float, float]:
    """West, east, south, north of what maps show: where rocks passed, with a margin around."""
    west, east, south, north = results.extent
    passages = results.raster("passages")
    rows, columns = np.nonzero(np.isfinite(passages))
    if len(rows) == 0:
        return results.extent
    dx, dy = (east - west) / passages.shape[1], (north - south) / passages.shape[0]
    left, right = west + dx * columns.min(), west + dx * (columns.max() + 1)
    low, high = north - dy * (rows.max() + 1), north - dy * rows.min()
    margin = MARGIN * max(right - left, high - low)
    return (
        max(left - margin, west), min(right + margin, east),
        max(low - margin, south), min(high + margin, north),
    )  # fmt: skip


@lru_cache(maxsize=1)
def _ground(results: Results):
    """What all maps show below: heights, light, and places of the heights."""
    west, east, south, north = results.extent
    terrain = shrink(results.raster("terrain"), np.nanmean)
    cell = (east - west) / terrain.shape[1], (north - south) / terrain.shape[0]
    light = hillshade(terrain, cell) if min(terrain.shape) > 1 else None
    x = west + cell[0] * (np.arange(terrain.shape[1]) + 0.5)
    y = north - cell[1] * (np.arange(terrain.shape[0]) + 0.5)
    return terrain, light, x, y


def _base(results: Results, title: str, below=None):
    """A map with the hillshade and the lines of the study.

    below   draws on the panel before the lines, and gives its entries of the legend
    """
    figure = new_figure((8.5, 7.2))
    panel = figure.subplots()
    terrain, light, x, y = _ground(results)
    if light is not None:
        panel.imshow(light, cmap="gray", extent=results.extent, vmin=-0.2, vmax=1)
        levels = panel.contour(x, y, terrain, 10, colors="0.3", linewidths=0.4)
        for label in panel.clabel(levels, levels.levels[::2], fontsize=6, fmt="%.0f m"):
            label.set_path_effects([_halo()])  # dark on a dark slope it could not be read
    left, right, low, high = frame_of(results)
    handles = below(panel) if below is not None else {}
    for kind in ("barriers", "lines"):
        for entry in results.layout[kind]:
            _draw_line(panel, entry, COLOURS[kind], (left, right, low, high))
            handles[WORDS[kind]] = {"color": COLOURS[kind], "linewidth": 2.2}
    panel.set_xlim(left, right)
    panel.set_ylim(low, high)
    panel.set_aspect("equal")
    panel.set_xticks(_ticks(left, right))
    panel.set_yticks(_ticks(low, high))
    panel.ticklabel_format(useOffset=False, style="plain")
    panel.tick_params(labelsize=7)
    panel.tick_params(axis="y", rotation=90)
    panel.set_xlabel(f"east [m], {_system(results)}", fontsize=8)
    panel.set_ylabel("north [m]", fontsize=8)
    # Filled by hand: with wrap=True the layout shrinks the map around a title of one line.
    panel.set_title(fill(title, TITLE), fontsize=9)
    _scale_bar(panel, left, right, low, high)
    _north_arrow(panel)
    return figure, panel, handles


def _ticks(low: float, high: float) -> np.ndarray:
    """Round places away from the ends: labels of both axes would meet in the corner."""
    from matplotlib.ticker import MaxNLocator

    away = CORNER * (high - low)
    places = MaxNLocator(nbins=5, steps=[1, 2, 5, 10]).tick_values(low, high)
    return places[(places > low + away) & (places < high - away)]


def _system(results: Results) -> str:
    return system_name(results.manifest)


def _draw_line(panel, entry: dict, colour: str, frame) -> None:
    """A line with its name beside its middle, on white, where the map shows it."""
    points = np.array(entry["points"], dtype=float)
    panel.plot(*points.T, color=colour, linewidth=2.2, solid_capstyle="butt")
    left, right, low, high = frame
    share = np.linspace(0.0, len(points) - 1.0, 201)  # along the line, for the middle of what shows
    points = np.column_stack(
        [np.interp(share, np.arange(len(points)), points[:, k]) for k in range(2)]
    )
    x, y = points.T
    inside = np.flatnonzero((x >= left) & (x <= right) & (y >= low) & (y <= high))
    if len(inside):
        box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": colour, "lw": 0.6, "alpha": 0.85}
        panel.annotate(
            entry["name"], points[inside[len(inside) // 2]], xytext=(0, 6), ha="center",
            textcoords="offset points", color=colour, fontsize=7, bbox=box, zorder=6,
        )  # fmt: skip


def _scale_bar(panel, left, right, low, high) -> None:
    width = right - left
    length = 10.0 ** np.floor(np.log10(0.3 * width))
    length *= max(k for k in (1.0, 2.0, 5.0) if k * length <= 0.3 * width or k == 1.0)
    x, y = left + 0.04 * width, low + 0.035 * (high - low)
    thick = 0.012 * (high - low)
    for k in range(2):
        colour = "black" if k == 0 else "white"
        panel.add_patch(_rectangle((x + 0.5 * k * length, y), 0.5 * length, thick, colour))
    text = f"{length:g} m" if length < 2000.0 else f"{length * 1e-3:g} km"
    box = {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8}
    panel.annotate(text, (x + length, y + 0.5 * thick), xytext=(4, 0), fontsize=7, va="center",
                   textcoords="offset points", bbox=box, zorder=7)  # fmt: skip


def _halo():
    from matplotlib.patheffects import withStroke

    return withStroke(linewidth=1.6, foreground="white", alpha=0.85)


def _rectangle(corner, width, height, colour):
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor=colour, edgecolor="black", lw=0.6, zorder=7)


def _north_arrow(panel) -> None:
    panel.annotate(
        "N", (0.965, 0.975), xytext=(0.965, 0.88), xycoords="axes fraction", ha="center",
        fontsize=10, fontweight="bold", zorder=8,
        arrowprops={"arrowstyle": "-|>", "facecolor": "black", "lw": 1.5},
        bbox={"boxstyle": "round,pad=0.2", "fc": "white", "ec": "none", "alpha": 0.8},
    )  # fmt: skip


def _legend(panel, handles: dict) -> None:
    from matplotlib.lines import Line2D

    if handles:
        lines = [Line2D([], [], label=name, **style) for name, style in handles.items()]
        # Below the map: in a corner of it, it hid the ends of barriers.
        panel.figure.legend(handles=lines, fontsize=7, loc="outside lower center", ncols=5)


def draw_inputs(results: Results):
    """What the study is about: ground, trees, where rocks started, barriers and lines."""
    runs = results.table("runs", ["start_x_m", "start_y_m"])
    title = "Terrain and what covers it, starts of the runs, barriers, check lines"
    figure, panel, handles = _base(results, title, lambda panel: _draw_cover(panel, results))
    colour = COLOURS["sources"]
    panel.plot(runs["start_x_m"], runs["start_y_m"], ".", color=colour, markersize=2.5)
    handles["start of a run"] = {"color": colour, "marker": ".", "linestyle": ""}
    _legend(panel, handles)
    return figure


def _draw_cover(panel, results: Results) -> dict:
    """Materials as colours, forest zones as outlines, trees as dots; and their legend."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap

    layout, handles = results.layout, {}
    materials = layout.get("materials") or []
    if materials:
        codes = shrink(results.raster("material"), np.max)
        colours = ListedColormap([material_colour(k) for k in range(len(materials))])
        panel.imshow(codes, cmap=colours, vmin=-0.5, vmax=len(materials) - 0.5, alpha=0.55,
                     extent=results.extent, interpolation="nearest")  # fmt: skip
        for k in np.unique(codes[np.isfinite(codes)]).astype(int):
            handles[materials[k]] = {"color": material_colour(k), "marker": "s", "linestyle": ""}
    if layout.get("forest"):
        edges = np.array(layout["forest"]).reshape(-1, 2, 2)
        panel.add_collection(LineCollection(edges, colors=FOREST, linewidths=1.4, linestyles="--"))
        handles["forest zone"] = {"color": FOREST, "linewidth": 1.4, "linestyle": "--"}
    if layout.get("trees"):
        panel.plot(*np.array(layout["trees"]).T[:2], ".", color=FOREST, markersize=2)
        handles["tree"] = {"color": FOREST, "marker": ".", "linestyle": ""}
    return handles


def draw_trajectories(results: Results):
    """Some trajectories, and where all runs ended: at rest or not."""
    runs = results.table("runs", ["run", "end_x_m", "end_y_m", "reason"])
    rests = results.rested
    points = results.table("points", ["run", "x_m", "y_m"], spread_runs(len(runs["run"])))
    drawn = len(np.unique(points["run"]))
    note = "" if drawn == len(runs["run"]) else f", {drawn} of {len(runs['run'])} shown"
    figure, panel, handles = _base(results, f"Trajectories{note}, and where the runs ended")
    cuts = np.flatnonzero(np.diff(points["run"])) + 1
    for x, y in zip(np.split(points["x_m"], cuts), np.split(points["y_m"], cuts), strict=True):
        panel.plot(x, y, color="#e07b00", linewidth=0.5, alpha=0.6)
    x, y = runs["end_x_m"], runs["end_y_m"]
    panel.plot(x[rests], y[rests], ".", color="black", markersize=2)
    panel.plot(x[~rests], y[~rests], "x", color="#c00000", markersize=3)
    handles["trajectory"] = {"color": "#e07b00"}
    handles[REST] = {"color": "black", "marker": ".", "linestyle": ""}
    if not rests.all():
        handles[LOST] = {"color": "#c00000", "marker": "x", "linestyle": ""}
    _legend(panel, handles)
    return figure


def draw_raster(results: Results, name: str):
    """One raster over the hillshade."""
    from matplotlib.colors import LogNorm

    unit, text = (raster_names() | results.hazard_names)[name]
    figure, panel, handles = _base(results, text[:1].upper() + text[1:])
    values = shrink(results.raster(name), np.nanmax)
    if name == "hazard_level":
        _draw_levels(panel, values, results.extent, handles)
        return figure
    values = np.where(values > 0.0, values, np.nan)
    known = values[np.isfinite(values)]
    scale = None
    if name in LOGARITHMIC and len(known) and known.max() > known.min():
        scale = LogNorm(known.min(), known.max())
    alpha = 0.8
    if name not in LOGARITHMIC:
        few = shrink(results.raster("passages"), np.nanmax) < FEW
        alpha = np.where(few, 0.3, 0.85)
        handles[f"pale: fewer than {FEW} runs"] = {
            "color": "0.6", "marker": "s", "linestyle": "", "alpha": 0.5,
        }  # fmt: skip
    image = panel.imshow(
        values, cmap="turbo", extent=results.extent, alpha=alpha, norm=scale,
        interpolation="nearest",
    )  # fmt: skip
    if not len(known):
        box = {"boxstyle": "round", "fc": "white", "ec": "0.6"}
        place = {"ha": "center", "va": "center", "transform": panel.transAxes}
        panel.text(0.5, 0.55, "no cell has a value above 0", bbox=box, fontsize=9, **place)
    if len(known):
        label = name.replace("_", " ") + ("" if unit == "1" else f" [{unit}]")
        colours = figure.colorbar(image, ax=panel, shrink=0.8, alpha=1.0)
        colours.set_label(label, fontsize=8)
        if scale is not None:
            _plain_ticks(colours)
        colours.ax.tick_params(labelsize=7)
    _legend(panel, handles)
    return figure


def _plain_ticks(colours) -> None:
    """1, 2, 5, 10 ... instead of powers of ten, of which a short scale shows one."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = colours.ax.yaxis
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def _draw_levels(panel, values, extent, handles: dict) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    colours = ListedColormap(list(LEVEL_COLOURS.values()))
    norm = BoundaryNorm([0.5, 1.5, 2.5, 3.5, 4.5], 4)
    panel.imshow(values, cmap=colours, norm=norm, extent=extent, alpha=0.8, interpolation="nearest")
    for level, words in LEVELS.items():
        handles[words] = {"color": LEVEL_COLOURS[level], "marker": "s", "linestyle": ""}
    _legend(panel, handles)
