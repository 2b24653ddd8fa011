"""Did a character fall? When, and why.

Whoever stands can stop within what the feet reach: the extrapolated centre of mass [Hof2005],
x + v / sqrt(g / h), must lie over the soles. Beyond them no torque of the ankles brings it back.
"""

from typing import NamedTuple

import numpy as np

from drystone.model.signatures import public
from drystone.world.character import quaternions

LOST_HEIGHT = 0.25  # of the root's height above the feet in the clip: who has sunk by that fell
LOST_ANGLE = 0.9  # [rad] that the root leans otherwise than in the clip, likewise
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
    down = _down(character)
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


def _down(character) -> np.ndarray:
    """(done,) whether it has sunk, or leans, by much more than in the clip. Heights are above the
    feet, and turns about the vertical do not count: what it stands on may move."""
    at, turned, figure = character.positions(), character.orientations(), character.figure
    clip = character.motion.at(character.times)
    height, wanted = (
        _above_feet(figure, *pose) for pose in ((at, turned), (clip.position, clip.rotation))
    )
    up, ups = (
        quaternions.rotate(quaternions.conjugate(q[:, 0]), np.array((0.0, 0.0, 1.0)))
        for q in (turned, clip.rotation)
    )
    leans = np.arccos(np.clip((up * ups).sum(axis=1), -1.0, 1.0))
    return (wanted - height > LOST_HEIGHT * wanted.max()) | (leans > LOST_ANGLE)


def _above_feet(figure, at, turned) -> np.ndarray:
    """(n,) height of the root above the lowest corner of the soles; above the ground without."""
    soles = _soles(figure, at, turned)
    return at[:, 0, 2] - (soles[..., 2].min(axis=1) if soles.shape[1] else figure.ground)


def _soles(figure, at, turned) -> np.ndarray:
    """(n, corners, 3) of all feet."""
    found = [
        at[:, k, None] + quaternions.rotate(turned[:, k, None], figure.bones[k].sole)
        for k in figure.feet
    ]
    return np.concatenate(found, axis=1) if found else np.zeros((len(at), 0, 3))


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
    """(done,) how far the extrapolated centre of mass is outside of the lower soles, along x or y
    [m]; negative inside."""
    figure, done = character.figure, character.done
    mass = np.array([bone.mass for bone in figure.bones])
    pose = character._noted.pose[:done]
    centre = np.einsum("b,nbk->nk", mass, pose[..., :3]) / mass.sum()
    dt = character._world.dt
    velocity = np.gradient(centre, dt, axis=0) if done > 1 else np.zeros_like(centre)
    points = _soles(figure, character.positions(), character.orientations())
    if not points.shape[1]:
        return np.zeros(done)
    low = points[..., 2] < points[..., 2].min(axis=1)[:, None] + 0.05
    height = np.maximum(centre[:, 2] - points[..., 2].min(axis=1), 0.1)
    g = max(float(np.linalg.norm(character._world.gravity)), 1e-9)
    ahead = (centre + velocity * np.sqrt(height / g)[:, None])[:, :2]
    least = np.where(low[..., None], points[..., :2], np.inf).min(axis=1)
    most = np.where(low[..., None], points[..., :2], -np.inf).max(axis=1)
    return np.maximum(least - ahead, ahead - most).max(axis=1)
