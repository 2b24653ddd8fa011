"""Visits of eight contacts at once, as constraints/coulomb.py has them one by one.

A visit is the same sequence of operations for all contacts, but for what slides: those iterate
until the last of the eight is done. Batches are those of lane_batches.py.
"""

from drystone.constraints.lane_batches import (
    ARM_A,
    ARM_B,
    BATCH,
    BIAS,
    BLOCK,
    FRICTION,
    IMPULSE,
    INERTIA_A,
    INERTIA_B,
    INVERSE,
    MASS_A,
    MASS_B,
    NORMAL,
    PREVIOUS,
    SURFACE,
    TANGENT_1,
    TANGENT_2,
)
from drystone.jit import inner_kernel, kernel
from drystone.jit.lane_algebra import answers, cross_lanes, dot_lanes, largest_lane, three
from drystone.jit.lanes import (
    WIDTH,
    gather,
    load,
    root,
    scatter,
    select,
    size,
    some,
    splat,
    store,
    unless,
)

# How exactly a visit finds the impulse of a contact that slides, see slide_step(): the next visit
# goes on from there.
LOOSE = 1e-4


@kernel
def _velocities(d, a, b):
    """velocity_at(), bias and moving surfaces included; twists `a` and `b` of the bodies."""
    spin_a = cross_lanes((a[3], a[4], a[5]), three(d, ARM_A))
    spin_b = cross_lanes((b[3], b[4], b[5]), three(d, ARM_B))
    v = (
        b[0] - a[0] + spin_b[0] - spin_a[0],
        b[1] - a[1] + spin_b[1] - spin_a[1],
        b[2] - a[2] + spin_b[2] - spin_a[2],
    )
    return (
        dot_lanes(three(d, NORMAL), v) + load(d, BIAS),
        dot_lanes(three(d, TANGENT_1), v) + load(d, SURFACE),
        dot_lanes(three(d, TANGENT_2), v) + load(d, SURFACE + WIDTH),
    )


@kernel
def _slide(slides, q, w, mu, x):
    """slide_step() for the lanes that slide."""
    w0, w1, w2, w3, w4, w5 = w
    zero, one, exact, tiny = splat(0.0), splat(1.0), splat(LOOSE), splat(1e-15)
    inverse = one / w0
    s11, s12, s22 = w3 - w1 * w1 * inverse, w4 - w1 * w2 * inverse, w5 - w2 * w2 * inverse
    base = q[0] * inverse
    c1, c2 = q[1] - w1 * base, q[2] - w2 * base
    low, high, pn, p1, p2, share = zero, splat(-1.0), zero, zero, zero, zero
    for _ in range(60):
        a11, a22 = s11 + x, s22 + x
        det = one / (a11 * a22 - s12 * s12)
        p1, p2 = (s12 * c2 - a22 * c1) * det, (s12 * c1 - a11 * c2) * det
        pn = zero - base - (w1 * p1 + w2 * p2) * inverse
        pt = root(p1 * p1 + p2 * p2)
        pulls = pt > zero
        share = select(pulls, one / pt, zero)
        h = mu * pn * share - one
        go_on = slides & pulls & (size(h) >= exact)
        if not some(go_on):
            break
        below = h < zero
        low, high = select(below, x, low), select(below, high, x)
        y1, y2 = (a22 * p1 - s12 * p2) * det, (a11 * p2 - s12 * p1) * det
        slope_pn = (w1 * y1 + w2 * y2) * inverse
        slope_pt = zero - (p1 * y1 + p2 * y2) * share
        slope = mu * (slope_pn * pt - pn * slope_pt) * share * share
        new = select(slope > zero, x - h / slope, splat(-1.0))
        closed = high >= zero
        bad = (new <= low) | (closed & (new >= high))
        half = select(closed, splat(0.5) * (low + high), splat(2.0) * low + s11 + s22)
        new = select(bad, half, new)
        go_on = go_on & (size(new - x) > tiny * (a11 + a22))
        if not some(go_on):
            break
        x = select(go_on, new, x)
    pn = select(pn > zero, pn, zero)
    along = mu * pn * share
    return pn, along * p1, along * p2


@kernel
def _solve(d, u, o, w):
    """solve_contact_to() LOOSE, for velocities `u` under impulses `o`."""
    w0, w1, w2, w3, w4, w5 = w
    un, u1, u2 = u
    o0, o1, o2 = o
    zero, mu = splat(0.0), load(d, FRICTION)
    i0, i1, i2 = three(d, INVERSE)
    i3, i4, i5 = three(d, INVERSE + 3 * WIDTH)
    qn = un - w0 * o0 - w1 * o1 - w2 * o2
    pn = o0 - i0 * un - i1 * u1 - i2 * u2
    p1 = o1 - i1 * un - i3 * u1 - i4 * u2
    p2 = o2 - i2 * un - i4 * u1 - i5 * u2
    most = mu * pn
    opens = qn >= zero
    sticks = (pn > zero) & (p1 * p1 + p2 * p2 <= most * most)
    slides = unless(opens | sticks | (mu < splat(1e-150)))
    pn = select(sticks, pn, zero - qn / w0)
    p1, p2 = select(sticks, p1, zero), select(sticks, p2, zero)
    if some(slides):
        q1, q2 = u1 - w1 * o0 - w3 * o1 - w4 * o2, u2 - w2 * o0 - w4 * o1 - w5 * o2
        old = o1 * o1 + o2 * o2
        guess = select(old > zero, root((u1 * u1 + u2 * u2) / old), zero)
        sn, s1, s2 = _slide(slides, (qn, q1, q2), w, mu, guess)
        pn, p1, p2 = select(slides, sn, pn), select(slides, s1, p1), select(slides, s2, p2)
    return select(opens, zero, pn), select(opens, zero, p1), select(opens, zero, p2)


@inner_kernel
def sweep_batches(first, end, backward, window, accelerated, rows, sums, mass, twist):
    """As sweep_active() of parallel_sweep.py, in batches; `sums` has WIDTH numbers and more."""
    since, now, least, momentum = window
    lane_body, lane_mass, lane_data = rows.lane_body, rows.lane_mass, rows.lane_data
    fixed, zero, one = mass.shape[0] - 1, splat(0.0), splat(1.0)
    beta, small, stamp, early = splat(momentum), splat(least), splat(now), splat(since)
    along, worst, squares, visits = zero, zero, zero, zero
    for i in range(end - first):
        k = end - 1 - i if backward else first + i
        d, at = lane_data[k * BATCH : (k + 1) * BATCH], 2 * WIDTH * k
        a, b = gather(twist, lane_body, at), gather(twist, lane_body, at + WIDTH)
        active = (a[6] >= early) | (b[6] >= early)
        if not some(active):
            continue
        visits = visits + select(active, one, zero)
        w0, w1, w2 = three(d, BLOCK)
        w3, w4, w5 = three(d, BLOCK + 3 * WIDTH)
        u = _velocities(d, a, b)
        g0, g1, g2 = three(d, IMPULSE)
        o0, o1, o2 = g0, g1, g2
        if accelerated:
            v0, v1, v2 = three(d, PREVIOUS)
            o0, o1, o2 = g0 + beta * (g0 - v0), g1 + beta * (g1 - v1), g2 + beta * (g2 - v2)
            store(d, PREVIOUS, g0)
            store(d, PREVIOUS + WIDTH, g1)
            store(d, PREVIOUS + 2 * WIDTH, g2)
        p0, p1, p2 = _solve(d, u, (o0, o1, o2), (w0, w1, w2, w3, w4, w5))
        d0, d1, d2 = p0 - o0, p1 - o1, p2 - o2
        if accelerated:
            along = along + w0 * ((p0 - g0) * d0 + (p1 - g1) * d1 + (p2 - g2) * d2)
        change = (size(d0) + size(d1) + size(d2)) * w0
        worst = select(change <= worst, worst, change)  # also takes a NaN
        squares = squares + change * change
        store(d, IMPULSE, p0)
        store(d, IMPULSE + WIDTH, p1)
        store(d, IMPULSE + 2 * WIDTH, p2)
        n, t1, t2 = three(d, NORMAL), three(d, TANGENT_1), three(d, TANGENT_2)
        f = (
            n[0] * d0 + t1[0] * d1 + t2[0] * d2,
            n[1] * d0 + t1[1] * d1 + t2[1] * d2,
            n[2] * d0 + t1[2] * d1 + t2[2] * d2,
        )
        ta, tb = cross_lanes(three(d, ARM_A), f), cross_lanes(three(d, ARM_B), f)
        inertia = load(d, INERTIA_A), load(d, INERTIA_B)
        sa, sb = answers(rows.lane_even[k] == 1, inertia, at, lane_body, lane_mass, ta, tb)
        ma, mb = load(d, MASS_A), load(d, MASS_B)
        corrected = change > small
        a6 = select(corrected & (ma > zero), stamp, a[6])
        b6 = select(corrected & (mb > zero), stamp, b[6])
        scatter(twist, lane_body, at, fixed, (
            a[0] - ma * f[0], a[1] - ma * f[1], a[2] - ma * f[2],
            a[3] - sa[0], a[4] - sa[1], a[5] - sa[2], a6, a[7],
        ))  # fmt: skip
        scatter(twist, lane_body, at + WIDTH, fixed, (
            b[0] + mb * f[0], b[1] + mb * f[1], b[2] + mb * f[2],
            b[3] + sb[0], b[4] + sb[1], b[5] + sb[2], b6, b[7],
        ))  # fmt: skip
    largest = largest_lane(worst, sums)
    sums[0], sums[1], sums[2] = _total(along, sums), _total(visits, sums), _total(squares, sums)
    return largest


@kernel
def _total(v, scratch):
    store(scratch, WIDTH, v)
    total = 0.0
    for k in range(WIDTH):
        total += scratch[WIDTH + k]
    return total


@kernel
def _errors(d, a, b):
    """contact_error() of a batch."""
    zero, one, mu = splat(0.0), splat(1.0), load(d, FRICTION)
    un, u1, u2 = _velocities(d, a, b)
    pn, p1, p2 = three(d, IMPULSE)
    trace = load(d, BLOCK) + load(d, BLOCK + 3 * WIDTH) + load(d, BLOCK + 5 * WIDTH)
    rho = splat(3.0) / trace
    qn = pn - rho * (un + mu * root(u1 * u1 + u2 * u2))
    q1, q2 = p1 - rho * u1, p2 - rho * u2
    qt = root(q1 * q1 + q2 * q2)
    inside = (qt <= mu * qn) & (qn >= zero)
    polar = (mu * qt <= zero - qn) & unless(inside)
    rn = (qn + mu * qt) / (one + mu * mu)
    rt = select(qt > zero, mu * rn / qt, zero)
    rn, rt = select(inside, qn, rn), select(inside, one, rt)
    rn, rt = select(polar, zero, rn), select(polar, zero, rt)
    en, e1, e2 = pn - rn, p1 - rt * q1, p2 - rt * q2
    return root(en * en + e1 * e1 + e2 * e2) / rho


@inner_kernel
def measure_batches(first, end, now, least, rows, sums, mass, twist):
    """Largest error of these batches [m/s]; the bodies of contacts that are off by more than
    `least` become active in sweep `now`. sums[2]: sum of the squares of all errors."""
    worst, squares = splat(0.0), splat(0.0)
    lane_body, small, stamp = rows.lane_body, splat(least), splat(now)
    for k in range(first, end):
        d, at = rows.lane_data[k * BATCH : (k + 1) * BATCH], 2 * WIDTH * k
        a, b = gather(twist, lane_body, at), gather(twist, lane_body, at + WIDTH)
        error = _errors(d, a, b)
        worst = select(error <= worst, worst, error)  # also takes a NaN
        squares = squares + error * error
        wrong = error > small
        if some(wrong):
            store(sums, 0, select(wrong, stamp, splat(-1.0)))
            for lane in range(WIDTH):
                if sums[lane] >= 0.0:
                    for side in range(2):
                        c = lane_body[at + WIDTH * side + lane]
                        if mass[c, 0] != 0.0:
                            twist[c, 6] = now
    largest = largest_lane(worst, sums)
    sums[2] = _total(squares, sums)
    return largest


@inner_kernel
def extrapolate(lo, hi, beta, twist, previous):
    """Velocities of the bodies lo .. hi, from which the next sweep with momentum starts."""
    share = splat(beta)
    for b in range(lo, hi):
        g = load(twist, WIDTH * b)
        store(twist, WIDTH * b, g + share * (g - load(previous, WIDTH * b)))
        store(previous, WIDTH * b, g)
