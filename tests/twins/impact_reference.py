"""The impact problems through OSQP, as ROCFALL does them: the slow twin of
rockfall/engine/impact.py.

Rows, twist and impulses per mass are those of rockfall/engine/impact.py. The complementarity
problem (3.56) is the optimality of min p.A p/2 + q.p, p >= 0; of its solutions the shortest comes
from a second program.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse

from drystone.errors import SimulationError
from drystone.rockfall.optional_packages import load

# Far below what the comparison asks for; polishing then gives the exact active set.
SETTINGS = {
    "eps_abs": 1e-11, "eps_rel": 1e-11, "max_iter": 200_000, "verbose": False,
    "delta": 1e-9, "polish_refine_iter": 20, "scaling": 0, "rho": 1.0,
}  # fmt: skip

# Share of the largest velocity: a contact this near to its bound may carry an impulse.
TOUCHING = 1e-8


class Impact(NamedTuple):
    """What an impact did."""

    twist: np.ndarray  # (6,) after it
    normal: np.ndarray  # (k,) impulses per mass [m/s]
    friction: np.ndarray  # (k,)


def solve_impact(normal, slide, bounce, friction, twist) -> Impact:
    """Simultaneous frictional impact, eq. 3.56, 3.61 and 3.62.

    normal, slide      (k, 6) rows along the normals and against the sliding
    bounce, friction   (k,) restitution and friction coefficients
    twist              (6,) before it
    """
    normal, slide = np.asarray(normal, float), np.asarray(slide, float)
    bounce, mu = np.asarray(bounce, float), np.asarray(friction, float)
    before = np.asarray(twist, float)
    p = _normal_impulse(normal, bounce, before)
    if p is None:
        p = _normal_impulse(normal, np.full_like(bounce, bounce.min()), before)
    after = before + normal.T @ p
    if after @ after > before @ before * (1.0 + 1e-12):
        p = _mixed(normal, before, p, _normal_impulse(normal, np.zeros_like(bounce), before))
        after = before + normal.T @ p
    f = _quadratic(slide @ slide.T, slide @ after, np.zeros(len(p)), mu * p)
    return Impact(after + slide.T @ f, p, f)


def _normal_impulse(rows, bounce, before) -> np.ndarray | None:
    """The shortest solution of (3.56); None if there is none."""
    q = (1.0 + bounce) * (rows @ before)
    p = _quadratic(rows @ rows.T, q, np.zeros(len(q)), np.full(len(q), np.inf))
    if p is None:
        return None
    p = np.maximum(p, 0.0)
    change = rows.T @ p
    touching = rows @ change + q <= TOUCHING * np.abs(change).max(initial=0.0)
    if not touching.any():
        return p
    short = np.zeros(len(p))
    used = rows[touching]
    short[touching] = _shortest(used, change)
    return short


def _shortest(rows, change) -> np.ndarray:
    """min |p|² / 2 with rowsᵀ p = change, p >= 0.

    The equations are written in an orthonormal basis of the space that the rows span, since OSQP
    needs them independent.
    """
    u, size, _ = np.linalg.svd(rows.T, full_matrices=False)
    basis = u[:, size > 1e-9 * size.max(initial=1.0)]
    k = len(rows)
    held = np.vstack([basis.T @ rows.T, np.eye(k)])
    target = basis.T @ change
    low = np.concatenate([target, np.zeros(k)])
    high = np.concatenate([target, np.full(k, np.inf)])
    return np.maximum(_osqp(np.eye(k), np.zeros(k), held, low, high), 0.0)


def _mixed(rows, before, lively, dull) -> np.ndarray:
    """Between the answers with and without bounce the one that keeps the energy."""
    end = before + rows.T @ dull
    step = rows.T @ (lively - dull)
    a, b, c = step @ step, 2.0 * step @ end, end @ end - before @ before
    share = (-b + np.sqrt(b * b - 4.0 * a * c)) / (2.0 * a)
    return dull + share * (lively - dull)


def _quadratic(matrix, q, low, high) -> np.ndarray | None:
    """min x.M x/2 + q.x with low <= x <= high."""
    return _osqp(matrix, q, np.eye(len(q)), low, high)


def _osqp(matrix, q, rows, low, high) -> np.ndarray | None:
    osqp = load("osqp", "The reference solution of impacts")
    scale = np.abs(q).max(initial=0.0) or 1.0  # so that its tolerances are relative
    if not np.abs(q).any():
        scale = np.abs(low[np.isfinite(low)]).max(initial=0.0) or 1.0
    solver = osqp.OSQP()
    solver.setup(
        scipy.sparse.csc_matrix(np.triu(matrix)), q / scale, scipy.sparse.csc_matrix(rows),
        low / scale, high / scale, **SETTINGS,
    )  # fmt: skip
    result = solver.solve(raise_error=False)
    if np.abs(result.y).max(initial=0.0) > 1e-9:  # else nothing is active, and OSQP would say so
        solver.update_settings(polishing=True)
        result = solver.solve(raise_error=False)
    if "infeasible" in result.info.status:
        return None
    if not result.info.status.startswith("solved"):
        raise SimulationError(f"OSQP: impact not solved ({result.info.status}).")
    return scale * result.x
