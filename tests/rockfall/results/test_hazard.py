"""Hazard rasters against a recount run by run; censored percentiles; design curves."""

from types import SimpleNamespace

import numpy as np
import pytest

from drystone.rockfall.results.barrier_curves import (
    Passages,
    along_line,
    in_series,
    stopped_share,
    stopped_table,
)
from drystone.rockfall.results.cells import CellTable
from drystone.rockfall.results.hazard import Hazard, hazard_band, hazard_names, hazard_of
from drystone.rockfall.results.percentiles import censored_estimate, censored_quantile, estimate

CELLS, RUNS = 40, 300


@pytest.fixture(scope="module")
def drawn():
    """Passages of runs from two sources through cells, with their largest energies."""
    rng = np.random.default_rng(4)
    source = rng.integers(0, 2, RUNS)
    run = np.repeat(np.arange(RUNS), 6)
    cell = np.concatenate([rng.choice(CELLS - 3, 6, replace=False) for _ in range(RUNS)])
    energy = rng.lognormal(11.0, 1.5, len(cell)).astype(np.float32)
    order = np.argsort(cell, kind="stable")
    nothing = np.zeros(len(cell), np.float32)
    table = CellTable(cell[order], nothing, energy[order], nothing, source[run][order].astype("i2"))
    return run[order], source, table


def test_exceedance_and_frequencies_are_those_of_a_recount(drawn):
    run, source, table = drawn
    rates = (0.2, 0.05)
    plan = SimpleNamespace(
        hazard=((30e3, 300e3), (30.0, 100.0, 300.0)), frequencies=rates, count=RUNS
    )
    hazard = hazard_of(plan, source)
    found = hazard_band(table, table.cell.astype(np.int64), CELLS, hazard)
    assert set(found) == set(hazard_names(plan))
    per_run = np.array(rates)[source] / np.bincount(source)[source]
    assert per_run.sum() == pytest.approx(sum(rates))  # every release counts once
    for c in range(CELLS):
        here = table.cell == c
        for kj in (30, 300):
            above = run[here & (table.energy > 1e3 * kj)]
            share, often = len(above) / RUNS, per_run[above].sum()
            if here.any():
                assert found[f"exceedance_{kj}kJ"][c] == pytest.approx(share)
                assert found[f"annual_exceedance_{kj}kJ"][c] == pytest.approx(often)
            else:
                assert np.isnan(found[f"exceedance_{kj}kJ"][c])
        for years in (30, 100, 300):
            slow = np.nan
            for e in np.sort(table.energy[here]):
                if per_run[run[here & (table.energy >= e)]].sum() >= (1 - 1e-9) / years:
                    slow = 1e-3 * e
            np.testing.assert_allclose(found[f"energy_{years}_years"][c], slow, rtol=1e-6)
    total = found["annual_passages"]
    assert np.nansum(total) == pytest.approx(per_run[run].sum())


def test_levels_of_the_matrix():
    """One rock a year of 400 kJ is red, of 100 kJ red, of 10 kJ blue; once in 200 years less."""

    def level(energy, rate):
        table = CellTable(np.zeros(1, int), None, np.array([energy]), None, np.zeros(1, "i2"))
        hazard = Hazard((30e3,), (30.0,), 1, np.array([rate]))
        return hazard_band(table, np.zeros(1, np.int64), 1, hazard)["hazard_level"][0]

    assert [level(e, 1.0) for e in (400e3, 100e3, 10e3)] == [4, 4, 3]
    assert [level(e, 1 / 200) for e in (400e3, 100e3, 10e3)] == [4, 3, 2]
    assert [level(e, 1 / 1000) for e in (400e3, 100e3, 10e3)] == [1, 1, 1]


def slow_kaplan_meier(values, known, share):
    survival = 1.0
    for x in np.unique(values):
        survival *= 1.0 - np.sum((values == x) & known) / np.sum(values >= x)
        if survival <= 1.0 - share + 1e-12:
            return x
    return np.nan


@pytest.mark.parametrize("seed", range(5))
def test_censored_percentiles_against_a_slow_twin(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 50, 200).astype(float)
    known = rng.random(200) > 0.2
    for share in (0.5, 0.9, 0.99):
        slow = slow_kaplan_meier(values, known, share)
        np.testing.assert_equal(censored_quantile(values, known, share), slow)


def test_runs_that_left_do_not_shorten_the_run_out():
    """Of 100 runs the 10 longest left the terrain at 80 m: the median stays, 95 % is not known."""
    truth = np.arange(1.0, 101.0)
    seen, known = np.minimum(truth, 80.0), truth < 90.5
    known &= seen < 80.0
    assert censored_quantile(seen, known, 0.5) == 50.0
    found = censored_estimate(seen, known, 0.95, 100)
    assert np.isnan(found.value) and not found.enough and "did not come to rest" in found.statement
    plain = censored_estimate(truth, np.ones(100, bool), 0.95, 100)
    assert plain == estimate(truth, 0.95, 100)


def test_no_runs_are_asked_for_that_nobody_can_have():
    values = np.concatenate([-np.ones(500), np.ones(500)]) + 1e-3
    text = estimate(values, 0.5, 1000).statement
    assert "may be zero" in text and "runs would" not in text
    rare = estimate(np.ones(1), 0.99, 1_000_000).statement
    assert "more than a study can have" in rare


def test_design_curves_recount():
    rng = np.random.default_rng(2)
    run = np.arange(80)
    p = Passages(run, rng.uniform(0, 8, 80), rng.uniform(0, 4e6, 80), rng.uniform(0, 100, 80))
    assert stopped_share(p, 4.0, 1e6) == np.mean([h <= 4 and e <= 1e6 for h, e in zip(p.height, p.energy, strict=True)])  # noqa: E501  # fmt: skip
    table = stopped_table(p)
    assert (np.diff(table, axis=0) >= 0).all() and (np.diff(table, axis=1) >= 0).all()


def test_place_along_a_bent_line():
    line = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 5.0]])
    at = along_line(np.array([[3.0, 1.0], [11.0, 4.0], [-2.0, 0.0]]), line)
    np.testing.assert_allclose(at, [3.0, 14.0, 0.0])


def test_two_lines_in_series():
    crossings = {
        "run": np.array([0, 1, 1, 2, 2, 3]), "barrier": np.array([0, 0, 1, 0, 1, 1]),
        "outcome": np.array(["stopped", "passed", "stopped", "overtopped", "passed", "stopped"]),
        "t_s": np.arange(6.0),
    }  # fmt: skip
    found = list(in_series(crossings, 0, 1).values())
    assert found == [3, 1, 2, 1, 1]
    # The other way round nobody goes: the second line comes first in time.
    assert list(in_series(crossings, 1, 0).values())[2] == 0
