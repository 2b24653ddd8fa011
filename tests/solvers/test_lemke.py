"""Pivoting as a contact solver: the polyhedral law, its closed forms, and problems of others."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.laws import law_errors, project_on_polygon
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.residual import residual
from drystone.solvers.lemke import Lemke, contact_rows
from polygon_sliding import predicted_stop
from shared_data import PROBLEMS, needs_problems

G = 9.81


def particle(velocity, mass=2.0, mu=0.5, dt=0.01):
    """A point of that mass on a plane, sliding with `velocity` (2,), gravity for one step."""
    W = scipy.sparse.eye_array(3, format="csr") / mass  # noqa: N806
    return MatrixProblem(W, np.array([[-G * dt, *velocity]]), np.array([mu]))


def piled(seed, bodies, contacts, friction=None):
    """Random contacts between free bodies: W = J M⁻¹ Jᵀ, of rank 6 `bodies` at most."""
    rng = np.random.default_rng(seed)
    J = np.zeros((3 * contacts, 6 * bodies))  # noqa: N806
    for c in range(contacts):
        for b in rng.choice(bodies, size=min(2, bodies), replace=False):
            J[3 * c : 3 * c + 3, 6 * b : 6 * b + 6] = rng.normal(size=(3, 6))
    mass = 10.0 ** rng.uniform(-1, 1, 6 * bodies)
    q = (J @ rng.normal(size=6 * bodies)).reshape(-1, 3)
    mu = rng.uniform(0.0, 1.0, contacts) if friction is None else np.full(contacts, friction)
    return MatrixProblem(scipy.sparse.csr_array(J / mass @ J.T), q, mu)


def solve(problem, **options):
    impulse = np.zeros((problem.contact_count, 3))
    return impulse, Lemke(**options).solve(problem, impulse)


# ---- one contact


@pytest.mark.parametrize("facets", [4, 6, 8, 16])
@pytest.mark.parametrize("angle_deg", [0, 7, 22.5, 30, 45, 60, 101, 180, 250, 333])
def test_sliding_friction_is_the_corner_against_the_motion(facets, angle_deg):
    """Friction takes off most energy: the corner d_k of the polygon closest to -v, mu m g dt long.

    Straight between two corners (45° for 4 facets) any mix of both does; only its length along
    -v, mu m g dt cos(pi / facets), is sure.
    """
    mass, mu, dt = 2.0, 0.5, 0.01
    angle = np.radians(angle_deg)
    v = 3.0 * np.array([np.cos(angle), np.sin(angle)])
    impulse, info = solve(particle(v, mass, mu, dt), facets=facets)
    assert info.converged and info.residual < 1e-12
    assert impulse[0, 0] == pytest.approx(mass * G * dt, rel=1e-12)
    corners = 2 * np.pi * np.arange(facets) / facets
    along = np.cos(corners - angle - np.pi)  # of each corner, along -v
    largest = mu * mass * G * dt
    assert impulse[0, 1:] @ v / 3.0 == pytest.approx(-largest * along.max(), rel=1e-12)
    if np.sort(along)[-1] - np.sort(along)[-2] > 1e-9:
        k = along.argmax()
        expected = largest * np.array([np.cos(corners[k]), np.sin(corners[k])])
        np.testing.assert_allclose(impulse[0, 1:], expected, atol=1e-12)


@pytest.mark.parametrize("facets", [4, 8])
def test_slow_bodies_are_held(facets):
    """Up to mu g dt cos(pi / facets) friction can stop the body within the step, whatever way."""
    for angle in np.linspace(0.0, 2.0 * np.pi, 13):
        speed = 0.99 * 0.5 * G * 0.01 * np.cos(np.pi / facets)
        v = speed * np.array([np.cos(angle), np.sin(angle)])
        impulse, _ = solve(particle(v), facets=facets)
        np.testing.assert_allclose(impulse[0, 1:], -2.0 * v, atol=1e-12)


def stop(facets, angle, speed, mu, dt):
    """Displacement (2,) of a particle until it rests, the solver's friction in every step.

    The mean of two velocities is exact for a constant force.
    """
    v, x = speed * np.array([np.cos(angle), np.sin(angle)]), np.zeros(2)
    while np.hypot(*v) > 1e-12:
        impulse, info = solve(particle(v, 2.0, mu, dt), facets=facets)
        assert info.converged
        after = v + impulse[0, 1:] / 2.0
        x += 0.5 * dt * (v + after)
        v = after
    return x


@pytest.mark.parametrize("facets", [4, 8])
def test_stopping_distance_against_direction(facets):
    """Farthest straight between two corners, by 1 / cos(pi / facets): 1.414 and 1.082.

    Only the two steps in which friction changes are not exact: each is wrong by at most its change
    of velocity, mu g dt, for half a step.
    """
    speed, mu, dt = 2.0, 0.5, 0.01
    bound = 2 * mu * G * dt * dt
    for angle in np.radians([0, 5, 11, 22.5, 30, 45, 71, 130]):
        x = stop(facets, angle, speed, mu, dt)
        np.testing.assert_allclose(x, predicted_stop(facets, angle, speed, mu), atol=bound)
    straight, between = (
        np.hypot(*predicted_stop(facets, angle, speed, mu)) for angle in (0.0, np.pi / facets)
    )
    assert straight == pytest.approx(speed**2 / (2 * mu * G))
    assert between / straight == pytest.approx(1 / np.cos(np.pi / facets))


def test_many_facets_approach_the_exact_cone():
    """The exact cone stops all directions in v² / 2 mu g; 32 facets are within 1 / cos(pi / 32)."""
    exact = 2.0**2 / (2 * 0.5 * G)
    distance = np.hypot(*stop(32, 0.35, 2.0, 0.5, 0.01))
    assert exact - 1e-3 < distance < exact / np.cos(np.pi / 32) + 1e-3


# ---- the law


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 8), st.sampled_from([4, 6, 8, 12])
)  # fmt: skip
def test_random_problems_are_solved_exactly(seed, bodies, contacts, facets):
    """Redundant ones too: q = J v has a solution however many contacts [Anitescu1997]."""
    problem = piled(seed, bodies, contacts)
    impulse, info = solve(problem, facets=facets)
    assert info.converged and info.residual < 1e-8
    assert info.energy_change <= 1e-9


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([4, 8]))
def test_law_holds_in_its_own_words(seed, facets):
    """No pull, inside the polygon, most dissipation: not the formula by which residual() judges."""
    problem = piled(seed, 3, 6)
    impulse, _ = solve(problem, facets=facets)
    u = problem.velocity(impulse)
    assert (impulse[:, 0] >= 0.0).all() and u[:, 0].min() > -1e-9
    assert np.abs(impulse[:, 0] * u[:, 0]).max() < 1e-8
    angle = 2 * np.pi * np.arange(facets) / facets
    corners = np.column_stack((np.cos(angle), np.sin(angle)))
    normals = np.column_stack((np.cos(angle + np.pi / facets), np.sin(angle + np.pi / facets)))
    radius = problem.friction * impulse[:, 0]
    assert (impulse[:, 1:] @ normals.T <= radius[:, None] * np.cos(np.pi / facets) + 1e-9).all()
    most = radius * (corners @ u[:, 1:].T).min(axis=0)
    np.testing.assert_allclose((impulse[:, 1:] * u[:, 1:]).sum(axis=1), most, atol=1e-8)


def test_error_of_the_law_is_zero_where_contacts_part():
    """A polygon of radius zero holds one point; a contact that parts may slide as it likes."""
    np.testing.assert_array_equal(project_on_polygon(np.ones((1, 2)), np.zeros(1), 8), [[0, 0]])
    problem = particle((3.0, 1.0))
    problem = replace(problem, free_velocity=np.array([[0.1, 3.0, 1.0]]))
    rest = np.zeros((1, 3))
    assert law_errors(problem, rest, problem.velocity(rest), "polyhedral", 8)[0] == 0.0


def test_error_of_the_law_sees_wrong_answers():
    problem = piled(5, 3, 6, friction=0.4)
    impulse, _ = solve(problem)
    assert residual(problem, impulse, "polyhedral", 8) < 1e-9
    assert residual(problem, 1.01 * impulse, "polyhedral", 8) > 1e-4
    assert residual(problem, impulse, "polyhedral", 4) > 1e-4
    assert residual(problem, impulse, "coulomb") > 1e-4


def test_more_facets_come_closer_to_coulomb():
    """The circle is cut by 1 - cos(pi / facets): a quarter for twice the facets."""
    problem = piled(8, 4, 8, friction=0.3)
    errors = [
        residual(problem, solve(problem, facets=facets)[0], "coulomb") for facets in (8, 32, 128)
    ]
    assert errors[0] > 3 * errors[1] > 9 * errors[2] > 0.0


def test_without_friction_only_normals_are_left():
    """The pure problem of the normals; redundant, so that only the velocities are unique."""
    problem = piled(2, 3, 7, friction=0.0)
    impulse, info = solve(problem)
    assert info.converged and (impulse[:, 1:] == 0.0).all()
    normal, q = problem.matrix.toarray()[::3, ::3], problem.free_velocity[:, 0]
    z = ds.lcp.solve(normal, q).z
    np.testing.assert_allclose(normal @ impulse[:, 0], normal @ z, atol=1e-9)


def test_rows_of_the_problem():
    """One contact with friction, one without: CLINE eq. 2.48 written out."""
    G_rows, C, first = contact_rows(np.array([0.0, 0.5]), 4)  # noqa: N806
    assert first.tolist() == [0, 1, 7]
    expected = np.zeros((7, 6))
    expected[0, 0] = expected[1, 3] = 1.0
    expected[2:6, 4] = [1, 0, -1, 0]
    expected[2:6, 5] = [0, 1, 0, -1]
    np.testing.assert_allclose(G_rows.toarray(), expected, atol=1e-12)
    expected = np.zeros((7, 7))
    expected[2:6, 6], expected[6, 2:6], expected[6, 1] = 1.0, -1.0, 0.5
    np.testing.assert_array_equal(C.toarray(), expected)


# ---- as a solver


def test_islands_are_solved_one_by_one():
    """Two problems in one, contacts shuffled, give what each gives alone."""
    parts = [piled(seed, 2, 4, friction=0.5) for seed in (1, 2)]
    shuffle = np.random.default_rng(0).permutation(8)
    rows = (3 * shuffle[:, None] + np.arange(3)).ravel()
    W = scipy.sparse.block_diag([part.matrix for part in parts], format="csr")  # noqa: N806
    q = np.vstack([part.free_velocity for part in parts])
    both = MatrixProblem(scipy.sparse.csr_array(W)[rows][:, rows], q[shuffle], np.full(8, 0.5))
    impulse, info = solve(both)
    alone = [solve(part) for part in parts]
    assert info.converged and info.islands == 2
    assert info.iterations == max(part.iterations for _, part in alone)
    np.testing.assert_allclose(
        both.velocity(impulse),
        np.vstack([p.velocity(x) for p, (x, _) in zip(parts, alone, strict=True)])[shuffle],
        atol=1e-9,
    )


def box_stack(count, heavy, push, mu=0.5):
    """Unit cubes of 1 kg, the top one `heavy`, four contacts below each, `push` [m/s] along x."""
    mass = np.ones(count)
    mass[-1] = heavy
    corners = np.array([[x, y, 0.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    nc = 4 * count
    top, below = np.repeat(np.arange(count), 4), np.repeat(np.arange(-1, count - 1), 4)
    arm = np.hstack(
        (np.tile(corners + [0, 0, 0.5], (count, 1)), np.tile(corners - [0, 0, 0.5], (count, 1)))
    )
    inverse = np.zeros((count + 1, 7))
    inverse[:-1, 0], inverse[:-1, [1, 4, 6]] = 1 / mass, 6 / mass[:, None]
    free = np.zeros((count + 1, 6))
    free[:-1, 0], free[:-1, 2] = push, -G / 240
    return ds.ContactProblem(
        body=np.column_stack((np.where(below < 0, count, below), top)).astype(np.int32),
        frame=np.tile([0.0, 0, 1, 1, 0, 0, 0, 1, 0], (nc, 1)), arm=arm, friction=np.full(nc, mu),
        bias=np.zeros(nc), gap=np.zeros(nc), mass=inverse, free=free,
        slab_first=np.array([0, nc], np.int32), group_first=np.array([0, 1], np.int32),
    )  # fmt: skip


def test_heavy_box_on_a_stack_of_boxes():
    """Ten boxes, the top one of 1000 kg: at rest after one solve, each layer carries its load."""
    problem = box_stack(10, 1000.0, 0.0)
    impulse, info = solve(problem)
    assert info.converged and info.residual < 1e-10
    assert np.abs(problem.velocity(impulse)).max() < 1e-10
    load = impulse[:, 0].reshape(10, 4).sum(axis=1) * 240 / G  # [kg]
    np.testing.assert_allclose(load, 1000.0 + np.arange(9, -1, -1), rtol=1e-9)


def test_stacks_slide_on_the_ground_as_one():
    """A push of 1 m/s along tangent 1, a corner: the lowest layer gives mu m g dt against it.

    The centre of mass is at 1.5 m, so that friction above 1/3 would tip the stack over.
    """
    problem = box_stack(3, 1.0, 1.0, mu=0.2)
    impulse, info = solve(problem, facets=4)
    assert info.converged
    friction = impulse[:4, 1].sum()
    assert friction == pytest.approx(-0.2 * 3.0 * G / 240, rel=1e-9)
    twist = problem.free + problem.twist_from(impulse)
    np.testing.assert_allclose(twist[:3, 0], 1.0 - 0.2 * G / 240, rtol=1e-9)


def test_mass_ratios_do_not_matter():
    """A ton on one gram on the ground, along one line: both rest."""
    light, heavy = 1e3, 1e-3  # inverse masses
    W = np.zeros((6, 6))  # noqa: N806
    for axis in range(3):
        W[axis, axis] = light
        W[3 + axis, 3 + axis] = light + heavy
        W[axis, 3 + axis] = W[3 + axis, axis] = -light
    q = np.array([[-G / 240, 0.01, 0.0], [0.0, 0.01, 0.0]])
    problem = MatrixProblem(scipy.sparse.csr_array(W), q, np.array([0.5, 0.5]))
    impulse, info = solve(problem)
    assert info.converged and info.residual < 1e-10
    assert impulse[1, 0] == pytest.approx(1e3 * G / 240, rel=1e-9)


def test_impossible_problems_are_reported():
    """A contact that must open faster than another one lets it: no solution, a ray, no NaN."""
    W = np.zeros((6, 6))  # noqa: N806
    W[:3, :3] = W[3:, 3:] = np.eye(3)
    W[0, 3] = W[3, 0] = -1.0  # squeezed between two walls that both push
    q = np.array([[-1.0, 0, 0], [-1.0, 0, 0]])
    problem = MatrixProblem(scipy.sparse.csr_array(W), q, np.array([0.5, 0.5]))
    impulse, info = solve(problem)
    assert not info.converged and info.method == "ray"
    assert np.isfinite(impulse).all() and np.isfinite(info.residual)
    assert info.residual <= residual(problem, np.zeros((2, 3)), "polyhedral", 8)


def test_few_pivots_leave_the_best_iterate():
    problem = piled(3, 4, 8, friction=0.5)
    impulse, info = solve(problem, max_pivots=5)
    assert not info.converged and info.method == "iteration-limit" and info.iterations == 5
    assert info.residual <= residual(problem, np.zeros((8, 3)), "polyhedral", 8)


def test_solved_guesses_are_kept():
    problem = piled(3, 4, 8, friction=0.5)
    impulse, _ = solve(problem)
    again = impulse.copy()
    info = Lemke().solve(problem, again)
    assert info.converged and info.iterations == 0
    np.testing.assert_array_equal(again, impulse)


def test_history_holds_start_and_end():
    problem = piled(3, 4, 8, friction=0.5)
    _, info = solve(problem, history=True)
    assert info.history.residual[0] > 1e-3 > 1e-9 > info.history.residual[-1]
    assert info.work > 1.0 and info.seconds > 0.0


def test_no_contacts():
    empty = MatrixProblem(scipy.sparse.csr_array((0, 0)), np.zeros((0, 3)), np.zeros(0))
    impulse, info = solve(empty)
    assert info.converged and info.iterations == 0 and impulse.shape == (0, 3)


@pytest.mark.parametrize("facets", [0, 2, 3, 7, -4])
def test_facets_must_be_even(facets):
    with pytest.raises(ds.InputError, match=f"facets is {facets}"):
        solve(particle((1.0, 0.0)), facets=facets)


def test_elliptic_friction_is_refused():
    problem = replace(particle((1.0, 0.0)), friction_2=np.array([0.2]))
    with pytest.raises(ds.UnsupportedFeature, match="elliptic"):
        solve(problem)


@needs_problems
def test_files_of_others():
    """The wheels of a rover, 5 contacts, read by hand: d, nc, W dense by columns, q, mu."""
    words = (PROBLEMS / "Rover9770.dat").read_text().split()
    nc = int(words[1])
    size = 3 * nc
    values = np.array(words[7 : 7 + size * size + size + nc], dtype=float)
    W = values[: size * size].reshape(size, size, order="F")  # noqa: N806
    q = values[size * size : size * size + size].reshape(nc, 3)
    problem = MatrixProblem(scipy.sparse.csr_array(W), q, values[-nc:])
    for facets in (4, 8, 20):
        assert solve(problem, facets=facets)[1].residual < 1e-12


# ---- a step ends


def test_work_has_a_bound_and_small_islands_come_first():
    """A large island beside a small one: the large one is given up, the small one is solved."""
    large, small = piled(7, 30, 60, friction=0.5), piled(1, 2, 4, friction=0.5)
    W = scipy.sparse.block_diag([large.matrix, small.matrix], format="csr")  # noqa: N806
    q = np.vstack([large.free_velocity, small.free_velocity])
    both = MatrixProblem(scipy.sparse.csr_array(W), q, np.full(64, 0.5))
    impulse, info = solve(both, max_work=1e6)
    assert not info.converged and "iteration-limit" in info.method
    alone, of_alone = solve(small)
    assert of_alone.converged
    np.testing.assert_allclose(impulse[60:], alone, atol=1e-12)
    assert solve(both)[1].converged
    again = impulse.copy()  # what was not solved keeps its guess, if that is better
    Lemke(max_work=1.0).solve(both, again)
    np.testing.assert_array_equal(again[60:], alone)


def test_a_bound_of_work_is_a_positive_number():
    for value in (0.0, -1.0, np.nan, "much"):
        with pytest.raises(ds.InputError, match="max_work"):
            Lemke(max_work=value)


def test_problems_without_room_for_an_inverse_are_refused():
    size = 200_000
    with pytest.raises(ds.InputError, match="200000 rows"):
        ds.lcp.solve(scipy.sparse.eye_array(size), -np.ones(size))
    nothing = scipy.sparse.csr_array((size, 1))
    with pytest.raises(ds.InputError, match="200001 rows"):
        ds.lcp.solve_mixed(
            [[1.0]], nothing.T, scipy.sparse.eye_array(size), nothing, [1.0], -np.ones(size)
        )


def test_islands_without_room_for_an_inverse_keep_their_guess(monkeypatch):
    monkeypatch.setattr("drystone.solvers.lemke.MOST_ROWS", 100)
    impulse, info = solve(piled(7, 15, 30, friction=0.5))
    assert not info.converged and info.method == "too-large" and (impulse == 0.0).all()


def test_ctrl_c_is_heard_within_a_pivot_or_so():
    """However long the path is, a call of pivot() does a limited number of multiplications."""
    from drystone.solvers.lcp.basis import REFRESH, Basis, scale_columns
    from drystone.solvers.lcp.pivoting import pivot

    M, q = ds.lcp.murty(12)  # noqa: N806
    table = scale_columns(scipy.sparse.csc_array(M), q, 0)
    basis = Basis(table, np.arange(12), np.ones(12), 1e-12)
    basis.refresh()
    basis._enter_artificial()
    assert pivot(basis.entering, REFRESH, 1e-12, 1.0, basis.tableau)[1] == 1
    assert basis.tableau.work[0] > 0.0
