"""Rolling and spinning friction: torques at contacts, part of the same law as sliding friction.

With w the spin of B seen from A, t the impulse of the torque on B, p_n the normal impulse:

    rolling     |(t_1, t_2)| <= a p_n:   (w_1, w_2) = 0, or (t_1, t_2) = -a p_n (w_1, w_2) / |..|
    spinning    |t_n| <= b p_n:          w_n = 0, or t_n = -b p_n w_n / |w_n|

a and b [m] are the arms with which the normal force resists: [Acary2021], which has rolling;
spinning is likewise. Given p_n each is Coulomb's law of a disc or an interval, and t is found
exactly. A sweep visits the contacts, then their torques: where both do not change any more, the law
holds as a whole. A ball that sticks and does not roll gains a factor 0.71 a sweep. A step begins
with the torques that go with the impulses of the last one, so that none need be kept.

Methods that know contacts alone (Newton, trees of joints) take torques as given loads, which are
part of the free velocities (`settle`), and are called again until the torques fit.
"""

from math import sqrt

from drystone.constraints.contact_rows import inertia_times
from drystone.jit import inner_kernel, kernel
from drystone.jit.vec import dot
from drystone.model.arrays import STRUCK

MOST_NEWTON = 50  # steps for the size of a torque: three or four are enough


@kernel
def roll_on_disc(q1, q2, a11, a12, a22, bound):
    """Impulse t with w = q + A t: w = 0 within the disc |t| <= bound, else t against w on its rim.

    On the rim t = -(A + x)^-1 q with x >= 0, |t| = bound: Newton's method for 1 / |t|, which is
    concave in x, comes to the root from below.
    """
    if bound <= 0.0 or a11 + a22 <= 0.0:
        return 0.0, 0.0
    x = 0.0
    t1, t2 = 0.0, 0.0
    least = 1e-14 * (a11 + a22)  # in two dimensions nothing rotates about tangent 1
    for _ in range(MOST_NEWTON):
        b11, b22 = a11 + x, a22 + x
        if min(b11, b22) <= least:
            b11, b22 = b11 + least, b22 + least
        det = b11 * b22 - a12 * a12
        t1, t2 = (a12 * q2 - b22 * q1) / det, (a12 * q1 - b11 * q2) / det
        size = sqrt(t1 * t1 + t2 * t2)
        if size <= bound * (1.0 + 1e-14):
            break
        slope = (b22 * t1 * t1 - 2.0 * a12 * t1 * t2 + b11 * t2 * t2) / det
        x += (size / bound - 1.0) * size * size / slope
    return t1, t2


@inner_kernel(inline="always")
def _angular_block(r, rows, mass):
    """W of the torques about the axes of the contact: nn, n1, n2, 11, 12, 22 [1/(kg m²)]."""
    frame = rows.frame
    n = (frame[r, 0], frame[r, 1], frame[r, 2])
    t1 = (frame[r, 3], frame[r, 4], frame[r, 5])
    t2 = (frame[r, 6], frame[r, 7], frame[r, 8])
    ann, an1, an2, a11, a12, a22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for side in range(2):
        b = rows.body[r, side]
        if mass[b, 0] == 0.0:
            continue
        zero, one = inertia_times(b, n, mass), inertia_times(b, t1, mass)
        ann += dot(n, zero)
        an1 += dot(t1, zero)
        an2 += dot(t2, zero)
        a11 += dot(t1, one)
        a12 += dot(t2, one)
        a22 += dot(t2, inertia_times(b, t2, mass))
    return ann, an1, an2, a11, a12, a22


@inner_kernel(inline="always")
def _spin_at(r, rows, twist):
    """Spin of B seen from A about normal, tangent 1, tangent 2 [rad/s]."""
    a, b, frame = rows.body[r, 0], rows.body[r, 1], rows.frame
    w = (
        twist[b, 3] - twist[a, 3], twist[b, 4] - twist[a, 4], twist[b, 5] - twist[a, 5],
    )  # fmt: skip
    return (
        frame[r, 0] * w[0] + frame[r, 1] * w[1] + frame[r, 2] * w[2],
        frame[r, 3] * w[0] + frame[r, 4] * w[1] + frame[r, 5] * w[2],
        frame[r, 6] * w[0] + frame[r, 7] * w[1] + frame[r, 8] * w[2],
    )


@inner_kernel(inline="always")
def _normal_impulse(r, rows):
    """Of the whole step, its impacts included [N s]."""
    struck = rows.impact_impulse[r, 0] if rows.special[STRUCK] == 1 else 0.0
    return max(rows.impulse[r, 0], 0.0) + struck


@inner_kernel
def push_torque(r, tn, t1, t2, rows, mass, twist):
    """Apply the torque impulse (tn, t1, t2) of contact `r` to its two bodies."""
    frame = rows.frame
    t = (
        frame[r, 0] * tn + frame[r, 3] * t1 + frame[r, 6] * t2,
        frame[r, 1] * tn + frame[r, 4] * t1 + frame[r, 7] * t2,
        frame[r, 2] * tn + frame[r, 5] * t1 + frame[r, 8] * t2,
    )
    for side in range(2):
        b = rows.body[r, side]
        if mass[b, 0] != 0.0:
            w = inertia_times(b, t, mass)
            for k in range(3):
                twist[b, 3 + k] += w[k] if side == 1 else -w[k]


@inner_kernel(inline="always")
def _answer(r, rows, block, w):
    """The torque that obeys the law while all else stays, first about the normal, then across it;
    w is the spin under the present one."""
    ann, an1, an2, a11, a12, a22 = block
    torque, bound = rows.torque, _normal_impulse(r, rows)
    spin = rows.rolling[r, 1] * bound
    tn = torque[r, 0] - w[0] / ann if ann > 0.0 and spin > 0.0 else 0.0
    tn = min(max(tn, -spin), spin)
    more = tn - torque[r, 0]
    q1 = w[1] + an1 * more - a11 * torque[r, 1] - a12 * torque[r, 2]
    q2 = w[2] + an2 * more - a12 * torque[r, 1] - a22 * torque[r, 2]
    t1, t2 = roll_on_disc(q1, q2, a11, a12, a22, rows.rolling[r, 0] * bound)
    return tn, t1, t2


@inner_kernel
def roll_rows(lo, hi, rows, mass, twist):
    """Visit the torques of rows lo..hi once; the largest velocity that one had to correct [m/s].

    A spin counts as what it displaces at the radius of gyration.
    """
    worst = 0.0
    for r in range(lo, hi):
        if rows.rolling[r, 0] == 0.0 and rows.rolling[r, 1] == 0.0:
            continue
        block, w, torque = _angular_block(r, rows, mass), _spin_at(r, rows, twist), rows.torque
        tn, t1, t2 = _answer(r, rows, block, w)
        dn, d1, d2 = tn - torque[r, 0], t1 - torque[r, 1], t2 - torque[r, 2]
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = abs(dn) * block[0] + abs(d1) * block[3] + abs(d2) * block[5]
            worst = max(worst, change * _length(r, rows, block))
            push_torque(r, dn, d1, d2, rows, mass, twist)
            torque[r, 0], torque[r, 1], torque[r, 2] = tn, t1, t2
    return worst


@inner_kernel(inline="always")
def _length(r, rows, block):
    """Radius of gyration that goes with the masses that the contact sees [m]."""
    most = max(block[0], block[3], block[5])
    return sqrt(rows.delassus[r, 0] / most) if most > 0.0 else 0.0


@inner_kernel
def rolling_error(lo, hi, rows, mass, twist):
    """How far the torques of rows lo..hi are from the law: a velocity [m/s].

    What a visit would correct, which is zero at a solution alone.
    """
    worst = 0.0
    for r in range(lo, hi):
        if rows.rolling[r, 0] == 0.0 and rows.rolling[r, 1] == 0.0:
            continue
        block, w, torque = _angular_block(r, rows, mass), _spin_at(r, rows, twist), rows.torque
        tn, t1, t2 = _answer(r, rows, block, w)
        en, e1, e2 = tn - torque[r, 0], t1 - torque[r, 1], t2 - torque[r, 2]
        off = abs(en) * block[0] + sqrt(e1 * e1 + e2 * e2) * max(block[3], block[5])
        error = off * _length(r, rows, block)
        if not error <= worst:  # also takes a NaN
            worst = error
    return worst


@inner_kernel
def add_torques(lo, hi, sign, rows, mass, velocity):
    """Add what the torques of rows lo..hi do to `velocity`, or take it away (sign -1)."""
    for r in range(lo, hi):
        tn, t1, t2 = rows.torque[r, 0], rows.torque[r, 1], rows.torque[r, 2]
        if tn != 0.0 or t1 != 0.0 or t2 != 0.0:
            push_torque(r, sign * tn, sign * t1, sign * t2, rows, mass, velocity)
