"""Free flight: parabolas, free rotation, drag."""

import numpy as np
import pytest

from drystone.rockfall.engine.flight import fall, place_at, rotated, spin_energy, spin_step
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.engine.roll import Options, Start, roll
from rock_scenes import matrix, plane

INERTIA = (1.0, 2.0, 4.0)


def test_a_constant_spin_turns_by_its_angle():
    q = rotated((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 2.0), 0.25 * np.pi)
    assert matrix(q) == pytest.approx(np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]]), abs=1e-12)
    assert rotated(q, (0.0, 0.0, 0.0), 1.0) == pytest.approx(q)


def test_free_rotation_keeps_energy_and_angular_momentum():
    q, w, h = (1.0, 0.0, 0.0, 0.0), (0.1, 9.0, 0.1), 0.02  # about the middle axis: it tumbles
    momentum = matrix(q) @ (INERTIA * (matrix(q).T @ w))
    energy = spin_energy(q, w, INERTIA)
    least = 9.0
    for _ in range(500):
        mean, w, quiet = spin_step(q, w, INERTIA, 0.0, h)
        q = rotated(q, mean, h)
        assert quiet
        least = min(least, (matrix(q).T @ w)[1])
    assert spin_energy(q, w, INERTIA) == pytest.approx(energy, rel=1e-9)
    assert matrix(q) @ (INERTIA * (matrix(q).T @ w)) == pytest.approx(momentum, rel=1e-9)
    assert least < -8.0  # it did turn over


def test_drag_slows_the_spin_as_eq_5_1_says():
    """I w' = -c w about a principal axis: w = w0 exp(-c t / I), to the order of the step."""
    q, w = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 5.0)
    for _ in range(1000):
        mean, w, _ = spin_step(q, w, INERTIA, 0.8, 0.002)
        q = rotated(q, mean, 0.002)
    assert w[2] == pytest.approx(5.0 * np.exp(-0.8 * 2.0 / 4.0), rel=1e-3)


def test_the_fall_through_trees_ends_at_the_exact_speed():
    v, g, k, h = (3.0, -1.0, 2.0), 9.81, 0.7, 0.3
    a = np.array(fall(v, g, k, h))
    end = np.array(v) * np.exp(-k * h) - np.array([0, 0, g / k]) * (1 - np.exp(-k * h))
    assert np.array(v) + h * a == pytest.approx(end)
    assert fall(v, g, 0.0, h) == (0.0, 0.0, -g)
    assert place_at((1.0, 2.0, 3.0), v, (0.0, 0.0, -g), h)[2] == pytest.approx(3.6 - g * 0.045)


def test_a_tumbling_flight_is_one_arc_and_keeps_its_energy():
    rock = Rock.block(1.0, 0.6, 0.3)
    start = Start((0, 0, 80.0), velocity=(3, 0, 5), spin=(0.05, 12.0, 0.0))
    options = Options(max_time=4.0, angular_drag=0.0)
    path = roll(rock, start, plane(0, 0.3, 0.5), options)
    assert len(path.arcs) == 1
    assert path.end["x"] == pytest.approx([12.0, 0, 80 + 20 - 8 * 9.81])
    hit = roll(rock, start, plane(0, 0.3, 0.5), options._replace(max_time=20.0)).impacts[0]
    before = 0.5 * rock.mass * 34.0 + 0.5 * rock.inertia @ (np.array(start.spin) ** 2)
    wanted = before + rock.mass * (0.5 * hit["v_in"] @ hit["v_in"] - 17.0)
    assert hit["e_in"] == pytest.approx(wanted, rel=1e-6)  # the step that ends at the impact
