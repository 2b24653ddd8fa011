"""Design values with their factors, the energy line, and energies of rotation."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.engine.flight import spin_at, spin_energy_at
from drystone.rockfall.engine.records import ARC
from drystone.rockfall.results.energy_line import GRAVITY, energy_line_velocity, line_angle
from drystone.rockfall.study.barrier_design import (
    DesignCase,
    DesignFactors,
    design_table,
    design_values,
    verify_barrier,
    verify_row,
)
from drystone.rockfall.terrain.ground_surface import Ground


def values(**factors):
    speed, height = np.linspace(0, 20, 1001), np.linspace(0, 4, 1001)
    return design_values(speed, height, 1000.0, 2000, DesignFactors(**factors))


def test_worst_knowledge_by_hand():
    """95 % of 0..20 m/s is 19; 1.1 * 1.1 on it, 1.1 on the mass."""
    found = values()
    assert found.velocity == pytest.approx(19.0 * 1.1 * 1.1)
    assert found.height == pytest.approx(3.8 * 1.1 * 1.1)
    assert found.mass == pytest.approx(1100.0)
    assert found.energy == pytest.approx(0.5 * 1100 * (19 * 1.21) ** 2)
    assert found.enough


def test_best_knowledge_by_hand():
    found = values(
        topography="high", block_survey="high", simulation="back-analysis", unit_weight=1.05
    )
    assert found.velocity == pytest.approx(19.0 * 1.02 * 1.02)
    assert found.mass == pytest.approx(1000 * 1.02 * 1.05)


def test_99_percent_is_possible():
    assert values(percentile=0.99).velocity == pytest.approx(19.8 * 1.21)


def test_few_runs_are_said():
    found = design_values(np.ones(20), np.ones(20), 1.0, 100)
    assert not found.enough


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"topography": "hihg"}, "Did you mean 'high'"),
        ({"simulation": "none"}, "simulation"),
        ({"unit_weight": 0.9}, "must be a number >= 1.0"),
        ({"percentile": 0.5}, "0.95 or 0.99"),
    ],
)
def test_wrong_factors_are_named(change, word):
    with pytest.raises(InputError, match=word):
        DesignFactors(**change)


def test_verification_on_both_sides_of_each_limit():
    found = values()
    enough = found.energy * 1.2 * 1.001
    tall = found.height + 0.5
    assert verify_barrier(found, enough, tall, 1.2).ok
    assert not verify_barrier(found, enough * 0.998, tall, 1.2).energy_ok
    assert not verify_barrier(found, enough, tall - 1e-9, 1.2).height_ok
    near = verify_barrier(found, enough, tall, 1.2, distance=5.0, design_elongation=5.1)
    assert near.distance_ok is False and not near.ok
    assert verify_barrier(found, enough, tall, 1.2).distance_ok is None
    with pytest.raises(InputError, match="must be a number >= 0.5"):
        verify_barrier(found, enough, tall, 1.2, free_border=0.3)
    with pytest.raises(InputError, match="energy_factor"):
        verify_barrier(found, enough, tall, 0.9)


def test_a_study_chooses_its_factors_and_verifies_its_barriers():
    """The chosen row lies between good and poor knowledge, and verify_row agrees with the rest."""
    speed, height, mass = np.linspace(0, 20, 1001), np.linspace(0, 4, 1001), np.full(1001, 900.0)
    factors = DesignFactors("high", "low", "literature")
    case = DesignCase(factors, block=1000.0, energy_factor=1.2)
    table = design_table(speed, height, mass, 2000, case=case)
    assert list(table) == ["good", "poor", "study"]
    assert table["good"]["E_kJ"] < table["study"]["E_kJ"] < table["poor"]["E_kJ"]
    assert table["study"]["m_kg"] == pytest.approx(1100.0)
    alone = design_values(speed, height, 1000.0, 2000, factors)
    assert table["study"]["E_kJ"] == pytest.approx(alone.energy * 1e-3)
    for energy, tall in ((1e3, 9.0), (100.0, 9.0), (1e3, 3.0)):
        row = verify_row(table["study"], energy, tall, case)
        full = verify_barrier(alone, energy * 1e3, tall, 1.2)
        assert (row["energy_ok"], row["height_ok"]) == (full.energy_ok, full.height_ok)
    empty = design_table(speed[:0], height[:0], mass[:0], 2000, case=case)
    assert (
        np.isnan(empty["study"]["E_kJ"]) and not verify_row(empty["study"], 1, 1, case)["height_ok"]
    )


def test_reach_angle():
    angle = line_angle(np.array([[0, 0, 30.0], [0, 0, 10.0]]), np.array([[30, 40, 0], [10, 0, 0]]))
    np.testing.assert_allclose(angle, [np.degrees(np.arctan(30 / 50)), 45.0])


def test_energy_line_over_flat_ground():
    """From 10 m high at 30 degrees it reaches 10 / tan 30 m, with v² = 2 g (10 - L tan 30)."""
    ground = Ground(-30.0, 0.0, 1.0, 1.0, np.zeros((2, 61)))
    velocity = energy_line_velocity(ground, [[0.0, 0.0, 10.0]], 30.0)
    distance = np.abs(np.arange(-30, 31))
    head = 10 - distance * np.tan(np.radians(30))
    expected = np.sqrt(2 * GRAVITY * np.where(head > 0, head, np.nan))
    np.testing.assert_allclose(velocity[0], expected, rtol=1e-12)
    with pytest.raises(InputError, match="95 degrees"):
        energy_line_velocity(ground, [[0, 0, 10]], 95.0)


def test_energy_of_rotation_is_that_of_both_ends_and_its_root_linear_between():
    """A spin that grows from 3 to 9 rad/s about one axis of 2 kg m²: E = (3 + 2 t)² over 3 s."""
    arcs = np.zeros(2, ARC)
    arcs["t0"], arcs["t1"] = [0, 3], [3, 3]
    arcs["w"], arcs["w_end"] = [0, 3, 0], [0, 9, 0]
    arcs["e_spin"] = [9, 81]
    t = np.linspace(0.0, 3.0, 7)
    arc = np.zeros(7, dtype=int)
    np.testing.assert_allclose(spin_energy_at(arcs, arc, t), (3 + 2 * t) ** 2)
    np.testing.assert_allclose(spin_at(arcs, arc, t)[:, 1], 3 + 2 * t)
    np.testing.assert_allclose(spin_energy_at(arcs, np.array([1]), np.zeros(1)), [9])  # no length
