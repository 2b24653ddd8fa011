"""What the sweeps of a large island in motion may leave, besides the tolerance of rest.

A share of the speed at which its contacts close, as the step begins. A heap that settles rolls and
slides, and hardly closes: there it is the share of what the step changes, the error under the
impulses of the step before, which are the warm start, but of no more than MOST_CHANGE tolerances,
and no more than the speed at which bodies move past each other. So what stands still has none, be
its impulses known or not, and next to none has what slides steadily, or moves along as a whole.
"""

from math import sqrt

from drystone.constraints.lane_batches import LOOSE_SLAB
from drystone.jit import inner_kernel
from drystone.solvers.gauss_seidel.sweep import row_error

# Of the change so much more than of the closing speed. With 1.0 a tenth of the steps of a fall of
# 1000 spheres ends above the tolerance, with 1.5 one in seventeen, with 2.5 one in fifty; but then
# heaps of hulls lie 0.8 % lower.
CHANGE = 2.0
# 0.2 m/s. Unbounded, a wall that is struck is off by 0.3 m/s in the step of the impact in place of
# less than 0.1. With a fourth of that, spheres that crash take more than twice as many sweeps.
MOST_CHANGE = 20_000.0


@inner_kernel
def allowed_by_motion(g, rows, twist):
    """The speed of which group `g` may be off by a share, all root mean square [m/s].

    rows.slab_sums[i, 2] has the sum of the squares of the errors of slabs in batches.
    """
    errors, speeds, closing = 0.0, 0.0, 0.0
    first, last, count = rows.group_first[g], rows.group_first[g + 1], 0
    for i in range(first, last):
        errors += rows.slab_sums[i, 2]
        for r in range(rows.slab_first[i], rows.slab_first[i + 1]):
            count += 1
            speeds += rows.speed[r] ** 2
            closing += max(0.0, -(rows.approach[r] + rows.bias[r])) ** 2
            if rows.lane_run[i] == LOOSE_SLAB:
                errors += row_error(r, rows, twist) ** 2
    scale = 1.0 / max(count, 1)
    change = sqrt(scale * min(errors, speeds))
    change = min(change, MOST_CHANGE * rows.group_tolerance[g])
    return max(sqrt(scale * closing), CHANGE * change)
