"""Friction sections: the closest point of a disc and of an ellipse in the tangent plane.

A section holds the tangential impulses that a contact can bear under its normal impulse; with
its projection the proximal form of Coulomb's law is complete: NEWTON 5.1.2, eq. 68. Maximal
dissipation is in the projection too: on an ellipse friction does not oppose the sliding velocity,
but is the point of the section that takes most power from it.
"""

from math import sqrt

from drystone.jit import kernel

# Newton's method below takes 2 to 6 iterations, seldom more than 10; a bound that is not met.
MAX_ITERATIONS = 60
# In units of the longer axis: from that far the direction alone counts, and an ellipse that
# thin is a line, both to far below rounding; their squares and quotients are still floats.
FAR, THIN = 1e40, 1e-100


@kernel
def project_on_disc(x, y, radius):
    """Closest point to (x, y) in the disc of `radius` around the origin."""
    length = sqrt(x * x + y * y)
    if length <= radius:
        return x, y
    return radius * x / length, radius * y / length


@kernel
def project_on_ellipse(x, y, a, b):
    """Closest point to (x, y) in the ellipse with semi-axes `a` along x and `b` along y.

    It is (a² x / (a² + t), b² y / (b² + t)) with the t > 0 that puts it on the boundary. With
    G(t) = (a x / (a² + t))² + (b y / (b² + t))² the equation 1 / sqrt(G) = 1 is nearly linear in t
    and concave, so Newton's method from t = 0 climbs to the root and never passes it: the secular
    equation of [More1983]. Lengths are in units of the longer axis so that no square is lost.
    """
    size = max(a, b)
    if size <= 0.0:
        return 0.0, 0.0
    if b <= THIN * size:
        return min(a, max(-a, x)), 0.0
    if a <= THIN * size:
        return 0.0, min(b, max(-b, y))
    away = max(abs(x), abs(y))
    if away > FAR * size:
        x, y = x / away * FAR, y / away * FAR
    else:
        x, y = x / size, y / size
    a, b = a / size, b / size
    aa, bb = a * a, b * b
    t, gx, gy = 0.0, x / a, y / b
    norm = gx * gx + gy * gy
    if norm <= 1.0:
        return size * x, size * y
    for _ in range(MAX_ITERATIONS):
        root = sqrt(norm)
        step = norm / (gx * gx / (aa + t) + gy * gy / (bb + t)) * (root - 1.0)
        t += step
        gx, gy = a * x / (aa + t), b * y / (bb + t)
        norm = gx * gx + gy * gy
        if step <= 1e-16 * t or norm <= 1.0 + 1e-15:
            break
    root = sqrt(norm)  # 1 to rounding
    return size * a * gx / root, size * b * gy / root


@kernel
def project_on_section(x, y, a, b):
    """Closest point in the section with semi-axes `a` and `b`, a disc where they are equal."""
    if a == b:
        return project_on_disc(x, y, a)
    return project_on_ellipse(x, y, a, b)


@kernel
def section_error(pn, p1, p2, un, u1, u2, mu_1, mu_2, rho):
    """Distance from the proximal form with step `rho`, divided by it: a velocity [m/s].

    NEWTON eq. 72c, 72d for the section with semi-axes mu_1 p_n and mu_2 p_n; zero at a solution.
    """
    bearing = max(pn, 0.0)
    qn = max(0.0, pn - rho * un)
    q1, q2 = project_on_section(p1 - rho * u1, p2 - rho * u2, mu_1 * bearing, mu_2 * bearing)
    return sqrt((pn - qn) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2) / rho
