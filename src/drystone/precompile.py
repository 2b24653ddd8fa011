"""A cold start on two cores: this process compiles one half of the engine, another one the rest.

Compiled code lies in a folder on disk, so what the other process has compiled is loaded here. It
happens once for every version of the sources; a mark in the folder says that it has.
"""

import logging
import os
import subprocess
import sys
from pathlib import Path

import numba

log = logging.getLogger("drystone")


def _mark(linked: bool) -> Path:
    from drystone.jit import source_digest

    kind = "linked" if linked else "compiled"
    return Path(numba.config.CACHE_DIR) / f"{kind}-{source_digest()}"


def is_compiled(linked: bool = False) -> bool:
    """Whether the engine of these sources lies compiled on disk, with joints if `linked`."""
    return bool(numba.config.DISABLE_JIT) or _mark(linked).exists()


def compile_engine(settings, linked: bool) -> None:
    """Compile every stage of the step, unless that has been done.

    A world with joints has more stages, and is compiled when the first of them runs.
    """
    # A compiled step that is read from disk needs the threads that its parallel loops were
    # compiled for; Numba starts them only for kernels that have such a loop themselves.
    numba.get_num_threads()
    if not is_compiled():
        log.warning("Compiling the engine for the first time: about a minute, once only.")
        _compile_together(settings, False)
    if linked and not is_compiled(True):
        log.warning("Compiling joints for the first time: about a minute, once only.")
        _compile_together(settings, True)


def _compile_together(settings, linked: bool) -> None:
    halves = ("compile_other_linked_half", _compile_linked_half) if linked else (
        "compile_other_half", _compile_half
    )  # fmt: skip
    helper = _start_helper(halves[0])
    halves[1](settings)
    if helper is not None:
        helper.wait()
    compile_step(empty_linkage() if linked else None)
    mark = _mark(linked)
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        pass  # a folder that cannot be written: the next process compiles again


def _start_helper(function: str) -> subprocess.Popen | None:
    if (os.cpu_count() or 1) < 2:
        return None
    folder = str(Path(__file__).parent.parent)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(numba.config.CACHE_DIR),
        "PYTHONPATH": os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH")))),
    }
    command = [sys.executable, "-c", f"import drystone.precompile as p; p.{function}()"]
    try:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None  # then all is compiled here, which only takes longer


def _empty_world():
    """Model, state and work of a world with nothing in it: its types are those of every world."""
    import numpy as np

    from drystone import arrays
    from drystone.joints.table import pack_joints
    from drystone.shapes.tables import build_shapes

    none, nothing = np.zeros(0), np.zeros((0, 3))
    bodies = arrays.Bodies(np.zeros(0, np.int32), none, nothing, nothing, none)
    square = np.zeros((0, 0))
    pairing = arrays.Pairing(square, square, np.zeros(0, np.int64))
    joints = pack_joints([], None, nothing, np.zeros((0, 4)))
    model = arrays.Model(build_shapes([]), bodies, pairing, joints)
    state = arrays.new_state(model, nothing, np.zeros((0, 4)), np.zeros((0, 6)))
    return model, state, arrays.allocate(model)


def compile_other_half() -> None:
    """What the other process does: the narrow phase."""
    from drystone.timestep import collide

    model, state, work = _empty_world()
    collide(None, model.shapes, work.boxes, state, work.near, 0)


def _compile_half(settings) -> None:
    """All parts of the step but the narrow phase, run on nothing."""
    from drystone import (
        assemble,
        broadphase,
        commit,
        contacts,
        drift,
        forces,
        impact,
        islands,
        measures,
        rest,
        sweeps,
    )
    from drystone.island_matrix import solve_by_newton

    model, state, work = _empty_world()
    shapes, bodies, near, motion = model.shapes, model.bodies, work.near, work.motion
    rows, graph, touch = work.rows, work.graph, work.touch
    forces.free_twists(bodies, state, settings, motion)
    broadphase.place_shapes(model, state, settings, work.boxes, work.log.flag)
    broadphase.find_pairs(model, state, work.boxes)
    contacts.select_near(shapes, bodies.kind, state, work.boxes, near)
    rest.wake_touched(shapes.body, bodies.kind, model.joints.body, state, near, 0)
    contacts.number_contacts(near.slot_count, near.contact_first, 0)
    contacts.gather_contacts(shapes, state, motion.turn, near, touch, 0)
    islands.find_islands(
        shapes.body, bodies.kind, state.pair, near, model.joints.body, state.asleep, graph, 0
    )
    islands.order_contacts(
        shapes.body, bodies.kind, state.pair, near, graph, None, touch.row_contact, rows, 0
    )
    assemble.assemble_rows(
        model.pairing, state, motion.mass, touch, rows, bodies.radius, 0, settings.skin,
        settings.dt,
    )  # fmt: skip
    impact.strike(state, settings, motion, rows, 0)
    sweeps.push_all(rows, 0, motion.mass, motion.twist)
    sweeps.solve_rows(rows, 0, 0, False, motion.mass, 0.0, 0, False, motion.twist)
    drift.mark_rough(motion.rough, rows, 0, 0, settings)
    drift.displace_bodies(bodies, state, motion, 0, settings.dt)
    drift.make_room(motion, rows, 0, 0, settings)
    commit.find_nonfinite(
        state.position, state.rotation, motion.twist, motion.move, motion.later
    )
    commit.keep_contacts(shapes.body, bodies.kind, state, near, touch, rows, 0, 0)
    commit.move_bodies(bodies, state, motion, settings.dt)
    rest.fall_asleep(bodies, state, settings, graph)
    measures.measure_rows(
        0, rows.body, rows.frame, rows.arm, rows.bias, rows.friction, rows.impulse, motion.twist,
        motion.free, work.log.measures,
    )  # fmt: skip
    commit.hash_state(state)
    solve_by_newton(
        0, 0, 0, 0, rows, None, motion.mass, motion.free, 0.0, work.island, motion.twist
    )


def compile_other_linked_half() -> None:
    """What the other process does for joints: the solver."""
    from drystone.arrays import Settings
    from drystone.articulate import solve_linked

    model, state, work = _empty_world()
    solve_linked(
        empty_linkage(), model.joints, model.bodies, state, work.rows, 0, Settings(), work.island,
        work.motion,
    )  # fmt: skip


def _compile_linked_half(settings) -> None:
    """The parts of the step that joints change, but for the solver."""
    from drystone import articulate, islands, rattle, straighten
    from drystone.linkage import start_joints

    model, state, work = _empty_world()
    linkage, shapes, bodies = empty_linkage(), model.shapes, model.bodies
    rattle.fit_velocities(
        linkage, model.joints, bodies, state, work.rows, 0, settings, work.island, work.motion
    )
    straighten.straighten(
        linkage, model.joints, bodies, state, work.rows, 0, settings, work.island, work.motion
    )
    articulate.pose_joints(
        linkage, model.joints, bodies, state, settings, work.motion.mass
    )
    articulate.keep_joints(linkage, model.joints, state)
    start_joints(linkage, state, work.motion.mass, work.motion.twist)
    islands.order_contacts(
        shapes.body, bodies.kind, state.pair, work.near, work.graph, linkage,
        work.touch.row_contact, work.rows, 0,
    )  # fmt: skip


def compile_step(linkage=None) -> None:
    """The step itself, out of the parts that are compiled by now."""
    from drystone import timestep
    from drystone.arrays import Settings

    model, state, work = _empty_world()
    timestep.advance(model, None, state, Settings(), work, linkage, None, 0)


def empty_linkage():
    """The joints of a world that has none, of the type that those of every other world have."""
    import numpy as np

    from drystone.joints.table import pack_joints
    from drystone.linkage import room_for_joints

    return room_for_joints(pack_joints([], None, np.zeros((0, 3)), np.zeros((0, 4))), 0)
