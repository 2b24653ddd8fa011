"""Lemke's algorithm against exact fractions, known solutions and the problems of others."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.solvers.lcp import lcp_error, load, murty, solve, solve_mixed
from shared_data import DATA, data_files, needs_data

LCP, MLCP = DATA / "problems" / "lcp", DATA / "problems" / "mlcp"
needs_lcp = needs_data(LCP, "linear complementarity problems of Siconos")
needs_mlcp = needs_data(MLCP, "mixed linear complementarity problems of Siconos")

# The only file on which Lemke's algorithm ends on a ray, with fractions too: a game of two, M >= 0
# with a zero diagonal, so that the first z to enter makes nothing smaller.
RAYS = {"lcp_CPS_3.dat"}

# Both cycle if the first of the tied rows leaves; the first one is a P-matrix [Kostreva1979].
CYCLING = [
    ([[1, 2, 0], [0, 1, 2], [2, 0, 1]], [-1, -1, -1]),
    ([[5, 0, -2, 6], [4, 16, 13, 1], [8, 11, 10, -4], [-2, -1, 6, 2]], [-1, -1, -1, -1]),
]


def lemke_in_fractions(M, q, lexical=True, limit=1000):  # noqa: N803
    """Slow and exact: the full tableau w, z, z0, q. Returns status, pivots, z."""
    n = len(q)
    table = [
        [Fraction(int(i == j)) for j in range(n)]
        + [-Fraction(x) for x in M[i]]
        + [Fraction(-1), Fraction(q[i])]
        for i in range(n)
    ]
    basis = list(range(n))

    def exchange(r, v):
        table[r] = [x / table[r][v] for x in table[r]]
        for i in range(n):
            if i != r and table[i][v]:
                share = table[i][v]
                table[i] = [a - share * b for a, b in zip(table[i], table[r], strict=True)]
        left, basis[r] = basis[r], v
        return left

    def answer(status, pivots):
        z = np.zeros(2 * n + 1)
        for i, v in enumerate(basis):
            z[v] = table[i][-1]
        return status, pivots, z[n : 2 * n]

    if min(q) >= 0:
        return answer("solved", 0)
    tied = [i for i in range(n) if q[i] == min(q)]
    left = exchange(tied[-1] if lexical else tied[0], 2 * n)
    visited = set()
    for pivots in range(1, limit):
        v = left + n if left < n else left - n
        if (frozenset(basis), v) in visited:
            return answer("cycle", pivots)
        visited.add((frozenset(basis), v))
        rows = [i for i in range(n) if table[i][v] > 0]
        if not rows:
            return answer("ray", pivots)
        least = min(table[i][-1] / table[i][v] for i in rows)
        rows = [i for i in rows if table[i][-1] / table[i][v] == least]
        r = next((i for i in rows if basis[i] == 2 * n), None)
        if r is None:
            r = rows[0]
            if lexical:
                r = min(rows, key=lambda i: [x / table[i][v] for x in table[i][:n]])
        left = exchange(r, v)
        if left == 2 * n:
            return answer("solved", pivots + 1)
    return answer("iteration-limit", limit)


def assert_solved(M, q, result, tolerance=1e-10):  # noqa: N803
    """Complementarity itself, relative to the largest number that goes into w."""
    assert result.status == "solved"
    M, q = np.asarray(M, dtype=float), np.asarray(q, dtype=float)  # noqa: N806
    np.testing.assert_array_equal(result.w, scipy.sparse.csc_array(M) @ result.z + q)
    size = max(1.0, (np.abs(q) + np.abs(M) @ result.z).max())
    assert np.abs(np.minimum(result.z, result.w)).max() <= tolerance * size
    assert result.z.min() >= 0.0


# ---- files


@needs_lcp
@pytest.mark.parametrize("path", data_files(LCP, "*.dat"), ids=lambda path: path.name)
def test_lcp_files(path):
    """Solved to 1e-10, in the file's own units, or on a ray where fractions end on one."""
    M, q = load(path)  # noqa: N806
    result = solve(M, q)
    if path.name in RAYS:
        assert result.status == "ray"
        assert lemke_in_fractions(M.tolist(), q.tolist())[0] == "ray"
    else:
        assert result.status == "solved"
        assert np.abs(np.minimum(result.z, result.w)).max() <= 1e-10
        assert lcp_error(M, q, result.z) <= 1e-10


@needs_lcp
def test_ties_of_the_largest_file_are_broken_as_with_fractions():
    """40 unknowns, 32 of them degenerate at the start: the same 127 bases as with fractions."""
    M, q = load(LCP / "lcp_tobenna.dat")  # noqa: N806
    status, pivots, z = lemke_in_fractions(M.tolist(), q.tolist())
    result = solve(M, q)
    assert (result.status, result.pivots) == (status, pivots) == ("solved", 127)
    np.testing.assert_allclose(result.z, z, rtol=1e-12, atol=1e-12)


@needs_mlcp
@pytest.mark.parametrize("method", ["elimination", "direct"])
@pytest.mark.parametrize("path", data_files(MLCP, "*.dat"), ids=lambda path: path.name)
def test_mlcp_files(path, method):
    problem = load(path)
    result = solve_mixed(*problem, method=method)
    assert result.status == "solved"
    assert_mixed(problem, result)


@needs_mlcp
@pytest.mark.parametrize("method", ["elimination", "direct"])
def test_mlcp_answers_that_the_files_give(method):
    """After the problem some files hold x, z, w to six digits, others z, w."""
    result = solve_mixed(*load(MLCP / "m3n2_mlcp.dat"), method=method)
    np.testing.assert_allclose([*result.z, *result.w], [0, 4, 0, 3, 0, 1], atol=1e-12)
    result = solve_mixed(*load(MLCP / "diodeBridge_mlcp.dat"), method=method)
    np.testing.assert_allclose(result.x, [0.985185, 0.985185, 0], atol=1e-6)
    np.testing.assert_allclose(result.w, [0, 0.985185, 0.985185, 0], atol=1e-6)


def test_matrices_are_read_column_by_column(tmp_path):
    path = tmp_path / "p.dat"
    path.write_text("2\n0\n2\n2\n2\t2\n1 2\n3 4\n-5 6\n\nwords that are not read")
    M, q = load(path)  # noqa: N806
    assert M.tolist() == [[1, 3], [2, 4]] and q.tolist() == [-5, 6]


def test_blocks_of_mixed_files_may_stand_in_any_order(tmp_path):
    path = tmp_path / "p.dat"
    path.write_text("1 1 1 2 0 2 3 1 0 0 3 3 3 3 1 2 3 4 5 6 7 8 9 10 20 30")
    problem = load(path)
    assert problem.A.tolist() == [[9]] and problem.a.tolist() == [30]
    assert problem.B.tolist() == [[1, 4], [2, 5]] and problem.b.tolist() == [10, 20]
    assert problem.C.tolist() == [[3, 6]] and problem.D.tolist() == [[7], [8]]


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "ends where"),
        ("two", "number of unknowns"),
        ("2 0 2 2 2 2 1 0 0", "M has 3 values, must have 4"),
        ("2 0 2 2 2 2 1 0 0 1 5", "q has 1 values, must have 2"),
        ("2 0 2 2 2 2 1 0 x 1 5 6", "no number"),
        ("2 0 2 2 2 2 1 0 nan 1 5 6", "not finite"),
        ("2 0 3 3 3 3 1 0 0 1 5 6", "M is 3 x 3, must be 2 x 2"),
        ("2 2 2 2 2 2 1 0 0 1 5 6", "storage type 2"),
        ("-2 0 2 2 2 2", "number of unknowns"),
        ("1 1 1 1 0 3", "do not fit|ends where|a block's kind"),
        ("1 1 1 1 0 0 2 0 1", "do not grow"),
        ("1 1 1 1 0 1 2 1 1 0 2 2 2 2 1 0 0 1 1 1", "do not fit"),
        ("9" * 5000, "only 1 words in the file"),
        ("2 0 2 2 2 2 1 0 0 1 5 " + "x" * 5000, "no number"),
        ("1 1 100000000 300000000 0 400000000 1 0 0", "only 9 words in the file"),
        ("60000 0 60000 60000 60000 60000 1", "only 7 words in the file"),
        ("²", "cannot be read"),
    ],
)
def test_malformed_files_get_one_sentence(tmp_path, text, says):
    path = tmp_path / "broken.dat"
    path.write_text(text)
    with pytest.raises(ds.InputError, match=says) as caught:
        load(path)
    assert "broken.dat" in str(caught.value)


def test_missing_and_binary_files_get_one_sentence(tmp_path):
    path = tmp_path / "binary.dat"
    path.write_bytes(bytes(range(256)))
    for name, says in ((tmp_path / "none.dat", "no such file"), (path, "cannot be read")):
        with pytest.raises(ds.InputError, match=says):
            load(name)


# ---- pure problems


@pytest.mark.parametrize("n", range(1, 13))
def test_murty_takes_exponentially_many_pivots(n):
    """[Murty1988]: 2ⁿ pivots; z is 0 but for z_n = 2ⁿ. All numbers are powers of two: exact."""
    result = solve(*murty(n))
    assert (result.status, result.pivots) == ("solved", 2**n)
    assert result.z.tolist() == [0.0] * (n - 1) + [2.0**n]


def test_pivots_can_be_limited():
    result = solve(*murty(10), limit=100)
    assert (result.status, result.pivots) == ("iteration-limit", 100)


@pytest.mark.parametrize("M, q", CYCLING)
def test_degenerate_problems_do_not_cycle(M, q):  # noqa: N803
    assert lemke_in_fractions(M, q, lexical=False)[0] == "cycle"
    status, pivots, z = lemke_in_fractions(M, q)
    result = solve(M, q)
    assert (result.status, result.pivots) == (status, pivots)
    np.testing.assert_allclose(result.z, z, rtol=1e-12)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_same_bases_as_with_fractions(data):
    """Small integers, so that most ratio tests are ties: same status, pivots and z."""
    n = data.draw(st.integers(1, 5))
    number = st.integers(-2, 2)
    M = data.draw(st.lists(st.lists(number, min_size=n, max_size=n), min_size=n, max_size=n))  # noqa: N806
    q = data.draw(st.lists(st.integers(-1, 1), min_size=n, max_size=n))
    status, pivots, z = lemke_in_fractions(M, q)
    result = solve(M, q)
    if status == "solved":
        assert (result.status, result.pivots) == (status, pivots)
        np.testing.assert_allclose(result.z, z, rtol=1e-11, atol=1e-12)
    else:  # goes on from the basis before the ray, and may find an answer
        assert result.status in ("ray", "solved")
    if result.status == "solved":
        assert_solved(M, q, result)


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 30), st.integers(0, 2**32 - 1), st.floats(0, 6))
def test_p_matrices_give_their_only_solution(n, seed, exponent):
    """q is made from a solution; its scale, and that of the unknowns, must not matter."""
    rng = np.random.default_rng(seed)
    root, skew = rng.normal(size=(2, n, n))
    unit = 10.0 ** rng.uniform(-exponent, exponent, n)
    M = (root @ root.T / n + np.eye(n) + skew - skew.T) * unit * unit[:, None]  # noqa: N806
    basic = rng.random(n) < 0.5
    z, w = np.where(basic, rng.random(n), 0.0) / unit, np.where(basic, 0.0, rng.random(n)) * unit
    result = solve(M, w - M @ z)
    assert result.status == "solved"
    np.testing.assert_allclose(result.z * unit, z * unit, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 25), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_redundant_semidefinite_problems(n, rank, seed):
    """M = J Jᵀ, q = J v, as in contacts without friction: solvable, z not unique, Jᵀ z is."""
    rng = np.random.default_rng(seed)
    J, v = rng.normal(size=(n, rank)), rng.normal(size=rank)  # noqa: N806
    J = np.vstack((J, J[: n // 2]))  # noqa: N806  every second one twice
    M, q = J @ J.T, J @ v  # noqa: N806
    result = solve(M, q)
    assert_solved(M, q, result)
    # The least change of v that leaves no u = J (v + Jᵀ z) negative: the closest point of a cone.
    change = J.T @ result.z
    assert change @ (v + change) == pytest.approx(0.0, abs=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(0, 2**32 - 1))
def test_unsolvable_semidefinite_problems_end_on_a_ray(n, seed):
    """There is y > 0 with Jᵀ y = 0 and qᵀ y < 0: then no z has J Jᵀ z + q >= 0."""
    rng = np.random.default_rng(seed)
    y = 0.5 + rng.random(n + 1)
    J = rng.normal(size=(n + 1, min(n, 4)))  # noqa: N806
    J -= np.outer(y, y @ J) / (y @ y)  # noqa: N806
    q = rng.normal(size=n + 1)
    q -= y * (q @ y + 1.0) / (y @ y)
    result = solve(J @ J.T, q)
    assert result.status == "ray"
    assert np.isfinite(result.z).all() and np.isfinite(result.w).all()


def test_a_ray_is_no_proof_for_other_matrices():
    """M = -1, q = -1 has no solution. The other, a game of two, has z = (1, 1), w = 0."""
    assert solve([[-1.0]], [-1.0]).status == "ray"
    M, q = [[0.0, 1.0], [1.0, 0.0]], [-1.0, -1.0]  # noqa: N806
    assert lcp_error(M, q, [1.0, 1.0]) == 0.0
    assert solve(M, q).status == "ray"


def test_cover_changes_the_path_and_not_the_answer():
    M, q = murty(8)  # noqa: N806
    other = solve(M, q, cover=2.0 ** np.arange(8, 0, -1))
    assert other.status == "solved" and other.pivots < 2**8
    np.testing.assert_allclose(other.z, solve(M, q).z, atol=1e-9)


def test_rescaled_problems_take_the_same_path():
    """Rows and columns in other units, z0 with them."""
    rng = np.random.default_rng(3)
    M, q = murty(8)  # noqa: N806
    rows, columns = 10.0 ** rng.uniform(-8, 8, (2, 8))
    result = solve(rows[:, None] * M * columns, rows * q, cover=rows)
    assert (result.status, result.pivots) == ("solved", 2**8)
    np.testing.assert_allclose(result.z * columns, [0] * 7 + [2**8], rtol=1e-9, atol=1e-9)


def test_sparse_and_empty_problems():
    M = scipy.sparse.diags_array(np.arange(1.0, 60.0)).tocsr()  # noqa: N806
    result = solve(M, -np.ones(59))
    assert (result.status, result.pivots) == ("solved", 60)
    np.testing.assert_allclose(result.z, 1.0 / np.arange(1.0, 60.0), rtol=1e-12)
    assert solve(np.zeros((0, 0)), [])[2:] == ("solved", 0)
    assert solve(np.zeros((2, 2)), [0.0, 1.0])[2:] == ("solved", 0)


def test_error_is_zero_at_solutions_and_not_beside_them():
    M, q = murty(5)  # noqa: N806
    z = np.array([0, 0, 0, 0, 32.0])
    assert lcp_error(M, q, z) == 0.0
    assert lcp_error(1e9 * M, q, 1e-9 * z) == 0.0
    assert lcp_error(M, q, z + 1e-6) > 1e-9
    assert lcp_error(M, q, np.zeros(5)) > 0.1
    assert lcp_error(M, q, -z) > 0.1


@pytest.mark.parametrize(
    "M, q, more, says",
    [
        ([[1, 2]], [1], {}, "M has shape"),
        ([["a"]], [1], {}, "M holds <U1, must be a matrix"),
        ([[np.inf]], [1], {}, "M holds a number that is not finite"),
        ([[1]], [np.nan], {}, "q holds a number that is not finite"),
        ([[1]], [[1]], {}, "q has shape"),
        ([[1]], ["b"], {}, "q holds <U1, must be a vector"),
        ([[1]], [-1], {"method": "lemkee"}, "Did you mean 'lemke'"),
        ([[1]], [-1], {"cover": [0]}, "cover must hold 1 numbers above zero"),
        ([[1]], [-1], {"cover": [1, 1]}, "cover must hold 1 numbers"),
        ([[1]], [-1], {"limit": 0}, "limit is 0"),
    ],
)
def test_wrong_input_gets_one_sentence(M, q, more, says):  # noqa: N803
    with pytest.raises(ds.InputError, match=says):
        solve(M, q, **more)


@pytest.mark.parametrize("n", [0, -1, 2.5, "three"])
def test_murty_wants_a_whole_number(n):
    with pytest.raises(ds.InputError, match="n is"):
        murty(n)


# ---- mixed problems


def assert_mixed(problem, result, tolerance=1e-10):
    A, B, C, D, a, b = (np.asarray(part, dtype=float) for part in problem)  # noqa: N806
    x, z, w = result.x, result.z, result.w
    assert result.status == "solved"
    assert np.abs(A @ x + C @ z + a).max(initial=0.0) <= tolerance
    np.testing.assert_allclose(w, D @ x + B @ z + b, atol=tolerance)
    assert np.abs(np.minimum(z, w)).max() <= tolerance


def random_mixed(seed, n, m, rank):
    """Like a multibody system: rows of joints, `rank` of them independent, and contacts."""
    rng = np.random.default_rng(seed)
    joints = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n + m + 2))
    contacts, v = rng.normal(size=(m, n + m + 2)), rng.normal(size=n + m + 2)
    return (
        joints @ joints.T, contacts @ contacts.T, joints @ contacts.T, contacts @ joints.T,
        joints @ v, contacts @ v,
    )  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(0, 2**32 - 1), st.booleans())
def test_mixed_both_ways(n, m, seed, redundant):
    """Both methods take the same path; redundant joints leave x open, but neither z nor w."""
    problem = random_mixed(seed, n, m, max(1, n - 2) if redundant else n)
    first, second = (solve_mixed(*problem, method=name) for name in ("elimination", "direct"))
    for result in (first, second):
        assert_mixed(problem, result, 1e-8)
    assert first.pivots == second.pivots
    np.testing.assert_allclose(first.z, second.z, atol=1e-5)
    np.testing.assert_allclose(first.w, second.w, atol=1e-7)


@pytest.mark.parametrize("method", ["elimination", "direct"])
def test_equations_about_z_alone(method):
    """A = 0: the closest point of a simplex, least |z - t|² with sum z = 1; x is a multiplier."""
    t = np.array([0.7, 0.9, -0.3, 0.1])
    one = np.ones((1, 4))
    result = solve_mixed(np.zeros((1, 1)), np.eye(4), one, -one.T, [-1.0], -t, method=method)
    assert result.status == "solved"
    np.testing.assert_allclose(result.z, [0.4, 0.6, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(result.x, [-0.3], atol=1e-12)


@pytest.mark.parametrize("method", ["elimination", "direct"])
def test_contradicting_equations_are_singular(method):
    """x = 1 and x = 2; and twice the same equation, which is none."""
    A, C = np.ones((2, 2)), np.zeros((2, 1))  # noqa: N806
    result = solve_mixed(A, [[1.0]], C, C.T, [-1.0, -2.0], [-1.0], method=method)
    assert result.status == "singular"
    result = solve_mixed(A, [[1.0]], C, C.T, [-1.0, -1.0], [-1.0], method=method)
    assert result.status == "solved"
    assert result.x.sum() == pytest.approx(1.0) and result.z == pytest.approx([1.0])


def test_long_chains_are_eliminated_sparsely():
    """A chain of 2000 joints with five contacts: A is tridiagonal, its inverse would be full."""
    n, m = 2000, 5
    A = scipy.sparse.diags_array(  # noqa: N806
        [-np.ones(n - 1), 2.001 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    C = scipy.sparse.coo_array(  # noqa: N806
        (np.ones(m), (np.arange(m) * 400, np.arange(m))), shape=(n, m)
    )
    a, b = np.sin(np.arange(n)), -np.ones(m)
    result = solve_mixed(A, 20.0 * np.eye(m), C, C.T, a, b)
    assert result.status == "solved"
    assert np.abs(A @ result.x + C @ result.z + a).max() < 1e-10
    assert np.abs(np.minimum(result.z, result.w)).max() < 1e-10


def test_mixed_without_equations_or_without_pairs():
    empty = np.zeros((0, 0)), np.zeros((0, 2)), np.zeros((2, 0))
    result = solve_mixed(empty[0], 2 * np.eye(2), empty[1], empty[2], [], [-2.0, 2.0])
    assert result.z.tolist() == [1.0, 0.0]
    for method in ("elimination", "direct"):
        result = solve_mixed(2 * np.eye(2), empty[0], empty[2], empty[1], [2.0, 4.0], [], method)
        assert result.status == "solved" and result.x.tolist() == [-1.0, -2.0]


def test_mixed_input_gets_one_sentence():
    one = np.ones((1, 1))
    with pytest.raises(ds.InputError, match="C has shape"):
        solve_mixed(one, one, np.ones((2, 1)), one, [1.0], [1.0])
    with pytest.raises(ds.InputError, match="method is 'fast'"):
        solve_mixed(one, one, one, one, [1.0], [1.0], method="fast")
