"""Rolling rocks: `roll` for one, `roll_many` for a list of them on all threads.

A trajectory is one compiled call. Rocks do not know of each other, each writes its own records,
and each result depends on its own inputs alone: the same bits for any number of threads.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.rockfall.barriers import Barriers
from drystone.rockfall.forest import Forest, build_forest
from drystone.rockfall.grid import Grid
from drystone.rockfall.logbook import open_logbook
from drystone.rockfall.materials import Surface
from drystone.rockfall.options import Options
from drystone.rockfall.records import Trajectory
from drystone.rockfall.rock import Rock, pack_rocks
from drystone.rockfall.trajectory import DONE, FOUND_FULL, Room, roll_rock
from drystone.shapes.checks import vector

# Sizes of the buffers at first: records of a few dozen rocks, 2 MB a thread.
ARCS, IMPACTS, CROSSINGS, FOUND = 12_000, 6_000, 400, 4_096

CHUNK = 16  # rocks that a thread takes at a time

NO_BARRIERS = Barriers(
    np.empty((0, 3)), np.empty((0, 3)), np.empty(0), np.empty(0, np.int32), np.empty(0)
)


class Start(NamedTuple):
    """Where and how a rock starts."""

    position: tuple  # centre of mass, local [m]
    velocity: tuple = (0.0, 0.0, 0.0)  # [m/s]
    orientation: tuple = (1.0, 0.0, 0.0, 0.0)  # of the rock's principal axes; w, x, y, z
    spin: tuple = (0.0, 0.0, 0.0)  # [rad/s]


class Scene(NamedTuple):
    """What rocks move in."""

    grid: Grid
    surface: Surface
    barriers: Barriers
    forest: Forest

    @classmethod
    def build(cls, vertices, triangles, surface: Surface, barriers=None, forest=None, cell=None):
        """From triangles (m, 3) of local vertices (n, 3), and what stands on them."""
        return cls(
            Grid.build(vertices, triangles, cell),
            surface,
            NO_BARRIERS if barriers is None else barriers,
            build_forest([], [], []) if forest is None else forest,
        )


def roll(rock: Rock, start: Start, scene: Scene, options: Options | None = None) -> Trajectory:
    """One rock's trajectory."""
    return roll_many([rock], [start], scene, options, threads=1)[0]


def roll_many(
    rocks, starts, scene: Scene, options: Options | None = None, materials=None, threads=None
) -> list[Trajectory]:
    """Trajectories of many rocks.

    materials   (restitution, friction), each (rocks, materials): values drawn for each rock;
                None: those of the scene
    threads     None: one for each core
    """
    options = (options or Options()).check()
    if len(rocks) != len(starts):
        raise InputError(f"{len(rocks)} rocks but {len(starts)} starts were given; one each.")
    if not len(rocks):
        return []
    table = np.array([_start_row(start) for start in starts])
    bounce, friction = _material_rows(scene.surface, materials, len(rocks))
    packed = pack_rocks(rocks)
    count = len(rocks)
    chunks = [(i, min(i + CHUNK, count)) for i in range(0, count, CHUNK)]
    threads = threads or min(os.cpu_count() or 1, len(chunks))

    def work(chunk):
        return _roll_chunk(scene, packed, table, bounce, friction, options, *chunk)

    if threads == 1:
        parts = [work(chunk) for chunk in chunks]
    else:
        parts = [work(chunks[0])]  # compiles, before the threads meet
        with ThreadPoolExecutor(threads) as pool:
            parts += pool.map(work, chunks[1:])
    return [trajectory for part in parts for trajectory in part]


def _start_row(start: Start) -> np.ndarray:
    q = np.array(vector("start: orientation", start.orientation, 4))
    if not np.linalg.norm(q) > 0.0:
        raise InputError("start: orientation is zero; give a quaternion w, x, y, z.")
    return np.concatenate(
        (
            vector("start: position", start.position),
            q / np.linalg.norm(q),
            vector("start: velocity", start.velocity),
            vector("start: spin", start.spin),
        )
    )


def _material_rows(surface: Surface, materials, count: int):
    """Restitution and friction of each rock, (count, materials) each."""
    if materials is None:
        one = surface.normal_restitution, surface.friction
        # Copies: a read-only view would be another signature, and another compilation.
        return tuple(np.tile(v, (count, 1)) for v in one)
    wanted = (count, len(surface.friction))
    rows = tuple(np.array(v, dtype=np.float64, order="C") for v in materials)
    for name, row in zip(("restitution", "friction"), rows, strict=True):
        if row.shape != wanted:
            raise InputError(f"materials: {name} has shape {row.shape}, must be {wanted}.")
    return rows


def _roll_chunk(scene, packed, table, bounce, friction, options, first, last) -> list[Trajectory]:
    """Rocks first to last; where the buffers turn out too small they grow, and it starts again."""
    sizes, found, k = np.array([ARCS, IMPACTS, CROSSINGS]), FOUND, first
    room = Room.of(options.contacts, options.friction_directions, found)
    log, pages = open_logbook(*sizes, len(table))
    result = []
    # A loop in compiled code would be another 12 s of compilation, for 0.1 ms a rock.
    while k < last:
        used = log.used.copy()
        status = roll_rock(*scene, packed, k, table, bounce[k], friction[k], options, room, log)
        if status == DONE:
            result.append(_cut(pages, used, log.used, k))
            k += 1
        elif status == FOUND_FULL:
            found *= 4
            room = Room.of(options.contacts, options.friction_directions, found)
            log.used[:] = used
        else:
            sizes = sizes if used.any() else 4 * sizes  # a single rock filled the log
            log, pages = open_logbook(*sizes, len(table))
    return result


def _cut(pages, used, upto, k: int) -> Trajectory:
    """The records of rock k, copied out of the buffers."""
    tables = (pages.arc, pages.impact, pages.crossing)
    parts = [t[a:b].copy() for t, a, b in zip(tables, used, upto, strict=True)]
    return Trajectory(*parts, pages.end[k].copy())
