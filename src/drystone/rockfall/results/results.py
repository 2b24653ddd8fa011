"""The results of a study in its folder, read when asked for."""

from functools import cached_property
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import shown
from drystone.model.signatures import public
from drystone.rockfall.engine.records import AT_REST, REASONS
from drystone.rockfall.input_files import as_path
from drystone.rockfall.results.rasters import (
    cover_name,
    raster_extent,
    raster_names,
    raster_shape,
    read_raster,
)
from drystone.rockfall.results.summary import read_summary
from drystone.rockfall.results.summary_schema import Layout, damaged, read_json
from drystone.rockfall.results.tables import FILES, read_table, table_columns
from drystone.rockfall.run.manifest import read_manifest


@public
class Results:
    """A folder of results: `.table("runs")`, `.raster("velocity_p95")`, `.manifest`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = as_path("folder", folder)
        if self.manifest is None or not self.manifest.get("finished"):
            state = "no results" if self.manifest is None else "an unfinished run"
            raise InputError(f"{folder} holds {state}. Run the study first (or --resume).")

    def __repr__(self) -> str:
        return f"Results({self.folder}, {self.manifest['runs']} runs)"

    @cached_property
    def manifest(self) -> dict | None:
        return read_manifest(self.folder)

    @cached_property
    def statistics(self) -> dict:
        """Figures of runs, barriers and check lines, with their confidence bands."""
        return read_summary(self.folder)

    @cached_property
    def layout(self) -> dict:
        """Barriers and check lines: names and points (world x, y)."""
        return read_json(self.folder / "layout.json", Layout)

    @cached_property
    def hazard_names(self) -> dict[str, tuple[str, str]]:
        """{name: (unit, description)} of the rasters of the hazard, if the study asked for it."""
        entries = self.layout.get("hazard") or ()
        return {str(e["name"]): (str(e["unit"]), str(e["text"])) for e in entries}

    @cached_property
    def _cover_name(self) -> dict[str, tuple[str, str]]:
        return cover_name(self.layout["materials"]) if self.layout.get("materials") else {}

    @cached_property
    def rested(self) -> np.ndarray:
        """(runs,) whether each came to rest; of the others it is only known how far they got."""
        reason = self.table("runs", ["reason"])["reason"].astype(str)
        return np.isin(reason, [REASONS[k] for k in AT_REST])

    @cached_property
    def extent(self) -> tuple[float, float, float, float]:
        """West, east, south and north of the rasters, world coordinates [m]."""
        return raster_extent(self.folder / "rasters" / "terrain.tif")

    def table(
        self, name: str, columns: list[str] | None = None, runs: list[int] | None = None
    ) -> dict[str, np.ndarray]:
        """Columns of `runs`, `points`, `impacts`, `crossings` (barriers) or `lines`.

        columns   names of some, or all
        runs      numbers of some runs, or all
        """
        if not isinstance(name, str) or name not in FILES:
            raise InputError(f"there is no table {shown(name)}. Known: {', '.join(FILES)}.")
        rows = read_table(self.folder, name, columns, runs)
        count = self.manifest["runs"]
        if name == "runs" and runs is None and any(len(x) != count for x in rows.values()):
            raise damaged(self.folder / FILES[name], f"it does not hold {count} runs")
        return rows

    def columns(self, name: str) -> list[str]:
        """Names of the columns of a table; those of older versions have fewer."""
        return table_columns(self.folder, name)

    def raster(self, name: str) -> np.ndarray:
        """(rows, columns), northern row first, NaN where nothing passed."""
        known = raster_names()
        if isinstance(name, str) and name not in known:
            known = known | self.hazard_names | self._cover_name
        if not isinstance(name, str) or name not in known:
            raise InputError(f"there is no raster {shown(name)}. Known: {', '.join(known)}.")
        folder = self.folder / "rasters"
        # The heights of the ground cannot be packed as small as a raster where nothing passed.
        like = None if name == "terrain" else raster_shape(folder / "terrain.tif")
        return read_raster(folder / f"{name}.tif", like)
