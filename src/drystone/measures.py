"""How wrong an answer is: every measure of every solver, in one pass over the contacts.

    natural map   | p - P(p - (u + mu |u_t| n)) | over all contacts, relative to |q| [Acary2018]
    Fischer       1/2 |phi|² of the pyramid law, NEWTON (VRIPHYS paper) eq. 21, 28, 35
    min map       1/2 |H|² of the same law, NEWTON (WSCG paper) eq. 22, 23
    gap           sum of |p_n u_n|, what complementarity leaves over [J]
    energy        change of kinetic energy by the impulses [J]
"""

from math import sqrt

from drystone.coulomb import contact_error, velocity_at
from drystone.jit import kernel

MEASURE_NATURAL, MEASURE_FISCHER, MEASURE_MINMAP, MEASURE_GAP, MEASURE_ENERGY = range(5)
MEASURES = 5


@kernel
def _fischer(a, b):
    return sqrt(a * a + b * b) - a - b


@kernel
def _pyramid_errors(p, u, bound):
    """Fischer and min-map error of one friction direction with bounds -bound <= p <= bound."""
    fischer = _fischer(p + bound, _fischer(-u, bound - p))
    minmap = min(bound - p, -min(p + bound, u))
    return fischer, minmap


@kernel
def measure_rows(count, body, frame, arm, bias, friction, impulse, twist, free, out):
    """Fill `out` (MEASURES,) for the impulses of the first `count` rows."""
    natural, scale, fischer, minmap, gap, energy = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(count):
        vn, v1, v2 = velocity_at(r, body, frame, arm, twist)
        fn, f1, f2 = velocity_at(r, body, frame, arm, free)
        pn, p1, p2, mu = impulse[r, 0], impulse[r, 1], impulse[r, 2], friction[r]
        un, qn = vn + bias[r], fn + bias[r]
        natural += contact_error(pn, p1, p2, un, v1, v2, mu, 1.0) ** 2
        scale += qn * qn + f1 * f1 + f2 * f2
        g1, h1 = _pyramid_errors(p1, v1, mu * pn)
        g2, h2 = _pyramid_errors(p2, v2, mu * pn)
        fischer += _fischer(pn, un) ** 2 + g1 * g1 + g2 * g2
        minmap += min(pn, un) ** 2 + h1 * h1 + h2 * h2
        gap += abs(pn * un)
        # p . (velocity before + after) / 2 is what the impulse adds to the kinetic energy.
        energy += 0.5 * (pn * (vn + fn) + p1 * (v1 + f1) + p2 * (v2 + f2))
    out[MEASURE_NATURAL] = sqrt(natural / scale) if scale > 0.0 else sqrt(natural)
    out[MEASURE_FISCHER] = 0.5 * fischer
    out[MEASURE_MINMAP] = 0.5 * minmap
    out[MEASURE_GAP] = gap
    out[MEASURE_ENERGY] = energy
