"""The matrix of one island of contacts, taken from the rows of the step for Newton's method.

W couples contacts that share a body. We list the contacts of every body, from that the contacts
that each contact is coupled to, and number them so that these are close to each other (gather.py).
"""

import numpy as np

from drystone.arrays import INFO_NEWTON_ISLANDS, INFO_NEWTON_STEPS
from drystone.assemble import inertia_times
from drystone.coulomb import push, velocity_at
from drystone.gather import band_numbers, order_island
from drystone.jit import kernel
from drystone.newton import natural_error, prox_newton
from drystone.sweeps import DEEPER, solve_group, worst_group
from drystone.vec import cross, dot

MOST_OPERATIONS = 1e8  # of one factorisation: some 10 ms
NEWTON_STEPS = 100  # in a step; islands took 1 to 60


@kernel
def _list_bodies(lo, n, body, mass, links):
    """Contacts of every body that moves, in the rows lo .. lo + n."""
    slot, first, item = links.slot, links.body_first, links.body_item
    count = 0
    for c in range(n):
        for side in range(2):
            b = body[lo + c, side]
            if mass[b, 0] > 0.0:
                if slot[b] < 0:
                    slot[b] = count
                    first[count] = 0
                    count += 1
                first[slot[b]] += 1
    total = 0
    for k in range(count):
        total += first[k]
        first[k] = total
    first[count] = total
    for c in range(n - 1, -1, -1):
        for side in range(2):
            b = body[lo + c, side]
            if mass[b, 0] > 0.0:
                first[slot[b]] -= 1
                item[first[slot[b]]] = 2 * c + side


@kernel
def _forget_bodies(lo, n, body, links):
    for c in range(n):
        links.slot[body[lo + c, 0]] = -1
        links.slot[body[lo + c, 1]] = -1


@kernel
def link_contacts(lo, n, body, mass, links):
    """Fill first and column of the rows lo .. lo + n; False if there is not enough room."""
    _list_bodies(lo, n, body, mass, links)
    used, room = 0, links.column.shape[0]
    fits = True
    for c in range(n):
        links.mark[c] = -1
    for c in range(n):
        links.first[c] = used
        for side in range(2):
            b = body[lo + c, side]
            if mass[b, 0] == 0.0 or not fits:
                continue
            k = links.slot[b]
            for m in range(links.body_first[k], links.body_first[k + 1]):
                j = links.body_item[m] // 2
                if links.mark[j] != c:
                    if used == room:
                        fits = False
                        break
                    links.mark[j] = c
                    links.column[used] = j
                    used += 1
    links.first[n] = used
    _forget_bodies(lo, n, body, links)
    return fits


@kernel
def _levers(r, side, frame, arm):
    """Arm times normal, tangent 1, tangent 2."""
    lever = (arm[r, 3 * side], arm[r, 3 * side + 1], arm[r, 3 * side + 2])
    return (
        cross(lever, (frame[r, 0], frame[r, 1], frame[r, 2])),
        cross(lever, (frame[r, 3], frame[r, 4], frame[r, 5])),
        cross(lever, (frame[r, 6], frame[r, 7], frame[r, 8])),
    )


@kernel
def _add_coupling(r, side, other, side_2, b, frame, arm, mass, k, value):
    """What an impulse at contact `other` does to contact `r` through their body `b`."""
    sign = 1.0 if side == side_2 else -1.0
    mine, theirs = _levers(r, side, frame, arm), _levers(other, side_2, frame, arm)
    for j in range(3):
        t = (frame[other, 3 * j], frame[other, 3 * j + 1], frame[other, 3 * j + 2])
        spin = inertia_times(b, theirs[j], mass)
        for i in range(3):
            a = (frame[r, 3 * i], frame[r, 3 * i + 1], frame[r, 3 * i + 2])
            value[k, 3 * i + j] += sign * (mass[b, 0] * dot(a, t) + dot(mine[i], spin))


@kernel
def fill_island(lo, n, rows, mass, free, links, island):
    """The contacts links.order[:n] as a problem of its own."""
    body, frame, arm = rows.body, rows.frame, rows.arm
    used = 0
    for i in range(n):
        c = links.order[i]
        r = lo + c
        island.first[i] = used
        for m in range(links.first[c], links.first[c + 1]):
            j = links.column[m]
            for k in range(9):
                island.value[used, k] = 0.0
            for side in range(2):
                b = body[r, side]
                if mass[b, 0] == 0.0:
                    continue
                for side_2 in range(2):
                    if body[lo + j, side_2] == b:
                        _add_coupling(
                            r, side, lo + j, side_2, b, frame, arm, mass, used, island.value
                        )
            island.column[used] = links.place[j]
            used += 1
        un, u1, u2 = velocity_at(r, body, frame, arm, free)
        island.q[i, 0], island.q[i, 1], island.q[i, 2] = un + rows.bias[r], u1, u2
        island.friction[i] = rows.friction[r]
        island.scale[i] = (rows.block[r, 0] + rows.block[r, 3] + rows.block[r, 5]) / 3.0
        island.flat[i] = False
    island.first[n] = used


@kernel
def _solve_island(lo, n, rows, mass, free, goal, work, twist):
    """Newton on the contacts links.order[:n]; returns the error and the steps, -1 if none."""
    links, island, own = work.links, work.island, work.links.impulse
    fill_island(lo, n, rows, mass, free, links, island)
    for i in range(n):
        r = lo + links.order[i]
        own[i, 0], own[i, 1], own[i, 2] = (
            rows.impulse[r, 0], rows.impulse[r, 1], rows.impulse[r, 2]
        )  # fmt: skip
    error = natural_error(n, island, False, own)
    if error <= goal:
        return error, 0
    stored, operations = band_numbers(n, island, work.newton.low, work.newton.high)
    if stored > work.newton.matrix.shape[0] or operations > MOST_OPERATIONS:
        return error, 0
    error, steps = prox_newton(n, island, False, goal, NEWTON_STEPS, work.newton, own)
    for i in range(n):
        r = lo + links.order[i]
        d0, d1, d2 = (
            own[i, 0] - rows.impulse[r, 0],
            own[i, 1] - rows.impulse[r, 1],
            own[i, 2] - rows.impulse[r, 2],
        )
        push(r, d0, d1, d2, rows.body, rows.frame, rows.arm, mass, twist)
        for k in range(3):
            rows.impulse[r, k] = own[i, k]
    return error, steps


@kernel
def solve_by_newton(lo, n, rows, mass, free, goal, work, twist):
    """Bring the islands among the rows lo .. lo + n to an error of `goal` [m/s].

    Returns the largest error, how many islands needed Newton, and its steps.
    """
    links = work.links
    if n > links.mark.shape[0] or not link_contacts(lo, n, rows.body, mass, links):
        return np.inf, 0, 0
    worst, islands, steps = 0.0, 0, 0
    for c in range(n):
        links.place[c] = -1
    for c in range(n):
        if links.place[c] >= 0:
            continue
        count = order_island(c, links.first, links.column, links.place, links.order)
        error, taken = _solve_island(lo, count, rows, mass, free, goal, work, twist)
        worst = max(worst, error)
        steps += taken
        islands += 1 if taken > 0 else 0
    return worst, islands, steps


@kernel
def finish_groups(
    rows, groups, row_count, backward, mass, free, tolerance, max_sweeps, work, twist, info
):
    """Newton for the groups that sweeps have given up; where it fails, sweeps to their limit.

    Returns the most sweeps of a group and the largest residual [m/s].
    """
    for g in range(groups):
        if rows.group_residual[g] <= tolerance:
            continue
        first, last = rows.group_first[g], rows.group_first[g + 1]
        lo = rows.slab_first[first]
        n = rows.slab_first[last] - lo
        goal = DEEPER * tolerance
        error, islands, steps = solve_by_newton(lo, n, rows, mass, free, goal, work, twist)
        info[INFO_NEWTON_ISLANDS] += islands
        info[INFO_NEWTON_STEPS] += steps
        if error <= tolerance:
            rows.group_residual[g] = error
        elif last - first == 1 or row_count < 400:
            solve_group(g, backward, rows, row_count, mass, tolerance, max_sweeps, False, twist)
    return worst_group(rows, groups)
