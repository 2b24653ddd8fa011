"""Percentiles, bootstrap bands and the verdict on the number of runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone.rockfall.report.html_parts import largest
from drystone.rockfall.results.cell_statistics import cell_bands, group_summary
from drystone.rockfall.results.cells import CellTable, Raster
from drystone.rockfall.results.percentiles import (
    bootstrap_band,
    estimate,
    largest_per_run,
    least_count,
    resample,
    summarise,
)
from drystone.rockfall.results.summary import smallest, summarise_barriers, table_text


@pytest.mark.parametrize(("n", "share"), [(37, 0.5), (200, 0.95), (200, 0.9), (400, 0.99)])
def test_resamples_are_those_of_the_plain_bootstrap(n, share):
    """Against drawing n values again and again: two samples of one distribution (Kolmogorov)."""
    rng = np.random.default_rng(n)
    values = rng.exponential(size=n)
    ours = np.sort(resample(values, share, rng, 4000))
    plain = np.sort(np.quantile(rng.choice(values, (4000, n)), share, axis=1))
    at = np.unique(np.concatenate([ours, plain])) + 1e-12
    gap = np.searchsorted(ours, at) / 4000 - np.searchsorted(plain, at) / 4000
    # 1.63 sqrt(2 / 4000) = 0.036 is exceeded once in a hundred times
    assert np.abs(gap).max() < 0.036


def test_band_covers_the_truth_as_often_as_it_says():
    """95 % percentile of 300 uniform numbers: 0.95, in about 95 % of 400 trials."""
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(400):
        low, high = bootstrap_band(rng.random(300), 0.95, resamples=400)
        hits += low <= 0.95 <= high
    # standard deviation of the count is 4.4; the bootstrap of a quantile is a little narrow
    assert 0.90 * 400 <= hits <= 0.985 * 400


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.sampled_from([0.5, 0.9, 0.99]))
def test_band_lies_within_the_data(values, share):
    low, high = bootstrap_band(values, share)
    assert min(values) <= low <= high <= max(values)


def test_same_seed_same_band():
    values = np.random.default_rng(0).random(100)
    assert bootstrap_band(values, 0.9, seed=3) == bootstrap_band(values, 0.9, seed=3)
    assert bootstrap_band(values, 0.5, seed=3) != bootstrap_band(values, 0.5, seed=5)


def test_least_counts_are_those_of_the_textbooks():
    """0.95^59 < 0.05 < 0.95^58, and 0.99^299 < 0.05 < 0.99^298."""
    assert least_count(0.95) == 59 and least_count(0.99) == 299


def test_verdicts():
    rng = np.random.default_rng(1)
    few = estimate(rng.random(30), 0.95, runs=100)
    assert not few.enough and "59 are needed" in few.statement and "200 runs" in few.statement
    wide = estimate(rng.lognormal(0, 2, 100), 0.95, runs=100)
    assert not wide.enough and "runs would give ±10 %" in wide.statement
    good = estimate(rng.normal(10, 1, 5000), 0.95, runs=5000)
    assert good.enough and good.low < 10 + 1.645 < good.high
    none = estimate([np.nan], 0.95, runs=10)
    assert none.count == 0 and not none.enough and "no run of 10" in none.statement


def test_more_runs_as_advised_are_enough():
    """What the verdict advises holds: with that many runs the band is about as narrow as asked."""
    rng = np.random.default_rng(2)
    first = estimate(rng.lognormal(0, 1, 200), 0.95, runs=200)
    advised = int(first.statement.split("about ")[1].split(" runs")[0].replace(",", ""))
    half = np.mean(
        [
            (e.high - e.low) / (2 * e.value)
            for e in (estimate(rng.lognormal(0, 1, advised), 0.95, advised, k) for k in range(30))
        ]
    )
    assert 0.05 < half < 0.15


def test_largest_per_run():
    run, value = np.array([4, 1, 4, 1, 2]), np.array([1.0, 5.0, 3.0, 2.0, 0.5])
    np.testing.assert_array_equal(largest_per_run(run, value), [5.0, 0.5, 3.0])
    assert len(largest_per_run(np.zeros(0, int), np.zeros(0))) == 0


def test_summary_of_nothing_has_no_numbers():
    entry = summarise([], 10)
    assert entry["count"] == 0 and np.isnan(entry["mean"]) and not entry["p95"]["enough"]


def test_the_largest_of_a_run_that_went_on_is_a_lower_bound():
    values = np.arange(400.0)
    for lost, open_ended in ((399, True), (398, False), (3, False)):
        rested = np.arange(400) != lost
        entry = summarise(values, 400, 1, rested)
        assert entry["max"] == 399.0 and entry["max_open"] is open_ended
        assert largest(entry) == ("> 399" if open_ended else "399")
    assert largest(summarise(values, 400, 1, np.ones(400, bool))) == "399"
    assert summarise(values[:3], 3, 1, np.zeros(3, bool))["max_open"]


def test_the_smallest_angle_is_of_a_run_at_rest():
    """Beyond the rim of the terrain there is no ground to measure an angle to."""
    angle = np.array([30.0, -26.0, 33.0])
    assert smallest(angle, np.array([True, False, True])) == 30.0
    assert np.isnan(smallest(angle, np.zeros(3, bool)))


def test_groups_match_numpy():
    rng = np.random.default_rng(0)
    group, value = rng.integers(0, 40, 3000), rng.normal(size=3000)
    value[rng.random(3000) < 0.1] = np.nan
    group[group == 7] = 8  # an empty one
    found = group_summary(group, value, 41)
    shares = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}
    for k in range(41):
        mine = value[(group == k) & np.isfinite(value)]
        if len(mine) == 0:
            assert all(np.isnan(column[k]) for column in found.values())
            continue
        np.testing.assert_allclose(found["mean"][k], mine.mean(), rtol=1e-12, atol=1e-12)
        assert found["max"][k] == mine.max()
        for name, share in shares.items():
            np.testing.assert_allclose(found[name][k], np.quantile(mine, share), rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 50, 400, 10**6])
def test_bands_of_any_size_give_the_same_bits(rows):
    rng, raster = np.random.default_rng(3), Raster(0.0, 0.0, 1.0, 17, 11)
    tables = []
    for _ in range(5):
        cell = np.sort(rng.integers(0, 17 * 11, 300)).astype(np.int32)
        tables.append(CellTable(cell, *rng.random((3, 300)).astype(np.float32)))
    whole = next(cell_bands(tables, raster, 10**9))
    bands = list(cell_bands(tables, raster, rows))
    assert [b.first for b in bands[1:]] == [b.last for b in bands[:-1]]
    assert bands[0].first == 0 and bands[-1].last == 11
    assert sum(band.passages.sum() for band in bands) == 1500
    for name, values in whole.values.items():
        joined = np.concatenate([band.values[name] for band in bands])
        np.testing.assert_array_equal(joined, values)


def test_barriers_count_runs_by_what_became_of_them():
    """A net that two runs met and one flew over; a wall hit twice by run 0, got round by run 3."""
    rows = [  # run, barrier, outcome, energy [J]
        (0, 0, "stopped", 4e3), (1, 0, "passed", 9e3), (2, 0, "overtopped", 7e3),
        (0, 1, "hit", 5e3), (0, 1, "hit", 2e3), (0, 1, "stopped", 0.0),
        (3, 1, "hit", 6e3), (3, 1, "passed", 0.0), (4, 1, "overtopped", 3e3),
    ]  # fmt: skip
    run, barrier, outcome, energy = (np.array(column) for column in zip(*rows, strict=True))
    zero = np.zeros(len(rows))
    table = {"run": run, "barrier": barrier, "outcome": outcome, "energy_J": energy}
    table |= {name: zero for name in ("vx_m_s", "vy_m_s", "vz_m_s", "height_m", "taken_J")}
    ends = {"run": np.arange(6), "mass_kg": np.full(6, 100.0)}
    labels = [{"name": "net", "kind": "crossing"}, {"name": "wall", "kind": "contact"}]
    net, wall = summarise_barriers(table, labels, ends, 6, 1)
    counts = ("reached", "hit", "stopped", "passed", "overtopped")
    assert [net[k] for k in counts] == [3, 2, 1, 1, 1]
    assert [wall[k] for k in counts] == [3, 2, 1, 1, 1]
    assert wall["share_reached"] == 0.5 and wall["share_stopped"] == pytest.approx(1 / 3)
    assert wall["energy_kJ"]["max"] == 6.0 and net["energy_kJ"]["max"] == 9.0
    assert len(table_text([net, wall]).splitlines()) == 3
