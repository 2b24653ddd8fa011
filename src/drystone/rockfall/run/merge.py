"""Merge the parts of all chunks, in their order, into the tables, maps and rasters of a study."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from drystone.rockfall.engine.records import AT_REST
from drystone.rockfall.engine.roll import VALUES
from drystone.rockfall.results.ascii_grid import write_ascii_grid
from drystone.rockfall.results.cell_statistics import cell_bands
from drystone.rockfall.results.cells import CellTable
from drystone.rockfall.results.gis_project import write_gis
from drystone.rockfall.results.hazard import hazard_names, hazard_of
from drystone.rockfall.results.rasters import RasterWriter, cover_name
from drystone.rockfall.results.summary import summarise_study, write_summary
from drystone.rockfall.results.tables import FILES, MapWriter, TableWriter
from drystone.rockfall.run.chunk import split_cells
from drystone.rockfall.run.part_files import read_part, write_whole
from drystone.rockfall.run.plan import Plan
from drystone.rockfall.study.cover import Cover


def merge_parts(paths: list[Path], plan: Plan, out: Path, cover: Cover | None = None) -> None:
    """Write all tables, the GeoPackage, the rasters and the statistics into `out`."""
    write_tables(paths, plan, out)
    write_rasters(paths, plan, out / "rasters", cover)
    write_layout(plan, out, cover)
    lines = [{"name": line.name} for line in plan.lines]
    summary = summarise_study(out, plan.count, plan.seed, list(plan.barriers), lines, plan.design)
    write_summary(out, summary)
    write_gis(out, hazard_names(plan), None if cover is None else cover.materials)


def write_tables(paths: list[Path], plan: Plan, out: Path) -> None:
    writers = {name: TableWriter(out, name, plan.origin, plan.crs) for name in FILES}
    chart = MapWriter(out, plan.origin, plan.crs, plan.barriers, plan.barrier_feet)
    try:
        for path in paths:
            part = read_part(path)
            for name, writer in writers.items():
                more = run_columns(plan, part) if name == "runs" else {}
                writer.write(part[name], more)
            chart.write(part["runs"], part["points"], part["impacts"])
        for writer in (*writers.values(), chart):
            writer.close()
    except BaseException:
        for writer in (*writers.values(), chart):
            writer.abandon()
        raise


def run_columns(plan: Plan, part: dict) -> dict[str, np.ndarray]:
    """Of each run in a part: the names of its source, rock and shape, and what was drawn for it."""
    runs = part["runs"]
    if "source" not in runs.dtype.names or not plan.sources:
        return {}
    named = {"source": plan.sources, "rock": plan.rocks, "shape": plan.shapes}
    number = {"source": runs["source"], "rock": runs["rock"], "shape": runs["rock"]}
    columns = {key: np.array(names)[number[key]] for key, names in named.items()}
    drawn = part["drawn"].reshape(len(runs), len(VALUES), len(plan.materials))
    for k, what in enumerate(VALUES):
        for m, material in enumerate(plan.materials):
            if k < 2 or drawn[:, k, m].any():
                columns[f"{what}_{material}"] = drawn[:, k, m]
    return columns


def write_layout(plan: Plan, out: Path, cover: Cover | None = None) -> None:
    """layout.json: what maps show beside the rasters, world coordinates."""
    shift = np.array(plan.origin[:2])
    lines = [{"name": x.name, "points": (x.points + shift).tolist()} for x in plan.lines]
    named = zip(plan.barriers, plan.barrier_feet, strict=True)
    barriers = [{"name": x["name"], "points": (feet + shift).tolist()} for x, feet in named]
    layout = {"lines": lines, "barriers": barriers}
    if plan.hazard is not None:
        named = hazard_names(plan).items()
        layout["hazard"] = [{"name": n, "unit": unit, "text": text} for n, (unit, text) in named]
    if cover is not None:
        layout["materials"] = cover.materials
        layout["forest"] = (cover.forest + np.tile(shift, 2)).tolist()
        layout["trees"] = (cover.trees + (*shift, 0.0, 0.0)).tolist()
    write_whole(out / "layout.json", json.dumps(layout).encode())


class _Cells:
    """The cells of all parts, one open at a time: a million runs have more parts than a process
    may have open files. They were verified when the tables were written."""

    def __init__(self, paths: list[Path]):
        self.paths = paths

    def __iter__(self) -> Iterator[CellTable]:
        for path in self.paths:
            yield split_cells(read_part(path, verify=False))


def write_rasters(paths: list[Path], plan: Plan, folder: Path, cover: Cover | None = None) -> None:
    raster = plan.raster
    runs = [read_part(path, verify=False)["runs"] for path in paths]
    ends = np.concatenate([rows["end"][np.isin(rows["reason"], AT_REST)] for rows in runs])
    known = "source" in runs[0].dtype.names
    source = np.concatenate([rows["source"] for rows in runs]) if known else np.zeros(0, int)
    hazard = hazard_of(plan, np.maximum(source, 0))
    column = np.floor((ends[:, 0] - raster.x0) / raster.cell).astype(np.int64)
    row = np.floor((ends[:, 1] - raster.y0) / raster.cell).astype(np.int64)
    inside = (column >= 0) & (column < raster.columns) & (row >= 0) & (row < raster.rows)
    cells = np.sort((row * raster.columns + column)[inside])
    more = hazard_names(plan) | ({} if cover is None else cover_name(cover.materials))
    writer = RasterWriter(folder, raster, plan.origin, plan.crs, plan.count, more)
    try:
        writer.write_terrain(plan.ground)
        if cover is not None:
            writer.write_cover(cover.codes)
        for band in cell_bands(_Cells(paths), raster, hazard=hazard):
            low, high = band.first * raster.columns, band.last * raster.columns
            here = cells[np.searchsorted(cells, low) : np.searchsorted(cells, high)] - low
            deposited = np.bincount(here, minlength=high - low).reshape(band.passages.shape)
            writer.write(band, deposited)
    except BaseException:
        writer.abandon()
        raise
    writer.close()
    if plan.ascii_grids:
        for name in writer.files:
            write_ascii_grid(folder / f"{name}.tif")
