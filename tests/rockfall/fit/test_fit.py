"""Back-analysis: known values lie in its region as often as it says; files are read or refused."""

import sys

import numpy as np
import pytest

from drystone.errors import InputError
from drystone.rockfall.fit import trials as trials_module
from drystone.rockfall.fit.fit import fit_study, fit_trials
from drystone.rockfall.fit.likelihood import holds
from drystone.rockfall.fit.observations import read_deposits, read_heights
from drystone.rockfall.fit.trials import RANGES, Trials
from drystone.rockfall.study.study import Study
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


def test_best_values_among_trials_that_left_the_terrain_are_doubted():
    """Rocks of the trials around the best values all left: what is nearest is far away."""
    whole, seen = library(), deposits((0.4, 0.5, 0.2), 100, np.random.default_rng(1))
    good = fit_trials(whole, STARTS, seen)
    assert good.covered and good.doubt == ""
    away = (((whole.values - good.region.best) / (whole.high - whole.low)) ** 2).sum(axis=1)
    for t in np.argsort(away)[:10]:
        whole.ends[t] = np.full((200, 2), np.nan)
    fit = fit_trials(whole, STARTS, seen)
    assert np.isfinite(whole.ends[fit.nearest]).all()
    assert not fit.covered and "Enlarge the terrain" in "\n".join(fit.lines())


def test_the_same_seed_gives_the_same_fit():
    trials, seen = library(), deposits((0.4, 0.5, 0.2), 60, np.random.default_rng(1))
    one, two = (fit_trials(trials, STARTS, seen, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.region.best, two.region.best)


def slope_study(folder):
    """A ball on a slope of 35 degrees that runs out flat."""
    y = 5.0 * np.arange(61)[::-1]  # northern row first
    rows = np.repeat(np.where(y > 150.0, 0.7 * (y - 150.0), 0.0)[:, None], 31, axis=1)
    head = "ncols 31\nnrows 61\nxllcorner 0\nyllcorner 0\ncellsize 5\n"
    folder.mkdir(exist_ok=True)
    (folder / "t.asc").write_text(head + "\n".join(" ".join(f"{z:g}" for z in r) for r in rows))
    table = {
        "terrain": {"file": "t.asc", "crs": "local"},
        "materials": {"default": "a", "classes": {"a": {"restitution": 0.3, "friction": 0.5}}},
        "rocks": [{"name": "ball", "shape": "sphere", "size_m": {"uniform": [0.8, 1.6]}}],
        "sources": [{"name": "top", "line": [[60, 270], [90, 270]], "height_m": 1.0}],
        "check_lines": [{"name": "foot", "line": [[5, 150], [145, 150]]}],
        "runs": {"count": 20},
        "options": {"max_time": 30.0},
    }
    return Study.from_table(table, folder)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A study, observed deposits and heights, and the fit of one material to them."""
    folder = tmp_path_factory.mktemp("fit")
    study, rng = slope_study(folder / "study"), np.random.default_rng(2)
    seen = np.column_stack([rng.normal(75, 5, 30), rng.normal(90, 12, 30)])
    (folder / "d.csv").write_text("x,y\n" + "\n".join(f"{x},{y}" for x, y in seen))
    heights = "\n".join(f"foot,{h:.2f}" for h in rng.uniform(0.4, 2.0, 12))
    (folder / "h.csv").write_text("line,height_m\n" + heights)
    given = folder / "d.csv", folder / "one"
    return study, folder, fit_study(study, *given, folder / "h.csv", None, 20, 24, 2)


@pytest.mark.slow
def test_an_interrupted_fit_goes_on_to_the_same_values(fitted, monkeypatch, capsys):
    study, folder, whole = fitted
    roll, count = trials_module.Roller.trial, iter(range(10))

    def interrupted(*args):
        if next(count, None) is None:
            raise KeyboardInterrupt
        return roll(*args)

    given = folder / "d.csv", folder / "two", folder / "h.csv", None, 20, 24, 1
    with monkeypatch.context() as during:
        during.setattr(trials_module.Roller, "trial", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit_study(study, *given)
    assert len(np.load(folder / "two" / "trials.npz")["ends"]) == 10
    with pytest.raises(InputError, match="holds a fit already"):
        fit_study(study, *given)
    fit = fit_study(study, *given, resume=True, progress=True)
    assert "24/24" in capsys.readouterr().err
    np.testing.assert_array_equal(fit.region.best, whole.region.best)
    np.testing.assert_array_equal(fit.region.points, whole.region.points)
    other = study.with_runs(seed=9)
    with pytest.raises(InputError, match="of a fit with other trials, of another study"):
        fit_study(other, *given, resume=True)
    (folder / "two" / "trials.npz").write_bytes(b"PK")
    with pytest.raises(InputError, match="is damaged"):
        fit_study(study, *given, resume=True)


@pytest.mark.slow
def test_the_page_of_a_fit_says_how_long_it_took(fitted):
    _, folder, fit = fitted
    page = (folder / "one" / "fit.html").read_text()
    told = "30 observed deposits, 12 heights at foot, 24 trials of 20 rocks"
    assert told in page and "s of CPU" in page
    assert "simulated passage heights at foot" in page and page.count("<img") == 3
    assert any(f"{fit.deposits} deposits, " in line for line in fit.lines())


@pytest.mark.slow
def test_a_cluster_gives_the_same_fit(fitted):
    """Two threads of a worker in a process of its own."""
    distributed = pytest.importorskip("distributed")
    study, folder, whole = fitted
    paths = {"PYTHONPATH": ":".join(filter(None, sys.path)), "NUMBA_NUM_THREADS": "1"}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=":0", env=paths
    ) as cluster:
        given = folder / "d.csv", folder / "three", folder / "h.csv", None, 20, 24
        fit = fit_study(study, *given, cluster=cluster.scheduler_address)
    np.testing.assert_array_equal(fit.region.best, whole.region.best)
    with pytest.raises(InputError, match="tls was given without a cluster"):
        fit_study(study, folder / "d.csv", folder / "four", tls={"ca_file": "x"})
    assert not (folder / "four").exists()


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
    (tmp_path / "none.csv").write_text(rows + "\nnan,1010")
    (tmp_path / "bad.csv").write_text("x,y\none,two")
    (tmp_path / "h.csv").write_text("line,height_m\nroad,1.5\nroad,2\nroad,2.5\n")
    (tmp_path / "h2.csv").write_text("line,height_m\nrail,1.5\n")
    for name, words in (("few.csv", "holds 1 deposits"), ("far.csv", "off the terrain"),
                        ("none.csv", "1 deposits lie off the terrain"),
                        ("bad.csv", "every line must hold"), ("no.csv", "no file")):  # fmt: skip
        with pytest.raises(InputError, match=words):
            read_deposits(tmp_path / name, slope)
    np.testing.assert_array_equal(read_heights(tmp_path / "h.csv", ["road"])[0], [1.5, 2.0, 2.5])
    for height in ("nan", "inf", "1e300"):
        (tmp_path / "h3.csv").write_text(f"line,height_m\nroad,{height}\n")
        with pytest.raises(InputError, match="row 2: must name a check line"):
            read_heights(tmp_path / "h3.csv", ["road"])
    with pytest.raises(InputError, match="must name a check line"):
        read_heights(tmp_path / "h2.csv", ["road"])
    (tmp_path / "h4.csv").write_text("line;height_m\nroad, old;1,5\nroad, old;2\nroad, old;2,5\n")
    np.testing.assert_array_equal(
        read_heights(tmp_path / "h4.csv", ["rail", "road, old"])[1], [1.5, 2.0, 2.5]
    )
    (tmp_path / "h5.csv").write_text("line,height_m\nroad,1.5\nroad,2\n")
    with pytest.raises(InputError, match="2 heights at road, must hold 3"):
        read_heights(tmp_path / "h5.csv", ["road"])
