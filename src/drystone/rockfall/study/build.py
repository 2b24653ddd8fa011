"""What a study's entries become on its terrain; the helpers of study.py."""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, did_you_mean, shown
from drystone.rockfall.engine.barriers import Net, Wall, line_wall, long_middle, mesh_wall
from drystone.rockfall.input_files import is_file, read_utf8
from drystone.rockfall.optional_packages import load
from drystone.rockfall.study.barrier_design import DesignCase, DesignFactors
from drystone.rockfall.study.distributions import fixed
from drystone.rockfall.study.sources import area_source, line_source, point_source
from drystone.rockfall.study.trees import Trees, join_trees, plant, require_trunks
from drystone.rockfall.terrain.crs import require_same_map
from drystone.rockfall.terrain.materials import NO_TEXTURE, NONE, Texture
from drystone.rockfall.terrain.mesh_slope import read_closed_mesh, read_mesh
from drystone.rockfall.terrain.raster_files import read_raster
from drystone.rockfall.terrain.regions import Region
from drystone.rockfall.terrain.soils import find_soil
from drystone.rockfall.terrain.vector_files import (
    points_of,
    polygon_of,
    read_features,
    require_area,
)


class CheckLine(NamedTuple):
    name: str
    points: np.ndarray  # (n, 2) local [m]


def file_names(settings) -> list[str]:
    """Of all files that a study reads, terrain first."""
    materials = settings.materials
    names = [settings.terrain.file, *(region.file for region in materials.regions)]
    if isinstance(materials.triangles, str):
        names.append(materials.triangles)
    if materials.texture is not None:
        names.append(materials.texture.file)
    for parts in (settings.rocks, settings.sources, settings.barriers, settings.forest,
                  settings.trees or (), settings.check_lines):  # fmt: skip
        names += [part.file for part in parts]
    names += [part.mesh for part in settings.barriers]
    names.append(settings.output.grid)
    return list(dict.fromkeys(name for name in names if name is not None))


def make_options(kind, given: dict):
    """A named tuple of options with those given; wrong ones are refused."""
    defaults = kind()._asdict()
    values = {}
    for key, value in given.items():
        if key not in defaults:
            raise InputError(f"has no entry {shown(key)}. {did_you_mean(key, defaults)}")
        whole = isinstance(defaults[key], int)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
            raise InputError(
                f"{key} is {shown(value)}, must be a {'whole ' if whole else ''}number."
            )
        try:
            values[key] = value if whole else float(value)
        except OverflowError:
            raise InputError(f"{key} is beyond 1e308, must be a finite number.") from None
    return kind(**values).check()


def design_case(part) -> DesignCase:
    factors = DesignFactors(
        part.topography, part.block_survey, part.simulation, part.unit_weight, part.percentile
    )
    return DesignCase(
        factors, part.block, part.energy_factor, part.free_border, part.service_factor,
        part.standard, part.action_factor, part.height_factor,
    )  # fmt: skip


def material_spread(part) -> tuple:
    """(restitution, friction, rolling, scarring) of a material class, as distributions."""
    soil = find_soil(part.preset) if part.preset is not None else None
    restitution = part.restitution or (soil.restitution if soil else None)
    friction = part.friction or (soil.friction if soil else None)
    for what, value in (("restitution", restitution), ("friction", friction)):
        if value is None:
            why = f" (preset {part.preset} has none)" if soil else ""
            raise InputError(f"needs {what}{why}.")
    rolling = part.rolling or (soil.rolling if soil else None) or fixed(0.0)
    return restitution, friction, rolling, part.scarring or fixed(0.0)


def triangle_ids(study, given) -> np.ndarray | None:
    """(m,) material ids by triangle, from lists of triangles or a file with one name a line."""
    if given is None:
        return None
    count = len(study.slope.triangles)
    ids = np.full(count, NONE, dtype=np.int32)
    if isinstance(given, dict):
        for name, rows in given.items():
            if rows and not (min(rows) >= 0 and max(rows) < count):
                raise InputError(
                    f"{study.name}: materials.triangles.{name}: triangles go from 0 to "
                    f"{count - 1}, but {max(rows) if max(rows) >= count else min(rows)} is named."
                )
            ids[np.array(rows, dtype=np.int64)] = study.material_names.index(name)
        return ids
    return _ids_of_file(study, given, ids)


def _ids_of_file(study, file: str, ids: np.ndarray) -> np.ndarray:
    path = study.folder / file
    if not is_file(path):
        raise InputError(f"{study.name}: materials.triangles: there is no file {path}.")
    with study.blaming("materials.triangles"):
        names = read_utf8(path).split("\n")
    names = names[:-1] if names and not names[-1].strip() else names
    if len(names) != len(ids):
        raise InputError(
            f"{study.name}: materials.triangles: {path.name} has {len(names)} lines, but the slope "
            f"has {len(ids)} triangles. Give a material a line; an empty line for none."
        )
    for k, name in enumerate(names):
        name = name.strip()
        if name:
            what = f"{study.name}: materials.triangles: {path.name}, line {k + 1}"
            ids[k] = study.material_names.index(choice(what, name, study.material_names))
    return ids


def regions(study, parts) -> list[Region]:
    """Material regions of the study, in its order."""
    found = []
    for k, part in enumerate(parts):
        what = f"materials.regions[{k}]"
        with study.blaming(what):
            if part.polygon is not None:
                polygon = polygon_of("polygon", part.polygon, study.slope)
                code = study.material_names.index(part.material)
                found.append(Region(polygon, code, part.priority))
            else:
                found += _regions_of_file(study, part)
    return found


def _regions_of_file(study, part) -> list[Region]:
    features = read_features(study.folder / part.file, study.slope, ("polygon",), part.layer)
    count = len(features.shapes)
    names = [part.material] * count
    if part.material is None:
        names = [str(name) for name in features.column(part.column)]
    priority = np.full(count, part.priority)
    if part.priority_column is not None:
        priority = _numbers(features, part.priority_column)
    found = []
    for k, (shape, name) in enumerate(zip(features.shapes, names, strict=True)):
        choice(f"{features.name}, polygon {k + 1}: material", name, study.material_names)
        require_area(f"{features.name}, polygon {k + 1}", shape)
        found.append(Region(shape, study.material_names.index(name), float(priority[k])))
    return found


def _numbers(features, key: str) -> np.ndarray:
    try:
        values = np.asarray(features.column(key), dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if not np.isfinite(values).all():
        raise InputError(f"{features.name}: its column {key!r} must hold a number in every row.")
    return values


def texture(study, part) -> Texture:
    """Material ids on the raster of a texture."""
    if part is None:
        return NO_TEXTURE
    with study.blaming("materials.texture"):
        raster = read_raster(study.folder / part.file)
        require_same_map(part.file, raster.crs, study.slope.crs)
        ids = np.full(raster.values.shape, NONE, dtype=np.int32)
        for code in np.unique(raster.values[np.isfinite(raster.values)]):
            name = part.codes.get(f"{code:g}")
            if name is None:
                raise InputError(
                    f"{part.file} holds the code {code:g}, which codes does not name. Add "
                    f"{code:g} = '...', or make it NoData."
                )
            ids[raster.values == code] = study.material_names.index(name)
    cell = np.array([raster.dx, raster.dy])
    low = np.array([raster.x0, raster.y0]) - 0.5 * cell - study.slope.origin[:2]
    high = low + cell * ids.shape[::-1]
    ground = [corner[:2] for corner in study.slope.bounds]
    if (high <= ground[0]).any() or (low >= ground[1]).any():
        raise InputError(
            f"{study.name}: materials.texture: {part.file} covers none of the terrain. Is it in "
            f"the same coordinate system?"
        )
    return Texture(ids, low, cell)


def lines(study, part) -> list[np.ndarray]:
    """(n, 2) local lines of an entry: its own, or all of its file."""
    shapely = load("shapely", "Geometry")
    with study.blaming(f"{_kind(part)} ({part.name})"):
        if part.line is not None:
            found = [points_of("line", part.line, study.slope)[:, :2]]
        else:
            features = read_features(study.folder / part.file, study.slope, ("line",), part.layer)
            parts = shapely.get_parts(features.shapes)
            found = [shapely.get_coordinates(line) for line in parts]
        for line in found:
            if len(line) < 2 or not (np.diff(line, axis=0) != 0.0).any():
                raise InputError("the line has no length: it needs two different points.")
    return found


def walls(study, part) -> list[Wall]:
    """The walls of a contact barrier: along its lines, or its mesh."""
    if part.mesh is None:
        return [
            line_wall(study.slope, line, part.height, part.thickness) for line in lines(study, part)
        ]
    path = study.folder / part.mesh
    if not is_file(path):
        raise InputError(f"there is no file {path}.")
    vertices, triangles = read_closed_mesh(path)
    line = None if part.line is None else lines(study, part)[0]
    return [mesh_wall(study.slope, vertices - study.slope.origin, triangles, line)]


def nets(study, part) -> list[Net]:
    """The crossing barriers of an entry: along its lines, or its mesh."""
    curve = None
    if part.attenuation is not None:
        curve = 1e3 * np.array(part.attenuation, dtype=np.float64)  # kJ in the file
    common = {"capacity": 1e3 * part.most, "attenuation": curve}
    if part.mesh is None:
        lean = np.radians(part.inclination or 0.0)
        return [Net(line, part.height, inclination=lean, **common) for line in lines(study, part)]
    path = study.folder / part.mesh
    if not is_file(path):
        raise InputError(f"there is no file {path}.")
    vertices, triangles = read_mesh(path)
    vertices = vertices - study.slope.origin
    line = long_middle(vertices[:, :2], flat=True) if part.line is None else lines(study, part)[0]
    top = float(vertices[:, 2].max() - study.slope.height(*line[0]))
    return [Net(line, top, mesh=vertices[triangles], **common)]


def _kind(part) -> str:
    return {"BarrierPart": "barriers", "SourcePart": "sources"}.get(
        type(part).__name__, "check_lines"
    )


def part_name(part, k: int) -> str:
    """Of line k of an entry; only files hold more than one."""
    return part.name if k == 0 else f"{part.name} {k + 1}"


def check_lines(study) -> list[CheckLine]:
    return [
        CheckLine(part_name(part, k), line)
        for part in study.settings.check_lines
        for k, line in enumerate(lines(study, part))
    ]


def forest_zones(study):
    """Polygons, drag, height and priority of all zones."""
    polygons, drag, height, priority = [], [], [], []
    for k, part in enumerate(study.settings.forest):
        with study.blaming(f"forest[{k}]"):
            for polygon in _polygons(study, part):
                polygons.append(polygon)
                drag.append(part.drag)
                height.append(part.height)
                priority.append(part.priority)
    return polygons, drag, height, priority


def trees(study) -> Trees:
    """All single trees, planted."""
    groups = []
    for k, part in enumerate(study.settings.trees or ()):
        with study.blaming(f"trees[{k}]"):
            trunks = _trunks(study, part)
            code = study.material_names.index(part.material)
            groups.append(plant(study.slope, trunks, part.height, code))
    return join_trees(groups)


def _trunks(study, part) -> np.ndarray:
    """(n, 3) local x, y and diameter."""
    if part.points is not None:
        rows = np.array(part.points, dtype=np.float64).reshape(-1, 3)
        return require_trunks("points", rows - (*study.slope.origin[:2], 0.0))
    shapely = load("shapely", "Geometry")
    features = read_features(study.folder / part.file, study.slope, ("point",), part.layer)
    single, owner = shapely.get_parts(features.shapes, return_index=True)
    diameter = _numbers(features, part.column)[owner]
    return require_trunks(
        features.name, np.column_stack([shapely.get_coordinates(single), diameter])
    )


def _polygons(study, part) -> list:
    if part.polygon is not None:
        return [polygon_of("polygon", part.polygon, study.slope)]
    features = read_features(study.folder / part.file, study.slope, ("polygon",), part.layer)
    return [
        require_area(f"{features.name}, polygon {k + 1}", shape)
        for k, shape in enumerate(features.shapes)
    ]


def source_shape(study, part):
    """Points, lines or an area of the slope."""
    shapely, slope = load("shapely", "Geometry"), study.slope
    if part.points is not None:
        return point_source(slope, points_of("points", part.points, slope))
    if part.line is not None:
        return line_source(slope, lines(study, part))
    if part.polygon is not None or (part.file is None and part.steeper_than is not None):
        polygon = polygon_of("polygon", part.polygon, slope) if part.polygon is not None else None
        return area_source(slope, polygon, part.steeper_than)
    kinds = ("polygon",) if part.steeper_than is not None else ("point", "line", "polygon")
    features = read_features(study.folder / part.file, slope, kinds, part.layer)
    parts = shapely.get_parts(features.shapes)
    found = {shape.geom_type for shape in parts}
    if len(found) > 1:
        mixed = " and ".join(sorted(found))
        raise InputError(f"{features.name} mixes {mixed}; make a source of each.")
    if found == {"Point"}:
        deep = bool(shapely.has_z(parts).all())
        return point_source(slope, shapely.get_coordinates(parts, include_z=deep))
    if found == {"LineString"}:
        return line_source(slope, [shapely.get_coordinates(line) for line in parts])
    for k, shape in enumerate(features.shapes):
        require_area(f"{features.name}, polygon {k + 1}", shape)
    return area_source(slope, shapely.union_all(features.shapes), part.steeper_than)


def pick(things: list, u: float):
    """One of `things` by their `weight`."""
    upto = np.cumsum([thing.weight for thing in things])
    k = int(np.searchsorted(upto, u * upto[-1], side="right"))
    return things[min(k, len(things) - 1)]
