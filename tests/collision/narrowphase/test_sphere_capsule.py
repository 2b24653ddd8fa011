"""Spheres and capsules against closed forms and a general optimiser."""

import numpy as np
import pytest
from scipy.optimize import minimize

from drystone.shapes import Capsule, Sphere
from narrow_twin import bare_shapes, collide, pose_row, random_rotation, turn

LYING = turn((0, 1, 0), np.pi / 2)  # local z -> world x


def segment_distance(p, u, hu, q, v, hv):
    """Least distance of p + s u and q + t v, |s| <= hu, |t| <= hv, by a general optimiser."""

    def square(x):
        d = p + x[0] * u - q - x[1] * v
        return d @ d, np.array([2 * d @ u, -2 * d @ v])

    bounds = [(-hu, hu), (-hv, hv)]
    starts = [(0, 0), (hu, hv), (-hu, hv), (hu, -hv), (-hu, -hv)]
    found = [
        minimize(square, s, jac=True, bounds=bounds, method="L-BFGS-B", tol=1e-16).fun
        for s in starts
    ]
    return np.sqrt(min(found))


def test_two_spheres():
    tables = bare_shapes(Sphere(0.5), Sphere(0.25))
    d = np.array([2.0, -1.0, 2.0]) / 3
    (c,) = collide(tables, [pose_row((1, 2, 3)), pose_row(np.array((1, 2, 3)) + 0.7 * d)], 0.1)
    np.testing.assert_allclose(c.normal, [d], atol=1e-12)
    np.testing.assert_allclose(c.gap, [-0.05], atol=1e-12)
    np.testing.assert_allclose(c.point, [np.array((1, 2, 3)) + 0.475 * d], atol=1e-12)


def test_spheres_with_one_centre_have_a_normal():
    (c,) = collide(bare_shapes(Sphere(0.5), Sphere(0.25)), [pose_row(), pose_row()], 0.1)
    assert np.linalg.norm(c.normal[0]) == 1.0
    assert c.gap[0] == -0.75


@pytest.mark.parametrize("gap", [0.0999, 0.1001])
def test_the_margin_decides(gap):
    (c,) = collide(bare_shapes(Sphere(1), Sphere(1)), [pose_row(), pose_row((2 + gap, 0, 0))], 0.1)
    assert len(c.gap) == (gap < 0.1)


@pytest.mark.parametrize("along", [-2.0, -0.3, 0.0, 0.6, 1.7])
def test_sphere_and_capsule(along):
    tables = bare_shapes(Sphere(0.5), Capsule(0.2, 2.0))
    (c,) = collide(tables, [pose_row((along, 0, 0.6)), pose_row((0, 0, 0), LYING)], 2.0)
    foot = np.array([np.clip(along, -1, 1), 0, 0])
    d = foot - (along, 0, 0.6)
    np.testing.assert_allclose(c.gap, [np.linalg.norm(d) - 0.7], atol=1e-12)
    np.testing.assert_allclose(c.normal[0], d / np.linalg.norm(d), atol=1e-12)


def test_sphere_inside_a_capsule_is_pushed_out_sideways():
    tables = bare_shapes(Sphere(0.5), Capsule(0.2, 2.0))
    (c,) = collide(tables, [pose_row((0.5, 0, 0)), pose_row((0, 0, 0), LYING)], 0.1)
    assert abs(c.normal[0, 0]) < 1e-12
    np.testing.assert_allclose(c.gap, [-0.7], atol=1e-12)


def test_capsules_anyhow_have_the_least_distance():
    rng = np.random.default_rng(1)
    tables = bare_shapes(Capsule(0.2, 1.0), Capsule(0.1, 1.6))
    for _ in range(60):
        ra, rb, d = random_rotation(rng), random_rotation(rng), rng.normal(size=3)
        (c,) = collide(tables, [pose_row((0, 0, 0), ra), pose_row(d, rb)], 10.0)
        least = segment_distance(np.zeros(3), ra[:, 2], 0.5, d, rb[:, 2], 0.8)
        assert c.gap.min() == pytest.approx(least - 0.3, abs=1e-9)


def test_swapping_the_sides_turns_the_normal():
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, b = Capsule(0.2, 1.0), Capsule(0.1, 1.6)
        pa = pose_row((0, 0, 0), random_rotation(rng))
        pb = pose_row(rng.normal(size=3) * 0.5, random_rotation(rng))
        (c,) = collide(bare_shapes(a, b), [pa, pb], 10.0)
        (d,) = collide(bare_shapes(b, a), [pb, pa], 10.0)
        assert c.gap.min() == pytest.approx(d.gap.min(), abs=1e-12)
        np.testing.assert_allclose(c.normal[c.gap.argmin()], -d.normal[d.gap.argmin()], atol=1e-9)


@pytest.mark.parametrize("angle", [0.0, 1e-15, 1e-9, -1e-9, 1e-6, 5e-4])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0)])
def test_parallel_capsules_keep_two_contacts(angle, axis):
    """The ends of the overlap, whatever rounding does to the angle."""
    tables = bare_shapes(Capsule(0.2, 1.0), Capsule(0.2, 1.0))
    poses = [pose_row((0, 0, 0), LYING), pose_row((0.25, 0.4001, 0), turn(axis, angle) @ LYING)]
    (c,) = collide(tables, poses, 0.01)
    assert len(c.gap) == 2
    np.testing.assert_allclose(sorted(c.point[:, 0]), [-0.25, 0.5], atol=1e-3)
    np.testing.assert_allclose(c.gap, 1e-4, atol=abs(angle) + 1e-12)


def test_capsules_turned_a_little_keep_their_deepest_point():
    """Beyond parallel the point of least distance lies inside the overlap and is written too."""
    tables = bare_shapes(Capsule(0.2, 1.0), Capsule(0.2, 1.0))
    poses = [pose_row((0, 0, 0), LYING), pose_row((0, 0, 0.4), turn((0, 0, 1), 0.02) @ LYING)]
    (c,) = collide(tables, poses, 0.01)
    assert len(c.gap) == 3
    assert c.gap.min() == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        pose_row((1.401, 0, 0), LYING),  # end to end
        pose_row((0.1, 0.2, 0.401), turn((1, 0, 0), np.pi / 2)),  # crossed
    ],
)
def test_some_capsules_touch_once(other):
    tables = bare_shapes(Capsule(0.2, 1.0), Capsule(0.2, 1.0))
    (c,) = collide(tables, [pose_row((0, 0, 0), LYING), other], 0.01)
    assert len(c.gap) == 1
    assert c.gap[0] == pytest.approx(1e-3, abs=1e-12)
