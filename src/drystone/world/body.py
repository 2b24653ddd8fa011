"""Body and FixedBody: handles of the things in a world, which the user reads and sets."""

from math import atan2
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.jit.vec import mul_t, rotation_matrix
from drystone.model.checks import frozen, positive
from drystone.model.frames import to_inside, to_outside
from drystone.model.materials import Material
from drystone.model.settable import check_settable
from drystone.model.signatures import public
from drystone.shapes.part import Shape
from drystone.world.edits import single_body
from drystone.world.inertial_frame import MassFrame

if TYPE_CHECKING:
    from drystone.world.world import World


class _Thing:
    """What bodies and fixed things have in common: what they are, not where."""

    __slots__ = (
        "_world", "_number", "_name", "_shape", "_material", "_group", "_mask", "_surface", "data",
    )  # fmt: skip

    def __init__(
        self,
        world: "World",
        number: int,
        name: str,
        shape: Shape,
        material: Material,
        group: int,
        mask: int,
    ) -> None:
        self._world, self._number, self._name = world, number, name
        self._shape, self._material = shape, material
        self._group, self._mask = group, mask
        self._surface: tuple | None = None  # None: it was never set
        self.data: Any = None  # of the user; neither saved nor recorded

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_":
            check_settable(self, name)
        object.__setattr__(self, name, value)

    @property
    def number(self) -> int:
        """Unique in its world, never used again."""
        return self._number

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def material(self) -> Material:
        """Can be changed while the world runs; the mass stays."""
        return self._material

    @material.setter
    def material(self, value: Material) -> None:
        self._owner()
        single_body.set_material(self, value)

    @property
    def group(self) -> int:
        """Bits: what it is; can be changed while the world runs."""
        return self._group

    @group.setter
    def group(self, value: int) -> None:
        self._owner()
        single_body.set_bits(self, "group", value)

    @property
    def mask(self) -> int:
        """Bits: what it touches; can be changed while the world runs."""
        return self._mask

    @mask.setter
    def mask(self, value: int) -> None:
        self._owner()
        single_body.set_bits(self, "mask", value)

    @property
    def surface_velocity(self) -> np.ndarray:
        """How its surface moves on it, as that of a conveyor belt, in the axes of the shape [m/s].

        The part along the surface counts. Contacts stick to the moving surface, or slide on it; can
        be changed while the world runs.
        """
        return frozen(self._surface or (0.0, 0.0, 0.0))

    @surface_velocity.setter
    def surface_velocity(self, value: ArrayLike) -> None:
        self._owner()
        single_body.set_surface(self, value)

    def _owner(self) -> "World":
        """The world of a body or fixed thing that was not removed."""
        if self._world is None:
            raise InputError(
                f"{self._name}: this body was removed from its world and cannot be used any more."
            )
        return self._world


@public
class FixedBody(_Thing):
    """A part of the fixed world, made by `World.add_fixed`. It never moves."""

    __slots__ = ("_pose",)

    def __init__(
        self,
        world: "World",
        number: int,
        name: str,
        shape: Shape,
        material: Material,
        group: int,
        mask: int,
        pose: tuple,
    ) -> None:
        super().__init__(world, number, name, shape, material, group, mask)
        self._pose = pose  # position and orientation of the shape's frame

    @property
    def is_fixed(self) -> bool:
        return True

    @property
    def name(self) -> str:
        return self._name

    @property
    def position(self) -> np.ndarray:
        return frozen(self._pose[0])

    @property
    def orientation(self) -> np.ndarray:
        return frozen(self._pose[1])

    def __repr__(self) -> str:
        return f"<FixedBody {self._name!r}: {self._shape!r}>"


class Start:
    """Where a body is and how it moves while it is not yet in the arrays."""

    __slots__ = ("position", "orientation", "velocity", "spin", "force", "torque", "asleep")

    def __init__(self, position: tuple, orientation: tuple, velocity: tuple, spin: tuple) -> None:
        self.position, self.orientation = position, orientation
        self.velocity, self.spin = velocity, spin
        self.force = self.torque = (0.0, 0.0, 0.0)
        self.asleep = False


@public
class Body(_Thing):
    """A moving body, made by `World.add_body`. World axes, SI units.

    position, orientation   pose of the frame in which the shape was given [m], (w, x, y, z)
    centre                  centre of mass [m]
    velocity, spin          of the centre of mass [m/s], angular [rad/s]
    force, torque           constant push given by the user [N], [N m], about the centre of mass
    mass, inertia           [kg]; 3x3 about the centre of mass in the shape's axes [kg m²]
    angle                   in two dimensions: of the orientation, about y [rad]
    material, group, mask   what it is made of, what it is, what it touches
    surface_velocity        of its surface on it, as of a conveyor, in the shape's axes [m/s]
    data                    whatever you like to keep with it; neither saved nor recorded

    All can be set; setting wakes the body and what touches it. Arrays are read-only copies.
    """

    __slots__ = ("_row", "_kinematic", "_frame", "_start")

    def __init__(
        self,
        world: "World",
        number: int,
        name: str,
        shape: Shape,
        material: Material,
        kinematic: bool,
        group: int,
        mask: int,
        frame: MassFrame,
        start: Start,
    ) -> None:
        super().__init__(world, number, name, shape, material, group, mask)
        self._kinematic, self._frame = kinematic, frame
        self._start: Start | None = start  # None once the arrays hold the body
        self._row = -1  # its row in the arrays

    # What it is

    @property
    def is_fixed(self) -> bool:
        return False

    @property
    def kinematic(self) -> bool:
        return self._kinematic

    @property
    def name(self) -> str:
        return self._name

    @name.setter
    def name(self, value: str) -> None:
        self._owner()
        single_body.rename(self, value)

    @property
    def index(self) -> int:
        """Its place in `world.bodies`, and in the rows of the world's arrays."""
        return self._owner()._index_of(self)

    @property
    def mass(self) -> float:
        return self._frame.mass

    @mass.setter
    def mass(self, value: float) -> None:
        self._owner()
        single_body.set_mass(self, positive(f"{self._name}: mass", value, "kg"))

    @property
    def inertia(self) -> np.ndarray:
        frame = self._frame
        axes = np.array(rotation_matrix(*frame.principal_rotation)).reshape(3, 3)
        return frozen((axes * frame.inertia) @ axes.T)

    @inertia.setter
    def inertia(self, value: ArrayLike) -> None:
        self._owner()
        single_body.set_inertia(self, value)

    # Where it is and how it moves

    @property
    def position(self) -> np.ndarray:
        return frozen(self._pose()[0])

    @position.setter
    def position(self, value: ArrayLike) -> None:
        value = self._owner()._space.vector(f"{self._name}: position", value)
        self._place(value, self._pose()[1], "position", value)

    @property
    def orientation(self) -> np.ndarray:
        return frozen(self._pose()[1])

    @orientation.setter
    def orientation(self, value: ArrayLike) -> None:
        value = self._owner()._space.quaternion(self._name, value, None)
        self._place(self._pose()[0], value, "orientation", value)

    @property
    def angle(self) -> float:
        """In two dimensions: of its rotation about y, from -π to π [rad]."""
        if self._owner().dim != 2:
            raise InputError(f"{self._name}: angle is there with dim=2; read orientation.")
        w, _, y, _ = self._pose()[1]
        return 2.0 * (atan2(y, w) if w >= 0.0 else atan2(-y, -w))

    @angle.setter
    def angle(self, value: float) -> None:
        self.orientation = self._owner()._space.quaternion(self._name, None, value)

    @property
    def centre(self) -> np.ndarray:
        world = self._owner()
        if self._start is None:
            return frozen(world._state.position[self._row] + world._origin)
        start, frame = self._start, self._frame
        nowhere = (0.0, 0.0, 0.0)
        centre, _ = to_inside(
            start.position, start.orientation, frame.offset, frame.principal_rotation, nowhere
        )
        return frozen(centre)

    @centre.setter
    def centre(self, value: ArrayLike) -> None:
        given = self._owner()._space.vector(f"{self._name}: centre", value)
        here, (position, orientation) = self.centre, self._pose()
        moved = tuple(p + (v - c) for p, v, c in zip(position, given, here.tolist(), strict=True))
        self._place(moved, orientation, "position", moved)

    @property
    def velocity(self) -> np.ndarray:
        return self._read("velocity", "twist", 0)

    @velocity.setter
    def velocity(self, value: ArrayLike) -> None:
        self._write("velocity", "twist", 0, value)

    @property
    def spin(self) -> np.ndarray:
        return self._read("spin", "twist", 3)

    @spin.setter
    def spin(self, value: ArrayLike) -> None:
        self._write("spin", "twist", 3, value)

    @property
    def force(self) -> np.ndarray:
        return self._read("force", "force", 0)

    @force.setter
    def force(self, value: ArrayLike) -> None:
        self._write("force", "force", 0, value)

    @property
    def torque(self) -> np.ndarray:
        return self._read("torque", "force", 3)

    @torque.setter
    def torque(self, value: ArrayLike) -> None:
        self._write("torque", "force", 3, value)

    def push(self, impulse: ArrayLike, at: ArrayLike | None = None) -> None:
        """Strike the body with an impulse [N s], at a point [m] or at its centre of mass.

        It changes velocity and spin at once. What joints hold feels the rest in the next step.
        """
        single_body.push(self, impulse, at)

    def force_at(self, force: ArrayLike, at: ArrayLike) -> None:
        """Set force and torque to those of a force [N] that acts at a point [m] now.

        They stay until they are set anew: call it before every step if the point moves along.
        """
        single_body.force_at(self, force, at)

    @property
    def asleep(self) -> bool:
        state = self._owner()._state
        return self._start.asleep if self._start else bool(state.asleep[self._row])

    @asleep.setter
    def asleep(self, value: bool) -> None:
        self._owner()
        single_body.set_asleep(self, value)

    @property
    def kinetic_energy(self) -> float:
        """Of translation and rotation [J]; zero for a kinematic body, which no push can stop."""
        if self._kinematic:
            return 0.0
        frame, (_, q) = self._frame, self._pose()
        velocity, spin = self.velocity, tuple(self.spin.tolist())
        spin = mul_t(rotation_matrix(*frame.principal_rotation), mul_t(rotation_matrix(*q), spin))
        rotating = sum(i * w * w for i, w in zip(frame.inertia, spin, strict=True))
        return 0.5 * (frame.mass * float(velocity @ velocity) + rotating)

    def __repr__(self) -> str:
        if self._world is None:
            return f"<Body {self._name!r}, removed>"
        x, y, z = self._pose()[0]
        return f"<Body {self._name!r}: {self._shape!r} at ({x:.4g}, {y:.4g}, {z:.4g})>"

    # Inside

    def _pose(self) -> tuple:
        """Position and orientation of the shape's frame, as tuples."""
        world = self._owner()
        if self._start is not None:
            return self._start.position, self._start.orientation
        state, row, frame = world._state, self._row, self._frame
        centre = tuple(state.position[row].tolist())
        rotation = tuple(state.rotation[row].tolist())
        return to_outside(centre, rotation, frame.offset, frame.principal_rotation, world._origin)

    def _as_start(self) -> Start:
        """Where it is and how it moves, as if given anew."""
        if self._start is not None:
            return self._start
        twist, force = self._world._state.twist[self._row], self._world._state.force[self._row]
        position, orientation = self._pose()
        velocity, spin = tuple(twist[:3].tolist()), tuple(twist[3:].tolist())
        start = Start(position, orientation, velocity, spin)
        start.force, start.torque = tuple(force[:3].tolist()), tuple(force[3:].tolist())
        return start

    def _place(self, position, orientation, field, value):
        world = self._owner()
        single_body.refuse_link(self, field)
        single_body.note_set(self, field, value)
        if self._start is not None:
            self._start.position, self._start.orientation = position, orientation
            return
        frame, row = self._frame, self._row
        at, rotation = to_inside(
            position, orientation, frame.offset, frame.principal_rotation, world._origin
        )
        world._state.position[row] = at
        if field == "orientation":
            world._state.rotation[row] = rotation
        single_body.moved(self)

    def _read(self, field, array, first) -> np.ndarray:
        world = self._owner()
        if self._start is not None:
            return frozen(getattr(self._start, field))
        return frozen(getattr(world._state, array)[self._row, first : first + 3])

    def _write(self, field, array, first, value):
        world = self._owner()
        check = world._space.spin if first == 3 else world._space.vector
        value = check(f"{self._name}: {field}", value)
        if array == "twist":
            single_body.refuse_link(self, field)
        single_body.note_set(self, field, value)
        if self._start is not None:
            setattr(self._start, field, value)
            return
        getattr(world._state, array)[self._row, first : first + 3] = value
        single_body.moved(self)
