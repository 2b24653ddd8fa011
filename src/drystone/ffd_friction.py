"""The second projection of a body, FFD (24): friction.

Of all impulses that friction may have, the one closest to what would stop the sliding. It may
change the velocity of a contact along a tangent s by at most mu(s) times what its normal has gained
in the first projection. Sampled tangents make that half-spaces, and the surrogates of
ffd_project.py apply.

While friction acts, normals go on holding: a contact that pushes neither opens nor closes, and its
normal impulse changes as it must, to zero at the least; then it lets go. Seen by the tangents the
body has the mass matrix L Lᵀ instead of one, in the coordinates of ffd_sides.py,

    L Lᵀ = 1 + sum of a aᵀ / give over the normals that push,      rows b = L⁻¹ a

FFD asks for impulses in the span of the tangents with a.y >= 0 instead. Taken at its word that
allows no friction to a box that lies flat, since any would tilt it; without the span the closest
point lifts off a box that slides.
"""

from math import sqrt

from drystone.ffd_sides import softness
from drystone.ffd_six import (
    ZERO,
    add_equation,
    along,
    backward,
    factor,
    forward,
    mix,
    plus,
    solve_matrix,
    square,
    square_at,
    start_matrix,
)
from drystone.jit import inner_kernel, kernel
from drystone.sections import project_on_section

LETTING_GO = 3  # times that contacts that would pull are taken out, and friction is found anew


@kernel
def _bend_rows(b, lo, hi, sides):
    """Rows b = L⁻¹ a of all axes, with the normals that grip held."""
    start_matrix(sides.normal, b)
    for e in range(lo, hi):
        if sides.grip[e] == 1:
            add_equation(sides.normal, b, e, 0, sides.row, 1.0 / softness(e, 0, sides), 0.0)
    factor(sides.normal, b)
    for e in range(lo, hi):
        for axis in range(3):
            forward(sides.normal, b, sides.row, e, 6 * axis, sides.bent)
            sides.stir[e, axis] = square_at(e, axis, sides.bent)
        mixed = 0.0
        for i in range(6):
            mixed += sides.bent[e, 6 + i] * sides.bent[e, 12 + i]
        sides.mixed[e] = abs(mixed)


@kernel
def _stop_sliding(b, lo, hi, x, sides):
    """What would stop all sliding: -φ as the contacts that grip see it, and its impulses."""
    m, bent, hold = sides.stick, sides.bent, sides.hold
    start_matrix(m, b)
    for e in range(lo, hi):
        hold[e, 0], hold[e, 1], hold[e, 2] = 0.0, 0.0, 0.0
        if sides.grip[e] == 1:
            for axis in range(1, 3):
                hold[e, axis] = -(sides.rest[e, axis] + along(e, axis, sides.row, x))
                add_equation(m, b, e, axis, bent, 1.0 / softness(e, axis, sides), hold[e, axis])
    y = solve_matrix(m, b)
    for e in range(lo, hi):
        if sides.grip[e] == 1:
            for axis in range(1, 3):
                left = hold[e, axis] - along(e, axis, bent, y)
                hold[e, axis] = left / softness(e, axis, sides)
    return y


@kernel
def _hold_by_contacts(b, lo, hi, y, old, friction, friction_2, sides, precision, limit):
    """From `y` to the closest that the friction of every contact can reach, one by one.

    A contact bears an impulse of mu times the normal one, which changes with friction.
    """
    bent, give, stir, hold, slip = sides.bent, sides.give, sides.stir, sides.hold, sides.turn
    for done in range(limit):
        worst = 0.0
        change = backward(sides.normal, b, mix(y, old, -1.0))
        for e in range(lo, hi):
            if sides.grip[e] == 0:
                continue
            c = sides.contact[e]
            bears = sides.push[e] - along(e, 0, sides.row, change) / softness(e, 0, sides)
            bears = max(0.0, bears)
            u1 = slip[e, 0] + along(e, 1, bent, y) + give[e, 1] * hold[e, 1]
            u2 = slip[e, 1] + along(e, 2, bent, y) + give[e, 2] * hold[e, 2]
            scale = max(stir[e, 1] + give[e, 1], stir[e, 2] + give[e, 2]) + sides.mixed[e]
            h1, h2 = project_on_section(
                hold[e, 1] - u1 / scale, hold[e, 2] - u2 / scale,
                friction[c] * bears, friction_2[c] * bears,
            )  # fmt: skip
            d1, d2 = h1 - hold[e, 1], h2 - hold[e, 2]
            hold[e, 1], hold[e, 2] = h1, h2
            y = plus(plus(y, e, 1, bent, d1), e, 2, bent, d2)
            worst = max(worst, scale * max(abs(d1), abs(d2)))
        if worst <= precision:
            return y, done
    return y, limit


@kernel
def _sample_tangents(lo, hi, start, x, base, friction, friction_2, circle, sides):
    """Directions and bounds of the sampled tangents: the first against the sliding.

    On an ellipse mu(s) is how far it reaches along s: more samples come ever closer to it.
    """
    for e in range(lo, hi):
        c = sides.contact[e]
        gain = along(e, 0, sides.row, x) - along(e, 0, sides.row, start)
        gain = max(0.0, gain + sides.give[e, 0] * sides.push[e])
        u = sides.rest[e, 1] + along(e, 1, sides.row, base)
        v = sides.rest[e, 2] + along(e, 2, sides.row, base)
        speed = sqrt(u * u + v * v)
        cosine, sine = (-u / speed, -v / speed) if speed > 0.0 else (1.0, 0.0)
        sides.turn[e, 0], sides.turn[e, 1] = cosine, sine
        for k in range(circle.shape[0]):
            s1, s2 = _tangent(e, k, circle, sides.turn)
            reach = sqrt((friction[c] * s1) ** 2 + (friction_2[c] * s2) ** 2)
            sides.bound[e, k] = gain * reach


@kernel
def _tangent(e, k, circle, turn):
    """Sampled tangent `k` of side `e`, in the axes of the contact."""
    return (
        turn[e, 0] * circle[k, 0] - turn[e, 1] * circle[k, 1],
        turn[e, 1] * circle[k, 0] + turn[e, 0] * circle[k, 1],
    )


@kernel
def _room(e, x, sides):
    """How fast contact `e` opens after the first projection [m/s]."""
    open_speed = (
        sides.rest[e, 0] + along(e, 0, sides.row, x) + sides.give[e, 0] * sides.push[e]
    )
    return max(0.0, open_speed)


@kernel
def _hold_by_surrogates(lo, hi, x, y, circle, sides, relaxation, precision, limit):
    """From `y` to where friction and all contacts allow; returns y and how many surrogates."""
    bent, give, stir, hold, weight = sides.bent, sides.give, sides.stir, sides.hold, sides.weight
    for done in range(limit):
        way, lacking, soft = ZERO, 0.0, 0.0
        for e in range(lo, hi):
            weight[e, 0], weight[e, 1], weight[e, 2] = 0.0, 0.0, 0.0
            if sides.grip[e] == 0:
                lack = -(_room(e, x, sides) + along(e, 0, bent, y) + give[e, 0] * hold[e, 0])
                if lack > precision:
                    w = lack / (stir[e, 0] + give[e, 0])
                    weight[e, 0] = w
                    lacking += w * lack
                    way = plus(way, e, 0, bent, w)
                    soft += w * w * give[e, 0]
                continue
            v1 = along(e, 1, bent, y) + give[e, 1] * hold[e, 1]
            v2 = along(e, 2, bent, y) + give[e, 2] * hold[e, 2]
            scale = 0.5 * (stir[e, 1] + stir[e, 2] + give[e, 1] + give[e, 2])
            for k in range(circle.shape[0]):
                s1, s2 = _tangent(e, k, circle, sides.turn)
                excess = v1 * s1 + v2 * s2 - sides.bound[e, k]
                if excess > precision:
                    w = excess / scale
                    weight[e, 1] -= w * s1
                    weight[e, 2] -= w * s2
                    lacking += w * excess
            w1, w2 = weight[e, 1], weight[e, 2]
            way = plus(plus(way, e, 1, bent, w1), e, 2, bent, w2)
            soft += w1 * w1 * give[e, 1] + w2 * w2 * give[e, 2]
        size = square(way) + soft
        if lacking == 0.0 or not lacking < 1e12 * size:
            return y, done
        t = relaxation * lacking / size
        y = mix(y, way, t)
        for e in range(lo, hi):
            for axis in range(3):
                hold[e, axis] += t * weight[e, axis]
    return y, limit


@kernel
def _never_drive(lo, hi, x, y, sides):
    """Shorten `y` and its impulses to where they take most energy: friction never adds any.

    Zero is allowed and the set convex, so whatever is shorter is allowed too.
    """
    give, hold = sides.give, sides.hold
    power, size = 0.0, square(y)
    for e in range(lo, hi):
        power += hold[e, 0] * _room(e, x, sides)
        for axis in range(1, 3):
            power += hold[e, axis] * (sides.rest[e, axis] + along(e, axis, sides.row, x))
        for axis in range(3):
            size += give[e, axis] * hold[e, axis] ** 2
    if size == 0.0 or -power >= size:
        return y
    share = max(0.0, -power / size)
    for e in range(lo, hi):
        for axis in range(3):
            hold[e, axis] *= share
    return mix(ZERO, y, share)


@kernel
def _let_go(lo, hi, y, sides):
    """Normal impulses that change with friction; True if some contact would have to pull.

    Those then let go.
    """
    pulls = False
    for e in range(lo, hi):
        if sides.grip[e] == 1:
            sides.hold[e, 0] = -along(e, 0, sides.row, y) / softness(e, 0, sides)
            if sides.push[e] + sides.hold[e, 0] < 0.0:
                sides.grip[e] = 0
                pulls = True
    return pulls


@kernel
def _shared_friction(lo, hi, row, impulse, sides):
    """Motion by the friction that both sides share so far, seen by `row`."""
    x = ZERO
    for e in range(lo, hi):
        c = sides.contact[e]
        x = plus(plus(x, e, 1, row, impulse[c, 1]), e, 2, row, impulse[c, 2])
    return x


@inner_kernel
def start_of(lo, hi, impulse, sides):
    """Where the first projection starts: friction is what both sides share so far."""
    return _shared_friction(lo, hi, sides.row, impulse, sides)


@inner_kernel
def hold_body(
    b, lo, hi, start, x, friction, friction_2, circle, by_velocity, relaxation, precision, limit,
    impulse, sides,
):  # fmt: skip
    """Friction of body `b` after the first projection; returns x and how many surrogates.

    The friction from which that started is taken away, and found anew.
    """
    any_grip = False
    for e in range(lo, hi):
        sides.grip[e] = 1 if sides.push[e] > 0.0 else 0
        any_grip = any_grip or sides.grip[e] == 1
        sides.hold[e, 0], sides.hold[e, 1], sides.hold[e, 2] = 0.0, 0.0, 0.0
    if not any_grip:
        return mix(x, start, -1.0), 0
    change, rounds = ZERO, 0
    for _ in range(LETTING_GO):
        _bend_rows(b, lo, hi, sides)
        old = _shared_friction(lo, hi, sides.bent, impulse, sides)
        base = mix(x, backward(sides.normal, b, old), -1.0)
        y = _stop_sliding(b, lo, hi, base, sides)
        if by_velocity:
            _sample_tangents(lo, hi, start, x, base, friction, friction_2, circle, sides)
            y, more = _hold_by_surrogates(
                lo, hi, base, y, circle, sides, relaxation, precision, limit
            )
        else:
            for e in range(lo, hi):
                sides.turn[e, 0] = sides.rest[e, 1] + along(e, 1, sides.row, base)
                sides.turn[e, 1] = sides.rest[e, 2] + along(e, 2, sides.row, base)
            y, more = _hold_by_contacts(
                b, lo, hi, y, old, friction, friction_2, sides, precision, limit
            )
        rounds += more
        y = _never_drive(lo, hi, base, y, sides)
        change = backward(sides.normal, b, mix(y, old, -1.0))
        if not _let_go(lo, hi, change, sides):
            break
    return mix(x, change, 1.0), rounds
