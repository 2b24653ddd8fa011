"""Delassus matrix of one island of contacts and joints, from the rows of the step, for Newton.

W couples contacts that share a body. We list the contacts of every body, from that the contacts
that each contact is coupled to, and number them so that these are close to each other
(ordering.py). Three rows of a joint count as a contact (system.py); they stand behind the true
ones.
"""

import numpy as np

from drystone.constraints.contact_rows import inertia_times
from drystone.constraints.coulomb import push, slip_at
from drystone.constraints.joint_rows import (
    joint_jacobian,
    joint_law,
    push_node,
    take_node,
    take_nodes,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.jit.vec import cross
from drystone.model.arrays import INFO_NEWTON_ISLANDS, INFO_NEWTON_STEPS
from drystone.solvers.gauss_seidel.solve_islands import DEEPER, solve_group, worst_group
from drystone.solvers.gauss_seidel.sweep import closing_speed
from drystone.solvers.newton.by_bodies import (
    BODY_OPERATIONS,
    LARGE_GOAL,
    LEAST_TOWER,
    MANY_BODIES,
    REST,
    TOWER,
    TOWER_GOAL,
    is_moving,
    solve_by_bodies,
    structure_operations,
)
from drystone.solvers.newton.local_rounds import LEAST_LOCAL, finish_locally
from drystone.solvers.newton.ordering import band_numbers, order_island
from drystone.solvers.newton.semismooth import natural_error, prox_newton

MOST_OPERATIONS = 1e8  # of one factorisation: some 10 ms
NEWTON_STEPS = 100  # in a step; islands took 1 to 60
IN_MOTION = 1.5  # so much more than that of rest is the tolerance of an island in motion


@kernel(inline="always")
def _take_pairs(lo, n, rows, first_node, nodes, joint_work, pair):
    """Bodies of the contacts lo .. lo + n, then of the blocks of joints of this group."""
    for c in range(n):
        pair[c, 0], pair[c, 1] = rows.body[lo + c, 0], rows.body[lo + c, 1]
    take_nodes(joint_work, n, first_node, nodes, pair)


@kernel(inline="always")
def _list_bodies(n, mass, links):
    """Contacts of every body that moves."""
    slot, first, item, pair = links.slot, links.body_first, links.body_item, links.pair
    count = 0
    for c in range(n):
        for side in range(2):
            b = pair[c, side]
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
            b = pair[c, side]
            if mass[b, 0] > 0.0:
                first[slot[b]] -= 1
                item[first[slot[b]]] = 2 * c + side


@inner_kernel(inline="always")
def link_contacts(n, mass, links):
    """Fill first and column of the contacts links.pair[:n]; False if the capacity is too small."""
    _list_bodies(n, mass, links)
    used, capacity = 0, links.column.shape[0]
    fits = True
    for c in range(n):
        links.mark[c] = -1
    for c in range(n):
        links.first[c] = used
        for side in range(2):
            b = links.pair[c, side]
            if mass[b, 0] == 0.0 or not fits:
                continue
            k = links.slot[b]
            for m in range(links.body_first[k], links.body_first[k + 1]):
                j = links.body_item[m] // 2
                if links.mark[j] != c:
                    if used == capacity:
                        fits = False
                        break
                    links.mark[j] = c
                    links.column[used] = j
                    used += 1
    links.first[n] = used
    for c in range(n):
        links.slot[links.pair[c, 0]] = -1
        links.slot[links.pair[c, 1]] = -1
    return fits


@kernel
def _contact_jacobian(r, i, frame, arm, jacobian):
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        lever = (arm[r, 3 * side], arm[r, 3 * side + 1], arm[r, 3 * side + 2])
        for k in range(3):
            axis = (frame[r, 3 * k], frame[r, 3 * k + 1], frame[r, 3 * k + 2])
            spin = cross(lever, axis)
            o = 18 * side + 6 * k
            for m in range(3):
                jacobian[i, o + m] = sign * axis[m]
                jacobian[i, o + 3 + m] = sign * spin[m]


@kernel
def _times_mass(i, pair, mass, jacobian, answer):
    """M⁻¹ Jᵀ of contact `i`: what its impulses do to its two bodies."""
    for side in range(2):
        b = pair[i, side]
        for k in range(3):
            o = 18 * side + 6 * k
            spin = inertia_times(
                b, (jacobian[i, o + 3], jacobian[i, o + 4], jacobian[i, o + 5]), mass
            )
            for m in range(3):
                answer[i, o + m] = mass[b, 0] * jacobian[i, o + m]
                answer[i, o + 3 + m] = spin[m]


@kernel
def _add_coupling(i, o, j, p, jacobian, answer, k, value):
    """What impulses at contact `j` do to contact `i` through a body: its places are o and p."""
    for r in range(3):
        a = o + 6 * r
        x, y, z = jacobian[i, a], jacobian[i, a + 1], jacobian[i, a + 2]
        u, v, w = jacobian[i, a + 3], jacobian[i, a + 4], jacobian[i, a + 5]
        for c in range(3):
            b = p + 6 * c
            value[k, 3 * r + c] += (
                x * answer[j, b] + y * answer[j, b + 1] + z * answer[j, b + 2]
                + u * answer[j, b + 3] + v * answer[j, b + 4] + w * answer[j, b + 5]
            )  # fmt: skip


@kernel
def _fill_block_row(i, c, mass, links, island, used):
    """Blocks of contact `c` with all that it is coupled to; returns the place after them."""
    pair = links.pair
    island.first[i] = used
    for m in range(links.first[c], links.first[c + 1]):
        j = links.column[m]
        for k in range(9):
            island.value[used, k] = 0.0
        for side in range(2):
            if mass[pair[c, side], 0] == 0.0:
                continue
            for side_2 in range(2):
                if pair[j, side_2] == pair[c, side]:
                    _add_coupling(
                        c, 18 * side, j, 18 * side_2, links.jacobian, links.answer,
                        used, island.value,
                    )  # fmt: skip
        island.column[used] = links.place[j]
        used += 1
    return used


@inner_kernel
def fill_island(lo, contacts, n, first_node, rows, joint_work, mass, free, links, island):
    """The contacts links.order[:n] as a problem of its own; from `contacts` on they are joints."""
    used = 0
    island.bounded[0] = False
    for i in range(n):
        c = links.order[i]
        if c < contacts:
            _contact_jacobian(lo + c, c, rows.frame, rows.arm, links.jacobian)
        else:
            joint_jacobian(joint_work, first_node + c - contacts, c, links.jacobian)
        _times_mass(c, links.pair, mass, links.jacobian, links.answer)
    for i in range(n):
        c = links.order[i]
        used = _fill_block_row(i, c, mass, links, island, used)
        island.flat[i] = rows.flat[0] == 1
        island.joint[i] = c >= contacts
        if c >= contacts:
            joint_law(joint_work, first_node + c - contacts, c, i, free, links, island)
            continue
        r = lo + c
        un, u1, u2 = slip_at(r, rows, free)
        island.q[i, 0], island.q[i, 1], island.q[i, 2] = un + rows.bias[r], u1, u2
        island.friction[i] = rows.friction[r]
        island.scale[i] = (rows.delassus[r, 0] + rows.delassus[r, 3] + rows.delassus[r, 5]) / 3.0
    island.first[n] = used


@inner_kernel
def take_impulses(lo, contacts, n, first_node, rows, joint_work, links):
    """Impulses of the island as they are, in its order."""
    own = links.impulse
    for i in range(n):
        c = links.order[i]
        if c < contacts:
            r = lo + c
            own[i, 0], own[i, 1], own[i, 2] = (
                rows.impulse[r, 0], rows.impulse[r, 1], rows.impulse[r, 2]
            )  # fmt: skip
        else:
            take_node(joint_work, first_node + c - contacts, i, own)


@inner_kernel
def give_impulses(lo, contacts, n, first_node, rows, joint_work, mass, links, twist):
    """Write the impulses of the island back and give the bodies what they have changed by."""
    own = links.impulse
    for i in range(n):
        c = links.order[i]
        if c < contacts:
            r = lo + c
            d0, d1, d2 = (
                own[i, 0] - rows.impulse[r, 0],
                own[i, 1] - rows.impulse[r, 1],
                own[i, 2] - rows.impulse[r, 2],
            )
            push(r, d0, d1, d2, rows.body, rows.frame, rows.arm, mass, twist)
            for k in range(3):
                rows.impulse[r, k] = own[i, k]
        else:
            push_node(
                joint_work, first_node + c - contacts, own[i, 0], own[i, 1], own[i, 2], mass, twist
            )


@kernel(inline="always")
def _solve_island(lo, contacts, n, first_node, rows, joint_work, mass, free, goal, work, twist):
    """Newton on the contacts links.order[:n]; returns the error and the steps, -1 if none."""
    links, island, own = work.links, work.island, work.links.impulse
    fill_island(lo, contacts, n, first_node, rows, joint_work, mass, free, links, island)
    take_impulses(lo, contacts, n, first_node, rows, joint_work, links)
    error = natural_error(n, island, False, work.newton.velocity, own)
    if error <= goal:
        return error, 0
    stored, operations = band_numbers(n, island, work.newton.low, work.newton.high)
    if stored > work.newton.matrix.shape[0] or operations > MOST_OPERATIONS:
        return error, 0
    error, steps = prox_newton(n, island, False, goal, NEWTON_STEPS, work.newton, own)
    give_impulses(lo, contacts, n, first_node, rows, joint_work, mass, links, twist)
    return error, steps


@inner_kernel
def link_group(lo, n, first_node, nodes, rows, joint_work, mass, links):
    """Which contacts of a group are coupled; False if the capacity is too small."""
    if n + nodes > links.mark.shape[0]:
        return False
    _take_pairs(lo, n, rows, first_node, nodes, joint_work, links.pair)
    if not link_contacts(n + nodes, mass, links):
        return False
    for c in range(n + nodes):
        links.place[c] = -1
    return True


@stage
def solve_by_newton(lo, n, first_node, nodes, rows, joint_work, mass, free, goal, work, twist):
    """Bring the islands among the contacts lo .. lo + n, and the blocks of joints from first_node
    on, to an error of `goal` [m/s].

    Returns the largest error, how many islands needed Newton, and its steps.
    """
    links = work.links
    if not link_group(lo, n, first_node, nodes, rows, joint_work, mass, links):
        return np.inf, 0, 0
    worst, islands, steps = 0.0, 0, 0
    for c in range(n + nodes):
        if links.place[c] >= 0:
            continue
        count = order_island(c, links.first, links.column, links.place, links.order)
        error, taken = _solve_island(
            lo, n, count, first_node, rows, joint_work, mass, free, goal, work, twist
        )
        worst = max(worst, error)
        steps += taken
        islands += 1 if taken > 0 else 0
    return worst, islands, steps


@kernel
def _solve_large(lo, n, rows, mass, free, tolerance, aims, twist, info):
    """solve_by_bodies() where nothing moves, noted in `info`; the error, infinite if it does."""
    if mass.shape[0] <= MANY_BODIES or is_moving(lo, n, rows, tolerance):
        return np.inf
    error, islands, steps = solve_by_bodies(lo, n, rows, mass, free, aims, twist)
    info[INFO_NEWTON_ISLANDS] += islands
    info[INFO_NEWTON_STEPS] += steps
    return error


@kernel
def _settle_group(lo, n, residual, rows, mass, free, tolerance, twist, info):
    """A structure at rest to a share of the tolerance, and deeper on the way. Its error."""
    close = (LARGE_GOAL if n > TOWER else TOWER_GOAL) * tolerance
    resting = residual > tolerance or closing_speed(lo, lo + n, rows) <= REST * tolerance
    if residual <= close or not resting:
        return residual
    aims = (0.1 * close, close, structure_operations(n))
    error = _solve_large(lo, n, rows, mass, free, tolerance, aims, twist, info)
    return min(error, residual)


@inner_kernel(inline="always")
def finish_groups(
    rows, groups, row_count, backward, mass, free, tolerance, bounds, work, twist, info,
):  # fmt: skip
    """Newton for the groups that sweeps gave up; where it fails, sweeps up to their limit.

    Returns the most sweeps of a group and the largest residual [m/s].
    """
    for g in range(groups):
        first, last = rows.group_first[g], rows.group_first[g + 1]
        lo = np.int64(rows.slab_first[first])  # one width of integers: one version of what it calls
        n = np.int64(rows.slab_first[last]) - lo
        residual, own = rows.group_residual[g], rows.group_tolerance[g]
        large = last - first > 1
        if residual <= own:
            if large or n >= LEAST_TOWER:
                rows.group_residual[g] = _settle_group(
                    lo, n, residual, rows, mass, free, tolerance, twist, info
                )
            continue
        error, islands, steps = solve_by_newton(
            lo, n, 0, 0, rows, None, mass, free, DEEPER * tolerance, work, twist
        )
        info[INFO_NEWTON_ISLANDS] += islands
        info[INFO_NEWTON_STEPS] += steps
        if not error <= tolerance and large and own <= IN_MOTION * tolerance:
            left = min(error, residual)
            error = _settle_group(lo, n, left, rows, mass, free, tolerance, twist, info)
        if not error <= tolerance:
            rows.group_residual[g] = min(error, residual)
            if large and n > LEAST_LOCAL and mass.shape[0] > MANY_BODIES:
                finish_locally(g, lo, n, backward, rows, groups, row_count, mass, twist, info)
            left = rows.group_residual[g]
            if not left <= own:
                aims = (LARGE_GOAL * tolerance, tolerance, BODY_OPERATIONS)
                found = _solve_large(lo, n, rows, mass, free, tolerance, aims, twist, info)
                error = min(error, found)
                rows.group_residual[g] = min(error, left)
        if error <= tolerance:
            rows.group_residual[g] = error
        elif last - first == 1 or row_count < 400:
            solve_group(g, backward, rows, row_count, mass, tolerance, bounds, False, twist)
    return worst_group(rows, groups)
