"""Motion: smooth curves through the poses of a clip, and what bones do on them.

CLINE 5.1.1 fits a curve to the positions and takes its second derivative. Here it is a quintic
spline through the root's position and through the quaternion of every joint, s(t), with

    q = s / |s|,    ω = 2 vec(q' q*),    α = 2 vec(q'' q*)     in the parent's axes,

so that all bones stay joined, and speeds and accelerations are the exact derivatives of the poses.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import float_array, of_kind, shown
from drystone.model.signatures import public
from drystone.world.character import quaternions
from drystone.world.character.clips.clip import Clip
from drystone.world.character.clips.edits import curves
from drystone.world.character.figure import Figure

LEAST = 4  # frames of a curve with a second derivative


class Sample(NamedTuple):
    """Bones at n times, in world axes unless said otherwise."""

    times: np.ndarray  # (n,) [s]
    position: np.ndarray  # (n, nb, 3) of the joints [m]
    rotation: np.ndarray  # (n, nb, 4) of the bones' axes
    spin: np.ndarray  # (n, nb, 3) [rad/s]
    spin_rate: np.ndarray  # (n, nb, 3) [rad/s²]
    centre: np.ndarray  # (n, nb, 3) of mass [m]
    velocity: np.ndarray  # (n, nb, 3) of the centre of mass [m/s]
    acceleration: np.ndarray  # (n, nb, 3) likewise [m/s²]
    turned: np.ndarray  # (n, nj, 4) of each joint: its bone in the parent's axes
    turning: np.ndarray  # (n, nj, 3) speed of that, in the parent's axes [rad/s]
    turning_rate: np.ndarray  # (n, nj, 3) [rad/s²]
    root_velocity: np.ndarray  # (n, 3) of the root's joint [m/s]
    root_acceleration: np.ndarray  # (n, 3) [m/s²]


@public
class Motion:
    """How a figure moves in a clip of its skeleton; `at(times)` samples it.

    Before the first frame and after the last the figure stands still as it does there.
    """

    def __init__(self, figure: Figure, clip: Clip) -> None:
        of_kind("Motion: figure", figure, Figure, "a Figure")
        of_kind("Motion: clip", clip, Clip, "a Clip")
        if len(clip) < LEAST:
            what = (
                "a single frame, which is" if len(clip) == 1 else f"{len(clip)} frames, which are"
            )
            raise InputError(
                f"{clip.name}: has {what} no motion: accelerations need {LEAST} or more."
            )
        self.figure, self.clip = figure, clip
        missing = [name for name in figure.names if name not in clip.names]
        if missing:
            raise InputError(
                f"{clip.name}: has no joint {missing[0]}, which {figure.name} needs; make the "
                f"figure from this clip."
            )
        _, turned = clip.poses()
        turned = turned[:, [clip.index(name) for name in figure.names]]
        local = turned.copy()
        for k, parent in enumerate(figure.parents[1:], 1):
            local[:, k] = quaternions.product(
                quaternions.conjugate(turned[:, parent]), turned[:, k]
            )
        times = clip.times
        root = clip.positions
        self._root = [
            curves(times, root).derivative(d) if d else curves(times, root) for d in range(3)
        ]
        turns = curves(times, quaternions.continuous(local))
        self._turns = [turns.derivative(d) if d else turns for d in range(3)]

    @property
    def duration(self) -> float:
        """[s]"""
        return self.clip.duration

    def at(self, times: ArrayLike) -> Sample:
        """The bones at these times [s]."""
        times = np.atleast_1d(float_array("times", times))
        if times.ndim != 1 or not np.isfinite(times).all():
            raise InputError(
                f"times is {shown(times)}, must be one finite time, or a list of them."
            )
        # The last step of a world may end a little after the last frame.
        inside = (times >= 0.0) & (times <= self.duration + 0.5 * self.clip.dt)
        clamped = np.clip(times, 0.0, self.duration)
        moving = np.where(inside, 1.0, 0.0)
        root = [curve(clamped) for curve in self._root]
        root[1], root[2] = root[1] * moving[:, None], root[2] * moving[:, None]
        turned, w, a = _rotations(*(curve(clamped) for curve in self._turns))
        w, a = w * moving[:, None, None], a * moving[:, None, None]
        return _carry(self.figure, times, root, turned, w, a)


def _rotations(s, s1, s2):
    """Unit quaternions with their angular velocities and accelerations, in the parent's axes."""
    size = np.linalg.norm(s, axis=-1, keepdims=True)
    q = s / size
    inward = (q * s1).sum(axis=-1, keepdims=True)  # |s|'
    q1 = (s1 - inward * q) / size
    inward2 = (q1 * s1).sum(axis=-1, keepdims=True) + (q * s2).sum(axis=-1, keepdims=True)
    q2 = (s2 - inward2 * q - 2.0 * inward * q1) / size
    back = quaternions.conjugate(q)
    spin = 2.0 * quaternions.product(q1, back)[..., 1:]
    return q, spin, 2.0 * quaternions.product(q2, back)[..., 1:]


def _carry(figure: Figure, times, root, local, w, a) -> Sample:
    """From the root outwards: poses, speeds and accelerations of all bones."""
    n, count = len(times), len(figure.bones)
    at, v, dv, spin, rate = (np.empty((n, count, 3)) for _ in range(5))
    turned = np.empty((n, count, 4))
    at[:, 0], v[:, 0], dv[:, 0] = root
    turned[:, 0], spin[:, 0], rate[:, 0] = local[:, 0], w[:, 0], a[:, 0]
    for k, p in enumerate(figure.parents[1:], 1):
        arm = quaternions.rotate(turned[:, p], figure.bones[k].offset)
        own = quaternions.rotate(turned[:, p], w[:, k])
        at[:, k] = at[:, p] + arm
        v[:, k] = v[:, p] + np.cross(spin[:, p], arm)
        dv[:, k] = dv[:, p] + _swung(spin[:, p], rate[:, p], arm)
        turned[:, k] = quaternions.product(turned[:, p], local[:, k])
        spin[:, k] = spin[:, p] + own
        rate[:, k] = (
            rate[:, p] + quaternions.rotate(turned[:, p], a[:, k]) + np.cross(spin[:, p], own)
        )
    arms = quaternions.rotate(turned, np.array([bone.centre for bone in figure.bones]))
    return Sample(
        times, at, turned, spin, rate, at + arms, v + np.cross(spin, arms),
        dv + _swung(spin, rate, arms), local[:, 1:], w[:, 1:], a[:, 1:], root[1], root[2],
    )  # fmt: skip


def _swung(spin, rate, arm):
    """Acceleration of a point at `arm` from one that does not accelerate."""
    return np.cross(rate, arm) + np.cross(spin, np.cross(spin, arm))
