"""Figure: rigid bodies for the bones of a skeleton, masses, shapes, ranges (CLINE Fig. 5.1).

Bones hang on each other by ball joints. What of a skeleton carries no mass of its own, or is not
captured, is merged: the 31 joints of a clip of the CMU database become 17 bodies with the 54
degrees of freedom of CLINE's figure, six of the root and three at each of 16 joints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import (
    choice,
    listed,
    not_negative,
    number,
    of_kind,
    point_array,
    positive,
    text,
    things,
    vector,
)
from drystone.model.signatures import public
from drystone.shapes import Compound
from drystone.world.character.clips.clip import Clip
from drystone.world.robots.description import Link, RobotJoint
from drystone.world.robots.robot import Robot


@public
@dataclass(frozen=True, eq=False)
class Bone:
    """A rigid part of a figure, in the axes of its joint; the joint is its origin.

    parent   name of the bone that it hangs on; None for the root
    offset   of its joint in the parent's axes [m]
    mass     [kg]
    centre   of mass [m]
    inertia  about the centre of mass [kg m²]: three moments or 3x3
    members  (shape, position, orientation), ... for contact and for drawing
    role     "thigh", "hand", ... ; "" if it is nothing that the tables know
    range    (swing, twist) of its joint [rad]: the swing of its tip from where it is in the zero
             pose, and the rotation about it, either way; None: it turns freely
    sole     (4, 3) corners of what stands on the ground, of a foot [m]
    """

    name: str
    mass: float
    centre: ArrayLike = (0, 0, 0)
    inertia: ArrayLike = (0, 0, 0)
    parent: str | None = None
    offset: ArrayLike = (0, 0, 0)
    members: Sequence[Any] = ()
    role: str = ""
    range: tuple[float, float] | None = None
    sole: ArrayLike | None = None
    link: Link = field(init=False, repr=False)

    def __post_init__(self) -> None:
        who = f"bone {text('Bone: name', self.name)}"
        put = object.__setattr__
        link = Link(self.name, positive(f"{who}: mass", self.mass, "kg"), self.centre, self.inertia)
        put(self, "link", link)
        put(self, "mass", link.mass)
        put(self, "centre", np.array(link.centre))
        put(self, "inertia", np.array(link.inertia))
        put(self, "offset", np.array(vector(f"{who}: offset", self.offset)))
        put(self, "members", tuple(listed(f"{who}: members", self.members)))
        if self.range is not None:
            swing, twist = vector(f"{who}: range", self.range, 2)
            put(
                self,
                "range",
                (not_negative(f"{who}: swing", swing), not_negative(f"{who}: twist", twist)),
            )
        if self.sole is not None:
            put(self, "sole", point_array(f"{who}: sole", self.sole, 3))

    @property
    def shape(self) -> Compound:
        """All members in one."""
        if not self.members:
            raise InputError(f"bone {self.name}: has no members, so it has no shape.")
        return Compound(*self.members)


@public
class Figure:
    """A tree of bones. Make one with `Figure.from_clip`, or of bones of your own.

    bones   parents before their children, the root first
    ground  the height of the ground that it stands on in its clip [m]
    """

    def __init__(self, bones: Sequence[Bone], name: str = "figure", ground: float = 0.0) -> None:
        self.name, self.ground = text("Figure: name", name), number("Figure: ground", ground)
        self.bones = things(f"{name}: bones", bones, Bone)
        row_of: dict[str, int] = {}
        parents = []
        for bone in self.bones:
            if bone.name in row_of:
                raise InputError(f"{name}: two bones are called {bone.name!r}.")
            if (bone.parent is None) != (not row_of):
                raise InputError(
                    f"{name}: bone {bone.name}: the first bone, and no other, has no parent."
                )
            if bone.parent is not None and bone.parent not in row_of:
                raise InputError(
                    f"{name}: bone {bone.name} hangs on {bone.parent!r}, which does not come "
                    f"before it."
                )
            parents.append(-1 if bone.parent is None else row_of[bone.parent])
            row_of[bone.name] = len(row_of)
        if not row_of:
            raise InputError(f"{name}: has no bones.")
        self._number = row_of
        self.parents = np.array(parents, np.int64)
        self.parents.flags.writeable = False

    @staticmethod
    def from_clip(
        clip: Clip,
        mass: float = 75.0,
        height: float | None = None,
        merge: Sequence[str] | None = None,
        table: str = "de Leva men",
        ground: float | None = None,
        roles: Mapping[str, str] | None = None,
    ) -> "Figure":
        """A figure for the skeleton of a clip.

        mass     of the whole person, also where the clip is a part of one [kg]
        height   to which the figure is scaled; scale its clip by the same, see stature() [m]
        merge    joints that become part of their parents; None: fingers, toes, clavicles, all but
                 one joint of the neck, and what never moves
        table    of masses: "de Leva men", "de Leva women" or "winter" (segments.py)
        ground   its height in the clip [m]; None: zero, or below the ankles if these are elsewhere
        roles    {joint: role} where neither names nor places in the tree tell them: "thigh",
                 "foot", "hand", ... (roles.py)
        """
        from drystone.world.character.from_clip import figure_from_clip

        of_kind("from_clip: clip", clip, Clip, "a Clip")
        return figure_from_clip(clip, mass, height, merge, table, ground, roles)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the bones."""
        return tuple(self._number)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints: of the bones but the root."""
        return self.names[1:]

    @property
    def mass(self) -> float:
        """[kg]"""
        return sum(bone.mass for bone in self.bones)

    @property
    def degrees_of_freedom(self) -> int:
        """Six of the root and three of each joint."""
        return 6 + 3 * len(self.joints)

    @property
    def feet(self) -> tuple[int, ...]:
        """Numbers of the bones that have a sole."""
        return tuple(k for k, bone in enumerate(self.bones) if bone.sole is not None)

    def index(self, bone: str) -> int:
        """Number of a bone."""
        return self._number[choice(f"{self.name}: bone", bone, self._number)]

    def bone(self, name: str) -> Bone:
        return self.bones[self.index(name)]

    def robot(self) -> Robot:
        """The same figure in reduced coordinates, its root free."""
        joints = [
            RobotJoint(
                bone.name, "free" if k == 0 else "ball", bone.name, bone.parent,
                (0, 0, 0) if k == 0 else bone.offset,
            )
            for k, bone in enumerate(self.bones)
        ]  # fmt: skip
        return Robot([bone.link for bone in self.bones], joints, name=self.name)

    def __repr__(self) -> str:
        return (
            f"<Figure {self.name!r}: {len(self.bones)} bones, {self.degrees_of_freedom} degrees of "
            f"freedom, {self.mass:.4g} kg>"
        )
