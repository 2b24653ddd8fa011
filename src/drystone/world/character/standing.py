"""Did a character fall? When, and why.

Whoever stands can stop within what the feet reach: the extrapolated centre of mass [Hof2005],
x + v / sqrt(g / h), must lie over the soles. Beyond them no torque of the ankles brings it back.
"""

from typing import NamedTuple

import numpy as np

from drystone.model.signatures import public
from drystone.world.character import quaternions

LOST_HEIGHT = 0.25  # of the root's height in the clip: who has sunk by that has fallen
LOST_ANGLE = 0.9  # [rad] between the root and the clip, likewise
AWAY = 0.02  # [m] outside of its soles before an extrapolated centre counts as lost


@public
class Fall(NamedTuple):
    time: float  # when it had fallen [s]
    lost: float  # when balance was lost, before that [s]
    why: str

    def __str__(self) -> str:
        return f"fell at t = {self.time:.2f} s: {self.why}"


def find_fall(character) -> Fall | None:
    """See Character.fall()."""
    done = character.done
    if not done:
        return None
    n = len(character._muscles.root_pose)
    wanted = character._muscles.root_pose[np.minimum(np.arange(done), n - 1), 2]
    ground = character.figure.ground
    height = character._noted.pose[:done, 0, 2] - ground
    angle = character._noted.root_error[:done, 1]
    down = (height < (1.0 - LOST_HEIGHT) * (wanted - ground)) | (angle > LOST_ANGLE)
    if not down.any():
        return None
    k = int(down.argmax())
    times = character.times
    outside = margins(character)[: k + 1] > AWAY
    # The last time at which the feet could still have stopped it.
    kept = np.flatnonzero(~outside)
    lost = int(kept[-1]) + 1 if len(kept) else 0
    lost = min(lost, k)
    return Fall(float(times[k]), float(times[lost]), _why(character, lost, outside[k]))


def _why(character, lost: int, outside: bool) -> str:
    torques = character.torques
    at = character.times[lost]
    i = min(int(np.searchsorted(torques.times, at)), len(torques) - 1)
    need = float(np.linalg.norm(torques.root_force[i, :3])) / max(torques.weight, 1e-9)
    needs = (
        f"the clip needs a residual force of {100 * need:.0f} % of the weight there"
        if need > 0.02
        else "the clip needs no residual force there, but nobody watches the balance"
    )
    if outside:
        return (
            f"from t = {at:.2f} s on the extrapolated centre of mass was outside of the feet, "
            f"where no ankle brings it back; {needs}"
        )
    return f"it sank or turned over its feet; {needs}"


def margins(character) -> np.ndarray:
    """(done,) how far the extrapolated centre of mass is outside of the soles that are near the
    ground, along x or y [m]; negative inside."""
    figure, done = character.figure, character.done
    mass = np.array([bone.mass for bone in figure.bones])
    pose = character._noted.pose[:done]
    centre = np.einsum("b,nbk->nk", mass, pose[..., :3]) / mass.sum()
    dt = character._world.dt
    velocity = np.gradient(centre, dt, axis=0) if done > 1 else np.zeros_like(centre)
    height = np.maximum(centre[:, 2] - figure.ground, 0.1)
    g = max(float(np.linalg.norm(character._world.gravity)), 1e-9)
    ahead = (centre + velocity * np.sqrt(height / g)[:, None])[:, :2]
    at, turned = character.positions(), character.orientations()
    soles = [
        at[:, k, None] + quaternions.rotate(turned[:, k, None], figure.bones[k].sole)
        for k in figure.feet
    ]
    if not soles:
        return np.zeros(done)
    points = np.concatenate(soles, axis=1)
    low = points[..., 2] < figure.ground + 0.05
    plane = np.where(low[..., None], points[..., :2], np.nan)
    with np.errstate(invalid="ignore"):
        least = np.where(
            low.any(axis=1)[:, None],
            np.nanmin(np.where(low[..., None], plane, np.inf), axis=1),
            np.inf,
        )
        most = np.where(
            low.any(axis=1)[:, None],
            np.nanmax(np.where(low[..., None], plane, -np.inf), axis=1),
            -np.inf,
        )
    return np.maximum(least - ahead, ahead - most).max(axis=1)
