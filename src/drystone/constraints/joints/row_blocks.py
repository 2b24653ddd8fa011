"""Rows that several joints share: held points, held axes, and what a free coordinate can have.

With w = w_B - w_A the relative spin, c = x_A.x_B and phi the angle between these axes:

    point        g = p_B - p_A, three rows:     l = e_i, a = arm_A x e_i, b = arm_B x e_i
                 (CLINE 4.1 and 4.5 with the sign that makes the impulse act on B)
    across t     g = t.(p_B - p_A), t in A:     l = t, a = (arm_A + p_B - p_A) x t, b = arm_B x t
    axis         g = t.(x_A x x_B) k for t = y_A, z_A with k = sqrt(2 / (1 + c)): the components of
                 the swing 2 sin(phi/2) that takes x_A to x_B; no rate other than w enters, so
                 a = b = dg/dw. CLINE 4.9 has a = b = t, which is this where the error is zero.
    orientation  g = 2 v for the quaternion (q, v) of B in A's axes, q >= 0: dg/dt = q w + w x v
    twist        theta = 2 atan2(v_x, q) by the right hand about x:  a = b = (x_A + x_B) / (1 + c)

All Jacobians are exact at every pose, not only where the errors vanish, but for the guards
against singular points.

Kernels that write rows are called by kernels alone. They are compiled without an entry from
Python (no_cpython_wrapper): unpacking twenty arrays takes as long to compile as the work.
"""

from math import atan2, cos, floor, inf, pi, sin, sqrt

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, norm, scale
from drystone.model.joint_arrays import (
    DRIVE_NONE,
    DRIVE_SPEED,
    ROW_DRIVE,
    ROW_EQUALITY,
    ROW_FRICTION,
    ROW_LIMIT,
)

# Least 1 + cos(swing): a swing nearer than 0.26 degrees to half a revolution has no direction, no
# twist that rounding would leave; rows then take a fixed axis and stay finite.
LEAST_OPENING = 1e-5

NOWHERE = (0.0, 0.0, 0.0)


@inner_kernel(no_cpython_wrapper=True)
def write_row(rows, r, lin, a, b, error, kind):
    """An equality row, which the caller may change into another."""
    for i in range(3):
        rows.linear[r, i] = lin[i]
        rows.angular[r, i] = a[i]
        rows.angular[r, 3 + i] = b[i]
    rows.error[r] = error
    rows.bias[r] = 0.0
    rows.softness[r] = 0.0
    rows.lower[r] = -inf
    rows.upper[r] = inf
    rows.kind[r] = kind


@inner_kernel(no_cpython_wrapper=True)
def write_point(place, r, rows):
    """Three rows that hold the points together; returns the next row."""
    for i in range(3):
        e = (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
        a, b = cross(place.arm_a, e), cross(place.arm_b, e)
        write_row(rows, r + i, e, a, b, place.apart[i], ROW_EQUALITY)
    return r + 3


@kernel
def along(place, t):
    """Displacement of p_B from p_A along the axis `t` of A: value, l, a, b."""
    a = cross(add(place.arm_a, place.apart), t)
    return dot(t, place.apart), t, a, cross(place.arm_b, t)


@kernel
def along_axis(place):
    """Displacement of p_B from p_A along x: value, l, a, b."""
    return along(place, place.x_a)


@kernel
def across_axis(place):
    """Distance of p_B from the line along x through p_A [m]."""
    return norm(cross(place.x_a, place.apart))


@inner_kernel(no_cpython_wrapper=True)
def write_across(place, t, r, rows):
    """A row that lets p_B not leave p_A along the axis `t` of A."""
    value, lin, a, b = along(place, t)
    write_row(rows, r, lin, a, b, value, ROW_EQUALITY)
    return r + 1


@inner_kernel(no_cpython_wrapper=True)
def swing_part(place, t):
    """Component along `t` (an axis of A across x_A) of the swing, and its gradient."""
    opening = max(1.0 + dot(place.x_a, place.x_b), LEAST_OPENING)
    k = sqrt(2.0 / opening)
    lean = cross(place.x_a, place.x_b)
    value = k * dot(t, lean)
    # d(t.(x_A x x_B)) = w.(x_B x (t x x_A)), dc = w.(x_B x x_A), dk = -k dc / (2 (1 + c))
    gradient = scale(cross(place.x_b, cross(t, place.x_a)), k)
    return value, add(gradient, scale(lean, 0.5 * value / opening))


@inner_kernel(no_cpython_wrapper=True)
def write_axis(place, r, rows):
    """Two rows that hold the axes x together."""
    value, gradient = swing_part(place, place.y_a)
    write_row(rows, r, NOWHERE, gradient, gradient, value, ROW_EQUALITY)
    value, gradient = swing_part(place, place.z_a)
    write_row(rows, r + 1, NOWHERE, gradient, gradient, value, ROW_EQUALITY)
    return r + 2


@inner_kernel
def in_world(place, v):
    """Vector `v` of the joint axes of A, in world axes."""
    return add(add(scale(place.x_a, v[0]), scale(place.y_a, v[1])), scale(place.z_a, v[2]))


@inner_kernel(no_cpython_wrapper=True)
def write_orientation(place, r, rows):
    """Three rows that hold the orientations together."""
    q, x, y, z = place.rotation
    sign = 1.0 if q >= 0.0 else -1.0
    v = in_world(place, (x, y, z))
    for i in range(3):
        t = place.x_a if i == 0 else (place.y_a if i == 1 else place.z_a)
        # t.(q w + w x v) = w.(q t + v x t)
        gradient = scale(add(scale(t, q), cross(v, t)), sign)
        error = 2.0 * sign * (x if i == 0 else (y if i == 1 else z))
        write_row(rows, r + i, NOWHERE, gradient, gradient, error, ROW_EQUALITY)
    return r + 3


@kernel
def twist(place):
    """Angle of B about x relative to A in (-pi, pi]: value, l, a, b."""
    q, x = place.rotation[0], place.rotation[1]
    angle = 2.0 * atan2(x, q) if q >= 0.0 else 2.0 * atan2(-x, -q)
    opening = 1.0 + dot(place.x_a, place.x_b)
    if opening < LEAST_OPENING:
        return angle, NOWHERE, place.x_b, place.x_b
    axis = scale(add(place.x_a, place.x_b), 1.0 / opening)
    return angle, NOWHERE, axis, axis


@kernel
def count_revolutions(angle, last):
    """The angle that differs from `angle` by revolutions and is nearest to `last`."""
    return angle + 2.0 * pi * floor((last - angle) / (2.0 * pi) + 0.5)


@kernel
def _write_limit(rows, r, lin, a, b, gap, dt):
    """A row that lets `gap` shrink to zero and no further within the step."""
    write_row(rows, r, lin, a, b, min(gap, 0.0), ROW_LIMIT)
    rows.lower[r] = 0.0
    rows.bias[r] = max(gap, 0.0) / dt


@inner_kernel(no_cpython_wrapper=True)
def write_spring(rows, r, offset, stiffness, damping, dt):
    """Make row `r` a spring and damper: p = -dt (k (offset + dt u) + d u), solved for u.

    The compiled step takes means of the velocities before and after in place of u, see
    solvers/articulated/soft_rows.py.
    """
    rows.spring[r, 0], rows.spring[r, 1], rows.spring[r, 2] = offset, stiffness, damping
    stiff = damping + stiffness * dt
    rows.softness[r] = 1.0 / (dt * stiff)
    rows.bias[r] = stiffness * offset / stiff


@inner_kernel(no_cpython_wrapper=True)
def write_limits(joints, j, k, r, value, lin, a, b, dt, rows):
    """Limits of coordinate `k`; a range of no width holds it. Returns the next row."""
    lower, upper = joints.limit[j, k, 0], joints.limit[j, k, 1]
    if lower == upper:
        write_row(rows, r, lin, a, b, value - lower, ROW_EQUALITY)
        return r + 1
    if lower > -inf:
        _write_limit(rows, r, lin, a, b, value - lower, dt)
        r += 1
    if upper < inf:
        back = (scale(lin, -1.0), scale(a, -1.0), scale(b, -1.0))
        _write_limit(rows, r, back[0], back[1], back[2], upper - value, dt)
        r += 1
    return r


@inner_kernel(no_cpython_wrapper=True)
def write_drive(joints, j, k, r, offset, lin, a, b, dt, rows):
    """Drive of coordinate `k`, `offset` from its target. Returns the next row."""
    mode = joints.drive_mode[j, k]
    if mode == DRIVE_NONE:
        return r
    write_row(rows, r, lin, a, b, 0.0, ROW_DRIVE)
    if mode == DRIVE_SPEED:
        rows.bias[r] = -joints.drive[j, k, 0]
    else:
        write_spring(rows, r, offset, joints.drive[j, k, 1], joints.drive[j, k, 2], dt)
    rows.upper[r] = joints.drive[j, k, 3] * dt
    rows.lower[r] = -rows.upper[r]
    return r + 1


@inner_kernel(no_cpython_wrapper=True)
def write_friction(friction, r, lin, a, b, dt, rows):
    """Dry friction of a joint, a force or torque. Returns the next row."""
    if friction == 0.0:
        return r
    write_row(rows, r, lin, a, b, 0.0, ROW_FRICTION)
    rows.upper[r] = friction * dt
    rows.lower[r] = -rows.upper[r]
    return r + 1


@inner_kernel(no_cpython_wrapper=True)
def write_coordinate(joints, j, k, r, value, lin, a, b, dt, rows):
    """All that coordinate `k` was asked to have; keeps its value. Returns the next row."""
    rows.value[j, k] = value
    r = write_limits(joints, j, k, r, value, lin, a, b, dt, rows)
    r = write_drive(joints, j, k, r, value - joints.drive[j, k, 0], lin, a, b, dt, rows)
    return write_friction(joints.friction[j, k], r, lin, a, b, dt, rows)


@kernel
def rotation_vector(q):
    """Of a unit quaternion, the shorter of the two [rad]."""
    sign = 1.0 if q[0] >= 0.0 else -1.0
    v = (sign * q[1], sign * q[2], sign * q[3])
    s = norm(v)
    # 2 atan2(s, q) / s is 2 to rounding where s is below 1e-8
    return scale(v, 2.0 * atan2(s, sign * q[0]) / s if s > 1e-8 else 2.0)


@kernel
def quaternion_of(v):
    """Of a rotation vector [rad]."""
    size = norm(v)
    f = sin(0.5 * size) / size if size > 1e-8 else 0.5
    return cos(0.5 * size), f * v[0], f * v[1], f * v[2]
