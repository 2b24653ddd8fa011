"""Fast frictional dynamics, first projection of a body (27): non-penetration by normal impulses.

It asks for the closest point of a convex set, given by half-spaces a.x >= bound, in the kinetic
metric of body_contacts.py, with one more coordinate for each contact: root(compliance) times the
impulse there, in which the other body moves. For one contact that is the velocity at maximum
compression (30). Where a body is pressed from two sides, as a box on the ground below
another, the targets of (30) contradict each other; these never do.

    surrogate   FFD section 7, [Yang1992]: all rows that are violated, each weighted by how
                much, make one half-space; move onto it, and again. Feasible, not quite closest:
                2 to 15 % longer on random bodies.
    exact       the rows that push are guessed, those that pushed before; less those that would
                pull, and with those that are violated then, until the guess is right: block
                principal pivoting [Judice1994]. Two rounds mostly; if many do not do, the answer is
                that of the surrogates.

The second projection is in friction.py.
"""

from drystone.jit import inner_kernel, kernel
from drystone.solvers.ffd.body_contacts import GRIPS, OPEN, softness
from drystone.solvers.ffd.spatial_algebra import (
    ZERO,
    add_equation,
    add_row,
    add_scaled,
    along,
    solve_equations,
    square,
    start_matrix,
)

# Surrogates after which moves go beyond them by that factor: by what is left then it does not
# matter, and sets that are thin are reached in tens instead of thousands of moves.
PATIENCE, FORWARD = 20, 1.9

# Rounds in which all rows are corrected at once; 95 % of 2000 random bodies of 3 to 60 contacts
# needed fewer. Then one by one, the last wrong one first, which cannot go in circles [Murty1974].
GUESSES, MORE_GUESSES = 12, 200


@kernel
def _push_by_surrogates(lo, hi, start, sides, options):
    """Normal impulses of the sides lo to hi; returns x, from `start`, and how many surrogates."""
    row, rest, compliance, own = sides.row, sides.rest, sides.compliance, sides.own
    push, weight, x = sides.push, sides.weight, start
    for e in range(lo, hi):
        push[e] = 0.0
    for done in range(options.limit):
        direction, lacking, soft = ZERO, 0.0, 0.0
        for e in range(lo, hi):
            lack = -(rest[e, 0] + along(e, 0, row, x) + compliance[e, 0] * push[e])
            w = lack / (own[e, 0] + compliance[e, 0]) if lack > options.precision else 0.0
            weight[e, 0] = w
            if w > 0.0:
                direction = add_row(direction, e, 0, row, w)
                lacking += w * lack
                soft += w * w * compliance[e, 0]
        size = square(direction) + soft
        if lacking == 0.0 or not lacking < 1e12 * size:  # opposite rows: no direction helps
            return x, done
        t = (options.relaxation if done < PATIENCE else FORWARD) * lacking / size
        x = add_scaled(x, direction, t)
        for e in range(lo, hi):
            push[e] += t * weight[e, 0]
    return x, options.limit


@kernel(inline="always")
def _push_by_guess(b, lo, hi, start, sides, precision):
    """Impulses of the rows in sides.grip, which is corrected; whether that was right in the end,
    and x."""
    push, grip, row, rest, m = sides.push, sides.grip, sides.row, sides.rest, sides.normal
    for done in range(GUESSES + MORE_GUESSES):
        start_matrix(m, b)
        for e in range(lo, hi):
            if grip[e] == GRIPS:
                lack = -(rest[e, 0] + along(e, 0, row, start))
                add_equation(m, b, e, 0, row, 1.0 / softness(e, 0, sides), lack)
        x, right = add_scaled(start, solve_equations(m, b), 1.0), True
        for k in range(lo, hi):
            e = hi + lo - 1 - k
            lack = -(rest[e, 0] + along(e, 0, row, x))
            push[e] = lack / softness(e, 0, sides) if grip[e] == GRIPS else 0.0
            guess = GRIPS if push[e] > 0.0 or (grip[e] == OPEN and lack > precision) else OPEN
            if guess != grip[e] and (right or done < GUESSES):
                grip[e], right = guess, False
        if right:
            return True, x
    return False, start


@inner_kernel(inline="always")
def project_normals(b, lo, hi, start, sides, options):
    """Normal impulses of body `b` by either method; returns x and how many surrogates.

    Rows in sides.grip, and those that are violated at `start`, are the first guess. If it comes
    right, without surrogates, sides.normal holds the factor L of friction.py.
    """
    if options.exact == 1:
        for e in range(lo, hi):
            if -(sides.rest[e, 0] + along(e, 0, sides.row, start)) > options.precision:
                sides.grip[e] = GRIPS
        right, x = _push_by_guess(b, lo, hi, start, sides, options.precision)
        if right:
            return x, 0
    return _push_by_surrogates(lo, hi, start, sides, options)


@inner_kernel
def project_normals_again(b, lo, hi, start, sides, options):
    """project_normals() as a call: what is seldom needed is not inlined into every caller."""
    return project_normals(b, lo, hi, start, sides, options)
