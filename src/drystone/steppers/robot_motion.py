"""A robot in reduced coordinates under forces: what Runge-Kutta and impacts ask of it.

Its links are rows of the arrays of bodies, which follow its coordinates. Servos and torque
actuators are forces like all others. What is no force, and so cannot be integrated, is refused.
"""

import numpy as np

from drystone.constraints.reduced import articulated, dynamics, kinematics
from drystone.constraints.reduced.closing import place_bodies
from drystone.constraints.reduced.nystrom import add_passive
from drystone.errors import UnsupportedFeature
from drystone.jit import kernel
from drystone.model.rotation import rotation_matrices


def refuse_constraints(robot) -> None:
    """Raise UnsupportedFeature for what holds a robot other than by a force."""
    found = []
    if robot.loops:
        found.append(f"the loop {robot.loops[0].name!r}")
    for joint in robot.joints:
        if joint.mimic:
            found.append(f"joint {joint.name!r}, which follows another (mimic)")
        if np.isfinite(joint.limits).any():
            found.append(f"limits, of joint {joint.name!r}")
        if joint.friction > 0.0:
            found.append(f"dry friction, in joint {joint.name!r}")
    for actuator in robot.actuators:
        if actuator.kind == "velocity":
            found.append(f"velocity motors, such as {actuator.name!r}; use torque and damping")
    if found:
        raise UnsupportedFeature(
            f"{robot.name}: solver 'penalty' integrates forces, and does not support {found[0]}. "
            f"Solvers 'auto', 'nsgs' and 'lemke' do."
        )


@kernel
def place_on_links(model, base, q, v, link, centre, axes, origin, work, rows, place, twist):
    """Poses and velocities of the bodies of links at (q, v), in their rows."""
    kinematics.place_links(model, base, q, work)
    kinematics.move_links(model, v, work)
    for i in range(rows.shape[0]):
        b, own = rows[i], link[i]
        for j in range(3):
            at = work.pose[own, j]
            for k in range(3):
                at += work.pose[own, 3 + 3 * j + k] * centre[i, k]
            place[b, j] = at - origin[j]
            for k in range(3):
                turned = 0.0
                for m in range(3):
                    turned += work.pose[own, 3 + 3 * j + m] * axes[i, 3 * m + k]
                place[b, 3 + 3 * j + k] = turned
        x = place[b, 0] + origin[0] - work.origin[0, 0]
        y = place[b, 1] + origin[1] - work.origin[0, 1]
        z = place[b, 2] + origin[2] - work.origin[0, 2]
        w0, w1, w2 = work.velocity[own, 0], work.velocity[own, 1], work.velocity[own, 2]
        twist[b, 0] = work.velocity[own, 3] + w1 * z - w2 * y
        twist[b, 1] = work.velocity[own, 4] + w2 * x - w0 * z
        twist[b, 2] = work.velocity[own, 5] + w0 * y - w1 * x
        twist[b, 3], twist[b, 4], twist[b, 5] = w0, w1, w2


@kernel
def accelerate_robot(  # a RobotMotion in parts, for a kernel takes none
    model, q, v, tau, gravity, rows, link, place, origin, force, wrench, push, work, loaded, out
):  # fmt: skip
    """Accelerations at the place where the links are; `push` (nl, 6), `loaded` (nv,) scratch."""
    for own in range(push.shape[0]):
        for k in range(6):
            push[own, k] = 0.0
    for i in range(rows.shape[0]):
        b, own = rows[i], link[i]
        x = place[b, 0] + origin[0] - work.origin[0, 0]
        y = place[b, 1] + origin[1] - work.origin[0, 1]
        z = place[b, 2] + origin[2] - work.origin[0, 2]
        f0, f1, f2 = (
            force[b, 0] + wrench[b, 0], force[b, 1] + wrench[b, 1], force[b, 2] + wrench[b, 2],
        )  # fmt: skip
        push[own, 0] += force[b, 3] + wrench[b, 3] + y * f2 - z * f1
        push[own, 1] += force[b, 4] + wrench[b, 4] + z * f0 - x * f2
        push[own, 2] += force[b, 5] + wrench[b, 5] + x * f1 - y * f0
        push[own, 3] += f0
        push[own, 4] += f1
        push[own, 5] += f2
    for d in range(v.shape[0]):
        loaded[d] = tau[d]
    add_passive(model, q, v, loaded)
    dynamics.place_inertias(model, work)
    articulated.forward_dynamics(model, v, loaded, gravity, push, False, work, out)


def rows_of(placed) -> np.ndarray:
    """Rows of the arrays of bodies in which its links stand, in the order of `placed.links`."""
    return np.array([body._row for body in placed.links.values()], np.int64)


class RobotMotion:
    """One robot during one step."""

    def __init__(self, placed, world):
        robot = placed.robot
        refuse_constraints(robot)
        self.placed, self.robot, self.world = placed, robot, world
        self.base, self.nv = placed._base, robot.nv
        self.rows = rows_of(placed)
        self.link = np.array([robot._link_row[name] for name in placed.links], np.int64)
        self.of_row = dict(zip(self.rows.tolist(), self.link.tolist(), strict=True))
        self.centre = np.array([robot.links[i].centre for i in self.link]).reshape(-1, 3)
        turned = world._build.principal_rotation[self.rows]
        self.axes = np.ascontiguousarray(rotation_matrices(turned).reshape(-1, 9))
        self.origin = np.array(world._origin, np.float64)
        self.push, self.loaded = np.zeros((len(robot.links), 6)), np.zeros(self.nv)
        self.start_q, self.start_v = placed.q, placed.qd
        self.q, self.v = self.start_q.copy(), self.start_v.copy()
        self.sum_v, self.sum_a = np.zeros(self.nv), np.zeros(self.nv)
        self.slope = np.zeros(self.nv)
        self._servos = [
            (robot.rate_index(a.joint).start, robot.index(a.joint).start, a, float(c))
            for a, c in zip(robot.actuators, placed.control, strict=True)
            if a.kind == "position"
        ]
        self._torque = placed.tau
        for actuator, command in zip(robot.actuators, placed.control, strict=True):
            if actuator.kind == "torque":
                limit = np.inf if actuator.max_force is None else actuator.max_force
                d = robot.rate_index(actuator.joint).start
                self._torque[d] += min(max(actuator.gear * command, -limit), limit)
        self._inverse: np.ndarray | None = None

    def place(self, place, twist) -> None:
        """Write the rows of its links at this stage."""
        robot = self.robot
        place_on_links(
            robot._model, self.base, self.q, self.v, self.link, self.centre, self.axes,
            self.origin, robot._work, self.rows, place, twist,
        )  # fmt: skip

    def accelerate(self, gravity, place, force, wrench) -> None:
        """Fill `slope`; the links must have been placed at this stage."""
        robot, tau = self.robot, self._torque
        if self._servos:
            tau = tau.copy()
            for d, k, servo, target in self._servos:
                limit = np.inf if servo.max_force is None else servo.max_force
                wanted = servo.stiffness * (target - self.q[k]) - servo.damping * self.v[d]
                tau[d] += min(max(wanted, -limit), limit)
        accelerate_robot(
            robot._model, self.q, self.v, tau, gravity, self.rows, self.link, place, self.origin,
            force, wrench, self.push, robot._work, self.loaded, self.slope,
        )  # fmt: skip

    def add_slope(self, weight: float) -> None:
        self.sum_v += weight * self.v
        self.sum_a += weight * self.slope

    def go_on(self, reach: float, velocity, acceleration) -> None:
        """To the state `reach` [s] after the start of the step."""
        moved = self.start_q.copy()
        kinematics.step_coordinates(
            self.robot._model, self.start_q, np.ascontiguousarray(velocity), reach, moved
        )
        self.q, self.v = moved, self.start_v + reach * acceleration

    def accept(self, state) -> None:
        """The step was good: its coordinates are those of the robot now."""
        own = self.placed._slices
        state.robot_q[own["robot_q"]] = self.q
        asleep = state.asleep[self.rows].any()  # in this very step
        state.robot_v[own["robot_v"]] = 0.0 if asleep else self.v
        robots = self.world._build.model.robots
        place_bodies(self.placed._row, robots, state, self.world._robot_work)

    # Impulses, before the first stage

    def mass_matrix(self) -> np.ndarray:
        return self.robot.mass_matrix(self.start_q)

    def point_jacobian(self, row: int, x: np.ndarray) -> np.ndarray:
        """(3, nv) velocity of the point x of the link in that row."""
        robot, out = self.robot, np.empty((6, self.nv))
        robot._base[:] = self.base
        robot._place(self.start_q)
        kinematics.fill_jacobian(robot._model, self.of_row[row], x + self.origin, robot._work, out)
        return out[:3]

    def response(self, row: int, x: np.ndarray) -> np.ndarray:
        """(3, 3) velocity of the point x for an impulse there."""
        jacobian = self.point_jacobian(row, x)
        return jacobian @ self._solved(jacobian.T)

    def strike(self, row: int, x: np.ndarray, impulse: np.ndarray, twist: np.ndarray) -> None:
        """Rates, and velocities of all links, after an impulse [N s] at x."""
        self.start_v = self.start_v + self._solved(self.point_jacobian(row, x).T @ impulse)
        self.v = self.start_v.copy()
        self.place(np.empty((len(twist), 12)), twist)

    def _solved(self, right: np.ndarray) -> np.ndarray:
        if self._inverse is None:
            self._inverse = np.linalg.inv(self.mass_matrix())
        return self._inverse @ right
