"""Fast frictional dynamics, passes over all bodies: each is resolved once, as if alone (Fig. 7).

In a pass each body takes the others as they are under the impulses that both sides of every
contact share so far, and finds its own by the two projections. The two sides of a contact come to
different impulses; their mean is what they share from then on. One pass from zero is FFD as
published; at a fixed point of the passes the sides agree and momentum is conserved.
"""

from math import sqrt

from numba import prange

from drystone.jit import inner_kernel, kernel, parallel_kernel
from drystone.solvers.ffd.body_contacts import fill_rest, store_twist
from drystone.solvers.ffd.friction import project_friction, start_of
from drystone.solvers.ffd.normal_projection import project_normals
from drystone.solvers.ffd.spatial_algebra import ZERO, add_row

_CHUNK = 32  # bodies per task, taken from all over the list: those that touch are neighbours in it


@kernel
def _share_every(task, tasks, free, impulse, sides, twist):
    for b in range(task, free.shape[0], tasks):
        x = ZERO
        for e in range(sides.first[b], sides.first[b + 1]):
            c = sides.contact[e]
            for axis in range(3):
                x = add_row(x, e, axis, sides.row, impulse[c, axis])
        for k in range(6):
            sides.moved[b, k] = x[k]
        store_twist(b, x, free, sides.root, twist)


@parallel_kernel
def share_impulses(free, impulse, sides, twist):
    """Motion of all bodies under the impulses that both sides share."""
    tasks = (free.shape[0] + _CHUNK - 1) // _CHUNK
    for task in prange(tasks):
        _share_every(task, tasks, free, impulse, sides, twist)


@kernel
def _resolve_every(task, tasks, contacts, options, impulse, twist, sides):
    """Both projections of every body of a task: lines 26 to 34 of Fig. 7, compression only."""
    exact = options.exact == 1
    shared = exact and options.by_velocity == 0  # what normals gain in (24) is without friction
    for b in range(task, twist.shape[0], tasks):
        first, last = sides.first[b], sides.first[b + 1]
        if first == last:
            continue
        fill_rest(b, contacts, impulse, twist, sides)
        start = start_of(first, last, impulse, shared, contacts, sides)
        x, rounds = project_normals(b, first, last, start, sides, options)
        factored = exact and rounds == 0
        x, more = project_friction(b, first, last, start, x, factored, contacts, sides, options)
        for k in range(6):
            sides.answer[b, k] = x[k]
        sides.rounds[b] += rounds + more


@parallel_kernel
def resolve_bodies(contacts, options, impulse, twist, sides):
    """One pass: every body by itself."""
    tasks = (twist.shape[0] + _CHUNK - 1) // _CHUNK
    for task in prange(tasks):
        _resolve_every(task, tasks, contacts, options, impulse, twist, sides)


@inner_kernel
def side_impulse(e, axis, sides):
    """What side `e` has come to along an axis [N s]."""
    return sides.hold[e, axis] + (sides.push[e] if axis == 0 else 0.0)


@kernel
def _mean_of_sides(c, axis, sides):
    a, b = sides.place[c, 0], sides.place[c, 1]
    if a < 0 or b < 0:
        return side_impulse(max(a, b), axis, sides)
    return 0.5 * (side_impulse(a, axis, sides) + side_impulse(b, axis, sides))


@kernel
def agree(impulse, ahead, pace, sides):
    """Shared impulses become the means of both sides; returns by how much that moves [m/s].

    The next pass starts `ahead` of them, the farther the longer it has gone well: [Nesterov1983]
    with the restart of [ODonoghue2015].
    """
    change, back, size = 0.0, 0.0, 0.0
    for c in range(impulse.shape[0]):
        e = max(sides.place[c, 0], sides.place[c, 1])
        if e < 0:
            continue
        for axis in range(3):
            new = _mean_of_sides(c, axis, sides)
            scale = sides.own[e, axis] + sides.compliance[e, axis]
            moved = new - ahead[c, axis]
            change = max(change, abs(moved) * scale)
            size += scale * moved * moved
            back -= scale * moved * (new - impulse[c, axis])
    old = 1.0 if back > 0.0 or size > pace[1] else pace[0]
    pace[0], pace[1] = 0.5 * (1.0 + sqrt(1.0 + 4.0 * old * old)), size
    lead = (old - 1.0) / pace[0]
    for c in range(impulse.shape[0]):
        if max(sides.place[c, 0], sides.place[c, 1]) < 0:
            continue
        for axis in range(3):
            new = _mean_of_sides(c, axis, sides)
            step = lead * (new - impulse[c, axis]) if axis == 0 else 0.0
            ahead[c, axis] = new + step
            impulse[c, axis] = new
    return change


@kernel
def store_answers(free, sides, twist):
    """Twists of all bodies under the impulses of their own sides."""
    answer = sides.answer
    for b in range(free.shape[0]):
        x = (answer[b, 0], answer[b, 1], answer[b, 2], answer[b, 3], answer[b, 4], answer[b, 5])
        store_twist(b, x, free, sides.root, twist)


@kernel
def bounce_back(bounce, impulse, sides):
    """Poisson's restitution: the share bounce (nc,) of what pushed pushes again (line 34).

    Also of what friction has changed of it: so sides that agree go on to agree.
    """
    for b in range(sides.answer.shape[0]):
        x = ZERO
        for e in range(sides.first[b], sides.first[b + 1]):
            back = bounce[sides.contact[e]] * max(0.0, side_impulse(e, 0, sides))
            sides.hold[e, 0] += back
            x = add_row(x, e, 0, sides.row, back)
        for k in range(6):
            sides.answer[b, k] += x[k]
    for c in range(impulse.shape[0]):
        if max(sides.place[c, 0], sides.place[c, 1]) >= 0:
            impulse[c, 0] = _mean_of_sides(c, 0, sides)


@kernel
def momentum_gap(sides):
    """Impulses that the two sides do not share, and all impulses: sums over contacts [N s]."""
    gap, total = 0.0, 0.0
    for c in range(sides.place.shape[0]):
        a, b = sides.place[c, 0], sides.place[c, 1]
        if a < 0 or b < 0:
            continue
        apart, mean = 0.0, 0.0
        for axis in range(3):
            one, two = side_impulse(a, axis, sides), side_impulse(b, axis, sides)
            apart += (one - two) ** 2
            mean += (0.5 * (one + two)) ** 2
        gap += apart**0.5
        total += mean**0.5
    return gap, total
