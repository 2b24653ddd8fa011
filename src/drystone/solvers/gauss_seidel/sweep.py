"""Stage 5: visits of contacts, one after the other, and how many there may be.

Each visit gives a contact the impulse that obeys Coulomb's law while all others stay as they are.
"""

from drystone.constraints.coulomb import contact_error, push, solve_contact, velocity_at
from drystone.jit import inner_kernel, kernel
from drystone.solvers.gauss_seidel.sweep_2d import sweep_flat_rows

# The solver stops on the tolerance. Where that is out of reach these bound the cost of a step: any
# island may have so many sweeps, and a small one so many visits of a contact (some 10 ms of work),
# enough for two boxes of mass ratio 1000.
MANY_SWEEPS = 200
MANY_VISITS = 400_000


@kernel
def sweep_limit(max_sweeps, row_count):
    """How many sweeps an island of `row_count` contacts may have, if `max_sweeps` is 0."""
    if max_sweeps > 0:
        return max_sweeps
    return max(MANY_SWEEPS, MANY_VISITS // max(row_count, 1))


@inner_kernel
def sweep_rows(
    lo, hi, backward,
    # problem
    body, frame, arm, block, inverse, bias, friction, mass,
    # in and out
    impulse, twist,
):  # fmt: skip
    """Visit rows lo..hi once; returns the largest velocity that a visit had to correct [m/s]."""
    worst = 0.0
    for i in range(hi - lo):
        r = hi - 1 - i if backward else lo + i
        un, u1, u2 = velocity_at(r, body, frame, arm, twist)
        un += bias[r]
        pn, p1, p2 = solve_contact(r, un, u1, u2, block, inverse, friction[r], impulse)
        dn, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
        if dn != 0.0 or d1 != 0.0 or d2 != 0.0:
            change = (abs(dn) + abs(d1) + abs(d2)) * block[r, 0]
            worst = max(worst, change)
            push(r, dn, d1, d2, body, frame, arm, mass, twist)
            impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2
    return worst


@inner_kernel(forceinline=True)  # else handing over these arrays takes as long
def row_error(r, body, frame, arm, block, bias, friction, impulse, twist):
    """contact_error() of row `r` [m/s]."""
    un, u1, u2 = velocity_at(r, body, frame, arm, twist)
    rho = 3.0 / (block[r, 0] + block[r, 3] + block[r, 5])
    return contact_error(
        impulse[r, 0], impulse[r, 1], impulse[r, 2], un + bias[r], u1, u2, friction[r], rho
    )


@inner_kernel
def worst_error(
    lo, hi,
    # problem
    body, frame, arm, block, bias, friction,
    # in
    impulse, twist,
):  # fmt: skip
    """Largest contact_error() of rows lo..hi [m/s]."""
    worst = 0.0
    for r in range(lo, hi):
        error = row_error(r, body, frame, arm, block, bias, friction, impulse, twist)
        if not error <= worst:  # also takes a NaN
            worst = error
    return worst


@inner_kernel
def sweep_slab(i, backward, rows, mass, twist):
    if rows.flat[0] == 1:
        return sweep_flat_rows(
            rows.slab_first[i], rows.slab_first[i + 1], backward,
            rows.body, rows.frame, rows.arm, rows.delassus, rows.inverse, rows.bias, rows.friction,
            mass, rows.impulse, twist,
        )  # fmt: skip
    return sweep_rows(
        rows.slab_first[i], rows.slab_first[i + 1], backward,
        rows.body, rows.frame, rows.arm, rows.delassus, rows.inverse, rows.bias, rows.friction,
        mass, rows.impulse, twist,
    )  # fmt: skip


@inner_kernel
def slab_error(i, rows, twist):
    return worst_error(
        rows.slab_first[i], rows.slab_first[i + 1],
        rows.body, rows.frame, rows.arm, rows.delassus, rows.bias, rows.friction,
        rows.impulse, twist,
    )  # fmt: skip
