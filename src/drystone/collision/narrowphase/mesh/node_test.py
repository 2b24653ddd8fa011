"""Eight lanes of one box tree against a lane of another, all at once: boxes, patches, motion.

The loops are written for the compiler to go through all lanes with the instructions for one:
unsigned indices, as signed ones are checked, numbers of a kind side by side, no branches. Guessed
wrong, branches would cost more than all else here.
"""

from math import inf, sqrt

import numpy as np

from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, load, mul
from drystone.shapes.bvh.normal_cones import NOT_A_PATCH, PATCH_COLUMNS, patch_middle
from drystone.shapes.bvh.wide import BLOCK, LANES

LANE_Y, LANE_Z = np.uint64(LANES), np.uint64(2 * LANES)
HALF_X, HALF_Y, HALF_Z = np.uint64(3 * LANES), np.uint64(4 * LANES), np.uint64(5 * LANES)
# Columns of a patch: its axis comes first.
MIDDLE_X, MIDDLE_Y, MIDDLE_Z = HALF_X, HALF_Y, HALF_Z
HEIGHT, RADIUS = np.uint64(6 * LANES), np.uint64(7 * LANES)
COSINE, SINE, BALL = np.uint64(8 * LANES), np.uint64(9 * LANES), np.uint64(10 * LANES)
BESIDE_COSINE, BESIDE_SINE = np.uint64(11 * LANES), np.uint64(12 * LANES)


@kernel(forceinline=True)
def _box_gaps(lane_box, first, x, half, r, gap):
    """How far the eight boxes of a block are from that of another tree's lane, at least.

    Largest gap along their axes, or distance of the one from a box around the other.

    x     middle of the other one in the axes of the block's tree
    half  its half sizes, in its own axes, which stand at r
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
        dx, dy, dz = x[0] - lane_box[i], x[1] - lane_box[i + LANE_Y], x[2] - lane_box[i + LANE_Z]
        ax, ay, az = lane_box[i + HALF_X], lane_box[i + HALF_Y], lane_box[i + HALF_Z]
        gx, gy, gz = abs(dx) - ax - ex, abs(dy) - ay - ey, abs(dz) - az - ez
        fx = abs(r[0] * dx + r[3] * dy + r[6] * dz) - hx - (q0 * ax + q3 * ay + q6 * az)
        fy = abs(r[1] * dx + r[4] * dy + r[7] * dz) - hy - (q1 * ax + q4 * ay + q7 * az)
        fz = abs(r[2] * dx + r[5] * dy + r[8] * dz) - hz - (q2 * ax + q5 * ay + q8 * az)
        g = max(max(max(gx, gy), gz), max(max(fx, fy), fz))
        gx, gy, gz = max(gx, 0.0), max(gy, 0.0), max(gz, 0.0)
        fx, fy, fz = max(fx, 0.0), max(fy, 0.0), max(fz, 0.0)
        gap[k] = max(g, sqrt(max(gx * gx + gy * gy + gz * gz, fx * fx + fy * fy + fz * fz)))


@kernel(forceinline=True)
def _patch_gaps(block_patch, first, patch, j, w, m, lane_box, box, reach, front, gap, most):
    """The same for what their patches let touch, seen along the axis of either.

    Infinite if they cannot touch, as they do not face each other or are beside each other: what
    is in front must be seen within the cone; what overlaps, within the cone at the back, or a
    little beside it.

    patch, j     the other lane's patch; its axis w and middle m in the axes of the block's tree
    reach, front how near boxes must be, and patches that are in front of each other
    gap          in and out
    most         (8,) out: how large it may be
    """
    hj, rj, cj, sj = patch[j, 6], patch[j, 7], patch[j, 8], patch[j, 9]
    bj, aj, ej = patch[j, 10], patch[j, 11], patch[j, 12]
    wx, wy, wz = abs(w[0]), abs(w[1]), abs(w[2])
    for k in range(np.uint64(gap.shape[0])):
        i, b = first + k, box + k
        ux, uy, uz = block_patch[i], block_patch[i + LANE_Y], block_patch[i + LANE_Z]
        dx, dy = m[0] - block_patch[i + MIDDLE_X], m[1] - block_patch[i + MIDDLE_Y]
        dz = m[2] - block_patch[i + MIDDLE_Z]
        hk, rk, ck = block_patch[i + HEIGHT], block_patch[i + RADIUS], block_patch[i + COSINE]
        sk, balls = block_patch[i + SINE], block_patch[i + BALL] + bj
        ak, ek = block_patch[i + BESIDE_COSINE], block_patch[i + BESIDE_SINE]
        c = -(ux * w[0] + uy * w[1] + uz * w[2])
        s, q = sqrt(max(0.0, 1.0 - c * c)), abs(c)
        ud, wd = ux * dx + uy * dy + uz * dz, -(w[0] * dx + w[1] * dy + w[2] * dz)
        g = max(ud - hk - q * hj - s * rj, wd - hj - q * hk - s * rk)
        beyond2 = dx * dx + dy * dy + dz * dz - balls * balls
        far = sqrt(max(0.0, beyond2))
        c1, s1, c2, s2 = ck * far - sk * balls, sk * far + ck * balls, cj * far, sj * far
        c2, s2 = c2 - sj * balls, s2 + cj * balls
        past = (s1 > 0.0) & (ud < c1) & (s1 * ak + c1 * ek > 0.0) & (-ud < c1 * ak - s1 * ek)
        past |= (s2 > 0.0) & (wd < c2) & (s2 * aj + c2 * ej > 0.0) & (-wd < c2 * aj - s2 * ej)
        apart = ((beyond2 > 0.0) & past) | (c < ck * cj - sk * sj)
        g = inf if apart else g
        # A lane that is no patch: its box along the axis of the other.
        bx, by, bz = lane_box[b] - m[0], lane_box[b + LANE_Y] - m[1], lane_box[b + LANE_Z] - m[2]
        side = abs(w[0] * bx + w[1] * by + w[2] * bz) - hj
        side -= wx * lane_box[b + HALF_X] + wy * lane_box[b + HALF_Y] + wz * lane_box[b + HALF_Z]
        flat, near = ck != NOT_A_PATCH, gap[k] < reach
        g = g if flat else max(side, gap[k])
        gap[k] = g if near else gap[k]
        most[k] = front if flat & near else reach


@kernel(forceinline=True)
def _side_gaps(block_patch, first, x, half, r, reach, gap, most):
    """The same where the other lane is no patch: its box along the axes of the block's."""
    for k in range(np.uint64(gap.shape[0])):
        i = first + k
        ux, uy, uz = block_patch[i], block_patch[i + LANE_Y], block_patch[i + LANE_Z]
        dx, dy = x[0] - block_patch[i + MIDDLE_X], x[1] - block_patch[i + MIDDLE_Y]
        dz = x[2] - block_patch[i + MIDDLE_Z]
        side = abs(ux * dx + uy * dy + uz * dz) - block_patch[i + HEIGHT]
        side -= abs(r[0] * ux + r[3] * uy + r[6] * uz) * half[0]
        side -= abs(r[1] * ux + r[4] * uy + r[7] * uz) * half[1]
        side -= abs(r[2] * ux + r[5] * uy + r[8] * uz) * half[2]
        flat = block_patch[i + COSINE] != NOT_A_PATCH
        gap[k] = max(side, gap[k]) if flat else gap[k]
        most[k] = reach


@kernel(forceinline=True)
def _shorten(block_patch, first, motion, slack, most):
    """Patches in front of each other must be as near as the step may bring them together.

    motion  of the other tree seen from the block's, see motion_bound.py
    """
    vx, vy, vz, tx, ty, tz, turn = motion
    for k in range(np.uint64(most.shape[0])):
        i = first + k
        x, y = block_patch[i + MIDDLE_X], block_patch[i + MIDDLE_Y]
        z = block_patch[i + MIDDLE_Z]
        dx, dy, dz = vx + ty * z - tz * y, vy + tz * x - tx * z, vz + tx * y - ty * x
        along = -(block_patch[i] * dx + block_patch[i + LANE_Y] * dy + block_patch[i + LANE_Z] * dz)
        size2 = dx * dx + dy * dy + dz * dz
        size, across = sqrt(size2), sqrt(max(0.0, size2 - along * along))
        c, s = block_patch[i + COSINE], block_patch[i + SINE]
        near = size if along >= c * size else max(0.0, c * along + s * across)
        near += slack + turn * (block_patch[i + BALL] + most[k])
        most[k] = min(most[k], near) if c != NOT_A_PATCH else most[k]


@inner_kernel
def test_block(
    # trees of all surfaces, block of the one and lane of the other
    lane_box, block_patch, patch, block, lane,
    # in: pose of the other in the axes of the block's, its motion
    r, t, motion, slack,
    # in: how near boxes must be, and patches that are in front of each other
    reach, front,
    # out
    gap, most,
):  # fmt: skip
    """Lower bounds of the gaps of eight lanes to another, and how large they may be."""
    at = np.uint64(lane // LANES * BLOCK + lane % LANES)
    x = (lane_box[at], lane_box[at + LANE_Y], lane_box[at + LANE_Z])
    half = (lane_box[at + HALF_X], lane_box[at + HALF_Y], lane_box[at + HALF_Z])
    x, box = add(mul(r, x), t), np.uint64(block * BLOCK)
    first = np.uint64(block * PATCH_COLUMNS * LANES)
    _box_gaps(lane_box, box, x, half, r, gap)
    if patch[lane, 8] == NOT_A_PATCH:
        _side_gaps(block_patch, first, x, half, r, reach, gap, most)
        return
    w, m = mul(r, load(patch, lane)), add(mul(r, patch_middle(patch, lane)), t)
    _patch_gaps(block_patch, first, patch, lane, w, m, lane_box, box, reach, front, gap, most)
    if slack < inf:
        _shorten(block_patch, first, motion, slack, most)
