"""Balances of islands without joints: momentum and energy that rows of the start cannot keep.

Rows stand at the poses of the start of a step and do not rotate with the bodies. So the scheme is
of first order where contacts act, and that shows in two sums:

- An island that touches nothing but itself keeps its angular momentum. Impulses act on both bodies
  at one point, but the bodies then move on by a mean of their velocities and are pushed apart: the
  sum is off by up to 3 % in a hit that is not an impact at its time. A rigid motion of the whole
  island, which changes no velocity at any contact, gives it back.
- A body that swings or slides along a curve, an arm on a pin, loses the share (spin dt)^2 of its
  energy in every step: the velocity that it has along the tangent of the start is an approach at
  the normal of the next start, and is taken for an impact. What is lost by approaches that rotation
  alone explains is given back by one factor for all velocities of the island, which changes neither
  directions nor Coulomb's law. What friction takes, and what faster approaches take, is not. And
  what a step has gained, for displacements along the tangent lift a body and nobody pays for that,
  is taken away again.

Only islands of few contacts are looked at, with nothing but gravity and constant forces on them.
solvers/articulated/energy_balance.py is the same for islands with joints.
"""

from math import inf, sqrt

from drystone.constraints.coulomb import velocity_at
from drystone.constraints.joint_rows import contacts_of
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.jit.vec import add, cross, dot, load, mad, sub
from drystone.model.arrays import CARRIED, DEFAULT_DRIFT, KINEMATIC, MOVING, ROLLING
from drystone.motion.rigid_motion import (
    add_rigid_motion,
    centre_of,
    kinetic_energy,
    momentum_about,
    rigid_spin,
    scale_factor,
    scale_motion,
)

LARGEST_ANGLE = 0.15  # [rad] by which a body may rotate in a step in which it swings
ROUNDING = 1e-13  # share of the kinetic energy that is not worth a correction
MOST_BALANCED = 64  # contacts of an island; larger ones are piles
LEAST_ANGLE = 1e-4  # [rad] in a step: bodies that rotate less are at rest, and keep their bits
# Islands of more bodies get energy back only if one rotates by this angle in the step [rad]: what
# one loses goes to all, and five rings that hang from each other rocked themselves up, by 7 mJ in
# ten seconds.
MOST_SWINGING, ROCKING = 2, 5e-4
# Approaches up to so many times what rotation explains, and this share of what gravity adds in a
# step, are no impacts. On a circle it is once; where a pendulum turns round there is no rotation.
EXPLAINED, FALLEN = 3.0, 0.25
# Shares of the kinetic energy that may be given back in one step, and taken.
MOST_RETURNED, MOST_TAKEN = 1.0, 0.1
# What is drawn up before the move stands in rows.round_impulse and rows.target of an island's
# first row: an island that is FREE has its angular momentum, others what they may have as energy.
# One that SWINGS gets back what it has lost.
NOT_BALANCED, FREE, SWINGS, TURNS = 0.0, 1.0, 2.0, 3.0
_ZERO = (0.0, 0.0, 0.0)


@kernel
def _list_bodies(lo, hi, rows, mass, listed):
    """List the dynamic bodies of rows lo..hi; how many they are."""
    count = 0
    for r in range(lo, hi):
        for side in range(2):
            b, known = rows.body[r, side], False
            if mass[b, 0] == 0.0:
                continue
            for k in range(count):
                known = known or listed[k] == b
            if not known:
                listed[count] = b
                count += 1
    return count


@kernel
def _explained(r, rows, twist, dt):
    """Approach or slip at contact `r` that the rotation of its bodies makes in a step [m/s];
    infinite if they rotate too far for that to tell it from an impact."""
    change = 0.0
    for side in range(2):
        b, k = rows.body[r, side], 3 * side
        if b < twist.shape[0]:
            w = (twist[b, 3], twist[b, 4], twist[b, 5])
            spin = sqrt(dot(w, w))
            if dt * spin > LARGEST_ANGLE:
                return inf
            orbit = cross(w, (rows.arm[r, k], rows.arm[r, k + 1], rows.arm[r, k + 2]))
            v = load(twist, b)
            change += spin * (sqrt(dot(orbit, orbit)) + sqrt(dot(v, v)))
    return dt * change


@kernel
def _slip_before(r, rows, twist):
    """Velocity along both tangents of contact `r` at the start of the step [m/s]."""
    u = _ZERO
    for side in range(2):
        b, k = rows.body[r, side], 3 * side
        if b < twist.shape[0]:
            arm = (rows.arm[r, k], rows.arm[r, k + 1], rows.arm[r, k + 2])
            orbit = cross((twist[b, 3], twist[b, 4], twist[b, 5]), arm)
            u = mad(u, add(load(twist, b), orbit), 1.0 if side == 1 else -1.0)
    f = rows.frame
    return dot(u, (f[r, 3], f[r, 4], f[r, 5])), dot(u, (f[r, 6], f[r, 7], f[r, 8]))


@kernel
def _friction_work(lo, hi, rows, motion, state, settings):
    """Work of friction at the contacts lo..hi [J]; infinite where something lands, is struck or
    comes to stick."""
    work, dt, tolerance = 0.0, settings.dt, settings.tolerance
    fall = dt * (abs(settings.gravity_x) + abs(settings.gravity_y) + abs(settings.gravity_z))
    for r in range(lo, hi):
        if rows.impulse[r, 0] <= 0.0:
            continue
        explained = _explained(r, rows, state.twist, dt)
        most = EXPLAINED * explained + FALLEN * fall + tolerance
        landed = rows.gap[r] > rows.skin[r] + 0.5 * dt * (explained + fall)
        if landed or rows.approach[r] < -most or not most < inf:
            return -inf
        _, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, motion.twist)
        v1, v2 = _slip_before(r, rows, state.twist)
        if u1 * u1 + u2 * u2 > tolerance * tolerance:
            work += 0.5 * (rows.impulse[r, 1] * (u1 + v1) + rows.impulse[r, 2] * (u2 + v2))
        elif rows.friction[r] > 0.0 and v1 * v1 + v2 * v2 > most * most:
            return -inf
    return work


@kernel
def _is_plain(count, state, motion, struck, listed):
    """Whether gravity and constant forces alone act on the listed bodies, and no impact has."""
    for i in range(count):
        b = listed[i]
        if motion.scheme[b] == CARRIED or (struck > 0 and motion.impact_time[b] >= 0.0):
            return False
        for k in range(6):
            if motion.force[b, k] != state.force[b, k]:
                return False
    return True


@kernel
def _energy_given(count, bodies, state, motion, settings, listed):
    """Kinetic energy at the start, with the work of gravity and constant forces in this step."""
    total, dt = 0.0, settings.dt
    g = (settings.gravity_x, settings.gravity_y, settings.gravity_z)
    for i in range(count):
        b = listed[i]
        total += kinetic_energy(b, bodies, state.rotation, state.twist)
        for k in range(3):
            total += dt * g[k] * motion.move[b, k] / bodies.inv_mass[b]
        for k in range(6):
            total += dt * state.force[b, k] * motion.move[b, k]
    return total


@kernel
def _is_free(lo, hi, rows, bodies, motion):
    """Whether rows lo..hi join dynamic bodies alone, on which no forces but gravity act."""
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if motion.mass[b, 0] == 0.0:
                return False
            for k in range(6):
                if motion.force[b, k] != 0.0:
                    return False
    return True


@kernel
def _on_static(lo, hi, rows, bodies):
    """Whether none of the bodies of rows lo..hi is kinematic."""
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if b < bodies.kind.shape[0] and bodies.kind[b] == KINEMATIC:
                return False
    return True


@kernel
def _turns(lo, hi, rows, twist, dt, angle):
    """Whether any body of rows lo..hi rotates by so much in the step: seen before anything that
    takes longer, for most islands are at rest."""
    least = (angle / dt) ** 2
    for r in range(lo, hi):
        for side in range(2):
            b = rows.body[r, side]
            if (
                b < twist.shape[0]
                and twist[b, 3] ** 2 + twist[b, 4] ** 2 + twist[b, 5] ** 2 > least
            ):
                return True
    return False


@stage
def draw_balances(bodies, state, settings, rows, groups, struck, motion, listed):
    """Before the move: what small islands have of angular momentum or energy.

    listed   scratch, a number for each body
    """
    # Other solvers than `auto` are left as their papers have them. Moving surfaces give energy, and
    # rolling friction takes it, at contacts that do not slip.
    special = rows.special[MOVING] == 1 or rows.special[ROLLING] == 1
    plain = settings.newton == 1 and settings.drift == DEFAULT_DRIFT and not special
    dt = settings.dt
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if hi == lo:
            continue
        rows.target[lo] = NOT_BALANCED
        if hi - lo > MOST_BALANCED or rows.group_linked[g] > 0 or not plain:
            continue
        if _is_free(lo, hi, rows, bodies, motion):
            count = _list_bodies(lo, hi, rows, motion.mass, listed)
            _, centre, _ = centre_of(count, bodies, state, listed)
            momentum = momentum_about(centre, count, bodies, state, listed)
            for k in range(3):
                rows.round_impulse[lo, k] = momentum[k]
            rows.target[lo] = FREE
        elif _turns(lo, hi, rows, state.twist, dt, LEAST_ANGLE) and _on_static(
            lo, hi, rows, bodies
        ):
            count = _list_bodies(lo, hi, rows, motion.mass, listed)
            if not _is_plain(count, state, motion, struck, listed):
                continue
            work = _friction_work(lo, hi, rows, motion, state, settings)
            given = _energy_given(count, bodies, state, motion, settings, listed)
            smooth = work > -inf
            rocks = count > MOST_SWINGING and not _turns(lo, hi, rows, state.twist, dt, ROCKING)
            rows.round_impulse[lo, 0] = given + work if smooth else given
            rows.target[lo] = SWINGS if smooth and not rocks else TURNS


@kernel
def _kinetic(count, bodies, state, listed):
    total = 0.0
    for i in range(count):
        total += kinetic_energy(listed[i], bodies, state.rotation, state.twist)
    return total


@kernel
def _restore_momentum(wanted, count, bodies, state, listed):
    """Give the listed bodies the angular momentum that they had, at no gain of energy: it comes out
    of their motion relative to each other."""
    mass, centre, velocity = centre_of(count, bodies, state, listed)
    lost = sub(wanted, momentum_about(centre, count, bodies, state, listed))
    before = _kinetic(count, bodies, state, listed)
    spin = rigid_spin(lost, centre, count, bodies, state, listed)
    add_rigid_motion(_ZERO, spin, centre, count, state, listed)
    now = _kinetic(count, bodies, state, listed)
    if now <= before:
        return
    spin = rigid_spin(wanted, centre, count, bodies, state, listed)
    relative = now - 0.5 * (mass * dot(velocity, velocity) + dot(spin, wanted))
    factor = scale_factor(max(relative, 0.0), before - now)
    scale_motion(count, factor, centre, velocity, spin, state, listed)


@stage
def settle_balances(bodies, state, rows, groups, motion, listed):
    """After the move: give back what the step has lost of them."""
    for g in range(groups):
        lo, hi = contacts_of(g, rows)
        if hi == lo or rows.target[lo] == NOT_BALANCED:
            continue
        kind, wanted = rows.target[lo], load(rows.round_impulse, lo)
        count = _list_bodies(lo, hi, rows, motion.mass, listed)
        if kind == FREE:
            _restore_momentum(wanted, count, bodies, state, listed)
            continue
        kinetic = _kinetic(count, bodies, state, listed)
        change = max(wanted[0] - kinetic, -MOST_TAKEN * kinetic)
        change = min(change, MOST_RETURNED * kinetic if kind == SWINGS else 0.0)
        if abs(change) > ROUNDING * kinetic:
            factor = scale_factor(kinetic, change)
            scale_motion(count, factor, _ZERO, _ZERO, _ZERO, state, listed)
