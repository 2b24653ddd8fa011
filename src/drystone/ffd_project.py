"""The first projection of a body, FFD (27): impulses along the normals that keep contacts open.

It asks for the closest point of a convex set, given by half-spaces a.x >= bound, in the kinetic
metric of ffd_sides.py, with one more coordinate for each contact: root(give) times the impulse
there, in which the other body gives way. For one contact that is the velocity at maximum
compression (30). Where a body is pressed from two sides, as a box on the ground below
another, the targets of (30) contradict each other; these never do.

    surrogate   FFD section 7, [Yang1992]: all rows that are violated, each weighted by how
                much, make one half-space; move onto it, and again. Feasible, not quite closest:
                2 to 15 % longer on random bodies.
    exact       the rows that push are guessed, those that pushed before; less those that would
                pull, and with those that are violated then, until the guess is right. Two rounds
                mostly; where it goes in circles, surrogates give the next guess, or the answer.

The second projection is in ffd_friction.py.
"""

from drystone.ffd_sides import softness
from drystone.ffd_six import (
    ZERO,
    add_equation,
    along,
    mix,
    plus,
    solve_matrix,
    square,
    start_matrix,
)
from drystone.jit import inner_kernel, kernel

GUESSES = 12  # on 2000 random bodies of 3 to 60 contacts 95 % needed fewer


@inner_kernel
def push_by_surrogates(lo, hi, start, sides, relaxation, precision, limit):
    """Normal impulses of the sides lo to hi; returns x, from `start`, and how many surrogates."""
    row, rest, give, own = sides.row, sides.rest, sides.give, sides.own
    push, weight, x = sides.push, sides.weight, start
    for e in range(lo, hi):
        push[e] = 0.0
    for done in range(limit):
        way, lacking, soft = ZERO, 0.0, 0.0
        for e in range(lo, hi):
            lack = -(rest[e, 0] + along(e, 0, row, x) + give[e, 0] * push[e])
            w = lack / (own[e, 0] + give[e, 0]) if lack > precision else 0.0
            weight[e, 0] = w
            if w > 0.0:
                way = plus(way, e, 0, row, w)
                lacking += w * lack
                soft += w * w * give[e, 0]
        size = square(way) + soft
        if lacking == 0.0 or not lacking < 1e12 * size:  # opposite rows: there is no way
            return x, done
        t = relaxation * lacking / size
        x = mix(x, way, t)
        for e in range(lo, hi):
            push[e] += t * weight[e, 0]
    return x, limit


@kernel
def _push_by_guess(b, lo, hi, start, sides, precision):
    """Impulses of the rows in sides.grip, which is corrected; whether that was right in the end,
    and x."""
    push, grip, row, rest, m = sides.push, sides.grip, sides.row, sides.rest, sides.stick
    for _ in range(GUESSES):
        start_matrix(m, b)
        for e in range(lo, hi):
            if grip[e] == 1:
                lack = -(rest[e, 0] + along(e, 0, row, start))
                add_equation(m, b, e, 0, row, 1.0 / softness(e, 0, sides), lack)
        x, right = mix(start, solve_matrix(m, b), 1.0), True
        for e in range(lo, hi):
            lack = -(rest[e, 0] + along(e, 0, row, x))
            push[e] = lack / softness(e, 0, sides) if grip[e] == 1 else 0.0
            guess = 1 if push[e] > 0.0 or (grip[e] == 0 and lack > precision) else 0
            if guess != grip[e]:
                grip[e], right = guess, False
        if right:
            return True, x
    return False, start


@inner_kernel
def push_exactly(b, lo, hi, start, impulse, sides, precision, limit):
    """The same with the closest point; rows that push in the shared `impulse` are the guess."""
    for e in range(lo, hi):
        lack = -(sides.rest[e, 0] + along(e, 0, sides.row, start))
        sides.grip[e] = 1 if impulse[sides.contact[e], 0] > 0.0 or lack > precision else 0
    right, x = _push_by_guess(b, lo, hi, start, sides, precision)
    if right:
        return x, 0
    x, rounds = push_by_surrogates(lo, hi, start, sides, 1.0, precision, limit)
    for e in range(lo, hi):
        sides.grip[e] = 1 if sides.push[e] > 0.0 else 0
        sides.hold[e, 0] = sides.push[e]
    right, closest = _push_by_guess(b, lo, hi, start, sides, precision)
    if right:
        return closest, rounds
    for e in range(lo, hi):
        sides.push[e] = sides.hold[e, 0]
    return x, rounds
