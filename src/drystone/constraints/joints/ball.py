"""Ball (spherical joint): a point of B stays at a point of A (CLINE 4.1 to 4.6), also in a cone.

    p_B - p_A = 0                                  three rows
    swing within an elliptic cone                  one row
        g = min(alpha) (1 - rho) >= 0,  rho = phi kappa(beta)
        kappa = sqrt((cos beta / alpha_y)² + (sin beta / alpha_z)²)
    lower <= twist of B about x <= upper           rows of a coordinate

x_A is the middle of the cone, x_B the axis that must stay in it; phi is the angle between them,
n = x_A x x_B / sin phi the axis of the swing, beta its angle from y_A towards z_A, alpha_y and
alpha_z the largest swings about y_A and z_A. A round cone has g = alpha - phi. With the relative
spin w: dphi = w.n and dbeta = w.(x_B x n) / sin phi, so that

    drho = w.(kappa n + kappa' (phi / sin phi) x_B x n)

Where the swing is zero or a half revolution, n is undefined; y_A stands for it. Drives and friction
have three rows, about x_A, y_A and z_A: relative spins, and for a servo the rotation vector
from the target, so that its torque points along the shortest rotation. Friction bounds the torque
about each of the three axes.

number: alpha_y, alpha_z (0: no cone), then the quaternion of B in A's axes at creation.
"""

from dataclasses import dataclass, field, replace
from math import atan2, inf, sqrt

import numpy as np

from drystone.constraints.joints.drives import Motor, Servo, check_drive
from drystone.constraints.joints.joint import Joint
from drystone.constraints.joints.pack import Coordinate
from drystone.constraints.joints.pose import place_joint
from drystone.constraints.joints.row_blocks import (
    NOWHERE,
    count_revolutions,
    quaternion_of,
    rotation_vector,
    twist,
    write_drive,
    write_friction,
    write_limits,
    write_point,
    write_row,
)
from drystone.constraints.joints.swing_twist import SwingTwist
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import (
    add,
    cross,
    dot,
    mul,
    mul_t,
    norm,
    quaternion_product,
    rotation_matrix,
    scale,
)
from drystone.model.attachment import Attachment, check_bodies, fix_to_bodies
from drystone.model.checks import frozen, not_negative, shown, vector
from drystone.model.joint_arrays import BALL, DRIVE_POSITION, ROW_DRIVE, ROW_LIMIT


@kernel
def swing(place):
    """Angle between x_A and x_B: value, l, a, b."""
    lean = cross(place.x_a, place.x_b)
    s, c = norm(lean), dot(place.x_a, place.x_b)
    axis = scale(lean, 1.0 / s) if s * s > 1e-24 else place.y_a
    return atan2(s, c), NOWHERE, axis, axis


@inner_kernel(no_cpython_wrapper=True)
def cone_gap(place, alpha_y, alpha_z):
    """Gap between the swing and the cone [rad], and its gradient."""
    phi, _, n, _ = swing(place)
    u, v = dot(n, place.y_a), dot(n, place.z_a)
    kappa = sqrt((u / alpha_y) ** 2 + (v / alpha_z) ** 2)
    steep = u * v * (1.0 / alpha_z**2 - 1.0 / alpha_y**2) / kappa
    # phi / sin phi grows without bound towards phi = pi, where the row need only be finite.
    s = norm(cross(place.x_a, place.x_b))
    ratio = phi / max(s, 1e-3 * phi) if phi > 0.0 else 1.0
    least = min(alpha_y, alpha_z)
    slope = add(scale(n, kappa), scale(cross(place.x_b, n), steep * ratio))
    return least * (1.0 - phi * kappa), scale(slope, -least)


@kernel
def _write_cone(joints, j, place, r, dt, rows):
    alpha_y, alpha_z = joints.number[j, 0], joints.number[j, 1]
    if alpha_y == 0.0:
        return r
    gap, gradient = cone_gap(place, alpha_y, alpha_z)
    write_row(rows, r, NOWHERE, gradient, gradient, min(gap, 0.0), ROW_LIMIT)
    rows.lower[r] = 0.0
    rows.bias[r] = max(gap, 0.0) / dt
    return r + 1


@kernel
def _offset_from_target(joints, j, rotation):
    """Rotation vector, in A's axes, from the servo's target to where B is."""
    f, drive = joints.number, joints.drive
    created = (f[j, 2], -f[j, 3], -f[j, 4], -f[j, 5])
    t = quaternion_of((drive[j, 0, 0], drive[j, 1, 0], drive[j, 2, 0]))
    since = quaternion_product(rotation, created)
    return rotation_vector(quaternion_product(since, (t[0], -t[1], -t[2], -t[3])))


@inner_kernel(no_cpython_wrapper=True)
def fill_ball(joints, j, r, position, rotation, dt, rows):
    place = place_joint(joints, j, position, rotation)
    r = _write_cone(joints, j, place, write_point(place, r, rows), dt, rows)
    angle, lin, a, b = twist(place)
    angle = count_revolutions(angle, rows.value[j, 0])
    rows.value[j, 0] = angle
    r = write_limits(joints, j, 0, r, angle, lin, a, b, dt, rows)
    offset = NOWHERE
    if joints.drive_mode[j, 0] == DRIVE_POSITION:
        offset = _offset_from_target(joints, j, place.rotation)
    for k in range(3):
        t = place.x_a if k == 0 else (place.y_a if k == 1 else place.z_a)
        r = write_drive(joints, j, k, r, offset[k], NOWHERE, t, t, dt, rows)
    for k in range(3):
        t = place.x_a if k == 0 else (place.y_a if k == 1 else place.z_a)
        r = write_friction(joints.friction[j, k], r, NOWHERE, t, t, dt, rows)


def _same_axes(attachment: Attachment, axes) -> bool:
    """Whether a joint was made with these axes; 1e-9 stands for rounding."""
    made = [np.reshape(rotation_matrix(*basis), (3, 3)) for basis in attachment.bases]
    return bool(np.abs(np.subtract(made, axes)).max() < 1e-9)


@dataclass(frozen=True, eq=False)
class Ball(Joint):
    """Spherical joint: B rotates freely about `point` of A.

    limits    SwingTwist(...) or None
    friction  torque that resists rotation, about each axis [N m]
    motor     Motor or Servo with a vector as speed or target
    """

    a: object
    b: object
    point: tuple[float, float, float]
    limits: SwingTwist | None = None
    friction: float = 0.0
    motor: Motor | Servo | None = None
    attachment: Attachment | None = field(default=None, kw_only=True, repr=False)

    _kind, _held_rows = BALL, 3
    _measures, _angles = (twist, swing), (True, False)
    _tree = (3, 0, 3)

    def __post_init__(self) -> None:
        check_bodies("Ball", self.a, self.b)
        point = vector("Ball: point", self.point)
        object.__setattr__(self, "point", point)
        if self.limits is not None and not isinstance(self.limits, SwingTwist):
            raise InputError(
                f"Ball: limits is {shown(self.limits)}, must be SwingTwist(axis=..., swing=..., "
                f"twist=(lower, upper)) or None."
            )
        object.__setattr__(self, "friction", not_negative("Ball: friction", self.friction))
        check_drive("Ball: motor", self.motor, 3)
        axes = (np.eye(3), np.eye(3)) if self.limits is None else self.limits.axes()
        fix_to_bodies(self, point, point, *axes)
        if self.limits is not None and not _same_axes(self.attachment, axes):
            raise InputError(
                "Ball: the axes of its limits cannot be changed any more; only the angles can."
            )

    def _numbers(self):
        alphas = (0.0, 0.0) if self.limits is None else self.limits.alphas()
        (w, x, y, z), created = self.attachment.bases
        return *alphas, *quaternion_product((w, -x, -y, -z), created)

    def _coordinates(self):
        twist_limits = self.limits.twist if self.limits is not None else None
        first = (-inf, inf) if twist_limits is None else twist_limits
        drives = self._drives()
        return tuple(
            Coordinate(first if k == 0 else (-inf, inf), drives[k], self.friction) for k in range(3)
        )

    @property
    def row_count(self) -> int:
        cone = self.limits is not None and self.limits.swing is not None
        return super().row_count + cone

    def _drives(self):
        """The drive of each axis of the joint; the vector of the user is in those of the world."""
        motor = self.motor
        if motor is None:
            return None, None, None
        name = "speed" if isinstance(motor, Motor) else "target"
        goal = mul_t(rotation_matrix(*self.attachment.bases[0]), getattr(motor, name))
        return tuple(replace(motor, **{name: float(g)}) for g in goal)

    @property
    def twist(self) -> float:
        """Rotation of B about the axis of its limits (x without) since creation [rad]."""
        return self._value(0)

    @property
    def swing(self) -> float:
        """Angle between the axis and the middle of the cone [rad]."""
        return self._value(1)

    @property
    def rotation(self) -> np.ndarray:
        """Rotation vector of B in A since creation, in the world axes that A had then [rad]."""
        (w, x, y, z), (bw, bx, by, bz) = self.attachment.bases
        created = quaternion_product((bw, -bx, -by, -bz), (w, x, y, z))
        since = quaternion_product(self._place().rotation, created)
        return frozen(mul(rotation_matrix(w, x, y, z), rotation_vector(since)))

    @property
    def spin(self) -> np.ndarray:
        """Angular velocity of B relative to A, in world axes [rad/s]."""
        a, b = (np.zeros(3) if body is None else body.spin for body in self.bodies)
        return frozen(b - a)

    @property
    def motor_force(self) -> np.ndarray:
        """Torque of its drive on B in the last step, in world axes [N m]."""
        rows = self._owner().joint_rows(self)
        driven = rows.kind == ROW_DRIVE
        return frozen(rows.impulse[driven] @ rows.angular[driven, 3:] / self._world.dt)
