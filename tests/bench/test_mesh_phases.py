"""The benchmark of meshes: phases that are timed and fitted, and runs that are stopped."""

import json
import os

import numpy as np
import pytest
from typer.testing import CliRunner

from drystone.bench import mesh_phases
from drystone.bench.mesh_phases import fit_both, fit_line, measure_phases
from drystone.cli import app
from drystone.solvers import SOLVERS

METHODS = [name for name in ("auto", "ffd") if name in SOLVERS]
SMALL = {"count": 12, "per_side": 2}


def test_line_is_fitted():
    x = np.arange(10.0)
    slope, base, r_squared = fit_line(x, 3 * x + 2)
    assert (slope, base, r_squared) == pytest.approx((3, 2, 1))
    assert fit_line(x, np.r_[1.0, -1.0] @ np.ones((2, 10)))[0] == 0.0
    noisy = 3 * x + 2 + np.where(x % 2, 5.0, -5.0)
    assert 0.5 < fit_line(x, noisy)[2] < 0.9


def test_fit_with_bodies():
    contacts, bodies = np.arange(20.0), np.minimum(np.arange(20.0), 8.0)
    y = 3 * contacts + 7 * bodies + 2
    assert fit_both(contacts, bodies, y) == pytest.approx(1.0)
    assert fit_line(contacts, y)[2] < fit_both(contacts, bodies, y)


@pytest.mark.parametrize("method", METHODS)
def test_phases_add_up(method):
    shown = []
    row = measure_phases("chess-drop", method, 0.2, show=lambda *at: shown.append(at), **SMALL)
    assert shown == [(10, 42), (20, 42), (30, 42), (40, 42), (42, 42)]
    blocks = {key: np.array(values) for key, values in row["blocks"].items()}
    parts = blocks["detection"] + blocks["resolution"] + blocks["other"]
    assert parts == pytest.approx(blocks["all"])
    assert row["steps"] == blocks["step"][-1] == 42
    assert row["lost"] == 0 and row["peak_gib"] > 0.01


@pytest.mark.parametrize(
    "shorter, rounds", [(0.99, mesh_phases.MOST_ROUNDS), (1.0, mesh_phases.ROUNDS)]
)
def test_solves_are_timed_until_none_gets_quicker(monkeypatch, shorter, rounds):
    clock, times = [0.0], []

    class Solver:
        def solve_bodies(self, *_):
            times.append(shorter ** len(times))
            clock[0] += times[-1]

    monkeypatch.setattr(mesh_phases, "perf_counter", lambda: clock[0])
    (least,) = mesh_phases._solve_again([(None, np.zeros((1, 3)), None)], Solver())
    assert len(times) == rounds
    assert least == pytest.approx(1e3 * times[-1])


def row_of_zeros():
    return dict.fromkeys((key for _, key, _ in mesh_phases.COLUMNS), 0)


def test_bench_of_meshes_keeps_what_is_done_when_it_is_stopped(monkeypatch, tmp_path):
    def run_apart(_, method, *rest, **options):
        if method == mesh_phases.METHODS[-1]:
            raise KeyboardInterrupt
        return row_of_zeros()

    monkeypatch.setattr(mesh_phases, "run_apart", run_apart)
    path = tmp_path / "new" / "rows.json"
    CliRunner().invoke(app, ["bench", "--mesh", "--scenes", "chess-drop", "--json", str(path)])
    assert [json.loads(line) for line in path.read_text().splitlines()] == [row_of_zeros()]


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes long uncompiled")
@pytest.mark.slow
def test_a_run_in_a_process_of_its_own_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(mesh_phases, "SHOWN_EVERY", 0.001)
    shown = []
    row = mesh_phases.run_apart("chess-drop", "auto", 0.5, 1, lambda *at: shown.append(at), **SMALL)
    assert row["steps"] == 105 and row["lost"] == 0
    assert shown and all(at <= 105 == end for at, end in shown)


@pytest.mark.parametrize("flag, sleeping", [("--sleeping", True), ("--no-sleeping", False)])
def test_bench_of_meshes_lets_bodies_sleep_if_asked(monkeypatch, flag, sleeping):
    asked = []

    def run_apart(*_, **options):
        asked.append(options)
        return row_of_zeros()

    monkeypatch.setattr(mesh_phases, "run_apart", run_apart)
    shown = CliRunner().invoke(app, ["bench", "--mesh", "--scenes", "chess-drop", flag]).output
    assert asked == [{"sleeping": sleeping}] * 2
    assert f"sleeping {'on' if sleeping else 'off'}" in shown
