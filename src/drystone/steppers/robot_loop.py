"""The compiled step of worlds with robots: the stages of timestep.py, and those of robots between.

after contacts    predict_robots: free rates, limits, drives, loops of robots
in solve          solve_robots: islands with robots, whole
in finalize       end_robots, store_robots: coordinates, loops closed, links placed
"""

from drystone import timestep
from drystone.constraints.reduced.closing import (
    end_robots,
    find_broken,
    leave_rotations,
    store_robots,
)
from drystone.constraints.reduced.free_rates import predict_robots
from drystone.jit import inlined, kernel
from drystone.jit.clock import ticks
from drystone.model.arrays import (
    INFO_EXCESS,
    INFO_FAILED_BODY,
    INFO_NEAR,
    INFO_NEWTON_ISLANDS,
    INFO_NEWTON_STEPS,
    INFO_RESIDUAL,
    INFO_SWEEPS,
    INFO_TOLERANCE,
    INFO_WANTED,
    ROLLING,
)
from drystone.model.state_hash import hash_state
from drystone.solvers.reduced.solve_robots import solve_robots
from drystone.timestep import DONE, NOT_FINITE, STAGES, TOO_LONG, measure_step

MORE_BLOCKS = TOO_LONG + 1  # the scratch of robots is too small: see solvers/reduced/scratch.py

_CONSTRAINTS, _SOLVE, _FINALIZE = (STAGES.index(x) for x in ("constraints", "solve", "finalize"))


@kernel
def room_for_blocks(pairing, joint_work, work, scratch):
    """Whether the contacts that were found fit; asked before they are counted, for the narrow phase
    must not run again."""
    near, wanted = work.near, 0
    for k in range(int(work.log.info[INFO_NEAR])):
        wanted += near.slot_count[k]
    if pairing.special[ROLLING] == 1:  # a block for rolling and one for spinning
        wanted *= 3
    nodes = 0 if joint_work is None else joint_work.node_body.shape[0]
    rows = scratch.rows.kind.shape[0]
    work.log.info[INFO_WANTED] = wanted
    blocks = wanted + nodes + (rows + 2) // 3 + scratch.touched.shape[0]
    return blocks <= scratch.problem.kind.shape[0]


@kernel
def predict(model, robots, state, settings, work, scratch):
    """Free rates of robots, and what they demand."""
    since = ticks()
    for t in range(scratch.unfold.shape[0]):
        scratch.unfold[t] = 0
    predict_robots(robots, model.joints, state, settings, work, scratch)
    work.log.clock[_CONSTRAINTS] += ticks() - since


@kernel
def solve_with_robots(model, robots, state, settings, work, joint_work, scratch):
    """Islands with robots, after all others."""
    since, info = ticks(), work.log.info
    worst, sweeps, islands, steps = solve_robots(
        robots, model.joints, model.bodies, state, settings, work, joint_work, scratch
    )
    note_solved(info, settings.tolerance, worst, sweeps, islands, steps)
    if joint_work is not None:
        for g in range(joint_work.stabilize.shape[0]):
            joint_work.stabilize[g] = 1
    work.log.clock[_SOLVE] += ticks() - since


@kernel
def note_solved(info, tolerance, worst, sweeps, islands, steps):
    """What the islands with robots reached, beside what the others did."""
    info[INFO_NEWTON_ISLANDS] += islands
    info[INFO_NEWTON_STEPS] += steps
    info[INFO_SWEEPS] = max(info[INFO_SWEEPS], sweeps)
    info[INFO_RESIDUAL] = max(info[INFO_RESIDUAL], worst)
    info[INFO_TOLERANCE] = max(info[INFO_TOLERANCE], tolerance)
    info[INFO_EXCESS] = max(info[INFO_EXCESS], worst / tolerance)


_forces, _broadphase = inlined(timestep.forces), inlined(timestep.broadphase)
_narrowphase, _contacts = inlined(timestep.narrowphase), inlined(timestep.contacts)
_constraints, _impacts = inlined(timestep.constraints), inlined(timestep.impacts)
_rattle, _solve, _displace = (
    inlined(timestep.rattle), inlined(timestep.solve), inlined(timestep.displace)
)  # fmt: skip
_ccd, _finalize = inlined(timestep.ccd), inlined(timestep.finalize)


@kernel
def advance_robots(model, robots, state, settings, work, joint_work, elements, scratch, steps):
    """Run up to `steps` steps. Returns how many were done, and why it stopped."""
    log = work.log
    for done in range(steps):
        _forces(model, state, settings, work, elements)
        status = _broadphase(model, state, settings, work)
        if status == DONE:
            status = _narrowphase(model, None, state, settings, work)
        if status == DONE and not room_for_blocks(model.pairing, joint_work, work, scratch):
            return done, MORE_BLOCKS
        if status == DONE:
            status = _contacts(model, None, state, work)
        if status != DONE:
            return done, status
        predict(model, robots, state, settings, work, scratch)
        _constraints(model, state, settings, work, joint_work)
        _impacts(model, None, state, settings, work, joint_work)
        _rattle(model, None, state, settings, work, joint_work)
        _solve(model, state, settings, work, joint_work)
        solve_with_robots(model, robots, state, settings, work, joint_work, scratch)
        _displace(model, state, settings, work, joint_work)
        _ccd(model, None, state, settings, work)
        end_robots(robots, state, settings, work, scratch)
        if find_broken(robots, scratch) >= 0:
            log.info[INFO_FAILED_BODY] = -1.0
            return done, NOT_FINITE
        if joint_work is None and elements is None:  # these ask where links are before they stand
            leave_rotations(robots, work.motion.scheme)
        if _finalize(model, state, settings, work, joint_work, elements) != DONE:
            return done, NOT_FINITE
        store_robots(robots, state, scratch)
        if settings.hashing == 1:
            log.hashes[done] = hash_state(state)
    measure_step(log.info, log.measures, work.rows, work.motion)
    return steps, DONE
