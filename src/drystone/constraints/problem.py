"""ContactProblem: what every contact solver solves, and SolveInfo, what it reports.

Find impulses p so that u = q + W p, W = J M⁻¹ Jᵀ the Delassus matrix, obeys Coulomb's law
(coulomb.py) at every contact. The axes of a contact are (normal, tangent 1, tangent 2); its normal
points from body A to B, u is the velocity of B seen from A after the step, and p acts on B, -p on
A. Rows of joints stand behind the contacts in blocks of three (joint_blocks.py): wherever it says
(nb, 3), contacts come first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy  # its parts are loaded when they are used, for they take long

from drystone.constraints.contact_rows import fill_block
from drystone.constraints.coulomb import invert_block, push_rows, velocity_at
from drystone.constraints.error_measures import (
    MEASURE_ENERGY,
    MEASURE_FISCHER,
    MEASURE_GAP,
    MEASURE_MINMAP,
    MEASURE_NATURAL,
)
from drystone.constraints.joint_blocks import (
    JointBlocks,
    check_blocks,
    inverse_masses,
)
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.errors import InputError
from drystone.jit import kernel
from drystone.model.checks import float_array, shown
from drystone.model.hdf5 import write_arrays
from drystone.model.signatures import public

FORMAT = "drystone-contact-problem"
FORMAT_VERSION = 1
JOINTS_VERSION = 2  # of problems with joints: what reads version 1 alone must not take them
SURFACE_VERSION = 3  # of problems with surfaces that move
OPTIONAL = ("friction_2", "surface")  # arrays that may be None


class SolveInfo(NamedTuple):
    """What one solve, or one step, reports. A passive observer: nothing here feeds back."""

    converged: bool
    iterations: int  # sweeps, or whatever the solver counts, of its hardest island
    residual: float  # [m/s] as residual() measures it for the solver's law
    contacts: int = 0
    penetration: float = 0.0  # deepest overlap at the start of the step [m]
    natural_map: float = 0.0  # relative natural-map error of the exact Coulomb problem
    fischer: float = 0.0  # Fischer merit of the pyramid law
    minmap: float = 0.0  # min-map merit of the pyramid law
    complementarity: float = 0.0  # sum of |p_n u_n| [J]
    energy_change: float = 0.0  # of the kinetic energy, by the impulses [J]
    islands: int = 0
    stopped: int = 0  # pairs that continuous collision detection stopped (collision/ccd.py)
    solver: str = ""
    method: str = ""  # which method solved what, if the solver chooses
    work: float = 0.0  # in units of one Gauss-Seidel sweep
    seconds: float = 0.0  # of the solver, without measuring
    history: History | None = None  # course of the measures, if it was asked for
    momentum_error: float = 0.0  # part of the impulses that one body gives and the other gets not
    overlaps: int = 0  # contacts deeper than 333 skins at the start of the step
    unresolved: int = 0  # pairs of meshes with an overlap that no contact was found for
    given_up: int = 0  # fast pairs whose time of impact was not found: they were held instead
    # names of the bodies of both kinds, None for what is fixed and has no name
    unresolved_pairs: tuple[tuple[str | None, str | None], ...] = ()
    joint_error: float = 0.0  # largest position error of a joint after the step [m]
    tolerance: float = 0.0  # what the residual of the hardest island of a step may be [m/s]
    energy_made: float = 0.0  # by the step in islands with joints, beyond all work done on them [J]
    energy_lost: float = 0.0  # by the step in islands with joints that nothing touches [J]


class History(NamedTuple):
    """How the measures fell: one entry per iteration, the start first."""

    iteration: np.ndarray
    seconds: np.ndarray  # of the solver, without measuring
    work: np.ndarray  # in units of one Gauss-Seidel sweep
    residual: np.ndarray  # [m/s]
    natural_map: np.ndarray
    fischer: np.ndarray
    minmap: np.ndarray
    complementarity: np.ndarray  # [J]
    energy_change: np.ndarray  # [J]


class ContactSolver(Protocol):
    """What a solver must have; solvers/own.py says what is taken for granted of the rest."""

    def solve(self, problem: Any, impulse: np.ndarray) -> Any:
        """Improve `impulse` (nb, 3) [N s] in place, starting from what it holds; returns a
        SolveInfo, or nothing."""


@public
@dataclass(frozen=True)
class ContactProblem:
    """One step's contacts, as every solver sees them. Arrays are float64, C-contiguous."""

    body: np.ndarray  # (nc, 2) int32, bodies A and B; the last body is the fixed world
    frame: np.ndarray  # (nc, 9) normal, tangent 1, tangent 2, world axes
    arm: np.ndarray  # (nc, 6) from the centres of mass of A and of B to the point [m]
    friction: np.ndarray  # (nc,)
    bias: np.ndarray  # (nc,) added to the normal velocity: gap to close, drift, restitution [m/s]
    gap: np.ndarray  # (nc,) [m]
    mass: np.ndarray  # (n + 1, 7) inverse mass, world inverse inertia xx xy xz yy yz zz
    free: np.ndarray  # (n + 1, 6) twists if no contact acted [m/s, rad/s]
    slab_first: np.ndarray  # (slabs + 1,) int32: contacts of the slabs (islands.py)
    group_first: np.ndarray  # (groups + 1,) int32: slabs of the groups
    friction_2: np.ndarray | None = None  # (nc,) along tangent 2, if the friction is elliptic
    joints: JointBlocks | None = None  # None: there are none
    # (nc, 2) velocities of surfaces on their bodies, of B less those of A, along the tangents [m/s]
    surface: np.ndarray | None = None

    def __repr__(self) -> str:
        """A line: the arrays themselves would fill pages."""
        joints = "" if self.joints is None else f", {self.block_count - self.contact_count} blocks"
        return (
            f"<ContactProblem: {self.contact_count} contacts{joints} between {len(self.mass) - 1} "
            f"bodies>"
        )

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    @property
    def block_count(self) -> int:
        """nb: contacts and blocks of three rows of joints."""
        return len(self.friction) + (0 if self.joints is None else len(self.joints.body))

    def blocks(self) -> np.ndarray:
        """(nb, 6) diagonal 3x3 block of W of every contact: nn, n1, n2, 11, 12, 22 [1/kg]."""
        block, nc = np.zeros((self.block_count, 6)), self.contact_count
        fill_diagonal_blocks(self.body, self.frame, self.arm, self.mass, block[:nc])
        if self.joints is not None:
            own = self.joints.own(inverse_masses(self.mass))
            block[nc:] = own.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]]
        return block

    def twist_from(self, impulse: np.ndarray) -> np.ndarray:
        """Change of the twists (n + 1, 6) under `impulse` (nb, 3)."""
        twist, nc = np.zeros_like(self.free), self.contact_count
        impulse = self._impulses(impulse)
        push_rows(0, nc, self.body, self.frame, self.arm, self.mass, impulse, twist)
        if self.joints is not None:
            wrench = self.joints.wrench(impulse[nc:], len(twist))
            twist += np.einsum("bij,bj->bi", inverse_masses(self.mass), wrench)
        return twist

    def _impulses(self, impulse: np.ndarray) -> np.ndarray:
        """(nb, 3) floats, C-contiguous, as solvers have them, or made so."""
        shape = (self.block_count, 3)
        if not isinstance(impulse, np.ndarray) or impulse.dtype != np.float64:
            impulse = float_array("impulse", impulse)
        if impulse.shape != shape:
            raise InputError(f"impulse has shape {impulse.shape}, must be {shape}.")
        return np.ascontiguousarray(impulse)

    def _twists(self, twist: np.ndarray) -> np.ndarray:
        """(n + 1, 6) floats, or more of either, as solvers have them, or made so."""
        if not isinstance(twist, np.ndarray) or twist.dtype != np.float64:
            twist = float_array("twist", twist)
        rows = len(self.mass)
        if twist.ndim != 2 or twist.shape[0] < rows or twist.shape[1] < 6:
            raise InputError(f"twist has shape {twist.shape}, must be ({rows}, 6).")
        return twist

    def apply_W(self, impulse: np.ndarray) -> np.ndarray:  # noqa: N802  the name of the operator
        """W p without forming W, (nb, 3)."""
        impulse = self._impulses(impulse)
        u = self.relative(self.twist_from(impulse))
        if self.joints is not None:
            u[self.contact_count :] += self.joints.softness * impulse[self.contact_count :]
        return u

    def W(self) -> scipy.sparse.csr_array:  # noqa: N802
        """J M⁻¹ Jᵀ, and the softness of joints on its diagonal, sparse, block by block."""
        jacobian = self.jacobian()
        inverse_mass = scipy.sparse.block_diag(list(inverse_masses(self.mass)), format="csr")
        matrix = jacobian @ inverse_mass @ jacobian.T
        if self.joints is not None:
            soft = np.concatenate([np.zeros(3 * self.contact_count), self.joints.softness.ravel()])
            matrix = matrix + scipy.sparse.diags_array(soft)
        return matrix.tocsr()

    def jacobian(self) -> scipy.sparse.csr_array:
        """J: twists of all bodies, the fixed world last -> velocities; (3 nb, 6 n + 6)."""
        values, body = self._contact_jacobian(), self.body
        if self.joints is not None:
            values = np.concatenate([values, self.joints.jacobian()])
            body = np.concatenate([body, self.joints.body])
        shape = values.shape
        rows = np.broadcast_to(3 * np.arange(len(body))[:, None, None, None], shape)
        rows = rows + np.arange(3)[None, None, :, None]
        columns = 6 * body[:, :, None, None] + np.arange(6)[None, None, None, :]
        columns = np.broadcast_to(columns, shape)
        entries = (values.ravel(), (rows.ravel(), columns.ravel()))
        return scipy.sparse.coo_array(entries, shape=(3 * len(body), self.free.size)).tocsr()

    def _contact_jacobian(self) -> np.ndarray:
        """(nc, 2, 3, 6): for A and B what each axis sees of a twist."""
        nc = self.contact_count
        axes, arms = self.frame.reshape(nc, 3, 3), self.arm.reshape(nc, 2, 3)
        values = np.zeros((nc, 2, 3, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            values[:, side, :, :3] = sign * axes
            values[:, side, :, 3:] = sign * np.cross(arms[:, side, None, :], axes)
        return values

    def q(self) -> np.ndarray:
        """Velocities (nb, 3) if no impulse acted, bias included [m/s]."""
        u, nc = self.relative(self.free), self.contact_count
        u[:nc, 0] += self.bias
        if self.surface is not None:
            u[:nc, 1:] += self.surface
        if self.joints is not None:
            u[nc:] += self.joints.bias
        return u

    def velocity(self, impulse: np.ndarray) -> np.ndarray:
        """Velocities (nb, 3) under `impulse`, bias and softness included [m/s]."""
        return self.q() + self.apply_W(impulse)

    def relative(self, twist: np.ndarray) -> np.ndarray:
        """Velocities (nb, 3) under the twists (n + 1, 6), without the bias [m/s]."""
        u, nc = np.zeros((self.block_count, 3)), self.contact_count
        twist = self._twists(twist)
        relative_velocities(self.body, self.frame, self.arm, twist, u[:nc])
        if self.joints is not None:
            u[nc:] = self.joints.relative(twist[:, :6])
        return u

    def islands(self) -> np.ndarray:
        """Number of the island of every block (nb,); the fixed world does not connect."""
        n = len(self.mass)
        moving = self.mass[:, 0] > 0
        body = self.body if self.joints is None else np.vstack([self.body, self.joints.body])
        linked = moving[body].all(axis=1)
        a, b = body[linked].T
        graph = scipy.sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
        label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        mover = np.where(moving[body[:, 0]], body[:, 0], body[:, 1])
        return np.unique(label[mover], return_inverse=True)[1]

    def part(self, member: np.ndarray) -> ContactProblem:
        """The problem of these blocks alone, contacts first; the others have no impulse."""
        nc, member = self.contact_count, np.asarray(member)
        if member.ndim != 1 or member.dtype.kind not in "iu":
            raise InputError(f"member is {shown(member)}, must be the numbers of blocks.")
        if len(member) and not 0 <= member.min() <= member.max() < self.block_count:
            raise InputError(f"member: blocks go from 0 to {self.block_count - 1}.")
        mine, held = member[member < nc], member[member >= nc] - nc
        names = ("body", "frame", "arm", "friction", "bias", "gap", "friction_2", "surface")
        arrays = {name: getattr(self, name) for name in names}
        joints = None
        if len(held):
            joints = JointBlocks(*(array[held] for array in self.joints))
        edges = np.array([0, len(mine)], dtype=np.int32), np.array([0, 1], dtype=np.int32)
        return replace(
            self, joints=joints, slab_first=edges[0], group_first=edges[1],
            **{name: None if array is None else array[mine] for name, array in arrays.items()},
        )  # fmt: skip

    def save(self, path: str | Path) -> None:
        """Write the problem as HDF5; an older file of that name survives a failure."""
        version = FORMAT_VERSION if self.joints is None else JOINTS_VERSION
        version = version if self.surface is None else SURFACE_VERSION
        write_arrays(path, FORMAT, version, self._arrays())

    def _arrays(self) -> dict[str, np.ndarray]:
        """All arrays by their names in a file; None where there are none."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        if arrays.pop("joints") is not None:
            arrays |= {f"joints/{name}": x for name, x in self.joints._asdict().items()}
        return arrays

    @staticmethod
    def load(path: str | Path) -> ContactProblem | MatrixProblem:
        """Read a problem that save() wrote, or one of FCLIB or Siconos; see
        constraints/files/load.py.
        """
        from drystone.constraints.files.load import load_problem

        return load_problem(path)


def check_problem(problem: ContactProblem) -> None:
    """Raise an InputError unless arrays from a file fit each other."""
    for field in fields(problem):
        array = getattr(problem, field.name)
        if field.name == "joints" or array is None and field.name in OPTIONAL:
            continue
        if not isinstance(array, np.ndarray) or array.ndim == 0 or array.dtype.kind not in "if":
            raise InputError(f"{field.name} is no array of numbers.")
    nc, n = len(problem.friction), len(problem.mass)
    shapes = dict(
        body=(nc, 2), frame=(nc, 9), arm=(nc, 6), friction=(nc,), bias=(nc,), gap=(nc,),
        mass=(n, 7), free=(n, 6),
    )  # fmt: skip
    if problem.friction_2 is not None:
        shapes["friction_2"] = (nc,)
    if problem.surface is not None:
        shapes["surface"] = (nc, 2)
    for name, shape in shapes.items():
        array = getattr(problem, name)
        if array.shape != shape:
            raise InputError(f"{name} has shape {array.shape}, must be {shape}.")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError(f"{name} holds numbers that are not finite.")
    if nc and problem.friction.min() < 0.0:
        raise InputError(f"friction is {problem.friction.min():g} somewhere, must be >= 0.")
    if nc and (problem.body.min() < 0 or problem.body.max() >= n):
        raise InputError(f"body holds numbers outside 0 to {n - 1}.")
    if problem.joints is not None:
        check_blocks(problem.joints, n)
    for name, last in (("slab_first", nc), ("group_first", len(problem.slab_first) - 1)):
        edges = getattr(problem, name)
        if (
            edges.ndim != 1
            or len(edges) < 1
            or edges[0] != 0
            or edges[-1] != last
            or (np.diff(edges) < 0).any()
        ):
            raise InputError(f"{name} must rise from 0 to {last}.")


def solve_info(
    converged, iterations, error, contacts, gap, measures, islands, solver, method="", **others
) -> SolveInfo:
    """SolveInfo from plain numbers; `gap` is the smallest one [m], `others` are fields of it."""
    return SolveInfo(
        converged=bool(converged),
        iterations=int(iterations),
        residual=float(error),
        contacts=int(contacts),
        penetration=max(0.0, -float(gap)),
        natural_map=float(measures[MEASURE_NATURAL]),
        fischer=float(measures[MEASURE_FISCHER]),
        minmap=float(measures[MEASURE_MINMAP]),
        complementarity=float(measures[MEASURE_GAP]),
        energy_change=float(measures[MEASURE_ENERGY]),
        islands=int(islands),
        solver=solver,
        method=method,
        **others,
    )


@kernel
def fill_diagonal_blocks(body, frame, arm, mass, block):
    for r in range(block.shape[0]):
        fill_block(r, body, frame, arm, mass, 1.0, 1.0, block)


@kernel
def invert_blocks(block, inverse):
    for r in range(block.shape[0]):
        invert_block(r, block, inverse)


@kernel
def relative_velocities(body, frame, arm, twist, u):
    for r in range(u.shape[0]):
        u[r, 0], u[r, 1], u[r, 2] = velocity_at(r, body, frame, arm, twist)
