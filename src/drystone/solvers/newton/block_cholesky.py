"""Sparse factors L D Lᵀ of a symmetric matrix of blocks of 6 x 6, front by front [Duff1983].

Not CHOLMOD: it must run inside compiled kernels, and our blocks are known beforehand. A front is
a dense matrix, of which the upper half is used: its own blocks and what is left of the fronts
below it in the tree are added up, its pivots are eliminated six at a time, and the rest waits on a
stack for the front above. No pivoting: the matrices are a positive semidefinite one plus a
positive diagonal. A pivot that has lost its digits makes the factorisation fail.

Blocks stand in `matrix`, 36 numbers each: those of the diagonal, then those right of it, row by
row: body i is coupled with the bodies column[first[i] : first[i + 1]], all of higher number.
"""

import numpy as np

from drystone.jit import kernel

# A pivot below this share of the largest entry of its row has lost all its digits.
SMALL_PIVOT = 1e-14


@kernel
def _add_blocks(s, n, first, column, matrix, plan, base, side):
    """The blocks of the pivots of front `s`, which stands at stack[base]."""
    stack, place = plan.stack, plan.place
    for c in range(plan.pivot[s], plan.pivot[s + 1]):
        o = 6 * place[c]
        for j in range(6):
            for k in range(j, 6):
                stack[base + (o + j) * side + o + k] += matrix[36 * c + 6 * j + k]
        for m in range(first[c], first[c + 1]):
            q, b = 6 * place[column[m]], 36 * (n + m)
            for j in range(6):
                t = base + (o + j) * side + q
                for k in range(6):
                    stack[t + k] += matrix[b + 6 * j + k]


@kernel
def _add_child(c, plan, base, side):
    """What is left of front `c` to the front at stack[base]."""
    stack, place, item = plan.stack, plan.place, plan.item
    lo, hi = plan.first[c], plan.first[c + 1]
    width, own = 6 * (hi - lo), plan.low[c]
    for a in range(hi - lo):
        o = 6 * place[item[lo + a]]
        for j in range(6):
            source, target = own + (6 * a + j) * width, base + (o + j) * side
            for b in range(a, hi - lo):
                q, t = target + 6 * place[item[lo + b]], source + 6 * b
                for k in range(6):
                    stack[q + k] += stack[t + k]


@kernel
def _subtract_six(count, stack, row, p, side, f0, f1, f2, f3, f4, f5):
    """Subtract multiples of six rows from a row. Unsigned places let the compiler use vectors."""
    row, p0, side = np.uint64(row), np.uint64(p), np.uint64(side)
    p1 = p0 + side
    p2 = p1 + side
    p3 = p2 + side
    p4 = p3 + side
    p5 = p4 + side
    for k in range(count):
        j = np.uint64(k)
        stack[row + j] -= (
            (f0 * stack[p0 + j] + f1 * stack[p1 + j])
            + (f2 * stack[p2 + j] + f3 * stack[p3 + j])
            + (f4 * stack[p4 + j] + f5 * stack[p5 + j])
        )


@kernel
def _subtract_one(count, stack, row, p, f):
    row, p = np.uint64(row), np.uint64(p)
    for k in range(count):
        j = np.uint64(k)
        stack[row + j] -= f * stack[p + j]


@kernel
def _eliminate(pivots, side, stack, base):
    """Eliminate the first `pivots` rows of the front at stack[base], six at a time."""
    for o in range(0, pivots, 6):
        for k in range(o, o + 6):  # the six among themselves
            row = base + k * side
            largest = 0.0
            for j in range(k, side):
                largest = max(largest, abs(stack[row + j]))
            pivot = stack[row + k]
            if not pivot > SMALL_PIVOT * largest:  # also takes a NaN
                return False
            for i in range(k + 1, o + 6):
                f = stack[row + i] / pivot
                _subtract_one(side - i, stack, base + i * side + i, row + i, f)
        p = base + o * side
        d0, d1, d2 = (
            1.0 / stack[p + o], 1.0 / stack[p + side + o + 1], 1.0 / stack[p + 2 * side + o + 2]
        )  # fmt: skip
        q = p + 3 * side
        d3, d4, d5 = (
            1.0 / stack[q + o + 3], 1.0 / stack[q + side + o + 4], 1.0 / stack[q + 2 * side + o + 5]
        )  # fmt: skip
        for i in range(o + 6, side):
            _subtract_six(
                side - i, stack, base + i * side + i, p + i, side,
                stack[p + i] * d0, stack[p + side + i] * d1, stack[p + 2 * side + i] * d2,
                stack[q + i] * d3, stack[q + side + i] * d4, stack[q + 2 * side + i] * d5,
            )  # fmt: skip
    return True


@kernel
def factor_blocks(n, first, column, matrix, plan):
    """Factors of the matrix in `plan`; whether all went well."""
    stack, place, top, depth = plan.stack, plan.place, 0, 0
    for s in range(plan.fronts[0]):
        lo, hi = plan.pivot[s], plan.pivot[s + 1]
        width, rest = hi - lo, plan.first[s + 1] - plan.first[s]
        side, base = 6 * (width + rest), top
        for k in range(base, base + side * side):
            stack[k] = 0.0
        for c in range(lo, hi):
            place[c] = c - lo
        for m in range(rest):
            place[plan.item[plan.first[s] + m]] = width + m
        _add_blocks(s, n, first, column, matrix, plan, base, side)
        for _ in range(plan.children[s]):
            depth -= 1
            c = plan.waiting[depth]
            _add_child(c, plan, base, side)
            top = plan.low[c]
        if not _eliminate(6 * width, side, stack, base):
            return False
        for k in range(6 * width * side):
            plan.factor[plan.at[s] + k] = stack[base + k]
        if rest > 0:
            plan.low[s], plan.waiting[depth] = top, s
            depth += 1
            for j in range(6 * rest):
                source = base + (6 * width + j) * side + 6 * width
                for k in range(j, 6 * rest):
                    stack[top + k] = stack[source + k]
                top += 6 * rest
    return True


@kernel
def solve_blocks(plan, b):
    """Overwrite `b` with the solution, from the factors of factor_blocks()."""
    factor, x = plan.factor, plan.vector
    for s in range(plan.fronts[0]):
        lo, pivots = 6 * plan.pivot[s], 6 * (plan.pivot[s + 1] - plan.pivot[s])
        rest = plan.first[s + 1] - plan.first[s]
        side = pivots + 6 * rest
        for k in range(6 * rest):
            x[k] = 0.0
        for k in range(pivots):
            row = plan.at[s] + k * side
            t = b[lo + k] / factor[row + k]
            b[lo + k] = t
            for j in range(k + 1, pivots):
                b[lo + j] -= factor[row + j] * t
            row += pivots
            for j in range(6 * rest):
                x[j] += factor[row + j] * t
        for m in range(rest):
            o = 6 * plan.item[plan.first[s] + m]
            for k in range(6):
                b[o + k] -= x[6 * m + k]
    for s in range(plan.fronts[0] - 1, -1, -1):
        lo, pivots = 6 * plan.pivot[s], 6 * (plan.pivot[s + 1] - plan.pivot[s])
        rest = plan.first[s + 1] - plan.first[s]
        side = pivots + 6 * rest
        for m in range(rest):
            o = 6 * plan.item[plan.first[s] + m]
            for k in range(6):
                x[6 * m + k] = b[o + k]
        for k in range(pivots - 1, -1, -1):
            row, total = plan.at[s] + k * side, 0.0
            for j in range(k + 1, pivots):
                total += factor[row + j] * b[lo + j]
            for j in range(6 * rest):
                total += factor[row + pivots + j] * x[j]
            b[lo + k] -= total / factor[row + k]
