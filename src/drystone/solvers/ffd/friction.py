"""Fast frictional dynamics, second projection of a body (24): the friction closest to a stop.

FFD 5.1 has two limits of friction. Here is the one for known normal impulses: a contact bears mu
times its own, as Coulomb says. The other one is in velocity_limit.py.

While friction acts, normals go on holding: a contact that pushes neither opens nor closes, and its
normal impulse changes as it must. Where it would have to pull, it loses its friction, and normals
are found anew under the friction of the others. Seen by the tangents the body has the mass matrix
L Lᵀ instead of one, in the coordinates of body_contacts.py,

    L Lᵀ = 1 + sum of a aᵀ / compliance over the normals that push,      rows b = L⁻¹ a

FFD asks for impulses in the span of the tangents that do not close a contact instead. Taken at
its word that allows no friction to a box that lies flat, since any would tilt it; and without the
span the closest point to a stop lifts a box that slides.
"""

from drystone.constraints.friction_sections import project_on_section
from drystone.jit import inner_kernel, kernel
from drystone.solvers.ffd.body_contacts import GRIPS, OPEN, opening, slip_of, softness
from drystone.solvers.ffd.normal_projection import project_normals_again
from drystone.solvers.ffd.spatial_algebra import (
    ZERO,
    add_equation,
    add_row,
    add_scaled,
    along,
    backward,
    dot_at,
    factor,
    forward,
    solve_equations,
    square,
    start_matrix,
)
from drystone.solvers.ffd.velocity_limit import hold_by_surrogates, sample_tangents

VISITS = 1  # of each contact in a pass that goes on from the friction of the last one
LETTING_GO = 3  # times that contacts which would pull may lose their friction

# An impulse that would stop a contact this often, did it act alone, acts against others through the
# small compliance of fixed contacts: no digits of it are known.
LEVERAGE = 1e4


@kernel
def _hold_normals(b, lo, hi, sides):
    """The factor L, for the normals that grip."""
    start_matrix(sides.normal, b)
    for e in range(lo, hi):
        if sides.grip[e] == GRIPS:
            add_equation(sides.normal, b, e, 0, sides.row, 1.0 / softness(e, 0, sides), 0.0)
    factor(sides.normal, b)


@kernel(inline="always")
def _reduce_rows(b, lo, hi, sides):
    """Rows b = L⁻¹ a."""
    grip, reduced, reduced_square = sides.grip, sides.reduced, sides.reduced_square
    for e in range(lo, hi):
        for axis in range(3):
            if axis > 0 or grip[e] != GRIPS:
                forward(sides.normal, b, sides.row, e, 6 * axis, reduced)
        reduced_square[e, 0] = dot_at(e, 0, 0, reduced) if grip[e] != GRIPS else 0.0
        reduced_square[e, 1] = dot_at(e, 1, 1, reduced)
        reduced_square[e, 2] = dot_at(e, 2, 2, reduced)
        sides.reduced_product[e] = abs(dot_at(e, 1, 2, reduced))


@kernel(inline="always")
def _friction_so_far(lo, hi, row, sides):
    """Motion by the friction sides.friction_before."""
    x, before = ZERO, sides.friction_before
    for e in range(lo, hi):
        if before[e, 0] != 0.0 or before[e, 1] != 0.0:
            x = add_row(add_row(x, e, 1, row, before[e, 0]), e, 2, row, before[e, 1])
    return x


@kernel(inline="always")
def _clings(e, sides):
    return sides.grip[e] == GRIPS and sides.smooth[e] == 0


@kernel(inline="always")
def _hardest(lo, hi, sides):
    """Friction of the contact that has most: what it would change there by itself [m/s]."""
    hardest = 0.0
    for e in range(lo, hi):
        for axis in range(1, 3):
            hardest = max(hardest, abs(sides.hold[e, axis]) * sides.own[e, axis])
    return hardest


@kernel(inline="always")
def _stop_sliding(b, lo, hi, base, sides, precision):
    """What would stop all sliding: -φ as the contacts that grip see it; its impulses, its y.

    Nothing, where that takes more than can be known.
    """
    m, reduced, hold = sides.stick, sides.reduced, sides.hold
    start_matrix(m, b)
    for e in range(lo, hi):
        hold[e, 0], hold[e, 1], hold[e, 2] = 0.0, 0.0, 0.0
        if _clings(e, sides):
            for axis in range(1, 3):
                hold[e, axis] = -slip_of(e, axis, base, sides)
                add_equation(m, b, e, axis, reduced, 1.0 / softness(e, axis, sides), hold[e, axis])
    y, stops, fastest = solve_equations(m, b), True, 0.0
    for e in range(lo, hi):
        if _clings(e, sides):
            for axis in range(1, 3):
                fastest = max(fastest, abs(hold[e, axis]))
                left = hold[e, axis] - along(e, axis, reduced, y)
                hold[e, axis] = left / softness(e, axis, sides)
                stops = stops and (sides.compliance[e, axis] > 0.0 or abs(left) <= precision)
    if not stops:
        _spread(b, lo, hi, y, sides)
    if _hardest(lo, hi, sides) <= LEVERAGE * fastest:
        return y
    for e in range(lo, hi):
        hold[e, 1], hold[e, 2] = 0.0, 0.0
    return ZERO


@kernel
def _spread(b, lo, hi, y, sides):
    """Small impulses that make `y`, where not all sliding can be stopped.

    What is left of it, over the small compliance of fixed contacts, is no impulse.
    """
    m, reduced, hold = sides.stick, sides.reduced, sides.hold
    start_matrix(m, b)
    left = y
    for e in range(lo, hi):
        if _clings(e, sides):
            for axis in range(1, 3):
                if sides.compliance[e, axis] > 0.0:
                    left = add_row(left, e, axis, reduced, -hold[e, axis])
                else:
                    add_equation(m, b, e, axis, reduced, 1.0 / softness(e, axis, sides), 0.0)
    for i in range(6):
        m[b, 21 + i] = left[i]
    w = solve_equations(m, b)
    for e in range(lo, hi):
        if _clings(e, sides):
            for axis in range(1, 3):
                if sides.compliance[e, axis] == 0.0:
                    hold[e, axis] = along(e, axis, reduced, w) / softness(e, axis, sides)


@kernel(inline="always")
def _bears(e, change, sides):
    """Normal impulse of contact `e` as it changes with friction."""
    return sides.push[e] - along(e, 0, sides.row, change) / softness(e, 0, sides)


@kernel(inline="always")
def _can_stop(lo, hi, change, contacts, sides):
    """Whether every contact can bear the friction in sides.hold."""
    friction, friction_2 = contacts.friction, contacts.friction_2
    for e in range(lo, hi):
        if _clings(e, sides):
            bears, c = max(0.0, _bears(e, change, sides)), sides.contact[e]
            h1, h2 = sides.hold[e, 1], sides.hold[e, 2]
            one, two = friction_2[c] * h1, friction[c] * h2
            most = friction[c] * friction_2[c] * bears
            if abs(h1) > friction[c] * bears or abs(h2) > friction_2[c] * bears:
                return False  # also where one of the axes has no friction
            if one * one + two * two > most * most:
                return False
    return True


@kernel(inline="always")
def _has_friction(lo, hi, sides):
    """Whether some contact that clings has had friction, in sides.friction_before."""
    for e in range(lo, hi):
        before = sides.friction_before
        if _clings(e, sides) and (before[e, 0] != 0.0 or before[e, 1] != 0.0):
            return True
    return False


@kernel(inline="always")
def _go_on(lo, hi, sides):
    """sides.friction_before of the contacts that cling as a start, in sides.hold; its y."""
    y = ZERO
    for e in range(lo, hi):
        clings = _clings(e, sides)
        for axis in range(1, 3):
            was = sides.friction_before[e, axis - 1] if clings else 0.0
            sides.hold[e, axis] = was
            if was != 0.0:
                y = add_row(y, e, axis, sides.reduced, was)
    return y


@kernel(inline="always")
def _hold_by_contacts(b, lo, hi, base, y, old, contacts, sides, options):
    """From `y` to the closest that the friction of every contact can reach, one by one."""
    reduced, compliance, square_of = sides.reduced, sides.compliance, sides.reduced_square
    friction, friction_2 = contacts.friction, contacts.friction_2
    hold, slip, limit = sides.hold, sides.first_tangent, options.limit
    if _can_stop(lo, hi, backward(sides.normal, b, add_scaled(y, old, -1.0)), contacts, sides):
        return y, 0
    if _has_friction(lo, hi, sides):  # passes go on anyway, so a few visits are enough
        y, limit = _go_on(lo, hi, sides), VISITS
    for e in range(lo, hi):
        slip[e, 0], slip[e, 1] = slip_of(e, 1, base, sides), slip_of(e, 2, base, sides)
    for done in range(limit):
        worst = 0.0
        change = backward(sides.normal, b, add_scaled(y, old, -1.0))
        for e in range(lo, hi):
            if not _clings(e, sides):
                continue
            c, bears = sides.contact[e], max(0.0, _bears(e, change, sides))
            u1 = slip[e, 0] + along(e, 1, reduced, y) + compliance[e, 1] * hold[e, 1]
            u2 = slip[e, 1] + along(e, 2, reduced, y) + compliance[e, 2] * hold[e, 2]
            one, two = square_of[e, 1] + compliance[e, 1], square_of[e, 2] + compliance[e, 2]
            scale = max(one, two) + sides.reduced_product[e]
            h1, h2 = project_on_section(
                hold[e, 1] - u1 / scale, hold[e, 2] - u2 / scale,
                friction[c] * bears, friction_2[c] * bears,
            )  # fmt: skip
            d1, d2 = h1 - hold[e, 1], h2 - hold[e, 2]
            hold[e, 1], hold[e, 2] = h1, h2
            y = add_row(add_row(y, e, 1, reduced, d1), e, 2, reduced, d2)
            worst = max(worst, scale * max(abs(d1), abs(d2)))
        if worst <= options.precision:
            return y, done + 1
    return y, limit


@kernel(inline="always")
def _pulls(lo, hi, change, sides):
    """Normal impulses as they change with friction; whether some contact would have to pull."""
    pulls = False
    for e in range(lo, hi):
        if sides.grip[e] == GRIPS:
            sides.hold[e, 0] = _bears(e, change, sides) - sides.push[e]
            pulls = pulls or sides.push[e] + sides.hold[e, 0] < 0.0
    return pulls


@kernel
def _let_go(lo, hi, sides):
    """Contacts that would pull lose their friction; that of the others is friction_before."""
    hold = sides.hold
    for e in range(lo, hi):
        if sides.grip[e] == GRIPS and sides.push[e] + hold[e, 0] < 0.0:
            sides.grip[e], hold[e, 1], hold[e, 2] = OPEN, 0.0, 0.0
        sides.friction_before[e, 0], sides.friction_before[e, 1] = hold[e, 1], hold[e, 2]
        hold[e, 0] = 0.0


@kernel(inline="always")
def _never_drive(lo, hi, pushed, x, sides):
    """Go from `pushed`, without friction, towards `x` only until most energy is taken.

    So friction adds none. Impulses at both ends are allowed and the cones convex: so are all
    between.
    """
    compliance, hold = sides.compliance, sides.hold
    change = add_scaled(x, pushed, -1.0)
    power, size = 0.0, square(change)
    for e in range(lo, hi):
        hold[e, 0] += sides.push[e] - sides.push_before[e]
        sides.push[e] = sides.push_before[e]
        power += hold[e, 0] * opening(e, pushed, sides)
        for axis in range(1, 3):
            power += hold[e, axis] * slip_of(e, axis, pushed, sides)
        for axis in range(3):
            size += compliance[e, axis] * hold[e, axis] ** 2
    if size == 0.0 or -power >= size:
        return x
    share = max(0.0, -power / size)
    for e in range(lo, hi):
        for axis in range(3):
            hold[e, axis] *= share
    return add_scaled(pushed, change, share)


@inner_kernel(inline="always")
def start_of(lo, hi, impulse, shared, contacts, sides):
    """Where the first projection starts: friction is what both sides share so far, or nothing."""
    for e in range(lo, hi):
        c = sides.contact[e]
        sides.grip[e] = GRIPS if impulse[c, 0] > 0.0 else OPEN
        mu = max(contacts.friction[c], contacts.friction_2[c])
        sides.smooth[e] = 1 if mu == 0.0 else 0
        for k in range(2):
            sides.friction_before[e, k] = impulse[c, 1 + k] if shared else 0.0
    return _friction_so_far(lo, hi, sides.row, sides)


@inner_kernel(inline="always")
def project_friction(b, lo, hi, start, first, factored, contacts, sides, options):
    """Friction of body `b` after the first projection; returns x and how many surrogates.

    The friction from which that started is taken away, and found anew.
    """
    x, pushed, rounds = first, add_scaled(first, start, -1.0), 0
    for e in range(lo, hi):
        sides.push_before[e] = sides.push[e]
        sides.hold[e, 0], sides.hold[e, 1], sides.hold[e, 2] = 0.0, 0.0, 0.0
    for _ in range(LETTING_GO):
        clings = False
        for e in range(lo, hi):
            sides.grip[e] = GRIPS if sides.push[e] > 0.0 else OPEN
            clings = clings or _clings(e, sides)
        if not clings:
            x = add_scaled(x, start, -1.0)
            for e in range(lo, hi):
                sides.hold[e, 1], sides.hold[e, 2] = 0.0, 0.0
            break
        if not factored:
            _hold_normals(b, lo, hi, sides)
        _reduce_rows(b, lo, hi, sides)
        old = _friction_so_far(lo, hi, sides.reduced, sides)
        base = add_scaled(x, backward(sides.normal, b, old), -1.0)
        y = _stop_sliding(b, lo, hi, base, sides, options.precision)
        if options.by_velocity == 1:
            sample_tangents(lo, hi, start, x, base, contacts, sides, options.circle)
            y, more = hold_by_surrogates(lo, hi, base, y, sides, options)
        else:
            y, more = _hold_by_contacts(b, lo, hi, base, y, old, contacts, sides, options)
        change = backward(sides.normal, b, add_scaled(y, old, -1.0))
        rounds += more
        if not _pulls(lo, hi, change, sides):
            x = add_scaled(x, change, 1.0)
            break
        _let_go(lo, hi, sides)
        start = _friction_so_far(lo, hi, sides.row, sides)
        x, more = project_normals_again(b, lo, hi, start, sides, options)
        factored = options.exact == 1 and more == 0
        rounds += more
    return _never_drive(lo, hi, pushed, x, sides), rounds
