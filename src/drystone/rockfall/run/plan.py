"""The plan of a study's results: everything that a worker has to know besides the study itself."""

import hashlib
import json
from dataclasses import asdict, dataclass
from importlib import import_module

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.results.cells import Raster
from drystone.rockfall.results.check_lines import CheckLine
from drystone.rockfall.study.barrier_design import DesignCase
from drystone.rockfall.study.schema import HazardPart
from drystone.rockfall.terrain.crs import require_same_map
from drystone.rockfall.terrain.ground_surface import Ground, ground_of
from drystone.rockfall.terrain.raster_files import grid_of

# Runs in a chunk: few enough that a lost one costs little and that 2 cores share 1000 runs
# evenly, many enough that a million runs do not make a million files. Never of the workers.
FEWEST, MOST, CHUNKS = 16, 500, 64
# [s] A chunk takes seconds, on large terrains minutes. If for so long none gets done, a worker that
# is alive but stuck would be waited for without end.
LONGEST_CHUNK = 6 * 3600.0
SNAP = 1e-6  # of a cell: a corner of the terrain so near to a line of cells lies on it
LARGEST_RASTER = 200_000_000  # cells: each worker holds 16 bytes for each

ROLL = "drystone.rockfall.roll:roll_many"  # the compiled rigid-body engine
LUMPED = "drystone.rockfall.lumped:roll_lumped"  # rocks as points, for orientation
LAYOUT = 2  # of parts, now: with orientations, sources and what was drawn; cells on the terrain's
# Both are names in plans on disk, and part of their digest: they stay, wherever the modules go.
HOMES = {"drystone.rockfall.roll": "engine.roll", "drystone.rockfall.lumped": "engine.lumped_mass"}


@dataclass(frozen=True, eq=False)
class Plan:
    """What is computed of the runs, and how they are cut into chunks."""

    count: int  # runs
    chunk: int  # runs in a chunk, the last may have fewer
    seed: int
    step: float  # between the points of stored trajectories [s]; rasters do not depend on it
    raster: Raster
    ground: Ground
    lines: tuple[CheckLine, ...]
    barriers: tuple[dict, ...]  # name, kind, height_m_nominal and capacity_kJ of each
    barrier_feet: tuple[np.ndarray, ...]  # (n, 2) of each, local, for maps
    origin: tuple[float, float, float]  # world = local + origin [m]
    crs: str | None  # WKT
    roll: str  # module:function that rolls many rocks
    ascii_grids: bool = False  # rasters as ESRI ASCII grids too
    design: DesignCase | None = None
    layout: int = 1  # of the parts: 1 as runs begun by the first version have it
    kept: int | None = None  # runs whose points and impacts are stored; None: all
    sources: tuple[str, ...] = ()  # names, by number
    rocks: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()  # of the rock groups
    materials: tuple[str, ...] = ()
    frequencies: tuple[float | None, ...] = ()  # rocks a year of each source
    hazard: tuple[tuple[float, ...], tuple[float, ...]] | None = None  # energies [J], periods

    @property
    def chunks(self) -> int:
        return -(-self.count // self.chunk)

    def runs(self, chunk: int) -> range:
        """Numbers of the runs of one chunk."""
        return range(chunk * self.chunk, min((chunk + 1) * self.chunk, self.count))

    def keeps(self, run: int) -> bool:
        """Whether the points and impacts of a run are stored: some evenly over all."""
        if self.kept is None or self.kept >= self.count:
            return True
        return (run * self.kept) // self.count != ((run + 1) * self.kept) // self.count

    def digest(self) -> str:
        """Hash of all that decides about the results, but for the study."""
        ground = hashlib.sha256(np.ascontiguousarray(self.ground.heights)).hexdigest()
        lines = [(line.name, line.points.tolist()) for line in self.lines]
        arrays = ("ground", "lines", "raster", "barrier_feet")
        plain = {k: v for k, v in asdict(self).items() if k not in arrays}
        if self.layout == 1:  # as it was before there were layouts
            plain = {k: v for k, v in plain.items() if k not in LATER}
            if plain["design"] is not None:
                first = ("factors", "block", "energy_factor", "free_border")
                plain["design"] = {k: v for k, v in plain["design"].items() if k in first}
            plain["barriers"] = [
                {k: v for k, v in barrier.items() if k != "service_kJ"}
                for barrier in plain["barriers"]
            ]
        rest = [plain, tuple(self.raster), self.ground[:4], lines]
        return hashlib.sha256((ground + json.dumps(rest, sort_keys=True)).encode()).hexdigest()


LATER = ("layout", "kept", "sources", "rocks", "shapes", "materials", "frequencies", "hazard")


def chunk_size(count: int) -> int:
    return int(np.clip(-(-count // CHUNKS), FEWEST, MOST))


def raster_over(slope, cell: float, on: np.ndarray | None = None) -> Raster:
    """Cells over the whole slope, one of whose corners lies at the world point `on`.

    None: on whole multiples of the cell, as all rasters of the first layout lie.
    """
    snap = 0.0 if on is None else SNAP
    on = np.zeros(2) if on is None else np.asarray(on, float)
    low, high = (np.asarray(corner[:2]) + slope.origin[:2] - on for corner in slope.bounds)
    with np.errstate(over="ignore"):
        first, last = np.floor(low / cell + snap), np.ceil(high / cell - snap)
    sides = np.maximum(last - first, 1)
    if not float(sides[0]) * float(sides[1]) <= LARGEST_RASTER:
        raise InputError(
            f"cells of {cell:g} m make a raster of {sides[0]:.0f} x {sides[1]:.0f} cells; "
            f"at most {LARGEST_RASTER:,} are possible. Use larger cells."
        )
    columns, rows = sides.astype(int).tolist()
    x0, y0 = first * cell + (on - slope.origin[:2])
    return Raster(float(x0), float(y0), float(cell), columns, rows)


def raster_of(study, layout: int = LAYOUT) -> Raster:
    """The cells of a study's results: those of the terrain, of `output.grid`, or by its corner."""
    slope, output = study.slope, study.output
    if layout == 1:
        return raster_over(slope, output.cell)
    file = getattr(output, "grid", None)
    if file is not None:
        with study.blaming("output.grid"):
            found = grid_of(study.folder / file)
            require_same_map(file, found.crs, slope.crs)
        return raster_over(slope, found.dx, np.array([found.x0, found.y0]) - 0.5 * found.dx)
    grid = slope.grid
    if grid is None:
        return raster_over(slope, output.cell)
    # Heights stand at the centres of cells.
    corner = np.array([grid.x0 - 0.5 * grid.dx, grid.y0 - 0.5 * grid.dy]) + slope.origin[:2]
    return raster_over(slope, output.cell, corner)


def find_function(name: str):
    """The function called `module:function`."""
    module, _, function = name.partition(":")
    if module in HOMES:
        module = f"drystone.rockfall.{HOMES[module]}"
    return getattr(import_module(module), function)


def make_plan(study, roll: str = ROLL, layout: int = LAYOUT) -> Plan:
    """The plan of a study; raises InputError for what cannot be computed.

    layout   of the parts; 1 goes on with a run that the first version began
    """
    slope = study.slope
    find_function(roll)
    count = study.runs.count
    return Plan(
        count=count,
        chunk=chunk_size(count),
        seed=study.runs.seed,
        step=study.output.step,
        raster=raster_of(study, layout),
        ground=ground_of(slope),
        lines=tuple(CheckLine(line.name, line.points) for line in study.check_lines),
        barriers=_barrier_labels(study),
        barrier_feet=_barrier_feet(study),
        origin=tuple(map(float, slope.origin)),
        crs=None if slope.crs is None else slope.crs.to_wkt(),
        roll=roll,
        ascii_grids=study.output.ascii_grids,
        design=study.design,
        layout=layout,
        **(_later(study) if layout > 1 else {}),
    )


def _later(study) -> dict:
    """What the first layout did not know."""
    settings = getattr(study, "settings", None)
    if settings is None:
        return {"kept": getattr(study.output, "trajectories", None)}
    hazard = settings.hazard
    frequencies = tuple(part.frequency for part in settings.sources)
    if hazard is None and any(frequencies):
        hazard = HazardPart()
    if hazard is not None and any(frequencies) and not all(frequencies):
        missing = next(p.name for p in settings.sources if p.frequency is None)
        raise InputError(
            f"{study.name}: sources ({missing}) has no frequency_1_year, but others have. Give all "
            f"of them one, or none."
        )
    energies = hazard and (
        tuple(1e3 * e for e in sorted(hazard.energies)), tuple(sorted(hazard.return_periods))
    )  # fmt: skip
    return {
        "kept": settings.output.trajectories,
        "sources": tuple(part.name for part in settings.sources),
        "rocks": tuple(part.name for part in settings.rocks),
        "shapes": tuple(part.shape for part in settings.rocks),
        "materials": tuple(study.material_names),
        "frequencies": frequencies,
        "hazard": energies,
    }


def _barrier_labels(study) -> tuple[dict, ...]:
    barriers, labels = study.barriers, []
    for number, name in enumerate(study.barrier_names):
        height = float(study.barrier_heights[number])
        wall = number >= len(barriers.capacity)
        labels.append(
            {
                "name": name,
                "kind": "contact" if wall else "crossing",
                "height_m_nominal": height,
                "capacity_kJ": None if wall else float(barriers.capacity[number]) * 1e-3,
                "service_kJ": study.barrier_services[number],
            }
        )
    return tuple(labels)


def _barrier_feet(study) -> tuple[np.ndarray, ...]:
    """Panels of a barrier follow each other: their first feet, and the last one's second."""
    barriers, leaning, feet = study.barriers, getattr(study, "leaning_feet", {}), []
    for number in range(len(study.barrier_names)):
        if number in leaning:
            feet.append(leaning[number])
            continue
        here = barriers.barrier == number
        feet.append(np.vstack([barriers.foot_a[here], barriers.foot_b[here][-1:]])[:, :2])
    return tuple(feet)
