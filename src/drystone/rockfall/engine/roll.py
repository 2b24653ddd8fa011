"""Rolling rocks: `roll` for one, `roll_many` for a list of them on all threads.

A trajectory is one compiled call. Rocks do not know of each other, each writes its own records,
and each result depends on its own inputs alone: the same bits for any number of threads. A rock
that overlaps the slope where it starts is lifted straight up until it touches it.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import flag, float_array, integer, of_kind, shown, vector
from drystone.model.signatures import public
from drystone.rockfall.engine.barriers import Barriers, with_spans
from drystone.rockfall.engine.event_log import FOUND, collect
from drystone.rockfall.engine.forest_drag import Forest, build_forest
from drystone.rockfall.engine.lift_start import lift_starts
from drystone.rockfall.engine.options import Options
from drystone.rockfall.engine.records import Trajectory
from drystone.rockfall.engine.rock import Rock, pack_rocks
from drystone.rockfall.engine.scene_checks import check_scene
from drystone.rockfall.engine.trajectory import Workspace, roll_rock
from drystone.rockfall.engine.triangle_grid import Grid
from drystone.rockfall.engine.wall_outcomes import judge_walls
from drystone.rockfall.terrain.materials import Surface

# What a start may have at most: beyond, a step is longer than any terrain, and cells of the map
# would be walked without end. Falling rocks are slower than 100 m/s.
FARTHEST, FASTEST, FASTEST_SPIN = 1e8, 1e4, 1e4  # [m], [m/s], [rad/s]
VALUES = ("restitution", "friction", "rolling", "scarring")  # of a material for a rock
CHUNK = 16  # rocks that a thread takes at a time

NO_BARRIERS = Barriers(
    np.empty((0, 3)), np.empty((0, 3)), np.empty(0), np.empty(0, np.int32), np.empty(0)
)


@public
class Start(NamedTuple):
    """Where and how a rock starts."""

    position: tuple  # centre of mass, local [m]
    velocity: tuple = (0.0, 0.0, 0.0)  # [m/s]
    orientation: tuple = (1.0, 0.0, 0.0, 0.0)  # of the rock's principal axes; w, x, y, z
    spin: tuple = (0.0, 0.0, 0.0)  # [rad/s]


@public
class Scene(NamedTuple):
    """What rocks move in."""

    grid: Grid
    surface: Surface
    barriers: Barriers
    forest: Forest

    @classmethod
    def build(
        cls,
        vertices: np.ndarray,
        triangles: np.ndarray,
        surface: Surface,
        barriers: Barriers | None = None,
        forest: Forest | None = None,
        cell: float | None = None,
    ) -> "Scene":
        """From triangles (m, 3) of local vertices (n, 3), and what stands on them."""
        if barriers is not None:
            of_kind("scene: barriers", barriers, Barriers, "Barriers")
        scene = cls(
            Grid.build(vertices, triangles, cell),
            surface,
            NO_BARRIERS if barriers is None else with_spans(barriers),
            build_forest([], [], []) if forest is None else forest,
        )
        check_scene(scene)
        return scene


def roll(
    rock: Rock, start: Start, scene: Scene, options: Options | None = None, states: bool = False
) -> Trajectory:
    """One rock's trajectory."""
    return roll_many([rock], [start], scene, options, threads=1, states=states)[0]


@public
def roll_many(
    rocks: Sequence[Rock],
    starts: Sequence[Start],
    scene: Scene,
    options: Options | None = None,
    materials: tuple[np.ndarray, ...] | None = None,
    threads: int | None = None,
    states: bool = False,
) -> list[Trajectory]:
    """Trajectories of many rocks.

    materials   (restitution, friction) or (restitution, friction, rolling, scarring), each
                (rocks, materials): values drawn for each rock; None: those of the scene
    threads     None: one for each core
    states      keep the state at the end of every time step too
    """
    options, count = check_rolling(rocks, starts, scene, options, threads)
    keep = flag("states", states)
    if not count:
        return []
    packed, table = pack_rocks(rocks), start_table(starts)
    table[:, 2] += lift_starts(packed, table, scene.grid, FOUND)
    values = material_rows(scene.surface, materials, count)
    planes = plane_count(scene.barriers)
    walled = len(scene.barriers.wall) > 0

    def roll_chunk(chunk):
        first, last = chunk
        work = Workspace.of(options.contacts, options.friction_directions, FOUND, planes)

        def roll_one(k, found, log):
            nonlocal work
            if len(work.found) < found:
                work = Workspace.of(options.contacts, options.friction_directions, found, planes)
            return roll_rock(*scene, packed, k, table, values[k], options, work, log)

        rolled = collect(roll_one, first, last, count, keep)
        return [judge_walls(one, scene.barriers) for one in rolled] if walled else rolled

    return spread(roll_chunk, count, threads)


def check_rolling(rocks, starts, scene, options, threads) -> tuple[Options, int]:
    """The options, and how many rocks; raises InputError for what cannot be rolled."""
    of_kind("scene", scene, Scene, "a Scene, as Scene.build() makes it")
    check_scene(scene)
    if options is not None:
        of_kind("options", options, Options, "Options, or None")
    if threads is not None:
        integer("threads", threads, 1, 4096)
    return (Options() if options is None else options).check(), require_pairs(rocks, starts)


def spread(work, count: int, threads: int | None) -> list[Trajectory]:
    """What work((first, last)) gives for chunks of 0 to count, in their order."""
    chunks = [(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]
    threads = threads or min(os.cpu_count() or 1, len(chunks))
    if threads == 1:
        parts = list(map(work, chunks))
    else:
        with ThreadPoolExecutor(threads) as pool:
            parts = list(pool.map(work, chunks))
    return [trajectory for part in parts for trajectory in part]


def require_pairs(rocks, starts) -> int:
    for name, given, kind in (("rocks", rocks, Rock), ("starts", starts, Start)):
        of_kind(name, given, tuple | list, f"a list of {kind.__name__} objects")
        for one in given:
            of_kind(f"one of the {name}", one, kind, f"a {kind.__name__}")
    if len(rocks) != len(starts):
        raise InputError(f"{len(rocks)} rocks but {len(starts)} starts were given; one each.")
    return len(rocks)


def start_table(starts) -> np.ndarray:
    """(n, 13) position, orientation, velocity and spin of starts."""
    return np.array([start_row(start) for start in starts])


def start_row(start: Start) -> np.ndarray:
    """(13,) position, orientation, velocity and spin; what no rock has is refused."""
    q = np.array(vector("start: orientation", start.orientation, 4))
    if not np.linalg.norm(q) > 0.0:
        raise InputError("start: orientation is zero; give a quaternion w, x, y, z.")
    place = _bounded("position", start.position, FARTHEST, "m")
    velocity = _bounded("velocity", start.velocity, FASTEST, "m/s")
    spin = _bounded("spin", start.spin, FASTEST_SPIN, "rad/s")
    return np.concatenate((place, q / np.linalg.norm(q), velocity, spin))


def _bounded(what: str, value, most: float, unit: str) -> tuple[float, ...]:
    found = vector(f"start: {what}", value)
    if max(map(abs, found)) > most:
        size = max(map(abs, found))
        raise InputError(f"start: {what} is {size:g} {unit}, must be at most {most:g} {unit}.")
    return found


def plane_count(barriers: Barriers) -> int:
    """How many planes of barriers a centre of mass can cross."""
    return len(barriers.span) - 1 + len(barriers.net)


def material_rows(surface: Surface, materials, count: int) -> np.ndarray:
    """(count, 4, materials) restitution, friction, rolling and scarring for each rock."""
    own = (surface.normal_restitution, surface.friction, surface.rolling, surface.scarring)
    rows = np.tile(np.stack(own), (count, 1, 1))
    if materials is None:
        return rows
    wanted = (count, len(surface.friction))
    if not isinstance(materials, tuple | list) or len(materials) not in (2, 4):
        raise InputError(
            f"materials is {shown(materials)}, must be (restitution, friction) or (restitution, "
            f"friction, rolling, scarring)."
        )
    for k, (name, values) in enumerate(zip(VALUES, materials, strict=False)):
        row = float_array("materials", values)
        if row.shape != wanted:
            raise InputError(f"materials: {name} has shape {row.shape}, must be {wanted}.")
        rows[:, k] = row
    return rows
