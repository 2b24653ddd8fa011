"""Position stabilization of contacts: overlaps are removed by moving bodies, not by velocity.

Displacements that would let a contact overlap, or leave an overlap as deep as it is, are corrected
by impulses of their own in the same contacts: normals only, the post-stabilization of CLINE 3.3,
but before the move instead of after it. Velocities, and with them the kinetic energy, are not
touched. The alternative of Baumgarte, which feeds the error back into the velocities, is
add_baumgarte().
"""

from numba import prange

from drystone.constraints.coulomb import normal_velocity_at, push_body
from drystone.constraints.lane_batches import (
    BATCH,
    INSIDE,
    LOOSE_SLAB,
    PART,
    PREVIOUS,
    first_batch,
)
from drystone.errors import InputError
from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.jit.lanes import WIDTH
from drystone.jit.stage import stage
from drystone.jit.vec import add, cross, dot, load, scale, sub
from drystone.model.arrays import CARRIED
from drystone.model.checks import choice, positive, shown
from drystone.motion.push_batches import lack_batches, push_batches

PUSH_SWEEPS = 20  # at most, in a step; what is left is taken up by the next
# Unless a contact still lacks more than so many skins, 0.1 % of the smaller radius: then so many
# visits of contacts, some 2 ms, in a world of few contacts. A ball of 249 t on a chain of links of
# 784 kg sinks into them else, ever deeper: sweeps carry a push on by few links each.
LACKING, MANY_PUSHES, FEW_CONTACTS = 33.0, 100_000, 1000


@inner_kernel
def add_baumgarte(rows, count, share):
    """Baumgarte's method for contacts (CLINE 3.2): overlaps below the skin become velocity."""
    for r in range(count):
        if rows.gap[r] < -rows.skin[r]:
            rows.bias[r] = share * (rows.gap[r] + rows.skin[r])


TINY = 1e-15  # [m] stands for a skin of zero
MOST_CARRIED = 0.3  # [rad] by which a kinematic body may rotate in a step for _closing()


@inner_kernel
def gap_wanted(gap, skin, share):
    """The gap that a contact must have at least after the step [m]."""
    return gap - share * (gap + skin) if gap < -skin else min(gap, 0.0)


@kernel
def _closing(r, rows, mass, scheme, move, dt):
    """By how much more a kinematic body that rotates comes nearer to what it carries in a step than
    the rows of its start say [m]. What lies in a drum moves on along the tangent, while the wall
    rotates: w² R dt² / 2, 0.1 mm in steps of 1/240 s at a turn a second, in every step. Not where
    contacts act in the middle of the step."""
    if rows.impulse[r, 0] <= 0.0:
        return 0.0
    for side in range(2):
        g, b = rows.body[r, side], rows.body[r, 1 - side]
        if g == move.shape[0] - 1 or mass[g, 0] != 0.0 or scheme[b] == CARRIED:
            continue
        w = (move[g, 3], move[g, 4], move[g, 5])
        angle = dt * dt * dot(w, w)
        if angle == 0.0 or angle > MOST_CARRIED**2:
            continue
        k, j = 3 * side, 3 * (1 - side)
        x = (rows.arm[r, k], rows.arm[r, k + 1], rows.arm[r, k + 2])
        arm = (rows.arm[r, j], rows.arm[r, j + 1], rows.arm[r, j + 2])
        n = scale(load(rows.frame, r), 1.0 if side == 0 else -1.0)
        orbit = cross((move[b, 3], move[b, 4], move[b, 5]), arm)
        u = add(sub(load(move, b), load(move, g)), orbit)
        change = 0.5 * dot(n, cross(w, cross(w, x))) - dot(n, cross(w, u))
        return max(-dt * dt * change, 0.0)
    return 0.0


@kernel
def _push_range(lo, hi, rows, mass, move, share, dt):
    """One visit of rows lo..hi; returns the largest lack of gap that it found, in skins."""
    worst = 0.0
    for r in range(lo, hi):
        lack = gap_wanted(rows.gap[r], rows.skin[r], share) - rows.gap[r]
        lack += rows.target[r] - dt * normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
        old = rows.push[r]
        new = max(0.0, old + lack / (dt * rows.delassus[r, 0]))
        if new != old:
            if new > 0.0:
                worst = max(worst, abs(lack) / (rows.skin[r] + TINY))
            rows.push[r] = new
            d = new - old
            x, y, z = d * rows.frame[r, 0], d * rows.frame[r, 1], d * rows.frame[r, 2]
            arm = rows.arm
            push_body(rows.body[r, 1], 1.0, x, y, z, arm[r, 3], arm[r, 4], arm[r, 5], mass, move)
            push_body(rows.body[r, 0], -1.0, x, y, z, arm[r, 0], arm[r, 1], arm[r, 2], mass, move)
    return worst


@kernel
def _lack_range(lo, hi, rows, mass, scheme, move, share, dt):
    """Largest lack of gap of rows lo..hi before any correction, in skins; and _closing() of each,
    which stands in rows.target meanwhile."""
    worst = 0.0
    for r in range(lo, hi):
        rows.push[r], rows.target[r] = 0.0, _closing(r, rows, mass, scheme, move, dt)
        lack = gap_wanted(rows.gap[r], rows.skin[r], share) - rows.gap[r]
        lack += rows.target[r] - dt * normal_velocity_at(r, rows.body, rows.frame, rows.arm, move)
        worst = max(worst, lack / (rows.skin[r] + TINY))
    return worst


@kernel
def _lack_slab(i, rows, mass, scheme, move, share, dt):
    """As _lack_range(), for the run of slabs that begins with `i` if it is in batches."""
    run = rows.lane_run[i]
    if run == INSIDE:
        return 0.0
    if run == LOOSE_SLAB:
        return _lack_range(
            rows.slab_first[i], rows.slab_first[i + 1], rows, mass, scheme, move, share, dt
        )
    start, end, data = first_batch(i, rows), rows.lane_end[i], rows.lane_data
    for k in range(start, end):
        for lane in range(WIDTH):
            r, at = rows.lane_row[WIDTH * k + lane], BATCH * k + PREVIOUS + lane
            data[at], data[at + WIDTH], data[at + 2 * WIDTH] = 0.0, 0.0, 1.0
            if r >= 0:
                gap, skin = rows.gap[r], rows.skin[r]
                data[at] = gap_wanted(gap, skin, share) - gap
                data[at] += _closing(r, rows, mass, scheme, move, dt)
                data[at + 2 * WIDTH] = skin + TINY
    return lack_batches(start, end, dt, rows, rows.slab_sums[i], move)


@kernel
def _push_slab(colour, i, rows, mass, move, share, dt):
    """As _push_range(), for the run of slabs that begins with `i` if it is in batches; the lack
    that was known if it has the other colour."""
    run = rows.lane_run[i]
    if run == INSIDE:
        return 0.0
    if run == LOOSE_SLAB:
        if i % 2 != colour:
            return rows.slab_change[i]
        return _push_range(
            rows.slab_first[i], rows.slab_first[i + 1], rows, mass, move, share, dt
        )  # fmt: skip
    if (run == PART) != (colour == 0):
        return rows.slab_change[i]
    return push_batches(
        first_batch(i, rows), rows.lane_end[i], dt, rows, rows.slab_sums[i], mass, move
    )


@parallel_kernel
def _lack_parallel(slabs, rows, mass, scheme, move, share, dt, lack):
    for i in prange(slabs):
        lack[i] = _lack_slab(i, rows, mass, scheme, move, share, dt)


@parallel_kernel
def _push_parallel(colour, slabs, rows, mass, move, share, dt, lack):
    for i in prange(slabs):
        lack[i] = _push_slab(colour, i, rows, mass, move, share, dt)


@stage
def push_apart(motion, rows, slabs, count, settings):
    """Correct the displacements until no contact lacks gap; returns the number of sweeps.

    Overlaps below the skin are not worth a sweep.
    """
    mass, move, dt = motion.mass, motion.move, settings.dt
    share = settings.push_out
    serial = slabs < 4
    if serial:
        worst = _lack_range(0, count, rows, mass, motion.scheme, move, share, dt)
    else:
        _lack_parallel(slabs, rows, mass, motion.scheme, move, share, dt, rows.slab_change)
        worst = 0.0
        for i in range(slabs):
            worst = max(worst, rows.slab_change[i])
    sweeps, most = 0, PUSH_SWEEPS
    while worst > 1.0 and sweeps < most:
        if serial:
            worst = _push_range(0, count, rows, mass, move, share, dt)
        else:
            for colour in range(2):
                _push_parallel(colour, slabs, rows, mass, move, share, dt, rows.slab_change)
            worst = 0.0
            for i in range(slabs):
                worst = max(worst, rows.slab_change[i])
        sweeps += 1
        if sweeps == PUSH_SWEEPS and worst > LACKING and count <= FEW_CONTACTS:
            most = max(PUSH_SWEEPS, MANY_PUSHES // count)
    return sweeps


DRIFTS = ("default", "none", "baumgarte", "post")  # as settings.drift counts them

# Of an error, in a step, where Baumgarte's constant is not given: 200 1/s at a step of 1 ms, the
# best of CLINE 5.2.1. More than 1 would overshoot.
BAUMGARTE_SHARE = 0.2


def drift_settings(settings, drift, baumgarte):
    """`settings` with the choice of what is done about drift."""
    number = DRIFTS.index(choice("drift", drift, DRIFTS))
    if drift != "baumgarte":
        if baumgarte is not None:
            raise InputError(
                f"baumgarte is {shown(baumgarte)}, but drift is {shown(drift)}; leave it out."
            )
        # Post-stabilization takes all of an overlap away at once (CLINE 3.7), ours half of it.
        whole = {"push_out": 1.0} if drift == "post" else {}
        return settings._replace(drift=number, **whole)
    if baumgarte is None:
        baumgarte = BAUMGARTE_SHARE / settings.dt
    return settings._replace(drift=number, baumgarte=positive("baumgarte", baumgarte, "1/s"))
