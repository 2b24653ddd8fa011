"""Impacts with restitution, at their time of impact within the step (generalized reflections).

A contact with restitution e that closes faster than `bounce_speed` within this step is an impact:
its bodies fly to the time of impact t, the impulses act, and the rest of the step goes on with
the velocities after. Heights and times of bounces are then exact for any step size, where a
bounce at the end or the start of the step would be off by speed * dt.

Impulses obey Newton's law u_n+ = -e u_n- (CLINE 4.16) with friction on the true cone, in rounds
[Smith2012]: all contacts that approach bounce together, then those that approach now, and so
on. One round of all contacts at once would move the balls of Newton's cradle as one body.
An impact never adds kinetic energy: a round that would (Newton's law with friction can, [Kane1985])
is taken again with smaller e. Impulses propagate through joints, found in the same sweeps as those
of the contacts. The velocities of joints are made to fit before the first round: drift correction
is excluded from the impact, or a joint would do work in it.
"""

from math import sqrt

from drystone.constraints.coulomb import push, solve_contact, velocity_at
from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.gauss_seidel.joint_sweep import own_block

ROUNDS = 20  # of impacts; after that e = 0, which ends the chatter of contacts that are left
SWEEPS = 60  # within a round
# Where joints take part: sweeps for an impulse to propagate through ten links, and the share of an
# impact's work that may seem to be energy gained because it has not quite propagated.
LINKED_SWEEPS, UNPASSED = 600, 1e-6
PRECISION = 1e-8  # of the velocities in a round, relative to the fastest approach


@kernel
def _time_of_impact(gap, speed, acceleration, dt):
    """When a gap that changes with `speed` and `acceleration` is closed, or -1 if not by dt [s]."""
    if gap <= 0.0:
        return 0.0
    inside = speed * speed - 2.0 * acceleration * gap
    if inside < 0.0:
        return -1.0
    below = -speed + sqrt(inside)
    if below <= 0.0:
        return -1.0
    t = 2.0 * gap / below
    return t if t <= dt else -1.0


@kernel
def _find_impacts(rows, count, motion, settings):
    """Time of the first impact of every body, motion.impact_time (-1: none); True if any has."""
    any_impact = False
    for r in range(count):
        if rows.restitution[r] <= 0.0 or rows.approach[r] > -settings.bounce_speed:
            continue
        free, _, _ = velocity_at(r, rows.body, rows.frame, rows.arm, motion.free)
        acceleration = (free - rows.approach[r]) / settings.dt
        t = _time_of_impact(rows.gap[r], rows.approach[r], acceleration, settings.dt)
        if t < 0.0:
            continue
        if not any_impact:
            any_impact = True
            for b in range(motion.impact_time.shape[0]):
                motion.impact_time[b] = -1.0
        for side in range(2):
            b = rows.body[r, side]
            if motion.impact_time[b] < 0.0 or t < motion.impact_time[b]:
                motion.impact_time[b] = t
    return any_impact


@kernel
def _take_over(one, other, motion):
    """Let a body without a time of impact take over that of its neighbour; True if it did."""
    if motion.impact_time[one] < 0.0 or motion.impact_time[other] >= 0.0:
        return False
    if motion.mass[one, 0] == 0.0 or motion.mass[other, 0] == 0.0:
        return False
    motion.impact_time[other] = motion.impact_time[one]
    return True


@kernel
def _spread_over_joints(joint_work, motion):
    """As _spread_impacts() does over contacts; True if a body has taken over a time."""
    more = False
    if joint_work is not None:
        for d in range(joint_work.node_body.shape[0]):
            a, b = joint_work.node_body[d, 0], joint_work.node_body[d, 1]
            more = _take_over(a, b, motion) or _take_over(b, a, motion) or more
    return more


@kernel
def _hold_joints(joint_work, motion):
    """Visit once the rows of joints of bodies with an impact; largest correction [m/s], [rad/s].

    Only those that always hold: impacts on limits, motors and springs are left to the solver.
    """
    worst = 0.0
    if joint_work is not None:
        rows = joint_work.rows
        for r in range(rows.body.shape[0]):
            a, b = rows.body[r, 0], rows.body[r, 1]
            if motion.impact_time[a] < 0.0 and motion.impact_time[b] < 0.0:
                continue
            if rows.kind[r] != ROW_EQUALITY:
                continue
            own = own_block(r, rows, motion.mass)
            if own > 0.0:
                w = row_velocity(r, rows, motion.twist)
                push_joint_row(r, -w / own, rows, motion.mass, motion.twist)
                worst = max(worst, abs(w))
    return worst


@kernel
def _spread_impacts(rows, count, joint_work, motion, touching):
    """Bodies that touch one with an impact, or are joined to it, take over its time.

    Lists the rows that an impact can reach.
    """
    listed = 0
    for r in range(count):
        for k in range(3):
            rows.impact_impulse[r, k] = 0.0
    more = True
    while more:
        more = False
        for r in range(count):
            if rows.gap[r] > touching:
                continue
            a, b = rows.body[r, 0], rows.body[r, 1]
            more = _take_over(a, b, motion) or _take_over(b, a, motion) or more
        more = _spread_over_joints(joint_work, motion) or more
    for r in range(count):
        hit = (
            motion.impact_time[rows.body[r, 0]] >= 0.0 or motion.impact_time[rows.body[r, 1]] >= 0.0
        )
        near = rows.gap[r] <= touching or rows.approach[r] < 0.0
        if hit and near:
            rows.impact_list[listed] = r
            listed += 1
    return listed


@kernel
def _fly_to_impact(b, state, motion, dt):
    """Velocity of body `b` at its impact, and its displacement until then."""
    t = max(motion.impact_time[b], 0.0)
    for k in range(6):
        old = state.twist[b, k]
        speed = old + (motion.free[b, k] - old) * t / dt
        motion.twist[b, k] = speed
        motion.impact_displacement[b, k] = 0.5 * t * (old + speed)


@kernel
def _closes(r, rows, motion, touching):
    """Whether contact `r` is closed at the time of its bodies' impact."""
    if rows.gap[r] <= touching:
        return True
    t = max(motion.impact_time[rows.body[r, 0]], motion.impact_time[rows.body[r, 1]])
    mean, _, _ = velocity_at(r, rows.body, rows.frame, rows.arm, motion.impact_displacement)
    return rows.gap[r] + mean <= touching and t >= 0.0


@kernel
def _solve_round(listed, rows, joint_work, motion, share, settings, touching):
    """Impulses of all listed contacts that approach, together. False if none approaches.

    `share` scales the restitution. The impulses are left in rows.round_impulse.
    """
    body, frame, arm, impulse = rows.body, rows.frame, rows.arm, rows.round_impulse
    fastest = 0.0
    for i in range(listed):
        r = rows.impact_list[i]
        impulse[r, 0], impulse[r, 1], impulse[r, 2] = 0.0, 0.0, 0.0
        rows.target[r] = 1.0  # does not take part
        un, _, _ = velocity_at(r, body, frame, arm, motion.twist)
        if un < -1e-3 * settings.bounce_speed and _closes(r, rows, motion, touching):
            fastest = max(fastest, -un)
            e = rows.restitution[r] * share if un < -settings.bounce_speed else 0.0
            rows.target[r] = e * un
    if fastest == 0.0:
        return False
    for _ in range(SWEEPS if joint_work is None else LINKED_SWEEPS):
        change = _hold_joints(joint_work, motion)
        for i in range(listed):
            r = rows.impact_list[i]
            if rows.target[r] > 0.0:
                continue
            un, u1, u2 = velocity_at(r, body, frame, arm, motion.twist)
            un, mu = un + rows.target[r], rows.friction[r]
            pn, p1, p2 = solve_contact(r, un, u1, u2, rows.delassus, rows.inverse, mu, impulse)
            dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
            change = max(change, (abs(dn) + abs(d1) + abs(d2)) * rows.delassus[r, 0])
            push(r, dn, d1, d2, body, frame, arm, motion.mass, motion.twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
        if change <= PRECISION * fastest:
            break
    return True


@kernel
def _gains(listed, rows, motion, slack):
    """Did the impulses of the last round add kinetic energy, sum of p . (u before + u after) / 2?

    More than the share `slack` of what the normal impulses did against the approach.
    """
    energy = 0.0
    for i in range(listed):
        r = rows.impact_list[i]
        if rows.target[r] > 0.0:
            continue
        un, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, motion.twist)
        vn, v1, v2 = velocity_at(r, rows.body, rows.frame, rows.arm, motion.before)
        energy += 0.5 * (
            rows.round_impulse[r, 0] * (un + vn)
            + rows.round_impulse[r, 1] * (u1 + v1)
            + rows.round_impulse[r, 2] * (u2 + v2)
        )
        energy += 0.5 * slack * rows.round_impulse[r, 0] * min(vn, 0.0)
    return energy > 0.0


@stage
def solve_impacts(state, settings, motion, rows, count, joint_work):
    """Let the contacts that bounce within this step bounce; returns the number of rounds.

    Afterwards motion.free is the velocity at the end of the step if nothing else touched,
    motion.impact_displacement that until the impact, motion.after the velocity right after it.
    """
    if not _find_impacts(rows, count, motion, settings):
        return 0
    dt = settings.dt
    touching = settings.bounce_speed * dt  # [m] closer than this is in touch
    listed = _spread_impacts(rows, count, joint_work, motion, touching)
    n = motion.impact_time.shape[0] - 1
    for b in range(n):
        if motion.mass[b, 0] == 0.0:
            motion.impact_time[b] = -1.0
    motion.impact_time[n] = -1.0
    for b in range(n):
        if motion.impact_time[b] >= 0.0:
            _fly_to_impact(b, state, motion, dt)
        else:
            for k in range(6):
                motion.twist[b, k] = state.twist[b, k]
                motion.impact_displacement[b, k] = 0.0
    for k in range(6):
        motion.impact_displacement[n, k] = 0.0
    if joint_work is not None:
        for _ in range(LINKED_SWEEPS):
            if _hold_joints(joint_work, motion) <= PRECISION * settings.bounce_speed:
                break
    _copy_all(motion.twist, motion.before)
    rounds, slack = 0, 0.0 if joint_work is None else UNPASSED
    while rounds < 2 * ROUNDS:
        share = 1.0 if rounds < ROUNDS else 0.0
        if not _solve_round(listed, rows, joint_work, motion, share, settings, touching):
            break
        rounds += 1
        less = 0.01
        while share > 0.0 and _gains(listed, rows, motion, slack):
            less *= 2.0  # most gains are small, and so is what ends them
            share = max(share - less, 0.0)
            _copy_all(motion.before, motion.twist)
            _solve_round(listed, rows, joint_work, motion, share, settings, touching)
        for i in range(listed):
            r = rows.impact_list[i]
            for k in range(3):
                rows.impact_impulse[r, k] += rows.round_impulse[r, k]
        _copy_all(motion.twist, motion.before)
    for b in range(n):
        if motion.impact_time[b] < 0.0:
            for k in range(6):
                motion.twist[b, k] = motion.free[b, k]
            continue
        rest = 1.0 - motion.impact_time[b] / dt
        for k in range(6):
            motion.after[b, k] = motion.twist[b, k]
            motion.twist[b, k] += rest * (motion.free[b, k] - state.twist[b, k])
            motion.free[b, k] = motion.twist[b, k]
    return rounds


@kernel
def _copy_all(source, target):
    for b in range(source.shape[0]):
        for k in range(6):
            target[b, k] = source[b, k]
