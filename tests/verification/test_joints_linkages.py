"""Closed loops driven by a motor: four-bar, slider-crank, Jansen's leg, against closed forms."""

from math import atan2, cos, hypot, pi, radians, sin, sqrt

import numpy as np
import pytest

from drystone.scenes import SCENES
from drystone.scenes.linkages import JANSEN, jansen_points

CLOSED = 1e-6  # [m]; the figure. The engine aims at 1e-8.


def worst_gap(world):
    return max(joint.separation for joint in world.joints)


def watch(world, seconds, look):
    """Largest gap of any joint and largest of look(), over all steps."""
    gap = worst = 0.0
    for _ in range(round(seconds / world.dt)):
        world.step()
        gap, worst = max(gap, worst_gap(world)), max(worst, look())
    return gap, worst


def rocker_angle(theta, crank=0.2, coupler=0.5, rocker=0.4, ground=0.5):
    """Freudenstein: K1 cos phi - K2 cos theta + K3 = cos(theta - phi), solved for phi.

    K1 = d/a, K2 = d/c, K3 = (a² - b² + c² + d²) / 2ac; written as A cos phi + B sin phi = C.
    """
    a, b, c, d = crank, coupler, rocker, ground
    k1, k2, k3 = d / a, d / c, (a * a - b * b + c * c + d * d) / (2 * a * c)
    big_a, big_b, big_c = cos(theta) - k1, sin(theta), k3 - k2 * cos(theta)
    middle, half = atan2(big_b, big_a), np.arccos(big_c / hypot(big_a, big_b))
    return middle - half


def test_four_bar_follows_freudenstein():
    world = SCENES["four-bar"].build()
    crank, rocker = world.joints[0], world.joints[3]
    far, start = world["rocker"], rocker_angle(radians(90.0))
    end = 2 * np.array(far.position) - (0.5, 0, 0)  # of a rod from (0.5, 0, 0), 0.4 m long
    assert np.hypot(*(end - (0.5, 0, 0))[[0, 2]]) == pytest.approx(0.4)
    assert cos(start) * 0.4 + 0.5 == pytest.approx(end[0]), "the other branch"

    def error():
        expected = rocker_angle(radians(90.0) + crank.angle) - start
        return abs((rocker.angle - expected + pi) % (2 * pi) - pi)

    gap, worst = watch(world, 5.0, error)
    assert gap < CLOSED
    assert worst < radians(0.1)
    assert crank.angle > 2 * pi * 4.9  # it went round


def test_slider_crank_has_its_closed_form():
    """x = r cos a + sqrt(l² - r² sin² a), and its rate for the piston's speed."""
    r, rod = 0.1, 0.3
    world = SCENES["slider-crank"].build(crank=r, rod=rod)
    crank, piston = world.joints[0], world["piston"]

    def error():
        a = pi / 2 + crank.angle
        return abs(piston.position[0] - r * cos(a) - sqrt(rod**2 - (r * sin(a)) ** 2))

    gap, worst = watch(world, 3.0, error)
    assert gap < CLOSED and worst < CLOSED
    a = pi / 2 + crank.angle
    rate = -r * sin(a) - r * r * sin(a) * cos(a) / sqrt(rod**2 - (r * sin(a)) ** 2)
    assert piston.velocity[0] == pytest.approx(rate * crank.speed, abs=1e-6)


def test_jansen_stays_closed_and_its_feet_go_where_geometry_says():
    world = SCENES["jansen-linkage"].build()
    crank = world.joints[0]
    lower = world["leg 0 lower triangle"]
    at = jansen_points(0.0)
    foot = np.array([at["F"][0], 0.0, at["F"][1]]) - lower.position  # in its frame, not turned

    def error():
        (w, x, y, z), expected = lower.orientation, jansen_points(crank.angle)["F"]
        u = np.array([x, y, z])
        turned = foot + 2 * w * np.cross(u, foot) + 2 * np.cross(u, np.cross(u, foot))
        now = lower.position + turned
        return hypot(now[0] - expected[0], now[2] - expected[1])

    gap, worst = watch(world, 2.5, error)
    assert gap < CLOSED and worst < 10 * CLOSED  # what ten pins miss adds up
    assert crank.angle > 2 * pi


def test_jansen_points_have_the_lengths_of_the_leg():
    for angle in np.linspace(0, 2 * pi, 13):
        at = jansen_points(angle, size=1.0)
        pairs = dict(
            b="BP", c="BR", d="BQ", e="PQ", f="QS", g="RS", h="SF", i="RF", j="MP", k="MR", m="OM"
        )
        for key, (p, q) in pairs.items():
            assert hypot(*np.subtract(at[p], at[q])) == pytest.approx(JANSEN[key])
        assert at["F"][1] < -70  # the foot is below everything


def test_motor_keeps_time():
    """An unlimited motor turns by speed times time but for the half step in which it starts."""
    world = SCENES["four-bar"].build()
    world.run(5.0)
    late = 2 * pi * (5.0 - world.dt / 2) - world.joints[0].angle
    # the error of a second-order step at 24 steps per radian, 1e-3 of a turn
    assert abs(late) < 2e-3 * 2 * pi
