"""What solvers support: every one says it, the documents repeat it, and the rest raises."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from typer.testing import CliRunner

import drystone as ds
from drystone import solvers
from drystone.bench.solver_comparison import LIMITS
from drystone.cli import app
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.errors import InputError
from drystone.solvers import SOLVERS, supported_features
from drystone.solvers.supported_features import FEATURES, MEANING, features, require, with_table

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Plain:
    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset[str]] = frozenset()
    compiled: ClassVar[bool] = False

    tolerance: float = 1e-5
    measure: str = "velocity"
    history: bool = False

    def solve(self, problem, impulse):
        raise AssertionError("must not be asked")


def test_what_is_listed_is_what_the_classes_say():
    assert {name: (cls().law, cls.supports) for name, cls in SOLVERS.items()} == {
        name: (solver.law, solver.supports) for name, solver in solvers.LISTED.items()
    }


def matrix_problem(dim=3, friction_2=None):
    eye = scipy.sparse.eye_array(3, format="csr")
    return MatrixProblem(eye, np.array([[-1.0, 0, 0]]), np.array([0.5]), friction_2, dim)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_says_what_it_supports(name):
    assert isinstance(SOLVERS[name].supports, frozenset)
    assert SOLVERS[name].supports <= set(FEATURES)


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_can_be_bounded(name):
    """`drystone compare` keeps its time limit by one of these options."""
    assert set(SOLVERS[name].__dataclass_fields__) & set(LIMITS)


def test_table_has_every_solver_and_feature():
    table = supported_features.capabilities()
    assert list(table) == list(SOLVERS)
    for name, row in table.items():
        assert list(row) == list(FEATURES)
        assert {feature for feature in row if row[feature]} == SOLVERS[name].supports


def test_unknown_features_and_silence_are_errors(monkeypatch):
    monkeypatch.setitem(SOLVERS, "plain", type("X", (Plain,), {"supports": frozenset({"jonits"})}))
    with pytest.raises(InputError, match="plain supports jonits"):
        supported_features.capabilities()
    monkeypatch.setitem(SOLVERS, "plain", object)
    with pytest.raises(AttributeError, match="supports"):
        supported_features.capabilities()


def test_documented_table_is_that_of_the_code():
    path = ROOT / supported_features.DOCUMENT
    text = path.read_text()
    fix = "run: python -m drystone.solvers.supported_features"
    assert text == with_table(text, path.parent), fix
    for feature in FEATURES:
        assert f"- `{feature}`" in text and feature in MEANING


def test_table_links_to_the_pages_that_exist(tmp_path):
    name = next(iter(SOLVERS))
    assert f"| `{name}` |" in supported_features.markdown_table(tmp_path)
    (tmp_path / f"{name}.md").touch()
    assert f"| [`{name}`]({name}.md) |" in supported_features.markdown_table(tmp_path)
    with pytest.raises(InputError, match="marks"):
        with_table("no marks", tmp_path)


def test_features_of_problems():
    assert features(matrix_problem()) == ("matrix",)
    assert features(matrix_problem(2)) == ("2d", "matrix")
    assert features(matrix_problem(3, np.array([0.2]))) == ("elliptic", "matrix")


def test_require_names_what_is_missing_and_who_can(monkeypatch):
    monkeypatch.setitem(SOLVERS, "plain", Plain)
    able = type("Able", (Plain,), {"supports": frozenset(FEATURES)})
    monkeypatch.setitem(SOLVERS, "able", able)
    with pytest.raises(ds.UnsupportedFeature) as error:
        require(matrix_problem(2), Plain())
    assert str(error.value).startswith("plain does not support two-dimensional problems and ")
    assert "able" in str(error.value)
    require(matrix_problem(2), able())


def test_solve_refuses_before_the_solver_is_asked(monkeypatch):
    monkeypatch.setitem(SOLVERS, "plain", Plain)
    with pytest.raises(ds.UnsupportedFeature, match="plain does not support"):
        ds.solve(matrix_problem(), solver="plain")


def test_world_refuses_restitution_at_once(monkeypatch):
    monkeypatch.setitem(SOLVERS, "plain", Plain)
    world, dull = ds.World(solver="plain"), ds.Material(restitution=0.0)
    rubber = replace(dull, restitution=0.5)
    world.add_fixed(ds.Plane(), dull)
    for refused in (
        lambda: world.add_fixed(ds.Plane(), rubber),
        lambda: world.add_body(ds.Sphere(1), rubber),
        lambda: world.set_pair(dull, dull, restitution=0.5),
    ):
        with pytest.raises(ds.UnsupportedFeature, match="plain does not support restitution"):
            refused()
    assert len(world.fixed) == 1 and len(world.bodies) == 0


def test_command_prints_the_table():
    result = CliRunner().invoke(app, ["solvers"])
    assert result.exit_code == 0
    assert all(word in result.stdout for word in (*SOLVERS, *FEATURES, "law"))
