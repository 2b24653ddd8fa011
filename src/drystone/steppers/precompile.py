"""A cold start on two cores: this process compiles one half of the engine, another one the rest.

Compiled code lies in a folder on disk, so what the other process has compiled is loaded here. It
happens once for every version of the sources; a mark in the folder says that it has. To compile a
stage, or to load it, is to run it on a world with nothing in it. Every process does so before its
first step, since the step finds its stages by the address where they have been loaded
(jit/stage.py).
"""

import hashlib
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numba
import numpy as np

import drystone
from drystone import timestep
from drystone.collision import broadphase, contacts, moved_pairs
from drystone.collision.active_pairs import select_near
from drystone.collision.ccd import stop_fast_solids
from drystone.collision.ccd_mesh import find_every_toi, find_mesh_tois
from drystone.collision.narrowphase.collide import collide_near
from drystone.collision.narrowphase.dispatch import collide_pairs
from drystone.collision.narrowphase.mesh.collide import collide_every, collide_meshes
from drystone.collision.narrowphase.sdf.collide import collide_sdfs
from drystone.collision.narrowphase.terrain.convex import terrain_contacts
from drystone.collision.seams import leave_out_seams, surface_height
from drystone.constraints import islands
from drystone.constraints.contact_rows import assemble_rows
from drystone.constraints.error_measures import measure_rows
from drystone.constraints.joint_rows import new_joint_work
from drystone.constraints.joints.pack import pack_joints
from drystone.forces.free_velocity import free_twists
from drystone.jit.disk_cache import target_name
from drystone.jit.folders import folders
from drystone.jit.linking import without_collections
from drystone.model import arrays, capacity
from drystone.model.arrays import Settings
from drystone.motion import displacement, finalize, sleeping, stabilization
from drystone.shapes.tables import build_shapes
from drystone.solvers.articulated import rattle, rattle_island
from drystone.solvers.articulated.energy_balance import balance_energies, draw_budgets
from drystone.solvers.articulated.joint_error import report_joint_errors
from drystone.solvers.articulated.solve_islands import fill_joint_rows, solve_articulated
from drystone.solvers.articulated.spinning import parts_for_spins
from drystone.solvers.articulated.stabilization import stabilize_joints
from drystone.solvers.articulated.substeps import integrate_substeps
from drystone.solvers.gauss_seidel.solve_islands import push_all, solve_rows
from drystone.solvers.gauss_seidel.sweep import sweeps_alone
from drystone.solvers.newton.by_bodies import solve_by_bodies
from drystone.solvers.newton.island_delassus import solve_by_newton
from drystone.solvers.newton.local_rounds import finish_locally
from drystone.solvers.stages.carried_contacts import carry_islands_solids
from drystone.solvers.stages.contact_balance import draw_balances, settle_balances
from drystone.solvers.stages.impact import solve_impacts_solids
from drystone.solvers.stages.least_norm import share_evenly
from drystone.solvers.stages.swinging_meshes import parts_for_swings

log = logging.getLogger("drystone")


# A half takes one minute, on a machine that is taken by others perhaps ten.
HELPER_SECONDS = 900.0

PLAIN, LINKED, MESHED, FIELDED = "engine", "joints", "meshes", "fields"
GROUNDED, CROWDED = "terrain", "large-islands"
ROBOTS, LINKED_ROBOTS = "robots", "robots-with-joints"


def _mark(part: str) -> str:
    """Name of the file that says so: for this processor, many of which may share a folder."""
    return f"{part}-{hashlib.blake2b(target_name().encode(), digest_size=6).hexdigest()}.done"


def is_compiled(part: str = PLAIN) -> bool:
    """Whether this part of the engine lies compiled on disk, from these very sources."""
    return bool(numba.config.DISABLE_JIT) or folders.has(_mark(part))


def compile_engine(
    linked: bool, meshed: bool, fielded: bool, many: bool, grounded: bool = True
) -> None:
    """Compile every stage of the step, or load it if that has been done.

    Worlds with joints, meshes, fields, terrain or many bodies have more stages, compiled when the
    first of them runs.
    """
    # A compiled step that is read from disk needs the threads that its parallel loops were
    # compiled for; Numba starts them only for kernels that have such a loop themselves.
    numba.get_num_threads()
    _compile(PLAIN, run_geometry, run_dynamics, compile_step)
    if grounded or meshed:
        _compile(GROUNDED, None, load_terrain, None)
    if meshed:
        _compile(MESHED, run_following, run_meshes, None)
    if fielded:
        _compile(FIELDED, None, run_fields, None)
    if many:
        _compile(CROWDED, None, run_large_islands, None)
    if linked:
        _compile(LINKED, run_joint_solver, run_joint_rows, compile_linked_step)


@contextmanager
def first_time(part: str) -> Iterator[None]:
    """Around the first call of a step that is compiled as a whole: says so if it takes long."""
    new = not is_compiled(part)
    if new:
        log.warning("Compiling the %s for the first time: minutes of computing, once.", part)
    yield
    if new:
        folders.write(_mark(part), b"")


def _compile(part: str, other_half, half, step) -> None:
    """Run stages on nothing; where they are not compiled yet, `other_half` in another process."""
    if is_compiled(part):
        half()
        if other_half:
            other_half()
        return
    log.warning("Compiling the %s for the first time: minutes of computing, once.", part)
    with without_collections():
        helper = _start_helper(other_half) if other_half else None
        half()
        if helper is not None:
            _await(helper)
        if other_half:
            other_half()
        if step:
            step()
    folders.write(_mark(part), b"")


def _await(helper: subprocess.Popen) -> None:
    """Wait for the other half; what it has not done by then is compiled here."""
    try:
        helper.wait(HELPER_SECONDS)
    except subprocess.TimeoutExpired:
        helper.kill()
        helper.wait()


def _start_helper(function) -> subprocess.Popen | None:
    shared = folders.shared_with()
    if shared is None or (os.cpu_count() or 1) < 2:
        return None
    folder = str(Path(drystone.__file__).parents[1])
    environment = os.environ | {
        "DRYSTONE_CACHE": shared,
        "PYTHONPATH": os.pathsep.join(filter(None, (folder, os.environ.get("PYTHONPATH")))),
    }
    command = [
        sys.executable,
        "-c",
        f"import gc, drystone.steppers.precompile as p; gc.disable(); p.{function.__name__}()",
    ]
    try:
        return subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError:
        return None  # then all is compiled here, which only takes longer


def _empty_world():
    """Model, state and work of a world with nothing in it: its types are those of every world."""
    none, nothing = np.zeros(0), np.zeros((0, 3))
    bodies = arrays.Bodies(np.zeros(0, np.int32), none, nothing, nothing, none)
    square = np.zeros((0, 0))
    pairing = arrays.Pairing(
        square, square, np.zeros(0, np.int64), np.zeros((1, 1, 2)), np.zeros((1, 3)),
        np.zeros(2, np.int32),
    )  # fmt: skip
    joints = pack_joints([], None, nothing, np.zeros((0, 4)))
    model = arrays.Model(build_shapes([]), bodies, pairing, joints)
    state = arrays.new_state(model, nothing, np.zeros((0, 4)), np.zeros((0, 6)))
    return model, state, capacity.allocate(model)


def _prepare(stage, *args) -> None:
    """Compile a stage without a call; what is not compiled at all is a function as it stands."""
    if not numba.config.DISABLE_JIT:
        stage.prepare(*args)


def run_geometry() -> None:
    """Collision stages and islands, on nothing."""
    model, state, work = _empty_world()
    shapes, bodies, near, boxes = model.shapes, model.bodies, work.near, work.boxes
    collide_pairs(
        shapes, boxes.pose, state.pair, near.pair, boxes.spread, state.pair_axis,
        near.slot_first, near.slot_count, near.slot, 0, 0, np.zeros((256, 4)),
    )  # fmt: skip
    collide_near(shapes, boxes, state.pair, state.pair_axis, near, 0)
    leave_out_seams(shapes, bodies.kind, boxes, state.pair, near, 0, 0.0)
    broadphase.update_aabbs(
        model.shapes, bodies, state, work.motion.force, Settings(), boxes, work.log.flag
    )
    broadphase.find_pairs(model, state, boxes)
    moved_pairs.find_moved_pairs(model, state, boxes)
    select_near(shapes, bodies.kind, state, boxes, near)
    sleeping.wake_touched(shapes.body, bodies.kind, model.joints.body, state, near, 0)
    contacts.gather_contacts(shapes, state, work.motion.rotation_matrix, near, work.contact_list, 0)
    islands.find_islands(
        shapes.body, bodies.kind, state.pair, near, model.joints.body, state.asleep, work.graph, 0
    )
    _order_contacts(None)


def load_terrain() -> None:
    """Contacts with terrain, which cannot run on nothing: it looks at one pair."""
    model, state, work = _empty_world()
    a = t = first = np.int32(0)
    _prepare(
        terrain_contacts,
        model.shapes,
        work.boxes.pose,
        a,
        t,
        0.0,
        work.near.slot,
        first,
        np.zeros((256, 4)),
    )
    _prepare(surface_height, model.shapes, work.boxes.pose, a, (0.0, 0.0, 0.0), 0.0)


def run_meshes() -> None:
    """Contacts of meshes, on nothing."""
    model, state, work = _empty_world()
    collide_every(0, 1, 0, model.shapes, work.boxes, state.pair, state.pair_axis, work.near)
    collide_meshes(model.shapes, work.boxes, state.pair, state.pair_axis, work.near, 0)
    parts_for_swings(model.shapes.kind, model.bodies, state, np.int64(0), Settings(), work)


def run_following() -> None:
    """Continuous collision detection of meshes, on nothing."""
    model, state, work = _empty_world()
    swept = (
        model.shapes, work.boxes, state, Settings(), work.motion, work.ccd.fraction,
        work.ccd.changed_before, work.near,
    )  # fmt: skip
    find_every_toi(0, 1, 0, *swept, True)
    find_mesh_tois(*swept, 0, True)


def run_fields() -> None:
    """Contacts of meshes from their distances, on nothing."""
    model, state, work = _empty_world()
    collide_sdfs(model.shapes, work.boxes, state.pair, state.pair_axis, work.near, 0)


def run_large_islands() -> None:
    """Newton on islands of any size, on nothing."""
    _, _, work = _empty_world()
    motion = work.motion
    rows, mass, twist = work.rows, motion.mass, motion.twist
    solve_by_bodies(0, 0, rows, mass, motion.free, (0.0, 0.0, 0.0), twist)
    finish_locally(0, 0, 0, False, rows, 0, 0, mass, twist, work.log.info)


def _order_contacts(joint_work) -> None:
    model, state, work = _empty_world()
    islands.order_contacts(
        model.shapes.body, model.bodies.kind, state.pair, work.near, work.graph, joint_work,
        work.contact_list.row_contact, work.rows, 0,
    )  # fmt: skip


def run_dynamics() -> None:
    """Free velocities, contact rows, solve and motion, on nothing."""
    model, state, work = _empty_world()
    settings, bodies, motion, rows = Settings(), model.bodies, work.motion, work.rows
    free_twists(bodies, state, settings, motion)
    assemble_rows(
        model.pairing, state, motion.mass, work.contact_list, rows, bodies.radius, 0, settings.skin,
        settings.dt,
    )  # fmt: skip
    push_all(rows, 0, motion.mass, motion.twist)
    solve_rows(rows, 0, 0, False, motion.mass, 0.0, 0.0, sweeps_alone(0), False, motion.twist)
    share_evenly(rows, 0, motion.mass, motion.twist, 0.0, work.island.newton.matrix)
    _solve_by_newton(None)
    displacement.displace_bodies(bodies, state, motion, 0, settings.dt)
    stabilization.push_apart(motion, rows, 0, 0, settings)
    measure_rows(0, rows, motion.twist, motion.free, work.log.measures)
    contacts.store_contacts(
        model.shapes.body, bodies.kind, state, work.near, work.contact_list, rows, 0, 0
    )
    draw_balances(bodies, state, settings, rows, 0, 0, motion, work.graph.queue)
    finalize.move_bodies(bodies, state, motion, settings.dt)
    settle_balances(bodies, state, rows, 0, motion, work.graph.queue)
    sleeping.fall_asleep(bodies, state, settings, work.graph)
    # Last, for they call the narrow phase: run_geometry() has compiled it by now.
    solve_impacts_solids(model.shapes, bodies, state, settings, work, None)
    carry_islands_solids(model.shapes, bodies, state, settings, work)
    stop_fast_solids(model.shapes, bodies, model.joints, model.pairing, state, settings, work)


def _solve_by_newton(joint_work) -> None:
    _, _, work = _empty_world()
    motion = work.motion
    solve_by_newton(
        0, 0, 0, 0, work.rows, joint_work, motion.mass, motion.free, 0.0, work.island, motion.twist
    )


def _linked_arguments():
    """What most stages of joints are handed."""
    model, state, work = _empty_world()
    return (
        empty_joint_work(), model.joints, model.bodies, state, work.rows, 0, Settings(),
        work.island, work.motion,
    )  # fmt: skip


def run_joint_solver() -> None:
    """The solver of islands with joints, on nothing."""
    _solve_by_newton(empty_joint_work())
    *linked, settings, island, motion = _linked_arguments()
    solve_articulated(*linked, 0, settings, island, motion)
    joint_work, joints, bodies, state, rows, _, settings, island, motion = _linked_arguments()
    group = (joints, bodies, state, rows, joint_work)
    # They cannot run on nothing: they look at one group.
    _prepare(rattle_island.shake_island, np.int64(0), *group, settings, island, motion, 0.0)
    _prepare(rattle_island.project_group, np.int64(0), *group, island, motion, 0.0)
    _prepare(integrate_substeps, np.int64(0), 0.0, *group, settings, island, motion)
    rattle.rattle_islands(*_linked_arguments())


def run_joint_rows() -> None:
    """The other stages that joints add, on nothing."""
    rattle.project_velocities(*_linked_arguments())
    stabilize_joints(*_linked_arguments())
    model, state, work = _empty_world()
    solve_impacts_solids(model.shapes, model.bodies, state, Settings(), work, empty_joint_work())
    joint_work, bodies, rows, info = empty_joint_work(), model.bodies, work.rows, work.log.info
    fill_joint_rows(joint_work, model.joints, state, Settings())
    draw_budgets(joint_work, bodies, state, rows, 0, Settings(), work.motion)
    balance_energies(joint_work, bodies, state, rows, 0, info)
    report_joint_errors(joint_work, model.joints, bodies, state, 0.0, info)
    parts_for_spins(joint_work, model.joints, bodies, state, rows, 0, Settings())
    _order_contacts(empty_joint_work())


def compile_step(joint_work=None) -> None:
    """The step itself, out of the parts that are compiled by now."""
    model, state, work = _empty_world()
    timestep.advance(model, None, state, Settings(), work, joint_work, None, 0)


def compile_linked_step() -> None:
    """The step of worlds with joints."""
    compile_step(empty_joint_work())


def empty_joint_work():
    """The joints of a world that has none, of the type that those of every other world have."""
    model, _, _ = _empty_world()
    return new_joint_work(model.joints, model.bodies)
