"""Penalty forces of contact patches: the PID law and friction, PENALTY (1) to (3) and III B."""

from math import sqrt

from drystone.collision.active_pairs import pair_sleeps
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    cross,
    dot,
    load,
    mad,
    rotation_matrix,
    scale,
    sub,
    to_local,
    to_local_direction,
    to_world,
    to_world_direction,
)
from drystone.model.arrays import COUNTER_PAIRS
from drystone.solvers.penalty.patch import APART, INTEGRAL, MODE, REST, SPRING

SLIP, SPRINGS, SYSTEM = range(3)  # friction
# What a step may do to the lighter body of a pair: k h² / m and c h / m, of which classical
# Runge-Kutta follows 7 and 2.7; a corner of a cube has four times the inverse mass of its middle,
# and a body between two others has two such pairs.
MOST_STIFF, MOST_DAMPED = 0.3, 0.3


@kernel
def place_bodies(position, rotation, place):
    """Poses (n + 1, 12) of the body frames; the last row is the fixed world."""
    n = position.shape[0]
    for b in range(n + 1):
        matrix = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        if b < n:
            q = rotation
            matrix = rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3])
        for k in range(3):
            place[b, k] = position[b, k] if b < n else 0.0
        for k in range(9):
            place[b, 3 + k] = matrix[k]


@inner_kernel
def point_velocity(b, x, place, twist):
    """Of the point of body `b` that is at x [m/s]."""
    w = (twist[b, 3], twist[b, 4], twist[b, 5])
    v = cross(w, sub(x, (place[b, 0], place[b, 1], place[b, 2])))
    return twist[b, 0] + v[0], twist[b, 1] + v[1], twist[b, 2] + v[2]


@kernel
def _inverse_mass(mass):
    return 1.0 / mass if mass > 0.0 else 0.0


@kernel
def _set_gains(k, a, b, mass, options, dt, integral, patches):
    """Gains of pair `k`: the source's, or as much of them as a step can follow."""
    total = mass[a, 0] + mass[b, 0] if options[4] == 1.0 else 1.0
    stiff, damped, more = options[0] * total, options[1] * total, options[2] * total
    light = 1.0 / (_inverse_mass(mass[a, 1]) + _inverse_mass(mass[b, 1]) + 1e-300)
    patches.gain[k, 3] = MOST_DAMPED * light / dt
    if options[5] == 1.0:
        stiff = min(stiff, MOST_STIFF * light / (dt * dt))
        more = min(more, MOST_STIFF * light / (dt * dt) * (1.0 - options[3]))
        damped = min(damped, MOST_DAMPED * light / dt)
    patches.gain[k, 0], patches.gain[k, 1] = stiff, damped
    patches.gain[k, 2] = more * integral


@kernel
def fill_patches(
    # in
    shapes, pairing, state, near, near_count, owner_side, mass, options, dt, place,
    # out
    patches,
):  # fmt: skip
    """The patches of all near pairs from their slots; returns the number of contacts.

    mass       (n + 1, 2) [kg]: by which gains are chosen, that of a whole robot for its links;
               and of the body itself, 0 if it cannot be pushed
    options    proportional, derivative, integral gain, forgetting factor, 1 if a kilogram,
               1 if they are limited
    """
    count, n = 0, state.position.shape[0]
    for k in range(near_count):
        p = near.pair[k]
        s, t = state.pair[p, 0], state.pair[p, 1]
        first = owner_side[k] == 0
        one, two = (s, t) if first else (t, s)
        a, b = shapes.body[one], shapes.body[two]
        a, b = n if a < 0 else a, n if b < 0 else b
        patches.first[k] = count
        patches.body[k, 0], patches.body[k, 1] = a, b
        patches.sign[k] = 1.0 if first else -1.0
        patches.friction[k] = pairing.friction[shapes.material[s], shapes.material[t]]
        memory = state.pair_axis
        touching = near.slot_count[k] > 0
        patches.mode[k] = int(memory[p, MODE]) if touching else APART
        kept = patches.mode[k] == REST
        _set_gains(k, a, b, mass, options, dt, memory[p, INTEGRAL] if kept else 0.0, patches)
        for j in range(4):
            patches.spring[k, j] = memory[p, SPRING + j] if kept else 0.0
        for i in range(near.slot_count[k]):
            slot = near.slot_first[k] + i
            x = load(near.slot, slot)
            n_ab = (near.slot[slot, 3], near.slot[slot, 4], near.slot[slot, 5])
            normal = scale(n_ab, patches.sign[k])
            depth = -near.slot[slot, 6]
            local = to_local_direction(place, a, normal)
            foot = to_local(place, a, mad(x, normal, depth))
            other = to_local(place, b, x)
            for j in range(3):
                patches.normal[k, j] = local[j]
                patches.on_owner[count, j], patches.on_other[count, j] = foot[j], other[j]
                patches.mean[count, j], patches.stick[count, j] = 0.0, 0.0
            patches.depth[count], patches.pressure[count] = depth, 0.0
            count += 1
        patches.first[k + 1] = count
    return count


@kernel
def _press(k, place, twist, patches):
    """Normal forces of pair `k`, (3); returns their sum."""
    a, b = patches.body[k, 0], patches.body[k, 1]
    n = to_world_direction(place, a, load(patches.normal, k))
    stiff, damped, integral = patches.gain[k, 0], patches.gain[k, 1], patches.gain[k, 2]
    pressed = 0
    for c in range(patches.first[k], patches.first[k + 1]):
        x = to_world(place, b, load(patches.on_other, c))
        foot = to_world(place, a, load(patches.on_owner, c))
        depth = dot(n, sub(foot, x))
        v = sub(point_velocity(b, x, place, twist), point_velocity(a, x, place, twist))
        wanted = stiff * depth - damped * dot(n, v) + integral
        patches.pressure[c] = wanted if depth > 0.0 and wanted > 0.0 else 0.0
        pressed += 1 if patches.pressure[c] > 0.0 else 0
    total = 0.0
    for c in range(patches.first[k], patches.first[k + 1]):
        if pressed > 0:
            patches.pressure[c] /= pressed
        total += patches.pressure[c]
    return total


@kernel
def _centre(k, place, total, patches):
    """Centre of pressure of pair `k`."""
    b, at = patches.body[k, 1], (0.0, 0.0, 0.0)
    if total <= 0.0:
        return at
    for c in range(patches.first[k], patches.first[k + 1]):
        x = to_world(place, b, load(patches.on_other, c))
        at = mad(at, x, patches.pressure[c] / total)
    return at


@kernel
def _tangential(v, n):
    return mad(v, n, -dot(n, v))


@kernel
def _stretch(k, place, total, twist, patches, dt):
    """Displacement of the virtual spring of pair `k` at this stage, cut to what friction holds."""
    a, b = patches.body[k, 0], patches.body[k, 1]
    n = to_world_direction(place, a, load(patches.normal, k))
    moved = (patches.spring[k, 0], patches.spring[k, 1], patches.spring[k, 2])
    for c in range(patches.first[k], patches.first[k + 1]):
        x = to_world(place, b, load(patches.on_other, c))
        foot = to_world(place, a, load(patches.on_owner, c))
        moved = mad(moved, sub(x, foot), patches.pressure[c] / total)
    moved = _tangential(moved, n)
    bound, stiff = patches.friction[k] * total, patches.gain[k, 0]
    size = stiff * sqrt(dot(moved, moved))
    if size > bound:
        moved = scale(moved, bound / size)
    w = sub((twist[b, 3], twist[b, 4], twist[b, 5]), (twist[a, 3], twist[a, 4], twist[a, 5]))
    turned = patches.spring[k, 3] + dt * dot(n, w)
    centre, arm = _centre(k, place, total, patches), 0.0
    for c in range(patches.first[k], patches.first[k + 1]):
        x = to_world(place, b, load(patches.on_other, c))
        out = _tangential(sub(x, centre), n)
        arm += patches.pressure[c] / total * sqrt(dot(out, out))
    most = bound / (stiff * arm) if stiff * arm > 0.0 else 0.0
    turned = min(max(turned, -most), most)
    for j in range(3):
        patches.stretch[k, j] = moved[j]
    patches.stretch[k, 3] = turned
    return moved, turned, centre


@kernel
def _rub(k, place, twist, total, friction, dt, patches):
    """Friction of pair `k`, added to patches.force; III B."""
    a, b = patches.body[k, 0], patches.body[k, 1]
    n = to_world_direction(place, a, load(patches.normal, k))
    moved, turned, centre = (0.0, 0.0, 0.0), 0.0, (0.0, 0.0, 0.0)
    if friction == SPRINGS:
        moved, turned, centre = _stretch(k, place, total, twist, patches, dt)
    for c in range(patches.first[k], patches.first[k + 1]):
        share = patches.pressure[c] / total
        if share == 0.0:
            continue
        x = to_world(place, b, load(patches.on_other, c))
        v = sub(point_velocity(b, x, place, twist), point_velocity(a, x, place, twist))
        v = _tangential(v, n)
        bound = patches.friction[k] * patches.pressure[c]
        if friction == SPRINGS:
            here = mad(moved, cross(n, sub(x, centre)), turned)
            pull = scale(here, -share * patches.gain[k, 0])
            pull = mad(pull, v, -share * patches.gain[k, 1])
        elif friction == SLIP:
            # Never more than what stops the sliding within a step: at rest it would else turn over
            # at every stage.
            pull = scale(v, -share * patches.gain[k, 3])
            size = sqrt(dot(v, v))
            pull = scale(v, -bound / size) if size * patches.gain[k, 3] * share > bound else pull
        else:
            pull = _tangential(load(patches.stick, c), n)
        size = sqrt(dot(pull, pull))
        if size > bound:
            pull = scale(pull, bound / size)
        for j in range(3):
            patches.force[c, j] += pull[j]


@kernel
def contact_wrenches(pairs, place, twist, friction, dt, weight, patches, wrench):
    """Add to `wrench` (n + 1, 6) the force and the torque about the centre of mass that contacts
    put on each body, and to patches.mean `weight` times the forces.

    dt   since the start of the step, for the turn of the virtual springs
    """
    for k in range(pairs):
        if patches.mode[k] != REST or patches.first[k] == patches.first[k + 1]:
            continue
        a, b = patches.body[k, 0], patches.body[k, 1]
        total = _press(k, place, twist, patches)
        if total == 0.0:
            for j in range(4):
                patches.stretch[k, j] = 0.0
            continue
        n = to_world_direction(place, a, load(patches.normal, k))
        for c in range(patches.first[k], patches.first[k + 1]):
            for j in range(3):
                patches.force[c, j] = patches.pressure[c] * n[j]
        if patches.friction[k] > 0.0:
            _rub(k, place, twist, total, friction, dt, patches)
        for c in range(patches.first[k], patches.first[k + 1]):
            x = to_world(place, b, load(patches.on_other, c))
            f = load(patches.force, c)
            _push(b, 1.0, x, f, place, wrench)
            _push(a, -1.0, x, f, place, wrench)
            for j in range(3):
                patches.mean[c, j] += weight * f[j]


@kernel
def _push(b, sign, x, f, place, wrench):
    t = cross(sub(x, (place[b, 0], place[b, 1], place[b, 2])), f)
    for j in range(3):
        wrench[b, j] += sign * f[j]
        wrench[b, 3 + j] += sign * t[j]


@kernel
def remember(body, kind, state, near, near_count, forgetting, patches):
    """Write what pairs remember after a good step: mode, integral (2), virtual springs. Pairs that
    are not near any more forget, but for those that sleep."""
    memory, k = state.pair_axis, 0
    for p in range(state.counter[COUNTER_PAIRS]):
        if k < near_count and near.pair[k] == p:
            k += 1
            continue
        a, b = body[state.pair[p, 0]], body[state.pair[p, 1]]
        if memory[p, MODE] != APART and not pair_sleeps(a, b, state.asleep, kind, state.twist):
            for j in range(memory.shape[1]):
                memory[p, j] = 0.0
    for k in range(near_count):
        p = near.pair[k]
        resting = patches.mode[k] == REST
        deepest = 0.0
        for c in range(patches.first[k], patches.first[k + 1]):
            deepest = max(deepest, patches.depth[c])
        before = memory[p, INTEGRAL] if resting and int(memory[p, MODE]) == REST else 0.0
        memory[p, MODE] = patches.mode[k]
        memory[p, INTEGRAL] = forgetting * before + deepest if resting else 0.0
        for j in range(4):
            memory[p, SPRING + j] = patches.stretch[k, j] if resting else 0.0
