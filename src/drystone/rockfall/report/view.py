"""A study in 3D, in one HTML file: terrain, trajectories, tumbling rocks, barriers.

The page needs nothing else and no network: its data are in it, and its script speaks WebGL itself.
Rocks are drawn as boxes of their volume in the orientation that was recorded; the terrain is
thinned to what a browser draws smoothly.
"""

import base64
import json
from html import escape
from pathlib import Path

import numpy as np

from drystone.model.checks import integer, of_kind
from drystone.model.signatures import public
from drystone.rockfall.engine.barriers import mitres
from drystone.rockfall.report.inputs import part_of_barrier, report_title
from drystone.rockfall.report.maps import frame_of, shrink
from drystone.rockfall.report.plot_style import spread_runs
from drystone.rockfall.report.view_page import VIEW_PAGE
from drystone.rockfall.results.results import Results
from drystone.rockfall.run.part_files import write_whole

NAME = "view.html"
SIDE = 400  # nodes along the longer side of the terrain
MOST_POINTS = 400_000  # of trajectories, 52 bytes each
MOST_TREES = 20_000  # 1.3 kB of a graphics card each
TREE = 10.0  # [m] in results that do not know the heights of their trees


@public
def write_view(results: Results, runs: int = 200) -> Path:
    """Write view.html into the folder of the results; `runs` trajectories at most."""
    of_kind("results", results, Results, "Results, such as Results(folder)")
    integer("runs", runs, 1)
    path = results.folder / NAME
    page = VIEW_PAGE.replace("__TITLE__", escape(report_title(results.manifest)))
    ground = _terrain(results)
    centre = ground["centre"]
    data = {**ground, **_paths(results, runs, centre), "barriers": _barriers(results, centre),
            "trees": _trees(results, centre), "yaw": _from_below(results)}  # fmt: skip
    # "</" would end the script.
    write_whole(path, page.replace("__DATA__", json.dumps(data).replace("</", "<\\/")).encode())
    return path


def _packed(values) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype="<f4").tobytes()).decode()


def _terrain(results: Results) -> dict:
    """Heights in the frame of the maps, and the point that all coordinates count from."""
    west, east, south, north = results.extent
    left, right, low, high = frame_of(results)
    heights = results.raster("terrain")
    rows, columns = heights.shape
    dx, dy = (east - west) / columns, (north - south) / rows
    j0, j1 = int((left - west) / dx), int(np.ceil((right - west) / dx))
    i0, i1 = int((north - high) / dy), int(np.ceil((north - low) / dy))
    cut = heights[i0:i1, j0:j1]
    block = -(-max(cut.shape) // SIDE)
    thin = shrink(cut, np.nanmean, SIDE)
    centre = [0.5 * (left + right), 0.5 * (low + high), float(np.nanmean(thin))]
    first = [
        west + (j0 + 0.5 * block) * dx - centre[0],
        north - (i0 + 0.5 * block) * dy - centre[1],
    ]
    filled = np.where(np.isfinite(thin), thin - centre[2], -1e9)
    return {
        "centre": centre, "rows": thin.shape[0], "columns": thin.shape[1],
        "step": [block * dx, block * dy], "first": first, "heights": _packed(filled),
    }  # fmt: skip


def _from_below(results: Results) -> float:
    """Where the camera stands at first: down the way of the rocks [rad], 0 in the south. From
    behind, a slope shows its underside."""
    ways = ("end_x_m", "start_x_m", "end_y_m", "start_y_m")
    x1, x0, y1, y0 = results.table("runs", list(ways)).values()
    east, north = float(np.mean(x1 - x0)), float(np.mean(y1 - y0))
    return float(np.arctan2(east, -north)) + 0.3  # a little from the side


def _paths(results: Results, runs: int, centre: list[float]) -> dict:
    columns = ["run", "t_s", "x_m", "y_m", "z_m", "vx_m_s", "vy_m_s", "vz_m_s",
               "translational_energy_J", "rotational_energy_J"]  # fmt: skip
    shown = spread_runs(results.manifest["runs"], runs)
    turned = "qw" in results.columns("points")
    points = results.table("points", columns + (["qw", "qx", "qy", "qz"] if turned else []), shown)
    every = -(-len(points["run"]) // MOST_POINTS)
    last = np.append(np.diff(points["run"]) != 0, True)
    keep = (np.arange(len(last)) % every == 0) | last
    points = {name: column[keep] for name, column in points.items()}
    speed = np.sqrt(sum(points[f"v{axis}_m_s"] ** 2 for axis in "xyz"))
    energy = 1e-3 * (points["translational_energy_J"] + points["rotational_energy_J"])
    turn = (
        [points[q] for q in ("qw", "qx", "qy", "qz")]
        if turned
        else [np.ones(len(speed)), *[0 * speed] * 3]
    )
    table = np.column_stack([
        points["x_m"] - centre[0], points["y_m"] - centre[1], points["z_m"] - centre[2],
        points["t_s"], speed, energy, *turn,
    ])  # fmt: skip
    first = np.concatenate([[0], np.flatnonzero(np.diff(points["run"])) + 1])
    number = points["run"][first] if len(points["run"]) else np.zeros(0, int)
    mass = results.table("runs", ["run", "mass_kg"])
    size = (mass["mass_kg"][np.searchsorted(mass["run"], number)] / 2670.0) ** (1.0 / 3.0)
    if "volume_m3" in results.columns("runs"):
        volume = results.table("runs", ["volume_m3"])["volume_m3"]
        size = np.cbrt(volume[np.searchsorted(mass["run"], number)])
    return {
        "points": _packed(table), "count": len(table),
        "starts": first.tolist() if len(table) else [],
        "runs": number.tolist(), "sizes": np.round(size, 3).tolist(),
    }  # fmt: skip


def _barriers(results: Results, centre: list[float]) -> list:
    """Feet of each on the ground, and its top edge."""
    found = []
    for entry, label in zip(
        results.layout["barriers"], results.statistics["barriers"], strict=True
    ):
        feet, height = np.array(entry["points"], dtype=float), label["height_m_nominal"]
        part = part_of_barrier(entry["name"], results.manifest["study"])
        lean = np.radians(part.get("inclination_deg") or 0.0)
        feet = np.column_stack([feet, _heights_at(results, feet[:, 0], feet[:, 1], centre[2])])
        top = feet + (0.0, 0.0, height * np.cos(lean))
        if lean and len(feet) > 1:
            top[:, :2] += height * np.sin(lean) * mitres(feet[:, :2])
        found.append({"name": entry["name"], "feet": np.round(feet - centre, 2).tolist(),
                      "top": np.round(top - centre, 2).tolist()})  # fmt: skip
    return found


def _trees(results: Results, centre: list[float]) -> dict:
    """Trunks: foot, radius and height of each; some of them evenly, where there are too many."""
    trees = np.array(
        [[*tree, TREE][:4] for tree in results.layout.get("trees") or ()], dtype=float
    ).reshape(-1, 4)
    shown = trees[spread_runs(len(trees), MOST_TREES)] if len(trees) else trees
    x, y, diameter, height = shown.T
    feet = np.column_stack([x, y, _heights_at(results, x, y, centre[2])]) - centre
    packed = _packed(np.column_stack([feet, 0.5 * diameter, height]))
    return {"count": len(shown), "all": len(trees), "trunks": packed}


def _heights_at(results: Results, x, y, missing: float) -> np.ndarray:
    """Of the ground in the cells of points; `missing` in holes."""
    heights, (west, east, south, north) = results.raster("terrain"), results.extent
    rows, columns = heights.shape
    column = np.clip((x - west) * columns / (east - west), 0, columns - 1).astype(int)
    row = np.clip((north - y) * rows / (north - south), 0, rows - 1).astype(int)
    return np.nan_to_num(heights[row, column], nan=missing)
