"""The blocks of an island with robots: scaled Jacobians Z = J M^-1/2 of contacts, joints, rows.

A side of a block that is a body has six columns, its velocity and its spin in principal axes; one
that is a robot has a column for each of its rates, Z = J L⁻¹ D^-1/2 with H = Lᵀ D L
(constraints/reduced/mass_factor.py). So W = Z Zᵀ, and `carried` = Zᵀ p says what all impulses do.
"""

from math import sqrt

import numpy as np

from drystone.constraints.coulomb import invert_block, slip_at
from drystone.constraints.joint_rows import SOFTNESS, row_velocity
from drystone.constraints.reduced.mass_factor import spread_down_three
from drystone.constraints.reduced.spatial import load6
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import add, cross, dot, load, scale, sub
from drystone.model.robot_arrays import ROBOT_LOOP
from drystone.model.robot_scratch import BLOCK_CONTACT, BLOCK_JOINT, BLOCK_ROBOT


@kernel
def _reserve(i, side, start, width, problem):
    """Room for one side of block `i`, filled with zeros; where it begins."""
    at, count = problem.count[2], 3 * width
    for k in range(at, at + count):
        problem.z[k] = 0.0
    problem.start[i, side], problem.width[i, side] = start, width
    problem.at[i, side] = at
    problem.count[2] = at + count
    return at


@inner_kernel
def new_block(kind, problem):
    """The next block, without sides yet."""
    i = problem.count[0]
    problem.count[0] = i + 1
    problem.kind[i] = kind
    for side in range(2):
        problem.width[i, side], problem.start[i, side] = 0, 0
        problem.at[i, side] = 0
    problem.bounce[i] = 0.0
    return i


@kernel
def _robot_side(i, side, t, robots, problem):
    """Where side `side` of block `i` stands that sees robot `t`: with the other if that does."""
    model = robots.model
    lo = model.first_v[model.first_link[t]]
    hi = model.first_v[model.first_link[t + 1]]
    if side == 1 and problem.width[i, 0] > 0 and problem.start[i, 0] == lo:
        return problem.at[i, 0], np.int64(lo)
    return _reserve(i, side, lo, hi - lo, problem), np.int64(lo)


@kernel
def _see_link(i, side, k, link, linear, angular, point, robots, tree, problem):
    """Row `k` of block `i` sees linear . v of a point of a link and angular . w; from origin."""
    model = robots.model
    t = np.int64(model.tree[link])
    at, lo = (
        _robot_side(i, side, t, robots, problem) if k == 0 else _found(i, side, t, robots, problem)
    )
    width = model.first_v[model.first_link[t + 1]] - lo
    place, j = at + k * width - lo, link
    while j >= 0:
        for d in range(model.first_v[j], model.first_v[j + 1]):
            a, b = load6(tree.motion, d)
            problem.z[place + d] += dot(linear, add(b, cross(a, point))) + dot(angular, a)
        j = model.parent[j]


@kernel
def _see_touching(i, side, r, link, robots, state, rows, scratch):
    """The three rows of contact `r` see the velocity of its point on a link."""
    model, tree, z = robots.model, scratch.tree, scratch.problem.z
    t = np.int64(model.tree[link])
    at, lo = _robot_side(i, side, t, robots, scratch.problem)
    width = model.first_v[model.first_link[t + 1]] - lo
    place, f = at - lo, rows.frame
    sign = 1.0 if side == 1 else -1.0
    n = (sign * f[r, 0], sign * f[r, 1], sign * f[r, 2])
    t1 = (sign * f[r, 3], sign * f[r, 4], sign * f[r, 5])
    t2 = (sign * f[r, 6], sign * f[r, 7], sign * f[r, 8])
    arm = (rows.arm[r, 3 * side], rows.arm[r, 3 * side + 1], rows.arm[r, 3 * side + 2])
    centre = load(state.position, robots.body[link])
    point = sub(add(centre, arm), load(tree.origin, t))
    j = link
    while j >= 0:
        for d in range(model.first_v[j], model.first_v[j + 1]):
            a, b = load6(tree.motion, d)
            v = add(b, cross(a, point))
            z[place + d] += dot(n, v)
            z[place + width + d] += dot(t1, v)
            z[place + 2 * width + d] += dot(t2, v)
        j = model.parent[j]


@kernel
def _found(i, side, t, robots, problem):
    model = robots.model
    lo = np.int64(model.first_v[model.first_link[t]])
    own = side if problem.width[i, side] > 0 else 0
    return problem.at[i, own], lo


@kernel
def _see_body(i, side, k, b, nv, linear, angular, bodies, motion, problem):
    """Likewise a body that is no link: linear . v of its centre and angular . w."""
    if k == 0:
        _reserve(i, side, nv + 6 * b, 6, problem)
    place, r, root = problem.at[i, side] + 6 * k, motion.rotation_matrix, sqrt(bodies.inv_mass[b])
    for m in range(3):
        problem.z[place + m] += root * linear[m]
        along = r[b, m] * angular[0] + r[b, 3 + m] * angular[1] + r[b, 6 + m] * angular[2]
        problem.z[place + 3 + m] += sqrt(bodies.inv_inertia[b, m]) * along


@inner_kernel
def see(i, side, k, b, linear, angular, robots, state, bodies, motion, scratch):
    """Row `k` of block `i` sees linear . v of the centre of body `b` and angular . w."""
    n = bodies.kind.shape[0]
    if b >= n or motion.mass[b, 0] == 0.0:
        return
    link = robots.link[b]
    if link < 0:
        nv = robots.model.dof_link.shape[0]
        _see_body(i, side, k, b, nv, linear, angular, bodies, motion, scratch.problem)
        return
    origin = load(scratch.tree.origin, robots.model.tree[link])
    point = sub(load(state.position, b), origin)
    _see_link(
        i, side, k, link, linear, angular, point, robots, scratch.tree, scratch.problem
    )  # fmt: skip


@inner_kernel
def scale_robots(i, robots, scratch):
    """L^-T and D^-1/2 on what block `i` sees of robots."""
    model, problem = robots.model, scratch.problem
    nv = model.dof_link.shape[0]
    for side in range(2):
        width, lo = np.int64(problem.width[i, side]), np.int64(problem.start[i, side])
        if width == 0 or lo >= nv:
            continue
        o = problem.at[i, side] - lo
        spread_down_three(
            lo, lo + width, model.above, robots.mass_first, scratch.mass, problem.z, o, width
        )  # fmt: skip
        for k in range(3):
            for d in range(lo, lo + width):
                problem.z[o + k * width + d] *= scratch.root[d]


@inner_kernel
def own_block(i, problem):
    """Diagonal block of W."""
    for k in range(6):
        problem.own[i, k] = 0.0
    for side in range(2):
        width, at = problem.width[i, side], problem.at[i, side]
        for d in range(width):
            a, b, c = problem.z[at + d], problem.z[at + width + d], problem.z[at + 2 * width + d]
            problem.own[i, 0] += a * a
            problem.own[i, 1] += a * b
            problem.own[i, 2] += a * c
            problem.own[i, 3] += b * b
            problem.own[i, 4] += b * c
            problem.own[i, 5] += c * c


@kernel
def _bounce_of(r, rows, free_speed, settings):
    """Bias of contact `r` if it bounces at its time of impact within the step, else 0."""
    e, approach = rows.restitution[r], rows.approach[r]
    closes = rows.gap[r] + settings.dt * free_speed < rows.skin[r]
    if e > 0.0 and approach < -settings.bounce_speed and closes:
        return e * approach
    return 0.0


@inner_kernel
def add_contact(r, robots, state, settings, bodies, work, scratch):
    """Contact row `r` as a block."""
    rows, motion, problem, island = work.rows, work.motion, scratch.problem, scratch.island
    i = new_block(BLOCK_CONTACT, problem)
    problem.source[i, 0] = r
    for side in range(2):
        b = rows.body[r, side]
        lever = (rows.arm[r, 3 * side], rows.arm[r, 3 * side + 1], rows.arm[r, 3 * side + 2])
        if b < bodies.kind.shape[0] and robots.link[b] >= 0:
            _see_touching(i, side, r, np.int64(robots.link[b]), robots, state, rows, scratch)
            continue
        for k in range(3):
            axis = (rows.frame[r, 3 * k], rows.frame[r, 3 * k + 1], rows.frame[r, 3 * k + 2])
            axis = scale(axis, 1.0 if side == 1 else -1.0)
            see(i, side, k, b, axis, cross(lever, axis), robots, state, bodies, motion, scratch)
    scale_robots(i, robots, scratch)
    own_block(i, problem)
    own = problem.own
    # A direction in which nothing gives way, as that of a gripper with one rate, would leave the
    # block without an inverse.
    least = 1e-12 * (own[i, 0] + own[i, 3] + own[i, 5]) + 1e-300
    own[i, 0], own[i, 3], own[i, 5] = own[i, 0] + least, own[i, 3] + least, own[i, 5] + least
    invert_block(i, own, problem.inverse)
    un, u1, u2 = slip_at(r, rows, motion.free)
    bias = rows.bias[r]
    problem.bounce[i] = _bounce_of(r, rows, un, settings)
    island.q[i, 0], island.q[i, 1], island.q[i, 2] = un + bias, u1, u2
    island.friction[i] = rows.friction[r]
    island.scale[i] = (own[i, 0] + own[i, 3] + own[i, 5]) / 3.0
    island.flat[i], island.joint[i], island.soft[i, 0] = False, False, 0.0
    for k in range(3):
        problem.impulse[i, k] = rows.impulse[r, k]


@inner_kernel
def no_row(i, k, scratch):
    island = scratch.island
    island.q[i, k], island.soft[i, k], island.own[i, k] = 0.0, 0.0, 1.0
    island.lower[i, k], island.upper[i, k] = 0.0, 0.0
    scratch.problem.impulse[i, k] = 0.0


# A row that sees less than this share of what the others of its block do sees nothing: a loop in a
# plane has one across it.
BLIND = 1e-13


@inner_kernel
def set_law(i, k, q, soft, lower, upper, impulse, scratch):
    """Row `k` of a block that is no contact."""
    island, own = scratch.island, scratch.problem.own
    diagonal = own[i, 0] if k == 0 else (own[i, 3] if k == 1 else own[i, 5])
    if diagonal <= BLIND * (own[i, 0] + own[i, 3] + own[i, 5]):
        no_row(i, k, scratch)
        return
    island.q[i, k] = q
    island.soft[i, k] = soft + SOFTNESS * diagonal
    island.own[i, k] = diagonal + island.soft[i, k]
    island.lower[i, k], island.upper[i, k] = lower, upper
    for bound in (lower, upper):
        if bound != 0.0 and abs(bound) < np.inf:
            island.bounded[0] = True
    scratch.problem.impulse[i, k] = min(max(impulse, lower), upper)


@inner_kernel
def close_block(i, scratch):
    island = scratch.island
    island.friction[i], island.flat[i], island.joint[i] = 0.0, False, True
    island.scale[i] = (island.own[i, 0] + island.own[i, 1] + island.own[i, 2]) / 3.0


@inner_kernel
def add_node(node, joint_work, robots, state, settings, bodies, work, scratch):
    """Three rows of a joint of the world as a block."""
    problem, rows, motion = scratch.problem, joint_work.rows, work.motion
    i = new_block(BLOCK_JOINT, problem)
    for side in range(2):
        sign = 1.0 if side == 1 else -1.0
        for k in range(3):
            r = joint_work.node_row[node, k]
            problem.source[i, k] = r
            linear, angular = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            if r >= 0:
                linear = scale(load(rows.linear, r), sign)
                o = 3 * side
                angular = (rows.angular[r, o], rows.angular[r, o + 1], rows.angular[r, o + 2])
                angular = scale(angular, sign)
            b = joint_work.node_body[node, side]
            see(i, side, k, b, linear, angular, robots, state, bodies, motion, scratch)
    scale_robots(i, robots, scratch)
    own_block(i, problem)
    for k in range(3):
        r = problem.source[i, k]
        if r < 0:
            no_row(i, k, scratch)
            continue
        set_law(
            i, k, row_velocity(r, rows, motion.free) + rows.bias[r], rows.softness[r],
            rows.lower[r], rows.upper[r], state.joint_impulse[r], scratch,
        )  # fmt: skip
    close_block(i, scratch)


@inner_kernel
def loop_end(number, side, robots, tree):
    """Link and world point, from the origin of its robot, of one end of a loop."""
    link = np.int64(robots.loop_link[number, side])
    o = 3 * side
    point = (
        robots.loop_point[number, o], robots.loop_point[number, o + 1],
        robots.loop_point[number, o + 2],
    )  # fmt: skip
    if link < 0:
        return link, point
    p = tree.pose
    at = (
        p[link, 3] * point[0] + p[link, 4] * point[1] + p[link, 5] * point[2],
        p[link, 6] * point[0] + p[link, 7] * point[1] + p[link, 8] * point[2],
        p[link, 9] * point[0] + p[link, 10] * point[1] + p[link, 11] * point[2],
    )
    return link, add(at, sub(load(p, link), load(tree.origin, robots.model.tree[link])))


@kernel
def _see_row(i, k, r, t, robots, scratch):
    """Row `k` of block `i` is row `r` of robot `t`."""
    rows, problem, model = scratch.rows, scratch.problem, robots.model
    lo = np.int64(model.first_v[model.first_link[t]])
    width = model.first_v[model.first_link[t + 1]] - lo
    place = problem.at[i, 0] + k * width - lo
    if rows.kind[r] != ROBOT_LOOP:
        for m in range(2):
            if rows.rate[r, m] >= 0:
                problem.z[place + rows.rate[r, m]] += rows.factor[r, m]
        return
    number, axis = np.int64(rows.rate[r, 0]), rows.rate[r, 1]
    for side in range(2):
        j, point = loop_end(number, side, robots, scratch.tree)
        sign = 1.0 if side == 1 else -1.0
        while j >= 0:
            for d in range(model.first_v[j], model.first_v[j + 1]):
                a, b = load6(scratch.tree.motion, d)
                v = add(b, cross(a, point))
                along = v[0] if axis == 0 else (v[1] if axis == 1 else v[2])
                problem.z[place + d] += sign * along
            j = model.parent[j]


@inner_kernel
def add_robot_rows(t, robots, scratch):
    """All rows of robot `t`, three to a block."""
    rows, problem, model = scratch.rows, scratch.problem, robots.model
    lo = np.int64(model.first_v[model.first_link[t]])
    width = model.first_v[model.first_link[t + 1]] - lo
    first = np.int64(rows.first[t])
    last = np.int64(rows.first[t + 1])
    while first < last:
        i = new_block(BLOCK_ROBOT, problem)
        _reserve(i, 0, lo, width, problem)
        for k in range(3):
            problem.source[i, k] = first + k if first + k < last else -1
            if first + k < last:
                _see_row(i, k, first + k, t, robots, scratch)
        free = (
            _free_of(i, 0, lo, width, scratch), _free_of(i, 1, lo, width, scratch),
            _free_of(i, 2, lo, width, scratch),
        )  # fmt: skip
        scale_robots(i, robots, scratch)
        own_block(i, problem)
        for k in range(3):
            r = first + k
            if r >= last:
                no_row(i, k, scratch)
                continue
            set_law(
                i, k, free[k] + rows.bias[r], rows.soft[r], rows.lower[r], rows.upper[r],
                rows.impulse[r], scratch,
            )  # fmt: skip
        close_block(i, scratch)
        first += 3


@kernel
def _free_of(i, k, lo, width, scratch):
    """What row `k` of block `i` sees of the free rates, before it is scaled."""
    u, at = 0.0, scratch.problem.at[i, 0] + k * width
    for d in range(width):
        u += scratch.problem.z[at + d] * scratch.free[lo + d]
    return u
