"""Scratch of robots: kinematics and dynamics of trees, and the problem of islands with robots."""

from typing import Any, NamedTuple

import numpy as np

from drystone.jit.table import table
from drystone.model.robot_arrays import RobotModel


@table
class RobotWork(NamedTuple):
    """Scratch: spatial vectors are angular, then linear, in world axes about `origin`."""

    span: np.ndarray  # (2,) int32: links lo, hi of the robot that kernels work on
    origin: np.ndarray  # (nt, 3) near each robot, so that map coordinates cost no digits [m]
    pose: np.ndarray  # (nl, 12) of the links: position, rotation by rows
    motion: np.ndarray  # (nv, 6) S: what a unit rate moves
    carried: np.ndarray  # (nv,) int32: 1 if S is fixed in the link, 0: in its parent
    velocity: np.ndarray  # (nl, 6)
    acceleration: np.ndarray  # (nl, 6)
    force: np.ndarray  # (nl, 6)
    inertia: np.ndarray  # (nl, 10) as RobotModel.inertia, in world axes about `origin`
    composite: np.ndarray  # (nl, 10) of a link with all that hangs on it
    articulated: np.ndarray  # (nl, 21) articulated inertia: its upper triangle by rows
    bias: np.ndarray  # (nl, 6) articulated bias force p_A
    seen: np.ndarray  # (nv, 6) U D⁻¹, with U = I_A S
    inner: np.ndarray  # (nv, 6) inverse of D = Sᵀ U, rows of a joint
    left: np.ndarray  # (nv,) u = τ - Sᵀ p
    sine: np.ndarray  # (nl,) of the angle of a revolute joint
    cosine: np.ndarray  # (nl,)


def new_robot_work(model: RobotModel) -> RobotWork:
    """Scratch for `model`."""
    nl, nv, nt = len(model.parent), len(model.dof_link), len(model.first_link) - 1
    f = np.zeros
    return RobotWork(
        np.array([0, nl], np.int32), f((nt, 3)), f((nl, 12)), f((nv, 6)), np.zeros(nv, np.int32),
        f((nl, 6)), f((nl, 6)), f((nl, 6)), f((nl, 10)), f((nl, 10)), f((nl, 21)), f((nl, 6)),
        f((nv, 6)), f((nv, 6)), f(nv), f(nl), f(nl),
    )  # fmt: skip


@table
class RobotRows(NamedTuple):
    """Scratch: what limits, dry friction, drives, coupled joints and loops demand in a step."""

    first: np.ndarray  # (nt + 1,) int32: rows of each robot
    kind: np.ndarray  # (rows,) int32: ROBOT_LIMIT ... ROBOT_LOOP
    place: np.ndarray  # (rows,) int32: in State.robot_impulse
    rate: np.ndarray  # (rows, 2) int32: rates that it sees, -1: none; of a loop: number, axis
    factor: np.ndarray  # (rows, 2)
    bias: np.ndarray  # (rows,) [m/s], [rad/s]
    gap: np.ndarray  # (rows,) of a limit: how far away it is [m], [rad]
    soft: np.ndarray  # (rows,)
    lower: np.ndarray  # (rows,) bounds of the impulse [N s], [N m s]
    upper: np.ndarray
    impulse: np.ndarray  # (rows,)


@table
class TiedProblem(NamedTuple):
    """Scratch: contacts and rows of islands with robots, in blocks of three rows.

    Bodies and robots are seen through scaled Jacobians Z = J M^-1/2, so that W = Z Zᵀ.
    """

    count: np.ndarray  # (4,) int64: blocks, contacts among them, numbers of Z used, most blocks
    start: np.ndarray  # (blocks, 2) int32: where the two sides stand in `carried`
    width: np.ndarray  # (blocks, 2) int32
    at: np.ndarray  # (blocks, 2) int64: where Z of a side begins: three rows
    # (blocks, 4) int32: contact row; of torques also its block; or three rows of a joint or a robot
    source: np.ndarray
    kind: np.ndarray  # (blocks,) int32: BLOCK_CONTACT ... BLOCK_SPIN
    z: np.ndarray  # (numbers,)
    carried: np.ndarray  # (nv + 6 (n + 1),) Zᵀ p of robots, then of bodies
    impulse: np.ndarray  # (blocks, 3) [N s]
    bounce: np.ndarray  # (blocks,) bias of contacts that bounce, 0: it does not [m/s]
    reach: np.ndarray  # (blocks,) of torques: what makes impulses of them [m]
    lack: np.ndarray  # (blocks, 3) by how much rows move too little to stay apart, closed [m/s]
    side: np.ndarray  # (blocks, 3) int32: PUSH_NEVER, PUSH_APART or PUSH_TOGETHER
    push: np.ndarray  # (blocks, 3) impulses that correct displacements [N s]
    pushed: np.ndarray  # (nv + 6 (n + 1),) Zᵀ of these
    own: np.ndarray  # (blocks, 6) diagonal block of W: nn, n1, n2, 11, 12, 22
    inverse: np.ndarray  # (blocks, 6) of contacts, its inverse


BLOCK_CONTACT, BLOCK_JOINT, BLOCK_ROBOT, BLOCK_ROLL, BLOCK_SPIN = range(5)
PUSH_NEVER, PUSH_APART, PUSH_TOGETHER = range(3)


@table
class RobotScratch(NamedTuple):
    """Scratch of the robots of a world in a step."""

    tree: RobotWork
    rows: RobotRows
    problem: TiedProblem
    island: Any  # island_arrays.Island: the same problem with its matrix, if not too large
    newton: Any  # island_arrays.NewtonWork
    touched: np.ndarray  # (nt,) int32: 1 if a contact of this step has one of its links
    folded: np.ndarray  # (na,) int32: 1 if a servo is part of the mass matrix, not a row
    pulled: np.ndarray  # (na,) impulse of such a servo in this step [N m s], [N s]
    unfold: np.ndarray  # (nt,) int32: 1 if servos of bounded strength must be rows in this step
    active: np.ndarray  # (nt,) int32: 1 if it moved in this step
    free: np.ndarray  # (nv,) rates if nothing held it
    rate: np.ndarray  # (nv,) rates after the step
    shift: np.ndarray  # (nv,) what corrections of displacements add to them, for this step alone
    next_q: np.ndarray  # (nq,) coordinates after the step
    integrated: np.ndarray  # (nt,) int32: 1 if these are of Nyström's method, and links stand there
    stood: np.ndarray  # (nq,) where the links of `tree` were placed last; nan: anywhere
    mass: np.ndarray  # (numbers,) mass matrix, factored; see constraints/reduced/mass_factor.py
    inverse: np.ndarray  # (nv,) of its diagonal
    root: np.ndarray  # (nv,) square root of that
    tau: np.ndarray  # (nv,)
    vector: np.ndarray  # (nv,)
    soft: np.ndarray  # (nv,) what dampers, springs and servos add to the diagonal
    push: np.ndarray  # (nl, 6) forces on links: torque about the origin, force
    stage: np.ndarray  # (7, nq + nv + 1) scratch of Runge-Kutta
    closing: np.ndarray  # (numbers,) scratch of the loops of one robot
