"""The joints of a contact problem: their rows in blocks of three, behind the contacts.

A block stands where a contact could: its three rows see the velocities w = u + softness p + bias
of model/joint_arrays.py, and each obeys

    w = 0 where lower < p < upper,   w >= 0 where p = lower,   w <= 0 where p = upper

The softness is part of W, on its diagonal, and the bias part of q. Rows that only fill up a block
have no Jacobian, bounds of zero and a softness of one: their impulse is zero in every answer.
"""

from typing import NamedTuple

import numpy as np

from drystone.constraints.error_measures import (
    MEASURE_ENERGY,
    MEASURE_FISCHER,
    MEASURE_GAP,
    MEASURE_MINMAP,
    MEASURE_NATURAL,
)
from drystone.constraints.joint_rows import SOFTNESS
from drystone.errors import InputError


class JointBlocks(NamedTuple):
    """Blocks of three rows of joints, `nb` of them. World axes."""

    body: np.ndarray  # (nb, 2) int32, bodies A and B; the last body is the fixed world
    linear: np.ndarray  # (nb, 3, 3) l of each row
    angular: np.ndarray  # (nb, 3, 6) a, then b of each row [m], or without unit
    bias: np.ndarray  # (nb, 3) [m/s] or [rad/s]
    softness: np.ndarray  # (nb, 3) [1/kg] or [1/(kg m²)]
    lower: np.ndarray  # (nb, 3) bounds of the impulses [N s] or [N m s]
    upper: np.ndarray  # (nb, 3)
    row: np.ndarray  # (nb, 3) int32: which row of the world's joints, -1 where it only fills up

    def jacobian(self) -> np.ndarray:
        """(nb, 2, 3, 6): for A and B what each row sees of a twist."""
        values = np.empty((len(self.body), 2, 3, 6))
        for side, sign in ((0, -1.0), (1, 1.0)):
            values[:, side, :, :3] = sign * self.linear
            values[:, side, :, 3:] = sign * self.angular[:, :, 3 * side : 3 * side + 3]
        return values

    def relative(self, twist: np.ndarray) -> np.ndarray:
        """Velocities (nb, 3) of the rows under the twists (n + 1, 6), without the bias."""
        return np.einsum("bskm,bsm->bk", self.jacobian(), twist[self.body])

    def wrench(self, impulse: np.ndarray, bodies: int) -> np.ndarray:
        """(bodies, 6) what `impulse` (nb, 3) does to the bodies [N s, N m s]."""
        total = np.zeros((bodies, 6))
        np.add.at(total, self.body, np.einsum("bskm,bk->bsm", self.jacobian(), impulse))
        return total

    def own(self, inverse_mass: np.ndarray) -> np.ndarray:
        """(nb, 3, 3) own block of W of every block; `inverse_mass` is (n + 1, 6, 6)."""
        jacobian = self.jacobian()
        total = np.einsum("bskm,bsmj,bslj->bkl", jacobian, inverse_mass[self.body], jacobian)
        total[:, range(3), range(3)] += self.softness
        return total

    def clamped(self, impulse: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(impulse, self.lower), self.upper)


def inverse_masses(mass: np.ndarray) -> np.ndarray:
    """(n + 1, 6, 6) from the rows of ContactProblem.mass."""
    blocks = np.zeros((len(mass), 6, 6))
    blocks[:, [0, 1, 2], [0, 1, 2]] = mass[:, :1]
    for k, (i, j) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)), start=1):
        blocks[:, 3 + i, 3 + j] = blocks[:, 3 + j, 3 + i] = mass[:, k]
    return blocks


def joint_blocks(joint_work, mass: np.ndarray, groups: int) -> JointBlocks | None:
    """The blocks of `joint_work` that are awake, with the softness that the compiled step adds."""
    if joint_work is None or joint_work.group_node[groups] == 0:
        return None
    node = joint_work.node_list[: joint_work.group_node[groups]]
    row, rows = joint_work.node_row[node], joint_work.rows
    real = row >= 0

    def take(array, absent=0.0):
        return np.where(real.reshape(real.shape + (1,) * (array.ndim - 1)), array[row], absent)

    blocks = JointBlocks(
        body=joint_work.node_body[node], linear=take(rows.linear), angular=take(rows.angular),
        bias=take(rows.bias), softness=take(rows.softness), lower=take(rows.lower),
        upper=take(rows.upper), row=row,
    )  # fmt: skip
    own = np.diagonal(blocks.own(inverse_masses(mass)), axis1=1, axis2=2) - blocks.softness
    softness = blocks.softness + SOFTNESS * own
    softness[own + softness == 0.0] = 1.0  # nothing moves it
    return blocks._replace(softness=softness)


def block_impulses(blocks: JointBlocks | None, rows) -> np.ndarray:
    """(nb, 3) impulses of JointRows `rows`."""
    if blocks is None:
        return np.zeros((0, 3))
    return np.where(blocks.row >= 0, rows.impulse[blocks.row], 0.0)


def keep_impulses(blocks: JointBlocks | None, impulse: np.ndarray, rows) -> None:
    """The inverse of block_impulses()."""
    if blocks is not None:
        real = blocks.row >= 0
        rows.impulse[blocks.row[real]] = impulse[real]


def joint_errors(blocks: JointBlocks, impulse, velocity, own) -> np.ndarray:
    """(nb,) worst row of every block, as far as it is from its law [m/s], [rad/s].

    own     (nb, 3) diagonal of W: one step of each row is measured with it, whatever the others do
    """
    off = impulse - blocks.clamped(impulse - velocity / own)
    return np.abs(off * own).max(axis=1)


def add_measures(blocks: JointBlocks, impulse, velocity, free, own, scale: float, out) -> None:
    """Add the rows of joints to measures of contacts; `scale` is the |q|² that these have."""
    p, w, errors = impulse, velocity, joint_errors(blocks, impulse, velocity, own)
    natural = out[MEASURE_NATURAL] ** 2 * (scale if scale > 0.0 else 1.0) + (errors**2).sum()
    total = scale + (free**2).sum()
    out[MEASURE_NATURAL] = np.sqrt(natural / total if total > 0.0 else natural)
    out[MEASURE_FISCHER] += (
        0.5 * (_fischer(p - blocks.lower, _fischer(-w, blocks.upper - p)) ** 2).sum()
    )
    out[MEASURE_MINMAP] += 0.5 * ((p - blocks.clamped(p - w)) ** 2).sum()
    # How far the impulse is from the bound that the velocity asks for; from zero without one.
    bound = np.where(w > 0.0, blocks.lower, blocks.upper)
    away = np.where(np.isfinite(bound), p - np.where(np.isfinite(bound), bound, 0.0), p)
    out[MEASURE_GAP] += np.abs(away * w).sum()
    # Neither the bias nor the softness are velocities of bodies.
    moved = w + free - 2.0 * blocks.bias - blocks.softness * p
    out[MEASURE_ENERGY] += 0.5 * (p * moved).sum()


def _fischer(a, b) -> np.ndarray:
    """sqrt(a² + b²) - a - b, also where one of them is infinite."""
    far = np.isinf(a) | np.isinf(b)
    x, y = np.where(far, 0.0, a), np.where(far, 0.0, b)
    return np.where(far, -np.where(np.isinf(a), b, a), np.hypot(x, y) - x - y)


def check_blocks(blocks: JointBlocks, bodies: int) -> None:
    """Raise an InputError unless arrays from a file are blocks of joints of so many bodies."""
    nb = len(blocks.body) if np.ndim(blocks.body) else 0
    shapes = dict(body=(nb, 2), linear=(nb, 3, 3), angular=(nb, 3, 6))
    for name, array in blocks._asdict().items():
        shape, whole = shapes.get(name, (nb, 3)), name in ("body", "row")
        if array.dtype.kind != ("i" if whole else "f"):
            raise InputError(f"joints/{name} is no array of {'whole ' * whole}numbers.")
        if array.shape != shape:
            raise InputError(f"joints/{name} has shape {array.shape}, must be {shape}.")
        free = name in ("lower", "upper")
        if np.isnan(array).any() or not free and not np.isfinite(array).all():
            raise InputError(f"joints/{name} holds numbers that are not finite.")
    if nb == 0 or blocks.body.min() < 0 or blocks.body.max() >= bodies:
        raise InputError(f"joints/body holds numbers outside 0 to {bodies - 1}, or none.")
    if (blocks.lower > blocks.upper).any():
        raise InputError("joints/lower lies above joints/upper somewhere.")
    if blocks.softness.min() < 0.0 or blocks.row.min() < -1:
        raise InputError("joints/softness and joints/row must not be negative, but for row -1.")
