"""Fast frictional dynamics: friction limited by velocities (24), its projection by surrogates.

Where the normal impulses of the contacts are not known, FFD 5.1 lets friction change the velocity
of a contact along a tangent s by at most mu(s) times what its normal has gained. For a point
that is Coulomb's law. A ball has 3.5 times less friction than it should, since its contact moves by
so much more along tangents; and what is squeezed from two sides gains nothing, and slips.

Sampled tangents make the limits half-spaces, and the surrogates of normal_projection.py apply.
"""

from math import sqrt

from drystone.jit import inner_kernel, kernel
from drystone.solvers.ffd.body_contacts import GRIPS, opening, slip_of
from drystone.solvers.ffd.normal_projection import FORWARD, PATIENCE
from drystone.solvers.ffd.spatial_algebra import ZERO, add_row, add_scaled, along, square


@kernel
def _tangent(e, k, circle, first):
    """Sampled tangent `k` of side `e`, in the axes of the contact."""
    return (
        first[e, 0] * circle[k, 0] - first[e, 1] * circle[k, 1],
        first[e, 1] * circle[k, 0] + first[e, 0] * circle[k, 1],
    )


@inner_kernel
def sample_tangents(lo, hi, start, x, base, contacts, sides, circle):
    """Directions and bounds of the sampled tangents: the first against the sliding.

    On an ellipse mu(s) is how far it reaches along s: more samples come ever closer to it.
    """
    for e in range(lo, hi):
        c = sides.contact[e]
        gain = along(e, 0, sides.row, x) - along(e, 0, sides.row, start)
        gain = max(0.0, gain + sides.compliance[e, 0] * sides.push[e])
        u, v = slip_of(e, 1, base, sides), slip_of(e, 2, base, sides)
        speed = sqrt(u * u + v * v)
        cosine, sine = (-u / speed, -v / speed) if speed > 0.0 else (1.0, 0.0)
        sides.first_tangent[e, 0], sides.first_tangent[e, 1] = cosine, sine
        for k in range(circle.shape[0]):
            s1, s2 = _tangent(e, k, circle, sides.first_tangent)
            mu_1, mu_2 = contacts.friction[c], contacts.friction_2[c]
            reach = sqrt((mu_1 * s1) ** 2 + (mu_2 * s2) ** 2)
            sides.bound[e, k] = gain * reach


@kernel
def _weigh_normal(e, base, y, sides, precision):
    """Weight of a contact that does not push but would close; returns lacking, soft."""
    lack = -max(0.0, opening(e, base, sides)) - along(e, 0, sides.reduced, y)
    lack -= sides.compliance[e, 0] * sides.hold[e, 0]
    if not lack > precision:
        return 0.0, 0.0
    w = lack / (sides.reduced_square[e, 0] + sides.compliance[e, 0])
    sides.weight[e, 0] = w
    return w * lack, w * w * sides.compliance[e, 0]


@kernel
def _weigh_tangents(e, y, circle, sides, precision):
    """Weights of the sampled tangents that pass their bounds; returns lacking, soft."""
    compliance, hold, weight = sides.compliance, sides.hold, sides.weight
    v1 = along(e, 1, sides.reduced, y) + compliance[e, 1] * hold[e, 1]
    v2 = along(e, 2, sides.reduced, y) + compliance[e, 2] * hold[e, 2]
    own = sides.reduced_square
    scale = 0.5 * (own[e, 1] + own[e, 2] + compliance[e, 1] + compliance[e, 2])
    lacking = 0.0
    for k in range(circle.shape[0]):
        s1, s2 = _tangent(e, k, circle, sides.first_tangent)
        excess = v1 * s1 + v2 * s2 - sides.bound[e, k]
        if excess > precision:
            weight[e, 1] -= excess / scale * s1
            weight[e, 2] -= excess / scale * s2
            lacking += excess * excess / scale
    return lacking, weight[e, 1] ** 2 * compliance[e, 1] + weight[e, 2] ** 2 * compliance[e, 2]


@inner_kernel
def hold_by_surrogates(lo, hi, base, y, sides, options):
    """From `y` to where friction and all contacts allow; returns y and how many surrogates."""
    reduced, hold, weight = sides.reduced, sides.hold, sides.weight
    for done in range(options.limit):
        direction, lacking, soft = ZERO, 0.0, 0.0
        for e in range(lo, hi):
            weight[e, 0], weight[e, 1], weight[e, 2] = 0.0, 0.0, 0.0
            if sides.grip[e] == GRIPS:
                lack, more = _weigh_tangents(e, y, options.circle, sides, options.precision)
            else:
                lack, more = _weigh_normal(e, base, y, sides, options.precision)
            if lack > 0.0:
                lacking += lack
                soft += more
                for axis in range(3):
                    direction = add_row(direction, e, axis, reduced, weight[e, axis])
        size = square(direction) + soft
        if lacking == 0.0 or not lacking < 1e12 * size:  # opposite rows: no direction helps
            return y, done
        t = (options.relaxation if done < PATIENCE else FORWARD) * lacking / size
        y = add_scaled(y, direction, t)
        for e in range(lo, hi):
            for axis in range(3):
                hold[e, axis] += t * weight[e, axis]
    return y, options.limit
