"""Calls that do not fit get a sentence; what fits, and what fails inside, is left alone."""

import inspect
import pickle

import pytest

import drystone as ds
from drystone.errors import ArgumentError
from drystone.model.signatures import public


def public_calls():
    for prefix, module in (("ds", ds), ("ds.lcp", ds.lcp), ("ds.rockfall", ds.rockfall)):
        for name in module.__all__:
            thing = getattr(module, name)
            error = inspect.isclass(thing) and issubclass(thing, Exception | Warning)
            # SolveInfo is made in every step, where a tenth of a microsecond counts.
            if callable(thing) and not error and thing is not ds.SolveInfo:
                yield pytest.param(thing, id=f"{prefix}.{name}")
    for name, solver in ds.SOLVERS.items():
        yield pytest.param(solver, id=name)


@pytest.mark.parametrize("thing", list(public_calls()))
def test_an_argument_that_is_not_there_is_named(thing):
    if any(p.kind is p.VAR_KEYWORD for p in inspect.signature(thing).parameters.values()):
        pytest.skip("takes any")
    with pytest.raises(ds.InputError, match="no argument 'no_such_thing'") as caught:
        thing(no_such_thing=1)
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (lambda: ds.World(solvr="auto"), "no argument 'solvr'. Did you mean 'solver'"),
        (lambda: ds.World().add_body(ds.Sphere(1), postion=(0, 0, 1)), "Did you mean 'position'"),
        (lambda: ds.Box(1, 2), r"Box\(\) needs z as well. It takes x, y, z"),
        (lambda: ds.Sphere(1, 2), r"Sphere\(\) was given 2 arguments, 1 at most"),
        (lambda: ds.Sphere(1, r=2), "given r twice"),
        (lambda: ds.World().step(10), r"World.step\(\) was given 1 arguments, 0 at most"),
        (lambda: ds.SOLVERS["nsgs"](max_sweep=3), "Did you mean 'max_sweeps'"),
        (lambda: ds.Polygon.box(1), r"Polygon.box\(\) needs z"),
        (lambda: ds.rockfall.Options(graviti=3), "Did you mean 'gravity'"),
    ],
)  # fmt: skip
def test_the_sentence_says_what_was_meant(call, sentence):
    with pytest.raises(ArgumentError, match=sentence):
        call()


def test_a_type_error_from_inside_passes():
    @public
    def add(a, b):
        return a + b

    assert add(1, b=2) == 3
    with pytest.raises(TypeError, match="unsupported operand") as caught:
        add(1, "x")
    assert not isinstance(caught.value, ds.InputError)


def test_signatures_docstrings_and_names_stay():
    assert list(inspect.signature(ds.World).parameters)[0] == "dt"
    assert list(inspect.signature(ds.World.run).parameters) == [
        "self", "seconds", "progress", "callback"
    ]  # fmt: skip
    assert "Advance by `seconds`" in ds.World.run.__doc__
    assert pickle.loads(pickle.dumps(ds.Sphere(2.0))) == ds.Sphere(2.0)
    assert pickle.loads(pickle.dumps(ds.solve)) is ds.solve


def test_making_something_public_twice_wraps_it_once():
    assert public(ds.solve) is ds.solve
