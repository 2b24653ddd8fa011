"""Contact constraints: Jacobians, diagonal Delassus blocks, bias and warm start of every contact.

They are rows of the contact problem, in the order in which the solver visits them.
"""

from math import sqrt

from numba import prange

from drystone.constraints.coulomb import invert_block
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.stage import stage
from drystone.jit.vec import cross, dot, load, mul, rotation_matrix, tangents
from drystone.model.arrays import MOVING, ROLLING, STRUCK

_CHUNK = 256  # rows per task


@inner_kernel
def inertia_times(b, v, mass):
    """World inverse inertia of body `b` times `v`."""
    return (
        mass[b, 1] * v[0] + mass[b, 2] * v[1] + mass[b, 3] * v[2],
        mass[b, 2] * v[0] + mass[b, 4] * v[1] + mass[b, 5] * v[2],
        mass[b, 3] * v[0] + mass[b, 5] * v[1] + mass[b, 6] * v[2],
    )


@inner_kernel
def fill_block(r, body, frame, arm, mass, one, two, block):
    """Diagonal block of the Delassus matrix J M⁻¹ Jᵀ of contact `r`.

    one, two  squares of the lengths of its tangents: 1, unless elliptic friction has made one
              shorter for an impact
    """
    for k in range(6):
        block[r, k] = 0.0
    n = (frame[r, 0], frame[r, 1], frame[r, 2])
    t1 = (frame[r, 3], frame[r, 4], frame[r, 5])
    t2 = (frame[r, 6], frame[r, 7], frame[r, 8])
    for side in range(2):
        b = body[r, side]
        if mass[b, 0] == 0.0:
            continue
        lever = (arm[r, 3 * side], arm[r, 3 * side + 1], arm[r, 3 * side + 2])
        ln, l1, l2 = cross(lever, n), cross(lever, t1), cross(lever, t2)
        jn, j1, j2 = (
            inertia_times(b, ln, mass),
            inertia_times(b, l1, mass),
            inertia_times(b, l2, mass),
        )
        block[r, 0] += mass[b, 0] + dot(ln, jn)
        block[r, 1] += dot(ln, j1)
        block[r, 2] += dot(ln, j2)
        block[r, 3] += mass[b, 0] * one + dot(l1, j1)
        block[r, 4] += dot(l1, j2)
        block[r, 5] += mass[b, 0] * two + dot(l2, j2)


@inner_kernel
def start_impulse(r, warm, mu, frame, impulse):
    """Warm start: the last step's impulse in the axes of this step, cut to the cone."""
    n = (frame[r, 0], frame[r, 1], frame[r, 2])
    pn = dot(warm, n)
    p1 = dot(warm, (frame[r, 3], frame[r, 4], frame[r, 5]))
    p2 = dot(warm, (frame[r, 6], frame[r, 7], frame[r, 8]))
    if pn <= 0.0:
        pn, p1, p2 = 0.0, 0.0, 0.0
    pt = sqrt(p1 * p1 + p2 * p2)
    if pt > mu * pn:
        p1 *= mu * pn / pt
        p2 *= mu * pn / pt
    impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2


@kernel
def _approach(r, contact_body, c, frame, arm, twist):
    """Normal velocity of contact `r`, and its speed, as the step begins."""
    along, x, y, z = 0.0, 0.0, 0.0, 0.0
    normal = (frame[r, 0], frame[r, 1], frame[r, 2])
    for side in range(2):
        b, sign = contact_body[c, side], 1.0 if side == 1 else -1.0
        if b < 0:
            continue
        lever = (arm[r, 3 * side], arm[r, 3 * side + 1], arm[r, 3 * side + 2])
        spin = cross((twist[b, 3], twist[b, 4], twist[b, 5]), lever)
        v = (twist[b, 0] + spin[0], twist[b, 1] + spin[1], twist[b, 2] + spin[2])
        along += sign * dot(normal, v)
        x, y, z = x + sign * v[0], y + sign * v[1], z + sign * v[2]
    return along, sqrt(x * x + y * y + z * z)


@kernel
def _smaller_radius(body, c, radius):
    a, b = body[c, 0], body[c, 1]
    if a < 0:
        return radius[b]
    return radius[a] if b < 0 else min(radius[a], radius[b])


@kernel
def _fill_surface(r, c, state, surface, touch, rows):
    """How the surface of B moves on B, less how that of A moves on A."""
    x, y, z = 0.0, 0.0, 0.0
    for side in range(2):
        b, m, sign = touch.body[c, side], touch.material[c, side], 1.0 if side == 1 else -1.0
        v = (surface[m, 0], surface[m, 1], surface[m, 2])
        if b >= 0:
            q = state.rotation
            v = mul(rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3]), v)
        x, y, z = x + sign * v[0], y + sign * v[1], z + sign * v[2]
    rows.surface[r, 0], rows.surface[r, 1], rows.surface[r, 2] = x, y, z


@kernel
def _fill_rows(lo, hi, n, pairing, state, mass, touch, rows, radius, skin, dt):
    contact, position = touch.place, state.position
    for r in range(lo, hi):
        c = touch.row_contact[r]
        normal = (contact[c, 3], contact[c, 4], contact[c, 5])
        t1, t2 = tangents(normal)
        for k in range(3):
            rows.frame[r, k] = normal[k]
            rows.frame[r, 3 + k] = t1[k]
            rows.frame[r, 6 + k] = t2[k]
        for side in range(2):
            b = touch.body[c, side]
            if b < 0:
                rows.body[r, side] = n
                for k in range(3):
                    rows.arm[r, 3 * side + k] = 0.0
            else:
                rows.body[r, side] = b
                for k in range(3):
                    rows.arm[r, 3 * side + k] = contact[c, k] - position[b, k]
        rows.approach[r], rows.speed[r] = _approach(
            r, touch.body, c, rows.frame, rows.arm, state.twist
        )
        fill_block(r, rows.body, rows.frame, rows.arm, mass, 1.0, 1.0, rows.delassus)
        invert_block(r, rows.delassus, rows.inverse)
        one, two = touch.material[c, 0], touch.material[c, 1]
        rows.friction[r] = pairing.friction[one, two]
        rows.restitution[r] = pairing.restitution[one, two]
        rows.gap[r] = contact[c, 6]
        # Speculative contact: a gap may close within the step but not more. [Stewart1996]
        rows.skin[r] = skin * _smaller_radius(touch.body, c, radius)
        rows.bias[r] = (contact[c, 6] if contact[c, 6] > rows.skin[r] else 0.0) / dt
        start_impulse(r, load(touch.warm, c), rows.friction[r], rows.frame, rows.impulse)
        if pairing.special[ROLLING] == 1:
            for k in range(2):
                rows.rolling[r, k] = pairing.rolling[one, two, k]
            for k in range(3):
                rows.torque[r, k] = 0.0
        if pairing.special[MOVING] == 1:
            _fill_surface(r, c, state, pairing.surface, touch, rows)


@parallel_kernel
def _fill_parallel(chunks, count, n, pairing, state, mass, touch, rows, radius, skin, dt):
    for chunk in prange(chunks):
        lo, hi = chunk * _CHUNK, min((chunk + 1) * _CHUNK, count)
        _fill_rows(lo, hi, n, pairing, state, mass, touch, rows, radius, skin, dt)


@stage
def assemble_rows(pairing, state, mass, touch, rows, radius, count, skin, dt):
    """Frames, arms, diagonal blocks, bias and warm start of all contacts."""
    n = state.position.shape[0]
    rows.special[ROLLING], rows.special[MOVING] = pairing.special[ROLLING], pairing.special[MOVING]
    rows.special[STRUCK] = 0
    if count <= 2 * _CHUNK:
        _fill_rows(0, count, n, pairing, state, mass, touch, rows, radius, skin, dt)
    else:
        chunks = (count + _CHUNK - 1) // _CHUNK
        _fill_parallel(chunks, count, n, pairing, state, mass, touch, rows, radius, skin, dt)
