"""Forces of the ground on the feet of a figure that moves as a clip does.

At every time the figure needs the wrench w in all (about its centre of mass) that the ground must
give. With the points of the soles that are near the ground, forces f and arms G:

    minimise  |S (w - G f)|² / 2 + Σ e_i |f_i|² / 2     |f_t| <= mu f_n   at every point

S makes forces and torques comparable (body weight, and weight times height). The first term is
what a real figure would not have: the residual force, as small as friction and soles allow. The
second picks the evenest of all such forces; e grows with the height and the speed of a point, so
that the load passes from foot to foot without a jump. The cone is exact: every iteration projects
on it.

Solved for all times at once by ADMM [Boyd2011] 3.1, whose matrices are factored once.
"""

import numpy as np

from drystone.errors import InputError

EVEN = 1e-3  # e of a point that stands on the ground: costs 0.1 % of the weight in residual force
NEAR = 0.02  # [m] above the ground, and ...
SLOW = 0.5  # [m/s] ... of speed, at which e has doubled; it grows with the fourth power of both
FAR = 0.06  # points higher than so much carry nothing [m]
MOST_ROUNDS = 4000
STOP = 1e-7  # body weights that a round may still move the forces by
RELAXATION = 1.6  # [Boyd2011] 3.4.3


def ground_forces(
    points, velocities, wrench, about, friction: float, ground: float, weight, height
):
    """(n, m, 3) forces on the feet [N], and (n, 6) what they leave of the wrench.

    points, velocities   (n, m, 3) of the soles, world axes
    wrench               (n, 6) that the figure needs beyond its weight: force, torque about `about`
    about                (n, 3) [m]
    """
    n, m, _ = points.shape
    if not m:
        return np.zeros((n, 0, 3)), wrench
    above = points[..., 2] - ground
    # A point slightly below the ground is on it: soles are as rigid as the clip is exact.
    lift = np.maximum(above, 0.0) / NEAR
    fast = np.linalg.norm(velocities, axis=-1) / SLOW
    cost = EVEN * (1.0 + lift**4 + fast**4)
    active = above < FAR
    scale = np.array([1.0, 1.0, 1.0, *[1.0 / height] * 3])
    arms = points - about[:, None]
    g = np.zeros((n, 6, m, 3))
    for axis in range(3):
        g[:, axis, :, axis] = 1.0
    x, y, z = np.moveaxis(arms, -1, 0)
    g[:, 3, :, 1], g[:, 3, :, 2] = -z, y
    g[:, 4, :, 0], g[:, 4, :, 2] = z, -x
    g[:, 5, :, 0], g[:, 5, :, 1] = -y, x
    g = g.reshape(n, 6, 3 * m) * scale[:, None]
    target = wrench * scale / weight
    share = _least(g, target, np.repeat(cost, 3, axis=1), active, friction)
    forces = weight * share.reshape(n, m, 3)
    left = wrench - weight * np.einsum("nij,nj->ni", g, share) / scale
    return forces, left


def _least(g, target, cost, active, friction: float):
    """(n, 3 m) forces in body weights."""
    n, _, size = g.shape
    matrix = np.einsum("nki,nkj->nij", g, g)
    matrix[:, np.arange(size), np.arange(size)] += cost
    linear = np.einsum("nki,nk->ni", g, target)
    # Between the stiffest direction and the softest: ADMM gains least at the worse of both.
    rho = np.sqrt(EVEN * np.trace(matrix, axis1=1, axis2=2) / size)
    matrix[:, np.arange(size), np.arange(size)] += rho[:, None]
    inverse = np.linalg.inv(matrix)
    z, u = np.zeros((n, size)), np.zeros((n, size))
    for _ in range(MOST_ROUNDS):
        x = np.einsum("nij,nj->ni", inverse, linear + rho[:, None] * (z - u))
        mixed = RELAXATION * x + (1.0 - RELAXATION) * z
        new = project(mixed + u, active, friction)
        u += mixed - new
        moved = max(np.abs(new - z).max(), np.abs(new - x).max())
        z = new
        if moved < STOP:
            break
    return z


def project(forces: np.ndarray, active: np.ndarray, friction: float) -> np.ndarray:
    """The nearest forces in the cones |f_t| <= mu f_z; none where a point is not active."""
    f = forces.reshape(len(forces), -1, 3)
    normal, across = f[..., 2], np.linalg.norm(f[..., :2], axis=-1)
    inside = across <= friction * normal
    behind = friction * across <= -normal
    along = (normal + friction * across) / (1.0 + friction**2)
    ratio = np.where(across > 0.0, friction * along / np.maximum(across, 1e-300), 0.0)
    on = np.stack((f[..., 0] * ratio, f[..., 1] * ratio, along), axis=-1)
    found = np.where(inside[..., None], f, np.where(behind[..., None], 0.0, on))
    return np.where(active[..., None], found, 0.0).reshape(forces.shape)


def check_friction(friction: float) -> float:
    if not friction >= 0.0:
        raise InputError(f"friction is {friction:g}, must be >= 0.")
    return friction
