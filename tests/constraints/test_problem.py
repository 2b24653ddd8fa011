"""The contact problem: its operator, its judge and its files."""

import h5py
import numpy as np
import pytest

import drystone as ds
import naive
from drystone.constraints.problem import ContactProblem
from drystone.constraints.residual import measure, residual


def small_problem(seed=0, steps=3):
    """Contacts of three boxes on each other, pushed sideways, and a sphere on top."""
    rng = np.random.default_rng(seed)
    stone = ds.Material(friction=0.5)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), stone)
    for k in range(4):
        shape, height = (ds.Sphere(0.3), 1.8) if k == 3 else (ds.Box(0.8, 0.7, 0.5), 0.25 + 0.5 * k)
        velocity = (*rng.normal(size=2), -0.1)
        world.add_body(shape, stone, position=(0.1 * k, 0.05 * k, height), velocity=velocity)
    world.run(steps * world.dt)
    return world.problem()


@pytest.fixture(scope="module")
def problem():
    found = small_problem()
    assert found.contact_count > 8
    return found


def one_contact(free, friction, bias=0.0):
    """A unit mass (a point: its arm is zero) against the fixed world, normal z."""
    return ContactProblem(
        body=np.array([[1, 0]], np.int32),
        frame=np.array([[0.0, 0, 1, 1, 0, 0, 0, 1, 0]]),
        arm=np.zeros((1, 6)),
        friction=np.array([friction]),
        bias=np.array([bias]),
        gap=np.zeros(1),
        mass=np.array([[1.0, 1, 0, 0, 1, 0, 1], [0.0] * 7]),
        free=np.array([[*free, 0.0, 0, 0], [0.0] * 6]),
        slab_first=np.array([0, 1], np.int32),
        group_first=np.array([0, 1], np.int32),
    )


def test_operator_equals_its_matrix(problem):
    """apply_W(p) = W p, and both equal the dense twin; 1e-12 of the largest entry."""
    rng = np.random.default_rng(1)
    p = rng.normal(size=(problem.contact_count, 3))
    dense, q = naive.delassus(problem)
    scale = np.abs(dense).max()
    np.testing.assert_allclose(problem.W().toarray(), dense, atol=1e-12 * scale)
    np.testing.assert_allclose(problem.apply_W(p).ravel(), dense @ p.ravel(), atol=1e-11 * scale)
    np.testing.assert_allclose(problem.q().ravel(), q, atol=1e-12)
    np.testing.assert_allclose(problem.jacobian().toarray(), naive.jacobian(problem), atol=1e-12)


def test_matrix_is_symmetric_and_positive(problem):
    w = problem.W().toarray()
    np.testing.assert_allclose(w, w.T, atol=1e-12 * np.abs(w).max())
    assert np.linalg.eigvalsh(w).min() > -1e-10 * np.abs(w).max()


def test_blocks_are_the_diagonal_of_the_matrix(problem):
    w, rows = problem.W().toarray(), problem.blocks()
    for c in range(problem.contact_count):
        block = w[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]
        np.testing.assert_allclose(rows[c], block[np.triu_indices(3)], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("free", "friction", "bias", "impulse"),
    [
        ((0, 0, -2), 0.5, 0.0, (2, 0, 0)),  # lands
        ((0, 0, 3), 0.5, 0.0, (0, 0, 0)),  # leaves
        ((0.3, -0.4, -2), 0.5, 0.0, (2, -0.3, 0.4)),  # sticks
        ((3, 4, -2), 0.5, 0.0, (2, -0.6, -0.8)),  # slides, |p_t| = mu p_n
        ((3, 4, -2), 0.0, 0.0, (2, 0, 0)),  # without friction
        ((0, 0, -2), 0.5, 1.5, (0.5, 0, 0)),  # a gap is closed first
    ],
)
def test_known_answers_for_one_contact(free, friction, bias, impulse):
    """p_n = -u_n - bias, p_t = -u_t inside the cone, else on it against u_t, for a unit mass."""
    problem = one_contact(free, friction, bias)
    impulse = np.array([impulse], dtype=float)
    assert residual(problem, impulse) < 1e-12
    assert residual(problem, impulse + 0.01) > 1e-3
    for name in (name for name, kind in ds.SOLVERS.items() if kind().law == "coulomb"):
        found, info = ds.solve(problem, name, tolerance=1e-10)
        assert info.converged
        np.testing.assert_allclose(found, impulse, atol=1e-9)


def test_residual_equals_its_twin(problem):
    """Worst natural map over the contacts, evaluated from dense matrices; 1e-12 relative."""
    rng = np.random.default_rng(2)
    for size in (0.0, 0.1, 100.0):
        p = size * rng.normal(size=(problem.contact_count, 3))
        assert residual(problem, p) == pytest.approx(naive.residual(problem, p), rel=1e-12)


def test_energy_measure_is_the_change_of_kinetic_energy(problem):
    """dT = p . (u_free + W p / 2), without the bias."""
    p = ds.solve(problem)[0]
    free = problem.relative(problem.free).ravel()
    expected = p.ravel() @ (free + 0.5 * problem.apply_W(p).ravel())
    info = ds.solve(problem, guess=p)[1]
    assert info.energy_change == pytest.approx(expected, rel=1e-3)
    assert expected < 0.0
    assert len(measure(problem, p)) == 5


def test_an_unknown_law_is_refused(problem):
    with pytest.raises(ds.InputError, match="viscous"):
        residual(problem, np.zeros((problem.contact_count, 3)), law="viscous")


def test_islands_are_numbered(problem):
    two = small_problem()
    assert set(two.islands()) == set(range(two.islands().max() + 1))


def test_a_saved_problem_comes_back_bit_for_bit(problem, tmp_path):
    path = tmp_path / "hard.h5"
    problem.save(path)
    again = ContactProblem.load(path)
    for name, value in vars(problem).items():
        loaded = getattr(again, name)
        if value is None:
            assert loaded is None
            continue
        assert loaded.dtype == value.dtype and np.array_equal(loaded, value), name
    assert ds.solve(again)[1].residual == ds.solve(problem)[1].residual


def broken(path, problem, change):
    problem.save(path)
    with h5py.File(path, "a") as file:
        change(file)
    return path


def put(name, value):
    def change(file):
        del file[name]
        file[name] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("friction", np.zeros(1)),
        put("friction", 0.5),
        put("frame", np.zeros((3, 3))),
        put("body", np.full((40, 2), -1, np.int32)),
        put("slab_first", np.array([0, 10**6], np.int32)),
        put("group_first", np.zeros(0, np.int32)),
        put("free", "text"),
        lambda file: file["bias"].write_direct(np.full(len(file["bias"]), np.nan)),
        lambda file: file["body"].write_direct(np.full(file["body"].shape, 10**6, np.int32)),
        lambda file: file.__delitem__("arm"),
        lambda file: file.attrs.__setitem__("version", 99),
        lambda file: file.attrs.__setitem__("format", "something else"),
    ],
)
def test_broken_files_are_refused(problem, tmp_path, change):
    with pytest.raises(ds.InputError):
        ContactProblem.load(broken(tmp_path / "broken.h5", problem, change))


def test_files_that_are_none_are_refused(tmp_path):
    (tmp_path / "text.h5").write_text("no problem")
    for name in ("text.h5", "missing.h5"):
        with pytest.raises(ds.InputError):
            ContactProblem.load(tmp_path / name)
