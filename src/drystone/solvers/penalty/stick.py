"""friction="system": tangential forces that stop all sliding, from A x = b (PENALTY III B).

A and b are those of LCP methods: A takes forces to the changes of tangential velocities in the
step, b is the sliding that there would be without friction. Many points of one body make A
singular, or nearly so, where forces of any size would stop the last rest of a sliding: of all
solutions that stop nearly all of it the least is taken. What friction cannot hold slides: the
forces are cut to the cone afterwards.
"""

import numpy as np

from drystone.solvers.penalty.impacts import skew

CUT = 1e-3  # singular values of the scaled A below this share of the largest are left out


def sticking_forces(points, normals, bodies, velocity, place, model, robots, dt) -> np.ndarray:
    """(m, 3) forces on the second body of each contact [N].

    velocity   (m, 3) of the second seen from the first at the end of the step, without friction
    robots     {row of a link: its robot}
    """
    m, fixed = len(points), len(place) - 1
    size, column = 0, {}
    for b in np.unique(bodies).tolist():
        owner = robots.get(b, b)
        if b != fixed and owner not in column and (b in robots or model.inv_mass[b] > 0.0):
            column[owner] = size
            size += owner.nv if b in robots else 6
    least = np.eye(3)[np.abs(normals).argmin(axis=1)]
    one = np.cross(normals, least)
    one /= np.linalg.norm(one, axis=1, keepdims=True)
    tangents = np.stack([one, np.cross(normals, one)], axis=1)  # (m, 2, 3)
    jacobian = np.zeros((2 * m, size))
    for c in range(m):
        for side, sign in ((0, -1.0), (1, 1.0)):
            b = int(bodies[c, side])
            owner = robots.get(b, b)
            if owner not in column:
                continue
            first = column[owner]
            if b in robots:
                own = owner.point_jacobian(b, points[c])
            else:
                arm = points[c] - place[b, :3]
                own = np.hstack([np.eye(3), skew(arm).T])
            jacobian[2 * c : 2 * c + 2, first : first + own.shape[1]] += sign * tangents[c] @ own
    response = np.zeros_like(jacobian)  # M⁻¹ Jᵀ, transposed
    for owner, first in column.items():
        if isinstance(owner, int):
            axes = place[owner, 3:].reshape(3, 3)
            response[:, first : first + 3] = model.inv_mass[owner] * jacobian[:, first : first + 3]
            turned = (axes * model.inv_inertia[owner]) @ axes.T
            response[:, first + 3 : first + 6] = jacobian[:, first + 3 : first + 6] @ turned
        else:
            rows = slice(first, first + owner.nv)
            response[:, rows] = np.linalg.solve(owner.mass_matrix(), jacobian[:, rows].T).T
    b = np.einsum("mij,mj->mi", tangents, velocity).ravel() / dt
    a = jacobian @ response.T
    scale = 1.0 / np.sqrt(np.maximum(a.diagonal(), 1e-300))  # light and heavy bodies alike
    answer = scale * np.linalg.lstsq(scale[:, None] * a * scale, -scale * b, rcond=CUT)[0]
    return np.einsum("mi,mij->mj", answer.reshape(m, 2), tangents)
