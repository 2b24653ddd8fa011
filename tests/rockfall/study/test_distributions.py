"""Distributions against SciPy's, cut off or not; Latin hypercubes; sentences for nonsense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from drystone.errors import InputError
from drystone.rockfall.study.distributions import read_distribution
from drystone.rockfall.study.sampling import Sampler
from drystone.rockfall.terrain.soils import SOILS, find_soil


def lognormal(mean, sd):
    s2 = np.log(1 + (sd / mean) ** 2)
    return stats.lognorm(np.sqrt(s2), scale=mean / np.exp(0.5 * s2))


CASES = [
    ({"uniform": [2, 5]}, stats.uniform(2, 3)),
    ({"triangular": [1, 2, 5]}, stats.triang(0.25, 1, 4)),
    ({"normal": [3, 0.5]}, stats.norm(3, 0.5)),
    ({"lognormal": [2, 0.7]}, lognormal(2, 0.7)),
    ({"gamma": [2, 0.5]}, stats.gamma(16, scale=0.125)),
    ({"exponential": 2.5}, stats.expon(scale=2.5)),
    ({"beta": [2, 3], "min": 1, "max": 4}, stats.beta(2, 3, 1, 3)),
]


@pytest.mark.parametrize("table, twin", CASES, ids=lambda case: str(case)[:24])
def test_draws_are_scipys_quantiles(table, twin):
    distribution = read_distribution(table)
    for u in (1e-6, 0.01, 0.3, 0.5, 0.77, 0.999):
        assert distribution.draw(u) == pytest.approx(twin.ppf(u), rel=1e-10)


@pytest.mark.parametrize("table, twin", CASES[:6], ids=lambda case: str(case)[:24])
def test_cut_off_keeps_the_shape_between(table, twin):
    low, high = twin.ppf(0.2), twin.ppf(0.7)
    distribution = read_distribution(table | {"min": float(low), "max": float(high)})
    for u in (0.0, 0.1, 0.5, 0.9, 1.0):
        assert distribution.draw(u) == pytest.approx(twin.ppf(0.2 + 0.5 * u), rel=1e-9)
    assert distribution.support() == (low, high)


def test_numbers_values_and_measured_curves():
    assert read_distribution(3).draw(0.9) == 3.0
    values = read_distribution({"values": [1, 2, 5], "weights": [1, 0, 3]})
    assert [values.draw(u) for u in (0.0, 0.24, 0.26, 1.0)] == [1, 1, 5, 5]
    assert values.support() == (1.0, 5.0)
    curve = read_distribution({"quantiles": [0, 1, 10]})
    assert curve.draw(0.5) == 1.0 and curve.draw(0.75) == pytest.approx(5.5)


@given(st.floats(0, 1), st.sampled_from(CASES))
def test_no_draw_leaves_the_support(u, case):
    distribution = read_distribution(case[0] | {"min": 1.5, "max": 3.5})
    low, high = distribution.support()
    assert low <= distribution.draw(u) <= high and np.isfinite(distribution.draw(u))


@pytest.mark.parametrize("table, twin", CASES, ids=lambda case: str(case)[:24])
def test_a_study_says_it_as_it_was_said(table, twin):
    distribution = read_distribution(table)
    assert read_distribution(distribution.entry()) == distribution


@pytest.mark.parametrize(
    "table, sentence",
    [
        ("much", "must be a number or a table"),
        (True, "must be a number or a table"),
        (float("nan"), "finite"),
        ({"unifrom": [1, 2]}, "Did you mean 'uniform'"),
        ({"uniform": [2, 1]}, "the first must be the smaller"),
        ({"uniform": [1]}, "has 1 numbers, must have 2"),
        ({"normal": [1, -0.1]}, "sd is -0.1, must be > 0"),
        ({"normal": [1, 0.1], "min": 2, "max": 1}, "min must be the smaller"),
        ({"normal": [0, 1e-3], "min": 50}, "no value between"),
        ({"triangular": [1, 9, 5]}, "must rise"),
        ({"beta": [1, 2]}, "min and max"),
        ({"values": [], "weights": []}, "must not be empty"),
        ({"values": [1, 2], "weights": [0, 0]}, "not all 0"),
        ({"min": 1}, "needs one of"),
    ],
)
def test_nonsense_is_named(table, sentence):
    with pytest.raises(InputError, match=sentence):
        read_distribution(table)


def test_latin_hypercube_has_one_run_in_every_part():
    sampler = Sampler(["a", "b", "c"], 5, 200, "latin-hypercube")
    draws = np.array([list(sampler.draw(run).values()) for run in range(200)])
    for column in draws.T:
        assert sorted(np.floor(column * 200).astype(int)) == list(range(200))
    # not the same order in any two
    assert abs(np.corrcoef(draws.T)[0, 1]) < 0.3


@pytest.mark.parametrize("sampling", ["monte-carlo", "latin-hypercube"])
def test_a_draw_depends_on_seed_and_run_alone(sampling):
    first, second = (Sampler(["a", "b"], 3, 50, sampling) for _ in range(2))
    backwards = [second.draw(run) for run in range(49, -1, -1)][::-1]
    assert [first.draw(run) for run in range(50)] == backwards
    assert Sampler(["a", "b"], 4, 50, sampling).draw(0) != first.draw(0)


def test_monte_carlo_is_uniform():
    sampler = Sampler(["a", "b"], 0, 4000, "monte-carlo")
    draws = [sampler.draw(run)["b"] for run in range(4000)]
    assert stats.kstest(draws, "uniform").pvalue > 1e-3


def test_every_soil_names_its_source_and_makes_sense():
    assert len(SOILS) == 26
    for soil in SOILS.values():
        low, high = soil.restitution.support()
        assert 0.0 <= low <= high <= 1.0 and len(soil.source) > 10 and soil.what
        if soil.friction is not None:
            assert soil.friction.support()[0] > 0.0


def test_soils_as_printed():
    assert find_soil("rockyfor3d:4").restitution.support() == (0.39, 0.47)
    marl = find_soil("stone:marl")
    assert marl.friction.numbers[0] == 0.40 and marl.restitution.numbers[0] == 0.55
    assert marl.friction.support() == pytest.approx((0.36, 0.44))
    with pytest.raises(InputError, match="Did you mean 'stone:marl'"):
        find_soil("stone:mral")
