"""Vectors, quaternions and 3x3 matrices as tuples of floats: the algebra of every kernel.

A vector is (x, y, z), a quaternion (w, x, y, z), a matrix nine floats row by row. A pose in
an array is twelve floats: position, then the rotation matrix row by row (its columns are the
axes of the rotated frame, so `rotate` takes body axes to world axes).
"""

from math import atan2, sqrt, tan

from drystone.jit import inner_kernel, kernel


@kernel
def load(array, i):
    """Row `i` of an (n, 3) array."""
    return array[i, 0], array[i, 1], array[i, 2]


@kernel
def store(array, i, v):
    array[i, 0] = v[0]
    array[i, 1] = v[1]
    array[i, 2] = v[2]


@kernel
def add(a, b):
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def scale(a, s):
    return a[0] * s, a[1] * s, a[2] * s


@inner_kernel
def mad(a, b, s):
    """a + s b."""
    return a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]


@kernel
def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


@kernel
def norm(a):
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@inner_kernel
def normalize(a):
    """Unit vector along `a`; z where `a` is zero."""
    length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    if length == 0.0:
        return 0.0, 0.0, 1.0
    return a[0] / length, a[1] / length, a[2] / length


@kernel
def tangents(n):
    """Two unit vectors that make a right-handed frame (n, t1, t2) with the unit vector `n`.

    [Duff2017]: no square root, and continuous everywhere but at n_z = 0.
    """
    sign = 1.0 if n[2] >= 0.0 else -1.0
    a = -1.0 / (sign + n[2])
    b = n[0] * n[1] * a
    t1 = (1.0 + sign * n[0] * n[0] * a, sign * b, -sign * n[0])
    t2 = (b, sign + n[1] * n[1] * a, -n[1])
    return t1, t2


@kernel
def rotation_matrix(w, x, y, z):
    """Nine floats, row by row, of the unit quaternion (w, x, y, z)."""
    return (
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@kernel
def mul(m, v):
    """Matrix (nine floats) times vector."""
    return (
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[3] * v[0] + m[4] * v[1] + m[5] * v[2],
        m[6] * v[0] + m[7] * v[1] + m[8] * v[2],
    )


@kernel
def mul_t(m, v):
    """Transposed matrix (nine floats) times vector."""
    return (
        m[0] * v[0] + m[3] * v[1] + m[6] * v[2],
        m[1] * v[0] + m[4] * v[1] + m[7] * v[2],
        m[2] * v[0] + m[5] * v[1] + m[8] * v[2],
    )


@inner_kernel
def world_inertia(m, x, y, z):
    """R diag(x, y, z) Rᵀ of the rotation matrix `m`: xx, xy, xz, yy, yz, zz."""
    return (
        m[0] * m[0] * x + m[1] * m[1] * y + m[2] * m[2] * z,
        m[0] * m[3] * x + m[1] * m[4] * y + m[2] * m[5] * z,
        m[0] * m[6] * x + m[1] * m[7] * y + m[2] * m[8] * z,
        m[3] * m[3] * x + m[4] * m[4] * y + m[5] * m[5] * z,
        m[3] * m[6] * x + m[4] * m[7] * y + m[5] * m[8] * z,
        m[6] * m[6] * x + m[7] * m[7] * y + m[8] * m[8] * z,
    )


@kernel
def rotation_between(p, q):
    """Rotation vector [rad], world axes, from the unit quaternion p to q; half a turn at most."""
    w, x, y, z = quaternion_product(q, (p[0], -p[1], -p[2], -p[3]))
    size = sqrt(x * x + y * y + z * z)
    f = 2.0 * atan2(size, abs(w)) / size if size > 0.0 else 2.0
    if w < 0.0:
        f = -f
    return f * x, f * y, f * z


@kernel
def quaternion_product(a, b):
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@inner_kernel
def pose_position(pose, s):
    """Position part of row `s` of an (n, 12) array of poses."""
    return pose[s, 0], pose[s, 1], pose[s, 2]


@inner_kernel
def pose_rotation(pose, s):
    """Rotation part of row `s` of an (n, 12) array of poses, nine floats."""
    return (
        pose[s, 3], pose[s, 4], pose[s, 5],
        pose[s, 6], pose[s, 7], pose[s, 8],
        pose[s, 9], pose[s, 10], pose[s, 11],
    )  # fmt: skip


@inner_kernel
def pose_axis_z(pose, s):
    """The z axis of row `s` of an (n, 12) array of poses."""
    return pose[s, 5], pose[s, 8], pose[s, 11]


@inner_kernel
def relative_pose(pose, a, b):
    """Rotation and position of row `b` of an (n, 12) array of poses in the axes of row `a`."""
    ra, rb = pose_rotation(pose, a), pose_rotation(pose, b)
    x = mul_t(ra, (rb[0], rb[3], rb[6]))
    y = mul_t(ra, (rb[1], rb[4], rb[7]))
    z = mul_t(ra, (rb[2], rb[5], rb[8]))
    r = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    return r, mul_t(ra, sub(pose_position(pose, b), pose_position(pose, a)))


@inner_kernel
def to_world(pose, s, v):
    """Point `v` of frame `s` in world axes."""
    return (
        pose[s, 0] + pose[s, 3] * v[0] + pose[s, 4] * v[1] + pose[s, 5] * v[2],
        pose[s, 1] + pose[s, 6] * v[0] + pose[s, 7] * v[1] + pose[s, 8] * v[2],
        pose[s, 2] + pose[s, 9] * v[0] + pose[s, 10] * v[1] + pose[s, 11] * v[2],
    )


@inner_kernel
def to_local(pose, s, v):
    """World point `v` in the axes of frame `s`."""
    return to_local_direction(pose, s, (v[0] - pose[s, 0], v[1] - pose[s, 1], v[2] - pose[s, 2]))


@inner_kernel
def to_world_direction(pose, s, v):
    return (
        pose[s, 3] * v[0] + pose[s, 4] * v[1] + pose[s, 5] * v[2],
        pose[s, 6] * v[0] + pose[s, 7] * v[1] + pose[s, 8] * v[2],
        pose[s, 9] * v[0] + pose[s, 10] * v[1] + pose[s, 11] * v[2],
    )


@inner_kernel
def to_local_direction(pose, s, v):
    return (
        pose[s, 3] * v[0] + pose[s, 6] * v[1] + pose[s, 9] * v[2],
        pose[s, 4] * v[0] + pose[s, 7] * v[1] + pose[s, 10] * v[2],
        pose[s, 5] * v[0] + pose[s, 8] * v[1] + pose[s, 11] * v[2],
    )


@kernel
def rotate_quaternion(q, angle):
    """Quaternion `q` after the rotation vector `angle` [rad] in world axes."""
    size = sqrt(angle[0] ** 2 + angle[1] ** 2 + angle[2] ** 2)
    if size < 1e-12:
        rotated = quaternion_product((1.0, 0.5 * angle[0], 0.5 * angle[1], 0.5 * angle[2]), q)
    else:
        t = tan(0.5 * size) / size
        rotated = quaternion_product((1.0, t * angle[0], t * angle[1], t * angle[2]), q)
    f = 1.0 / sqrt(rotated[0] ** 2 + rotated[1] ** 2 + rotated[2] ** 2 + rotated[3] ** 2)
    return rotated[0] * f, rotated[1] * f, rotated[2] * f, rotated[3] * f
