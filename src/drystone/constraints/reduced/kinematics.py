"""Forward kinematics: poses of links, what each rate moves, velocities; Jacobians of points.

v_i = v_parent + S_i q̇_i [Featherstone2008, eq. 5.7], in world axes about one point.
"""

from math import cos, sin, sqrt

from drystone.constraints.reduced.sines import fill_sines
from drystone.constraints.reduced.spatial import load6, store6
from drystone.jit import inner_kernel, kernel
from drystone.jit.fused import fma, matrix_add, matrix_times, mul_add
from drystone.jit.vec import add, cross, load, mul, rotation_matrix, scale, store, sub
from drystone.model.robot_arrays import BALL, FIXED, FREE, PLANAR, PRISMATIC, REVOLUTE


@inner_kernel
def row9(array, i):
    """Rotation of row `i` of poses (n, 12)."""
    return (
        array[i, 3], array[i, 4], array[i, 5], array[i, 6], array[i, 7], array[i, 8],
        array[i, 9], array[i, 10], array[i, 11],
    )  # fmt: skip


@inner_kernel
def product9(a, b):
    return (
        fma(a[0], b[0], fma(a[1], b[3], a[2] * b[6])),
        fma(a[0], b[1], fma(a[1], b[4], a[2] * b[7])),
        fma(a[0], b[2], fma(a[1], b[5], a[2] * b[8])),
        fma(a[3], b[0], fma(a[4], b[3], a[5] * b[6])),
        fma(a[3], b[1], fma(a[4], b[4], a[5] * b[7])),
        fma(a[3], b[2], fma(a[4], b[5], a[5] * b[8])),
        fma(a[6], b[0], fma(a[7], b[3], a[8] * b[6])),
        fma(a[6], b[1], fma(a[7], b[4], a[8] * b[7])),
        fma(a[6], b[2], fma(a[7], b[5], a[8] * b[8])),
    )


@kernel
def _about(axis, angle):
    """Rotation by `angle` about a unit axis (Rodrigues)."""
    c, s = cos(angle), sin(angle)
    x, y, z = axis
    d = 1.0 - c
    return (
        c + x * x * d, x * y * d - z * s, x * z * d + y * s,
        y * x * d + z * s, c + y * y * d, y * z * d - x * s,
        z * x * d - y * s, z * y * d + x * s, c + z * z * d,
    )  # fmt: skip


@kernel
def _unit(q, i):
    """Rotation of the quaternion q[i:i+4], of any length but zero."""
    w, x, y, z = q[i], q[i + 1], q[i + 2], q[i + 3]
    size = sqrt(w * w + x * x + y * y + z * z)
    return rotation_matrix(w / size, x / size, y / size, z / size)


@inner_kernel
def _turned(f, t, i, s, c):
    """Rotation of a revolute link in its parent, by the angle of sine s and cosine c: see
    RobotModel.turning; f are its frames."""
    c = 1.0 - c
    return (
        fma(s, t[i, 0], fma(c, t[i, 9], f[i, 3])),
        fma(s, t[i, 1], fma(c, t[i, 10], f[i, 4])),
        fma(s, t[i, 2], fma(c, t[i, 11], f[i, 5])),
        fma(s, t[i, 3], fma(c, t[i, 12], f[i, 6])),
        fma(s, t[i, 4], fma(c, t[i, 13], f[i, 7])),
        fma(s, t[i, 5], fma(c, t[i, 14], f[i, 8])),
        fma(s, t[i, 6], fma(c, t[i, 15], f[i, 9])),
        fma(s, t[i, 7], fma(c, t[i, 16], f[i, 10])),
        fma(s, t[i, 8], fma(c, t[i, 17], f[i, 11])),
    )


@kernel
def _joint_pose(model, i, q):
    """Displacement and rotation of joint `i` in its frame; of all kinds but revolute."""
    kind, k = model.kind[i], model.first_q[i]
    at, turned = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if kind == PRISMATIC:
        at = scale(load(model.axis, i), q[k])
    elif kind == BALL:
        turned = _unit(q, k)
    elif kind == PLANAR:
        at, turned = (q[k], q[k + 1], 0.0), _about((0.0, 0.0, 1.0), q[k + 2])
    elif kind == FREE:
        at, turned = (q[k], q[k + 1], q[k + 2]), _unit(q, k + 3)
    return at, turned


@kernel
def _store_motion(work, d, angular, linear, carried):
    store6(work.motion, d, angular, linear)
    work.carried[d] = carried


@kernel
def _column(m, k):
    return m[k], m[3 + k], m[6 + k]


@kernel
def _fill_motions(model, i, frame, rotation, p, work):
    """S of joint `i`: its frame and the link's rotation in world axes, p its point from origin."""
    kind, d = model.kind[i], model.first_v[i]
    none = (0.0, 0.0, 0.0)
    if kind == PRISMATIC:
        _store_motion(work, d, none, mul(frame, load(model.axis, i)), 1)
    elif kind == PLANAR:
        _store_motion(work, d, none, _column(frame, 0), 0)
        _store_motion(work, d + 1, none, _column(frame, 1), 0)
        a = _column(frame, 2)
        _store_motion(work, d + 2, a, cross(p, a), 1)
    elif kind == BALL or kind == FREE:
        if kind == FREE:
            for k in range(3):
                _store_motion(work, d + k, none, _column(frame, k), 0)
            d += 3
        for k in range(3):
            a = _column(rotation, k)
            _store_motion(work, d + k, a, cross(p, a), 1)


@inner_kernel
def _store_pose(pose, i, at, rotation):
    pose[i, 0], pose[i, 1], pose[i, 2] = at
    pose[i, 3], pose[i, 4], pose[i, 5] = rotation[0], rotation[1], rotation[2]
    pose[i, 6], pose[i, 7], pose[i, 8] = rotation[3], rotation[4], rotation[5]
    pose[i, 9], pose[i, 10], pose[i, 11] = rotation[6], rotation[7], rotation[8]


@kernel
def place_links(model, base, q, work):
    """Poses of all links, and what their joints move, for coordinates `q`.

    base   (nt, 12) pose in the world of what the first joints hang on
    """
    lo, hi = work.span[0], work.span[1]
    if lo == hi:
        return
    t, pose, kinds, first_q = model.tree[lo], work.pose, model.kind, model.first_q
    frames, turning, axes, parents = model.frame, model.turning, model.axis, model.parent
    motion, carried, first_v = work.motion, work.carried, model.first_v
    origin, sine, cosine = load(work.origin, t), work.sine, work.cosine
    for i in range(lo, hi):
        sine[i] = q[first_q[i]] if kinds[i] == REVOLUTE else 0.0
    fill_sines(lo, hi, sine, cosine)
    here, rotation = load(base, t), row9(base, t)
    for i in range(lo, hi):
        parent = parents[i]
        if parent < 0:
            here, rotation = load(base, t), row9(base, t)
        elif parent != i - 1:  # else it is the link before
            here, rotation = load(pose, parent), row9(pose, parent)
        here = matrix_add(rotation, load(frames, i), here)
        frame = rotation
        if kinds[i] == REVOLUTE:
            rotation = product9(rotation, _turned(frames, turning, i, sine[i], cosine[i]))
        else:
            frame = product9(rotation, row9(frames, i))
            moved, rotation = _joint_pose(model, i, q)
            here = add(here, mul(frame, moved))
            rotation = product9(frame, rotation)
        if i == lo:
            origin = here
            store(work.origin, t, here)
        _store_pose(pose, i, here, rotation)
        p = sub(here, origin)
        if kinds[i] == REVOLUTE:
            a, d = matrix_times(rotation, load(axes, i)), first_v[i]
            store6(motion, d, a, cross(p, a))
            carried[d] = 1
        elif kinds[i] != FIXED:
            _fill_motions(model, i, frame, rotation, p, work)


@kernel
def move_links(model, v, work):
    """Velocities of all links for rates `v`, after place_links()."""
    velocity, motion, parents, first_v = work.velocity, work.motion, model.parent, model.first_v
    w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(work.span[0], work.span[1]):
        if parents[i] < 0:
            w, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        elif parents[i] != i - 1:  # else it is the link before
            w, u = load6(velocity, parents[i])
        for d in range(first_v[i], first_v[i + 1]):
            a, b = load6(motion, d)
            w, u = mul_add(v[d], a, w), mul_add(v[d], b, u)
        store6(velocity, i, w, u)


@kernel
def fill_jacobian(model, link, point, work, out):
    """(6, nv) of a point of a link: velocity, then spin, in world axes; after place_links().

    point   (3,) in world axes [m]
    """
    for d in range(out.shape[1]):
        for k in range(6):
            out[k, d] = 0.0
    p = sub((point[0], point[1], point[2]), load(work.origin, model.tree[link]))
    i = link
    while i >= 0:
        for d in range(model.first_v[i], model.first_v[i + 1]):
            a, b = load6(work.motion, d)
            at = add(b, cross(a, p))
            for k in range(3):
                out[k, d], out[3 + k, d] = at[k], a[k]
        i = model.parent[i]


@kernel
def step_coordinates(model, q, v, dt, out):
    """q after moving for `dt` at constant rates `v`; quaternions by the exponential map."""
    step_links(0, model.parent.shape[0], model, q, v, dt, out)


@inner_kernel
def step_links(lo, hi, model, q, v, dt, out):
    """step_coordinates() of the links lo ... hi."""
    kinds, first_q, first_v = model.kind, model.first_q, model.first_v
    for i in range(lo, hi):
        kind, k, d = kinds[i], first_q[i], first_v[i]
        if kind == REVOLUTE or kind == PRISMATIC:
            out[k] = q[k] + dt * v[d]
        elif kind == PLANAR:
            for c in range(3):
                out[k + c] = q[k + c] + dt * v[d + c]
        elif kind == BALL or kind == FREE:
            if kind == FREE:
                for c in range(3):
                    out[k + c] = q[k + c] + dt * v[d + c]
                k, d = k + 3, d + 3
            _turn(q, k, v[d] * dt, v[d + 1] * dt, v[d + 2] * dt, out)


@kernel
def _turn(q, k, x, y, z, out):
    """Quaternion q[k:k+4] after the rotation vector (x, y, z) in its own axes, of length 1."""
    angle = sqrt(x * x + y * y + z * z)
    c, s = cos(0.5 * angle), 0.5
    if angle > 1e-12:
        s = sin(0.5 * angle) / angle
    a, b, e, f = q[k], q[k + 1], q[k + 2], q[k + 3]
    x, y, z = s * x, s * y, s * z
    w0 = a * c - b * x - e * y - f * z
    w1 = a * x + b * c + e * z - f * y
    w2 = a * y - b * z + e * c + f * x
    w3 = a * z + b * y - e * x + f * c
    size = sqrt(w0 * w0 + w1 * w1 + w2 * w2 + w3 * w3)
    out[k], out[k + 1], out[k + 2], out[k + 3] = w0 / size, w1 / size, w2 / size, w3 / size
