"""The first projection of a body, FFD (27): impulses along the normals that keep contacts open.

It asks for the closest point of a convex set, given by half-spaces a.x >= bound, in the kinetic
metric of ffd_sides.py, with one more coordinate for each contact: root(give) times the impulse
there, in which the other body gives way. For one contact that is the velocity at maximum
compression (30). Where a body is pressed from two sides, as a box on the ground below
another, the targets of (30) contradict each other; these never do.

    surrogates  FFD section 7, [Yang1992]: all rows that are violated, each weighted by how
                much, make one half-space; move onto it, and again. Feasible, not quite closest:
                4 to 15 % longer on random problems.
    polishing   the closest point, if the rows that push are guessed right: those that pushed,
                less those that would pull, and those that are violated then. Two rounds, mostly.

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
from drystone.jit import inner_kernel

POLISHING = 12  # rounds; on 2000 random bodies of 3 to 60 contacts 95 % needed fewer


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


@inner_kernel
def polish(b, lo, hi, start, x, sides, precision):
    """On from `x` to the point closest to `start`; `x` where no guess of the rows holds true."""
    push, grip, row, rest, m = sides.push, sides.grip, sides.row, sides.rest, sides.stick
    for e in range(lo, hi):
        sides.weight[e, 0] = push[e]
        grip[e] = 1 if push[e] > 0.0 else 0
    for _ in range(POLISHING):
        start_matrix(m, b)
        for e in range(lo, hi):
            if grip[e] == 1:
                lack = -(rest[e, 0] + along(e, 0, row, start))
                add_equation(m, b, e, 0, row, 1.0 / softness(e, 0, sides), lack)
        z, right = mix(start, solve_matrix(m, b), 1.0), True
        for e in range(lo, hi):
            lack = -(rest[e, 0] + along(e, 0, row, z))
            push[e] = lack / softness(e, 0, sides) if grip[e] == 1 else 0.0
            guess = 1 if push[e] > 0.0 or (grip[e] == 0 and lack > precision) else 0
            if guess != grip[e]:
                grip[e], right = guess, False
        if right:
            return z
    for e in range(lo, hi):
        push[e] = sides.weight[e, 0]
    return x
