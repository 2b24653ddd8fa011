"""Options of the solvers: each is of its kind and in its range, or there is a sentence."""

from dataclasses import fields

import numpy as np
import pytest

import drystone as ds
from drystone.solvers import SOLVERS, Ffd, Nsgs

WRONG = {
    bool: ("no", None, np.nan, 2),
    int: ("many", None, np.nan, 2.5, -3, True, 2**40),
    float: ("a", None, np.nan, np.inf, -1.0),
    str: ("foo", None, 3),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_every_option_is_checked(name):
    for option in fields(SOLVERS[name]):
        for value in WRONG.get(option.type, ()):
            with pytest.raises(ds.InputError, match=f"{name}: {option.name} is "):
                SOLVERS[name](**{option.name: value})


@pytest.mark.parametrize("name", SOLVERS)
def test_numbers_become_those_of_compiled_code(name):
    solver = SOLVERS[name](tolerance=1, history=np.bool_(True))
    assert type(solver.tolerance) is float and solver.history is True
    for option in fields(solver):
        if option.type is int:
            value = getattr(solver, option.name)
            same = SOLVERS[name](**{option.name: np.int32(value)})
            assert type(getattr(same, option.name)) is int


def test_no_passes_are_refused():
    with pytest.raises(ds.InputError, match="max_iterations is 0, must be an integer from 1"):
        Ffd(max_iterations=0)


def test_a_whole_number_as_tolerance_runs():
    world = ds.World(solver=Nsgs(tolerance=1))
    world.add_fixed(ds.Plane())
    world.add_body(ds.Sphere(0.5), position=(0, 0, 0.5))
    assert world.step().converged
