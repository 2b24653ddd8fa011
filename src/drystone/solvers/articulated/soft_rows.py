"""Springs and servos that are rows of joints: a force that neither damps nor makes energy.

A soft row has the offset g from where it pulls to, stiffness k and damping c. Over a step

    p = -dt (k (g + dt (a u + b u')) + c (a' u + b' u')),   u, u' its velocity before and after

With the displacement dt (u + u') / 2 of an island that moves smoothly, a = b = 1/4 and a' = b' =
1/2 are the trapezoidal rule: the spring takes and gives what its potential says, exactly, along the
secant Jacobian (secant.py). With that of the end of step, dt u', a = 0 and b = 1/2 do the same, and
what is lost is the |u' - u|² of the scheme. What is faster than the step would swing on for ever,
with a changing sign; it is damped: beyond x = dt (c + k dt) W = 1, with W what the row answers to
its impulse, the weights go over to a = a' = 0, b = b' = 1 (linearly implicit, CLINE 2.50 to 2.55).
"""

from math import sqrt

from drystone.constraints.joint_rows import row_velocity
from drystone.jit import inner_kernel, kernel
from drystone.model.joint_arrays import ROW_DRIVE, ROW_SPRING
from drystone.solvers.gauss_seidel.joint_sweep import own_block


@kernel
def _soften(r, rows, old, mass, dt, smooth):
    """Bias and softness of soft row `r`."""
    offset, stiffness, damping = rows.spring[r, 0], rows.spring[r, 1], rows.spring[r, 2]
    x = dt * (damping + stiffness * dt) * own_block(r, rows, mass)
    fast = 1.0 - 1.0 / sqrt(x) if x > 1.0 else 0.0  # 0: slower than the step
    slow = 1.0 - fast
    if smooth:
        before = 0.25 * slow * stiffness * dt + 0.5 * slow * damping
        after = (0.25 * slow + fast) * stiffness * dt + (0.5 * slow + fast) * damping
    else:
        before, after = 0.0, (0.5 * slow + fast) * stiffness * dt + damping
    rows.softness[r] = 1.0 / (dt * after)
    rows.bias[r] = stiffness * offset / after
    if before > 0.0:
        rows.bias[r] += before / after * row_velocity(r, rows, old)


@inner_kernel
def is_soft(r, rows):
    """Whether row `r` is a spring or a servo."""
    return rows.softness[r] > 0.0 and (rows.kind[r] == ROW_SPRING or rows.kind[r] == ROW_DRIVE)


@inner_kernel
def soften_rows(first, last, joint_work, old, mass, dt, smooth):
    """Bias and softness of all soft rows of the blocks first .. last.

    old      velocities at the start of the step
    smooth   bodies move by the mean of those before and after, else by those after
    """
    rows = joint_work.rows
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        r = joint_work.row_list[i]
        if is_soft(r, rows):
            _soften(r, rows, old, mass, dt, smooth)


@inner_kernel
def has_springs(first, last, joint_work):
    """Whether the direction of a soft row may rotate within the step."""
    for i in range(joint_work.row_first[first], joint_work.row_first[last]):
        if joint_work.rows.kind[joint_work.row_list[i]] == ROW_SPRING:
            return True
    return False
