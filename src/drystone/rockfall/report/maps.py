"""Maps of a study: hillshade, trajectories, deposition, and rasters over it."""

import numpy as np

from drystone.rockfall.report.plot_style import RUNS_SHOWN, new_figure, spread_runs
from drystone.rockfall.results.rasters import raster_names
from drystone.rockfall.results.results import Results

SUN = np.radians([315.0, 45.0])  # azimuth and height: from the north-west, as maps have it
PIXELS = 1200  # longest side of a raster in a figure; more would not be seen
MARGIN = 0.15  # of the larger side
LOGARITHMIC = ("passages", "reach_probability", "deposition")
# The rasters that a report shows, in its order.
SHOWN = (
    "reach_probability", "passages", "deposition", "velocity_p95", "kinetic_energy_p95",
    "jump_height_p95", "velocity_max", "kinetic_energy_max", "jump_height_max",
)  # fmt: skip


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


def frame_of(results: Results) -> tuple[float, float, float, float]:
    """West, east, south, north of what maps show: where rocks passed, with a margin around."""
    west, east, south, north = results.extent
    rows, columns = np.nonzero(np.isfinite(results.raster("passages")))
    if len(rows) == 0:
        return results.extent
    shape = results.raster("passages").shape
    dx, dy = (east - west) / shape[1], (north - south) / shape[0]
    left, right = west + dx * columns.min(), west + dx * (columns.max() + 1)
    low, high = north - dy * (rows.max() + 1), north - dy * rows.min()
    margin = MARGIN * max(right - left, high - low)
    return (
        max(left - margin, west), min(right + margin, east),
        max(low - margin, south), min(high + margin, north),
    )  # fmt: skip


def _base(results: Results, title: str):
    """A map with the hillshade and the lines of the study."""
    figure = new_figure((8.5, 7.5))
    panel = figure.subplots()
    west, east, south, north = results.extent
    terrain = shrink(results.raster("terrain"), np.nanmean)
    cell = (east - west) / terrain.shape[1], (north - south) / terrain.shape[0]
    if min(terrain.shape) > 1:
        panel.imshow(
            hillshade(terrain, cell), cmap="gray", extent=results.extent, vmin=-0.2, vmax=1
        )
        x = west + cell[0] * (np.arange(terrain.shape[1]) + 0.5)
        y = north - cell[1] * (np.arange(terrain.shape[0]) + 0.5)
        panel.contour(x, y, terrain, 12, colors="0.35", linewidths=0.4)
    for kind, colour in (("barriers", "tab:red"), ("lines", "tab:blue")):
        for entry in results.layout[kind]:
            points = np.array(entry["points"])
            panel.plot(*points.T, color=colour, linewidth=2)
            panel.annotate(entry["name"], points[0], color=colour, fontsize=8)
    left, right, low, high = frame_of(results)
    panel.set_xlim(left, right)
    panel.set_ylim(low, high)
    panel.set_aspect("equal")
    panel.ticklabel_format(useOffset=False, style="plain")
    panel.tick_params(axis="x", rotation=30)
    panel.set_xlabel("east [m]")
    panel.set_ylabel("north [m]")
    panel.set_title(title)
    return figure, panel


def draw_trajectories(results: Results):
    """Some trajectories, all deposition points."""
    runs = results.table("runs", ["run", "end_x_m", "end_y_m"])
    shown = spread_runs(len(runs["run"]))
    note = "" if len(shown) == len(runs["run"]) else f", {RUNS_SHOWN} of {len(runs['run'])} shown"
    figure, panel = _base(results, f"Trajectories{note}, and where rocks came to rest")
    points = results.table("points", ["run", "x_m", "y_m"], shown)
    cuts = np.flatnonzero(np.diff(points["run"])) + 1
    for x, y in zip(np.split(points["x_m"], cuts), np.split(points["y_m"], cuts), strict=True):
        panel.plot(x, y, color="tab:orange", linewidth=0.5, alpha=0.6)
    panel.plot(runs["end_x_m"], runs["end_y_m"], ".", color="black", markersize=2)
    return figure


def draw_raster(results: Results, name: str):
    """One raster over the hillshade."""
    from matplotlib.colors import LogNorm

    unit, text = raster_names()[name]
    figure, panel = _base(results, text[:1].upper() + text[1:])
    panel.title.set_fontsize(9)
    values = shrink(results.raster(name), np.nanmax)
    values = np.where(values > 0.0, values, np.nan)
    known = values[np.isfinite(values)]
    scale = None
    if name in LOGARITHMIC and len(known) and known.max() > known.min():
        scale = LogNorm(known.min(), known.max())
    image = panel.imshow(
        values, cmap="turbo", extent=results.extent, alpha=0.75, norm=scale, interpolation="nearest"
    )
    if len(known):
        label = name.replace("_", " ") + ("" if unit == "1" else f" [{unit}]")
        figure.colorbar(image, ax=panel, shrink=0.8, label=label)
    return figure
