"""Block Gauss-Seidel [Jourdan1998] on an explicit Delassus matrix, for solvers/nsgs.py.

The textbook form, for problems given by their matrix: contacts in the order of the file, every
sweep forward (block_matrix.py), without acceleration. A visit gathers the velocity of its contact,
u_c = q_c + sum_j W_cj p_j, and gives it the impulse that obeys Coulomb's law while all others stay
as they are. Rows of joints are visited one by one.
"""

import numpy as np

from drystone.constraints.problem import SolveInfo, invert_blocks
from drystone.jit import kernel
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.gauss_seidel.block_matrix import BlockProblem, block_problem, sweep_blocks

# Bounds on a solve that does not reach its tolerance: 5 to 20 s, ten times what the hardest problem
# known to us takes (48 contacts, 170 000 sweeps).
MOST_SWEEPS = 1_000_000
MOST_VISITS = 100_000_000

# The error is measured after each of the first sweeps, then every ten, then every 1/20 of those
# so far: measuring costs as much as a few sweeps, and the count is at most 5 % too large.
FIRST_SWEEPS = 10
CHECK_SHARE = 20

# The smallest eigenvalue of a contact's diagonal block is lifted to this share of the largest. A
# visit starts from the true velocity, so a contact that obeys the law stays as it is, whatever
# block it uses: lifting changes the iterates, not the answer. Singular blocks then need no special
# care, and flat ones do not throw their neighbours about: unlifted, OneObject-i100000-316 of FCLIB
# (one block is 1:51) cycles for ever. Price: a lone contact of 1:96 takes 6 sweeps, not 1.
FLATTEST = 1.0 / 40.0


@kernel
def sweep_many(sweeps, problem, member, impulse):
    """Visit all blocks `sweeps` times; returns the sweeps made, fewer if one changed nothing."""
    for sweep in range(sweeps):
        if not sweep_blocks(0, member.shape[0], member, problem, impulse):
            return sweep + 1
    return sweeps


def lifted_problem(problem) -> BlockProblem:
    """`problem` by its blocks, the diagonal ones symmetric and positive definite, see FLATTEST."""
    block = problem.blocks()
    full = block[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    eigenvalue = np.linalg.eigvalsh(full)
    lift = np.maximum(0.0, FLATTEST * np.abs(eigenvalue).max(axis=1) - eigenvalue[:, 0])
    block[:, [0, 3, 5]] += lift[:, None]
    inverse = np.zeros_like(block)
    invert_blocks(block, inverse)
    blocks = block_problem(problem)
    return blocks._replace(matrix=blocks.matrix._replace(own=block, inverse=inverse))


def solve_matrix(solver, problem, impulse) -> SolveInfo:
    """Nsgs.solve() for a problem without bodies, or with joints."""
    limit = solver.max_sweeps or min(MOST_SWEEPS, MOST_VISITS // max(problem.block_count, 1))
    monitor = ConvergenceMonitor(solver, problem, impulse, limit, "nsgs")
    blocks, member = lifted_problem(problem), np.arange(problem.block_count, dtype=np.int32)
    current = impulse.copy()
    over = monitor.converged
    while not over:
        step = max(FIRST_SWEEPS, monitor.iterations // CHECK_SHARE)
        wanted = min(1 if monitor.iterations < FIRST_SWEEPS else step, limit - monitor.iterations)
        sweeps = sweep_many(wanted, blocks, member, current)
        over = monitor.done(current, work=sweeps, count=sweeps)
        over = over or sweeps < wanted or not np.isfinite(current).all()
    return monitor.report(impulse)
