"""What is wrong or suspicious about a study, before it runs.

What cannot work is an error, raised as one sentence. What can work but is probably not meant is a
finding with its remedy.
"""

from typing import NamedTuple

import numpy as np

from drystone.model.checks import of_kind
from drystone.model.finding import Finding
from drystone.model.signatures import public
from drystone.rockfall.engine.event_log import FOUND
from drystone.rockfall.engine.lift_start import lift_starts
from drystone.rockfall.engine.rock import pack_rocks
from drystone.rockfall.engine.roll import start_table
from drystone.rockfall.study.scenarios import require_sense
from drystone.rockfall.study.study import Study
from drystone.rockfall.terrain.crs import crs_name, scale_at

DRAWN = 100  # runs that are drawn, to see whether rocks find a place
FEW_RUNS = 500  # 5 runs beyond the 99th percentile: fewer say little about it
SMALL_ROCK = 0.25  # of the terrain's spacing: the ground between its points is as large as the rock
OFF_SCALE = 0.01  # of the map against the ground, above which it is said
ALONE = 30.0  # [m] from the lowest or highest cells to all others: no cliff stands all around
FLOAT32 = 2.0**-23  # relative resolution of STL and most PLY files


class Checked(NamedTuple):
    rows: list[tuple[str, str]]  # what the study is: a name and a value
    findings: list[Finding]


@public
def check_study(study: Study) -> Checked:
    """All of a study but the runs; raises InputError for what cannot work."""
    slope = of_kind("study", study, Study, "a Study, as Study.load() reads it").slope
    surface, barriers = study.surface, study.barriers
    lines, zones = study.check_lines, study.forest.drag
    options = study.options
    if study.settings.scenarios:
        require_sense(study)
    from drystone.rockfall.run.plan import make_plan  # above: it knows the cells of the results

    raster = make_plan(study).raster
    samples = [study.sample(run) for run in range(min(DRAWN, study.runs.count))]
    rows = [
        ("terrain", _terrain(study)),
        ("coordinates", crs_name(slope.crs)),
        ("materials", ", ".join(study.material_names)),
        ("regions", f"{len(surface.regions.region_code)}"),
        *((f"source {r.name}", r.shape.size) for r in study.releases),
        ("rocks", _rocks(samples)),
        ("barriers", _barriers(study, barriers)),
        ("forest zones", f"{len(zones)}"),
        ("trees", f"{len(study.trees.trunks)}"),
        ("check lines", f"{len(lines)}"),
        ("runs", f"{study.runs.count}, {study.runs.sampling}, seed {study.runs.seed}"),
        ("gravity", f"{options.gravity:g} m/s²"),
        ("raster cells", f"{raster.cell:g} m, {raster.columns} x {raster.rows}"),
    ]
    findings = [finding for check in CHECKS for finding in check(study, samples)]
    order = ("error", "warning", "hint")
    return Checked(rows, sorted(findings, key=lambda finding: order.index(finding.severity)))


def _terrain(study) -> str:
    slope = study.slope
    low, high = slope.bounds
    return (
        f"{slope.name}, {len(slope.triangles):,} triangles, {high[0] - low[0]:.4g} x "
        f"{high[1] - low[1]:.4g} m, height {low[2]:.5g} to {high[2]:.5g} m"
    )


def _rocks(samples) -> str:
    mass = [rock.mass for rock, _, _ in samples]
    return f"{min(mass):.3g} to {max(mass):.3g} kg in the first {len(mass)} runs"


def _barriers(study, barriers) -> str:
    crossing = len(barriers.capacity)
    return f"{crossing} crossing, {len(study.barrier_names) - crossing} contact"


def _holes(study, samples):
    grid = study.slope.grid
    if grid is None:
        return
    from scipy import ndimage

    labels, _ = ndimage.label(np.isnan(grid.z))
    rim = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    inner = np.setdiff1d(np.unique(labels), np.append(rim, 0))
    if len(inner):
        cells = int(np.isin(labels, inner).sum())
        yield Finding(
            "warning", "terrain", f"has {len(inner)} holes inside it, {cells} cells in all; a "
            f"rock that gets into one has left the terrain.",
            "Fill them if there is ground, for example with gdal_fillnodata.",
        )  # fmt: skip


def _alone(study, samples):
    """Many cells of one height, far from all others: most likely NoData that is not declared."""
    grid = study.slope.grid
    if grid is None or study.terrain.nodata is not None:
        return
    heights, counts = np.unique(grid.z[np.isfinite(grid.z)], return_counts=True)
    for k, other in ((0, 1), (-1, -2)):
        if len(heights) > 2 and counts[k] > 1 and abs(heights[k] - heights[other]) > ALONE:
            yield Finding(
                "warning", "terrain", f"has {counts[k]} cells of exactly {heights[k]:g} m, "
                f"{abs(heights[k] - heights[other]):.4g} m from any other: are they without data?",
                f"If so, set terrain.nodata = {heights[k]:g}.",
            )  # fmt: skip


def _axes(study, samples):
    """Maps are drawn with x to the right and y up, and azimuths count from y."""
    crs = study.slope.crs
    if crs is None or not crs.is_projected:
        return
    ways = {axis.direction.lower() for axis in crs.axis_info[:2]}
    if ways != {"east", "north"}:
        yield Finding(
            "warning", "coordinates", f"of {crs_name(crs)} run {' and '.join(sorted(ways))}, not "
            f"east and north: the north arrows of maps and azimuth_deg are those of its y axis.",
            "Use a projection made for the place, such as its UTM zone (terrain.reproject).",
        )  # fmt: skip


def _meshes(study, samples):
    """A mesh in single precision has steps of this size."""
    step = FLOAT32 * float(np.abs(study.slope.origin).max())
    meshes = {"terrain": study.terrain.file}
    meshes |= {f"barrier {part.name}": part.mesh or "" for part in study.settings.barriers}
    for what, file in meshes.items():
        if step > 0.01 and file.lower().endswith((".stl", ".ply")):
            yield Finding(
                "warning", what, f"holds world coordinates; if {file} is in single precision, "
                f"its vertices are rounded to {step:.2g} m.",
                "Write it in double precision, or as OBJ.",
            )  # fmt: skip


def _materials(study, samples):
    surface = study.surface
    used = {surface.default, *surface.regions.region_code.tolist()}
    used |= set(np.unique(surface.texture).tolist())
    used |= set(np.unique(surface.triangle_material).tolist())
    for k, name in enumerate(study.material_names):
        if k not in used:
            yield Finding(
                "warning", f"material {name}", "is used nowhere.", "Remove it or give it a place."
            )


def _regions(study, samples):
    names = [f"a region of {name}" for name in study.material_names]
    areas = ((study.surface.regions, names), (study.forest.zones, None))
    low, high = (corner[:2] for corner in study.slope.bounds)
    for index, labels in areas:
        for r, code in enumerate(index.region_code):
            rim = index.rim[index.rim_start[r] : index.rim_start[r + 1]].reshape(-1, 2)
            if (rim.max(axis=0) < low).any() or (rim.min(axis=0) > high).any():
                yield Finding(
                    "warning", labels[code] if labels else "a forest zone", "lies off the terrain.",
                    "Is it, or its file, in the right coordinate system?",
                )  # fmt: skip


def _sizes(study, samples):
    least = min(rock.radius for rock, _, _ in samples)
    spacing = study.slope.spacing
    if 2.0 * least < SMALL_ROCK * spacing:
        yield Finding(
            "hint", "terrain", f"has a point every {spacing:.3g} m, but rocks are as small as "
            f"{2.0 * least:.2g} m: what is between its points they do not feel.",
            "A finer terrain shows the jumps of small rocks better.",
        )  # fmt: skip


def _lifts(study, samples):
    """Rocks that overlap the ground or a wall where they start."""
    rocks, starts, _ = zip(*samples, strict=True)
    lifts = lift_starts(pack_rocks(rocks), start_table(starts), study.scene().grid, FOUND)
    if lifts.any():
        yield Finding(
            "warning", "sources", f"put {np.count_nonzero(lifts)} of the first {len(lifts)} rocks "
            f"where they overlap the ground or a wall; these are lifted until they touch it, by up "
            f"to {lifts.max():.3g} m.", "Raise the points, or leave their height out.",
        )  # fmt: skip


def _cells(study, samples):
    output = study.settings.output
    if output.grid is not None and output.cell is not None:
        yield Finding(
            "hint", "output", f"has cell_m = {output.cell:g}, which is not used: the cells are "
            f"those of {output.grid}.", "Leave out one of them.",
        )  # fmt: skip


def _check_lines(study, samples):
    low, high = study.slope.bounds
    for line in study.check_lines:
        if (line.points.max(axis=0) < low[:2]).any() or (line.points.min(axis=0) > high[:2]).any():
            yield Finding(
                "warning", f"check line {line.name}", "lies off the terrain.",
                "Is it in the right coordinate system?",
            )  # fmt: skip


def _presets(study, samples):
    names = [name for name, part in study.settings.materials.classes.items() if part.preset]
    if names:
        yield Finding(
            "hint", "materials", f"{', '.join(names)} have published values of other models.",
            "Adjust them by a back-analysis of rocks that fell there.",
        )  # fmt: skip


def _count(study, samples):
    if study.runs.count < FEW_RUNS:
        yield Finding(
            "hint", "runs", f"are {study.runs.count}: too few for the 99th percentile.",
            f"Use {FEW_RUNS} at least for results.",
        )  # fmt: skip


def _scale(study, samples):
    slope = study.slope
    middle = 0.5 * (slope.bounds[0] + slope.bounds[1])[:2] + slope.origin[:2]
    scale = scale_at(slope.crs, *middle)
    if abs(scale - 1.0) > OFF_SCALE:
        yield Finding(
            "warning", "terrain", f"{crs_name(slope.crs)} draws a metre of this ground as "
            f"{scale:.4g} m: all lengths, heights of fall against them and run-outs are off by "
            f"{100 * abs(scale - 1.0):.3g} %.",
            "Use a projection made for the place, such as its UTM zone (terrain.reproject).",
        )  # fmt: skip


CHECKS = (
    _scale, _axes, _holes, _alone, _meshes, _materials, _regions, _sizes, _lifts, _check_lines,
    _cells, _presets, _count,
)  # fmt: skip
