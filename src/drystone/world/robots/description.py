"""What a robot is made of: links, joints, actuators. Checked when they are made."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import (
    choice,
    float_array,
    listed,
    not_negative,
    number,
    shown,
    text,
    things,
    vector,
    within,
)
from drystone.model.robot_arrays import JOINT_KINDS, RATES
from drystone.model.rotation import unit_quaternion
from drystone.model.signatures import public

LARGEST_MOMENT = 1e100  # of inertia [kg m²]; squares of larger ones are beyond floats
ACTUATOR_KINDS = ("torque", "velocity", "position")


@public
@dataclass(frozen=True, eq=False)
class LinkShape:
    """A shape on a link, for contact and for drawing.

    position, orientation   of the shape in the link's frame [m], (w, x, y, z)
    friction                Coulomb's coefficient
    restitution             part of the approach speed that comes back, 0 to 1
    rolling_friction        arm with which the normal force resists rolling, see Material [m]
    spinning_friction       likewise about the normal [m]
    collide                 False: it is drawn, and touches nothing
    """

    shape: Any
    position: ArrayLike = (0, 0, 0)
    orientation: ArrayLike = (1, 0, 0, 0)
    friction: float = 0.5
    collide: bool = True
    name: str = ""
    restitution: float = 0.0
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0

    def __post_init__(self) -> None:
        set_checked(
            self,
            position=vector("LinkShape: position", self.position),
            orientation=unit_quaternion("LinkShape: orientation", self.orientation),
            friction=not_negative("LinkShape: friction", self.friction),
            restitution=within("LinkShape: restitution", self.restitution, 0.0, 1.0),
            rolling_friction=not_negative("LinkShape: rolling_friction", self.rolling_friction),
            spinning_friction=not_negative("LinkShape: spinning_friction", self.spinning_friction),
        )


@public
@dataclass(frozen=True, eq=False)
class Link:
    """A rigid part of a robot.

    mass     [kg]; 0: it only carries others
    centre   of mass, in the link's frame [m]
    inertia  about the centre of mass, in the link's axes: three moments or 3x3 [kg m²]
    shapes   LinkShape, ...
    """

    name: str
    mass: float = 0.0
    centre: ArrayLike = (0, 0, 0)
    inertia: ArrayLike = (0, 0, 0)
    shapes: Sequence[LinkShape] = ()

    def __post_init__(self) -> None:
        who = f"link {text('Link: name', self.name)}"
        set_checked(
            self,
            mass=not_negative(f"{who}: mass", self.mass),
            centre=vector(f"{who}: centre", self.centre),
            inertia=_inertia(who, self.inertia),
            shapes=things(f"{who}: shapes", self.shapes, LinkShape),
        )


@public
@dataclass(frozen=True, eq=False)
class RobotJoint:
    """How a link hangs on its parent. The frame of the link is that of the joint when q = 0.

    kind         "revolute", "prismatic", "ball", "planar", "fixed" or "free"
    parent       name of a link; None: the fixed world
    child        name of the link that hangs on it
    position     of the joint in the parent's frame [m]
    orientation  likewise (w, x, y, z)
    axis         of a revolute or prismatic joint, in the joint's frame
    limits       (lower, upper) of a revolute or prismatic joint [rad], [m]
    damping      [N m s/rad], [N s/m]
    friction     dry friction [N m], [N]
    armature     inertia of the rotor as the joint sees it [kg m²], [kg]
    stiffness    of a spring at the joint, slack at `rest` [N m/rad], [N/m]
    mimic        (name of another joint, factor, offset): its coordinate follows that one
    """

    name: str
    kind: str
    child: str
    parent: str | None = None
    position: ArrayLike = (0, 0, 0)
    orientation: ArrayLike = (1, 0, 0, 0)
    axis: ArrayLike = (0, 0, 1)
    limits: tuple[float, float] | None = None
    damping: float = 0.0
    friction: float = 0.0
    armature: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: tuple[str, float, float] | None = None

    def __post_init__(self) -> None:
        who = f"joint {text('RobotJoint: name', self.name)}"
        axis = np.array(vector(f"{who}: axis", self.axis))
        size = float(np.sqrt(axis @ axis))
        if size == 0.0:
            raise InputError(f"{who}: axis is (0, 0, 0), must point somewhere.")
        set_checked(
            self,
            kind=choice(f"{who}: kind", self.kind, JOINT_KINDS),
            child=text(f"{who}: child", self.child),
            parent=None if self.parent is None else text(f"{who}: parent", self.parent),
            position=vector(f"{who}: position", self.position),
            orientation=unit_quaternion(f"{who}: orientation", self.orientation),
            axis=tuple((axis / size).tolist()),
            limits=self._limits(who),
            rest=number(f"{who}: rest", self.rest),
            mimic=self._mimic(who),
            **{
                name: not_negative(f"{who}: {name}", getattr(self, name))
                for name in ("damping", "friction", "armature", "stiffness")
            },
        )
        for name in ("limits", "stiffness", "mimic"):
            given = getattr(self, name)
            if given and given != (-inf, inf) and self.kind not in ("revolute", "prismatic"):
                raise InputError(f"{who}: a {self.kind} joint takes no {name}.")

    def _mimic(self, who: str) -> tuple[str, float, float] | None:
        if self.mimic is None:
            return None
        given = listed(f"{who}: mimic", self.mimic, "(joint, factor, offset)")
        if len(given) != 3:
            raise InputError(
                f"{who}: mimic is {shown(self.mimic)}, must be (joint, factor, offset)."
            )
        factor, offset = (number(f"{who}: mimic", value) for value in given[1:])
        return text(f"{who}: mimic", given[0]), factor, offset

    def _limits(self, who: str) -> tuple[float, float]:
        if self.limits is None:
            return (-inf, inf)
        given = float_array(f"{who}: limits", self.limits, "(lower, upper)")
        if given.shape != (2,):
            raise InputError(f"{who}: limits are {shown(self.limits)}, must be (lower, upper).")
        low, high = given.tolist()
        if not low <= high:
            raise InputError(f"{who}: limits are ({low:g}, {high:g}), the lower must come first.")
        return (low, high)

    @property
    def rates(self) -> int:
        """Degrees of freedom."""
        return RATES[JOINT_KINDS.index(self.kind)]


@public
@dataclass(frozen=True, eq=False)
class Actuator:
    """What drives a joint of one degree of freedom.

    kind       "torque": the command is the force; "velocity": a motor that holds the commanded
               rate; "position": a servo that pulls towards the commanded coordinate
    gear       force of the joint for a command of 1 ("torque")
    max_force  [N m], [N]; None: as strong as needed
    stiffness, damping   of a servo [N m/rad], [N m s/rad]
    """

    name: str
    joint: str
    kind: str = "torque"
    gear: float = 1.0
    max_force: float | None = None
    stiffness: float = 0.0
    damping: float = 0.0

    def __post_init__(self) -> None:
        who = f"actuator {text('Actuator: name', self.name)}"
        set_checked(
            self,
            kind=choice(f"{who}: kind", self.kind, ACTUATOR_KINDS),
            gear=number(f"{who}: gear", self.gear),
            stiffness=not_negative(f"{who}: stiffness", self.stiffness),
            damping=not_negative(f"{who}: damping", self.damping),
        )
        if self.max_force is not None:
            set_checked(self, max_force=not_negative(f"{who}: max_force", self.max_force))
        if self.kind == "position" and self.stiffness == 0.0:
            raise InputError(f"{who}: a position servo needs a stiffness > 0.")


@public
@dataclass(frozen=True, eq=False)
class Loop:
    """A point of one link held at a point of another: what closes a loop.

    point_a, point_b   in the frames of the links [m]; a link None is the fixed world
    """

    name: str
    link_a: str | None
    link_b: str | None
    point_a: ArrayLike = (0, 0, 0)
    point_b: ArrayLike = (0, 0, 0)


def set_checked(owner, **values) -> None:
    """Write checked values into a frozen dataclass."""
    for name, value in values.items():
        object.__setattr__(owner, name, value)


def _inertia(who: str, given) -> np.ndarray:
    value = float_array(f"{who}: inertia", given)
    if value.shape == (3,):
        value = np.diag(value)
    if value.shape != (3, 3) or not np.isfinite(value).all():
        raise InputError(f"{who}: inertia must be three moments or a 3x3 matrix of numbers.")
    scale = float(np.abs(value).max())
    if scale > LARGEST_MOMENT:
        raise InputError(
            f"{who}: inertia is {scale:.3g} kg m², must be at most {LARGEST_MOMENT:g}."
        )
    if not np.allclose(value, value.T, rtol=0.0, atol=1e-6 * scale):
        raise InputError(f"{who}: inertia is not symmetric.")
    value = 0.5 * (value + value.T)
    moments = np.linalg.eigvalsh(value)
    if moments[0] < -1e-9 * scale:
        raise InputError(f"{who}: inertia has a negative moment, {moments[0]:.3g} kg m².")
    value.flags.writeable = False
    return value
