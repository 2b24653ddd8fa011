"""Eight contacts at once: what the same visits give one by one."""

import numpy as np
import pytest

from drystone.constraints.contact_rows import fill_block
from drystone.constraints.coulomb import invert_block, push, solve_contact_to, velocity_at
from drystone.constraints.lane_batches import first_batch, pack_batches, unpack_batches
from drystone.jit import kernel
from drystone.jit.lanes import WIDTH
from drystone.model.capacity import new_contact_rows
from drystone.solvers.gauss_seidel.lane_sweep import LOOSE, measure_batches, sweep_batches
from drystone.solvers.gauss_seidel.sweep import row_error

BODIES, CONTACTS, WINDOW = 40, 150, (0.0, 1.0, 0.0, 0.4)


@kernel
def fill_blocks(rows, mass):
    for r in range(rows.body.shape[0]):
        fill_block(r, rows.body, rows.frame, rows.arm, mass, 1.0, 1.0, rows.delassus)
        invert_block(r, rows.delassus, rows.inverse)


@kernel
def visit_batches(rows, mass, sums, twist):
    """Two sweeps, the second with momentum; their end, and the largest error after them."""
    end = pack_batches(0, rows.body.shape[0], first_batch(0, rows), False, rows, mass)
    for k in range(2):
        sweep_batches(0, end, False, WINDOW, k == 1, rows, sums, mass, twist)
    error = measure_batches(0, end, 2.0, 1e9, rows, sums, mass, twist)
    unpack_batches(0, end, rows)
    return end, error


@kernel
def visit(r, momentum, previous, rows, mass, twist):
    """One contact alone."""
    impulse = rows.impulse
    un, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, twist)
    for k in range(3):
        g = impulse[r, k]
        impulse[r, k] = g + momentum * (g - previous[r, k])
        previous[r, k] = g
    pn, p1, p2 = solve_contact_to(
        LOOSE, r, un + rows.bias[r], u1, u2, rows.delassus, rows.inverse, rows.friction[r], impulse
    )
    d0, d1, d2 = pn - impulse[r, 0], p1 - impulse[r, 1], p2 - impulse[r, 2]
    push(r, d0, d1, d2, rows.body, rows.frame, rows.arm, mass, twist)
    impulse[r, 0], impulse[r, 1], impulse[r, 2] = pn, p1, p2


@kernel
def largest_error(rows, twist):
    worst = 0.0
    for r in range(rows.body.shape[0]):
        worst = max(worst, row_error(r, rows, twist))
    return worst


def some_rows(even):
    """Contacts between random bodies, of which the last stands for the fixed world.

    even    share of the bodies whose inertia is the same about all axes
    """
    rng = np.random.default_rng(5)
    rows = new_contact_rows(CONTACTS, BODIES)
    for r in range(CONTACTS):
        rows.body[r] = rng.choice(BODIES + 1, 2, replace=False)
        rows.frame[r] = np.linalg.qr(rng.normal(size=(3, 3)))[0].reshape(-1)
    rows.arm[:], rows.friction[:] = rng.normal(size=(CONTACTS, 6)), rng.uniform(0, 1, CONTACTS)
    rows.bias[:] = np.maximum(0.0, rng.normal(size=CONTACTS))
    mass = np.zeros((BODIES + 1, 7))
    for b in range(BODIES):
        root = np.eye(3) if b < even * BODIES else rng.normal(size=(3, 3)) + 2 * np.eye(3)
        mass[b] = rng.uniform(0.5, 2.0), *(root @ root.T)[np.triu_indices(3)]
    twist = np.zeros((BODIES + 1, 8))
    twist[:BODIES, :6] = rng.normal(size=(BODIES, 6))
    fill_blocks(rows, mass)
    return rows, mass, twist


def check_visits(even):
    rows, mass, twist = some_rows(even)
    end, error = visit_batches(rows, mass, np.zeros(16), twist)
    order = rows.lane_row[: WIDTH * end]
    order = order[order >= 0]
    assert sorted(order) == list(range(CONTACTS))
    assert end < CONTACTS / 4
    for k in range(end):  # no body is in a batch twice
        bodies = rows.body[[r for r in rows.lane_row[WIDTH * k : WIDTH * k + WIDTH] if r >= 0]]
        movable = bodies[bodies < BODIES]
        assert len(set(movable)) == len(movable)
    alone, mass, single = some_rows(even)
    previous = np.zeros((CONTACTS, 3))
    for momentum in (0.0, WINDOW[3]):
        if momentum > 0.0:  # batches begin with the impulses of the start as those before
            previous[:] = 0.0
        for r in order:
            visit(r, momentum, previous, alone, mass, single)
    assert np.allclose(rows.impulse, alone.impulse, rtol=1e-9, atol=1e-12)
    assert np.allclose(twist[:, :6], single[:, :6], rtol=1e-9, atol=1e-12)
    assert abs(error - largest_error(rows, twist)) < 1e-9 * error


@pytest.mark.parametrize("even", [1.0, 0.8, 0.0])
def test_batches_are_visited_as_one_by_one(even):
    """Balls, other bodies, and both: a batch with one of the others reads all its inertias."""
    check_visits(even)
