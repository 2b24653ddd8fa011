"""Rocks of a study: shapes with sizes and densities that vary, made when a run is drawn."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import point_array
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.input_files import is_file, read_utf8
from drystone.rockfall.mesh_files import load_mesh
from drystone.rockfall.study.schema import RockPart

# Longest axis first. Plates and columns as rockfall/engine/rock.py has them; they are chamfered
# blocks.
PROPORTIONS = {"platy": (1.0, 1.0, 0.4), "elongated": (1.0, 0.5, 0.5)}
MAKERS = {
    "ellipsoid": Rock.ellipsoid, "block": Rock.block, "chamfered": Rock.chamfered,
    "platy": Rock.chamfered, "elongated": Rock.chamfered,
}  # fmt: skip
SMALLEST, LARGEST = 1e-4, 1e4  # [m] a grain of sand, a mountain
LIGHTEST, DENSEST = 1e-3, 1e6  # [kg/m³] far beyond gas and metal
VARIABLES = ("axis.1", "axis.2", "axis.3", "size", "density")  # names of what is drawn


class RockGroup:
    """One entry of `rocks`; `folder` is where its file lies."""

    def __init__(self, part: RockPart, folder: Path):
        self.part, self.name, self.weight = part, part.name, part.weight
        self.file = folder / part.file if part.file is not None else None
        self._scan = self._read() if self.file is not None else None
        self._last = (None, None)  # what was made last, and of which numbers

    def make(self, u: dict[str, float]) -> Rock:
        """The rock of a run, from the run's random numbers."""
        part = self.part
        density = part.density.draw(u["density"])
        axes = () if self._scan is not None else self._axes(u)
        volume = None
        if part.volume is not None:
            volume = part.volume.draw(u["size"])
        elif part.mass is not None:
            volume = part.mass.draw(u["size"]) / density
        self._require_size(axes, volume, density)
        # Rocks that are alike are the same object, which compiled code then stores once.
        if self._last[0] != (axes, volume, density):
            self._last = (axes, volume, density), self._made(axes, volume, density)
        return self._last[1]

    def _made(self, axes, volume, density) -> Rock:
        if self._scan is not None:
            rock = self._scan
        elif self.part.shape == "sphere":
            rock = Rock.sphere(axes[0])
        else:
            rock = _shaped(self.part.shape, *axes)
        if volume is not None:
            rock = rock.with_volume(volume)
        return replace(rock, density=density, inertia=rock.inertia * (density / rock.density))

    def _require_size(self, axes, volume, density) -> None:
        sizes = [*axes] if volume is None else [volume ** (1.0 / 3.0)]
        for size in sizes:
            if not SMALLEST <= size <= LARGEST:
                raise InputError(
                    f"rock {self.name} is {size:g} m large, must be {SMALLEST:g} to {LARGEST:g} m."
                )
        if not LIGHTEST <= density <= DENSEST:
            raise InputError(
                f"rock {self.name} has a density of {density:g} kg/m³, must be {LIGHTEST:g} to "
                f"{DENSEST:g} kg/m³."
            )

    def _axes(self, u) -> tuple[float, float, float]:
        part = self.part
        keys = VARIABLES[:3]
        if part.axes is not None:
            return tuple(axis.draw(u[key]) for axis, key in zip(part.axes, keys, strict=True))
        ratio = PROPORTIONS.get(part.shape, (1.0, 1.0, 1.0))
        if part.proportions is not None:
            drawn = zip(part.proportions, keys, strict=True)
            ratio = tuple(axis.draw(u[key]) for axis, key in drawn)
        longest = part.size.draw(u["size"]) if part.size is not None else 1.0
        return tuple(longest * x / max(ratio) for x in ratio)

    def _read(self) -> Rock:
        if not is_file(self.file):
            raise InputError(f"there is no file {self.file}.")
        if self.part.shape == "mesh":
            return Rock.from_file(self.file, scale=self.part.scale)
        return Rock.hull(_points(self.file) * self.part.scale)


@lru_cache(maxsize=256)  # hulls take milliseconds
def _shaped(shape: str, x: float, y: float, z: float) -> Rock:
    return MAKERS[shape](x, y, z)


def _points(path: Path) -> np.ndarray:
    """Points of a scan: a mesh or point cloud file, or text with x, y, z a line."""
    if path.suffix.lower() in (".xyz", ".txt", ".csv"):
        text = read_utf8(path).replace(",", " ").replace(";", " ")
        try:
            return np.array(text.split(), dtype=np.float64).reshape(-1, 3)
        except ValueError as error:
            raise InputError(f"{path.name} cannot be read as points: {error}.") from None
    scan = load_mesh(path, "points", process=False)
    if hasattr(scan, "geometry"):  # a scene of several things
        scan = scan.to_geometry()
    return point_array(f"points of {path.name}", getattr(scan, "vertices", ()), 4)
