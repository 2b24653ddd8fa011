"""Gauss-Seidel over the rows of joints, for islands too wide for Newton and for nsgs [Jourdan1998].

The rows of joints are visited one by one like contacts, each given the impulse that obeys its law
while all others stay as they are.
"""

import numpy as np

from drystone.constraints.joint_rows import push_joint_row, row_velocity
from drystone.jit import inner_kernel, kernel
from drystone.solvers.gauss_seidel.sweep import sweep_limit, sweep_rows, worst_error


@kernel
def own_block(r, rows, mass):
    """Diagonal entry J M⁻¹ Jᵀ of the Delassus matrix, of one row of a joint."""
    total = 0.0
    for side in range(2):
        b = rows.body[r, side]
        m = mass[b, 0]
        x, y, z = (
            rows.angular[r, 3 * side],
            rows.angular[r, 3 * side + 1],
            rows.angular[r, 3 * side + 2],
        )
        for k in range(3):
            total += m * rows.linear[r, k] ** 2
        total += x * (mass[b, 1] * x + mass[b, 2] * y + mass[b, 3] * z)
        total += y * (mass[b, 2] * x + mass[b, 4] * y + mass[b, 5] * z)
        total += z * (mass[b, 3] * x + mass[b, 5] * y + mass[b, 6] * z)
    return total


@kernel(inline="always")
def _sweep_joints(first, last, backward, joint_work, mass, twist):
    """Visit the rows of the blocks first .. last once; returns the largest correction [m/s]."""
    worst, rows = 0.0, joint_work.rows
    lo, hi = joint_work.row_first[first], joint_work.row_first[last]
    for i in range(hi - lo):
        r = joint_work.row_list[hi - 1 - i if backward else lo + i]
        own = own_block(r, rows, mass) + rows.softness[r]
        if own == 0.0:
            continue
        old = rows.impulse[r]
        w = row_velocity(r, rows, twist) + rows.softness[r] * old + rows.bias[r]
        new = min(max(old - w / own, rows.lower[r]), rows.upper[r])
        if new != old:
            worst = max(worst, abs(new - old) * own)
            push_joint_row(r, new - old, rows, mass, twist)
            rows.impulse[r] = new
    return worst


@kernel
def _joint_residual(first, last, joint_work, mass, twist):
    """How far the rows of the blocks are from their law [m/s], [rad/s]."""
    worst, rows = 0.0, joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        own = own_block(r, rows, mass) + rows.softness[r]
        if own == 0.0:
            continue
        w = row_velocity(r, rows, twist) + rows.softness[r] * rows.impulse[r] + rows.bias[r]
        z = min(max(rows.impulse[r] - w / own, rows.lower[r]), rows.upper[r])
        error = abs(rows.impulse[r] - z) * own
        if not error <= worst:
            worst = error
    return worst


@inner_kernel
def sweep_linked(lo, hi, first, last, rows, joint_work, mass, tolerance, max_sweeps, twist):
    """Gauss-Seidel over contacts and joints alike; returns the residual and the sweeps."""
    limit = sweep_limit(max_sweeps, hi - lo + 3 * (last - first))
    sweeps, residual, backward = 0, np.inf, False
    while sweeps < limit:
        change = _sweep_joints(first, last, backward, joint_work, mass, twist)
        change = max(change, sweep_rows(lo, hi, backward, rows, mass, twist))
        sweeps += 1
        backward = not backward
        if change <= tolerance or sweeps >= limit:
            residual = worst_error(lo, hi, rows, twist)
            residual = max(residual, _joint_residual(first, last, joint_work, mass, twist))
            if residual <= tolerance or residual != residual:
                break
    return residual, sweeps
