"""Shapes as users see them: text, equality and error sentences."""

from pathlib import Path

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Plane,
    Sphere,
)

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


def test_repr_is_readable():
    assert repr(Box(1, 2, 3)) == "Box(x=1.0, y=2.0, z=3.0)"
    assert repr(ConvexHull(CUBE)) == "ConvexHull(8 vertices, 6 faces)"
    assert repr(Compound((Sphere(1), (0, 0, 1)))) == (
        "Compound((Sphere(r=1.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0, 0.0)))"
    )


def test_shapes_are_frozen_and_compare_by_value():
    assert Box(1, 2, 3) == Box(1.0, 2.0, 3.0)
    assert Compound((Sphere(1), (0, 0, 1))) == Compound((Sphere(1), (0.0, 0.0, 1.0)))
    with pytest.raises(AttributeError):
        Sphere(1).r = 2
    with pytest.raises(ValueError):
        ConvexHull(CUBE).polytope.vertex[0, 0] = 1


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: Sphere(0), "Sphere: radius r is 0 m, must be > 0"),
        (lambda: Sphere(np.nan), "Sphere: radius r is nan, must be a finite number in m"),
        (lambda: Sphere("big"), "radius r is 'big', must be a number"),
        (lambda: Sphere(None), "radius r is None, must be a number"),
        (lambda: Box(1, -2, 3), "Box: size y is -2 m"),
        (lambda: Box(1, 2, np.inf), "Box: size z is inf"),
        (lambda: Capsule(1, 0), "Capsule: length is 0 m, must be > 0. For no length use Sphere"),
        (lambda: Cylinder(-1, 1), "Cylinder: radius r is -1 m"),
        (lambda: Plane((0, 0, 0)), "Plane: normal is (0, 0, 0)"),
        (lambda: Plane((0, 1)), "Plane: normal has 2 numbers, must have 3"),
        (lambda: Plane(offset=np.nan), "Plane: offset is nan"),
        (lambda: ConvexHull([[0, 0, 0]] * 3), "only 3 given, at least 4"),
        (lambda: ConvexHull([[0, 0, 0]] * 5), "all 5 points are the same"),
        (lambda: ConvexHull(np.eye(4)), "shape (4, 4), must be (n, 3)"),
        (lambda: ConvexHull(CUBE * [1, 1, 0]), "lie in a plane"),
        (lambda: ConvexHull(CUBE * [1, 1, 1e-8]), "lie in a plane"),
        (lambda: ConvexHull(CUBE * [1, 0, 0]), "lie in a plane"),
        (lambda: ConvexHull(np.where(CUBE > 0, CUBE, np.nan)), "row 0 is [nan, nan, nan]"),
        (lambda: ConvexHull("points"), "must be an array of numbers"),
        (lambda: Compound(), "Compound: is empty"),
        (lambda: Compound((10**5000, (0, 0, 1))), "something of type int is not a shape"),
        (lambda: Compound(Sphere(1)), "member 0 is Sphere(r=1.0), must be (shape, position)"),
        (lambda: Compound((Sphere(1), (0, 0))), "member 0: position has 2 numbers"),
        (lambda: Compound((Sphere, (0, 0, 0))), "is not a shape"),
        (lambda: Compound((Path("."), (0, 0, 0))), "is not a shape"),  # a path has parts, too
        (lambda: Compound((Sphere(1), (0, 0, 0), (1, 1, 0, 0))), "must be a unit quaternion"),
    ],
)
def test_bad_input_is_named(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)
