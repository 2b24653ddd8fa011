"""Balance of energy of articulated islands over a step, and the net under the schemes.

No joint, contact or limit does work that is positive, so that an island cannot have more energy
after the step than before it and what gravity and constant forces have given. The schemes obey that
but for small terms: RATTLE keeps its energy over long times only; the rotation of asymmetric
bodies, and displacements that close joints or undo overlaps, are no part of their balance. So the
balance is drawn here, when poses and velocities are known:

    made = E' - E - work of gravity and constant forces

What is made is taken out of the velocities, by one factor for all bodies of the island; of an
island that hangs on nothing, which keeps its momentum, out of the motion relative to that of a
rigid body first. What cannot be taken, because too little moves, is reported. Islands integrated by
RATTLE, whose energy errs both ways, also get back what they have lost: the projection onto the
surface of constant energy [Hairer2006].

An island that nothing touches, and on which neither friction nor a limit acts, loses nothing
either. What it has lost all the same, because the safe step dissipates or because its velocities
were made to fit its joints, is reported (`energy_lost` of `info`), and a step that loses more than
a thousandth of the energy in play has not converged.

Islands with drives, with forces of elements, on kinematic bodies that move or on surfaces that do
have other sources of energy, and are left alone.
"""

from math import inf, sqrt

from drystone.constraints.joint_rows import (
    BY_RATTLE,
    BY_SUBSTEPS,
    contacts_of,
    nodes_of,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import dot
from drystone.model.arrays import (
    BAUMGARTE,
    DEFAULT_DRIFT,
    INFO_ENERGY_LOST,
    INFO_ENERGY_MADE,
    INFO_ENERGY_SHARE,
    INFO_TOTAL_ENERGY_LOST,
    INFO_WORST_ENERGY_MADE,
    KINEMATIC,
    MOVING,
    NO_DRIFT,
)
from drystone.model.joint_arrays import ROW_DRIVE, ROW_FRICTION, ROW_LIMIT, ROW_SPRING
from drystone.motion.rigid_motion import (
    centre_of,
    kinetic_energy,
    momentum_about,
    rigid_spin,
    scale_factor,
    scale_motion,
)

# Of the energy in play: kinetic before and after, and what lifts each body by its own radius. A
# step that makes more than this share, and cannot take it back, has not converged.
ENERGY_TOLERANCE = 1e-6
ROUNDING = 1e-13  # share of the energy in play that may be rounding
MOST_RETURNED = 1e-2  # share of the kinetic energy that RATTLE may get back in one step
# Share of the energy in play that a step may lose that has converged, where nothing touches.
# Secants lose none where bodies rotate little; a gyroscope of 1.25 rad in a step loses twice that.
MOST_LOST = 1e-3

# Columns of JointWork.energy: kinetic energy before the step and the work, infinite if it is not
# balanced; energy in play; 1 if it hangs on something; 1 if nothing touches it, without friction
# and limits, so that it loses nothing; what it has lost, and how much of that the scheme has, not
# velocities that did not fit the joints when the step began.
BUDGET, IN_PLAY, GROUNDED, CONSERVES, LOST, BY_SCHEME = range(6)

_ZERO = (0.0, 0.0, 0.0)


@kernel
def _visit(b, count, bodies, state, joint_work, energy, g):
    """List body `b` of group `g` if it is dynamic and new; returns how many are listed."""
    stamp, mark = joint_work.stamp, joint_work.stamp.shape[0] - 1
    if b == bodies.kind.shape[0]:
        energy[g, GROUNDED] = 1.0
        return count
    if stamp[b] == stamp[mark]:
        return count
    stamp[b] = stamp[mark]
    if bodies.kind[b] == KINEMATIC:
        energy[g, GROUNDED] = 1.0
        for k in range(6):
            if state.twist[b, k] != 0.0:
                energy[g, BUDGET] = inf
        return count
    joint_work.body_list[count] = b
    return count + 1


@kernel
def _list_bodies(g, bodies, state, rows, joint_work):
    """List the dynamic bodies of group `g` and note what it hangs on; how many they are."""
    (first, last), (lo, hi) = nodes_of(g, joint_work), contacts_of(g, rows)
    stamp, energy, count = joint_work.stamp, joint_work.energy, 0
    stamp[stamp.shape[0] - 1] += 1
    for d in range(first, last):
        for side in range(2):
            b = joint_work.node_body[joint_work.node_list[d], side]
            count = _visit(b, count, bodies, state, joint_work, energy, g)
    for r in range(lo, hi):
        for side in range(2):
            count = _visit(rows.body[r, side], count, bodies, state, joint_work, energy, g)
    return count


@kernel
def _work(b, bodies, state, motion, settings, dt):
    """Work of gravity and of constant forces on body `b` over `dt`; infinite if others act."""
    total, m = 0.0, 1.0 / bodies.inv_mass[b]
    gravity = (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    for k in range(6):
        if motion.force[b, k] != state.force[b, k]:
            return inf
        total += dt * state.force[b, k] * motion.move[b, k]
    for k in range(3):
        total += dt * m * gravity[k] * motion.move[b, k]
    return total


@kernel
def _note_rows(g, joint_work, energy):
    """Whether drives act, which are other sources of energy, or friction and limits, which are
    sinks."""
    (first, last), rows = nodes_of(g, joint_work), joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if rows.impulse[r] == 0.0:
            continue
        if rows.kind[r] == ROW_DRIVE or rows.kind[r] == ROW_SPRING:
            energy[g, BUDGET] = inf
        elif rows.kind[r] == ROW_FRICTION or rows.kind[r] == ROW_LIMIT:
            energy[g, CONSERVES] = 0.0


@kernel
def _note_surfaces(g, rows, energy):
    """Whether a surface moves that touches the island."""
    lo, hi = contacts_of(g, rows)
    for r in range(lo, hi):
        for k in range(3):
            if rows.surface[r, k] != 0.0:
                energy[g, BUDGET] = inf


@inner_kernel
def draw_budget(g, bodies, state, rows, joint_work, settings, motion, dt):
    """What the articulated island `g` may have as kinetic energy after `dt`; before the move."""
    energy, smooth = joint_work.energy, joint_work.done[g] != 0
    weight = sqrt(settings.gravity_x**2 + settings.gravity_y**2 + settings.gravity_z**2)
    energy[g, BUDGET], energy[g, IN_PLAY], energy[g, GROUNDED] = 0.0, 0.0, 0.0
    if settings.drift == NO_DRIFT or settings.drift == BAUMGARTE:
        energy[g, BUDGET] = inf  # schemes to be seen as they are
    energy[g, CONSERVES], energy[g, LOST], energy[g, BY_SCHEME] = 0.0, 0.0, 0.0
    lo, hi = contacts_of(g, rows)
    # Other solvers, and other choices of drift, are of first order and lose by it.
    if lo == hi and settings.newton == 1 and settings.drift == DEFAULT_DRIFT:
        energy[g, CONSERVES] = 1.0
    _note_rows(g, joint_work, energy)
    if rows.special[MOVING] == 1:
        _note_surfaces(g, rows, energy)
    for k in range(_list_bodies(g, bodies, state, rows, joint_work)):
        b = joint_work.body_list[k]
        kinetic = kinetic_energy(b, bodies, state.rotation, state.twist)
        # The velocities that a smooth step has begun with fit the joints; what did not is lost.
        if smooth:
            unfit, kinetic = (
                kinetic,
                kinetic_energy(b, bodies, state.rotation, joint_work.start_twist),
            )
            energy[g, LOST] += unfit - kinetic
        energy[g, BUDGET] += kinetic + _work(b, bodies, state, motion, settings, dt)
        energy[g, IN_PLAY] += kinetic + weight * bodies.radius[b] / bodies.inv_mass[b]


@stage
def draw_budgets(joint_work, bodies, state, rows, groups, settings, motion):
    """What each articulated island may have as kinetic energy after the step; before the move.
    Those of substeps have drawn theirs at each of them."""
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first < last and joint_work.done[g] != BY_SUBSTEPS:
            draw_budget(g, bodies, state, rows, joint_work, settings, motion, settings.dt)


@kernel
def _change_energy(g, count, change, kinetic, bodies, state, joint_work):
    """Change the kinetic energy of the listed bodies; returns what could not be taken."""
    listed = joint_work.body_list
    if joint_work.energy[g, GROUNDED] == 1.0:
        factor = scale_factor(kinetic, change)
        scale_motion(count, factor, _ZERO, _ZERO, _ZERO, state, listed)
        return max(-kinetic - change, 0.0)
    mass, centre, velocity = centre_of(count, bodies, state, listed)
    momentum = momentum_about(centre, count, bodies, state, listed)
    spin = rigid_spin(momentum, centre, count, bodies, state, listed)
    rotating = 0.5 * dot(spin, momentum)
    free = max(kinetic - 0.5 * mass * dot(velocity, velocity) - rotating, 0.0)
    scale_motion(count, scale_factor(free, change), centre, velocity, spin, state, listed)
    left = max(-free - change, 0.0)
    if left > 0.0:
        factor = scale_factor(rotating, -left)
        scale_motion(count, factor, centre, velocity, _ZERO, state, listed)
        left = max(left - rotating, 0.0)
    return left


@inner_kernel
def energy_error(g, bodies, state, rows, joint_work):
    """What island `g` has made of energy, or lost, as a share of that in play; 0 where other
    sources of it act."""
    energy, kinetic = joint_work.energy, 0.0
    if not abs(energy[g, BUDGET]) < inf:
        return 0.0
    for k in range(_list_bodies(g, bodies, state, rows, joint_work)):
        kinetic += kinetic_energy(joint_work.body_list[k], bodies, state.rotation, state.twist)
    play = energy[g, IN_PLAY] + kinetic
    return abs(kinetic - energy[g, BUDGET]) / play if play > 0.0 else 0.0


@kernel
def _note_loss(g, lost, play, energy):
    """Island `g` has lost that much; by how much it exceeds what is tolerated."""
    energy[g, LOST] += lost
    energy[g, BY_SCHEME] += lost
    return energy[g, BY_SCHEME] / (MOST_LOST * play) if play > 0.0 else 0.0


@inner_kernel
def balance_energy(g, bodies, state, rows, joint_work):
    """Take back what island `g` has made of energy. Returns the kinetic energy that it then has,
    what could not be taken, and by how much that, or what it has lost where nothing touches it,
    exceeds what is tolerated."""
    energy, budget = joint_work.energy, joint_work.energy[g, BUDGET]
    count, kinetic = _list_bodies(g, bodies, state, rows, joint_work), 0.0
    for k in range(count):
        kinetic += kinetic_energy(joint_work.body_list[k], bodies, state.rotation, state.twist)
    if not abs(budget) < inf:
        energy[g, LOST] = 0.0
        return kinetic, 0.0, 0.0
    made, play, change, beyond = kinetic - budget, energy[g, IN_PLAY] + kinetic, 0.0, 0.0
    if made > ROUNDING * play:
        change = -made
    elif made < -ROUNDING * play and energy[g, CONSERVES] == 1.0:
        by = joint_work.done[g]
        if by == BY_RATTLE:
            change = min(-made, MOST_RETURNED * kinetic)
        # What continuous collision detection has stopped after substeps is no loss of theirs.
        if by == BY_SUBSTEPS:
            energy[g, LOST] -= made
        else:
            beyond = _note_loss(g, -made - change, play, energy)
    if energy[g, CONSERVES] == 0.0:
        energy[g, LOST] = 0.0
    elif joint_work.done[g] == BY_SUBSTEPS:
        beyond = energy[g, BY_SCHEME] / (MOST_LOST * play) if play > 0.0 else 0.0
    if change == 0.0 or not abs(change) < inf:
        return kinetic, 0.0, beyond
    left = _change_energy(g, count, change, kinetic, bodies, state, joint_work)
    return kinetic + change + left, left, max(beyond, left / (ENERGY_TOLERANCE * play))


@stage
def balance_energies(joint_work, bodies, state, rows, groups, info):
    """Take back what the step has made of energy; report what is left of it, and what is lost."""
    made_by_all, lost_by_all, share = 0.0, 0.0, 0.0
    for g in range(groups):
        first, last = nodes_of(g, joint_work)
        if first == last:
            continue
        _, left, beyond = balance_energy(g, bodies, state, rows, joint_work)
        made_by_all += left
        lost_by_all += max(joint_work.energy[g, LOST], 0.0)
        share = max(share, beyond)
    info[INFO_ENERGY_MADE], info[INFO_ENERGY_SHARE] = made_by_all, share
    info[INFO_WORST_ENERGY_MADE] = max(info[INFO_WORST_ENERGY_MADE], made_by_all)
    info[INFO_ENERGY_LOST] = lost_by_all
    info[INFO_TOTAL_ENERGY_LOST] += lost_by_all
