"""The problems of tests/data, of our own making: what we claim of solvers, tested in every clone.

tests/data/make_problems.py says what each of them is and why it is hard.
"""

import runpy
from pathlib import Path

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.error_measures import MEASURE_NATURAL
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem
from drystone.constraints.residual import measure
from drystone.solvers import SOLVERS
from drystone.solvers.supported_features import features

FOLDER = Path(__file__).parents[1] / "data"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix in (".h5", ".hdf5", ".dat"))
COULOMB = [name for name, kind in SOLVERS.items() if kind().law == "coulomb"]

# What plain iterations cannot do within their limits, which is why there are others.
STALLED = {("mass-ratio", "nsgs"), ("mass-ratio", "prox"), ("wall", "nsgs"), ("wall", "prox"),
           ("arch", "prox")}  # fmt: skip


def able(problem, solver):
    return set(features(problem)) <= SOLVERS[solver].supports


def test_they_are_many_kinds_and_small():
    problems = [ds.ContactProblem.load(path) for path in FILES]
    assert len(FILES) == 10 and sum(path.stat().st_size for path in FILES) < 400_000
    assert {type(problem) for problem in problems} == {ContactProblem, MatrixProblem}
    asked = {feature for problem in problems for feature in features(problem)}
    assert asked >= {"joints", "limits", "elliptic", "matrix"}
    assert max(problem.contact_count for problem in problems) > 100


@pytest.mark.parametrize("solver", COULOMB)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_solver_reaches_the_relative_error_or_says_so(path, solver):
    """From zero to the relative natural-map error 1e-8 of [Acary2018]; `auto` on all of them."""
    problem = ds.ContactProblem.load(path)
    if not able(problem, solver):
        with pytest.raises(ds.UnsupportedFeature):
            ds.solve(problem, solver)
        return
    impulse, info = ds.solve(problem, solver, tolerance=1e-8, measure="relative")
    error = measure(problem, impulse)[MEASURE_NATURAL]
    assert info.converged == (error <= 1e-8)
    assert info.converged or (path.stem, solver) in STALLED


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_some_solver_is_able(path):
    problem = ds.ContactProblem.load(path)
    assert able(problem, "auto") or features(problem) == ("elliptic",)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_solvers_agree_on_the_velocities(path):
    """To 1e-6 of the largest, where they converge. Not after the impact on the wall, where 1e-8
    in the equations is 2e-3 m/s of a stone, and friction may leave more than one answer."""
    problem = ds.ContactProblem.load(path)
    found = []
    for solver in COULOMB:
        if able(problem, solver):
            impulse, info = ds.solve(problem, solver, tolerance=1e-8, measure="relative")
            found += [problem.velocity(impulse)] if info.converged else []
    bound = np.abs(problem.q()).max() * (1e-3 if path.stem == "wall" else 1e-6)
    assert len(found) >= 2 or features(problem) == ("elliptic",)
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=0.0, atol=bound)


@pytest.mark.slow
def test_the_script_writes_them_again(tmp_path):
    """The same names, all of them readable; other processors may write other last digits."""
    runpy.run_path(str(FOLDER / "make_problems.py"))["main"](tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in FILES]
    for path in FILES:
        one, two = (ds.ContactProblem.load(folder / path.name) for folder in (FOLDER, tmp_path))
        assert type(one) is type(two) and features(one) == features(two)
