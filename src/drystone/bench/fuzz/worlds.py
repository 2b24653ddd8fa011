"""Random worlds, stepped: no NaN, no slow step, no body below the ground unless `info` says so."""

from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.case import Case, Family, Misbehaviour
from drystone.bench.fuzz.file_seeds import small_world
from drystone.bench.fuzz.random_worlds import Made, draw_shape, make_world
from drystone.errors import DrystoneError

ENOUGH = 4.0  # of a case [s of the processor]
MOST_STEPS = 150
# What `info` must have said before a body may be found below the ground: an overlap of so much of
# its size, or a residual of so much [m/s].
SAID_OVERLAP, SAID_RESIDUAL = 0.1, 0.1


def run_case(case: Case) -> None:
    """One world, edited and stepped."""
    try:
        made = make_world(case.rng)
    except DrystoneError as error:  # these worlds are meant to be right
        raise Misbehaviour("cannot be built", str(error)) from None
    world = made.world
    case.group = f"{world.dim} dimensions, {made.ground}"
    case.notes += made.notes
    begin, steps = process_time(), int(case.rng.integers(5, MOST_STEPS))
    said: dict[int, float] = {}  # body: the worst that info has said since it was above the ground
    for k in range(steps):
        info = world.step()
        if not np.isfinite(world.positions).all() or not np.isfinite(world.velocities).all():
            raise Misbehaviour("not finite", f"a pose is not finite after step {k + 1}")
        if world.settings.ccd and world.settings.skin <= 0.01:  # else promised nothing
            _look_below(made, info, said, k)
        if case.rng.random() < 0.03:
            _edit(case, made)
            world = made.world
        if process_time() - begin > ENOUGH:
            break
    world.check()
    world.energy()
    world.hash()


def _look_below(made: Made, info: Any, said: dict[int, float], k: int) -> None:
    for body in made.guarded:
        x, y, z = body.centre
        depth = made.height(x, y) - z
        if depth <= 0.0:
            said.pop(body.number, None)
        size = 2.0 * max(part.radius for part in body.shape.parts())
        word = max(info.penetration / (SAID_OVERLAP * size), info.residual / SAID_RESIDUAL)
        said[body.number] = max(said.get(body.number, 0.0), word)
        if depth > size and said[body.number] < 1.0:
            raise Misbehaviour(
                "below ground", f"{body!r} is {depth:.2g} m below the ground after step {k + 1}; "
                f"info says overlap {info.penetration:.2g} m, residual {info.residual:.2g} m/s",
            )  # fmt: skip


def _edit(case: Case, made: Made) -> None:
    """Something that a user may do while a world runs."""
    world, rng = made.world, case.rng
    body = world.bodies[rng.integers(len(world))] if len(world) else None
    kind = rng.integers(6)
    if kind == 0 and body is not None and len(world) > 1:
        made.guarded = [other for other in made.guarded if other is not body]
        world.remove(body)
    elif kind == 1 and body is not None:
        body.velocity = (1, 2) if world.dim == 2 else (1, 0, 2)
    elif kind == 2 and body is not None:
        body.mass = float(body.mass * 10 ** rng.uniform(-1, 1))
    elif kind == 3:
        where = (0, 6) if world.dim == 2 else (0, 0, 6)
        made.guarded.append(world.add_body(draw_shape(rng, world.dim == 2), position=where))
    elif kind == 4 and body is not None:
        body.force = (5, 5) if world.dim == 2 else (5, 0, 5)
    elif kind == 5:
        _reload(case, made)
    case.note(f"edit {kind}")


def _reload(case: Case, made: Made) -> None:
    world, path = made.world, case.folder / "world.h5"
    before = world.hash()
    world.save(path)
    again = ds.World.load(path)
    if again.hash() != before:
        raise Misbehaviour("another hash", "a saved world has another hash when it is loaded")
    numbers = {body.number: body for body in again.bodies}
    made.guarded = [numbers[body.number] for body in made.guarded]
    made.world = again


def prepare(folder: Path) -> None:
    """Nothing is shared; a step with a mesh, a terrain and a joint, so that no case compiles it."""
    small_world().step()


FAMILY = Family(prepare, run_case, batch=50, megabytes=2048.0)
