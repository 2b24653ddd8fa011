"""Residual of an answer: how far impulses are from a law, and all other error measures."""

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.error_measures import MEASURES, measure_velocities
from drystone.constraints.joint_blocks import add_measures
from drystone.constraints.laws import LAWS, law_errors
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem
from drystone.constraints.problem_checks import check_given, impulses_of
from drystone.model.checks import choice, integer
from drystone.model.signatures import public


@public
def residual(
    problem: ContactProblem | MatrixProblem,
    impulse: ArrayLike,
    law: str = "coulomb",
    facets: int = 0,
) -> float:
    """Worst violation of `law` over all contacts and joints [m/s]; zero at a solution. See laws.py.

    `facets` counts the sides of the friction polygon of the law "polyhedral".
    """
    problem = check_given(problem, "residual")
    impulse = impulses_of(problem, impulse)
    choice("law", law, LAWS)
    facets = integer("facets", facets, 0, 2**20)
    errors = law_errors(problem, impulse, problem.velocity(impulse), law, facets)
    return float(errors.max(initial=0.0))  # a NaN stays one


def relative_error(problem, impulse: np.ndarray, law: str = "coulomb", facets: int = 0) -> float:
    """Norm of the violations of `law` with step 1, relative to |q|; for "coulomb" the natural map
    error of [Acary2018]. Rows of joints count as in residual()."""
    impulse = np.ascontiguousarray(impulse, dtype=np.float64)
    q = problem.q()
    velocity = q + problem.apply_W(impulse)
    errors = law_errors(problem, impulse, velocity, law, facets, np.ones(problem.contact_count))
    size = np.linalg.norm(q)
    return float(np.linalg.norm(errors) / size if size > 0.0 else np.linalg.norm(errors))


def measure(problem, impulse: np.ndarray) -> np.ndarray:
    """The measures of error_measures.py for `impulse`."""
    impulse = np.ascontiguousarray(impulse, dtype=np.float64)
    q = problem.q()
    return measures_of(problem, impulse, q, q + problem.apply_W(impulse))


def measures_of(problem, impulse, q, velocity) -> np.ndarray:
    """The same from the velocities (nb, 3) without and with `impulse`."""
    out, nc = np.zeros(MEASURES), problem.contact_count
    bias = getattr(problem, "bias", np.zeros(nc))
    elliptic = problem.friction_2 is not None
    friction_2 = problem.friction_2 if elliptic else problem.friction
    measure_velocities(
        impulse[:nc], velocity[:nc], q[:nc], bias, problem.friction, friction_2, elliptic, out
    )
    if problem.joints is not None:
        own = problem.blocks()[nc:, [0, 3, 5]]
        scale = float((q[:nc] ** 2).sum())
        add_measures(problem.joints, impulse[nc:], velocity[nc:], q[nc:], own, scale, out)
    return out
