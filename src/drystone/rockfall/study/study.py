"""A study: what stands in its file, and what follows from it (slope, surface, sources, runs).

`Study.load` checks the file alone. What needs the terrain is made when first asked for, so that a
study can be sent to a worker as a few kilobytes and be made anew there.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, shown, text
from drystone.model.signatures import public
from drystone.rockfall.engine.barriers import (
    Barriers,
    Wall,
    Walls,
    join_barriers,
    join_walls,
)
from drystone.rockfall.engine.forest_drag import Forest, build_forest
from drystone.rockfall.input_files import as_path, beside
from drystone.rockfall.study import build
from drystone.rockfall.study.barrier_design import DesignCase
from drystone.rockfall.study.parse import check_table, read_study_file
from drystone.rockfall.study.release import Release, variables
from drystone.rockfall.study.rock_groups import RockGroup
from drystone.rockfall.study.sampling import Sampler
from drystone.rockfall.study.schema import Output, StudyFile
from drystone.rockfall.study.trees import Trees
from drystone.rockfall.terrain.drape import drape
from drystone.rockfall.terrain.materials import NONE, Surface, build_surface
from drystone.rockfall.terrain.slope import Slope

if TYPE_CHECKING:
    from drystone.rockfall.engine.options import Options
    from drystone.rockfall.engine.rock import Rock
    from drystone.rockfall.engine.roll import Scene, Start

# Files that a file is read together with.
COMPANIONS = {".shp": (".dbf", ".shx", ".prj", ".cpg"), ".asc": (".prj",)}


class MaterialValues(NamedTuple):
    """What one rock hits: a value for every material of the study."""

    normal_restitution: np.ndarray  # (k,)
    friction: np.ndarray  # (k,)
    rolling: np.ndarray  # (k,)
    scarring: np.ndarray  # (k,) [1/s]


class Sample(tuple):
    """(rock, start, material values) of a run, and where they came from."""

    source: int = -1  # number of the source
    group: int = -1  # number of the rock group


@public
class Study:
    """A checked study; `settings` holds its file's models."""

    def __init__(
        self, settings: StudyFile, folder: str | Path = ".", name: str = "study.toml"
    ) -> None:
        # Absolute, for workers may have another working folder.
        self.settings, self.name = settings, name
        self.folder = as_path("folder", folder).absolute()
        self.terrain, self.runs = settings.terrain, settings.runs
        self.rocks, self.sources = settings.rocks, settings.sources
        self._check_names()

    @classmethod
    def load(cls, path: str | Path) -> "Study":
        """From a TOML file; file names in it are relative to its folder."""
        path = as_path("study", path)
        return cls(read_study_file(path), path.parent, path.name)

    @classmethod
    def from_table(cls, table: dict, folder: str | Path = ".", name: str = "study") -> "Study":
        """From a dict with the entries of a study file."""
        name = text("name", name)
        return cls(check_table(table, name), folder, name)

    def with_runs(self, **changes: Any) -> "Study":
        """The same with other `runs`: count, seed, sampling, workers."""
        table = self.settings.model_dump(by_alias=True, exclude_none=True)
        table["runs"] |= changes
        return Study(check_table(table, self.name), self.folder, self.name)

    def __reduce__(self) -> tuple:
        return Study, (self.settings, self.folder, self.name)

    def __repr__(self) -> str:
        return f"Study({self.title!r}, {self.runs.count} runs on {self.terrain.file})"

    @property
    def title(self) -> str:
        return self.settings.title or self.name

    # What the file says, for reports and manifests

    def describe(self) -> dict:
        """All entries of the study that decide about its results, as plain data."""
        aside = {"runs": {"workers"}, "output": {"folder"}}
        return self.settings.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude=aside
        )

    def input_files(self) -> list[Path]:
        """Every file that the study reads, and those that belong to it."""
        named = [self.folder / name for name in build.file_names(self.settings)]
        with_it = ((path, s) for path in named for s in COMPANIONS.get(path.suffix.lower(), ()))
        found = (beside(path, suffix) for path, suffix in with_it)
        return named + [path for path in found if path is not None]

    @cached_property
    def output(self) -> Output:
        """Where and how results are written; cells are those of the terrain if not given."""
        output = self.settings.output
        if output.cell is None:
            output = output.model_copy(update={"cell": self.slope.spacing})
        return output

    @cached_property
    def options(self) -> "Options":
        """Options of the rolling rock, those of the study over the defaults."""
        from drystone.rockfall.engine.roll import Options

        with self.blaming("options"):
            return build.make_options(Options, self.settings.options)

    @cached_property
    def design(self) -> DesignCase | None:
        """What it says about the design of barriers."""
        part = self.settings.design
        return None if part is None else build.design_case(part)

    # What follows from it on the terrain

    @cached_property
    def slope(self) -> Slope:
        part = self.terrain
        with self.blaming("terrain"):
            return Slope.from_file(
                self.folder / part.file, part.crs, part.nodata, part.reproject, part.cell, part.tin
            )

    @cached_property
    def material_names(self) -> list[str]:
        """In the order of the study; a material's id is its place here."""
        return list(self.settings.materials.classes)

    @cached_property
    def material_spreads(self) -> list:
        """(restitution, friction, rolling, scarring) of each material, as distributions."""
        spreads = []
        for name, part in self.settings.materials.classes.items():
            with self.blaming(f"materials.classes.{name}"):
                spreads.append(build.material_spread(part))
        return spreads

    @cached_property
    def _walls(self) -> list[tuple[str, Wall, int]]:
        """Name, wall and material of each contact barrier."""
        walls = []
        for part in self.settings.barriers:
            if part.kind == "contact":
                with self.blaming(f"barriers ({part.name})"):
                    for k, wall in enumerate(build.walls(self, part)):
                        walls.append(
                            (build.part_name(part, k), wall, self._material(part.material))
                        )
        return walls

    @cached_property
    def walls(self) -> Walls:
        """Contact barriers, as triangles that follow those of the slope."""
        return join_walls([wall for _, wall, _ in self._walls])

    @cached_property
    def surface(self) -> Surface:
        """Materials of the slope's triangles, of the walls, of the trees; values are medians."""
        materials, walls, trees = self.settings.materials, self.walls, self.trees
        ids = build.triangle_ids(self, materials.triangles)
        if len(walls.triangles) or len(trees.triangles):
            own = ids if ids is not None else np.full(len(self.slope.triangles), NONE, np.int32)
            wall = np.array([material for _, _, material in self._walls], dtype=np.int32)
            ids = np.concatenate([own, wall[walls.barrier], trees.material])
        _, triangles = self.ground()
        texture = build.texture(self, materials.texture)
        medians = [[spread.draw(0.5) for spread in pair] for pair in self.material_spreads]
        restitution, friction, rolling, scarring = np.array(medians).T
        return build_surface(
            triangles, restitution, friction, rolling=rolling, scarring=scarring,
            default=self._material(materials.default),
            triangle_material=ids, regions=build.regions(self, materials.regions), texture=texture,
        )  # fmt: skip

    def ground(self) -> tuple[np.ndarray, np.ndarray]:
        """Vertices (n, 3) and triangles (m, 3) that rocks collide with: slope, walls, trees."""
        vertices, triangles = self.slope.vertices, self.slope.triangles
        for more in (self.walls, self.trees):
            if len(more.triangles):
                triangles = np.concatenate([triangles, more.triangles + len(vertices)])
                vertices = np.concatenate([vertices, more.vertices])
        return vertices, triangles.astype(np.int32, copy=False)

    @cached_property
    def barriers(self) -> Barriers:
        """Crossing barriers, then walls; their names are `barrier_names`."""
        for part, _, net in self._crossing:
            with self.blaming(f"barriers ({part.name})"):
                join_barriers(self.slope, [net])
        walls, first = [wall for _, wall, _ in self._walls], len(self.slope.triangles)
        return join_barriers(self.slope, [net for _, _, net in self._crossing], walls, first)

    @cached_property
    def leaning_feet(self) -> dict[int, np.ndarray]:
        """Feet (n, 2) of those `barriers` that lean: their panels there stand on the top edge."""
        nets = enumerate(net for _, _, net in self._crossing)
        return {k: drape(self.slope, net.line)[:, :2] for k, net in nets if net.inclination}

    @cached_property
    def barrier_heights(self) -> list[float]:
        """Of `barriers`, as the study says them [m]."""
        return [net.height for _, _, net in self._crossing] + [w.height for _, w, _ in self._walls]

    @cached_property
    def barrier_services(self) -> list[float | None]:
        """Energy levels SEL of `barriers` [kJ], where the study gives them."""
        return [part.service for part, _, _ in self._crossing] + [None] * len(self._walls)

    @cached_property
    def barrier_names(self) -> list[str]:
        """In the order of `barriers`: those that are crossed, then walls."""
        crossing = [build.part_name(part, k) for part, k, _ in self._crossing]
        return crossing + [name for name, _, _ in self._walls]

    @cached_property
    def forest(self) -> Forest:
        return build_forest(*build.forest_zones(self))

    @cached_property
    def trees(self) -> Trees:
        """Single trees, as triangles that follow those of the walls."""
        return build.trees(self)

    @cached_property
    def trunks(self) -> np.ndarray:
        """(n, 4) x, y, diameter and height of the trees [m]."""
        return self.trees.trunks

    @cached_property
    def check_lines(self) -> list:
        """Named lines in local coordinates: `.name`, `.points` (n, 2)."""
        return build.check_lines(self)

    def scene(self) -> "Scene":
        """What compiled code rolls rocks on."""
        from drystone.rockfall.engine.roll import Scene

        return Scene.build(*self.ground(), self.surface, self.barriers, self.forest)

    # Runs

    @cached_property
    def rock_groups(self) -> list[RockGroup]:
        groups = []
        for part in self.rocks:
            with self.blaming(f"rocks ({part.name})"):
                groups.append(RockGroup(part, self.folder))
        return groups

    @cached_property
    def releases(self) -> list[Release]:
        """Where and how rocks start, one for each source."""
        releases = []
        for part in self.sources:
            with self.blaming(f"sources ({part.name})"):
                releases.append(Release(part, build.source_shape(self, part), self.rock_groups))
        return releases

    @cached_property
    def sampler(self) -> Sampler:
        names = [*variables(), *(f"restitution.{name}" for name in self.material_names)]
        names += [f"friction.{name}" for name in self.material_names]
        # Only where they are wanted: a number more would change all draws of a study.
        for k, what in ((2, "rolling"), (3, "scarring")):
            names += [
                f"{what}.{name}"
                for name, spread in zip(self.material_names, self.material_spreads, strict=True)
                if spread[k].kind != "fixed"
            ]
        return Sampler(names, self.runs.seed, self.runs.count, self.runs.sampling)

    def sample(self, run: int) -> "tuple[Rock, Start, MaterialValues]":
        """(rock, start, material values) of a run, from the seed and its number alone."""
        if isinstance(run, bool) or not isinstance(run, int | np.integer):
            raise InputError(f"run is {shown(run)}, must be the number of a run.")
        if not 0 <= run < self.runs.count:
            raise InputError(f"there is no run {run}: they go from 0 to {self.runs.count - 1}.")
        u = self.sampler.draw(run)
        release = build.pick(self.releases, u["source"])
        with self.blaming(f"sources ({release.name}), run {run}"):
            rock, start = release.start(self.slope, self.trunks, u, self.sampler.again(run))
        sample = Sample((rock, start, self._values(u)))
        sample.source = self.releases.index(release)
        sample.group = self.rock_groups.index(build.pick(release.groups, u["rock"]))
        return sample

    def _values(self, u: dict[str, float]) -> MaterialValues:
        whats = ("restitution", "friction", "rolling", "scarring")
        drawn = [
            [
                spread.draw(u.get(f"{what}.{name}", 0.5))
                for what, spread in zip(whats, spreads, strict=True)
            ]
            for name, spreads in zip(self.material_names, self.material_spreads, strict=True)
        ]
        return MaterialValues(*np.ascontiguousarray(np.array(drawn).T))

    def forget(self) -> None:
        """Let go of what was made of the file; it is made anew when it is asked for."""
        for key in list(vars(self)):
            if isinstance(getattr(type(self), key, None), cached_property):
                del vars(self)[key]

    # Names

    def _material(self, name: str) -> int:
        return self.material_names.index(name)

    @cached_property
    def _crossing(self) -> list:
        """(part, k, net) of all crossing barriers; a file may hold many lines."""
        found = []
        for part in self.settings.barriers:
            if part.kind == "crossing":
                with self.blaming(f"barriers ({part.name})"):
                    found += [(part, k, net) for k, net in enumerate(build.nets(self, part))]
        return found

    def _check_names(self) -> None:
        materials = self.settings.materials
        known = list(materials.classes)
        used = {"materials.default": materials.default}
        used |= {f"materials.regions[{k}].material": region.material
                 for k, region in enumerate(materials.regions)}  # fmt: skip
        if materials.texture is not None:
            used |= {f"materials.texture.codes.{code}": name
                     for code, name in materials.texture.codes.items()}  # fmt: skip
        if isinstance(materials.triangles, dict):
            used |= {f"materials.triangles.{name}": name for name in materials.triangles}
        used |= {f"trees[{k}].material": part.material
                 for k, part in enumerate(self.settings.trees or ())}  # fmt: skip
        used |= {f"barriers ({part.name}).material": part.material
                 for part in self.settings.barriers}  # fmt: skip
        for what, name in used.items():
            if name is not None:
                choice(f"{self.name}: {what}", name, known)
        rocks = [part.name for part in self.rocks]
        for part in self.sources:
            for name in part.rocks or ():
                choice(f"{self.name}: sources ({part.name}).rocks", name, rocks)
        for what in ("rocks", "sources", "barriers", "check_lines"):
            _require_unique(self.name, what, [p.name for p in getattr(self.settings, what)])

    @contextmanager
    def blaming(self, what: str) -> Iterator[None]:
        """Errors of the user name the file and the entry."""
        try:
            yield
        except InputError as error:
            sentence = str(error).removeprefix(f"{what}: ")
            if sentence.startswith(f"{self.name}: "):
                raise
            raise InputError(f"{self.name}: {what}: {sentence}") from None


def _require_unique(name: str, what: str, names: list[str]) -> None:
    for k, one in enumerate(names):
        if one in names[:k]:
            raise InputError(f"{name}: {what}: two are called {one!r}. Give each its own name.")
