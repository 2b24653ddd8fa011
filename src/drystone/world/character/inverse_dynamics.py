"""Inverse dynamics: the muscle torques that a figure needs to move as its clip does (CLINE 5.1.1).

Two ways, each a check of the other. With the multipliers of constraints, in maximal coordinates
(CLINE 5.3):

    (Jᵀ Hᵀ) (λ, τ) = M v̇ - f_ext

J are the rows that hold the joints, H those of the torques at the joints (5.5); six more columns
push the root: what a real figure would not have. And by the recursive Newton-Euler algorithm on the
same figure in reduced coordinates.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import choice, flag, not_negative, number, of_kind, positive, vector
from drystone.model.signatures import public
from drystone.world.character import quaternions
from drystone.world.character.clips.clip import Clip
from drystone.world.character.figure import Figure
from drystone.world.character.ground_forces import ground_forces
from drystone.world.character.motion import Motion, Sample
from drystone.world.character.torques import Torques

METHODS = ("multipliers", "newton-euler")
MOST_TIMES = 2_000_000  # samples of one clip: hours at any rate that bones need
CHUNK = 64  # samples whose matrices are factored at once: 6 MB of them


@public
def inverse_dynamics(
    figure: Figure,
    clip: Clip | Motion,
    rate: float = 240.0,
    ground: bool = True,
    friction: float = 0.8,
    gravity: ArrayLike = (0, 0, -9.81),
    method: str = "multipliers",
    phase: float = 0.0,
) -> Torques:
    """The torques at the joints of `figure` in a clip of its skeleton, `rate` times a second.

    ground    whether it may push against the ground at figure.ground, with the soles of its feet
    friction  of the soles, the exact cone
    method    "multipliers": constraint equations in maximal coordinates; "newton-euler": reduced
    phase     of the first sample, in intervals: 0.5 samples the middles of steps
    """
    motion = clip if isinstance(clip, Motion) else Motion(figure, clip)
    of_kind("inverse_dynamics: figure", figure, Figure, "a Figure")
    rate = positive("inverse_dynamics: rate", rate, "Hz")
    friction = not_negative("inverse_dynamics: friction", friction)
    phase = number("inverse_dynamics: phase", phase)
    choice("inverse_dynamics: method", method, METHODS)
    if motion.duration * rate > MOST_TIMES:
        raise InputError(f"inverse_dynamics: rate is {rate:g} Hz, which is too many samples.")
    steps = max(round(motion.duration * rate), 1)  # as many as a world makes in the clip
    sample = motion.at((np.arange(steps + (phase == 0.0)) + phase) / rate)
    g = np.array(vector("gravity", gravity))
    flag("inverse_dynamics: ground", ground)
    touch = _touch(figure, sample, g, friction) if ground else _no_touch(sample)
    solve = by_multipliers if method == "multipliers" else by_newton_euler
    torque, joint_force, root = solve(figure, sample, g, touch)
    return Torques(
        names=figure.joints, feet=tuple(figure.names[k] for k in figure.feet),
        times=sample.times, torque=torque, joint_force=joint_force,
        turning=sample.turning, root_force=root,
        ground_force=touch.by_foot(figure), centre_of_pressure=touch.pressure(figure),
        mass=figure.mass, friction=friction, gravity=g,
    )  # fmt: skip


def holding(
    figure: Figure, motion: Motion, ground: bool, friction: float, gravity
) -> tuple[np.ndarray, np.ndarray]:
    """Torques (joints, 3) and residual force (6,) that hold the last pose of a clip still."""
    sample, g = motion.at(motion.duration + motion.clip.dt), np.array(gravity, np.float64)
    touch = _touch(figure, sample, g, friction) if ground else _no_touch(sample)
    torque, _, root = by_multipliers(figure, sample, g, touch)
    return torque[0], root[0]


class Touch(NamedTuple):
    """Forces of the ground on the soles."""

    bone: np.ndarray  # (m,) of each point
    point: np.ndarray  # (n, m, 3) [m]
    force: np.ndarray  # (n, m, 3) [N]

    def by_foot(self, figure: Figure) -> np.ndarray:
        """(n, feet, 3) [N]"""
        parts = [self.force[:, self.bone == k].sum(axis=1) for k in figure.feet]
        return np.stack(parts, axis=1) if parts else np.zeros((len(self.point), 0, 3))

    def pressure(self, figure: Figure) -> np.ndarray:
        """(n, feet, 3) centre of pressure of each foot [m]; NaN where it carries nothing."""
        parts = []
        for k in figure.feet:
            own = self.bone == k
            up = self.force[:, own, 2:]
            total = up.sum(axis=1)
            with np.errstate(invalid="ignore", divide="ignore"):
                parts.append(
                    np.where(total > 0.0, (up * self.point[:, own]).sum(axis=1) / total, np.nan)
                )
        return np.stack(parts, axis=1) if parts else np.zeros((len(self.point), 0, 3))


def _no_touch(sample: Sample) -> Touch:
    n = len(sample.times)
    return Touch(np.zeros(0, np.int64), np.zeros((n, 0, 3)), np.zeros((n, 0, 3)))


def _touch(figure: Figure, sample: Sample, g: np.ndarray, friction: float) -> Touch:
    bone = np.repeat(figure.feet, [len(figure.bones[k].sole) for k in figure.feet]).astype(np.int64)
    if not len(bone):
        return _no_touch(sample)
    local = np.concatenate([figure.bones[k].sole for k in figure.feet])
    arms = quaternions.rotate(sample.rotation[:, bone], local)
    point = sample.position[:, bone] + arms
    moved = sample.velocity[:, bone] + np.cross(
        sample.spin[:, bone], point - sample.centre[:, bone]
    )
    mass = np.array([b.mass for b in figure.bones])
    about = np.einsum("b,nbk->nk", mass, sample.centre) / mass.sum()
    force, torque = needed(figure, sample, g)
    arm = sample.centre - about[:, None]
    wrench = np.concatenate(
        (force.sum(axis=1), (torque + np.cross(arm, force)).sum(axis=1)), axis=1
    )
    weight = float(mass.sum() * max(np.linalg.norm(g), 1e-9))
    height = max(float(np.ptp(sample.position[0, :, 2])), 1e-3)
    forces, _ = ground_forces(point, moved, wrench, about, friction, figure.ground, weight, height)
    return Touch(bone, point, forces)


def needed(figure: Figure, sample: Sample, g: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(n, nb, 3) force and torque about its centre of mass that each bone needs beyond gravity."""
    mass = np.array([bone.mass for bone in figure.bones])
    inertia = np.array([bone.inertia for bone in figure.bones])
    back = quaternions.conjugate(sample.rotation)
    spin = quaternions.rotate(back, sample.spin)
    rate = quaternions.rotate(back, sample.spin_rate)
    held = np.einsum("bij,nbj->nbi", inertia, spin)
    torque = np.einsum("bij,nbj->nbi", inertia, rate) + np.cross(spin, held)
    return mass[:, None] * (sample.acceleration - g), quaternions.rotate(sample.rotation, torque)


def by_multipliers(figure: Figure, sample: Sample, g: np.ndarray, touch: Touch):
    """Torques, forces of the joints, and the residual force of the root (see Torques).

    One square system of 6 nb rows a sample: three multipliers λ and three τ a joint, and six for
    the root.
    """
    n, count = sample.position.shape[:2]
    force, torque = needed(figure, sample, g)
    for k, b in enumerate(touch.bone):
        arm = touch.point[:, k] - sample.centre[:, b]
        force[:, b] -= touch.force[:, k]
        torque[:, b] -= np.cross(arm, touch.force[:, k])
    wanted = np.concatenate((force, torque), axis=-1).reshape(n, 6 * count)
    found = np.empty((n, 6 * count))
    for first in range(0, n, CHUNK):
        part = slice(first, first + CHUNK)
        matrix = _rows(figure, sample, part).transpose(0, 2, 1)
        found[part] = np.linalg.solve(matrix, wanted[part][..., None])[..., 0]
    of_joints = found[:, 6:].reshape(n, count - 1, 6)
    return of_joints[..., 3:], of_joints[..., :3], found[:, :6]


def _rows(figure: Figure, sample: Sample, part: slice) -> np.ndarray:
    """(m, 6 nb, 6 nb) rows of the root, then of each joint J (λ, world axes) and H (τ, in the
    parent's axes): what a unit of each does to every bone."""
    at, centre = sample.position[part], sample.centre[part]
    axes = _axes(sample.rotation[part])
    m, count = at.shape[:2]
    rows = np.zeros((m, 6 * count, 6 * count))
    rows[:, :3, :3] = axes[:, 0].transpose(0, 2, 1)
    rows[:, 3:6, 3:6] = axes[:, 0].transpose(0, 2, 1)
    for k, p in enumerate(figure.parents[1:], 1):
        j = 6 * k
        for bone, sign in ((k, 1.0), (int(p), -1.0)):
            b, arm = 6 * bone, at[:, k] - centre[:, bone]
            rows[:, j : j + 3, b : b + 3] = sign * np.eye(3)
            for axis in range(3):
                unit = np.eye(3)[axis]
                rows[:, j + axis, b + 3 : b + 6] = sign * np.cross(arm, unit)
            rows[:, j + 3 : j + 6, b + 3 : b + 6] = sign * axes[:, p].transpose(0, 2, 1)
    return rows


def _axes(q: np.ndarray) -> np.ndarray:
    """(..., 3, 3) rotation matrices."""
    return np.stack([quaternions.rotate(q, np.eye(3)[k]) for k in range(3)], axis=-1)


def by_newton_euler(figure: Figure, sample: Sample, g: np.ndarray, touch: Touch):
    """The same through reduced coordinates: ds.Robot, and Jacobians for the ground."""
    robot = figure.robot()
    n, count = sample.position.shape[:2]
    back = quaternions.conjugate(sample.turned)
    root_back = quaternions.conjugate(sample.rotation[:, 0])
    q = np.concatenate(
        (sample.position[:, 0], sample.rotation[:, 0], sample.turned.reshape(n, -1)), axis=1
    )
    qd = np.concatenate(
        (sample.root_velocity, quaternions.rotate(root_back, sample.spin[:, 0]),
         quaternions.rotate(back, sample.turning).reshape(n, -1)), axis=1,
    )  # fmt: skip
    qdd = np.concatenate(
        (sample.root_acceleration, quaternions.rotate(root_back, sample.spin_rate[:, 0]),
         quaternions.rotate(back, sample.turning_rate).reshape(n, -1)), axis=1,
    )  # fmt: skip
    columns = np.concatenate(
        [np.arange(6 * 0, 6)] + [_rates(robot, name) for name in figure.joints]
    )
    places = np.concatenate([np.arange(7)] + [_places(robot, name) for name in figure.joints])
    tau = np.empty((n, robot.nv))
    for i in range(n):
        at, rate, faster = np.empty(robot.nq), np.empty(robot.nv), np.empty(robot.nv)
        at[places], rate[columns], faster[columns] = q[i], qd[i], qdd[i]
        tau[i] = robot.inverse_dynamics(at, rate, faster, g)
        for k, b in enumerate(touch.bone):
            if touch.force[i, k].any():
                away = touch.point[i, k] - sample.position[i, b]
                local = quaternions.rotate(quaternions.conjugate(sample.rotation[i, b]), away)
                jacobian = robot.jacobian(at, figure.names[b], local)
                tau[i] -= jacobian[:3].T @ touch.force[i, k]
    tau = tau[:, columns]
    torque = quaternions.rotate(sample.turned, tau[:, 6:].reshape(n, count - 1, 3))
    return torque, _no_forces(n, count - 1), _root_force(figure, sample, tau[:, :6])


def _rates(robot, joint: str) -> np.ndarray:
    part = robot.rate_index(joint)
    return np.arange(part.start, part.stop)


def _places(robot, joint: str) -> np.ndarray:
    part = robot.index(joint)
    return np.arange(part.start, part.stop)


def _no_forces(n: int, joints: int) -> np.ndarray:
    """Reduced coordinates know no forces that hold the joints."""
    return np.full((n, joints, 3), np.nan)


def _root_force(figure: Figure, sample: Sample, tau: np.ndarray) -> np.ndarray:
    """From the rates of a free joint (force in world axes, torque in the root's, about its joint)
    to force and torque about the root's centre of mass, in its axes."""
    force = quaternions.rotate(quaternions.conjugate(sample.rotation[:, 0]), tau[:, :3])
    torque = tau[:, 3:] - np.cross(figure.bones[0].centre, force)
    return np.concatenate((force, torque), axis=1)
