"""Slow and obvious twins of the kernels, in plain NumPy."""

import numpy as np


def project_on_cone(p, mu):
    """Closest point of the cone |p_t| <= mu p_n: the best of a fine search along its rays."""
    p = np.asarray(p, dtype=float)
    pt = np.linalg.norm(p[1:])
    if pt <= mu * p[0]:
        return p
    side = p[1:] / pt if pt > 0 else np.zeros(2)
    ray = np.array([1.0, *(mu * side)])  # the plane of p and the axis holds the answer
    return max(0.0, p @ ray / (ray @ ray)) * ray


def natural_map(p, u, mu, rho):
    """| p - P(p - rho (u + mu |u_t| n)) | / rho."""
    shifted = np.array([u[0] + mu * np.hypot(u[1], u[2]), u[1], u[2]])
    return np.linalg.norm(p - project_on_cone(p - rho * shifted, mu)) / rho


def jacobian(problem):
    """Dense J: (3 nc, 6 (n + 1)), one contact and one side at a time."""
    count, n = problem.contact_count, len(problem.mass)
    full = np.zeros((3 * count, 6 * n))
    for c in range(count):
        axes = problem.frame[c].reshape(3, 3)
        for side, sign in ((0, -1.0), (1, 1.0)):
            b, arm = problem.body[c, side], problem.arm[c, 3 * side : 3 * side + 3]
            for k in range(3):
                full[3 * c + k, 6 * b : 6 * b + 3] += sign * axes[k]
                full[3 * c + k, 6 * b + 3 : 6 * b + 6] += sign * np.cross(arm, axes[k])
    return full


def inverse_mass(problem):
    """Dense M⁻¹."""
    n = len(problem.mass)
    full = np.zeros((6 * n, 6 * n))
    for b, (m, xx, xy, xz, yy, yz, zz) in enumerate(problem.mass):
        full[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = m * np.eye(3)
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        full[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = inertia
    return full


def delassus(problem):
    """Dense W = J M⁻¹ Jᵀ and q."""
    jac = jacobian(problem)
    q = jac @ problem.free.ravel()
    q[::3] += problem.bias
    return jac @ inverse_mass(problem) @ jac.T, q


def residual(problem, impulse):
    """Largest natural map over the contacts [m/s]."""
    w, q = delassus(problem)
    u = (w @ impulse.ravel() + q).reshape(-1, 3)
    worst = 0.0
    for c in range(len(u)):
        block = w[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]
        rho = 3.0 / np.trace(block)
        worst = max(worst, natural_map(impulse[c], u[c], problem.friction[c], rho))
    return worst


def gauss_seidel(problem, sweeps):
    """Visit contact by contact; each by many small projected steps on its own block."""
    w, q = delassus(problem)
    p = np.zeros((problem.contact_count, 3))
    for _ in range(sweeps):
        for c in range(len(p)):
            rows = slice(3 * c, 3 * c + 3)
            block = w[rows, rows]
            rest = w[rows] @ p.ravel() + q[rows] - block @ p[c]
            p[c] = solve_block(block, rest, problem.friction[c], p[c])
    return p


def solve_block(block, q, mu, p, rounds=2000):
    """Fixed point of the natural map for one contact, with a step that contracts."""
    rho = 1.0 / np.linalg.eigvalsh(block)[-1]
    for _ in range(rounds):
        u = block @ p + q
        shifted = np.array([u[0] + mu * np.hypot(u[1], u[2]), u[1], u[2]])
        new = project_on_cone(p - rho * shifted, mu)
        done = np.abs(new - p).max() <= 1e-15 * (1.0 + np.abs(new).max())
        p = new
        if done:
            break
    return p
