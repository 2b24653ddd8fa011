"""One time step, start to end. Read this file first.

The scheme of [Anitescu1997] (CLINE 2.49), velocities and impulses as unknowns, positions moved
afterwards. `advance` is the compiled loop over steps: one call a stage, in the order of STAGES. A
stage reads the arrays of the stages before it and writes its own. Poses and velocities are written
by `finalize` alone, once all numbers are known to be finite; before it State only gets what can be
found again (pairs, fat AABBs, cached axes) and who is awake. steppers/driver.py calls the same
stages one by one, for what is written in Python.
"""

import numpy as np

from drystone.collision.active_pairs import select_near
from drystone.collision.broadphase import find_pairs, update_aabbs
from drystone.collision.ccd import some_fast, stop_fast, stop_fast_solids
from drystone.collision.contacts import gather_contacts, number_contacts, store_contacts
from drystone.collision.moved_pairs import find_moved_pairs
from drystone.collision.narrowphase.collide import collide_near
from drystone.collision.narrowphase.collide_2d import collide_flat
from drystone.collision.narrowphase.mesh.collide import collide_meshes, has_meshes
from drystone.collision.seams import leave_out_seams
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
from drystone.forces.apply import settle_forces, total_forces
from drystone.forces.free_velocity import free_twists
from drystone.jit import inlined, kernel
from drystone.jit.clock import ticks
from drystone.model.arrays import (
    BAUMGARTE,
    COUNTER_CACHED,
    COUNTER_PAIRS,
    COUNTER_STEP,
    FLAG_COLLIDED,
    FLAG_PARTS,
    FLAG_WHOLE,
    INFO_CONTACTS,
    INFO_ENERGY_SHARE,
    INFO_EXCESS,
    INFO_FAILED_BODY,
    INFO_GIVEN_UP,
    INFO_IMPACTS,
    INFO_ISLANDS,
    INFO_JOINT_SHARE,
    INFO_NEAR,
    INFO_NEWTON_ISLANDS,
    INFO_NEWTON_STEPS,
    INFO_NONCONVERGED,
    INFO_OVERLAPS,
    INFO_PENETRATION,
    INFO_PUSHES,
    INFO_RESIDUAL,
    INFO_STOPPED,
    INFO_SWEEPS,
    INFO_TOLERANCE,
    INFO_TOTAL_GIVEN_UP,
    INFO_TOTAL_SWEEPS,
    INFO_TOTAL_UNRESOLVED,
    INFO_UNRESOLVED,
    INFO_WANTED,
    INFO_WORST_PENETRATION,
    INFO_WORST_RESIDUAL,
    MIDPOINT,
    NO_DRIFT,
    ROLLING,
    STRUCK,
    TICKS_PER_SECOND,
)
from drystone.model.state_hash import hash_state
from drystone.motion.displacement import choose_schemes, displace_bodies
from drystone.motion.finalize import find_nonfinite, move_bodies
from drystone.motion.sleeping import fall_asleep, wake_touched
from drystone.motion.stabilization import add_baumgarte, push_apart
from drystone.solvers.articulated.energy_balance import balance_energies, draw_budgets
from drystone.solvers.articulated.joint_error import report_joint_errors
from drystone.solvers.articulated.rattle import project_velocities, rattle_islands
from drystone.solvers.articulated.solve_islands import (
    fill_joint_rows,
    solve_articulated,
    store_joints,
)
from drystone.solvers.articulated.spinning import parts_for_spins
from drystone.solvers.articulated.stabilization import stabilize_joints
from drystone.solvers.gauss_seidel.solve_islands import push_all, worst_share
from drystone.solvers.stages.carried_contacts import (
    carry_islands,
    carry_islands_solids,
    leave_middle,
    restore_means,
)
from drystone.solvers.stages.contact_balance import draw_balances, settle_balances
from drystone.solvers.stages.impact import solve_impacts, solve_impacts_solids
from drystone.solvers.stages.least_norm import share_evenly
from drystone.solvers.stages.solve_contacts import solve_contacts
from drystone.solvers.stages.swinging_meshes import parts_for_swings

STAGES = (
    "forces", "broadphase", "narrowphase", "contacts", "constraints", "impacts", "rattle", "solve",
    "displace", "ccd", "finalize",
)  # fmt: skip
(
    _FORCES, _BROADPHASE, _NARROWPHASE, _CONTACTS, _CONSTRAINTS, _IMPACTS, _RATTLE, _SOLVE,
    _DISPLACE, _CCD, _FINALIZE,
) = range(len(STAGES))  # fmt: skip

# What a stage returns. It ran out of capacity: info[INFO_WANTED] says how much it needs, and the
# step is begun again when the caller has grown the arrays.
# TOO_LONG: it is to be taken in info[INFO_WANTED] parts (steppers/cut_step.py); State is as it was.
DONE, MORE_PAIRS, MORE_SLOTS, MORE_CONTACTS, NOT_FINITE, TOO_LONG = range(6)

# A step that begins with a contact deeper than so many skins is not converged: 1 % of the radius of
# the smaller body, with the default skin.
DEEP_SKINS = 333.0
# One that begins with a contact of this depth, in a world with meshes, is taken in parts. Meshes
# that lie deep in each other have contacts with any normals, and what is deep sinks deeper: links
# of a net that falls taut, by 5 m/s in steps of 0.01 s, otherwise leave each other.
CUT_SKINS = 100.0
# With 4 parts a net of 8 x 8 rings stays whole at 0.01 s, and the ball of 249 t sinks by 10 mm into
# tubes of 200 mm in place of 193.
PARTS = 4


@kernel
def _lap(clock, stage, since):
    """Note the time that `stage` took since the tick `since`."""
    clock[stage] += ticks() - since


@kernel
def forces(model, state, settings, work, elements):
    """Gravity, constant forces and force elements -> the velocities if nothing touched."""
    since = ticks()
    total_forces(elements, model.bodies, state, work.motion.force)
    free_twists(model.bodies, state, settings, work.motion)
    _lap(work.log.clock, _FORCES, since)
    return DONE


@kernel
def broadphase(model, state, settings, work):
    """AABBs of the shapes -> pairs whose fat AABBs overlap -> those that are near in this step."""
    since, boxes, near, log = ticks(), work.boxes, work.near, work.log
    if log.flag[FLAG_COLLIDED] == 1:  # see narrowphase()
        return DONE
    pairs = state.counter[COUNTER_PAIRS]
    if near.pair.shape[0] < pairs:  # a state that was read from a file
        log.info[INFO_WANTED] = pairs
        return MORE_PAIRS
    escaped = update_aabbs(
        model.shapes, model.bodies, state, work.motion.force, settings, boxes, log.flag
    )
    if escaped > 0:
        if escaped < model.shapes.kind.shape[0]:
            wanted = find_moved_pairs(model, state, boxes)
        else:
            wanted = find_pairs(model, state, boxes)
        if wanted > state.pair.shape[0]:
            log.info[INFO_WANTED] = wanted
            return MORE_PAIRS
    log.info[INFO_NEAR] = select_near(model.shapes, model.bodies.kind, state, boxes, near)
    _lap(log.clock, _BROADPHASE, since)
    return DONE


@kernel(inline="always")  # else all that it calls is optimised once more: seconds
def _collide(model, outlines, state, settings, work):
    """Points, normals and gaps of the pairs that are near; False if there are too few slots."""
    shapes, boxes, near = model.shapes, work.boxes, work.near
    near_count = int(work.log.info[INFO_NEAR])
    if near.slot_first[near_count] > near.slot.shape[0]:
        work.log.info[INFO_WANTED] = near.slot_first[near_count]
        return False
    if outlines is None:
        collide_near(shapes, boxes, state.pair, state.pair_axis, near, near_count)
        if has_meshes(shapes):
            collide_meshes(shapes, boxes, state.pair, state.pair_axis, near, near_count)
        if near_count > 1:
            leave_out_seams(
                shapes, model.bodies.kind, boxes, state.pair, near, near_count, settings.skin
            )
    else:
        collide_flat(shapes, outlines, boxes, state.pair, near, near_count)
    return True


@kernel
def narrowphase(model, outlines, state, settings, work):
    """Points, normals and gaps of each pair. Sleepers that are touched wake, and all of the pairs
    that they then have are collided again: the only way back in the step."""
    since, log, near = ticks(), work.log, work.near
    # After the capacity for contacts was grown: to collide again would start from the axes that
    # the pairs have just cached, and last digits would depend on when the capacity ran out.
    while log.flag[FLAG_COLLIDED] == 0:
        if not _collide(model, outlines, state, settings, work):
            return MORE_SLOTS
        near_count = int(log.info[INFO_NEAR])
        kind, joined = model.bodies.kind, work.graph.joined
        if not wake_touched(model.shapes.body, kind, joined, state, near, near_count):
            log.flag[FLAG_COLLIDED] = 1
        else:
            free_twists(model.bodies, state, settings, work.motion)
            log.info[INFO_NEAR] = select_near(model.shapes, kind, state, work.boxes, near)
    _lap(log.clock, _NARROWPHASE, since)
    return DONE


@kernel
def contacts(model, outlines, state, work):
    """The contact list, in the order of the pairs, with its warm start."""
    since, near, contact_list, log = ticks(), work.near, work.contact_list, work.log
    near_count = int(log.info[INFO_NEAR])
    count = number_contacts(near.slot_count, near.contact_first, near_count)
    wanted = count + state.counter[COUNTER_CACHED]
    if wanted > contact_list.body.shape[0]:
        log.info[INFO_WANTED] = wanted
        return MORE_CONTACTS
    log.flag[FLAG_COLLIDED] = 0
    gather_contacts(
        model.shapes, state, work.motion.rotation_matrix, near, contact_list, near_count
    )
    log.info[INFO_CONTACTS] = count
    work.rows.flat[0] = 0 if outlines is None else 1
    _lap(log.clock, _CONTACTS, since)
    return DONE


@kernel
def constraints(model, state, settings, work, joint_work):
    """Islands, and the rows of contacts and joints in their order."""
    since, bodies, joints, near = ticks(), model.bodies, model.joints, work.near
    shape_body, kind, info = model.shapes.body, bodies.kind, work.log.info
    graph, rows, mass = work.graph, work.rows, work.motion.mass
    near_count, count = int(info[INFO_NEAR]), int(info[INFO_CONTACTS])
    find_islands(shape_body, kind, state.pair, near, graph.joined, state.asleep, graph, near_count)
    order_contacts(
        shape_body, kind, state.pair, near, graph, joint_work, work.contact_list.row_contact, rows,
        near_count,
    )  # fmt: skip
    info[INFO_ISLANDS] = graph.tally[TALLY_ISLANDS]
    if joint_work is not None:
        fill_joint_rows(joint_work, joints, state, settings)
    assemble_rows(
        model.pairing, state, mass, work.contact_list, rows, bodies.radius, count, settings.skin,
        settings.dt,
    )  # fmt: skip
    if settings.drift == BAUMGARTE:
        add_baumgarte(rows, count, settings.baumgarte)
    _lap(work.log.clock, _CONSTRAINTS, since)
    flag = work.log.flag
    if flag[FLAG_WHOLE] == 0:
        return DONE
    flag[FLAG_PARTS], parts = 1, 1
    if has_meshes(model.shapes):
        parts = parts_for_swings(
            model.shapes.kind, bodies, state, graph.tally[TALLY_GROUPS], settings, work
        )
        if _is_deep(count, rows):
            parts = max(parts, PARTS)
    if joint_work is not None:
        parts = max(
            parts,
            parts_for_spins(
                joint_work, joints, bodies, state, rows, graph.tally[TALLY_GROUPS], settings
            ),
        )  # fmt: skip
    info[INFO_WANTED] = parts
    return TOO_LONG if parts > 1 else DONE


@kernel
def _is_deep(count, rows):
    """Whether a contact overlaps by CUT_SKINS."""
    for r in range(count):
        if rows.gap[r] < -CUT_SKINS * rows.skin[r] and rows.skin[r] > 0.0:
            return True
    return False


@kernel
def impacts(model, outlines, state, settings, work, joint_work):
    """Impacts within the step, at their times of impact; then the warm start is applied."""
    since, motion, rows, log = ticks(), work.motion, work.rows, work.log
    shapes, bodies = model.shapes, model.bodies
    if outlines is None:
        rounds = solve_impacts_solids(shapes, bodies, state, settings, work, joint_work)
    else:
        rounds = solve_impacts(shapes, outlines, bodies, state, settings, work, joint_work)
    log.info[INFO_IMPACTS] = rounds
    rows.special[STRUCK] = 1 if rounds > 0 else 0
    push_all(rows, work.graph.tally[TALLY_SLABS], motion.mass, motion.twist)
    if joint_work is not None:
        start_joints(joint_work, state, motion.mass, motion.twist)
    scheme = motion.scheme
    for b in range(scheme.shape[0]):
        scheme[b] = MIDPOINT
    _lap(log.clock, _IMPACTS, since)


@kernel
def rattle(model, outlines, state, settings, work, joint_work):
    """Articulated islands that nothing touches are integrated by RATTLE; the solve skips them.
    Contacts that are carried along curves are moved to the middle of the step."""
    since, info, tried = ticks(), work.log.info, 0
    if outlines is None:
        carry_islands_solids(model.shapes, model.bodies, state, settings, work)
    else:
        carry_islands(model.shapes, outlines, model.bodies, state, settings, work)
    if joint_work is not None:
        tried = rattle_islands(
            joint_work, model.joints, model.bodies, state, work.rows,
            work.graph.tally[TALLY_GROUPS], settings, work.island, work.motion,
        )  # fmt: skip
    info[INFO_NEWTON_ISLANDS], info[INFO_NEWTON_STEPS] = tried, tried
    _lap(work.log.clock, _RATTLE, since)


@kernel
def solve(model, state, settings, work, joint_work):
    """Impulses: Gauss-Seidel sweeps, and Newton where they stall."""
    since, motion, rows, island, info = ticks(), work.motion, work.rows, work.island, work.log.info
    groups, count = work.graph.tally[TALLY_GROUPS], int(info[INFO_CONTACTS])
    backward = state.counter[COUNTER_STEP] % 2 == 1
    end_of_time = np.uint64(0)
    if settings.budget_time > 0.0:
        end_of_time = since + np.uint64(settings.budget_time * work.log.clock[TICKS_PER_SECOND])
    bounds = (settings.max_sweeps, settings.budget_sweeps, end_of_time)
    sweeps, residual, torques = solve_contacts(
        backward, bounds, state, settings, work, groups, count
    )
    # Else nothing has changed; and what is shared anew would bear other torques.
    if sweeps > 1 and rows.special[ROLLING] == 0:
        share_evenly(
            rows, groups, motion.mass, motion.twist, settings.tolerance, island.newton.matrix
        )
    excess, tolerance = worst_share(rows, groups)
    if torques > 0.0:
        residual, excess = max(residual, torques), max(excess, torques / settings.tolerance)
    if joint_work is not None:
        most, worst, islands, steps = solve_articulated(
            joint_work, model.joints, model.bodies, state, rows, groups, int(info[INFO_IMPACTS]),
            settings, island, motion,
        )  # fmt: skip
        info[INFO_NEWTON_ISLANDS] += islands
        info[INFO_NEWTON_STEPS] += steps
        sweeps, residual = max(sweeps, most), max(residual, worst)
        excess = max(excess, worst / settings.tolerance)
    info[INFO_SWEEPS], info[INFO_RESIDUAL] = sweeps, residual
    info[INFO_TOLERANCE], info[INFO_EXCESS] = max(tolerance, settings.tolerance), excess
    _lap(work.log.clock, _SOLVE, since)


@kernel
def displace(model, state, settings, work, joint_work):
    """How far each body moves; displacements keep contacts apart and joints together."""
    since, motion, rows, graph, info = ticks(), work.motion, work.rows, work.graph, work.log.info
    count, struck = int(info[INFO_CONTACTS]), int(info[INFO_IMPACTS])
    leave_middle(motion)
    choose_schemes(motion.scheme, rows, count, struck, settings, info[INFO_RESIDUAL])
    displace_bodies(model.bodies, state, motion, struck, settings.dt)
    if settings.drift != NO_DRIFT and settings.drift != BAUMGARTE:
        info[INFO_PUSHES] += push_apart(motion, rows, graph.tally[TALLY_SLABS], count, settings)
    if joint_work is not None:
        stabilize_joints(
            joint_work, model.joints, model.bodies, state, rows, graph.tally[TALLY_GROUPS],
            settings, work.island, motion,
        )  # fmt: skip
    _lap(work.log.clock, _DISPLACE, since)


@kernel
def ccd(model, outlines, state, settings, work):
    """Continuous collision detection: bodies that would pass through each other stop there."""
    since, info = ticks(), work.log.info
    shapes, bodies, joints, pairing = model.shapes, model.bodies, model.joints, model.pairing
    info[INFO_STOPPED], info[INFO_GIVEN_UP] = 0, 0
    if settings.ccd != 0 and some_fast(shapes, state, settings, work):
        if outlines is None:
            info[INFO_STOPPED] = stop_fast_solids(
                shapes, bodies, joints, pairing, state, settings, work
            )
        else:
            info[INFO_STOPPED] = stop_fast(
                shapes, outlines, bodies, joints, pairing, state, settings, work
            )
    _lap(work.log.clock, _CCD, since)


@kernel
def finalize(model, state, settings, work, joint_work, elements):
    """Check that all numbers are finite; then contact cache, poses, velocities, sleep."""
    since, bodies, joints, motion = ticks(), model.bodies, model.joints, work.motion
    rows, graph, info = work.rows, work.graph, work.log.info
    info[INFO_FAILED_BODY] = find_nonfinite(
        state.position, state.rotation, motion.twist, motion.move, motion.later
    )
    if info[INFO_FAILED_BODY] >= 0:
        return NOT_FINITE
    store_contacts(
        model.shapes.body, bodies.kind, state, work.near, work.contact_list, rows,
        int(info[INFO_NEAR]), int(info[INFO_CONTACTS]),
    )  # fmt: skip
    if joint_work is not None:
        groups = graph.tally[TALLY_GROUPS]
        store_joints(joint_work, joints, state)
        draw_budgets(joint_work, bodies, state, rows, groups, settings, motion)
    draw_balances(
        bodies, state, settings, rows, graph.tally[TALLY_GROUPS], int(info[INFO_IMPACTS]), motion,
        graph.queue,
    )  # fmt: skip
    move_bodies(bodies, state, motion, settings.dt)
    settle_balances(bodies, state, rows, graph.tally[TALLY_GROUPS], motion, graph.queue)
    if joint_work is not None:
        project_velocities(
            joint_work, joints, bodies, state, rows, groups, settings, work.island, motion
        )
        balance_energies(joint_work, bodies, state, rows, groups, info)
        report_joint_errors(joint_work, joints, bodies, state, settings.dt, info)
    _report(info, rows, work.near.unresolved, has_meshes(model.shapes))
    if settings.sleeping == 1:
        fall_asleep(bodies, state, settings, graph)
    settle_forces(elements, bodies, state, motion.scheme, settings.dt)
    restore_means(motion)
    _lap(work.log.clock, _FINALIZE, since)
    return DONE


@kernel
def _report(info, rows, unresolved, meshed):
    deepest, residual, overlaps, pairs = 0.0, info[INFO_RESIDUAL], 0, 0
    for r in range(int(info[INFO_CONTACTS])):
        deepest = min(deepest, rows.gap[r])
        overlaps += 1 if rows.gap[r] < -DEEP_SKINS * rows.skin[r] and rows.skin[r] > 0.0 else 0
    if meshed:
        for k in range(int(info[INFO_NEAR])):
            pairs += 1 if unresolved[k] > 0 else 0
    info[INFO_PENETRATION], info[INFO_OVERLAPS], info[INFO_UNRESOLVED] = -deepest, overlaps, pairs
    info[INFO_WORST_RESIDUAL] = max(info[INFO_WORST_RESIDUAL], residual)
    info[INFO_WORST_PENETRATION] = max(info[INFO_WORST_PENETRATION], -deepest)
    info[INFO_TOTAL_SWEEPS] += info[INFO_SWEEPS]
    info[INFO_TOTAL_UNRESOLVED] += pairs
    info[INFO_TOTAL_GIVEN_UP] += info[INFO_GIVEN_UP]
    joined = info[INFO_JOINT_SHARE] <= 1.0 and info[INFO_ENERGY_SHARE] <= 1.0
    left = overlaps + pairs + info[INFO_GIVEN_UP]
    if not (info[INFO_EXCESS] <= 1.0 and joined) or left > 0:
        info[INFO_NONCONVERGED] += 1


@kernel
def measure_step(info, measures, rows, motion):
    """All error measures of the step that has just been solved."""
    measure_rows(int(info[INFO_CONTACTS]), rows, motion.twist, motion.free, measures)


# What has been compiled once is optimised again in each kernel that calls it. So the stages are
# parts of the loop over steps, and compiled for themselves only if Python asks for one.
_forces, _broadphase, _narrowphase = inlined(forces), inlined(broadphase), inlined(narrowphase)
_contacts, _constraints, _impacts = inlined(contacts), inlined(constraints), inlined(impacts)
_rattle, _solve, _displace = inlined(rattle), inlined(solve), inlined(displace)
_ccd, _finalize = inlined(ccd), inlined(finalize)


@kernel
def advance(model, outlines, state, settings, work, joint_work, elements, steps):
    """Run up to `steps` steps. Returns how many were done, and why it stopped."""
    log = work.log
    for done in range(steps):
        _forces(model, state, settings, work, elements)
        status = _broadphase(model, state, settings, work)
        if status == DONE:
            status = _narrowphase(model, outlines, state, settings, work)
        if status == DONE:
            status = _contacts(model, outlines, state, work)
        if status != DONE:
            return done, status
        if _constraints(model, state, settings, work, joint_work) != DONE:
            return done, TOO_LONG
        _impacts(model, outlines, state, settings, work, joint_work)
        _rattle(model, outlines, state, settings, work, joint_work)
        _solve(model, state, settings, work, joint_work)
        _displace(model, state, settings, work, joint_work)
        _ccd(model, outlines, state, settings, work)
        if _finalize(model, state, settings, work, joint_work, elements) != DONE:
            return done, NOT_FINITE
        if settings.hashing == 1:
            log.hashes[done] = hash_state(state)
    measure_step(log.info, log.measures, work.rows, work.motion)
    return steps, DONE
