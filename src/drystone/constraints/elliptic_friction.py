"""Elliptic friction in a world: tangent 1 of a contact lies along a direction fixed in a body.

The compiled stages know one coefficient of friction per contact. A world in which it differs with
the direction has Ellipses beside its Model, and step_with() of steppers/time_stepping.py calls
contact_ellipses() when the rows of a step are there: it rotates the tangents, and the solver is
handed friction along tangent 1 and along tangent 2 (friction_2). The law on an ellipse is that of
friction_sections.py.

Impacts need no code of their own. With tangent k made shorter by the factor s_k = mu_k / mu, the
larger friction being mu, the impulse along it is p_k / s_k and the velocity s_k u_k: the ellipse
becomes the circle |p_t| <= mu p_n, and as the power p . u is what it was, so is the impulse that
takes most of it. The impact stage for circles then solves the contact of the ellipse.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from drystone.constraints.problem import fill_diagonal_blocks, invert_blocks
from drystone.model.arrays import INFO_CONTACTS, INFO_NEAR
from drystone.model.materials import Material, both_axes, friction_tables
from drystone.shapes import matrix_from_quaternion

# A direction that stands on the surface to this angle [rad] is along no tangent: all are across.
UPRIGHT = 1e-6
# In impacts an axis without friction has this share of the other's: a tangent needs a length.
THIN = 1e-6


@dataclass(frozen=True)
class Ellipses:
    """Constant arrays of elliptic friction; m materials and ns shapes, as in Model."""

    friction_1: np.ndarray  # (m, m) along the direction
    friction_2: np.ndarray  # (m, m) across it
    carrier: np.ndarray  # (m, m) whose direction counts: 0 of the first material, 1 of the second
    axis: np.ndarray  # (ns, 3) unit direction in the axes of the body inside; world axes if fixed

    def friction_of_rows(self, work) -> tuple[np.ndarray, np.ndarray]:
        """Friction along and across the direction of every contact of this step."""
        one, two = _materials(work)
        return self.friction_1[one, two], self.friction_2[one, two]


def build_ellipses(
    materials: Sequence[Material], overrides: Mapping, things: Sequence, owner: Sequence[int]
) -> Ellipses | None:
    """Of the given materials on `things` (bodies and fixed ones); None if there is no ellipse.

    `owner` (ns,) holds the number of the thing that each shape belongs to.
    """
    friction_1, friction_2 = friction_tables(materials, overrides)
    if (friction_1 == friction_2).all():
        return None
    rank = np.array([_rank(material) for material in materials])
    axes = {thing._number: _axis(thing) for thing in things}
    return Ellipses(
        friction_1=friction_1,
        friction_2=friction_2,
        carrier=np.where(rank[:, None] > rank[None, :], 0, 1),  # B was added later than A
        axis=np.array([axes[number] for number in owner]),
    )


def _rank(material: Material) -> float:
    """The higher one gives the direction: 1 + (1 - ratio of its axes), or 0 if it has none."""
    if material.friction_direction is None:
        return 0.0
    low, high = sorted(both_axes(material.friction))
    return 2.0 - low / high if high > low else 1.0


def _axis(thing) -> np.ndarray:
    direction = np.array(thing._material.friction_direction or (1.0, 0.0, 0.0))
    direction /= np.abs(direction).max()  # squares of its numbers may be too large or too small
    direction /= np.linalg.norm(direction)
    if hasattr(thing, "_frame"):
        return matrix_from_quaternion(thing._frame.principal_rotation).T @ direction
    return matrix_from_quaternion(thing._pose[1]) @ direction


@contextmanager
def contact_ellipses(model, state, work, ellipses: Ellipses | None) -> Iterator[None]:
    """Within: rows whose ellipses are circles, for the impact stage. After: rows for the solver."""
    if ellipses is None:
        yield
        return
    friction = np.column_stack(rotate_tangents(model, state, work, ellipses))
    rows, count = work.rows, len(friction)
    larger = friction.max(axis=1)
    share = np.ones((count, 3))
    np.divide(friction, larger[:, None], out=share[:, 1:], where=larger[:, None] > 0.0)
    _shorten(rows, np.maximum(share, THIN), larger)
    yield
    _shorten(rows, 1.0 / np.maximum(share, THIN), friction[:, 0])


def _shorten(rows, share: np.ndarray, friction: np.ndarray) -> None:
    """Multiply the axes of the contacts by `share` (nc, 3); impulses act as before."""
    count = len(share)
    rows.friction[:count] = friction
    rows.frame[:count] *= share.repeat(3, axis=1)
    rows.impulse[:count] /= share
    rows.impact_impulse[:count] /= share
    i, j = np.triu_indices(3)  # nn, n1, n2, 11, 12, 22
    rows.delassus[:count] *= share[:, i] * share[:, j]
    invert_blocks(rows.delassus[:count], rows.inverse[:count])


def rotate_tangents(model, state, work, ellipses: Ellipses) -> tuple[np.ndarray, np.ndarray]:
    """Rotate the tangents of all elliptic contacts; returns friction along tangents 1 and 2.

    Impulses stay what they are in world axes.
    """
    friction_1, friction_2 = ellipses.friction_of_rows(work)
    rows, count = work.rows, len(friction_1)
    frame, impulse = rows.frame[:count].reshape(-1, 3, 3), rows.impulse[:count]
    normal, axis = frame[:, 0], _world_axes(model, state, work, ellipses)
    along = axis - (normal * axis).sum(axis=1, keepdims=True) * normal
    length = np.linalg.norm(along, axis=1)
    friction_1 = np.where(length < UPRIGHT, friction_2, friction_1)
    rotated = friction_1 != friction_2
    pushed = np.einsum("ck,ckx->cx", impulse[rotated], frame[rotated])
    frame[rotated, 1] = along[rotated] / length[rotated, None]
    frame[rotated, 2] = np.cross(normal[rotated], frame[rotated, 1])
    impulse[rotated] = np.einsum("ckx,cx->ck", frame[rotated], pushed)
    fill_diagonal_blocks(
        rows.body[:count], rows.frame[:count], rows.arm[:count], work.motion.mass,
        rows.delassus[:count],
    )  # fmt: skip
    return friction_1, friction_2


def _world_axes(model, state, work, ellipses: Ellipses) -> np.ndarray:
    """(nc, 3) the direction that counts at every contact, world axes at the start of the step."""
    near_count = int(work.log.info[INFO_NEAR])
    pair = np.repeat(work.near.pair[:near_count], work.near.slot_count[:near_count])
    shapes = state.pair[pair][_row_contacts(work)]
    side = ellipses.carrier[_materials(work)]
    carrying = np.take_along_axis(shapes, side[:, None], axis=1)[:, 0]
    matrix = np.vstack((work.motion.rotation_matrix, np.eye(3).reshape(1, 9)))  # last: FIXED
    matrix = matrix[model.shapes.body[carrying]].reshape(-1, 3, 3)
    return np.einsum("cij,cj->ci", matrix, ellipses.axis[carrying])


def _row_contacts(work) -> np.ndarray:
    return work.contact_list.row_contact[: int(work.log.info[INFO_CONTACTS])]


def _materials(work) -> tuple[np.ndarray, np.ndarray]:
    """Materials of A and of B of every row."""
    one, two = work.contact_list.material[_row_contacts(work)].T
    return one, two
