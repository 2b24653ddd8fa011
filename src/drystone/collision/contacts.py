"""Contact list of a step, warm start from the contact cache, and the writing of that cache."""

from numba import prange

from drystone.collision.active_pairs import pair_sleeps
from drystone.jit import kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import dot, load, mul_t, sub
from drystone.model.arrays import (
    COUNTER_CACHED,
    COUNTER_PAIRS,
    FIXED,
)

# A contact takes over the impulse of the nearest contact of the last step, measured on either
# body, if that is closer than this share of the smaller shape's radius. It only sets the guess
# from which the solver starts.
MATCH_SHARE = 0.2
# First those that have hardly moved find each other, within this share of that: what is new beside
# one that went on would else take its impulse from it.
SAME_SHARE = 0.1
# Where two edges cross at a small angle the point in which they do runs along them, by a tenth of a
# cube in a step, or a corner begins to carry in its place. The impulse of a contact without a
# successor is shared out to those of its pair that are closed up to this share of the radius, the
# nearest most: of a column of 25 cubes (S5r) one lost impulse is half the weight, and the residual
# that sweeps start from was four times as large.
CARRYING_SHARE = 1e-3
TINY2 = 1e-12  # [m²] a contact as close as a micrometre gets all of it

_CHUNK = 64  # pairs per task


@kernel
def number_contacts(slot_count, contact_first, near_count):
    """Index of the first contact of every near pair in the list; returns their number."""
    total = 0
    for k in range(near_count):
        contact_first[k] = total
        total += slot_count[k]
    return total


@kernel
def _local_point(b, point, position, rotation):
    """World point in the axes of body `b`, or as it is for the fixed world."""
    if b == FIXED:
        return point
    r_wb = (
        rotation[b, 0], rotation[b, 1], rotation[b, 2],
        rotation[b, 3], rotation[b, 4], rotation[b, 5],
        rotation[b, 6], rotation[b, 7], rotation[b, 8],
    )  # fmt: skip
    return mul_t(r_wb, sub(point, load(position, b)))


@kernel
def _distance2(c, old, contacts, cached_point):
    """How far contact `c` is from a cached one, squared, on the body on which that is less [m²]."""
    da, db = 0.0, 0.0
    for m in range(3):
        da += (cached_point[old, m] - contacts.point[c, m]) ** 2
        db += (cached_point[old, 3 + m] - contacts.point[c, 3 + m]) ** 2
    return min(da, db)


@kernel
def _match_within(
    reach, first, count, old, old_count, taken, served, cached_point, cached_impulse, contacts
):
    """Give contacts that have none the impulse of the nearest cached one within `reach` [m].

    taken, served  bit j: the cached contact j has a successor, the contact j a predecessor
    """
    for i in range(count):
        if (served >> i) & 1:
            continue
        best, best_j = reach * reach, -1
        for j in range(old_count):
            if (taken >> j) & 1:
                continue
            distance2 = _distance2(first + i, old + j, contacts, cached_point)
            if distance2 < best:
                best, best_j = distance2, j
        if best_j >= 0:
            taken, served = taken | (1 << best_j), served | (1 << i)
            for j in range(3):
                contacts.warm[first + i, j] = cached_impulse[old + best_j, j]
    return taken, served


@kernel
def _share_out(first, count, old, carrying, cached_point, cached_impulse, contacts):
    """Give the impulse of a cached contact to contacts first.. with a gap below `carrying` [m]."""
    whole = 0.0
    for c in range(first, first + count):
        if contacts.place[c, 6] <= carrying:
            whole += 1.0 / (_distance2(c, old, contacts, cached_point) + TINY2)
    for c in range(first, first + count):
        if contacts.place[c, 6] <= carrying:
            share = 1.0 / (_distance2(c, old, contacts, cached_point) + TINY2) / whole
            for j in range(3):
                contacts.warm[c, j] += share * cached_impulse[old, j]


@kernel
def _match(
    first, count, old, old_count, radius, a, b,
    # in
    position, rotation, cached_point, cached_impulse,
    # in and out
    contacts,
):  # fmt: skip
    """Impulses of the last step for contacts first.. of one pair; radius: of the smaller shape."""
    for c in range(first, first + count):
        point = load(contacts.place, c)
        on_a = _local_point(a, point, position, rotation)
        on_b = _local_point(b, point, position, rotation)
        for j in range(3):
            contacts.point[c, j] = on_a[j]
            contacts.point[c, 3 + j] = on_b[j]
            contacts.warm[c, j] = 0.0
    taken, served, reach = 0, 0, MATCH_SHARE * radius
    for near in (SAME_SHARE * reach, reach):
        taken, served = _match_within(
            near, first, count, old, old_count, taken, served, cached_point, cached_impulse,
            contacts,
        )  # fmt: skip
    for j in range(old_count):
        if (taken >> j) & 1 == 0 and dot(
            load(cached_impulse, old + j), load(cached_impulse, old + j)
        ) > 0.0:
            _share_out(
                first, count, old + j, CARRYING_SHARE * radius, cached_point, cached_impulse,
                contacts,
            )  # fmt: skip


@kernel
def _gather_range(lo, hi, body, material, radius, state, rotation, near, contacts):
    """Contacts of near pairs lo..hi: copy them from the slots and look up their impulses."""
    for k in range(lo, hi):
        count = near.slot_count[k]
        if count == 0:
            continue
        p = near.pair[k]
        s, t = state.pair[p, 0], state.pair[p, 1]
        for i in range(count):
            c, slot = near.contact_first[k] + i, near.slot_first[k] + i
            for j in range(7):
                contacts.place[c, j] = near.slot[slot, j]
            contacts.body[c, 0], contacts.body[c, 1] = body[s], body[t]
            contacts.material[c, 0], contacts.material[c, 1] = material[s], material[t]
        _match(
            near.contact_first[k], count, state.pair_cached[p, 0], state.pair_cached[p, 1],
            min(radius[s], radius[t]), body[s], body[t],
            state.position, rotation, state.cached_point, state.cached_impulse, contacts,
        )  # fmt: skip


@parallel_kernel
def _gather_parallel(chunks, near_count, body, material, radius, state, rotation, near, contacts):
    """The chunked loop of jit/decorators.py."""
    for chunk in prange(chunks):
        hi = min((chunk + 1) * _CHUNK, near_count)
        _gather_range(chunk * _CHUNK, hi, body, material, radius, state, rotation, near, contacts)


@stage
def gather_contacts(shapes, state, rotation, near, contacts, near_count):
    """Fill the list of contacts, in the order of the pairs, with the guess for each impulse."""
    body, material, radius = shapes.body, shapes.material, shapes.radius
    if near_count <= 4 * _CHUNK:
        _gather_range(0, near_count, body, material, radius, state, rotation, near, contacts)
    else:
        chunks = (near_count + _CHUNK - 1) // _CHUNK
        _gather_parallel(
            chunks, near_count, body, material, radius, state, rotation, near, contacts
        )


@kernel
def _world_impulses(count, row_contact, frame, impulse, new):
    for r in range(count):
        c = row_contact[r]
        for k in range(3):
            new[c, k] = (
                frame[r, k] * impulse[r, 0]
                + frame[r, 3 + k] * impulse[r, 1]
                + frame[r, 6 + k] * impulse[r, 2]
            )


@kernel
def _keep_sleeping(body, kind, state, contacts, count):
    """Contacts of pairs that sleep stay in the cache, behind those of this step."""
    for p in range(state.counter[COUNTER_PAIRS]):
        old, old_count = state.pair_cached[p, 0], state.pair_cached[p, 1]
        if old_count == 0:
            continue
        a, b = body[state.pair[p, 0]], body[state.pair[p, 1]]
        if not pair_sleeps(a, b, state.asleep, kind, state.twist):
            state.pair_cached[p, 1] = 0
            continue
        for i in range(old_count):
            for k in range(6):
                contacts.point[count, k] = state.cached_point[old + i, k]
            for k in range(3):
                contacts.impulse[count, k] = state.cached_impulse[old + i, k]
            count += 1
        state.pair_cached[p, 0] = count - old_count
    return count


@stage
def store_contacts(body, kind, state, near, contacts, rows, near_count, count):
    """Write the contact cache: where the contacts were and what they carried."""
    _world_impulses(count, contacts.row_contact, rows.frame, rows.impulse, contacts.impulse)
    total = _keep_sleeping(body, kind, state, contacts, count)
    for k in range(near_count):
        p = near.pair[k]
        state.pair_cached[p, 0] = near.contact_first[k]
        state.pair_cached[p, 1] = near.slot_count[k]
    for c in range(total):
        for k in range(6):
            state.cached_point[c, k] = contacts.point[c, k]
        for k in range(3):
            state.cached_impulse[c, k] = contacts.impulse[c, k]
    state.counter[COUNTER_CACHED] = total
