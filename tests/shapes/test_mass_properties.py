"""Mass properties of shapes, principal axes and rotations."""

from math import pi

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.errors import InputError
from drystone.model import arrays
from drystone.shapes import (
    Box,
    Capsule,
    Compound,
    ConvexHull,
    Cylinder,
    Plane,
    Sphere,
    matrix_from_quaternion,
    principal_axes,
    quaternion_from_matrix,
)

CUBE = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
seeds = st.integers(0, 2**32 - 1)


def random_rotation(rng) -> np.ndarray:
    q = rng.normal(size=4)
    return matrix_from_quaternion(q / np.linalg.norm(q))


def random_quaternion(rng) -> tuple:
    q = rng.normal(size=4)
    return tuple(q / np.linalg.norm(q))


# Mass


def slices(radius, half: float, count: int = 400):
    """Volume and inertia of a body of revolution about z: Gauss-Legendre sum over thin discs.

    A disc of radius R has area π R² and the moments π R⁴/2 about z, π R⁴/4 across.
    """
    z, weight = np.polynomial.legendre.leggauss(count)
    z, weight = half * z, half * weight
    r2 = radius(z) ** 2
    across = (weight * pi * (r2 * r2 / 4 + r2 * z * z)).sum()
    return (weight * pi * r2).sum(), (across, across, (weight * pi * r2 * r2 / 2).sum())


@pytest.mark.parametrize(
    "shape, profile, half",
    [
        (Sphere(0.7), lambda z: np.sqrt(0.49 - z**2), 0.7),
        (Cylinder(0.3, 1.4), lambda z: 0.3 + 0 * z, 0.7),
        (
            Capsule(0.3, 1.4),
            lambda z: np.sqrt(0.09 - np.maximum(np.abs(z) - 0.7, 0) ** 2),
            1.0,
        ),
    ],
)
def test_round_shapes_match_their_slices(shape, profile, half):
    """The sum is exact for polynomials; the capsule's profile has a kink, hence 1e-6."""
    volume, moments = slices(profile, half)
    mass = shape.mass_properties()
    rel = 1e-6 if isinstance(shape, Capsule) else 1e-12
    assert mass.volume == pytest.approx(volume, rel=rel)
    np.testing.assert_allclose(mass.inertia, np.diag(moments), rtol=rel)
    np.testing.assert_array_equal(mass.centre, np.zeros(3))


def test_capsule_is_a_cylinder_and_two_half_balls():
    """Half ball: centre 3/8 r from its flat side, transverse moment there (83/320) m r²."""
    r, h = 0.4, 1.3
    ball = 2 / 3 * pi * r**3
    tube = Cylinder(r, h).mass_properties()
    across = tube.inertia[0, 0] + 2 * ball * (83 / 320 * r * r + (h / 2 + 3 / 8 * r) ** 2)
    mass = Capsule(r, h).mass_properties()
    assert mass.volume == pytest.approx(tube.volume + 2 * ball, rel=1e-12)
    assert mass.inertia[0, 0] == pytest.approx(across, rel=1e-12)
    assert mass.inertia[2, 2] == pytest.approx(tube.inertia[2, 2] + 0.8 * ball * r * r, rel=1e-12)


def test_box_agrees_with_its_polytope():
    box = Box(1, 2, 3)
    exact, integrated = box.mass_properties(), box.parts()[0].geometry.mass_properties()
    np.testing.assert_allclose(np.diag(exact.inertia), [6.5, 5.0, 2.5], rtol=1e-12)
    assert integrated.volume == pytest.approx(6, rel=1e-12)
    np.testing.assert_allclose(integrated.inertia, exact.inertia, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_hull_mass_matches_trimesh(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 3)) + rng.normal(size=3)
    mesh, mass = trimesh.convex.convex_hull(points), ConvexHull(points).mass_properties()
    assert mass.volume == pytest.approx(mesh.volume, rel=1e-12)
    np.testing.assert_allclose(mass.centre, mesh.center_mass, atol=1e-12)
    scale = np.abs(mesh.moment_inertia).max()
    np.testing.assert_allclose(mass.inertia, mesh.moment_inertia, atol=1e-12 * scale)


def test_hull_at_map_coordinates_keeps_its_digits():
    """Coordinates are multiples of 1/8 m, exact there as here; nothing else may be lost."""
    corner = np.array([2793293.0, 1180191.0, 1500.0])
    points = np.random.default_rng(3).integers(-8, 8, size=(20, 3)) / 8
    near, far = ConvexHull(points), ConvexHull(points + corner)
    np.testing.assert_array_equal(near.polytope.vertex, far.polytope.vertex)
    np.testing.assert_array_equal(near.mass_properties().inertia, far.mass_properties().inertia)
    np.testing.assert_array_equal(near.offset + corner, far.offset)


@pytest.mark.parametrize("seed", range(10))
def test_compound_matches_brute_sum(seed):
    """Second moments ∫ x xᵀ about the origin add; the centre is taken out at the end."""
    rng = np.random.default_rng(seed)
    shapes = [
        Sphere(0.3),
        Box(0.2, 0.5, 1.0),
        Cylinder(0.2, 0.9),
        ConvexHull(rng.normal(size=(9, 3))),
    ]
    members = [(s, rng.normal(size=3), random_quaternion(rng)) for s in shapes]
    volume, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    for shape, position, orientation in members:
        m, turn = shape.mass_properties(), matrix_from_quaternion(orientation)
        spread = 0.5 * np.trace(m.inertia) * np.eye(3) - m.inertia
        centre = position + turn @ m.centre
        volume += m.volume
        first += m.volume * centre
        second += turn @ spread @ turn.T + m.volume * np.outer(centre, centre)
    centre = first / volume
    second -= volume * np.outer(centre, centre)
    mass = Compound(*members).mass_properties()
    assert mass.volume == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose(mass.centre, centre, atol=1e-12)
    np.testing.assert_allclose(mass.inertia, np.trace(second) * np.eye(3) - second, atol=1e-12)


def test_box_of_eight_boxes_is_a_box():
    small = [(Box(0.5, 1, 1.5), p * (1, 2, 3) / 2) for p in CUBE]
    whole, sum_ = Box(1, 2, 3).mass_properties(), Compound(*small).mass_properties()
    np.testing.assert_allclose(sum_.inertia, whole.inertia, atol=1e-12)


def test_nested_compound_equals_flat_one():
    half, quarter = (0.5**0.5, 0, 0, 0.5**0.5), (0.5**0.5, 0.5**0.5, 0, 0)
    inner = Compound((Box(1, 2, 3), (1, 0, 0), quarter), (Sphere(1), (0, 2, 0)))
    outer = Compound((inner, (0, 0, 5), half))
    parts = outer.parts()
    assert [p.kind for p in parts] == [arrays.BOX, arrays.SPHERE]
    np.testing.assert_allclose(parts[0].position, [0, 1, 5], atol=1e-12)  # x turns to y
    np.testing.assert_allclose(parts[1].position, [-2, 0, 5], atol=1e-12)
    turn = matrix_from_quaternion(half) @ matrix_from_quaternion(quarter)
    np.testing.assert_allclose(parts[0].rotation, turn, atol=1e-12)
    np.testing.assert_allclose(outer.mass_properties().centre[2], 5, atol=1e-12)


@pytest.mark.parametrize("shape", [Plane(), Compound((Plane(), (0, 0, 0)), (Sphere(1), (0, 0, 0)))])
def test_plane_has_no_mass(shape):
    with pytest.raises(InputError, match="can only be fixed"):
        shape.mass_properties()


# Principal axes and rotations


def test_diagonal_inertia_keeps_its_order():
    moments, axes = principal_axes(np.diag([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(moments, [3, 1, 2])
    np.testing.assert_array_equal(axes, np.eye(3))


@settings(deadline=None)
@given(seeds)
def test_principal_axes_rebuild_the_tensor(seed):
    rng = np.random.default_rng(seed)
    turn, spread = random_rotation(rng), rng.uniform(0.1, 1, 3)
    tensor = turn @ np.diag(spread.sum() - spread) @ turn.T
    moments, axes = principal_axes(tensor)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, tensor, atol=1e-12)
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1, abs=1e-12)


def test_nearly_diagonal_inertia_turns_little():
    tensor = np.diag([3.0, 1.0, 2.0])
    tensor[0, 1] = tensor[1, 0] = 1e-5
    assert np.abs(principal_axes(tensor)[1] - np.eye(3)).max() < 1e-5


@pytest.mark.parametrize(
    "tensor, words",
    [
        (np.diag([1, 1, -1]), "moments must be > 0"),
        (np.eye(2), "3 by 3"),
        ([[1, 0.5, 0], [0, 1, 0], [0, 0, 1]], "symmetric"),
        (np.full((3, 3), np.nan), "finite"),
    ],
)
def test_bad_inertia_is_refused(tensor, words):
    with pytest.raises(InputError, match=words):
        principal_axes(tensor)


@settings(deadline=None)
@given(seeds)
def test_quaternion_and_matrix_are_inverse(seed):
    q = np.array(random_quaternion(np.random.default_rng(seed)))
    turn = matrix_from_quaternion(q)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(quaternion_from_matrix(turn), q * np.sign(q[0]), atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1)])
def test_quarter_turn_is_right_handed(axis):
    s = 0.5**0.5
    turn = matrix_from_quaternion((s, *(s * np.array(axis))))
    start = np.roll(axis, 1)
    np.testing.assert_allclose(turn @ start, np.cross(axis, start), atol=1e-12)
