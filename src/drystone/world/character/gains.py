"""Gains: how stiffly muscles hold a figure to its clip."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, flag, not_negative, of_kind, positive, shown, vector
from drystone.model.signatures import public
from drystone.world.character import quaternions
from drystone.world.character.figure import Figure

LEGS = ("thigh", "shank", "foot")


@public
@dataclass(frozen=True)
class Gains:
    """Feedback of a joint: torque = k (angle to the clip) + d (difference of speeds).

    frequency   of each joint with all that hangs on it, as a spring [rad/s]
    ratio       damping ratio; 1 returns without swinging over
    effort      adds to k and d as CLINE 5.7 does: their part that grows with the torque of the
                clip, so that a joint that works hard is stiff; [1/rad], k += effort |τ|
    joints      {name: (stiffness, damping)} of single joints [N m/rad], [N m s/rad]
    """

    frequency: float = 14.0
    ratio: float = 1.0
    effort: float = 0.0
    joints: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "frequency", positive("Gains: frequency", self.frequency, "rad/s"))
        put(self, "ratio", not_negative("Gains: ratio", self.ratio))
        put(self, "effort", not_negative("Gains: effort", self.effort))
        if not isinstance(self.joints, Mapping):
            raise InputError(f"Gains: joints is {shown(self.joints)}, must be {{name: (k, d)}}.")
        checked = {}
        for name, pair in self.joints.items():
            k, d = vector(f"Gains: joint {name}", pair, 2)
            if k < 0.0 or d < 0.0 or k + d == 0.0:
                raise InputError(
                    f"Gains: joint {name} has ({k:g}, {d:g}), must be a stiffness and a damping "
                    f">= 0, not both 0."
                )
            checked[name] = (k, d)
        put(self, "joints", checked)

    def of(self, figure: Figure, stands: bool) -> tuple[np.ndarray, np.ndarray]:
        """(joints,) stiffness and damping.

        stands   legs carry the rest of the body, which counts in place of what hangs on them
        """
        of_kind("Gains.of: figure", figure, Figure, "a Figure")
        stands = flag("Gains.of: stands", stands)
        for name in self.joints:
            if name not in figure.joints:
                raise InputError(
                    f"Gains: {figure.name} has no joint {name!r}. "
                    f"{did_you_mean(name, figure.joints)}"
                )
        inertia = hanging_inertia(figure, stands)
        k = inertia * self.frequency**2
        d = 2.0 * self.ratio * self.frequency * inertia
        for name, (stiffness, damping) in self.joints.items():
            j = figure.joints.index(name)
            k[j], d[j] = stiffness, damping
        return k, d


def hanging_inertia(figure: Figure, stands: bool) -> np.ndarray:
    """(joints,) largest moment about each joint of what hangs on it, in the zero pose [kg m²]."""
    at, count = _zero_pose(figure), len(figure.bones)
    found = np.linalg.eigvalsh(hanging_tensors(figure))[:, -1] if count > 1 else np.zeros(0)
    for j in range(1, count):
        if stands and figure.bones[j].role in LEGS:
            below = _below(figure, j)
            rest = [k for k in range(count) if k not in below]
            carried = np.linalg.eigvalsh(_tensor(figure, rest, at, at[j]))[-1]
            found[j - 1] = max(found[j - 1], carried)
    return found


def hanging_tensors(figure: Figure) -> np.ndarray:
    """(joints, 3, 3) inertia about each joint of all that hangs on it, in the zero pose [kg m²]."""
    at = _zero_pose(figure)
    parts = [_tensor(figure, _below(figure, j), at, at[j]) for j in range(1, len(at))]
    return np.reshape(parts, (-1, 3, 3))


def _zero_pose(figure: Figure) -> np.ndarray:
    at = np.zeros((len(figure.bones), 3))
    for k, p in enumerate(figure.parents[1:], 1):
        at[k] = at[p] + figure.bones[k].offset
    return at


def _below(figure: Figure, first: int) -> list[int]:
    kept = {first}
    for k in range(first + 1, len(figure.bones)):
        if int(figure.parents[k]) in kept:
            kept.add(k)
    return sorted(kept)


def _tensor(figure: Figure, bones: list[int], at: np.ndarray, about: np.ndarray) -> np.ndarray:
    total = np.zeros((3, 3))
    for k in bones:
        bone = figure.bones[k]
        arm = at[k] + bone.centre - about
        total += bone.inertia + bone.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return total


def swing_and_twist(rotations: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Swing of `axis` and twist about it, within a half revolution, of many rotations [rad]."""
    swung = quaternions.rotate(rotations, axis)
    swing = np.arccos(np.clip(swung @ axis, -1.0, 1.0))
    along = rotations[..., 1:] @ axis
    twist = 2.0 * np.arctan2(along, rotations[..., 0])
    return swing, (twist + np.pi) % (2.0 * np.pi) - np.pi


def spread(rotations: np.ndarray, axis: np.ndarray) -> tuple[float, float]:
    """Largest swing of `axis` and largest twist about it of many rotations [rad]."""
    swing, twist = swing_and_twist(rotations, axis)
    return float(swing.max()), float(np.abs(twist).max())
