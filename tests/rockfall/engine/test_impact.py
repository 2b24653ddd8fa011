"""ROCFALL 3.3: symmetry, bounded energy, one-sided impulses, restitution, and OSQP as the twin."""

import numpy as np
import pytest

from drystone.jit import kernel
from drystone.rockfall.engine.impact import ImpactWorkspace, apply_friction, bounce_off, row_speed
from rock_scenes import fast_impact, random_impacts, rows_of, sliding


@kernel
def hit_many(normal, slide, bounce, friction, twist, count, room, p, f, z, worst):
    """Many impacts, the first `count[i]` contacts of each, and the worst of

    0 growth of energy, as a part of it   1 least impulse     2 friction above its bound [m/s]
    3 approach after the normal impact, faster than it parted before     4 not solved
    """
    for i in range(count.shape[0]):
        k = count[i]
        before = 0.0
        for c in range(6):
            z[c] = twist[i, c]
            before += z[c] * z[c]
        if not bounce_off(k, normal[i], bounce[i], z, p, room):
            worst[4] += 1.0
        for c in range(k):
            parting = max(row_speed(normal[i], c, twist[i]), 0.0)
            worst[3] = min(worst[3], row_speed(normal[i], c, z) + parting)
        if not apply_friction(k, slide[i], friction[i], p, z, f, room):
            worst[4] += 1.0
        after = 0.0
        for c in range(6):
            after += z[c] * z[c]
        worst[0] = max(worst[0], (after - before) / before)
        for c in range(k):
            worst[1] = min(worst[1], min(p[c], f[c]))
            worst[2] = max(worst[2], f[c] - friction[i, c] * p[c])


@pytest.mark.slow
def test_energy_never_grows_and_impulses_are_one_sided_in_100000_impacts():
    rng = np.random.default_rng(6)
    count = rng.integers(1, 7, 100_000)
    impacts = random_impacts(rng, len(count))
    worst = np.zeros(5)
    hit_many(*impacts, count, ImpactWorkspace.of(6), *np.zeros((3, 6)), worst)
    assert worst[4] == 0
    assert worst[0] < 1e-14  # rounding of a sum of six squares
    assert worst[1] == 0.0
    assert worst[2] == 0.0
    assert worst[3] > -1e-10  # [m/s]


def test_osqp_gives_the_same_to_1e_8():
    pytest.importorskip("osqp")
    from impact_reference import solve_impact

    rng = np.random.default_rng(7)
    for k in range(1, 7):
        for impact in zip(*random_impacts(rng, 25, k), strict=True):
            z, p, f = fast_impact(*impact)
            reference = solve_impact(*impact)
            assert np.abs(z - reference.twist).max() < 1e-8
            assert np.abs(p - reference.normal).max() < 1e-8
            # Friction may be redundant; what it does to the rock is not.
            assert np.abs(impact[1].T @ (f - reference.friction)).max() < 1e-8


@pytest.mark.parametrize("e", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("corners", [3, 4, 6, 8])
def test_a_flat_landing_is_symmetric(corners, e):
    """A regular prism on all its corners: equal impulses, no turn, the coefficient exactly."""
    angle = 2.0 * np.pi * np.arange(corners) / corners
    arms = np.column_stack([0.5 * np.cos(angle), 0.5 * np.sin(angle), np.full(corners, -0.3)])
    gyration = np.array([0.4, 0.4, 0.4])
    normals = np.tile([0.0, 0.0, 1.0], (corners, 1))
    twist = np.array([0.0, 0.0, -3.0, 0.0, 0.0, 0.0])
    normal, slide = rows_of(normals, arms, gyration), sliding(normals, arms, gyration, twist)
    z, p, f = fast_impact(normal, slide, np.full(corners, e), np.full(corners, 0.7), twist)
    assert np.ptp(p) < 1e-12
    assert np.abs(z - [0, 0, 3.0 * e, 0, 0, 0]).max() < 1e-12


def test_a_mirrored_impact_is_the_mirrored_answer():
    """Contacts in mirrored pairs about the plane y = 0, moving in that plane."""
    rng = np.random.default_rng(3)
    flip = np.array([1.0, -1.0, 1.0])
    for _ in range(200):
        half = rng.integers(1, 4)
        arms = rng.normal(size=(half, 3)) * 0.4
        normals = rng.normal(size=(half, 3)) * 0.4 + [0, 0, 1.0]
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        arms, normals = np.vstack([arms, arms * flip]), np.vstack([normals, normals * flip])
        gyration = rng.uniform(0.2, 0.6, 3)
        twist = np.array([rng.normal(), 0.0, -2.0, 0.0, rng.normal(), 0.0])
        e, mu = np.tile(rng.uniform(0, 1, half), 2), np.tile(rng.uniform(0, 1.5, half), 2)
        normal, slide = rows_of(normals, arms, gyration), sliding(normals, arms, gyration, twist)
        z, p, f = fast_impact(normal, slide, e, mu, twist)
        assert np.abs(p[:half] - p[half:]).max() < 1e-12
        assert np.abs(z[[1, 3, 5]]).max() < 1e-12


def test_restitution_measured_is_the_coefficient():
    """(3.53) at each contact that got an impulse, if all have the same coefficient."""
    rng = np.random.default_rng(4)
    normal, slide, _, _, twist = random_impacts(rng, 500, 4)
    for i in range(len(twist)):
        e = rng.uniform()
        before = normal[i] @ twist[i]
        z, p, _ = fast_impact(normal[i], slide[i], np.full(4, e), np.zeros(4), twist[i])
        pushed = (p > 1e-9) & (before < 0.0)
        assert np.abs((normal[i] @ z + e * before)[pushed]).max(initial=0.0) < 1e-10


def test_friction_of_a_sphere_is_coulomb_or_stops_the_slip():
    """A sphere hits with slip v: loses mu (1 + e) w, or the 2/7 of v that make it roll."""
    gyration = np.full(3, np.sqrt(0.4) * 0.5)
    normals, arms = np.array([[0, 0, 1.0]]), np.array([[0, 0, -0.5]])
    for mu, e, v in ((0.2, 0.5, 4.0), (0.9, 0.3, 2.0), (0.0, 1.0, 3.0)):
        twist = np.array([v, 0, -2.0, 0, 0, 0])
        normal, slide = rows_of(normals, arms, gyration), sliding(normals, arms, gyration, twist)
        z, _, f = fast_impact(normal, slide, [e], [mu], twist)
        assert z[0] == pytest.approx(v - min(mu * (1 + e) * 2.0, 2.0 / 7.0 * v), abs=1e-12)
        assert f[0] == pytest.approx(v - z[0], abs=1e-12)


def test_unequal_coefficients_between_two_walls_still_have_an_answer():
    """n and -n with e 0.9 and 0.1: (3.56) has no solution; the least e does."""
    gyration = np.full(3, 0.4)
    normals = np.array([[1.0, 0, 0], [-1.0, 0, 0]])
    normal = rows_of(normals, 0.0 * normals, gyration)
    twist = np.array([-2.0, 0, 0, 0, 0, 0])
    z, p, _ = fast_impact(normal, 0.0 * normal, [0.9, 0.1], [0.0, 0.0], twist)
    assert abs(z[0]) <= 0.2 + 1e-12 and (p >= 0).all()
