"""A wide BVH node against a node of another BVH: eight boxes, normal cones and motions at once.

The loops are written for the compiler to vectorize (SIMD): unsigned indices, as signed ones are
checked, numbers of a kind side by side, no branches. Mispredicted, branches would cost more than
all else here.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, load, mul
from drystone.shapes.bvh.normal_cones import CONE_COLUMNS, NO_CONE, cone_centre
from drystone.shapes.bvh.wide import BOX_FLOATS, WIDTH

# Offsets of the numbers of a child within its wide node. Boxes: centre x, y, z, half sizes.
Y, Z = np.uint64(WIDTH), np.uint64(2 * WIDTH)
HALF_X, HALF_Y, HALF_Z = np.uint64(3 * WIDTH), np.uint64(4 * WIDTH), np.uint64(5 * WIDTH)
# Normal cones, see CONE_COLUMNS: axis x, y, z, centre, ...
CENTRE_X, CENTRE_Y, CENTRE_Z = HALF_X, HALF_Y, HALF_Z
HEIGHT, RADIUS = np.uint64(6 * WIDTH), np.uint64(7 * WIDTH)
COSINE, SINE, SPHERE = np.uint64(8 * WIDTH), np.uint64(9 * WIDTH), np.uint64(10 * WIDTH)
ASIDE_COSINE, ASIDE_SINE = np.uint64(11 * WIDTH), np.uint64(12 * WIDTH)


@inner_kernel(forceinline=True)
def box_gaps(wide_box, first, x, half, r, gap):
    """How far the eight boxes of a wide node are from a box of another BVH, at least.

    Largest gap along the six face axes (SAT), or distance of the one from a box around the other.

    x     centre of the other box in the axes of the wide node's BVH
    half  its half sizes, in its own axes, whose rotation is r
    gap   (8,) out
    """
    hx, hy, hz = half
    q0, q1, q2, q3, q4 = abs(r[0]), abs(r[1]), abs(r[2]), abs(r[3]), abs(r[4])
    q5, q6, q7, q8 = abs(r[5]), abs(r[6]), abs(r[7]), abs(r[8])
    ex = q0 * hx + q1 * hy + q2 * hz
    ey = q3 * hx + q4 * hy + q5 * hz
    ez = q6 * hx + q7 * hy + q8 * hz
    for k in range(np.uint64(gap.shape[0])):
        i = first + k
        dx, dy, dz = x[0] - wide_box[i], x[1] - wide_box[i + Y], x[2] - wide_box[i + Z]
        ax, ay, az = wide_box[i + HALF_X], wide_box[i + HALF_Y], wide_box[i + HALF_Z]
        gx, gy, gz = abs(dx) - ax - ex, abs(dy) - ay - ey, abs(dz) - az - ez
        fx = abs(r[0] * dx + r[3] * dy + r[6] * dz) - hx - (q0 * ax + q3 * ay + q6 * az)
        fy = abs(r[1] * dx + r[4] * dy + r[7] * dz) - hy - (q1 * ax + q4 * ay + q7 * az)
        fz = abs(r[2] * dx + r[5] * dy + r[8] * dz) - hz - (q2 * ax + q5 * ay + q8 * az)
        g = max(max(max(gx, gy), gz), max(max(fx, fy), fz))
        gx, gy, gz = max(gx, 0.0), max(gy, 0.0), max(gz, 0.0)
        fx, fy, fz = max(fx, 0.0), max(fy, 0.0), max(fz, 0.0)
        gap[k] = max(g, sqrt(max(gx * gx + gy * gy + gz * gz, fx * fx + fy * fy + fz * fz)))


@kernel(forceinline=True)
def _cone_gaps(wide_cone, first, cone, j, w, m, wide_box, box, reach, front, gap, limit):
    """The same for what their normal cones let touch, seen along the axis of either.

    Infinite if they cannot touch, as they do not face each other or are beside each other: what
    is in front must be seen within the cone; what overlaps, within the cone at the back, or a
    little beside it [Johnson2001].

    cone, j       the other node's cone; its axis w and centre m in the axes of the wide node's BVH
    reach, front  how near boxes must be, and cones that are in front of each other
    gap           in and out
    limit         (8,) out: how large it may be
    """
    hj, rj, cj, sj = cone[j, 6], cone[j, 7], cone[j, 8], cone[j, 9]
    bj, aj, ej = cone[j, 10], cone[j, 11], cone[j, 12]
    wx, wy, wz = abs(w[0]), abs(w[1]), abs(w[2])
    for k in range(np.uint64(gap.shape[0])):
        i, b = first + k, box + k
        ux, uy, uz = wide_cone[i], wide_cone[i + Y], wide_cone[i + Z]
        dx, dy = m[0] - wide_cone[i + CENTRE_X], m[1] - wide_cone[i + CENTRE_Y]
        dz = m[2] - wide_cone[i + CENTRE_Z]
        hk, rk, ck = wide_cone[i + HEIGHT], wide_cone[i + RADIUS], wide_cone[i + COSINE]
        sk, spheres = wide_cone[i + SINE], wide_cone[i + SPHERE] + bj
        ak, ek = wide_cone[i + ASIDE_COSINE], wide_cone[i + ASIDE_SINE]
        c = -(ux * w[0] + uy * w[1] + uz * w[2])
        s, q = sqrt(max(0.0, 1.0 - c * c)), abs(c)
        ud, wd = ux * dx + uy * dy + uz * dz, -(w[0] * dx + w[1] * dy + w[2] * dz)
        g = max(ud - hk - q * hj - s * rj, wd - hj - q * hk - s * rk)
        beyond2 = dx * dx + dy * dy + dz * dz - spheres * spheres
        far = sqrt(max(0.0, beyond2))
        c1, s1, c2, s2 = ck * far - sk * spheres, sk * far + ck * spheres, cj * far, sj * far
        c2, s2 = c2 - sj * spheres, s2 + cj * spheres
        past = (s1 > 0.0) & (ud < c1) & (s1 * ak + c1 * ek > 0.0) & (-ud < c1 * ak - s1 * ek)
        past |= (s2 > 0.0) & (wd < c2) & (s2 * aj + c2 * ej > 0.0) & (-wd < c2 * aj - s2 * ej)
        apart = ((beyond2 > 0.0) & past) | (c < ck * cj - sk * sj)
        g = inf if apart else g
        # A child without a cone: its box along the axis of the other.
        bx, by, bz = wide_box[b] - m[0], wide_box[b + Y] - m[1], wide_box[b + Z] - m[2]
        side = abs(w[0] * bx + w[1] * by + w[2] * bz) - hj
        side -= wx * wide_box[b + HALF_X] + wy * wide_box[b + HALF_Y] + wz * wide_box[b + HALF_Z]
        has_cone, near = ck != NO_CONE, gap[k] < reach
        g = g if has_cone else max(side, gap[k])
        gap[k] = g if near else gap[k]
        limit[k] = front if has_cone & near else reach


@kernel(forceinline=True)
def _box_cone_gaps(wide_cone, first, x, half, r, reach, gap, limit):
    """The same where the other node has no cone: its box along the axes of the wide node's."""
    for k in range(np.uint64(gap.shape[0])):
        i = first + k
        ux, uy, uz = wide_cone[i], wide_cone[i + Y], wide_cone[i + Z]
        dx, dy = x[0] - wide_cone[i + CENTRE_X], x[1] - wide_cone[i + CENTRE_Y]
        dz = x[2] - wide_cone[i + CENTRE_Z]
        side = abs(ux * dx + uy * dy + uz * dz) - wide_cone[i + HEIGHT]
        side -= abs(r[0] * ux + r[3] * uy + r[6] * uz) * half[0]
        side -= abs(r[1] * ux + r[4] * uy + r[7] * uz) * half[1]
        side -= abs(r[2] * ux + r[5] * uy + r[8] * uz) * half[2]
        has_cone = wide_cone[i + COSINE] != NO_CONE
        gap[k] = max(side, gap[k]) if has_cone else gap[k]
        limit[k] = reach


@kernel(forceinline=True)
def _shorten(wide_cone, first, motion, slack, limit):
    """Cones in front of each other must be as near as the step may bring them together.

    motion  of the other BVH seen from the wide node's, see motion_bound.py
    """
    vx, vy, vz, tx, ty, tz, angle = motion
    for k in range(np.uint64(limit.shape[0])):
        i = first + k
        x, y = wide_cone[i + CENTRE_X], wide_cone[i + CENTRE_Y]
        z = wide_cone[i + CENTRE_Z]
        dx, dy, dz = vx + ty * z - tz * y, vy + tz * x - tx * z, vz + tx * y - ty * x
        along = -(wide_cone[i] * dx + wide_cone[i + Y] * dy + wide_cone[i + Z] * dz)
        size2 = dx * dx + dy * dy + dz * dz
        size, across = sqrt(size2), sqrt(max(0.0, size2 - along * along))
        c, s = wide_cone[i + COSINE], wide_cone[i + SINE]
        near = size if along >= c * size else max(0.0, c * along + s * across)
        near += slack + angle * (wide_cone[i + SPHERE] + limit[k])
        limit[k] = min(limit[k], near) if c != NO_CONE else limit[k]


@inner_kernel
def test_wide_node(
    # BVHs of all surfaces, wide node of the one and child node of the other
    shapes, node, child,
    # in: pose of the other in the axes of the wide node's, its motion
    r, t, motion, slack,
    # in: how near boxes must be, and cones that are in front of each other
    reach, front,
    # out
    gap, limit,
):  # fmt: skip
    """Lower bounds of the gaps of eight children to another node, and how large they may be."""
    wide_box, wide_cone, cone = shapes.wide_box, shapes.wide_cone, shapes.child_cone
    at = np.uint64(child // WIDTH * BOX_FLOATS + child % WIDTH)
    x = (wide_box[at], wide_box[at + Y], wide_box[at + Z])
    half = (wide_box[at + HALF_X], wide_box[at + HALF_Y], wide_box[at + HALF_Z])
    x, box = add(mul(r, x), t), np.uint64(node * BOX_FLOATS)
    first = np.uint64(node * CONE_COLUMNS * WIDTH)
    box_gaps(wide_box, box, x, half, r, gap)
    if cone[child, 8] == NO_CONE:
        _box_cone_gaps(wide_cone, first, x, half, r, reach, gap, limit)
        return
    w, m = mul(r, load(cone, child)), add(mul(r, cone_centre(cone, child)), t)
    _cone_gaps(wide_cone, first, cone, child, w, m, wide_box, box, reach, front, gap, limit)
    if slack < inf:
        _shorten(wide_cone, first, motion, slack, limit)
