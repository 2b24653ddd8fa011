"""One time step, start to end. Read this file first.

The scheme of [Anitescu1997] (CLINE 2.49), velocities and impulses as unknowns, positions moved
afterwards. `advance` is the compiled loop over steps; steppers/time_stepping.py calls it, and the
stages one by one for solvers written in Python.
"""

from drystone.collision.active_pairs import select_near
from drystone.collision.broadphase import find_pairs, update_aabbs
from drystone.collision.ccd import some_fast, stop_fast, stop_fast_solids
from drystone.collision.contacts import gather_contacts, number_contacts, store_contacts
from drystone.collision.narrowphase.collide import collide_near
from drystone.collision.narrowphase.collide_2d import collide_flat
from drystone.collision.narrowphase.mesh.collide import collide_meshes, has_meshes
from drystone.constraints.contact_rows import assemble_rows
from drystone.constraints.error_measures import measure_rows
from drystone.constraints.islands import (
    TALLY_GROUPS,
    TALLY_ISLANDS,
    TALLY_SLABS,
    find_islands,
    order_contacts,
)
from drystone.constraints.joint_rows import start_joints
from drystone.forces.apply import add_forces, drop_forces, settle_forces
from drystone.forces.free_velocity import free_twists
from drystone.jit import inlined, inner_kernel, kernel
from drystone.jit.clock import ticks
from drystone.model.arrays import (
    BAUMGARTE,
    COUNTER_CACHED,
    COUNTER_PAIRS,
    COUNTER_STEP,
    FLAG_COLLIDED,
    INFO_CONTACTS,
    INFO_FAILED_BODY,
    INFO_IMPACTS,
    INFO_ISLANDS,
    INFO_NEAR,
    INFO_NEWTON_ISLANDS,
    INFO_NEWTON_STEPS,
    INFO_NONCONVERGED,
    INFO_PENETRATION,
    INFO_PUSHES,
    INFO_RESIDUAL,
    INFO_STOPPED,
    INFO_SWEEPS,
    INFO_TOTAL_SWEEPS,
    INFO_WORST_PENETRATION,
    INFO_WORST_RESIDUAL,
    MIDPOINT,
    NO_DRIFT,
)
from drystone.model.state_hash import hash_state
from drystone.motion.displacement import choose_schemes, displace_bodies
from drystone.motion.finalize import find_nonfinite, move_bodies
from drystone.motion.sleeping import fall_asleep, wake_touched
from drystone.motion.stabilization import add_baumgarte, push_apart
from drystone.solvers.articulated.rattle import project_velocities, rattle_islands
from drystone.solvers.articulated.solve_islands import (
    fill_joint_rows,
    solve_articulated,
    store_joints,
)
from drystone.solvers.articulated.stabilization import stabilize_joints
from drystone.solvers.gauss_seidel.solve_islands import push_all, solve_rows
from drystone.solvers.impact import solve_impacts
from drystone.solvers.newton.island_delassus import finish_groups

STAGES = (
    "forces", "pairs", "collide", "contacts", "islands", "problem", "solve", "drift", "follow",
    "move",
)  # fmt: skip
(_FORCES, _PAIRS, _COLLIDE, _CONTACTS, _ISLANDS, _PROBLEM, _SOLVE, _DRIFT, _FOLLOW, _MOVE) = range(
    10
)

# Why advance() came back before its steps were done.
DONE, MORE_PAIRS, MORE_SLOTS, MORE_CONTACTS, NOT_FINITE = range(5)


@kernel
def _lap(clock, stage, since):
    now = ticks()
    clock[stage] += now - since
    return now


@inner_kernel(inline="always")  # else all that it calls is optimised once more: seconds
def find_touching(model, outlines, state, settings, work):
    """Stages 1 to 3: free velocities, pairs, touching points. Returns (status, number)."""
    shapes, bodies, motion = model.shapes, model.bodies, work.motion
    boxes, near, clock = work.boxes, work.near, work.log.clock
    if near.pair.shape[0] < state.counter[COUNTER_PAIRS]:  # a state that was read from a file
        return MORE_PAIRS, state.counter[COUNTER_PAIRS]
    since = ticks()
    free_twists(bodies, state, settings, motion)
    since = _lap(clock, _FORCES, since)
    if update_aabbs(shapes, bodies, state, settings, boxes, work.log.flag):
        wanted = find_pairs(model, state, boxes)
        if wanted > state.pair.shape[0]:
            return MORE_PAIRS, wanted
    near_count = 0
    while True:
        near_count = select_near(shapes, bodies.kind, state, boxes, near)
        since = _lap(clock, _PAIRS, since)
        if near.slot_first[near_count] > near.slot.shape[0]:
            return MORE_SLOTS, near.slot_first[near_count]
        if outlines is None:
            collide_near(shapes, boxes, state.pair, state.pair_axis, near, near_count)
            if has_meshes(shapes):
                collide_meshes(shapes, boxes, state.pair, state.pair_axis, near, near_count)
        else:
            collide_flat(shapes, outlines, boxes, state.pair, near, near_count)
        since = _lap(clock, _COLLIDE, since)
        if not wake_touched(shapes.body, bodies.kind, model.joints.body, state, near, near_count):
            break
        free_twists(bodies, state, settings, motion)  # the woken feel gravity again
    return DONE, near_count


@kernel
def detect(model, outlines, state, settings, work):
    """Stages 1 to 4: free velocities, pairs, contacts. Returns (status, number wanted or found)."""
    near, touch, log = work.near, work.contact_list, work.log
    flag = log.flag
    # After room was made we go on here: to collide again would start from what the pairs have
    # just remembered, and last digits would depend on when the room ran out.
    if flag[FLAG_COLLIDED] == 0:
        status, number = find_touching(model, outlines, state, settings, work)
        if status != DONE:
            return status, number
        log.info[INFO_NEAR] = number
        flag[FLAG_COLLIDED] = 1
    since = ticks()
    near_count = int(log.info[INFO_NEAR])
    count = number_contacts(near.slot_count, near.contact_first, near_count)
    if count + state.counter[COUNTER_CACHED] > touch.body.shape[0]:
        return MORE_CONTACTS, count + state.counter[COUNTER_CACHED]
    flag[FLAG_COLLIDED] = 0
    gather_contacts(model.shapes, state, work.motion.rotation_matrix, near, touch, near_count)
    log.info[INFO_CONTACTS] = count
    work.rows.flat[0] = 0 if outlines is None else 1
    _lap(log.clock, _CONTACTS, since)
    return DONE, count


@kernel
def pose_rows(model, state, settings, work, joint_work):
    """Stages 4 and 5: islands, order and rows of the contact problem, its warm start."""
    shape_body, bodies, joints = model.shapes.body, model.bodies, model.joints
    near, touch, graph, rows, mass = (
        work.near,
        work.contact_list,
        work.graph,
        work.rows,
        work.motion.mass,
    )
    info, clock, kind = work.log.info, work.log.clock, bodies.kind
    near_count, count = int(info[INFO_NEAR]), int(info[INFO_CONTACTS])
    since = ticks()
    find_islands(shape_body, kind, state.pair, near, joints.body, state.asleep, graph, near_count)
    order_contacts(
        shape_body, kind, state.pair, near, graph, joint_work, touch.row_contact, rows, near_count
    )
    info[INFO_ISLANDS] = graph.tally[TALLY_ISLANDS]
    since = _lap(clock, _ISLANDS, since)
    if joint_work is not None:
        fill_joint_rows(joint_work, joints, bodies, state, settings, mass)
    assemble_rows(
        model.pairing, state, mass, touch, rows, bodies.radius, count, settings.skin, settings.dt
    )
    if settings.drift == BAUMGARTE:
        add_baumgarte(rows, count, settings.baumgarte)
    _lap(clock, _PROBLEM, since)


@kernel
def start_rows(state, settings, work, joint_work):
    """Stage 5: impacts within the step, then the warm start is applied."""
    motion, rows, log = work.motion, work.rows, work.log
    since = ticks()
    count = int(log.info[INFO_CONTACTS])
    log.info[INFO_IMPACTS] = solve_impacts(state, settings, motion, rows, count, joint_work)
    push_all(rows, work.graph.tally[TALLY_SLABS], motion.mass, motion.twist)
    if joint_work is not None:
        start_joints(joint_work, state, motion.mass, motion.twist)
    scheme = motion.scheme
    for b in range(scheme.shape[0]):
        scheme[b] = MIDPOINT
    _lap(log.clock, _PROBLEM, since)


@kernel
def rattle(model, state, settings, work, joint_work):
    """Articulated islands that nothing touches are integrated by RATTLE; the solve skips them."""
    rows, motion, info, tried = work.rows, work.motion, work.log.info, 0
    since = ticks()
    if joint_work is not None:
        groups = work.graph.tally[TALLY_GROUPS]
        tried = rattle_islands(
            joint_work, model.joints, model.bodies, state, rows, groups, settings, work.island,
            motion,
        )  # fmt: skip
    info[INFO_NEWTON_ISLANDS], info[INFO_NEWTON_STEPS] = tried, tried
    _lap(work.log.clock, _SOLVE, since)


@kernel
def solve(model, state, settings, work, joint_work):
    """Stage 5: impulses; sweeps, and Newton where they stall. Returns sweeps and residual."""
    motion, rows, island, info = work.motion, work.rows, work.island, work.log.info
    since = ticks()
    groups, count = work.graph.tally[TALLY_GROUPS], int(info[INFO_CONTACTS])
    backward = state.counter[COUNTER_STEP] % 2 == 1
    hasty = settings.newton == 1
    sweeps, residual = solve_rows(
        rows, groups, count, backward, motion.mass, settings.tolerance, settings.max_sweeps, hasty,
        motion.twist,
    )  # fmt: skip
    if hasty and residual > settings.tolerance:
        sweeps, residual = finish_groups(
            rows, groups, count, backward, motion.mass, motion.free, settings.tolerance,
            settings.max_sweeps, island, motion.twist, info,
        )  # fmt: skip
    if joint_work is not None:
        most, worst, islands, steps = solve_articulated(
            joint_work, model.joints, model.bodies, state, rows, groups, settings, island, motion
        )
        info[INFO_NEWTON_ISLANDS] += islands
        info[INFO_NEWTON_STEPS] += steps
        sweeps, residual = max(sweeps, most), max(residual, worst)
    _lap(work.log.clock, _SOLVE, since)
    return sweeps, residual


@kernel
def follow_bodies(model, outlines, state, settings, work):
    """Stage 7b: bodies that would meet on their way stop there. Returns how many pairs do."""
    shapes, bodies, joints, near = model.shapes, model.bodies, model.joints, work.near
    near_count, stopped = int(work.log.info[INFO_NEAR]), 0
    if some_fast(near_count, state.pair, near.pair, shapes.thickness, work.boxes.reach):
        if outlines is None:
            stopped = stop_fast_solids(shapes, bodies, joints, state, settings, work)
        else:
            stopped = stop_fast(shapes, outlines, bodies, joints, state, settings, work)
    return stopped


_follow_bodies = inlined(follow_bodies)


@kernel
def finish(model, outlines, state, settings, work, joint_work, sweeps, residual):
    """Stages 6 to 8: displacements, poses, sleep. Returns False if a number is not finite."""
    shapes, bodies, joints = model.shapes, model.bodies, model.joints
    motion, near, graph, rows = work.motion, work.near, work.graph, work.rows
    info, clock = work.log.info, work.log.clock
    near_count, count = int(info[INFO_NEAR]), int(info[INFO_CONTACTS])
    since = ticks()
    impacts = int(info[INFO_IMPACTS])
    choose_schemes(motion.scheme, rows, count, impacts, settings, residual)
    displace_bodies(bodies, state, motion, impacts, settings.dt)
    pushes = 0
    if settings.drift != NO_DRIFT and settings.drift != BAUMGARTE:
        pushes = push_apart(motion, rows, graph.tally[TALLY_SLABS], count, settings)
    groups = graph.tally[TALLY_GROUPS]
    if joint_work is not None:
        stabilize_joints(
            joint_work, joints, bodies, state, rows, groups, settings, work.island, motion
        )
    since = _lap(clock, _DRIFT, since)
    if settings.ccd != 0:
        info[INFO_STOPPED] = _follow_bodies(model, outlines, state, settings, work)
    since = _lap(clock, _FOLLOW, since)
    info[INFO_FAILED_BODY] = find_nonfinite(
        state.position, state.rotation, motion.twist, motion.move, motion.later
    )
    if info[INFO_FAILED_BODY] >= 0:
        return False
    _report(info, rows.gap, settings, count, sweeps, residual, pushes)
    store_contacts(
        shapes.body, bodies.kind, state, near, work.contact_list, rows, near_count, count
    )
    if joint_work is not None:
        store_joints(joint_work, joints, state)
    move_bodies(bodies, state, motion, settings.dt)
    if joint_work is not None:
        project_velocities(
            joint_work, joints, bodies, state, rows, groups, settings, work.island, motion
        )
    if settings.sleeping == 1:
        fall_asleep(bodies, state, settings, graph)
    _lap(clock, _MOVE, since)
    return True


@kernel
def _report(info, gap, settings, count, sweeps, residual, pushes):
    deepest = 0.0
    for r in range(count):
        deepest = min(deepest, gap[r])
    info[INFO_RESIDUAL] = residual
    info[INFO_SWEEPS] = sweeps
    info[INFO_PENETRATION] = -deepest
    info[INFO_PUSHES] += pushes
    info[INFO_WORST_RESIDUAL] = max(info[INFO_WORST_RESIDUAL], residual)
    info[INFO_WORST_PENETRATION] = max(info[INFO_WORST_PENETRATION], -deepest)
    info[INFO_TOTAL_SWEEPS] += sweeps
    if not residual <= settings.tolerance:
        info[INFO_NONCONVERGED] += 1


@kernel
def measure_step(info, measures, rows, motion):
    """All error measures of the step that has just been solved."""
    measure_rows(
        int(info[INFO_CONTACTS]), rows.body, rows.frame, rows.arm, rows.bias, rows.friction,
        rows.impulse, motion.twist, motion.free, measures,
    )  # fmt: skip


# What has been compiled once is optimised again in each kernel that calls it. So the stages are
# parts of the loop over steps, and compiled for themselves only if Python asks for one.
_detect, _pose_rows, _start_rows = inlined(detect), inlined(pose_rows), inlined(start_rows)
_rattle, _solve, _finish = inlined(rattle), inlined(solve), inlined(finish)


@kernel
def advance(model, outlines, state, settings, work, joint_work, elements, steps):
    """Run up to `steps` steps. Returns (steps done, why it stopped, number wanted)."""
    log = work.log
    for done in range(steps):
        add_forces(elements, model.bodies, state)
        status, number = _detect(model, outlines, state, settings, work)
        drop_forces(elements, state)
        if status != DONE:
            return done, status, number
        _pose_rows(model, state, settings, work, joint_work)
        _start_rows(state, settings, work, joint_work)
        _rattle(model, state, settings, work, joint_work)
        sweeps, residual = _solve(model, state, settings, work, joint_work)
        if not _finish(model, outlines, state, settings, work, joint_work, sweeps, residual):
            return done, NOT_FINITE, 0
        settle_forces(elements, model.bodies, state, work.motion.scheme, settings.dt)
        if settings.hashing == 1:
            log.hashes[done] = hash_state(state)
    measure_step(log.info, log.measures, work.rows, work.motion)
    return steps, DONE, 0
