"""Error measures of an answer: those of every solver, in one pass over the contacts.

natural map   | p - P(p - (u + mu |u_t| n)) | over all contacts, relative to |q| [Acary2018]; where
              friction is elliptic, that of the proximal form of friction_sections.py
Fischer       1/2 |phi|² of the pyramid law, NEWTON (VRIPHYS paper) eq. 21, 28, 35
min map       1/2 |H|² of the same law, NEWTON (WSCG paper) eq. 22, 23
gap           sum of |p_n u_n|, what complementarity leaves over [J]
energy        change of kinetic energy by the impulses [J]
"""

from math import sqrt

from drystone.constraints.coulomb import contact_error, slip_at
from drystone.constraints.friction_sections import section_error
from drystone.jit import kernel
from drystone.jit.stage import stage

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
def _contact_measures(natural, p, u, q, bias, mu_1, mu_2):
    """What one contact with that natural map adds to the sums of MEASURES, and to |q|².

    p, u, q    impulse, velocity with it and without; normal, tangent 1, tangent 2
    """
    (pn, p1, p2), (un, u1, u2), (qn, q1, q2) = p, u, q
    natural = natural * natural
    g1, h1 = _pyramid_errors(p1, u1, mu_1 * pn)
    g2, h2 = _pyramid_errors(p2, u2, mu_2 * pn)
    fischer = 0.5 * (_fischer(pn, un) ** 2 + g1 * g1 + g2 * g2)
    minmap = 0.5 * (min(pn, un) ** 2 + h1 * h1 + h2 * h2)
    # p . (velocity before + after) / 2 is what the impulse adds to the kinetic energy.
    energy = 0.5 * (pn * (un + qn - 2.0 * bias) + p1 * (u1 + q1) + p2 * (u2 + q2))
    return natural, fischer, minmap, abs(pn * un), energy, qn * qn + q1 * q1 + q2 * q2


@kernel
def _finish_measures(scale, out):
    natural = out[MEASURE_NATURAL]
    out[MEASURE_NATURAL] = sqrt(natural / scale) if scale > 0.0 else sqrt(natural)


@stage
def measure_rows(count, rows, twist, free, out):
    """Fill `out` (MEASURES,) for the impulses of the first `count` rows."""
    bias, friction, impulse = rows.bias, rows.friction, rows.impulse
    scale = 0.0
    for k in range(MEASURES):
        out[k] = 0.0
    for r in range(count):
        un, u1, u2 = slip_at(r, rows, twist)
        qn, q1, q2 = slip_at(r, rows, free)
        un, qn, mu = un + bias[r], qn + bias[r], friction[r]
        pn, p1, p2 = impulse[r, 0], impulse[r, 1], impulse[r, 2]
        natural = contact_error(pn, p1, p2, un, u1, u2, mu, 1.0)
        p, u, q = (pn, p1, p2), (un, u1, u2), (qn, q1, q2)
        part = _contact_measures(natural, p, u, q, bias[r], mu, mu)
        for k in range(MEASURES):
            out[k] += part[k]
        scale += part[MEASURES]
    _finish_measures(scale, out)


@kernel
def measure_velocities(impulse, velocity, free, bias, friction, friction_2, elliptic, out):
    """Fill `out` (MEASURES,) from the contact velocities with and without the impulses."""
    scale = 0.0
    for k in range(MEASURES):
        out[k] = 0.0
    for c in range(impulse.shape[0]):
        pn, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        un, u1, u2 = velocity[c, 0], velocity[c, 1], velocity[c, 2]
        mu_1, mu_2 = friction[c], friction_2[c]
        if elliptic:
            natural = section_error(pn, p1, p2, un, u1, u2, mu_1, mu_2, 1.0)
        else:
            natural = contact_error(pn, p1, p2, un, u1, u2, mu_1, 1.0)
        p, u, q = (pn, p1, p2), (un, u1, u2), (free[c, 0], free[c, 1], free[c, 2])
        part = _contact_measures(natural, p, u, q, bias[c], mu_1, mu_2)
        for k in range(MEASURES):
            out[k] += part[k]
        scale += part[MEASURES]
    _finish_measures(scale, out)
