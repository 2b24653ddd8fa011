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
from drystone.rockfall.terrain.ground_surface import Ground, ground_of

# Runs in a chunk: few enough that a lost one costs little and that 2 cores share 1000 runs
# evenly, many enough that a million runs do not make a million files. Never of the workers.
FEWEST, MOST, CHUNKS = 16, 500, 64
# [s] A chunk takes seconds, on large terrains minutes. If for so long none gets done, a worker that
# is alive but stuck would be waited for without end.
LONGEST_CHUNK = 6 * 3600.0
LARGEST_RASTER = 200_000_000  # cells: each worker holds 16 bytes for each

ROLL = "drystone.rockfall.roll:roll_many"  # the compiled rigid-body engine
LUMPED = "drystone.rockfall.lumped:roll_lumped"  # rocks as points, for orientation
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

    @property
    def chunks(self) -> int:
        return -(-self.count // self.chunk)

    def runs(self, chunk: int) -> range:
        """Numbers of the runs of one chunk."""
        return range(chunk * self.chunk, min((chunk + 1) * self.chunk, self.count))

    def digest(self) -> str:
        """Hash of all that decides about the results, but for the study."""
        ground = hashlib.sha256(np.ascontiguousarray(self.ground.heights)).hexdigest()
        lines = [(line.name, line.points.tolist()) for line in self.lines]
        arrays = ("ground", "lines", "raster", "barrier_feet")
        plain = {k: v for k, v in asdict(self).items() if k not in arrays}
        rest = [plain, tuple(self.raster), self.ground[:4], lines]
        return hashlib.sha256((ground + json.dumps(rest, sort_keys=True)).encode()).hexdigest()


def chunk_size(count: int) -> int:
    return int(np.clip(-(-count // CHUNKS), FEWEST, MOST))


def raster_over(slope, cell: float) -> Raster:
    """Cells over the whole slope, on whole multiples of the cell in world coordinates."""
    low, high = (np.asarray(corner[:2]) + slope.origin[:2] for corner in slope.bounds)
    first, last = np.floor(low / cell), np.ceil(high / cell)
    columns, rows = np.maximum(last - first, 1).astype(int).tolist()
    if columns * rows > LARGEST_RASTER:
        raise InputError(
            f"cells of {cell:g} m make a raster of {columns} x {rows} cells; "
            f"at most {LARGEST_RASTER:,} are possible. Use larger cells."
        )
    x0, y0 = first * cell - slope.origin[:2]
    return Raster(float(x0), float(y0), float(cell), columns, rows)


def find_function(name: str):
    """The function called `module:function`."""
    module, _, function = name.partition(":")
    if module in HOMES:
        module = f"drystone.rockfall.{HOMES[module]}"
    return getattr(import_module(module), function)


def make_plan(study, roll: str = ROLL) -> Plan:
    """The plan of a study; raises InputError for what cannot be computed."""
    slope = study.slope
    find_function(roll)
    count = study.runs.count
    return Plan(
        count=count,
        chunk=chunk_size(count),
        seed=study.runs.seed,
        step=study.output.step,
        raster=raster_over(slope, study.output.cell),
        ground=ground_of(slope),
        lines=tuple(CheckLine(line.name, line.points) for line in study.check_lines),
        barriers=_barrier_labels(study),
        barrier_feet=_barrier_feet(study.barriers, len(study.barrier_names)),
        origin=tuple(map(float, slope.origin)),
        crs=None if slope.crs is None else slope.crs.to_wkt(),
        roll=roll,
        ascii_grids=study.output.ascii_grids,
        design=study.design,
    )


def _barrier_labels(study) -> tuple[dict, ...]:
    barriers, labels = study.barriers, []
    for number, name in enumerate(study.barrier_names):
        height = float(barriers.height[barriers.barrier == number].max())
        wall = number >= len(barriers.capacity)
        labels.append(
            {
                "name": name,
                "kind": "contact" if wall else "crossing",
                "height_m_nominal": height,
                "capacity_kJ": None if wall else float(barriers.capacity[number]) * 1e-3,
            }
        )
    return tuple(labels)


def _barrier_feet(barriers, count: int) -> tuple[np.ndarray, ...]:
    """Panels of a barrier follow each other: their first feet, and the last one's second."""
    feet = []
    for number in range(count):
        here = barriers.barrier == number
        feet.append(np.vstack([barriers.foot_a[here], barriers.foot_b[here][-1:]])[:, :2])
    return tuple(feet)
