"""The step of worlds with robots: rates of robots and velocities of bodies in one contact problem.

    A (y' - y_free) = Eᵀ λ + Jᵀ p,    E y' = e,    (J y' + bias, p) obey Coulomb's law

y are rates of robots and twists of other bodies, A the mass matrices of robots (with
dampers, springs and servos, linearly implicit as in CLINE 2.50 to 2.53) and bodies. Contacts of
links are seen through their Jacobians, T: y -> twists of all bodies. E holds loops, coupled joints
and the joints of the world. Limits are contacts without friction. Dry friction and drives of
bounded strength are contacts too: a normal that nothing sees, whose impulse can only be the bound,
and the rate as a tangent; so every solver of the exact cone solves them.

A robot that nothing holds in a step is integrated by Runge-Kutta (constraints/reduced/rk4.py)
instead. Otherwise coordinates follow the rates after the step. Overlaps of links are taken
away by a share of them in each step.
"""

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

from drystone.constraints.joint_rows import SOFTNESS
from drystone.constraints.last_step import last_problem
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import measure
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.model.arrays import DYNAMIC, HELD, INFO_CONTACTS
from drystone.model.joint_arrays import DRIVE_NONE, ROW_LIMIT
from drystone.model.rotation import rotation_matrices
from drystone.solvers.supported_features import require_features
from drystone.steppers.driver import Step
from drystone.timestep import DONE

CORRECTED = 0.2  # share of an overlap, or of an opening of a joint of the world, that a step undoes


def take_steps(world, count: int):
    """One step of `world`: state, work and report."""
    require_features(("matrix",), world._solver)
    joints = world._build.model.joints
    bounded = (joints.drive_mode != DRIVE_NONE) & np.isfinite(joints.drive[:, :, 3])
    if bounded.any() or joints.friction.any():
        raise UnsupportedFeature(
            "a world with robots does not support friction of its own joints, nor drives of them "
            "with a largest force; give the robot actuators instead."
        )
    if world._build.ellipses is not None:
        raise UnsupportedFeature("a world with robots does not support elliptic friction.")
    return _RobotStep(world).run()


class _Problem:
    """What a step solves: blocks of three rows in the velocities y."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: list = []  # (block, axis, column) -> 1 of limits and bounded rows
        self.q: list = []
        self.friction: list = []
        self.own: list = []  # what is added to the diagonal of W
        self.held: list = []  # dense rows (ny,) that hold
        self.bias: list = []
        self.soft: list = []

    def add_limit(self, column: int, sign: float, free: float, gap_rate: float) -> None:
        """sign y[column] + gap_rate >= 0."""
        self.rows.append((len(self.q), 0, column, sign))
        self.q.append((sign * free + gap_rate, 0.0, 0.0))
        self.own.append((0.0, 1.0, 1.0))
        self.friction.append(0.0)

    def add_bounded(self, column: int, free: float, bias: float, soft: float, bound: float) -> None:
        """y[column] + soft p + bias = 0 for an impulse |p| <= bound."""
        self.rows.append((len(self.q), 1, column, 1.0))
        self.q.append((-bound, free + bias, 0.0))
        self.own.append((1.0, soft, 1.0))
        self.friction.append(1.0)

    def hold(self, row: np.ndarray, bias: float, soft: float = 0.0) -> None:
        """row . y + bias + soft λ = 0."""
        self.held.append(row)
        self.bias.append(bias)
        self.soft.append(soft)


class _RobotStep(Step):
    def __init__(self, world):
        super().__init__(
            world._build.model, world._state, world._work, world._settings, world._joint_work,
            Forces(world) if world._forces else None,
        )  # fmt: skip
        self.world, self.robots = world, world._robots

    def rattle(self):
        """Joints are part of the problem."""

    def solve(self):
        self._begin()
        self.solved(*self._solve())

    def finalize(self):
        status = super().finalize()
        if (status or DONE) == DONE:
            for robot in self.robots:
                robot.accept(self.world, self.state)
        return status

    # The parts of the problem

    def _begin(self) -> None:
        """Numbers the velocities, and lets every robot find its free rates."""
        n, settings = len(self.state.position), self.settings
        linked = np.zeros(n, bool)
        for robot in self.robots:
            linked[robot.rows] = True
        bodies = self.model.bodies
        moving = (bodies.kind == DYNAMIC) & ~linked & (self.state.asleep == 0)
        self.free_rows = np.flatnonzero(moving)
        start = 6 * len(self.free_rows)
        gravity = np.array([settings.gravity_x, settings.gravity_y, settings.gravity_z])
        for robot in self.robots:
            robot.first = start
            start += robot.nv
            robot.predict(gravity, settings.dt, self.work.motion.force)
        self.count = start

    def _twists(self) -> tuple[scipy.sparse.csr_array, np.ndarray]:
        """T (6 n + 6, ny), and the twists (6 n + 6,) if nothing touched."""
        n, motion = len(self.state.position), self.work.motion
        size = 6 * (n + 1)
        index = (6 * self.free_rows[:, None] + np.arange(6)).ravel()
        rows, columns, values = [index], [np.arange(len(index))], [np.ones(len(index))]
        free = np.zeros((n + 1, 6))
        free[:n] = motion.free[:n, :6]
        for robot in self.robots:
            for row, jacobian in zip(robot.rows, robot.jacobians, strict=True):
                r, c = np.nonzero(jacobian)
                rows.append(6 * row + r)
                columns.append(robot.first + c)
                values.append(jacobian[r, c])
                free[row] = jacobian @ robot.free
        entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return scipy.sparse.coo_array(entries, shape=(size, self.count)).tocsr(), free.ravel()

    def _matrix(self) -> scipy.sparse.csc_array:
        """A."""
        blocks = []
        mass, bodies = self.world._build.mass, self.model.bodies
        turn = rotation_matrices(self.state.rotation[self.free_rows])
        for row, axes in zip(self.free_rows, turn, strict=True):
            block = np.zeros((6, 6))
            block[:3, :3] = mass[row] * np.eye(3)
            block[3:, 3:] = (axes * bodies.inertia[row]) @ axes.T
            blocks.append(block)
        blocks += [robot.matrix for robot in self.robots]
        return scipy.sparse.block_diag(blocks, format="csc")

    def _joint_rows(self, problem: _Problem, twists, free: np.ndarray) -> None:
        """Joints of the world: what holds, and limits as rows of their own."""
        if self.joint_work is None:
            return
        rows, dt = self.joint_work.rows, self.settings.dt
        self.work.motion.scheme[self.joint_work.node_body] = HELD
        self.joint_work.stabilize[:] = 1
        for r in range(len(rows.kind)):
            whole = np.zeros(len(free))
            a, b = 6 * rows.body[r, 0], 6 * rows.body[r, 1]
            whole[a : a + 3] -= rows.linear[r]
            whole[a + 3 : a + 6] -= rows.angular[r, :3]
            whole[b : b + 3] += rows.linear[r]
            whole[b + 3 : b + 6] += rows.angular[r, 3:]
            if rows.kind[r] == ROW_LIMIT:
                raise UnsupportedFeature(
                    "a world with robots does not support limits of its own joints; give the robot "
                    "joints with limits instead."
                )
            bias = rows.bias[r] + whole @ free + CORRECTED * rows.error[r] / dt
            problem.hold(whole @ twists, bias, rows.softness[r])

    def _solve(self):
        """Impulses and velocities; returns iterations, residual and the name of the solver."""
        work, rows, n = self.work, self.work.rows, len(self.state.position)
        count, dt = int(work.log.info[INFO_CONTACTS]), self.settings.dt
        twists, free = self._twists()
        problem = _Problem(self.count)
        for robot in self.robots:
            robot.constrain(problem, dt)
        self._joint_rows(problem, twists, free)
        contact = last_problem(self.model, self.state, work)
        whole = contact.jacobian()
        bias = contact.bias + self._undone(count)
        q = (whole @ free).reshape(-1, 3)
        q[:, 0] += bias
        if contact.surface is not None:
            q[:, 1:] += contact.surface
        jacobian = scipy.sparse.vstack([whole @ twists, _own_rows(problem)]).tocsr()
        q = np.vstack([q, np.array(problem.q).reshape(-1, 3)])
        answer, impulse, info = self._solve_rows(problem, contact, jacobian, q, rows, count)
        change = answer[: self.count]
        moved = free.reshape(-1, 6)[:n] + (twists @ change).reshape(-1, 6)[:n]
        work.motion.twist[:n, :6] = moved
        rows.impulse[:count] = impulse[:count]
        self._hand_out(change, contact, impulse, count)
        if self.joint_work is not None and len(self.joint_work.rows.impulse):
            held = len(self.joint_work.rows.impulse)
            self.joint_work.rows.impulse[:] = answer[len(answer) - held :]
        return info

    def _undone(self, count: int) -> np.ndarray:
        """Velocity by which contacts of links that overlap are parted [m/s]."""
        rows = self.work.rows
        linked = np.zeros(len(self.state.position) + 1, bool)
        for robot in self.robots:
            linked[robot.rows] = True
        own = linked[rows.body[:count]].any(axis=1)
        over = np.minimum(rows.gap[:count] + rows.skin[:count], 0.0)
        return np.where(own, CORRECTED * over / self.settings.dt, 0.0)

    def _solve_rows(self, problem, contact, jacobian, q, rows, count):
        matrix, size = self._matrix(), self.count
        right = np.zeros(size)
        kkt = matrix
        if problem.held:
            held = scipy.sparse.csr_array(np.array(problem.held))
            own = held.power(2) @ (1.0 / matrix.diagonal())
            soft = scipy.sparse.diags_array(np.array(problem.soft) + SOFTNESS * own + 1e-30)
            kkt = scipy.sparse.block_array([[matrix, -held.T], [held, soft]]).tocsc()
            right = np.append(right, -np.array(problem.bias))
        factor = splu(scipy.sparse.csc_array(kkt)) if size else None
        answer = factor.solve(right) if size else right
        impulse = np.zeros((len(q), 3))
        if not len(q):
            self.work.log.measures[:] = 0.0
            return answer, impulse, (0, 0.0, "")
        q = q + (jacobian @ answer[:size]).reshape(-1, 3)
        across = np.zeros((len(right), 3 * len(q)))
        across[:size] = jacobian.T.toarray()
        w = jacobian @ factor.solve(across)[:size]
        own = np.zeros((len(q), 3))
        own[count:] = np.array(problem.own).reshape(-1, 3)
        w[np.diag_indices_from(w)] += own.ravel()
        friction = np.append(contact.friction, problem.friction)
        given = MatrixProblem(scipy.sparse.csr_array(w), q, friction)
        impulse[:count] = rows.impulse[:count]
        impulse[count:] = self._guesses(len(q) - count)
        solved = self.world._solver.solve(given, impulse)
        self.world._row_impulse = impulse[count:].copy()
        right[:size] += jacobian.T @ impulse.ravel()
        self.work.log.measures[:] = measure(given, impulse)
        self.world._implicit_problem = given
        return factor.solve(right), impulse, (solved.iterations, solved.residual, solved.solver)

    def _guesses(self, count: int) -> np.ndarray:
        """Warm start of limits and bounded rows: those of the last step, if they are the same."""
        last = getattr(self.world, "_row_impulse", None)
        return last if last is not None and len(last) == count else np.zeros((count, 3))

    def _hand_out(self, change, contact, impulse, count: int) -> None:
        """New rates to the robots, and whether anything held them."""
        pushed = np.zeros(len(self.state.position) + 1, bool)
        active = impulse[:count].any(axis=1)
        pushed[contact.body[active]] = True
        held = impulse[count:].any(axis=1)
        first = 0
        for robot in self.robots:
            own = held[first : first + robot.own_rows]
            first += robot.own_rows
            rates = robot.free + change[robot.first : robot.first + robot.nv]
            touched = pushed[robot.rows].any() or own.any()
            robot.advance(rates, self.settings.dt, bool(touched))


def _own_rows(problem: _Problem) -> scipy.sparse.csr_array:
    """Limits and bounded rows as blocks of three."""
    shape = (3 * len(problem.q), problem.size)
    if not problem.rows:
        return scipy.sparse.csr_array(shape)
    block, axis, column, value = (np.array(x) for x in zip(*problem.rows, strict=True))
    entries = (value, (3 * block + axis, column))
    return scipy.sparse.coo_array(entries, shape=shape).tocsr()
