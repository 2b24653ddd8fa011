"""Tables of results: Parquet files in world coordinates, and a GeoPackage for maps.

Names of columns end in their unit. Rows come chunk after chunk and are written as they come, so a
table may be larger than the memory. The GeoPackage has the layers `trajectories` (LineStringZ),
`deposition` (where rocks came to rest), `not_at_rest` (where the others were last) and `impacts`
(PointZ), and `barriers`.
"""

import os
import warnings
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, integer
from drystone.rockfall.engine.records import AT_REST, OUTCOMES, REASONS
from drystone.rockfall.input_files import megabytes
from drystone.rockfall.optional_packages import load
from drystone.rockfall.results.summary_schema import LARGEST, damaged

WORDS = {"reason": np.array(REASONS), "outcome": np.array(OUTCOMES)}  # numbers that stand for words


# Bytes that a table may declare: columns of zeros pack well, but never all of them.
FREE_BYTES, PACKED = 64_000_000, 100
BATCH = 300_000  # points of trajectories in memory for one transaction, 30 MB
GROUP = 30_000  # rows of a table that are compressed together: a chunk may have few


class Column(NamedTuple):
    """A field of a record and the columns that it becomes."""

    field: str
    names: tuple[str, ...]
    place: bool = False  # local coordinates, to be moved to the world's


def _vector(field: str, stem: str, unit: str, place: bool = False) -> Column:
    return Column(field, tuple(f"{stem}{axis}_{unit}" for axis in "xyz"), place)


def _one(field: str, name: str | None = None) -> Column:
    return Column(field, (name or field,))


PLACE = Column("x", ("x_m", "y_m", "z_m"), True)
TABLES = {
    "runs": (
        _one("run"), _vector("start", "start_", "m", True), _vector("end", "end_", "m", True),
        _one("t", "duration_s"), Column("q", ("qw", "qx", "qy", "qz")), _one("reason"),
        _one("mass", "mass_kg"), _one("length", "path_m"), _one("speed", "max_speed_m_s"),
        _one("energy", "max_energy_J"), _one("height", "max_height_m"), _one("impacts"),
        _one("translation", "max_translational_energy_J"),
        _one("rotation", "max_rotational_energy_J"), _one("rest", "end_height_m"),
        _one("volume", "volume_m3"),
    ),
    "points": (
        _one("run"), _one("t", "t_s"), PLACE, _vector("v", "v", "m_s"), _vector("w", "w", "rad_s"),
        _one("translation", "translational_energy_J"), _one("rotation", "rotational_energy_J"),
        _one("height", "height_m"), Column("q", ("qw", "qx", "qy", "qz")),
    ),
    "impacts": (
        _one("run"), _one("t", "t_s"), PLACE, Column("normal", ("nx", "ny", "nz")),
        _vector("v_in", "v_in_", "m_s"), _vector("v_out", "v_out_", "m_s"),
        _vector("w_in", "w_in_", "rad_s"), _vector("w_out", "w_out_", "rad_s"),
        _one("e_in", "energy_in_J"), _one("e_out", "energy_out_J"), _one("triangle"),
        _one("material"),
    ),
    "crossings": (
        _one("run"), _one("barrier"), _one("t", "t_s"), PLACE, _vector("v", "v", "m_s"),
        _vector("w", "w", "rad_s"), _one("height", "height_m"), _one("energy", "energy_J"),
        _one("taken", "taken_J"), _one("outcome"),
    ),
    "lines": (
        _one("run"), _one("line"), _one("t", "t_s"), PLACE, _vector("v", "v", "m_s"),
        _vector("w", "w", "rad_s"), _one("along", "along_m"), _one("height", "height_m"),
        _one("energy", "energy_J"),
    ),
}  # fmt: skip
# Columns that tables of the first version have not.
LATER = {
    "runs": ("max_translational_energy_J", "max_rotational_energy_J", "end_height_m", "volume_m3"),
    "points": ("qw", "qx", "qy", "qz"),
}
FILES = {
    "runs": "runs.parquet",
    "points": "trajectories.parquet",
    "impacts": "impacts.parquet",
    "crossings": "barrier_crossings.parquet",
    "lines": "line_crossings.parquet",
}


def columns_of(table: str, rows: np.ndarray, origin) -> dict[str, np.ndarray]:
    """Named columns of records, places in world coordinates."""
    columns = {}
    for column in TABLES[table]:
        if column.field not in rows.dtype.names:
            continue  # parts of the first layout
        values = rows[column.field]
        if column.field in WORDS:
            columns[column.names[0]] = WORDS[column.field][values]
        elif values.ndim == 1:
            columns[column.names[0]] = values
        else:
            shift = origin if column.place else np.zeros(values.shape[1])
            for k, name in enumerate(column.names):
                columns[name] = values[:, k] + shift[k] if column.place else values[:, k]
    return columns


class TableWriter:
    """Writes one table, chunk by chunk; it has its name only when it is complete."""

    def __init__(self, folder: Path, table: str, origin, crs: str | None):
        self.path, self.table, self.origin, self.crs = folder / FILES[table], table, origin, crs
        self._part = self.path.with_name(f".{self.path.name}.tmp")
        self._writer, self._waiting, self._rows = None, [], 0

    def write(self, rows: np.ndarray, more: dict[str, np.ndarray] | None = None) -> None:
        """Records of a chunk; `more` are columns beside theirs."""
        arrow = load("pyarrow", "A table of results")
        columns = columns_of(self.table, rows, self.origin) | (more or {})
        arrays = {name: arrow.array(np.ascontiguousarray(x)) for name, x in columns.items()}
        meta = {"crs": self.crs or "local", "lengths": "m, world coordinates, z up"}
        table = arrow.table(arrays).replace_schema_metadata(meta)
        if self._writer is None:
            parquet = load("pyarrow.parquet", "A table of results")
            options = {"compression": "zstd", "write_page_checksum": True}
            self._writer = parquet.ParquetWriter(self._part, table.schema, **options)
        self._waiting.append(table)
        self._rows += len(rows)
        if self._rows >= GROUP:
            self._flush()

    def _flush(self) -> None:
        if self._rows:
            whole = load("pyarrow", "A table of results").concat_tables(self._waiting)
            self._writer.write_table(whole, row_group_size=2 * GROUP)
        self._waiting, self._rows = [], 0

    def close(self) -> None:
        self._flush()
        self._writer.close()
        os.replace(self._part, self.path)

    def abandon(self) -> None:
        """After a failure: leave no half table behind."""
        with suppress(OSError):
            if self._writer is not None:
                self._writer.close()
        with suppress(OSError):
            self._part.unlink()


def read_table(
    folder: Path, table: str, columns: list[str] | None = None, runs: list[int] | None = None
) -> dict[str, np.ndarray]:
    """Columns of a table of a folder of results, as arrays; of some `runs` alone, or all."""
    parquet = load("pyarrow.parquet", "A table of results")
    path = Path(folder) / FILES[table]
    known = [name for column in TABLES[table] for name in column.names]
    needed = [name for name in known if name not in LATER.get(table, ())]
    chosen = None if runs is None else [("run", "in", [_number(run) for run in runs])]
    try:
        with parquet.ParquetFile(path) as file:
            there = file.schema_arrow.names
            for name in columns or ():
                if name not in needed:  # whether those are there is judged below
                    choice(f"column of {table}", name, there)
            _judge(path, file, needed)
        options = {"columns": columns, "filters": chosen, "page_checksum_verification": True}
        read = parquet.read_table(path, **options)
        found = {name: read[name].to_numpy() for name in read.column_names}
    except InputError:
        raise
    except Exception as error:  # Arrow's errors are of many kinds
        raise damaged(path, error) from None
    for name, values in found.items():
        if values.dtype.kind == "f" and len(values):
            top, least = np.fmax.reduce(values), np.fmin.reduce(values)
            if top > LARGEST or least < -LARGEST:
                raise damaged(path, f"a value of {name} is beyond {LARGEST:g}")
    return found


def table_columns(folder: Path, table: str) -> list[str]:
    """Names of the columns of a table of a folder of results."""
    parquet = load("pyarrow.parquet", "A table of results")
    path = Path(folder) / FILES[table]
    try:
        return list(parquet.read_schema(path).names)
    except Exception as error:  # Arrow's errors are of many kinds
        raise damaged(path, error) from None


def _number(run) -> int:
    return integer("runs: the number of a run", run, 0, 2**62)


def _judge(path: Path, file, known: list[str]) -> None:
    """InputError, before anything is read, if a table is not ours or declares too much."""
    schema, size = file.schema_arrow, os.path.getsize(path)
    for name in known:
        place = schema.get_field_index(name)
        kind = str(schema.field(place).type) if place >= 0 else "missing"
        if kind not in (("string",) if name in WORDS else ("int64", "double", "float")):
            raise damaged(path, f"its column {name} is {kind}")
    groups = [file.metadata.row_group(g) for g in range(file.metadata.num_row_groups)]
    declared = sum(group.total_byte_size for group in groups)
    declared = max(declared, 8 * len(known) * file.metadata.num_rows)
    if declared > FREE_BYTES + PACKED * size:
        raise damaged(
            path, f"it declares {megabytes(declared)}, more than its {megabytes(size)} can hold"
        )


class MapWriter:
    """Writes the GeoPackage, chunk by chunk; at the end the lines of the barriers.

    barriers, feet   labels of each, and (n, 2) local points along it
    """

    def __init__(self, folder: Path, origin, crs: str | None, barriers=(), feet=()):
        self.barriers, self.feet = barriers, feet
        self.path, self.origin, self.crs = folder / "trajectories.gpkg", np.asarray(origin), crs
        self._part = self.path.with_name(f".{self.path.stem}.tmp.gpkg")
        self._part.unlink(missing_ok=True)
        self._layers, self._waiting, self._points = set(), [], 0

    def write(self, runs: np.ndarray, points: np.ndarray, impacts: np.ndarray) -> None:
        """Add chunks in their order; several go into one transaction, which each takes long."""
        self._waiting.append((runs, points, impacts))
        self._points += len(points)
        if self._points > BATCH:
            self._flush()

    def _flush(self) -> None:
        if self._waiting:
            self._write(*(np.concatenate(rows) for rows in zip(*self._waiting, strict=True)))
        self._waiting, self._points = [], 0

    def _write(self, runs: np.ndarray, points: np.ndarray, impacts: np.ndarray) -> None:
        shapely = load("shapely", "A GeoPackage")
        run_columns = columns_of("runs", runs, self.origin)
        there = np.isin(runs["run"], points["run"])  # of some runs no points may be stored
        number = np.searchsorted(runs["run"][there], points["run"])
        # A line needs two points; a rock that never moved has one, which is given twice.
        twice = np.bincount(number, minlength=len(runs))[number] == 1
        order = np.repeat(np.arange(len(points)), np.where(twice, 2, 1))
        places = points["x"][order] + self.origin
        lines = shapely.linestrings(places, indices=number[order])
        shown = {name: column[there] for name, column in run_columns.items()}
        self._layer("trajectories", "LineString Z", lines, shown)
        rests = np.isin(runs["reason"], AT_REST)
        for name, rows in (("deposition", rests), ("not_at_rest", ~rests)):
            ends = shapely.points(runs["end"][rows] + self.origin)
            if name == "not_at_rest" and not rows.any():
                continue
            self._layer(name, "Point Z", ends, {k: v[rows] for k, v in run_columns.items()})
        hits = shapely.points(impacts["x"] + self.origin)
        self._layer("impacts", "Point Z", hits, columns_of("impacts", impacts, self.origin))

    def _layer(self, name: str, kind: str, shapes, columns: dict) -> None:
        if len(shapes) == 0 and name in self._layers:
            return
        raw, shapely = load("pyogrio.raw", "A GeoPackage"), load("shapely", "A GeoPackage")
        plain = {key: x.astype(object) if x.dtype.kind == "U" else x for key, x in columns.items()}
        with warnings.catch_warnings():  # a local system has none, and that is known
            warnings.filterwarnings("ignore", message="'crs' was not provided")
            raw.write(
                str(self._part), shapely.to_wkb(shapes), list(plain.values()), list(plain),
                layer=name, driver="GPKG", geometry_type=kind, crs=self.crs,
                append=name in self._layers,
            )  # fmt: skip
        self._layers.add(name)

    def close(self) -> None:
        self._flush()
        if self.barriers:
            shapely = load("shapely", "A GeoPackage")
            lines = [shapely.LineString(feet + self.origin[:2]) for feet in self.feet]
            columns = {
                "name": np.array([b["name"] for b in self.barriers]),
                "kind": np.array([b["kind"] for b in self.barriers]),
                "height_m": np.array([b["height_m_nominal"] for b in self.barriers], float),
                "capacity_kJ": np.array([b["capacity_kJ"] or np.nan for b in self.barriers], float),
            }
            self._layer("barriers", "LineString", lines, columns)
        os.replace(self._part, self.path)

    def abandon(self) -> None:
        for path in self._part.parent.glob(f"{self._part.name}*"):
            with suppress(OSError):
                path.unlink()
