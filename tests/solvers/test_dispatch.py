"""ds.solve: whatever the problem, impulses are finite or there is a sentence."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

import drystone as ds
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.solvers import SOLVERS


def small_problem():
    """A box on its four corners, by hand."""
    nc, edges = 4, np.array([0, 4], np.int32)
    arm = np.zeros((nc, 6))
    arm[:, 3:5], arm[:, 5] = [(-1, -1), (-1, 1), (1, -1), (1, 1)], -1.0
    return ds.ContactProblem(
        body=np.array([[1, 0]] * nc, np.int32),
        frame=np.tile(np.eye(3)[[2, 0, 1]].ravel(), (nc, 1)),
        arm=arm, friction=np.full(nc, 0.5), bias=np.zeros(nc), gap=np.zeros(nc),
        mass=np.array([[1.0, 1, 0, 0, 1, 0, 1], [0] * 7]),
        free=np.array([[0.3, 0, -1.0, 0, 0, 0], [0] * 6]),
        slab_first=edges, group_first=np.array([0, 1], np.int32),
    )  # fmt: skip


EXTREME = {
    "heavy": dict(mass=np.array([[1e-300, 1e-300, 0, 0, 1e-300, 0, 1e-300], [0] * 7])),
    "light": dict(mass=np.array([[1e300, 1e300, 0, 0, 1e300, 0, 1e300], [0] * 7])),
    "negative": dict(mass=np.array([[-1.0, 1, 0, 0, -1, 0, 1], [0] * 7])),
    "none": dict(mass=np.zeros((2, 7))),
    "fast": dict(free=np.array([[1e308, 0, -1e308, 0, 1e300, 0], [0] * 6])),
    "rough": dict(friction=np.full(4, 1e308)),
    "far": dict(arm=np.full((4, 6), 1e200)),
    "no axes": dict(frame=np.zeros((4, 9))),
    "biased": dict(bias=np.full(4, -1e308)),
}


@pytest.mark.parametrize("change", EXTREME)
@pytest.mark.parametrize("solver", SOLVERS)
def test_impulses_are_finite(solver, change):
    problem = replace(small_problem(), **EXTREME[change])
    for given in (problem, matrix_of(problem)):
        try:
            impulse, info = ds.solve(given, solver)
        except ds.DrystoneError:
            continue
        assert np.isfinite(impulse).all()
        assert not info.converged or np.isfinite(info.residual)


def matrix_of(problem):
    with np.errstate(all="ignore"):
        return MatrixProblem(problem.W(), problem.q(), problem.friction)


@pytest.mark.parametrize("field", ["free", "mass", "friction", "bias", "frame", "arm"])
def test_problems_that_are_not_finite_are_refused(field):
    problem = small_problem()
    array = getattr(problem, field).copy()
    array.flat[0] = np.nan
    with pytest.raises(ds.InputError, match=f"{field} holds numbers that are not finite"):
        ds.solve(replace(problem, **{field: array}))


@pytest.mark.parametrize("field", ["frame", "slab_first", "group_first"])
def test_arrays_of_one_number_that_claim_terabytes_are_refused(field):
    kind = getattr(small_problem(), field).dtype
    huge = np.broadcast_to(np.zeros((), kind), (2**20, 2**20))
    with pytest.raises(ds.InputError, match=field):
        ds.solve(replace(small_problem(), **{field: huge}))


def test_matrices_that_do_not_fit_are_refused():
    good = MatrixProblem(scipy.sparse.csr_array(np.eye(3)), np.array([[-1.0, 0, 0]]), np.ones(1))
    impulse, info = ds.solve(good)
    assert info.converged and impulse[0, 0] == pytest.approx(1.0)
    for change, says in (
        ({"friction": np.ones(2)}, "matrix is 3 x 3, must be 6 x 6"),
        ({"friction": -np.ones(1)}, "negative friction"),
        ({"friction": None}, "friction is None"),
        ({"free_velocity": np.full((1, 3), np.inf)}, "not finite"),
        ({"matrix": scipy.sparse.csr_array(np.eye(3) * np.nan)}, "not finite"),
        ({"friction_2": np.ones(3)}, "friction_2 has shape"),
    ):
        with pytest.raises(ds.InputError, match=says):
            ds.solve(replace(good, **change))
