"""Plain block Gauss-Seidel on a problem given by its matrix, W in rows of 3x3 blocks.

The method of solvers/nsgs.py [Jourdan1998] in its textbook form: contacts in the order of the file,
every sweep forward. A visit gathers the velocity of its contact, u_c = q_c + sum_j W_cj p_j, and
gives it the impulse that obeys Coulomb's law while all others stay as they are. Rows of joints are
visited one by one.
"""

import numpy as np

from drystone.constraints.coulomb import solve_contact
from drystone.constraints.problem import SolveInfo, invert_blocks
from drystone.jit import kernel
from drystone.solvers.convergence import Judge
from drystone.solvers.gauss_seidel.block_matrix import velocity_in
from drystone.solvers.newton.hybrid import bounds_of

# Bounds on a solve that does not reach its tolerance: 5 to 20 s, ten times what the hardest problem
# known to us takes (48 contacts, 170 000 sweeps).
MOST_SWEEPS = 1_000_000
MOST_VISITS = 100_000_000

# The error is measured after each of the first sweeps, then every ten, then every 1/20 of those
# so far: measuring costs as much as a few sweeps, and the count is at most 5 % too large.
FIRST_SWEEPS = 10
CHECK_SHARE = 20

# The smallest eigenvalue of a contact's own block is lifted to this share of the largest. A visit
# starts from the true velocity, so a contact that obeys the law stays as it is, whatever block it
# uses: lifting changes the way, not the answer. Singular blocks then need no special care, and flat
# ones do not throw their neighbours about: unlifted, OneObject-i100000-316 of FCLIB (one block is
# 1:51) goes round in circles for ever. Price: a lone contact of 1:96 takes 6 sweeps, not 1.
FLATTEST = 1.0 / 40.0


@kernel
def sweep_blocks(
    sweeps,
    # problem
    first, other, value, q, block, inverse, friction, bounds,
    # in and out
    impulse,
):  # fmt: skip
    """Visit all contacts `sweeps` times; returns the sweeps made, fewer if one changed nothing."""
    for sweep in range(sweeps):
        changed = False
        for c in range(impulse.shape[0]):
            if bounds.joint[c]:
                changed = _visit_rows(c, first, other, value, q, block, bounds, impulse) or changed
                continue
            un, u1, u2 = velocity_in(c, first, other, value, q, impulse)
            pn, p1, p2 = solve_contact(c, un, u1, u2, block, inverse, friction[c], impulse)
            if pn != impulse[c, 0] or p1 != impulse[c, 1] or p2 != impulse[c, 2]:
                changed = True
                impulse[c, 0], impulse[c, 1], impulse[c, 2] = pn, p1, p2
        if not changed:
            return sweep + 1
    return sweeps


@kernel
def _visit_rows(c, first, other, value, q, block, bounds, impulse):
    """Visit the three rows of joint block `c`; whether that changed anything."""
    changed = False
    for k in range(3):
        u = velocity_in(c, first, other, value, q, impulse)
        own = block[c, 0 if k == 0 else 2 * k + 1]
        p = min(max(impulse[c, k] - u[k] / own, bounds.lower[c, k]), bounds.upper[c, k])
        changed = changed or p != impulse[c, k]
        impulse[c, k] = p
    return changed


def lifted_blocks(problem) -> tuple[np.ndarray, np.ndarray]:
    """Own blocks (nc, 6) of the contacts, symmetric and positive definite, and their inverses."""
    block = problem.blocks()
    full = block[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(-1, 3, 3)
    eigenvalue = np.linalg.eigvalsh(full)
    lift = np.maximum(0.0, FLATTEST * np.abs(eigenvalue).max(axis=1) - eigenvalue[:, 0])
    block[:, [0, 3, 5]] += lift[:, None]
    inverse = np.zeros_like(block)
    invert_blocks(block, inverse)
    return block, inverse


def solve_matrix(solver, problem, impulse) -> SolveInfo:
    """Nsgs.solve() for a problem without bodies, or with joints."""
    limit = solver.max_sweeps or min(MOST_SWEEPS, MOST_VISITS // max(problem.block_count, 1))
    judge = Judge(solver, problem, impulse, limit, "nsgs")
    w = problem.W().tobsr(blocksize=(3, 3))
    block, inverse = lifted_blocks(problem)
    value = w.data.reshape(-1, 9)
    q, friction = problem.q(), np.zeros(problem.block_count)
    friction[: problem.contact_count] = problem.friction
    rows = (w.indptr, w.indices, value, q, block, inverse, friction, bounds_of(problem))
    current = impulse.copy()
    over = judge.converged
    while not over:
        step = max(FIRST_SWEEPS, judge.iterations // CHECK_SHARE)
        wanted = min(1 if judge.iterations < FIRST_SWEEPS else step, limit - judge.iterations)
        sweeps = sweep_blocks(wanted, *rows, current)
        over = judge.done(current, work=sweeps, count=sweeps)
        over = over or sweeps < wanted or not np.isfinite(current).all()
    return judge.report(impulse)
