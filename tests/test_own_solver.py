"""A solver of a user's own: in ds.solve, in a world, and in `drystone compare` from the shell."""

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds

# Projected Jacobi in 25 lines, as docs/own-solver.md shows it.
SOURCE = '''
import numpy as np


class Jacobi:
    tolerance = 1e-6
    max_iterations = 2000

    def solve(self, problem, impulse):
        W = problem.W().tocsr()
        step = 0.4 / abs(W).sum(axis=1).max()
        q, mu = problem.q(), problem.friction
        for k in range(self.max_iterations):
            before = impulse.copy()
            u = q + (W @ impulse.ravel()).reshape(-1, 3)
            slip = np.linalg.norm(u[:, 1:], axis=1)
            u[:, 0] += mu * slip  # De Saxce's shift: the exact Coulomb law
            impulse -= step * u
            project(impulse, mu)
            if abs(impulse - before).max() < step * 0.1 * self.tolerance:
                break
        return k + 1


def project(p, mu):
    """Each row onto its friction cone."""
    t = np.linalg.norm(p[:, 1:], axis=1)
    inside, below = t <= mu * p[:, 0], mu * t <= -p[:, 0]
    n = np.where(below, 0.0, (p[:, 0] + mu * t) / (1 + mu**2))
    scale = np.divide(mu * n, t, out=np.zeros_like(t), where=t > 0)
    p[~inside] = np.column_stack([n, scale * p[:, 1], scale * p[:, 2]])[~inside]
'''


@pytest.fixture
def jacobi(tmp_path, monkeypatch):
    (tmp_path / "my_jacobi.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    import my_jacobi

    return my_jacobi.Jacobi


def pair_of_boxes(**settings):
    world = ds.World(sleeping=False, **settings)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.5))
    for k in range(2):
        world.add_body(ds.Box(1, 1, 1), ds.Material(friction=0.5), position=(0, 0, 0.5 + k))
    return world


def test_in_solve_it_is_judged_by_our_residual(jacobi):
    world = pair_of_boxes()
    world.run(0.1)
    problem = world.problem()
    impulse, info = ds.solve(problem, jacobi(), tolerance=1e-6)
    assert info.converged and info.residual <= 1e-6
    assert info.residual == pytest.approx(ds.residual(problem, impulse), rel=1e-6)
    assert info.iterations > 1 and info.solver == "Jacobi"


def test_a_world_stands_on_it(jacobi):
    world = pair_of_boxes(solver=jacobi(), tolerance=1e-6)
    info = world.run(0.1)
    assert info.converged and info.solver == "Jacobi"
    assert world.positions[:, 2] == pytest.approx((0.5, 1.5), abs=1e-3)
    with pytest.raises(ds.UnsupportedFeature, match="Jacobi does not support joints"):
        world.add_joint(ds.Ball(*world.bodies, point=(0, 0, 1)))
    with pytest.raises(ds.UnsupportedFeature, match="can be neither saved nor recorded"):
        world.save("a.h5")


def test_it_is_compared_from_the_shell(jacobi, tmp_path):
    from drystone.cli import app

    world = pair_of_boxes()
    world.run(0.1)
    world.problem().save(tmp_path / "boxes.h5")
    outcome = CliRunner().invoke(
        app,
        ["compare", "boxes.h5", "--solvers", "nsgs", "--solver", "my_jacobi:Jacobi",
         "--tolerance", "1e-6", "--seconds-limit", "5", "--no-plot"],
    )  # fmt: skip
    assert outcome.exit_code == 0, outcome.output
    line = [line for line in outcome.output.splitlines() if "Jacobi" in line][-1]
    assert "yes" in line


def test_what_is_no_solver_is_refused_in_a_sentence(jacobi):
    problem = pair_of_boxes()
    problem.step()
    problem = problem.problem()
    for given, match in (
        (jacobi, "is the class Jacobi, must be a solver: Jacobi()"),
        (3, "with solve"),
        ("my_jacobi:Jacoby", "has no class 'Jacoby'"),
        ("no_module_here:X", "cannot be imported"),
        ("nsgz", "Did you mean 'nsgs'"),
    ):
        with pytest.raises(ds.InputError, match=match):
            ds.solve(problem, given)


def test_a_solver_that_loses_itself_leaves_finite_impulses():
    class Lost:
        def solve(self, problem, impulse):
            impulse[:] = np.nan

    world = pair_of_boxes()
    world.step()
    impulse, info = ds.solve(world.problem(), Lost())
    assert np.isfinite(impulse).all() and not info.converged
