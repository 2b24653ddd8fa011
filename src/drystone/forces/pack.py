"""Packing: from the forces that a user made to the arrays that kernels read (table.py)."""

from collections.abc import Sequence

import numpy as np

from drystone.forces.table import NUMBERS, Elements
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
        if element.has_two_ends:
            pairs = [(rows[0], rows[1])]
            anchor = [*_anchor(element, 0, rows[0], built, origin)]
            anchor += _anchor(element, 1, rows[1], built, origin)
        else:
            pairs = [(b, n) for b in (free if element.body is None else rows)]
            place = getattr(element, "position", origin)
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
    return mul_t(rotation_matrix(*map(float, built.principal_rotation[row])), arm)
