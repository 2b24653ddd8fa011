"""Impacts with restitution, at their times of impact within the step (generalized reflections).

A contact with restitution e that closes faster than `bounce_speed` within this step is an impact:
its bodies fly to the time of impact t, the impulses act, and they fly on with the velocities after,
perhaps to their next impact. Heights and times of bounces are then exact for any step size, where a
bounce at the end or the start of the step would be off by speed * dt. The impacts of an island are
taken in the order of their times (impact_times.py), those of different islands side by side.

Impulses obey Newton's law u_n+ = -e u_n- (CLINE 4.16) with friction on the true cone, in rounds
[Smith2012]: all contacts that approach bounce together, then those that approach now, and so
on. One round of all contacts at once would move the balls of Newton's cradle as one body.
An impact never adds kinetic energy: a round that would (Newton's law with friction can, [Kane1985])
is taken again with smaller e. Impulses propagate through joints, found in the same sweeps as those
of the contacts. The velocities of joints are made to fit before the first round: drift correction
is excluded from the impact, or a joint would do work in it.
"""

from math import inf

from drystone.constraints.contact_rows import fill_block
from drystone.constraints.coulomb import (
    invert_block,
    push,
    slip_at,
    solve_contact,
    velocity_at,
)
from drystone.constraints.islands import TALLY_GROUPS
from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.forces.free_velocity import set_rotation
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import INFO_CONTACTS, INFO_NEAR
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.gauss_seidel.joint_sweep import own_block
from drystone.solvers.stages.impact_times import (
    CLOSE_SHARE,
    closing_time,
    find_again,
    flight_begin,
    gap_at,
    is_exact,
    list_impacts,
    look_ahead,
    may_come_round,
    next_impact,
    path_at,
    rotation_at,
)

ROUNDS = 20  # of an impact; after that e = 0, which ends the chatter of contacts that are left
SWEEPS = 100  # within a round
# Where joints take part: sweeps for an impulse to propagate through ten links, and the share of an
# impact's work that may seem to be energy gained because it has not quite propagated.
LINKED_SWEEPS, UNPASSED = 600, 1e-6
PRECISION = 1e-10  # of the velocities in a round, relative to the fastest approach
# A contact is closed at its time of impact, but for rounding: this share of its gap before.
ROUNDING = 1e-9
# Visits of contacts in a step, 50 ns each, while its impacts are taken one after the other: enough
# for the hundreds of impacts of a cradle, in a pile of 1000 for a few. Beyond that all impacts that
# are left are taken at once, every body at the time of its first.
MOST_VISITS = 100_000
SAME_TIME = 1e-9  # of the step: impacts as close as that are one


@kernel
def _some_impact(bouncing, rows, radius, state, motion, settings):
    """Whether any of the listed contacts closes within the step, faster than bounce_speed."""
    for i in range(bouncing):
        r = rows.bounce_list[i]
        if may_come_round(r, rows, radius, state, settings.dt):
            return True
        if rows.approach[r] > -settings.bounce_speed:
            continue
        free, _, _ = velocity_at(r, rows.body, rows.frame, rows.arm, motion.free)
        acceleration = (free - rows.approach[r]) / settings.dt
        if closing_time(rows.gap[r], rows.approach[r], acceleration, settings.dt) >= 0.0:
            return True
    return False


@kernel
def _start_paths(rows, count, state, motion):
    """All bodies at the start of the step, without impacts so far."""
    n = state.position.shape[0]
    for b in range(n + 1):
        motion.impact_time[b] = -1.0
        for k in range(6):
            motion.impact_displacement[b, k] = 0.0
            motion.after[b, k] = state.twist[b, k] if b < n else 0.0
            motion.twist[b, k] = motion.after[b, k]
    for b in range(n):
        for k in range(4):
            motion.impact_rotation[b, k] = state.rotation[b, k]
    for r in range(count):
        rows.found_at[r], rows.searches[r] = 0.0, 0
        for k in range(3):
            rows.impact_impulse[r, k] = 0.0


@kernel
def _island_of(r, rows, graph, mass):
    a, b = rows.body[r, 0], rows.body[r, 1]
    return graph.island[a] if mass[a, 0] > 0.0 else graph.island[b]


@kernel
def _find_next(bouncing, rows, state, motion, settings, graph):
    """Time of the next impact of every listed row and of every island; False if there is none."""
    n = state.position.shape[0]
    for i in range(n):
        graph.island_impact[i] = inf
    some = False
    for i in range(bouncing):
        r = rows.bounce_list[i]
        t = next_impact(r, rows, state, motion, settings)
        rows.toi[r] = t
        if t >= 0.0:
            some = True
            island = _island_of(r, rows, graph, motion.mass)
            graph.island_impact[island] = min(graph.island_impact[island], t)
    return some


@kernel
def _is_next(r, rows, motion, graph, dt):
    """Whether the impact at contact `r` is the next of its island."""
    first = graph.island_impact[_island_of(r, rows, graph, motion.mass)]
    return 0.0 <= rows.toi[r] <= first + SAME_TIME * dt


@kernel
def _squared_lengths(r, frame):
    """Of the two tangents: 1, less if friction is elliptic (elliptic_friction.py)."""
    one = frame[r, 3] ** 2 + frame[r, 4] ** 2 + frame[r, 5] ** 2
    two = frame[r, 6] ** 2 + frame[r, 7] ** 2 + frame[r, 8] ** 2
    return one, two


@kernel
def _has_shortened_axes(r, frame):
    """Whether the axes of the contact are not to be made again."""
    one, two = _squared_lengths(r, frame)
    return min(one, two) < 1.0 - 1e-9


@kernel
def _find_contacts_again(bouncing, shapes, outlines, bodies, state, settings, work):
    """Contacts of the next impacts, at the poses there. An island where one has changed has to
    wait: the time of its next impact may be another one."""
    rows, motion, graph = work.rows, work.motion, work.graph
    dt, near_count = settings.dt, int(work.log.info[INFO_NEAR])
    for i in range(bouncing):
        r = rows.bounce_list[i]
        if not _is_next(r, rows, motion, graph, dt) or _has_shortened_axes(r, rows.frame):
            continue
        if not is_exact(r, rows.toi[r], rows, state, motion, dt):
            find_again(r, rows.toi[r], False, shapes, outlines, bodies, state, work, near_count, dt)
            graph.island_impact[_island_of(r, rows, graph, motion.mass)] = -1.0


@kernel
def _strike_bodies(bouncing, at_once, rows, motion, graph, dt):
    """Time at which every body is struck now, motion.struck (-1: it is not); False if none is."""
    for b in range(motion.struck.shape[0]):
        motion.struck[b] = -1.0
    some = False
    for i in range(bouncing):
        r = rows.bounce_list[i]
        t = rows.toi[r]
        if t < 0.0 or not (at_once or _is_next(r, rows, motion, graph, dt)):
            continue
        some = True
        for side in range(2):
            b = rows.body[r, side]
            if motion.mass[b, 0] > 0.0 and (motion.struck[b] < 0.0 or t < motion.struck[b]):
                motion.struck[b] = t
    return some


@kernel
def _take_over(one, other, motion):
    """Let a body that is not struck take over the time of its neighbour; True if it did."""
    if motion.struck[one] < 0.0 or motion.struck[other] >= 0.0 or motion.mass[other, 0] == 0.0:
        return False
    motion.struck[other] = max(motion.struck[one], flight_begin(other, motion))
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
def _is_closed(r, rows, state, motion, touching, dt):
    """Whether contact `r` is closed when its bodies are struck."""
    t = max(motion.struck[rows.body[r, 0]], motion.struck[rows.body[r, 1]])
    if t < 0.0:
        return False
    gap, _, _ = gap_at(r, t, rows, state, motion, dt)
    return gap <= touching + CLOSE_SHARE * rows.skin[r] + ROUNDING * abs(rows.gap[r])


@kernel
def _spread_impacts(rows, count, joint_work, state, motion, touching, dt):
    """Bodies that touch one that is struck, or are joined to it, are struck at the same time.

    Lists the rows that take part; returns how many.
    """
    more = True
    while more:
        more = False
        for r in range(count):
            a, b = rows.body[r, 0], rows.body[r, 1]
            if (motion.struck[a] >= 0.0) != (motion.struck[b] >= 0.0) and _is_closed(
                r, rows, state, motion, touching, dt
            ):
                more = _take_over(a, b, motion) or _take_over(b, a, motion) or more
        more = _spread_over_joints(joint_work, motion) or more
    listed = 0
    for r in range(count):
        if _is_closed(r, rows, state, motion, touching, dt):
            rows.impact_list[listed] = r
            listed += 1
    return listed


@kernel
def _fly_to_impact(b, bodies, state, joint_work, motion, dt):
    """Pose and velocity of body `b` when it is struck; motion.move is its displacement until then.

    Its inertia is that of its pose there. With joints it stays that of the start of the step, to
    which their rows belong.
    """
    t = motion.struck[b]
    displacement, twist = path_at(b, t, state, motion, dt)
    q, spin = rotation_at(b, t, bodies, state, motion, dt)
    for k in range(6):
        motion.move[b, k], motion.twist[b, k] = displacement[k], twist[k]
    for k in range(4):
        motion.impact_rotation[b, k] = q[k]
    if joint_work is None:
        for k in range(3):
            motion.twist[b, 3 + k] = spin[k]
        set_rotation(b, q, bodies, motion.rotation_matrix, motion.mass)


@kernel
def _renew_block(r, rows, mass):
    """The block of contact `r` in the Delassus matrix, with the inertia of its bodies now."""
    one, two = _squared_lengths(r, rows.frame)
    fill_block(r, rows.body, rows.frame, rows.arm, mass, one, two, rows.delassus)
    invert_block(r, rows.delassus, rows.inverse)


@kernel
def _hold_joints(joint_work, motion):
    """Visit once the rows of joints of bodies that are struck; largest correction [m/s], [rad/s].

    Only those that always hold: impacts on limits, motors and springs are left to the solver.
    """
    worst = 0.0
    if joint_work is not None:
        rows = joint_work.rows
        for r in range(rows.body.shape[0]):
            a, b = rows.body[r, 0], rows.body[r, 1]
            if motion.struck[a] < 0.0 and motion.struck[b] < 0.0:
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
def _solve_round(listed, rows, joint_work, motion, share, settings):
    """Impulses of all listed contacts that approach, together; the number of sweeps that it took,
    0 if none approaches.

    `share` scales the restitution. The impulses are left in rows.round_impulse.
    """
    body, frame, arm, impulse = rows.body, rows.frame, rows.arm, rows.round_impulse
    fastest = 0.0
    for i in range(listed):
        r = rows.impact_list[i]
        impulse[r, 0], impulse[r, 1], impulse[r, 2] = 0.0, 0.0, 0.0
        rows.target[r] = 1.0  # does not take part
        un, _, _ = velocity_at(r, body, frame, arm, motion.twist)
        if un < -1e-3 * settings.bounce_speed:
            fastest = max(fastest, -un)
            e = rows.restitution[r] * share if un < -settings.bounce_speed else 0.0
            rows.target[r] = e * un
    if fastest == 0.0:
        return 0
    sweeps, change = 0, inf
    while change > PRECISION * fastest and sweeps < (
        SWEEPS if joint_work is None else LINKED_SWEEPS
    ):
        sweeps += 1
        change = _hold_joints(joint_work, motion)
        for i in range(listed):
            r = rows.impact_list[i]
            if rows.target[r] > 0.0:
                continue
            un, u1, u2 = slip_at(r, rows, motion.twist)
            un, mu = un + rows.target[r], rows.friction[r]
            pn, p1, p2 = solve_contact(r, un, u1, u2, rows.delassus, rows.inverse, mu, impulse)
            dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
            change = max(change, (abs(dn) + abs(d1) + abs(d2)) * rows.delassus[r, 0])
            push(r, dn, d1, d2, body, frame, arm, motion.mass, motion.twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
    return sweeps


@kernel
def _gain(listed, rows, motion, slack):
    """Kinetic energy that the last round added, sum of p . (u before + u after) / 2, as a share of
    what its normal impulses did against the approach; less the share `slack`."""
    energy, work = 0.0, 0.0
    for i in range(listed):
        r = rows.impact_list[i]
        if rows.target[r] > 0.0:
            continue
        un, u1, u2 = slip_at(r, rows, motion.twist)
        vn, v1, v2 = slip_at(r, rows, motion.before)
        energy += 0.5 * (
            rows.round_impulse[r, 0] * (un + vn)
            + rows.round_impulse[r, 1] * (u1 + v1)
            + rows.round_impulse[r, 2] * (u2 + v2)
        )
        work -= 0.5 * rows.round_impulse[r, 0] * min(vn, 0.0)
    return energy / work - slack if work > 0.0 else 0.0


@kernel
def _reflect(listed, rows, joint_work, motion, settings):
    """Velocities after the impact of all bodies that are struck; how many rounds and sweeps."""
    if joint_work is not None:
        for _ in range(LINKED_SWEEPS):
            if _hold_joints(joint_work, motion) <= PRECISION * settings.bounce_speed:
                break
    _copy_all(motion.twist, motion.before)
    rounds, sweeps, slack = 0, 0, 0.0 if joint_work is None else UNPASSED
    while rounds < 2 * ROUNDS:
        share = 1.0 if rounds < ROUNDS else 0.0
        taken = _solve_round(listed, rows, joint_work, motion, share, settings)
        if taken == 0:
            break
        rounds, sweeps = rounds + 1, sweeps + taken
        less, gain = 0.0, _gain(listed, rows, motion, slack)
        while share > 0.0 and gain > 0.0:
            # Most gains are small, many of them rounding, and so is what ends them.
            less = max(2.0 * less, gain)
            share = max(share - less, 0.0)
            _copy_all(motion.before, motion.twist)
            sweeps += _solve_round(listed, rows, joint_work, motion, share, settings)
            gain = _gain(listed, rows, motion, slack)
        for i in range(listed):
            r = rows.impact_list[i]
            for k in range(3):
                rows.impact_impulse[r, k] += rows.round_impulse[r, k]
        _copy_all(motion.twist, motion.before)
    return rounds, sweeps


@kernel
def _fly_on(state, motion):
    """The bodies that were struck begin their next flight."""
    for b in range(state.position.shape[0]):
        if motion.struck[b] < 0.0:
            continue
        motion.impact_time[b] = motion.struck[b]
        for k in range(6):
            motion.impact_displacement[b, k] = motion.move[b, k]
            motion.after[b, k] = motion.twist[b, k]


@kernel
def _finish(rows, count, state, motion, dt):
    """Velocities at the end of the step, and how far contacts may close in what is left of it."""
    n = state.position.shape[0]
    for r in range(count):
        t = max(flight_begin(rows.body[r, 0], motion), flight_begin(rows.body[r, 1], motion))
        if t == 0.0 and rows.searches[r] == 0:
            continue
        gap, _, _ = gap_at(r, t, rows, state, motion, dt)
        _renew_block(r, rows, motion.mass)
        if gap > rows.skin[r]:
            rows.bias[r] = gap / max(dt - t, SAME_TIME * dt)
        elif rows.bias[r] > 0.0:
            rows.bias[r] = 0.0
    for b in range(n):
        if motion.impact_time[b] < 0.0:
            for k in range(6):
                motion.twist[b, k] = motion.free[b, k]
            continue
        rest = 1.0 - motion.impact_time[b] / dt
        for k in range(6):
            motion.twist[b, k] = motion.after[b, k] + rest * (motion.free[b, k] - state.twist[b, k])
    for b in range(n):
        if motion.impact_time[b] >= 0.0:
            for k in range(6):
                motion.free[b, k] = motion.twist[b, k]


@inner_kernel
def solve_impacts(shapes, outlines, bodies, state, settings, work, joint_work):
    """Let the contacts that bounce within this step bounce; returns the number of rounds.

    Afterwards motion.free is the velocity at the end of the step if nothing else touched,
    motion.impact_displacement that until the last impact of a body, motion.after its velocity
    right after it.
    """
    motion, rows, graph, dt = work.motion, work.rows, work.graph, settings.dt
    count = int(work.log.info[INFO_CONTACTS])
    bouncing = list_impacts(rows, graph.tally[TALLY_GROUPS], motion.mass)
    if bouncing == 0 or not _some_impact(bouncing, rows, bodies.radius, state, motion, settings):
        return 0
    touching = settings.bounce_speed * dt  # [m] closer than this is in touch
    _start_paths(rows, count, state, motion)
    look_ahead(bouncing, shapes, outlines, bodies, state, settings, work)
    rounds, visits, at_once = 0, 0, False
    while not at_once:
        visits += count + bouncing
        at_once = visits > MOST_VISITS
        if not _find_next(bouncing, rows, state, motion, settings, graph):
            break
        if not at_once:
            _find_contacts_again(bouncing, shapes, outlines, bodies, state, settings, work)
        if not _strike_bodies(bouncing, at_once, rows, motion, graph, dt):
            continue
        listed = _spread_impacts(rows, count, joint_work, state, motion, touching, dt)
        for b in range(state.position.shape[0]):
            if motion.struck[b] >= 0.0:
                _fly_to_impact(b, bodies, state, joint_work, motion, dt)
        for i in range(listed):
            _renew_block(rows.impact_list[i], rows, motion.mass)
        taken, sweeps = _reflect(listed, rows, joint_work, motion, settings)
        rounds, visits = rounds + taken, visits + sweeps * listed
        _fly_on(state, motion)
    _finish(rows, count, state, motion, dt)
    return max(rounds, 1)


@stage
def solve_impacts_solids(shapes, bodies, state, settings, work, joint_work):
    """The same in three dimensions, compiled once for all that call it."""
    return solve_impacts(shapes, None, bodies, state, settings, work, joint_work)


@kernel
def _copy_all(source, target):
    for b in range(source.shape[0]):
        for k in range(6):
            target[b, k] = source[b, k]
