"""A robot in a world: its coordinates, its commands, and its links as bodies of the world."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.reduced import dynamics, kinematics
from drystone.constraints.reduced.rk4 import run_rk4
from drystone.errors import InputError
from drystone.model.checks import float_array
from drystone.model.rotation import rotation_matrices
from drystone.model.signatures import public
from drystone.world.body import Body
from drystone.world.robots.robot import Robot

MOST_PROJECTIONS = 8  # Newton steps that close loops; two or three are usual
CLOSED = 1e-12  # [m], [rad] open loops that are left


@public
class PlacedRobot:
    """A robot in a world, made by `World.add_robot`.

    q, qd     coordinates and rates; can be set, which places all links
    tau       (nv,) forces at the joints, constant until set anew [N m], [N]
    control   (actuators,) commands: torque, rate or coordinate, as each actuator's kind says
    """

    def __init__(self, world: Any, robot: Robot, bodies: dict[str, Body], base: np.ndarray) -> None:
        self._world, self._robot, self._bodies = world, robot, bodies
        self._base = base
        self._q, self._qd = robot.zero(), np.zeros(robot.nv)
        self._tau, self._control = np.zeros(robot.nv), np.zeros(len(robot.actuators))
        for k, actuator in enumerate(robot.actuators):
            if actuator.kind == "position":
                self._control[k] = self._q[robot.index(actuator.joint)][0]
        self._links = [robot._link_row[name] for name in bodies]
        self._next = (self._q, self._qd)
        self._scratch = np.zeros((6, robot.nq + robot.nv + 1))
        self.nv, self.first, self.own_rows = robot.nv, 0, 0

    # What the user reads and sets

    @property
    def robot(self) -> Robot:
        """Its description."""
        return self._robot

    @property
    def name(self) -> str:
        return self._robot.name

    @property
    def q(self) -> np.ndarray:
        return self._q.copy()

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._q = self._robot._coordinates(value)
        self._place_bodies()

    @property
    def qd(self) -> np.ndarray:
        return self._qd.copy()

    @qd.setter
    def qd(self, value: ArrayLike) -> None:
        self._qd = self._robot._rates(value, "qd").copy()
        self._place_bodies()

    @property
    def tau(self) -> np.ndarray:
        return self._tau.copy()

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        self._tau = self._robot._rates(value, "tau").copy()

    @property
    def control(self) -> np.ndarray:
        return self._control.copy()

    @control.setter
    def control(self, value: ArrayLike) -> None:
        given = float_array(f"{self.name}: control", value)
        if given.shape != self._control.shape or not np.isfinite(given).all():
            raise InputError(
                f"{self.name}: control has shape {given.shape}, must be "
                f"({len(self._control)},) finite numbers."
            )
        self._control = given.copy()

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
        return self._here().mass_matrix(self._q)

    def bias_forces(self) -> np.ndarray:
        """(nv,) Coriolis, centrifugal and gravity forces now."""
        return self._here().bias_forces(self._q, self._qd, self._world.gravity)

    def jacobian(self, link: str, point: ArrayLike = (0, 0, 0)) -> np.ndarray:
        """(6, nv) of a point in the link's frame: its velocity, then the link's spin."""
        return self._here().jacobian(self._q, link, point)

    @property
    def centre_of_mass(self) -> np.ndarray:
        """Of all links [m]."""
        return self._here().centre_of_mass(self._q)

    def energy(self) -> float:
        """Kinetic and potential energy, rotors and springs included [J]."""
        return self._here().energy(self._q, self._qd, self._world.gravity)

    @property
    def gap(self) -> float:
        """How far loops and coupled joints are open [m], [rad]."""
        _, error = self._held()
        return float(np.abs(error).max(initial=0.0))

    def __repr__(self) -> str:
        return f"<PlacedRobot {self.name!r}: {self.nv} degrees of freedom>"

    # What the step asks (steppers/reduced.py)

    @property
    def rows(self) -> np.ndarray:
        """Rows of its links in the arrays of the world."""
        return np.array([body._row for body in self._bodies.values()], np.int64)

    def predict(self, gravity: np.ndarray, dt: float, force: np.ndarray) -> None:
        """Free rates, matrix and Jacobians of this step; `force` is that on all bodies."""
        robot = self._here()
        model, work = robot._model, robot._work
        mass = robot.mass_matrix(self._q)
        kinematics.move_links(model, self._qd, work)
        none, bias = np.zeros((len(robot.links), 6)), np.empty(self.nv)
        dynamics.inverse_dynamics(model, self._qd, np.zeros(self.nv), gravity, none, work, bias)
        self.jacobians = self._link_jacobians()
        tau = self._tau - bias + self._commands()
        self._push = self._pushes(force)
        for row, jacobian in zip(self.rows, self.jacobians, strict=True):
            if force[row].any():
                tau += jacobian.T @ force[row]
        self.matrix = mass.copy()
        stiff = model.stiffness.copy()
        soft = model.damping.copy()
        tau -= model.stiffness * (self._at_rates() - model.rest)
        for k, actuator in enumerate(robot.actuators):
            if actuator.kind == "position" and actuator.max_force is None:
                d = robot.rate_index(actuator.joint).start
                tau[d] -= actuator.stiffness * (self._at_rates()[d] - self._control[k])
                stiff[d] += actuator.stiffness
                soft[d] += actuator.damping
        self.matrix[np.diag_indices(self.nv)] += dt * soft + dt * dt * stiff
        self.smooth = not (stiff - model.stiffness).any() and not (soft - model.damping).any()
        self._gravity, self._torque = gravity, self._tau + self._commands()
        self.free = np.linalg.solve(self.matrix, mass @ self._qd + dt * tau)

    def constrain(self, problem: Any, dt: float) -> None:
        """Limits, dry friction, bounded drives; loops and coupled joints."""
        robot, model, before = self._robot, self._robot._model, len(problem.q)
        at = self._at_rates()
        for d in range(self.nv):
            lower, upper = model.limit[d]
            reach = abs(self.free[d]) * dt + 1e-3
            if at[d] - lower < reach:
                problem.add_limit(self.first + d, 1.0, self.free[d], (at[d] - lower) / dt)
            if upper - at[d] < reach:
                problem.add_limit(self.first + d, -1.0, self.free[d], (upper - at[d]) / dt)
            if model.friction[d] > 0.0:
                problem.add_bounded(
                    self.first + d, self.free[d], 0.0, 0.0, dt * float(model.friction[d])
                )
        for k, actuator in enumerate(robot.actuators):
            d = robot.rate_index(actuator.joint).start
            if actuator.kind == "velocity":
                self._drive(problem, d, -self._control[k], 0.0, actuator.max_force, dt)
            elif actuator.kind == "position" and actuator.max_force is not None:
                total = actuator.damping + dt * actuator.stiffness
                away = actuator.stiffness * (at[d] - self._control[k]) / total
                self._drive(problem, d, away, 1.0 / (dt * total), actuator.max_force, dt)
        self.own_rows = len(problem.q) - before
        held, _ = self._held()
        for row in held:
            whole = np.zeros(problem.size)
            whole[self.first : self.first + self.nv] = row
            problem.hold(whole, float(row @ self.free))
        self.smooth = self.smooth and not len(held) and not self._driven()

    def advance(self, rates: np.ndarray, dt: float, touched: bool) -> None:
        """Coordinates after the step: along the rates, or by Runge-Kutta if nothing held it."""
        robot, q = self._here(), self._q.copy()
        if self.smooth and not touched:
            rates = self._qd.copy()
            run_rk4(
                robot._model, robot._base, q, rates, self._torque, self._gravity, self._push, dt,
                1, robot._work, self._scratch,
            )  # fmt: skip
        else:
            kinematics.step_coordinates(robot._model, self._q, rates, dt, q)
            q = self._close(q)
        self._next = (q, rates)

    def accept(self, world: Any, state: Any) -> None:
        """The step was good: take its coordinates, and place the links."""
        self._q, self._qd = self._next
        self._place_bodies(state)

    # Inside

    def _kept(self) -> tuple:
        """What a snapshot keeps of it."""
        last = getattr(self._world, "_row_impulse", None)
        return self._q, self._qd, self._tau.copy(), self._control.copy(), last

    def _take(self, kept: tuple) -> None:
        self._q, self._qd, tau, control, self._world._row_impulse = kept
        self._tau, self._control = tau.copy(), control.copy()

    def _here(self) -> Robot:
        """The description, standing where this robot stands."""
        self._robot._base[:] = self._base
        return self._robot

    def _driven(self) -> bool:
        return any(actuator.kind != "torque" for actuator in self._robot.actuators) or bool(
            self._robot._model.friction.any()
        )

    def _commands(self) -> np.ndarray:
        """Forces of the torque actuators."""
        tau = np.zeros(self.nv)
        for command, actuator in zip(self._control, self._robot.actuators, strict=True):
            if actuator.kind == "torque":
                limit = np.inf if actuator.max_force is None else actuator.max_force
                d = self._robot.rate_index(actuator.joint).start
                tau[d] += min(max(actuator.gear * command, -limit), limit)
        return tau

    def _drive(self, problem, d: int, bias: float, soft: float, bound, dt: float) -> None:
        if bound is not None:
            problem.add_bounded(self.first + d, self.free[d], bias, soft, dt * bound)
            return
        row = np.zeros(problem.size)
        row[self.first + d] = 1.0
        problem.hold(row, float(self.free[d]) + bias, soft)

    def _at_rates(self) -> np.ndarray:
        """(nv,) the coordinate of each rate of a revolute or prismatic joint, else 0."""
        at, model = np.zeros(self.nv), self._robot._model
        for i, joint in enumerate(self._robot.joints):
            if joint.rates == 1:
                at[model.first_v[i]] = self._q[model.first_q[i]]
        return at

    def _pushes(self, force: np.ndarray) -> np.ndarray:
        """(nl, 6) forces on bodies of links: torque about the robot's origin, force."""
        robot = self._robot
        push = np.zeros((len(robot.links), 6))
        for row, i in zip(self.rows, self._links, strict=True):
            if force[row].any():
                arm = self._centre(i) - robot._work.origin
                push[i, 3:] = force[row, :3]
                push[i, :3] = force[row, 3:] + np.cross(arm, force[row, :3])
        return push

    def _centre(self, i: int) -> np.ndarray:
        pose = self._robot._work.pose[i]
        return pose[:3] + pose[3:].reshape(3, 3) @ self._robot.links[i].centre

    def _link_jacobians(self) -> list[np.ndarray]:
        robot, found = self._robot, []
        for i in self._links:
            out = np.empty((6, self.nv))
            kinematics.fill_jacobian(robot._model, i, self._centre(i), robot._work, out)
            found.append(out)
        return found

    def _held(self, q: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows (k, nv) of loops and coupled joints, and how far they are open (k,)."""
        robot = self._here()
        rows: list = []
        errors: list = []
        q = self._q if q is None else q
        if not robot.loops and not any(joint.mimic for joint in robot.joints):
            return np.zeros((0, self.nv)), np.zeros(0)
        robot._place(q)
        for loop in robot.loops:
            total, apart = np.zeros((3, self.nv)), np.zeros(3)
            ends = ((loop.link_a, loop.point_a, -1.0), (loop.link_b, loop.point_b, 1.0))
            for link, point, sign in ends:
                at = np.asarray(point, np.float64)
                if link is not None:
                    i = robot._link_row[link]
                    pose, out = robot._work.pose[i], np.empty((6, self.nv))
                    at = pose[:3] + pose[3:].reshape(3, 3) @ at
                    kinematics.fill_jacobian(robot._model, i, at, robot._work, out)
                    total += sign * out[:3]
                apart += sign * at
            rows.extend(total)
            errors.extend(apart)
        for joint in robot.joints:
            if joint.mimic:
                other, factor, offset = joint.mimic
                row = np.zeros(self.nv)
                row[robot.rate_index(joint.name)] = 1.0
                row[robot.rate_index(other)] -= factor
                rows.append(row)
                errors.append(q[robot.index(joint.name)][0] - factor * q[robot.index(other)][0]
                              - offset)  # fmt: skip
        return np.array(rows), np.array(errors)

    def _close(self, q: np.ndarray) -> np.ndarray:
        """q moved, by Newton steps in the metric of the mass matrix, until all loops fit."""
        for _ in range(MOST_PROJECTIONS):
            rows, errors = self._held(q)
            if not len(errors) or np.abs(errors).max() < CLOSED:
                break
            answer = np.linalg.solve(self.matrix, rows.T)
            step = -answer @ np.linalg.lstsq(rows @ answer, errors, rcond=1e-10)[0]
            moved = q.copy()
            kinematics.step_coordinates(self._robot._model, q, step, 1.0, moved)
            q = moved
        return q

    def _place_bodies(self, state=None) -> None:
        """Poses and velocities of the bodies of all links, from q and qd."""
        world, robot = self._world, self._here()
        built = world._synced()
        state = world._state if state is None else state
        robot._place(self._q)
        poses, rows = robot._work.pose[self._links], self.rows
        axes = poses[:, 3:].reshape(-1, 3, 3)
        centres = np.array([robot.links[i].centre for i in self._links]).reshape(-1, 3)
        at = poses[:, :3] + np.einsum("bij,bj->bi", axes, centres)
        state.position[rows] = at - np.array(world._origin)
        principal = rotation_matrices(built.principal_rotation[rows])
        state.rotation[rows] = _quaternions(axes @ principal)
        for row, jacobian in zip(rows, self._link_jacobians(), strict=True):
            state.twist[row] = jacobian @ self._qd
        state.asleep[rows], state.rest_time[rows] = 0, 0.0


def _quaternions(matrices: np.ndarray) -> np.ndarray:
    """(n, 4) of rotation matrices, by the largest of the four [Shepperd1978]."""
    m = matrices
    t = np.einsum("bii->b", m)
    four = np.stack([t, m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]], axis=1)
    out = np.empty((len(m), 4))
    for b, k in enumerate(np.argmax(four, axis=1)):
        r = m[b]
        if k == 0:
            q = (1 + t[b], r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1])
        elif k == 1:
            q = (r[2, 1] - r[1, 2], 1 + 2 * r[0, 0] - t[b], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0])
        elif k == 2:
            q = (r[0, 2] - r[2, 0], r[0, 1] + r[1, 0], 1 + 2 * r[1, 1] - t[b], r[1, 2] + r[2, 1])
        else:
            q = (r[1, 0] - r[0, 1], r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], 1 + 2 * r[2, 2] - t[b])
        out[b] = q
    return out / np.linalg.norm(out, axis=1)[:, None]
