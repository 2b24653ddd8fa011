"""Fast frictional dynamics: the contacts of a problem as each body sees them, FFD sections 3 and 6.

A contact has two sides, one for each body that it can move. For a body with inverse mass matrix
M⁻¹ = S Sᵀ a twist is S x with x of six numbers, in which the kinetic inner product of FFD (45) is
the plain one, in whatever frame the twist is written. An axis e of contact k becomes the row

    a = Sᵀ Γᵀ e      (6), (8): the embedded wrench      a.x: velocity at the contact along e

The compliance of a body to an impulse along e is own = a.a, the inverse of the effective mass (29);
that of the other body is `compliance`.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import prange

from drystone.constraints.coulomb import velocity_at
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.table import table
from drystone.solvers.ffd.spatial_algebra import add_equation, along, dot_at

_CHUNK = 64  # bodies per task, as in passes.py

OPEN, GRIPS = range(2)  # whether a contact pushes

# In equations what nothing moves has this share of the body's own compliance: so much of a velocity
# is left, 1e-4 of the default tolerance at 1 m/s. Less would cost digits.
HARD = 1e-9

# Of the bound below, what is taken as the compliance of the other body. With half of it the error
# that a pass leaves changes its sign at worst; with all of it passes are slower. Best of 0.6, 0.8
# and 1.
SHARE = 0.8


@table
class Sides(NamedTuple):
    """ne sides, those of a body in a row. Axes: normal, tangent 1, tangent 2."""

    first: np.ndarray  # (n + 2,) int32: sides of each body; none of bodies that nothing moves
    contact: np.ndarray  # (ne,) int32
    place: np.ndarray  # (nc, 2) int32: the sides of a contact, A and B; -1 where nothing moves
    root: np.ndarray  # (n + 1, 7) S: root of the inverse mass, then L of L Lᵀ = inverse inertia
    row: np.ndarray  # (ne, 18) the three rows a, sign of the side included
    own: np.ndarray  # (ne, 3) a.a [1/kg]
    compliance: np.ndarray  # (ne, 3) the same of the other side, 0 if nothing moves it [1/kg]
    compliance_bound: np.ndarray  # (n + 1, 3) of a body to all its contacts at once [1/kg]
    rest: np.ndarray  # (ne, 3) velocity if this body's contacts did not act [m/s]
    push: np.ndarray  # (ne,) normal impulse of the first projection [N s]
    push_before: np.ndarray  # (ne,) scratch: the same while normals are found anew
    hold: np.ndarray  # (ne, 3) impulse of the second projection [N s]
    friction_before: np.ndarray  # (ne, 2) friction under which the normal impulses were found [N s]
    weight: np.ndarray  # (ne, 3) scratch: of the rows in a surrogate
    grip: np.ndarray  # (ne,) int32: OPEN or GRIPS
    smooth: np.ndarray  # (ne,) int32: 1 if it has no friction
    reduced: np.ndarray  # (ne, 18) rows with the normals that grip held, see friction.py
    reduced_square: np.ndarray  # (ne, 3) their squares [1/kg]
    reduced_product: np.ndarray  # (ne,) product of their tangents, absolute [1/kg]
    normal: np.ndarray  # (n + 1, 27) scratch: equations for those normals
    stick: np.ndarray  # (n + 1, 27) scratch: equations for sticking
    first_tangent: np.ndarray  # (ne, 2) cosine and sine of the first sampled tangent
    bound: np.ndarray  # (ne, tangents) what the sampled tangents may change [m/s]
    moved: np.ndarray  # (n + 1, 6) x of a body under the impulses that both sides share
    answer: np.ndarray  # (n + 1, 6) x of a body under those of its own side
    rounds: np.ndarray  # (n + 1,) int32: surrogates, or visits of its contacts, that it took


@table
class Contacts(NamedTuple):
    """The contacts of a ContactProblem, for kernels."""

    body: np.ndarray
    frame: np.ndarray
    arm: np.ndarray
    bias: np.ndarray
    friction: np.ndarray
    friction_2: np.ndarray  # the same as `friction` unless it is elliptic


@table
class Projection(NamedTuple):
    """How bodies are projected: the options of solver.Ffd, for kernels."""

    circle: np.ndarray  # (tangents, 2) sampled directions
    exact: int  # 1: normals by block pivoting, 0: by surrogates
    by_velocity: int  # 1: friction limited by velocities
    relaxation: float
    precision: float  # violations below it are left [m/s]
    limit: int  # surrogates of a projection, or visits of each contact


def contacts_of(problem) -> Contacts:
    p = problem
    friction_2 = p.friction if p.friction_2 is None else p.friction_2
    return Contacts(p.body, p.frame, p.arm, p.bias, p.friction, friction_2)


def new_sides(problem, tangents: int) -> Sides:
    """Sides of `problem` with so many sampled tangents; rows are not yet filled."""
    nc, bodies = len(problem.friction), len(problem.mass)
    first, contact = np.zeros(bodies + 1, np.int32), np.zeros(2 * nc, np.int32)
    place = np.full((nc, 2), -1, np.int32)
    ne = sort_sides(problem.body, problem.mass, first, contact, place)

    def f(*shape):
        return np.zeros(shape)

    return Sides(
        first=first, contact=contact[:ne], place=place, root=f(bodies, 7), row=f(ne, 18),
        own=f(ne, 3), compliance=f(ne, 3), compliance_bound=f(bodies, 3), rest=f(ne, 3),
        push=f(ne), push_before=f(ne), hold=f(ne, 3), friction_before=f(ne, 2), weight=f(ne, 3),
        grip=np.zeros(ne, np.int32), smooth=np.zeros(ne, np.int32), reduced=f(ne, 18),
        reduced_square=f(ne, 3), reduced_product=f(ne), normal=f(bodies, 27),
        stick=f(bodies, 27), first_tangent=f(ne, 2), bound=f(ne, tangents),
        moved=f(bodies, 6),
        answer=f(bodies, 6), rounds=np.zeros(bodies, np.int32),
    )  # fmt: skip


@kernel
def sort_sides(body, mass, first, contact, place):
    """Sides body by body, contacts in their order; returns how many there are."""
    bodies = mass.shape[0]
    for c in range(body.shape[0]):
        for side in range(2):
            if mass[body[c, side], 0] > 0.0:
                first[body[c, side] + 1] += 1
    for b in range(bodies):
        first[b + 1] += first[b]
    total = first[bodies]
    for b in range(bodies, 0, -1):
        first[b] = first[b - 1]
    for c in range(body.shape[0]):
        for side in range(2):
            b = body[c, side]
            if mass[b, 0] > 0.0:
                e = first[b + 1]
                contact[e], place[c, side] = c, e
                first[b + 1] += 1
    return total


@kernel
def _fill_root(b, mass, root):
    """S of body `b`; rows of its inertia that are zero (two dimensions) stay zero."""
    root[b, 0] = sqrt(mass[b, 0])
    xx, xy, xz = mass[b, 1], mass[b, 2], mass[b, 3]
    yy, yz, zz = mass[b, 4], mass[b, 5], mass[b, 6]
    l00 = sqrt(max(xx, 0.0))
    l10, l20 = (xy / l00, xz / l00) if l00 > 0.0 else (0.0, 0.0)
    l11 = sqrt(max(yy - l10 * l10, 0.0))
    l21 = (yz - l10 * l20) / l11 if l11 > 0.0 else 0.0
    l22 = sqrt(max(zz - l20 * l20 - l21 * l21, 0.0))
    root[b, 1], root[b, 2], root[b, 3] = l00, l10, l20
    root[b, 4], root[b, 5], root[b, 6] = l11, l21, l22


@kernel
def _fill_row(e, axis, b, c, side, frame, arm, sides):
    """Row of axis `axis` of side `e`, which is side `side` of contact `c` and of body `b`."""
    sign = 1.0 if side == 1 else -1.0
    x, y, z = frame[c, 3 * axis], frame[c, 3 * axis + 1], frame[c, 3 * axis + 2]
    ax, ay, az = arm[c, 3 * side], arm[c, 3 * side + 1], arm[c, 3 * side + 2]
    tx, ty, tz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
    root, row, k = sides.root, sides.row, 6 * axis
    row[e, k] = sign * root[b, 0] * x
    row[e, k + 1] = sign * root[b, 0] * y
    row[e, k + 2] = sign * root[b, 0] * z
    row[e, k + 3] = sign * (root[b, 1] * tx + root[b, 2] * ty + root[b, 3] * tz)
    row[e, k + 4] = sign * (root[b, 4] * ty + root[b, 5] * tz)
    row[e, k + 5] = sign * root[b, 6] * tz
    sides.own[e, axis] = dot_at(e, axis, axis, row)


@kernel
def _fill_every(task, tasks, body, frame, arm, mass, sides):
    for b in range(task, mass.shape[0], tasks):
        _fill_root(b, mass, sides.root)
        for e in range(sides.first[b], sides.first[b + 1]):
            c = sides.contact[e]
            side = 1 if sides.place[c, 1] == e else 0
            for axis in range(3):
                _fill_row(e, axis, b, c, side, frame, arm, sides)
        lo, hi = sides.first[b], sides.first[b + 1]
        sides.compliance_bound[b, 0] = _bound_compliance(b, lo, hi, (0, 1), sides)
        sides.compliance_bound[b, 1] = _bound_compliance(b, lo, hi, (1, 3), sides)
        sides.compliance_bound[b, 2] = sides.compliance_bound[b, 1]


@parallel_kernel
def _fill_parallel(tasks, body, frame, arm, mass, sides):
    for task in prange(tasks):
        _fill_every(task, tasks, body, frame, arm, mass, sides)


@kernel
def _bound_compliance(b, first, last, axes, sides):
    """Bound on the compliance of body `b` to impulses at several contacts at once [1/kg].

    The largest eigenvalue of its sum of a aᵀ over the axes axes[0] to axes[1] is at most the
    fourth root of the sum of their fourth powers: exact for one row.
    """
    m = sides.stick
    for k in range(27):
        m[b, k] = 0.0
    for e in range(first, last):
        for axis in range(axes[0], axes[1]):
            add_equation(m, b, e, axis, sides.row, 1.0, 0.0)
    total = 0.0
    for i in range(6):
        for j in range(6):
            entry = 0.0
            for k in range(6):
                one, two = max(i, k), max(j, k)
                entry += (
                    m[b, one * (one + 1) // 2 + min(i, k)] * m[b, two * (two + 1) // 2 + min(j, k)]
                )
            total += entry * entry
    return sqrt(sqrt(total))


@kernel
def fill_sides(body, frame, arm, mass, alone, sides):
    """Rows of all sides, and the compliance of the other body of each.

    alone    as to this contact alone (29), else as to all its contacts at once at most: with that
             passes converge, whatever touches what
    """
    tasks = (mass.shape[0] + _CHUNK - 1) // _CHUNK
    _fill_parallel(tasks, body, frame, arm, mass, sides)
    for c in range(body.shape[0]):
        for side in range(2):
            e, other = sides.place[c, side], sides.place[c, 1 - side]
            if e < 0 or other < 0:
                continue
            for axis in range(3):
                compliance = sides.own[other, axis]
                if not alone:
                    bound = sides.compliance_bound[body[c, 1 - side], axis]
                    compliance = max(compliance, SHARE * bound)
                sides.compliance[e, axis] = compliance


@inner_kernel(inline="always")
def softness(e, axis, sides):
    """Compliance of the other side of `e` in equations, which cannot have it zero [1/kg]."""
    return max(sides.compliance[e, axis], HARD * sides.own[e, axis])


@inner_kernel(inline="always")
def slip_of(e, axis, x, sides):
    """Velocity of contact `e` along a tangent if its body moves by `x` [m/s]."""
    return sides.rest[e, axis] + along(e, axis, sides.row, x)


@inner_kernel(inline="always")
def opening(e, x, sides):
    """How fast contact `e` opens if its body moves by `x` and its normal pushes [m/s]."""
    return sides.rest[e, 0] + along(e, 0, sides.row, x) + sides.compliance[e, 0] * sides.push[e]


@inner_kernel(inline="always")
def store_twist(b, x, free, root, twist):
    """The twist free + S x of body `b`."""
    twist[b, 0] = free[b, 0] + root[b, 0] * x[0]
    twist[b, 1] = free[b, 1] + root[b, 0] * x[1]
    twist[b, 2] = free[b, 2] + root[b, 0] * x[2]
    twist[b, 3] = free[b, 3] + root[b, 1] * x[3]
    twist[b, 4] = free[b, 4] + root[b, 2] * x[3] + root[b, 4] * x[4]
    twist[b, 5] = free[b, 5] + root[b, 3] * x[3] + root[b, 5] * x[4] + root[b, 6] * x[5]


@inner_kernel(inline="always")
def fill_rest(b, contacts, impulse, twist, sides):
    """Velocities at the contacts of body `b` if they did not act, under the shared impulses.

    The other body moves as all its contacts but this one make it.
    """
    moved, compliance = sides.moved, sides.compliance
    x = (moved[b, 0], moved[b, 1], moved[b, 2], moved[b, 3], moved[b, 4], moved[b, 5])
    for e in range(sides.first[b], sides.first[b + 1]):
        c = sides.contact[e]
        un, u1, u2 = velocity_at(c, contacts.body, contacts.frame, contacts.arm, twist)
        un += contacts.bias[c]
        sides.rest[e, 0] = un - along(e, 0, sides.row, x) - compliance[e, 0] * impulse[c, 0]
        sides.rest[e, 1] = u1 - along(e, 1, sides.row, x) - compliance[e, 1] * impulse[c, 1]
        sides.rest[e, 2] = u2 - along(e, 2, sides.row, x) - compliance[e, 2] * impulse[c, 2]
