"""add_robot(): the links of a robot become bodies of a world."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import flag, shown, vector
from drystone.model.materials import PAIR_KEYS, Material
from drystone.model.rotation import (
    quaternion_from_matrix,
    rotation_matrices,
    unit_quaternion,
)
from drystone.shapes import Compound, Sphere
from drystone.world.robots.placed import PlacedRobot, stand
from drystone.world.robots.robot import Robot

# A link of less than these shares of the robot still gets a body; the robot's own mass matrix,
# which the step uses, has the true numbers.
LEAST_MASS, LEAST_INERTIA = 1e-6, 1e-6
# A joint that sees less than this share of the inertia beyond it, all that hangs on it held, sees
# none: what is left is rounding.
NO_INERTIA = 1e-13


class WithRobots:
    """Robots of a world."""

    _robots: list
    _stepper: str
    _recorder: Any
    dim: Any

    def add_robot(
        self,
        robot: Robot,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        q: ArrayLike | None = None,
        self_collide: bool = False,
    ) -> PlacedRobot:
        """Put a robot into the world; its links are bodies called "robot/link".

        position, orientation   of its base; None: as the robot was described
        q                       its coordinates; None: Robot.zero()
        self_collide            whether links that do not hang on each other may touch
        """
        return add_robot(self, robot, position, orientation, q, self_collide)

    @property
    def robots(self) -> tuple[PlacedRobot, ...]:
        return tuple(self._robots)


def add_robot(world, robot, position, orientation, q, self_collide: bool) -> PlacedRobot:
    """See World.add_robot()."""
    if not isinstance(robot, Robot):
        raise InputError(f"add_robot: {shown(robot)} is no Robot; make one, or Robot.load(path).")
    if world.dim != 2 and world._stepper not in ("time-stepping", "reduced", "rk4"):
        raise UnsupportedFeature(f"robots are not there with stepper={world._stepper!r}.")
    if world._settings.budget_sweeps or world._settings.budget_time:
        raise UnsupportedFeature(
            "World(budget=...) bounds sweeps, and worlds with robots are not swept; leave it out."
        )
    if world.dim == 2:
        raise UnsupportedFeature("robots are there in three dimensions, dim=3.")
    if world._recorder is not None:
        return _noted(world, (robot, position, orientation, q, self_collide))
    self_collide = flag("add_robot: self_collide", self_collide)
    base = robot._base.copy()
    if position is not None:
        base[0, :3] = vector(f"{robot.name}: position", position)
    if orientation is not None:
        turned = unit_quaternion(f"{robot.name}: orientation", orientation)
        base[0, 3:] = rotation_matrices(np.array(turned)).ravel()
    start = robot.zero() if q is None else robot._coordinates(q)
    _require_inertia(robot, start)
    poses = stand(robot, base).forward_kinematics(start)
    bodies = {
        link.name: body
        for link in robot.links
        if (body := _add_link(world, robot, link, poses[link.name]))
    }
    _exclude(world, robot, bodies, self_collide)
    placed = PlacedRobot(world, robot, bodies, base)
    placed._start["robot_q"] = start
    for k, actuator in enumerate(robot.actuators):
        if actuator.kind == "position":
            placed._start["robot_control"][k] = start[robot.index(actuator.joint)][0]
    world._robots.append(placed)
    if world._stepper != "rk4":
        world._stepper = "reduced"
    return placed


def _require_inertia(robot: Robot, q: np.ndarray) -> None:
    """Refuse rates that move nothing: no force would have a finite answer.

    The mass matrix is eliminated from the last link to the first; what is left of a diagonal number
    is the inertia that the joint sees with all joints beyond it free.
    """
    mass = robot.mass_matrix(q)
    seen = mass.diagonal().copy()
    least = NO_INERTIA**2 * seen.max(initial=0.0)
    for d in range(robot.nv - 1, -1, -1):
        if not mass[d, d] > max(NO_INERTIA * seen[d], least):
            joint = robot.joints[robot.model.dof_link[d]]
            raise InputError(
                f"{robot.name}: joint {joint.name} ({joint.kind}) has a coordinate that moves no "
                f"inertia; give link {joint.child} or what hangs on it mass and inertia, or the "
                f"joint an armature."
            )
        mass[:d, :d] -= np.outer(mass[:d, d], mass[:d, d]) / mass[d, d]


def _noted(world, arguments) -> PlacedRobot:
    """While a recording runs: one line of its journal says all."""
    from drystone.world.io.serialize import inline
    from drystone.world.io.serialize_robots import describe_robot

    recorder, robot, self_collide = world._recorder, arguments[0], arguments[-1]
    world._recorder = None
    try:
        placed = add_robot(world, *arguments)
    finally:
        world._recorder = recorder
    start = placed._start["robot_q"].tolist()
    base = placed._base.ravel().tolist()
    world._note("add_robot", [describe_robot(robot, inline), base, start, self_collide])
    return placed


def place_fresh(world) -> None:
    """Put the bodies of robots that were just added where their coordinates say."""
    for placed in world._robots:
        if placed._fresh:
            placed._place_bodies()
            placed._fresh = False


def _add_link(world, robot: Robot, link, pose: np.ndarray):
    """The body of a link, or None if it has neither mass nor shape."""
    solid = [shape for shape in link.shapes if shape.collide]
    if not solid and link.mass == 0.0:
        return None
    mass = max(link.mass, LEAST_MASS * robot.mass, 1e-9)
    if solid:
        members = [(s.shape, s.position, s.orientation) for s in solid]
        shape: Any = Compound(*members)
        given = {name: getattr(solid[0], name) for name in PAIR_KEYS}
    else:
        shape, given = Sphere(0.01), {}
    size = max(float(np.linalg.norm(p.position)) + p.radius for p in shape.parts())
    inertia = np.array(link.inertia)
    least = LEAST_INERTIA * mass * size * size
    moments, axes = np.linalg.eigh(inertia)
    moments = np.maximum(moments, max(least, 1e-6 * moments[-1]))
    # Moments of a real body obey the triangle inequality; what files say need not.
    moments[-1] = min(moments[-1], moments[0] + moments[1])
    return world.add_body(
        shape, Material(**given), pose[:3, 3], quaternion_from_matrix(pose[:3, :3]), mass=mass,
        inertia=(axes * moments) @ axes.T, centre=link.centre, name=f"{robot.name}/{link.name}",
        group=1 if solid else 0, mask=-1 if solid else 0,
    )  # fmt: skip


def _exclude(world, robot: Robot, bodies: dict, self_collide: bool) -> None:
    """Links of one robot pass through each other; with `self_collide` only those that are joined,
    across links without a body and fixed joints too."""
    parent = {joint.child: joint.parent for joint in robot.joints}
    fixed = {joint.child for joint in robot.joints if joint.kind == "fixed"}
    names = list(bodies)

    def nearest(name):
        """The links above up to the first that moves by itself and has a body."""
        found, up = [], parent[name]
        while up is not None:
            found.append(up)
            if up in bodies and up not in fixed:
                break
            up = parent[up]
        return found

    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if not self_collide or a in nearest(b) or b in nearest(a):
                world.exclude(bodies[a], bodies[b])
