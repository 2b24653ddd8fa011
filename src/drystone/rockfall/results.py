"""The results of a study in its folder, read when asked for."""

from functools import cached_property
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.manifest import read_manifest
from drystone.rockfall.rasters import raster_names, read_raster
from drystone.rockfall.store import FILES, read_table
from drystone.rockfall.summary import read_summary


class Results:
    """A folder of results: `.table("runs")`, `.raster("velocity_p95")`, `.manifest`."""

    def __init__(self, folder):
        self.folder = Path(folder)
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

    def table(self, name: str, columns: list[str] | None = None) -> dict[str, np.ndarray]:
        """Columns of `runs`, `points`, `impacts`, `crossings` (barriers) or `lines`."""
        if name not in FILES:
            raise InputError(f"there is no table {name!r}. Known: {', '.join(FILES)}.")
        return read_table(self.folder, name, columns)

    def raster(self, name: str) -> np.ndarray:
        """(rows, columns), northern row first, NaN where nothing passed."""
        if name not in raster_names():
            raise InputError(f"there is no raster {name!r}. Known: {', '.join(raster_names())}.")
        return read_raster(self.folder / "rasters" / f"{name}.tif")
