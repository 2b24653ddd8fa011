"""Siconos on one saved problem: PROX, NSGS or ADMM; needs NumPy, SciPy and Siconos alone.

    python drive_siconos.py PROBLEM.npz METHOD IMPULSE.npy [--tolerance T] [--repeat N]

One JSON line goes to stdout, the impulses to IMPULSE.npy. W is given as compressed columns with
64-bit indices, its own format, so that nothing is converted on the clock; all settings but the
tolerance and the number of iterations are its own.
"""

import argparse
import json
import sys
import time

import numpy as np
import scipy.sparse
import siconos.numerics as sn

MANY_ITERATIONS = 1_000_000  # the caller ends what takes too long


def read_problem(path):
    """W, q and friction as save_for_siconos() wrote them."""
    data = np.load(path)
    size = len(data["q"])
    matrix = scipy.sparse.csc_matrix((data["data"], data["index"], data["first"]), (size, size))
    matrix.indices, matrix.indptr = (x.astype(np.int64) for x in (matrix.indices, matrix.indptr))
    return matrix, data["q"], data["friction"]


def solve_once(matrix, q, friction, method, tolerance):
    """Seconds, status (0: it says that it converged), iterations and impulses."""
    problem = sn.FrictionContactProblem(3, len(friction), matrix, q.copy(), friction.copy())
    options = sn.SolverOptions(getattr(sn, "SICONOS_FRICTION_3D_" + method))
    options.dparam[sn.SICONOS_DPARAM_TOL] = tolerance
    options.iparam[sn.SICONOS_IPARAM_MAX_ITER] = MANY_ITERATIONS
    impulse, velocity = np.zeros(len(q)), np.zeros(len(q))
    start = time.perf_counter()
    status = sn.fc3d_driver(problem, impulse, velocity, options)
    seconds = time.perf_counter() - start
    return seconds, status, int(options.iparam[sn.SICONOS_IPARAM_ITER_DONE]), impulse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("problem")
    parser.add_argument("method", choices=("PROX", "NSGS", "ADMM"))
    parser.add_argument("impulse")
    parser.add_argument("--tolerance", type=float, default=1e-8)
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    matrix, q, friction = read_problem(arguments.problem)
    best = np.inf
    for _ in range(arguments.repeat):
        seconds, status, iterations, impulse = solve_once(
            matrix, q, friction, arguments.method, arguments.tolerance
        )
        best = min(best, seconds)
        if seconds > 1.0:
            break
    np.save(arguments.impulse, impulse.reshape(-1, 3))
    row = {"seconds": best, "said": status == 0, "iterations": iterations}
    sys.stdout.write(json.dumps(row) + "\n")


main()
