"""Sleeping: islands that have come to rest fall asleep, and wake when something reaches them."""

from drystone.constraints.islands import TALLY_ISLANDS
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import COUNTER_PAIRS, FIXED, KINEMATIC


@kernel
def _disturbs(b, kind, asleep, twist):
    """Whether body `b` can disturb a sleeping one."""
    if b == FIXED:
        return False
    if kind[b] == KINEMATIC:
        for k in range(6):
            if twist[b, k] != 0.0:
                return True
        return False
    return asleep[b] == 0


@kernel
def _wake_joined(kind, joint_body, state):
    """Wake sleeping bodies that are joined to an awake one; True if any was."""
    n, woken = kind.shape[0], False
    for j in range(joint_body.shape[0]):
        for side in range(2):
            one, other = joint_body[j, side], joint_body[j, 1 - side]
            if (
                one < n
                and other < n
                and state.asleep[one] == 1
                and _disturbs(other, kind, state.asleep, state.twist)
            ):
                state.asleep[one] = 0
                state.rest_time[one] = 0.0
                woken = True
    return woken


@stage
def wake_touched(body, kind, joint_body, state, near, near_count):
    """Wake sleeping bodies that touch an awake one, and all that lean on them; True if any did."""
    woken = _wake_joined(kind, joint_body, state)
    for k in range(near_count):
        if near.slot_count[k] == 0:
            continue
        p = near.pair[k]
        a, b = body[state.pair[p, 0]], body[state.pair[p, 1]]
        for side in range(2):
            one, other = (a, b) if side == 0 else (b, a)
            if (
                one != FIXED
                and state.asleep[one] == 1
                and _disturbs(other, kind, state.asleep, state.twist)
            ):
                state.asleep[one] = 0
                state.rest_time[one] = 0.0
                woken = True
    if woken:
        spread_waking(body, kind, joint_body, state)
    return woken


@kernel
def spread_waking(body, kind, joint_body, state):
    """Wake every sleeping body that touched an awake one when it fell asleep, and those joined."""
    more = True
    while more:
        more = _wake_joined(kind, joint_body, state)
        for p in range(state.counter[COUNTER_PAIRS]):
            if state.pair_cached[p, 1] == 0:
                continue
            a, b = body[state.pair[p, 0]], body[state.pair[p, 1]]
            if a == FIXED or b == FIXED or state.asleep[a] == state.asleep[b]:
                continue
            if kind[a] == KINEMATIC or kind[b] == KINEMATIC:
                continue
            sleeper = a if state.asleep[a] == 1 else b
            state.asleep[sleeper] = 0
            state.rest_time[sleeper] = 0.0
            more = True


@stage
def fall_asleep(bodies, state, settings, graph):
    """Count how long bodies have been slow; islands that were slow long enough fall asleep."""
    twist = state.twist
    limit = settings.sleep_speed**2
    for i in range(graph.tally[TALLY_ISLANDS]):
        graph.island_rest[i] = settings.sleep_delay
    for b in range(bodies.kind.shape[0]):
        if bodies.kind[b] == KINEMATIC or state.asleep[b] == 1:
            continue
        speed = twist[b, 0] ** 2 + twist[b, 1] ** 2 + twist[b, 2] ** 2
        spin = twist[b, 3] ** 2 + twist[b, 4] ** 2 + twist[b, 5] ** 2
        if speed + spin * bodies.radius[b] ** 2 < limit:
            state.rest_time[b] += settings.dt
        else:
            state.rest_time[b] = 0.0
        i = graph.island[b]
        if i >= 0:
            graph.island_rest[i] = min(graph.island_rest[i], state.rest_time[b])
    for b in range(bodies.kind.shape[0]):
        i = graph.island[b]
        if i >= 0 and graph.island_rest[i] >= settings.sleep_delay:
            if bodies.kind[b] != KINEMATIC and state.asleep[b] == 0:
                state.asleep[b] = 1
                for k in range(6):
                    twist[b, k] = 0.0
