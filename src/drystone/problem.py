"""The seam and the judge: the contact problem, what a solve reports, and how it is measured.

Find impulses p so that u = q + J M⁻¹ Jᵀ p obeys Coulomb's law (coulomb.py) at every contact. The
axes of a contact are (normal, tangent 1, tangent 2); its normal points from body A to B, u is
the velocity of B seen from A after the step, and p acts on B, -p on A.
"""

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import NamedTuple, Protocol

import h5py
import numpy as np
import scipy.sparse

from drystone.assemble import fill_block
from drystone.coulomb import invert_block, velocity_at
from drystone.errors import InputError
from drystone.jit import kernel
from drystone.laws import law_errors
from drystone.matrix_problem import MatrixProblem
from drystone.measures import (
    MEASURE_ENERGY,
    MEASURE_FISCHER,
    MEASURE_GAP,
    MEASURE_MINMAP,
    MEASURE_NATURAL,
    MEASURES,
    measure_velocities,
)
from drystone.sweeps import push_rows

FORMAT = "drystone-contact-problem"
FORMAT_VERSION = 1


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
    solver: str = ""
    method: str = ""  # which method solved what, if the solver chooses
    work: float = 0.0  # in units of one Gauss-Seidel sweep
    seconds: float = 0.0  # of the solver, without measuring
    history: "History | None" = None  # course of the measures, if it was asked for


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
    law: str  # "coulomb", "convex", "pyramid" or "compliant": what it solves, not how

    def solve(self, problem: "ContactProblem", impulse: np.ndarray) -> SolveInfo:
        """Improve `impulse` (nc, 3) [N s] in place, starting from what it holds."""


@dataclass(frozen=True)
class ContactProblem:
    """One step's contacts, as every solver sees them. Arrays are float64, C-contiguous."""

    body: np.ndarray  # (nc, 2) int32, bodies A and B; the last body is the fixed world
    frame: np.ndarray  # (nc, 9) normal, tangent 1, tangent 2, world axes
    arm: np.ndarray  # (nc, 6) from the centres of mass of A and of B to the point [m]
    friction: np.ndarray  # (nc,)
    bias: np.ndarray  # (nc,) added to the normal velocity: room to close, drift, restitution [m/s]
    gap: np.ndarray  # (nc,) [m]
    mass: np.ndarray  # (n + 1, 7) inverse mass, world inverse inertia xx xy xz yy yz zz
    free: np.ndarray  # (n + 1, 6) twists if no contact acted [m/s, rad/s]
    slab_first: np.ndarray  # (slabs + 1,) int32: contacts of the slabs (islands.py)
    group_first: np.ndarray  # (groups + 1,) int32: slabs of the groups
    friction_2: np.ndarray | None = None  # (nc,) along tangent 2, if the friction is elliptic

    @property
    def contact_count(self) -> int:
        return len(self.friction)

    def blocks(self) -> np.ndarray:
        """(nc, 6) own 3x3 block of W of every contact: nn, n1, n2, 11, 12, 22 [1/kg]."""
        block = np.zeros((self.contact_count, 6))
        fill_blocks(self.body, self.frame, self.arm, self.mass, block)
        return block

    def twist_from(self, impulse: np.ndarray) -> np.ndarray:
        """Change of the twists (n + 1, 6) under `impulse` (nc, 3)."""
        twist = np.zeros_like(self.free)
        impulse = np.ascontiguousarray(impulse, dtype=np.float64)
        push_rows(0, len(impulse), self.body, self.frame, self.arm, self.mass, impulse, twist)
        return twist

    def apply_W(self, impulse: np.ndarray) -> np.ndarray:  # noqa: N802  the name of the operator
        """W p without forming W, (nc, 3)."""
        return self.relative(self.twist_from(impulse))

    def W(self) -> scipy.sparse.csr_array:  # noqa: N802
        """J M⁻¹ Jᵀ as a sparse matrix (3 nc, 3 nc), contact by contact."""
        jacobian, inverse_mass = self.jacobian(), self._inverse_mass()
        return (jacobian @ inverse_mass @ jacobian.T).tocsr()

    def jacobian(self) -> scipy.sparse.csr_array:
        """J: twists of all bodies, the fixed world last -> contact velocities; (3 nc, 6 n + 6)."""
        nc = self.contact_count
        axes, arms = self.frame.reshape(nc, 3, 3), self.arm.reshape(nc, 2, 3)
        values = np.zeros((nc, 2, 3, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            values[:, side, :, :3] = sign * axes
            values[:, side, :, 3:] = sign * np.cross(arms[:, side, None, :], axes)
        shape = (nc, 2, 3, 6)
        rows = np.broadcast_to(3 * np.arange(nc)[:, None, None, None], shape)
        rows = rows + np.arange(3)[None, None, :, None]
        columns = 6 * self.body[:, :, None, None] + np.arange(6)[None, None, None, :]
        columns = np.broadcast_to(columns, shape)
        entries = (values.ravel(), (rows.ravel(), columns.ravel()))
        return scipy.sparse.coo_array(entries, shape=(3 * nc, self.free.size)).tocsr()

    def _inverse_mass(self) -> scipy.sparse.csr_array:
        m = self.mass
        blocks = np.zeros((len(m), 6, 6))
        blocks[:, [0, 1, 2], [0, 1, 2]] = m[:, :1]
        for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), start=1):
            blocks[:, 3 + i, 3 + j] = blocks[:, 3 + j, 3 + i] = m[:, k]
        return scipy.sparse.block_diag(list(blocks), format="csr")

    def q(self) -> np.ndarray:
        """Contact velocities (nc, 3) if no impulse acted, bias included [m/s]."""
        u = self.relative(self.free)
        u[:, 0] += self.bias
        return u

    def velocity(self, impulse: np.ndarray) -> np.ndarray:
        """Contact velocities (nc, 3) under `impulse`, bias included [m/s]."""
        return self.q() + self.apply_W(impulse)

    def relative(self, twist: np.ndarray) -> np.ndarray:
        """Contact velocities (nc, 3) under the twists (n + 1, 6), without the bias [m/s]."""
        u = np.zeros((self.contact_count, 3))
        relative_velocities(self.body, self.frame, self.arm, twist, u)
        return u

    def islands(self) -> np.ndarray:
        """Number of the island of every contact (nc,); the fixed world does not connect."""
        n = len(self.mass)
        moving = self.mass[:, 0] > 0
        linked = moving[self.body].all(axis=1)
        a, b = self.body[linked].T
        graph = scipy.sparse.coo_array((np.ones(len(a)), (a, b)), shape=(n, n))
        label = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]
        mover = np.where(moving[self.body[:, 0]], self.body[:, 0], self.body[:, 1])
        return np.unique(label[mover], return_inverse=True)[1]

    def save(self, path) -> None:
        """Write the problem as HDF5; an older file of that name survives a failure."""
        path = Path(path)
        part = path.with_name(path.name + ".part")
        try:
            with h5py.File(part, "w") as file:
                file.attrs["format"], file.attrs["version"] = FORMAT, FORMAT_VERSION
                for field in fields(self):
                    if getattr(self, field.name) is not None:
                        file[field.name] = getattr(self, field.name)
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise InputError(f"{path}: the problem could not be written ({error}).") from None

    @staticmethod
    def load(path) -> "ContactProblem | MatrixProblem":
        """Read a problem that save() wrote, or one of FCLIB or Siconos; see problem_files.py."""
        from drystone.problem_files import load_problem

        return load_problem(path)


def check_problem(problem: ContactProblem) -> None:
    """Raise an InputError unless arrays from a file fit each other."""
    for field in fields(problem):
        array = getattr(problem, field.name)
        if array is None and field.name == "friction_2":
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
    for name, last in (("slab_first", nc), ("group_first", len(problem.slab_first) - 1)):
        edges = getattr(problem, name)
        if len(edges) < 1 or edges[0] != 0 or edges[-1] != last or (np.diff(edges) < 0).any():
            raise InputError(f"{name} must rise from 0 to {last}.")


def residual(problem, impulse: np.ndarray, law: str = "coulomb", facets: int = 0) -> float:
    """Worst violation of `law` over all contacts [m/s]; zero at a solution. See laws.py.

    `facets` counts the sides of the friction polygon of the law "polyhedral".
    """
    impulse = np.ascontiguousarray(impulse, dtype=np.float64)
    errors = law_errors(problem, impulse, problem.velocity(impulse), law, facets)
    return float(errors.max(initial=0.0))  # a NaN stays one


def relative_error(problem, impulse: np.ndarray, law: str = "coulomb", facets: int = 0) -> float:
    """Norm of the violations of `law` with step 1, relative to |q|; for "coulomb" the natural map
    error of [Acary2018]."""
    impulse = np.ascontiguousarray(impulse, dtype=np.float64)
    q = problem.q()
    velocity = q + problem.apply_W(impulse)
    errors = law_errors(problem, impulse, velocity, law, facets, np.ones(len(q)))
    size = np.linalg.norm(q)
    return float(np.linalg.norm(errors) / size if size > 0.0 else np.linalg.norm(errors))


def measure(problem, impulse: np.ndarray) -> np.ndarray:
    """The measures of measures.py for `impulse`."""
    out = np.zeros(MEASURES)
    impulse = np.ascontiguousarray(impulse, dtype=np.float64)
    q = problem.q()
    velocity = q + problem.apply_W(impulse)
    bias = getattr(problem, "bias", np.zeros(len(q)))
    elliptic = problem.friction_2 is not None
    friction_2 = problem.friction_2 if elliptic else problem.friction
    measure_velocities(impulse, velocity, q, bias, problem.friction, friction_2, elliptic, out)
    return out


def solve_info(
    converged, iterations, error, contacts, gap, measures, islands, solver, method=""
) -> SolveInfo:
    """SolveInfo from the plain figures; `gap` is the smallest one [m]."""
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
    )


@kernel
def fill_blocks(body, frame, arm, mass, block):
    for r in range(block.shape[0]):
        fill_block(r, body, frame, arm, mass, block)


@kernel
def invert_blocks(block, inverse):
    for r in range(block.shape[0]):
        invert_block(r, block, inverse)


@kernel
def relative_velocities(body, frame, arm, twist, u):
    for r in range(u.shape[0]):
        u[r, 0], u[r, 1], u[r, 2] = velocity_at(r, body, frame, arm, twist)
