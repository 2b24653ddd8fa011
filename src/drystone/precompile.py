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


def _mark() -> Path:
    from drystone.jit import source_digest

    return Path(numba.config.CACHE_DIR) / f"compiled-{source_digest()}"


def is_compiled() -> bool:
    """Whether the engine of these sources lies compiled on disk."""
    return bool(numba.config.DISABLE_JIT) or _mark().exists()


def compile_engine(settings) -> None:
    """Compile every stage of the step, unless that has been done."""
    # A compiled step that is read from disk needs the threads that its parallel loops were
    # compiled for; Numba starts them only for kernels that have such a loop themselves.
    numba.get_num_threads()
    if is_compiled():
        return
    log.warning("Compiling the engine for the first time; this takes about a minute, once only.")
    helper = _start_helper()
    _compile_half(settings)
    if helper is not None:
        helper.wait()
    _compile_rest(settings)
    mark = _mark()
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        pass  # a folder that cannot be written: the next process compiles again


def _start_helper() -> subprocess.Popen | None:
    if (os.cpu_count() or 1) < 2:
        return None
    folder = str(Path(__file__).parent.parent)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(numba.config.CACHE_DIR),
        "PYTHONPATH": os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH")))),
    }
    command = [sys.executable, "-c", "import drystone.precompile as p; p.compile_other_half()"]
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
    """What the other process does: Newton first, which the solver here will ask for."""
    from drystone.island_matrix import solve_by_newton
    from drystone.narrowphase.near import collide_near

    model, state, work = _empty_world()
    motion = work.motion
    solve_by_newton(
        0, 0, 0, 0, work.rows, None, motion.mass, motion.free, 0.0, work.island,
        motion.twist,
    )  # fmt: skip
    collide_near(model.shapes, work.boxes, state.pair, state.pair_axis, work.near, 0)


def _compile_half(settings) -> None:
    """All stages but the narrow phase and Newton, run on nothing; the solver last."""
    from drystone import broadphase, contacts, forces, rest, timestep

    model, state, work = _empty_world()
    shapes, bodies, near = model.shapes, model.bodies, work.near
    timestep.pose_rows(model, state, settings, work, None)
    timestep.start_rows(state, settings, work, None)
    timestep.finish(model, state, settings, work, None, 0, 0.0)
    forces.free_twists(bodies, state, settings, work.motion)
    broadphase.place_shapes(model, state, settings, work.boxes, work.log.flag)
    broadphase.find_pairs(model, state, work.boxes)
    contacts.select_near(shapes, bodies.kind, state, work.boxes, near)
    rest.wake_touched(shapes.body, bodies.kind, model.joints.body, state, near, 0)
    contacts.number_contacts(near.slot_count, near.contact_first, 0)
    contacts.gather_contacts(shapes, state, work.motion.turn, near, work.touch, 0)
    timestep.measure_step(work.log.info, work.log.measures, work.rows, work.motion)
    timestep.hash_state(state)
    timestep.solve(model, state, settings, work, None, 0)


def _compile_rest(settings) -> None:
    """The step itself, out of the stages that are compiled by now."""
    from drystone import timestep

    model, state, work = _empty_world()
    timestep.advance(model, None, state, settings, work, None, 0)
