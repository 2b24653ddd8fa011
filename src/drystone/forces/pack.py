"""From the forces that a user made to the arrays that kernels read (table.py)."""

from collections.abc import Sequence

import numpy as np

from drystone.forces.attractor import pole_energy
from drystone.forces.spring import spring_energy
from drystone.forces.table import NUMBERS, POLE, SPRING, Elements
from drystone.jit.vec import mul_t, rotation_matrix
from drystone.model.arrays import DYNAMIC


def pack_elements(forces: Sequence, built, origin) -> Elements | None:
    """Table of all elements with a kind (functions have none), or None if there are none.

    built    build.Build: where the bodies stand in the arrays
    origin   the world's local origin [m]
    """
    n = len(built.numbers)
    row_of = {number: row for row, number in enumerate(built.numbers.tolist())}
    free = np.flatnonzero(built.model.bodies.kind == DYNAMIC).tolist()
    kinds, bodies, anchors, numbers = [], [], [], []
    for element in forces:
        if element._kind is None:
            continue
        rows = [n if body is None else row_of[body.number] for body in element.bodies]
        if element._kind == SPRING:
            pairs = [(rows[0], rows[1])]
            anchor = [*_anchor(element, 0, rows[0], built, origin)]
            anchor += _anchor(element, 1, rows[1], built, origin)
        else:
            pairs = [(b, n) for b in (free if element.body is None else rows)]
            place = element.position if element._kind == POLE else origin
            anchor = [*np.subtract(place, origin), 0.0, 0.0, 0.0]
        for pair in pairs:
            kinds.append(element._kind)
            bodies.append(pair)
            anchors.append(anchor)
            numbers.append((*element._numbers(), 0.0, 0.0, 0.0, 0.0)[:NUMBERS])
    count = len(kinds)
    if not any(element._kind is not None for element in forces):
        return None
    return Elements(
        kind=np.array(kinds, np.int32),
        body=np.array(bodies, np.int32).reshape(count, 2),
        anchor=np.array(anchors, np.float64).reshape(count, 6),
        number=np.array(numbers, np.float64).reshape(count, NUMBERS),
        before=np.zeros((n, 6)),
        after=np.zeros((n, 6)),
    )


def _anchor(element, side, row, built, origin):
    """From the frame of the shape to that of the centre of mass and the principal axes."""
    anchor = element.attachment.anchors[side]
    if row == len(built.numbers):
        return tuple(p - o for p, o in zip(anchor, origin, strict=True))
    arm = tuple(p - float(o) for p, o in zip(anchor, built.offset[row], strict=True))
    return mul_t(rotation_matrix(*map(float, built.turn[row])), arm)


def stored_energy(elements: Elements | None, state) -> float:
    """Potential energy of all elements [J]."""
    if elements is None:
        return 0.0
    total = 0.0
    of = np.flatnonzero(elements.kind == SPRING)
    if len(of):
        apart = ends_of(elements, of, state)[1]
        total += float(spring_energy(elements.number[of], apart).sum())
    of = np.flatnonzero(elements.kind == POLE)
    if len(of):
        total += float(pole_energy(elements.number[of], away_from(elements, of, state)).sum())
    return total


def ends_of(elements: Elements, of, state):
    """Arms (m, 2, 3), d (m, 3), its rate (m, 3) and spins (m, 2, 3) of the springs `of`."""
    # The fixed world as one more body, not turned, at the origin.
    position = np.vstack((state.position, np.zeros((1, 3))))
    rotation = np.vstack((state.rotation, [(1.0, 0.0, 0.0, 0.0)]))
    twist = np.vstack((state.twist, np.zeros((1, 6))))
    body = elements.body[of]
    anchor = elements.anchor[of].reshape(-1, 2, 3)
    arm = _turned(rotation[body], anchor)
    rate = twist[body, :3] + np.cross(twist[body, 3:], arm)
    place = position[body] + arm
    return arm, place[:, 1] - place[:, 0], rate[:, 1] - rate[:, 0], twist[body, 3:]


def away_from(elements: Elements, of, state):
    """Centres of the bodies as seen from the places of the poles `of` (m, 3)."""
    return state.position[elements.body[of, 0]] - elements.anchor[of, :3]


def _turned(q, v):
    """Vectors (m, 2, 3) turned by unit quaternions (m, 2, 4)."""
    w, axis = q[..., :1], q[..., 1:]
    t = 2.0 * np.cross(axis, v)
    return v + w * t + np.cross(axis, t)
