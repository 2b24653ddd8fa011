"""Friction sections: the closest point of an ellipse, thin, small or far away."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.constraints.coulomb import contact_error
from drystone.constraints.friction_sections import (
    project_on_disc,
    project_on_ellipse,
    project_on_section,
    section_error,
)
from drystone.constraints.laws import LAWS, law_errors
from drystone.constraints.residual import measure, residual
from drystone.solvers.options import refuse_elliptic
from well_posed import point_mass

axes = st.floats(-8, 4).map(lambda e: 10.0**e)
coordinates = st.floats(-1e6, 1e6)


@given(coordinates, coordinates, axes, axes)
@settings(max_examples=500, deadline=None)
def test_projection_obeys_its_conditions(x, y, a, b):
    """Inside: itself. Outside: on the boundary, and what is cut off is along the normal there."""
    fx, fy = project_on_ellipse(x, y, a, b)
    if np.hypot(x / a, y / b) <= 1.0:
        assert (fx, fy) == pytest.approx((x, y), rel=1e-12)
        return
    assert np.hypot(fx / a, fy / b) == pytest.approx(1.0, abs=1e-12)
    # As angles: of the normal at the foot, and of the rest. The rest is a difference of numbers
    # that may be close: its direction is as good as its length is against rounding.
    normal, rest = np.array([fx / a**2, fy / b**2]), np.array([x - fx, y - fy])
    length = np.linalg.norm(rest)
    normal /= np.linalg.norm(normal)
    # The foot's own rounding turns the normal, too, at the sharp ends of a thin ellipse.
    sharp = max(a / b, b / a) ** 2
    rounding = 1e-14 * (np.hypot(x, y) + max(a, b)) / length * sharp + 1e-12
    assert abs(normal[0] * rest[1] - normal[1] * rest[0]) <= min(1.0, rounding) * length
    assert normal @ rest >= 0.0


@given(coordinates, coordinates, axes, axes)
@settings(max_examples=300, deadline=None)
def test_no_point_of_the_ellipse_is_closer(x, y, a, b):
    """(point - foot) . (z - foot) <= 0 for all z of the section: NEWTON theorem 5.3."""
    fx, fy = project_on_ellipse(x, y, a, b)
    angle = np.linspace(0, 2 * np.pi, 400)
    inner = (x - fx) * (a * np.cos(angle) - fx) + (y - fy) * (b * np.sin(angle) - fy)
    assert inner.max() <= 1e-12 * (np.hypot(x, y) + max(a, b)) * max(a, b)


@given(coordinates, coordinates, coordinates, coordinates, axes, axes)
@settings(max_examples=200, deadline=None)
def test_projection_brings_nothing_apart(x, y, z, w, a, b):
    """A projection on a convex set never enlarges a distance."""
    fx, fy = project_on_ellipse(x, y, a, b)
    gx, gy = project_on_ellipse(z, w, a, b)
    room = 1e-12 * max(a, b)
    assert np.hypot(fx - gx, fy - gy) <= np.hypot(x - z, y - w) * (1 + 1e-12) + room


@given(coordinates, coordinates, axes)
@settings(max_examples=100, deadline=None)
def test_equal_axes_are_a_disc(x, y, a):
    found = project_on_ellipse(x, y, a, a)
    assert found == pytest.approx(project_on_disc(x, y, a), rel=1e-12, abs=1e-12 * a)
    assert project_on_section(x, y, a, a) == project_on_disc(x, y, a)


@pytest.mark.parametrize(
    ("point", "semi_axes", "foot"),
    [
        ((3.0, 0.0), (2.0, 1.0), (2.0, 0.0)),
        ((0.0, -3.0), (2.0, 1.0), (0.0, -1.0)),
        ((0.0, 5.0), (0.0, 1.0), (0.0, 1.0)),  # no friction along x
        ((7.0, 5.0), (0.0, 9.0), (0.0, 5.0)),
        ((-7.0, 5.0), (1.0, 0.0), (-1.0, 0.0)),
        ((0.5, 5.0), (1.0, 0.0), (0.5, 0.0)),
        ((1.0, 1.0), (0.0, 0.0), (0.0, 0.0)),
        ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0)),
        ((0.3, 1e-200), (1.0, 1e-220), (0.3, 0.0)),  # thinner than the square of a float
        ((3e-9, 0.0), (1e-308, 2e-308), (1e-308, 0.0)),  # farther than a float of its sizes
        ((0.0, -1e300), (1e-300, 1e-310), (0.0, -1e-310)),
    ],
)
def test_special_points(point, semi_axes, foot):
    assert project_on_ellipse(*point, *semi_axes) == pytest.approx(foot, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("size", [1e-300, 1e-9, 1e9, 1e300])
def test_size_does_not_matter(size):
    expected = np.array(project_on_ellipse(1.0, 3.0, 2.0, 1.0)) * size
    found = project_on_ellipse(1.0 * size, 3.0 * size, 2.0 * size, 1.0 * size)
    assert found == pytest.approx(tuple(expected), rel=1e-12, abs=0.0)


def test_sliding_friction_takes_the_most_power():
    """While u_t != 0 no impulse of the section has a smaller p_t . u_t."""
    rng = np.random.default_rng(5)
    angle = np.linspace(0, 2 * np.pi, 1000)
    for _ in range(50):
        a, b = 10 ** rng.uniform(-1, 1, 2)
        u = rng.normal(size=2)
        p = np.array([a * a * u[0], b * b * u[1]]) / -np.hypot(a * u[0], b * u[1])
        power = a * np.cos(angle) * u[0] + b * np.sin(angle) * u[1]
        assert p @ u <= power.min() + 1e-12
        assert project_on_ellipse(*(p - 0.7 * u), a, b) == pytest.approx(tuple(p), rel=1e-12)
        assert section_error(1.0, *p, 0.0, *u, a, b, 0.3) < 1e-12


@given(st.integers(0, 2**31))
@settings(max_examples=100, deadline=None)
def test_proximal_form_and_cone_agree_on_what_is_a_solution(seed):
    """For a circle both errors vanish together: at the solution, and not beside it."""
    rng = np.random.default_rng(seed)
    mu, q = rng.uniform(0.1, 1.0), rng.normal(size=3)
    pn = max(0.0, -q[0])
    p = np.array([pn, *project_on_disc(-q[1], -q[2], mu * pn)])
    for shake in (0.0, 0.1):
        p = p + shake * rng.normal(size=3)
        cone = contact_error(*p, *(p + q), mu, 1.0)
        proximal = section_error(*p, *(p + q), mu, mu, 1.0)
        assert (cone < 1e-12) == (proximal < 1e-12) == (shake == 0.0)


def test_elliptic_problems_are_judged_on_their_own_law():
    """A unit mass sliding on an ellipse: closed form, and the same mass judged as a circle."""
    velocity = np.array([3.0, -2.0, -1.5])
    problem = point_mass(velocity, 0.6, friction_2=0.2)
    pn = -velocity[2]
    tangent = project_on_ellipse(-velocity[0], -velocity[1], 0.6 * pn, 0.2 * pn)
    impulse = np.array([[pn, *tangent]])
    assert residual(problem, impulse) < 1e-12
    assert measure(problem, impulse)[0] < 1e-12
    assert residual(point_mass(velocity, 0.6), impulse) > 0.1
    for law in set(LAWS) - {"coulomb", "feasible"}:  # the last one does not judge friction
        with pytest.raises(ds.UnsupportedFeature, match="elliptic"):
            law_errors(problem, impulse, problem.velocity(impulse), law, 4)


def test_solvers_that_know_only_circles_say_so():
    with pytest.raises(ds.UnsupportedFeature, match="'nsgs'.*elliptic"):
        refuse_elliptic(point_mass((0, 0, 0), 0.5, friction_2=0.1), "nsgs")
    refuse_elliptic(point_mass((0, 0, 0), 0.5), "nsgs")
