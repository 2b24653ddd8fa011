"""Values of users: a clean copy, or one sentence, whatever was given."""

import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import drystone as ds
from drystone.bench.fuzz.odd_values import CONTAINERS, NUMBERS, OBJECTS, TEXTS
from drystone.errors import InputError
from drystone.model import checks

ODD = [*(lambda v=v: v for v in (*NUMBERS, *TEXTS)), *CONTAINERS, *OBJECTS]
CHECKS = {
    "number": lambda v: checks.number("x", v),
    "positive": lambda v: checks.positive("x", v),
    "integer": lambda v: checks.integer("x", v, 0, 10),
    "within": lambda v: checks.within("x", v, 0, 1),
    "flag": lambda v: checks.flag("x", v),
    "bits": lambda v: checks.bits("x", v),
    "text": lambda v: checks.text("x", v),
    "choice": lambda v: checks.choice("x", v, ("a", "b")),
    "vector": lambda v: checks.vector("x", v),
    "planar": lambda v: checks.planar("x", v),
    "float_array": lambda v: checks.float_array("x", v),
    "point_array": lambda v: checks.point_array("x", v, 1),
    "index_rows": lambda v: checks.index_rows("x", v, 5),
    "function": lambda v: checks.function("x", v),
    "of_kind": lambda v: checks.of_kind("x", v, dict, "a dict"),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
def test_whatever_is_given_there_is_a_value_or_one_sentence(check):
    with np.errstate(all="ignore"):
        for make in ODD:
            try:
                check(make())
            except InputError as error:
                assert str(error).startswith("x") and "\n" not in str(error)
                assert len(str(error)) < 400


@pytest.mark.parametrize(
    "value",
    [10**400, -(10**400), 10**5000, Fraction(10**400, 3), Decimal("1e999"), "1", b"1", 1j],
    ids=range(8),  # an integer of 5000 digits has no text
)
def test_what_is_no_number_to_floats_is_refused(value):
    with pytest.raises(InputError, match="Sphere: radius r is"):
        ds.Sphere(value)


def test_a_vector_without_end_is_refused():
    with pytest.raises(InputError, match="has 4 numbers, must have 3"):
        checks.vector("position", itertools.count())


def test_what_is_shown_is_short_and_needs_no_repr():
    class Silent:
        def __repr__(self):
            raise RuntimeError

    assert checks.shown(Silent()) == "something of type Silent"
    assert checks.shown(10**5000) == "something of type int"
    assert len(checks.shown("a" * 10**6)) < 130
    assert "\n" not in checks.shown(np.zeros((9, 9)))
