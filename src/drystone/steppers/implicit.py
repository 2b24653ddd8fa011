"""stepper="implicit": the linearly implicit step of CLINE 2.50 to 2.55.

    A = M - dt dF/dv - dt² dF/dx                                  (2.53)
    A (v' - v) = dt F + dt² dF/dx v + Jᵀ p                        (2.52), with impulses p

so that no spring is too stiff for the step. Bodies are coupled through A, and so are contacts: the
problem that the solver gets is u = W p + q with W = J A⁻¹ Jᵀ, a MatrixProblem. Joints that hold
are eliminated with the matrix of (2.55),

    ( A   -Jeᵀ ) (v')
    ( Je    s  ) (p)       s: softness of springs and drives that are rows of joints

and limits of joints are contacts without friction. Bodies on which elements act move with the
velocity after the step: of first order, and what swings faster than the step is damped.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse
from scipy.sparse.linalg import splu

from drystone.constraints.joint_rows import SOFTNESS
from drystone.constraints.last_step import last_problem
from drystone.constraints.matrix_problem import STRIP, MatrixProblem
from drystone.constraints.residual import measure
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.forces.gradients import stiffness
from drystone.model.arrays import DYNAMIC, END_OF_STEP, HELD, INFO_CONTACTS
from drystone.model.joint_arrays import DRIVE_NONE, ROW_LIMIT
from drystone.model.rotation import rotation_matrices
from drystone.solvers.supported_features import require_features
from drystone.steppers.driver import Step
from drystone.steppers.interrupt import interruptible


class System(NamedTuple):
    """The matrices of a step, in the velocities of dynamic bodies alone."""

    free: np.ndarray  # (k,) which of the 6n velocities those are
    mass: np.ndarray  # (n, 6, 6) M
    matrix: scipy.sparse.csr_array  # (k, k) A
    felt: np.ndarray  # (n,) whether elements act on the body


class ImplicitForces(Forces):
    """The forces that, acting alone, would give the velocities of the implicit step."""

    def __init__(self, world):
        super().__init__(world)
        self.gravity, self.system = world.gravity, None

    def load(self, state, force) -> None:
        super().load(state, force)
        total = force.copy()
        system, by_pose = _system(self, state)
        self.system = system
        weight = np.zeros_like(total)
        weight[:, :3] = system.mass[:, 0, 0, None] * self.gravity
        change = self.dt * (total + weight).ravel()
        change += self.dt**2 * (by_pose @ state.twist.ravel())
        change[system.free] = splu(system.matrix.tocsc()).solve(change[system.free])
        accelerated = np.einsum("bij,bj->bi", system.mass, change.reshape(-1, 6)) / self.dt
        felt = system.felt
        force[felt] = (accelerated - weight)[felt]

    def settle(self, state, scheme, dt: float) -> None:
        """Nothing is left to do: F' has been foreseen."""


def take_steps(world, count: int):
    """One step of `world`: state, work and report."""
    require_features(("matrix",), world._solver)
    _refuse(world._joint_work, world._build)
    return _ImplicitStep(world).run()


class _ImplicitStep(Step):
    def __init__(self, world):
        super().__init__(
            world._build.model, world._state, world._work, world._settings, world._joint_work,
            ImplicitForces(world),
        )  # fmt: skip
        self.world = world

    def impacts(self):
        super().impacts()
        scheme = self.work.motion.scheme
        scheme[: len(self.state.position)][self.external.system.felt] = END_OF_STEP
        if self.joint_work is not None:
            scheme[self.joint_work.node_body] = HELD

    def rattle(self):
        """Joints are part of the implicit system."""

    def solve(self):
        self.solved(
            *_solve(self.world, self.state, self.work, self.joint_work, self.external.system)
        )
        if self.joint_work is not None:
            self.joint_work.stabilize[:] = 1


def _refuse(joint_work, built) -> None:
    if built.ellipses is not None:
        raise UnsupportedFeature("stepper 'implicit' does not support elliptic friction.")
    if joint_work is None:
        return
    joints = built.model.joints
    bounded = (joints.drive_mode != DRIVE_NONE) & np.isfinite(joints.drive[:, :, 3])
    if bounded.any() or joints.friction.any():
        raise UnsupportedFeature(
            "stepper 'implicit' does not support friction of joints, nor drives with a largest "
            "force; use 'time-stepping'."
        )


def _system(forces: ImplicitForces, state):
    """The matrices, and dF/dx of all bodies."""
    bodies, n, dt = forces.built.model.bodies, len(state.position), forces.dt
    by_pose, by_twist = stiffness(forces, state)
    mass = np.zeros((n, 6, 6))
    mass[:, [0, 1, 2], [0, 1, 2]] = forces.built.mass[:, None]
    turn = rotation_matrices(state.rotation)
    mass[:, 3:, 3:] = np.einsum("bik,bk,bjk->bij", turn, bodies.inertia, turn)
    dynamic = bodies.kind == DYNAMIC
    free = np.flatnonzero(np.repeat(dynamic, 6))
    whole = scipy.sparse.block_diag(list(mass), format="csr") if n else by_pose
    whole = whole - dt * by_twist - dt**2 * by_pose
    touched = np.zeros(6 * n, dtype=bool)
    for matrix in (by_pose, by_twist):
        touched |= np.diff(matrix.indptr) > 0
    touched |= (forces._before != 0.0).ravel()
    felt = touched.reshape(n, 6).any(axis=1) & dynamic
    return System(free, mass, scipy.sparse.csr_array(whole)[free][:, free], felt), by_pose


class Held(NamedTuple):
    """Rows of joints as a matrix."""

    rows: np.ndarray  # their numbers
    whole: scipy.sparse.csr_array  # of all velocities
    free: scipy.sparse.csr_array  # of those of dynamic bodies


def _joint_rows(rows, system: System, limits: bool) -> Held:
    chosen = np.flatnonzero((rows.kind == ROW_LIMIT) == limits)
    size, count = 6 * len(system.mass), len(chosen)
    values = np.zeros((count, 2, 6))
    values[:, 0, :3], values[:, 1, :3] = -rows.linear[chosen], rows.linear[chosen]
    values[:, 0, 3:], values[:, 1, 3:] = -rows.angular[chosen, :3], rows.angular[chosen, 3:]
    column = 6 * rows.body[chosen][:, :, None].astype(np.int64) + np.arange(6)
    row = np.broadcast_to(np.arange(count)[:, None, None], column.shape)
    entries = (values.ravel(), (row.ravel(), column.ravel()))
    whole = scipy.sparse.coo_array(entries, shape=(count, size + 6)).tocsr()[:, :size]
    return Held(chosen, whole, whole[:, system.free])


def _solve(world, state, work, joint_work, system: System):
    """Impulses and velocities; returns iterations, residual and the name of the solver."""
    motion, rows, n = work.motion, work.rows, len(state.position)
    count, size = int(work.log.info[INFO_CONTACTS]), len(system.free)
    contact = last_problem(world._build.model, state, work)
    twist = motion.free[:n, :6].ravel()
    jacobian, q, kkt = contact.jacobian()[:, system.free], contact.q(), system.matrix
    right = np.zeros(size)
    held = limits = None
    if joint_work is not None:
        joints = joint_work.rows
        held, limits = (_joint_rows(joints, system, which) for which in (False, True))
        kkt = _with_joints(system, held, joints)
        right = np.append(right, -(held.whole @ twist + joints.bias[held.rows]))
        jacobian, q = _with_limits(jacobian, q, limits, joints, twist)
    factor = splu(scipy.sparse.csc_array(kkt))
    q = q + (jacobian @ factor.solve(right)[:size]).reshape(-1, 3)
    friction = np.append(contact.friction, np.zeros(len(q) - count))
    problem = MatrixProblem(_contact_matrix(jacobian, factor, len(right), count), q, friction)
    impulse = np.zeros((len(q), 3))
    impulse[:count] = rows.impulse[:count]
    with interruptible():
        solved = world._solver.solve(problem, impulse) if len(q) else None
    right[:size] += jacobian.T @ impulse.ravel()
    answer = factor.solve(right)
    twist[system.free] += answer[:size]
    motion.twist[:n, :6] = twist.reshape(n, 6)
    rows.impulse[:count] = impulse[:count]
    if joint_work is not None:
        joint_work.rows.impulse[held.rows] = answer[size:]
        joint_work.rows.impulse[limits.rows] = impulse[count:, 0]
    work.log.measures[:] = measure(problem, impulse)
    world._implicit_problem = problem
    return (solved.iterations, solved.residual, solved.solver) if solved else (0, 0.0, "")


def _with_joints(system: System, held: Held, rows) -> scipy.sparse.csr_array:
    """The matrix of (2.55); redundant joints need the little softness that
    constraints/joint_rows.py explains.
    """
    own = held.free.power(2) @ (1.0 / system.matrix.diagonal())
    soft = scipy.sparse.diags_array(rows.softness[held.rows] + SOFTNESS * own)
    return scipy.sparse.block_array([[system.matrix, -held.free.T], [held.free, soft]])


def _with_limits(jacobian, q, limits: Held, rows, twist):
    """Limits behind the contacts, as contacts whose tangents see nothing."""
    count = len(limits.rows)
    spread = scipy.sparse.csr_array(
        (np.ones(count), (3 * np.arange(count), np.arange(count))), shape=(3 * count, count)
    )
    closing = np.zeros((count, 3))
    closing[:, 0] = limits.whole @ twist + rows.bias[limits.rows]
    return scipy.sparse.vstack([jacobian, spread @ limits.free]).tocsr(), np.vstack((q, closing))


def _contact_matrix(jacobian, factor, size: int, contacts: int) -> scipy.sparse.csr_array:
    """J A⁻¹ Jᵀ, a strip of columns at a time."""
    across, strips = scipy.sparse.csc_array(jacobian.T), []
    for first in range(0, jacobian.shape[0], STRIP):
        part = across[:, first : first + STRIP]
        right = np.zeros((size, part.shape[1]))
        right[: part.shape[0]] = part.toarray()
        strips.append(scipy.sparse.csr_array(jacobian @ factor.solve(right)[: part.shape[0]]))
    if not strips:
        return scipy.sparse.csr_array((0, 0))
    matrix = scipy.sparse.hstack(strips).tocsr()
    own = matrix.diagonal()
    idle = np.repeat(own[::3], 3)  # tangents of limits have to have some entry of their own
    idle[::3], idle[: 3 * contacts] = 0.0, 0.0
    return (matrix + scipy.sparse.diags_array(idle)).tocsr()
