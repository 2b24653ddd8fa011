"""Spring: a force along the line between two points, with a damper beside it.

    d = p_B - p_A,  l = |d|,  n = d / l,  s = n . d'       p = c + r: centre of mass and arm
    F on B = -f n,  f = k (l - L) + c s;   F at A is the opposite; torques are r x F

Gradients, with the derivative of p and of its velocity by the pose and the twist of its body,

    dF/dd  = -k n nᵀ - (f / l) (1 - n nᵀ) - (c / l) n (d' - s n)ᵀ
    dF/dd' = -c n nᵀ
    dp = dc + dθ x r,   dp' = dv + dw x r + w x (dθ x r),   d(r x F) = (dθ x r) x F + r x dF

Potential: k (l - L)² / 2.

number: length L [m], stiffness k [N/m], damping c [N s/m].
"""

from dataclasses import dataclass, field
from math import sqrt

import numpy as np

from drystone.forces.force import Element, check_ends, place_points
from drystone.jit import inner_kernel
from drystone.jit.vec import add, cross, dot, mul, rotation_matrix, scale, sub
from drystone.model.attachment import Attachment
from drystone.model.checks import check_spring, not_negative
from drystone.model.rotation import rotation_matrices

SPRING = 0  # kind of its rows, also of those of a Damper

NOWHERE = (0.0, 0.0, 0.0)


@inner_kernel
def point_on(elements, e, side, position, rotation, twist):
    """Arm, place and velocity of the point of element `e` on A (side 0) or B."""
    b, a = elements.body[e, side], elements.anchor
    anchor = (a[e, 3 * side], a[e, 3 * side + 1], a[e, 3 * side + 2])
    if b == position.shape[0]:
        return NOWHERE, anchor, NOWHERE
    q = rotation
    arm = mul(rotation_matrix(q[b, 0], q[b, 1], q[b, 2], q[b, 3]), anchor)
    place = add((position[b, 0], position[b, 1], position[b, 2]), arm)
    rotating = cross((twist[b, 3], twist[b, 4], twist[b, 5]), arm)
    return arm, place, add((twist[b, 0], twist[b, 1], twist[b, 2]), rotating)


@inner_kernel
def spring_force(elements, e, position, rotation, twist):
    """Arms of A and of B, and the force on B; none where the two points are one."""
    arm_a, at_a, rate_a = point_on(elements, e, 0, position, rotation, twist)
    arm_b, at_b, rate_b = point_on(elements, e, 1, position, rotation, twist)
    d = sub(at_b, at_a)
    square = dot(d, d)
    if square == 0.0:
        return arm_a, arm_b, NOWHERE
    length = sqrt(square)
    number = elements.number
    pull = number[e, 1] * (length - number[e, 0]) / length
    pull += number[e, 2] * dot(d, sub(rate_b, rate_a)) / square
    return arm_a, arm_b, scale(d, -pull)


def spring_gradients(elements, of, state):
    """Bodies (m, 2), and derivatives (m, 12, 12) of force and torque on A, on B by pose and by
    twist of A, of B, of the springs `of`.
    """
    number = elements.number[of]
    arm, apart, rate, spin = ends_of(elements, of, state)
    length = np.linalg.norm(apart, axis=1)
    far = length > 0.0
    length = np.where(far, length, 1.0)
    n = np.where(far[:, None], apart / length[:, None], 0.0)
    rest, k, c = number[:, 0], np.where(far, number[:, 1], 0.0), number[:, 2]
    speed = (n * rate).sum(axis=1)
    pull = k * (length - rest) + c * speed
    along = n[:, :, None] * n[:, None, :]
    by_rate = -c[:, None, None] * along
    across = np.where(far[:, None, None], np.eye(3) - along, 0.0)
    by_place = -k[:, None, None] * along - (pull / length)[:, None, None] * across
    slide = (rate - speed[:, None] * n) * (c / length)[:, None]
    by_place -= n[:, :, None] * slide[:, None, :]
    moved, swept = _point_moves(arm, spin)  # of d and of its rate, by the poses
    by_pose = by_place @ moved + by_rate @ swept
    force = -pull[:, None] * n
    lever = moved.transpose(0, 2, 1)
    k_x, k_v = lever @ by_pose, lever @ by_rate @ moved
    for side, sign in ((0, -1.0), (1, 1.0)):
        block = slice(6 * side + 3, 6 * side + 6)
        k_x[:, block, block] += sign * _torque_by_rotation(arm[:, side], force)
    return elements.body[of], k_x, k_v


def ends_of(elements, of, state):
    """Arms (m, 2, 3), d (m, 3), its rate (m, 3) and spins (m, 2, 3) of the springs `of`."""
    # The fixed world as one more body, not rotated, at the origin.
    position = np.vstack((state.position, np.zeros((1, 3))))
    rotation = np.vstack((state.rotation, [(1.0, 0.0, 0.0, 0.0)]))
    twist = np.vstack((state.twist, np.zeros((1, 6))))
    body = elements.body[of]
    anchor = elements.anchor[of].reshape(-1, 2, 3)
    arm = np.einsum("...ij,...j->...i", rotation_matrices(rotation[body]), anchor)
    rate = twist[body, :3] + np.cross(twist[body, 3:], arm)
    place = position[body] + arm
    return arm, place[:, 1] - place[:, 0], rate[:, 1] - rate[:, 0], twist[body, 3:]


def _point_moves(arm, spin):
    """How d and its rate change with the poses of A and B (m, 3, 12)."""
    moved, swept = np.zeros((len(arm), 3, 12)), np.zeros((len(arm), 3, 12))
    for side, sign in ((0, -1.0), (1, 1.0)):
        first = 6 * side
        moved[:, :, first : first + 3] = sign * np.eye(3)
        moved[:, :, first + 3 : first + 6] = -sign * skew(arm[:, side])
        swept[:, :, first + 3 : first + 6] = -sign * skew(spin[:, side]) @ skew(arm[:, side])
    return moved, swept


def _torque_by_rotation(arm, force):
    """Derivative of the torque by a rotation of the arm alone: (dθ x r) x F."""
    inner = (arm * force).sum(axis=1)
    return arm[:, :, None] * force[:, None, :] - inner[:, None, None] * np.eye(3)


def skew(v):
    """(m, 3, 3) with skew(v) x = v x x."""
    out = np.zeros((len(v), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return out - out.transpose(0, 2, 1)


def spring_energy(elements, of, state):
    """[J] of the springs `of` (m,)."""
    number, apart = elements.number[of], ends_of(elements, of, state)[1]
    return 0.5 * number[:, 1] * (np.linalg.norm(apart, axis=1) - number[:, 0]) ** 2


@dataclass(frozen=True, eq=False)
class Spring(Element):
    """A spring between a point of `a` and a point of `b`; None is the fixed world.

    stiffness          [N/m]
    damping            along the spring [N s/m]
    point_a, point_b   where it is fixed, in world coordinates now [m]; None: centre of mass
    length             at which it is slack [m]; None: what it is now
    """

    a: object
    b: object
    stiffness: float
    damping: float = 0.0
    point_a: tuple[float, float, float] | None = None
    point_b: tuple[float, float, float] | None = None
    length: float | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _fixed = SPRING, ("a", "b", "point_a", "point_b", "attachment")

    def __post_init__(self) -> None:
        check_ends(self)
        check_spring(self, "Spring")
        here = place_points(self)
        length = here if self.length is None else self.length
        object.__setattr__(self, "length", not_negative("Spring: length", length))

    def _numbers(self):
        return self.length, self.stiffness, self.damping
