"""Back-analysis: known values lie in its region as often as it says; files are read or refused."""

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.fit.fit import RANGES, Trials, fit_trials
from drystone.rockfall.fit.likelihood import holds
from drystone.rockfall.fit.observations import read_deposits, read_heights
from drystone.rockfall.terrain.slope import Slope

NAMES = ["restitution.talus", "friction.talus", "rolling.talus"]
STARTS = np.zeros((200, 2))


def deposits(values, count, rng):
    """A model of run-outs in closed form: all three values shift and spread them."""
    e, mu, roll = values
    mean = 60.0 + 90.0 * e - 25.0 * mu - 60.0 * roll + 20.0 * e * mu
    spread = 8.0 + 22.0 * e
    run = rng.gamma((mean / spread) ** 2, spread**2 / mean, count)
    return np.column_stack([run, rng.normal(0.0, 6.0 + 14.0 * mu, count)])


def library(trials=120, runs=200, seed=1):
    from scipy.stats import qmc

    rng = np.random.default_rng(seed)
    low, high = np.array([RANGES[name.split(".")[0]] for name in NAMES]).T
    values = low + (high - low) * qmc.Sobol(3, seed=rng).random(128)[:trials]
    ends = [deposits(v, runs, rng) for v in values]
    return Trials(NAMES, low, high, values, ends, [{} for _ in ends])


@pytest.mark.slow
def test_known_values_lie_in_their_region():
    """At least 85 of 100 fits with 100 deposits each have the truth in their 90 % region."""
    trials, rng, inside = library(), np.random.default_rng(3), 0
    for k in range(100):
        truth = trials.low + (trials.high - trials.low) * rng.uniform(0.15, 0.85, 3)
        fit = fit_trials(trials, STARTS, deposits(truth, 100, rng), seed=k)
        inside += holds(fit.emulator, fit.observed, fit.region, truth)
        assert (fit.region.low <= fit.region.best).all()
        assert (fit.region.best <= fit.region.high).all()
    assert 85 <= inside <= 99


def test_what_the_model_cannot_tell_shows_in_the_held_out():
    trials, rng = library(), np.random.default_rng(5)
    good = [fit_trials(trials, STARTS, deposits((0.4, 0.5, 0.2), 100, rng), seed=k).held_out
            for k in range(20)]  # fmt: skip
    assert np.mean(np.array(good) < 0.05) <= 0.25


def test_the_same_seed_gives_the_same_fit():
    trials, seen = library(), deposits((0.4, 0.5, 0.2), 60, np.random.default_rng(1))
    one, two = (fit_trials(trials, STARTS, seen, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.region.best, two.region.best)


def test_files_of_observations(tmp_path):
    slope = Slope.from_grid(np.zeros((101, 101)), 1.0, origin=(2000.0, 1000.0))
    places = np.random.default_rng(1).uniform(10, 90, (30, 2)) + (2000.0, 1000.0)
    rows = "\n".join(f"{x:.3f},{y:.3f}" for x, y in places)
    (tmp_path / "d.csv").write_text("x,y\n" + rows)
    (tmp_path / "bare.csv").write_text(rows)
    for name in ("d.csv", "bare.csv"):
        np.testing.assert_allclose(
            read_deposits(tmp_path / name, slope) + slope.origin[:2], places, atol=1e-3
        )
    (tmp_path / "few.csv").write_text("x,y\n2010,1010\n")
    (tmp_path / "far.csv").write_text(rows + "\n5,5")
    (tmp_path / "bad.csv").write_text("x,y\none,two")
    (tmp_path / "h.csv").write_text("line,height_m\nroad,1.5\nroad,2\nroad,2.5\n")
    (tmp_path / "h2.csv").write_text("line,height_m\nrail,1.5\n")
    for name, words in (("few.csv", "holds 1 deposits"), ("far.csv", "off the terrain"),
                        ("bad.csv", "every line must hold"), ("no.csv", "no file")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            read_deposits(tmp_path / name, slope)
    np.testing.assert_array_equal(read_heights(tmp_path / "h.csv", ["road"])[0], [1.5, 2.0, 2.5])
    with pytest.raises(InputError, match="must name a check line"):
        read_heights(tmp_path / "h2.csv", ["road"])
