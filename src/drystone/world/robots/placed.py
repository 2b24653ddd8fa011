"""A robot in a world: its coordinates, its commands, and its links as bodies of the world."""

from copy import copy, deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.reduced import kinematics
from drystone.constraints.reduced.closing import gap_of, place_bodies
from drystone.errors import InputError
from drystone.model.checks import float_array
from drystone.model.robot_scratch import new_robot_work
from drystone.model.settable import Settable
from drystone.model.signatures import public
from drystone.world import build
from drystone.world.body import Body
from drystone.world.robots.robot import Robot


@public
class PlacedRobot(Settable):
    """A robot in a world, made by `World.add_robot`.

    q, qd     coordinates and rates; can be set, which places all links
    tau       (nv,) forces at the joints, constant until set anew [N m], [N]
    control   (actuators,) commands: torque, rate or coordinate, as each actuator's kind says
    """

    def __init__(self, world: Any, robot: Robot, bodies: dict[str, Body], base: np.ndarray) -> None:
        self._world, self._robot, self._bodies = world, robot, bodies
        self._base = base
        self._standing = stand(robot, base)
        # Its part of the arrays of State, and what stands there until they are made.
        self._slices: dict[str, slice] = {}
        self._start = {
            "robot_q": robot.zero(), "robot_v": np.zeros(robot.nv), "robot_tau": np.zeros(robot.nv),
            "robot_control": np.zeros(len(robot.actuators)),
        }  # fmt: skip
        self._fresh = False  # its bodies are to be placed

    def __deepcopy__(self, memo: dict) -> "PlacedRobot":
        """That of a copied world: the description is shared, which nobody can change."""
        bodies = {name: deepcopy(body, memo) for name, body in self._bodies.items()}
        new = PlacedRobot(memo[id(self._world)], self._robot, bodies, self._base.copy())
        new._slices, new._start = dict(self._slices), deepcopy(self._start)
        return new

    # What the user reads and sets

    @property
    def robot(self) -> Robot:
        """Its description, standing where this robot stands."""
        return self._standing

    @property
    def name(self) -> str:
        return self._robot.name

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self._robot.nv

    @property
    def q(self) -> np.ndarray:
        return self._part("robot_q").copy()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._set("robot_q", self._robot._coordinates(value))

    @property
    def qd(self) -> np.ndarray:
        return self._part("robot_v").copy()

    @qd.setter
    def qd(self, value: ArrayLike) -> None:
        self._set("robot_v", self._robot._rates(value, "qd"))

    @property
    def tau(self) -> np.ndarray:
        return self._part("robot_tau").copy()

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        self._set("robot_tau", self._robot._rates(value, "tau"))

    @property
    def control(self) -> np.ndarray:
        return self._part("robot_control").copy()

    @control.setter
    def control(self, value: ArrayLike) -> None:
        given, count = float_array(f"{self.name}: control", value), len(self._robot.actuators)
        if given.shape != (count,) or not np.isfinite(given).all():
            raise InputError(
                f"{self.name}: control has shape {given.shape}, must be ({count},) finite numbers."
            )
        self._set("robot_control", given)

    def link(self, name: str) -> Body:
        """The body of a link, to read its pose and velocity or to push it."""
        self._robot._row(self._robot._link_row, name, "link")
        if name not in self._bodies:
            raise InputError(f"{self.name}: link {name} has neither mass nor shape, so no body.")
        return self._bodies[name]

    @property
    def links(self) -> dict[str, Body]:
        """The bodies of the links, by name."""
        return dict(self._bodies)

    def mass_matrix(self) -> np.ndarray:
        """(nv, nv) at the present coordinates."""
        return self._standing.mass_matrix(self.q)

    def bias_forces(self) -> np.ndarray:
        """(nv,) Coriolis, centrifugal and gravity forces now."""
        return self._standing.bias_forces(self.q, self.qd, self._world.gravity)

    def jacobian(self, link: str, point: ArrayLike = (0, 0, 0)) -> np.ndarray:
        """(6, nv) of a point in the link's frame: its velocity, then the link's spin."""
        return self._standing.jacobian(self.q, link, point)

    @property
    def centre_of_mass(self) -> np.ndarray:
        """Of all links [m]."""
        return self._standing.centre_of_mass(self.q)

    def energy(self) -> float:
        """Kinetic and potential energy, rotors and springs included [J]."""
        return self._standing.energy(self.q, self.qd, self._world.gravity)

    @property
    def gap(self) -> float:
        """How far loops and coupled joints are open [m], [rad]."""
        built, world = self._world._synced(), self._world
        return float(gap_of(self._row, built.model.robots, world._state.robot_q, world._robot_work))

    def __repr__(self) -> str:
        return f"<PlacedRobot {self.name!r}: {self.nv} degrees of freedom>"

    # Inside

    @property
    def _row(self) -> int:
        """Which robot of the world it is."""
        return self._world._robots.index(self)

    def _part(self, name: str) -> np.ndarray:
        """Its part of an array of State, in place."""
        self._world._synced()
        return getattr(self._world._state, name)[self._slices[name]]

    def _set(self, name: str, value: np.ndarray) -> None:
        """Write one of its arrays; wakes it if anything changes."""
        part, world = self._part(name), self._world
        world._note("set_robot", [self._row, name, value.tolist()])
        if np.array_equal(part, value):
            return
        part[:] = value
        if name in ("robot_q", "robot_v"):
            self._place_bodies()
        self._wake()

    def _wake(self) -> None:
        world = self._world
        for body in self._bodies.values():
            build.wake_around(world._build, world._state, body._number)
            break

    def _place_bodies(self) -> None:
        """Poses and velocities of the bodies of all links, from q and qd."""
        world = self._world
        place_bodies(self._row, world._build.model.robots, world._state, world._robot_work)

    def _push(self, body: Body, impulse: np.ndarray, at: np.ndarray | None) -> None:
        """An impulse on the body of a link, at a point in world axes; all links feel it."""
        link = next(name for name, own in self._bodies.items() if own is body)
        robot, q = self._standing, self.q
        i = robot._row(robot._link_row, link, "link")
        robot._place(q)
        pose = robot._work.pose[i]
        point = pose[:3] + pose[3:].reshape(3, 3) @ robot.links[i].centre if at is None else at
        jacobian = np.empty((6, self.nv))
        kinematics.fill_jacobian(
            robot._model, i, np.array(point, np.float64), robot._work, jacobian
        )
        self.qd = self.qd + np.linalg.solve(robot.mass_matrix(q), jacobian[:3].T @ impulse)


def stand(robot: Robot, base: np.ndarray) -> Robot:
    """The description with a base, and scratch, of its own."""
    standing = copy(robot)
    standing._base, standing._work = base, new_robot_work(robot._model)
    return standing
