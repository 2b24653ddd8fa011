"""Friction laws that a solver may solve, and the error of each: one velocity per contact [m/s].

Every law is written as a fixed point p = P(p - rho u) of a projection, and the error is the
distance from it divided by the step rho = 3 / trace(block): heavy and light bodies then count
alike, and one tolerance serves all. Rows of joints have one law, whatever that of the contacts:
joint_blocks.py.

    coulomb      the exact cone, with the shift mu |u_t| of [DeSaxce1998]; see coulomb.py. With
                 elliptic friction in the proximal form, NEWTON eq. 72c, 72d; see
                 friction_sections.py
    convex       the same without the shift: the cone complementarity problem of [Anitescu2006]
    pyramid      tangents apart from each other, -mu p_n <= p_t <= mu p_n each: NEWTON eq. 42 to 46
    polyhedral   the friction circle replaced by a polygon inside it: CLINE eq. 2.46 to 2.48
    feasible     no contact closes; impulses and friction are not measured: FFD eq. 26
"""

import numpy as np

from drystone.constraints.coulomb import contact_error, project_on_cone
from drystone.constraints.friction_sections import section_error
from drystone.constraints.joint_blocks import joint_errors
from drystone.errors import InputError, UnsupportedFeature
from drystone.jit import kernel
from drystone.model.checks import shown

LAWS = ("coulomb", "convex", "pyramid", "polyhedral", "feasible")


def law_errors(
    problem, impulse, velocity, law: str = "coulomb", facets: int = 0, rho=None
) -> np.ndarray:
    """(nb,) error of every contact, then of every block of joints [m/s].

    facets    of the law "polyhedral"
    rho       (nc,) steps of the contacts; None: 3 / trace(block)
    """
    if not isinstance(law, str) or law not in LAWS:
        raise InputError(f"law is {shown(law)}, must be one of {', '.join(LAWS)}.")
    block, nc = problem.blocks(), problem.contact_count
    if rho is None:
        rho = 3.0 / (block[:nc, 0] + block[:nc, 3] + block[:nc, 5])
    errors = _contact_errors(problem, impulse[:nc], velocity[:nc], law, facets, rho)
    if problem.joints is None:
        return errors
    held = joint_errors(problem.joints, impulse[nc:], velocity[nc:], block[nc:, [0, 3, 5]])
    return np.concatenate([errors, held])


def _contact_errors(problem, impulse, velocity, law, facets, rho) -> np.ndarray:
    if law == "feasible":
        return np.maximum(0.0, -velocity[:, 0])
    mu, mu_2 = problem.friction, problem.friction_2
    if mu_2 is not None:
        if law != "coulomb":
            raise UnsupportedFeature(f"law {law!r} knows no elliptic friction (friction_2).")
        errors = np.zeros(len(mu))
        elliptic_errors(impulse, velocity, mu, mu_2, rho, errors)
        return errors
    if law == "polyhedral":
        return _polyhedral_errors(impulse, velocity, mu, rho, facets)
    errors = np.zeros(len(mu))
    {"coulomb": coulomb_errors, "convex": convex_errors, "pyramid": pyramid_errors}[law](
        impulse, velocity, mu, rho, errors
    )
    return errors


@kernel
def coulomb_errors(impulse, velocity, friction, rho, errors):
    for c in range(errors.shape[0]):
        errors[c] = contact_error(
            impulse[c, 0], impulse[c, 1], impulse[c, 2],
            velocity[c, 0], velocity[c, 1], velocity[c, 2], friction[c], rho[c],
        )  # fmt: skip


@kernel
def elliptic_errors(impulse, velocity, friction, friction_2, rho, errors):
    for c in range(errors.shape[0]):
        errors[c] = section_error(
            impulse[c, 0], impulse[c, 1], impulse[c, 2],
            velocity[c, 0], velocity[c, 1], velocity[c, 2], friction[c], friction_2[c], rho[c],
        )  # fmt: skip


@kernel
def convex_errors(impulse, velocity, friction, rho, errors):
    for c in range(errors.shape[0]):
        pn, p1, p2 = impulse[c, 0], impulse[c, 1], impulse[c, 2]
        un, u1, u2 = velocity[c, 0], velocity[c, 1], velocity[c, 2]
        s = rho[c]
        qn, q1, q2 = project_on_cone(pn - s * un, p1 - s * u1, p2 - s * u2, friction[c])
        errors[c] = np.sqrt((pn - qn) ** 2 + (p1 - q1) ** 2 + (p2 - q2) ** 2) / s


@kernel
def pyramid_errors(impulse, velocity, friction, rho, errors):
    for c in range(errors.shape[0]):
        pn, s = impulse[c, 0], rho[c]
        bound = friction[c] * max(pn, 0.0)
        total = (pn - max(0.0, pn - s * velocity[c, 0])) ** 2
        for k in (1, 2):
            p = impulse[c, k]
            total += (p - min(bound, max(-bound, p - s * velocity[c, k]))) ** 2
        errors[c] = np.sqrt(total) / s


def _polyhedral_errors(impulse, velocity, mu, rho, facets) -> np.ndarray:
    if facets < 4 or facets % 2:
        raise InputError(f"facets is {facets}, must be an even number of at least 4.")
    normal = np.maximum(0.0, impulse[:, 0] - rho * velocity[:, 0])
    wish = impulse[:, 1:] - rho[:, None] * velocity[:, 1:]
    tangent = project_on_polygon(wish, mu * np.maximum(impulse[:, 0], 0.0), facets)
    off = np.column_stack((impulse[:, 0] - normal, impulse[:, 1:] - tangent))
    return np.linalg.norm(off, axis=1) / rho


def project_on_polygon(points, radius, facets: int) -> np.ndarray:
    """Closest points (n, 2) in regular polygons with a corner at (radius, 0)."""
    angle = 2.0 * np.pi * np.arange(facets + 1) / facets
    corner = radius[:, None, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    start, along = corner[:, :-1], np.diff(corner, axis=1)
    offset = points[:, None, :] - start
    outside = along[..., 1] * offset[..., 0] - along[..., 0] * offset[..., 1]
    length = np.maximum((along**2).sum(-1), np.finfo(float).tiny)
    share = np.clip((offset * along).sum(-1) / length, 0.0, 1.0)
    foot = start + share[..., None] * along
    nearest = ((foot - points[:, None, :]) ** 2).sum(-1).argmin(axis=1)
    foot = foot[np.arange(len(points)), nearest]
    inside = (outside < 0.0).all(axis=1)  # never in a polygon that is a point
    return np.where(inside[:, None], points, foot)
