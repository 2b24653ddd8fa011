"""Comparing solvers: what is measured, the profile, what the command prints, writes and says."""

import json
import sys
from dataclasses import dataclass, replace
from time import sleep
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from drystone.bench import solver_comparison
from drystone.bench.solver_comparison import (
    Outcome,
    find_solvers,
    performance_profile,
    thinned,
    try_solver,
)
from drystone.cli import app, compare
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, History
from drystone.errors import InputError
from drystone.solvers import SOLVERS
from drystone.solvers.convergence import ConvergenceMonitor
from drystone.solvers.supported_features import FEATURES

runner = CliRunner()


@dataclass(frozen=True)
class Halving:
    """For one unit mass that falls straight down: each iteration halves what is missing."""

    law: ClassVar[str] = "coulomb"
    supports: ClassVar[frozenset[str]] = frozenset(FEATURES)

    tolerance: float = 1e-5
    max_iterations: int = 3
    measure: str = "velocity"
    history: bool = False
    pause: float = 0.0  # [s] per iteration
    share: float = 0.5

    def solve(self, problem, impulse):
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "halving")
        while not monitor.converged:
            sleep(self.pause)
            impulse[:, 0] += self.share * (-problem.q()[:, 0] - impulse[:, 0])
            if monitor.done(impulse):
                break
        return monitor.report(impulse)


@dataclass(frozen=True)
class Pivoting(Halving):
    """Has no answer before its last iteration, number 200."""

    def solve(self, problem, impulse):
        monitor = ConvergenceMonitor(self, problem, impulse, self.max_iterations, "pivoting")
        for k in range(1, 201):
            if k == 200:
                impulse[:, 0] = -problem.q()[:, 0]
            if monitor.done(impulse):
                break
        return monitor.report(impulse)


@dataclass(frozen=True)
class Plain(Halving):
    supports: ClassVar[frozenset[str]] = frozenset({"restitution"})


@dataclass(frozen=True)
class Broken(Halving):
    def solve(self, problem, impulse):
        raise ZeroDivisionError("no pivot")


@dataclass(frozen=True)
class Exploding(Halving):
    def solve(self, problem, impulse):
        info = super().solve(problem, impulse)
        impulse[:] = np.nan
        return info


@dataclass(frozen=True)
class Interrupted(Halving):
    def solve(self, problem, impulse):
        if problem.friction[0] > 0.5:
            raise KeyboardInterrupt
        return super().solve(problem, impulse)


def falling(friction=0.5, speed=1.0):
    """A unit mass, a point, that falls on the ground; the impulse is (speed, 0, 0) [N s]."""
    return ContactProblem(
        body=np.array([[1, 0]], np.int32),
        frame=np.array([[0.0, 0, 1, 1, 0, 0, 0, 1, 0]]),
        arm=np.zeros((1, 6)),
        friction=np.array([friction]),
        bias=np.zeros(1),
        gap=np.zeros(1),
        mass=np.array([[1.0, 1, 0, 0, 1, 0, 1], [0.0] * 7]),
        free=np.array([[0.0, 0, -speed, 0, 0, 0], [0.0] * 6]),
        slab_first=np.array([0, 1], np.int32),
        group_first=np.array([0, 1], np.int32),
    )


def by_matrix():
    q = np.array([[-2.0, 0.0, 0.0]])
    return MatrixProblem(scipy.sparse.eye_array(3, format="csr"), q, np.array([0.5]))


@pytest.fixture
def fakes(monkeypatch):
    """Only the solvers of this file are registered."""
    for name in list(SOLVERS):
        monkeypatch.delitem(SOLVERS, name)
    monkeypatch.setitem(SOLVERS, "halving", Halving)
    monkeypatch.setitem(SOLVERS, "plain", Plain)
    return SOLVERS


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the command runs; `problems` in it holds two problems and what is none."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "problems").mkdir()
    falling(0.2).save(tmp_path / "problems" / "a.h5")
    falling(0.8).save(tmp_path / "problems" / "b.h5")
    (tmp_path / "problems" / "README.md").write_text("not a problem")
    return tmp_path


def written(path):
    return json.loads(
        (path / "compare.json").read_text(), parse_constant=lambda c: pytest.fail(f"{c} in JSON")
    )


# One solver on one problem


def test_bound_grows_until_the_tolerance_is_reached():
    """2^-27 < 1e-8 < 2^-26: 27 iterations, although the solver's own bound is 3."""
    outcome = try_solver("fall", falling(), "halving", Halving(tolerance=1e-8), 5.0)
    assert outcome.converged == solver_comparison.CONVERGED and outcome.iterations == 27
    assert outcome.residual == pytest.approx(2.0**-27, rel=1e-6)
    assert outcome.natural_map == pytest.approx(2.0**-27, rel=1e-6)
    assert outcome.work == 27 and outcome.seconds <= outcome.wall_seconds
    # The kinetic energy 1/2 m v² is all gone.
    assert outcome.energy_change == pytest.approx(-0.5, rel=1e-7)


def test_an_answer_that_comes_at_once_and_late_is_waited_for():
    outcome = try_solver("fall", falling(), "pivoting", Pivoting(tolerance=1e-8), 5.0)
    assert outcome.converged == solver_comparison.CONVERGED and outcome.iterations == 200


def test_time_limit_ends_a_slow_solve():
    """Iterations of 2 ms: some 250 to 500 fit into a second, a million would be needed."""
    solver = Halving(tolerance=1e-300, pause=0.002, share=1e-5)
    outcome = try_solver("fall", falling(), "halving", solver, 1.0)
    assert outcome.converged == solver_comparison.NOT_CONVERGED
    assert 10 <= outcome.iterations <= 500
    assert outcome.residual == pytest.approx((1 - 1e-5) ** outcome.iterations, rel=1e-9)


def test_a_slow_first_call_does_not_count():
    """What loads its compiled code at first, here for 0.7 of 1.2 s, is not taken for slow."""
    calls = []

    @dataclass(frozen=True)
    class Loading(Halving):
        def solve(self, problem, impulse):
            calls.append(sleep(0.0 if calls else 0.7))
            return super().solve(problem, impulse)

    outcome = try_solver("fall", falling(), "loading", Loading(tolerance=1e-8), 1.2)
    assert outcome.converged == solver_comparison.CONVERGED and outcome.iterations == 27


@pytest.mark.slow
def test_what_cannot_improve_is_not_tried_for_ever():
    bounds = []

    @dataclass(frozen=True)
    class Deaf(Halving):
        def solve(self, problem, impulse):
            bounds.append(self.max_iterations)
            return super().solve(problem, impulse)

    solver = Deaf(tolerance=1e-8, share=0.0)
    outcome = try_solver("fall", falling(), "deaf", solver, 100.0)
    assert outcome.converged == solver_comparison.NOT_CONVERGED
    assert max(bounds) == 10 * solver_comparison.GROWTH**3  # the first above MANY


def test_relative_measure_divides_by_q():
    """q = 2 m/s: one halving less than in m/s."""
    solver = Halving(tolerance=1e-8, measure="relative")
    outcome = try_solver("fall", by_matrix(), "halving", solver, 5.0)
    assert outcome.iterations == 27 and outcome.residual == pytest.approx(2.0**-26, rel=1e-6)
    assert outcome.natural_map == pytest.approx(2.0**-27, rel=1e-6)


def test_what_is_not_supported_is_an_outcome():
    outcome = try_solver("fall", by_matrix(), "plain", Plain(), 5.0)
    assert outcome.converged == solver_comparison.NOT_SUPPORTED and "matrix" in outcome.message
    elliptic = replace(falling(), friction_2=np.array([0.1]))
    assert (
        try_solver("fall", elliptic, "plain", Plain(), 5.0).converged
        == solver_comparison.NOT_SUPPORTED
    )


def test_broken_solvers_are_outcomes():
    outcome = try_solver("fall", falling(), "broken", Broken(), 5.0)
    assert outcome.converged == solver_comparison.FAILED
    assert outcome.message == "ZeroDivisionError: no pivot" and outcome.seconds is None
    outcome = try_solver("fall", falling(), "exploding", Exploding(), 5.0)
    assert outcome.converged == solver_comparison.FAILED and "not finite" in outcome.message


def test_course_is_that_of_the_iterations():
    outcome = try_solver("fall", falling(), "halving", Halving(tolerance=1e-8), 5.0, history=True)
    np.testing.assert_array_equal(outcome.course.iteration, np.arange(28))
    np.testing.assert_allclose(outcome.course.residual, 0.5 ** np.arange(28), rtol=1e-6)


def test_thinned_keeps_both_ends_and_the_order():
    column = np.arange(100_000.0)
    course = thinned(History(*[column] * 9)).iteration
    assert course[0] == 0 and course[-1] == 99_999 and (np.diff(course) > 0).all()
    assert solver_comparison.COURSE_POINTS / 2 < len(course) <= solver_comparison.COURSE_POINTS
    np.testing.assert_array_equal(course[:5], np.arange(5))


def test_usual_measure():
    assert solver_comparison.natural_measure([by_matrix(), by_matrix()]) == "relative"
    assert solver_comparison.natural_measure([by_matrix(), falling()]) == "velocity"


def test_solvers_by_name(fakes):
    assert list(find_solvers(None, 1e-8, "relative")) == ["halving", "plain"]
    (solver,) = find_solvers(["plain"], 1e-7, "relative").values()
    assert solver == Plain(tolerance=1e-7, measure="relative")
    with pytest.raises(InputError, match="Did you mean 'halving'"):
        find_solvers(["halfing"], 1e-8, "relative")


# The profile


def outcome(problem, solver, seconds):
    state = solver_comparison.NOT_CONVERGED if seconds is None else solver_comparison.CONVERGED
    return Outcome(problem, 1, solver, "coulomb", state, seconds=seconds or 1e-9)


def test_profile_of_a_small_case_by_hand():
    times = {"p": {"a": 1.0, "b": 3.0}, "q": {"a": None, "b": 2.0}, "r": {"a": None, "b": None}}
    profile = performance_profile(
        outcome(p, s, t) for p, row in times.items() for s, t in row.items()
    )
    assert profile.problems == ("p", "q", "r")
    assert [profile.share("a", f) for f in (1, 2.9, 1e9)] == pytest.approx([1 / 3] * 3)
    assert [profile.share("b", f) for f in (1, 2.9, 3)] == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert [row["solved"] for row in profile.rows()] == [1, 2]


def test_profile_leaves_out_what_was_not_tried_by_all():
    done = [outcome("p", "a", 1.0), outcome("p", "b", 2.0), outcome("q", "a", 1.0)]
    profile = performance_profile(done)
    assert profile.problems == ("p",) and profile.share("b", 2.0) == 1.0


TIMES = st.lists(
    st.lists(st.none() | st.floats(1e-6, 1e3), min_size=3, max_size=3), min_size=1, max_size=6
)


@given(TIMES, st.floats(1.0, 1e6), st.floats(1.0, 1e6))
def test_profile_counts(table, factor_a, factor_b):
    """Against counting it out; shares never fall, and every problem has a winner if any."""
    profile = performance_profile(
        outcome(str(k), str(s), t) for k, row in enumerate(table) for s, t in enumerate(row)
    )
    low, high = sorted((factor_a, factor_b))
    for s in range(3):
        best = [min((t for t in row if t is not None), default=None) for row in table]
        pairs = zip((row[s] for row in table), best, strict=True)
        wins = [time is not None and time / least <= high for time, least in pairs]
        assert profile.share(str(s), high) == pytest.approx(sum(wins) / len(table))
        assert profile.share(str(s), low) <= profile.share(str(s), high)
    winners = sum(profile.share(str(s), 1.0) for s in range(3)) * len(table)
    assert winners >= sum(any(t is not None for t in row) for row in table) - 1e-9


# The command


@pytest.mark.slow
def test_one_problem_gives_table_json_and_plot(fakes, folder):
    result = runner.invoke(app, ["compare", "problems/a.h5"])
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split()[:4] == ["problem", "contacts", "solver", "law"]
    assert len(lines) == 3 and "halving" in lines[1] and "plain" in lines[2]
    assert "velocity" in result.stderr and "1e-08 m/s" in result.stderr
    figures = written(folder / "compare-a")
    assert figures["finished"] and figures["measure"] == "velocity"
    assert [row["iterations"] for row in figures["outcomes"]] == [27, 27]
    assert len(figures["outcomes"][0]["course"]["natural_map"]) == 28


def test_convergence_plot_is_a_picture(fakes, folder):
    pytest.importorskip("matplotlib")
    assert runner.invoke(app, ["compare", "problems/a.h5", "--output", "x/y"]).exit_code == 0
    assert (folder / "x/y/convergence.png").read_bytes().startswith(b"\x89PNG")
    assert not (folder / "compare-a").exists()


def test_folder_gives_a_profile(fakes, folder):
    pytest.importorskip("matplotlib")
    result = runner.invoke(app, ["compare", "problems", "--tolerance", "1e-6"])
    assert result.exit_code == 0, result.output
    assert "Share of 2 problems" in result.stdout and "x1.5" in result.stdout
    assert (folder / "compare-problems/profile.png").read_bytes().startswith(b"\x89PNG")
    figures = written(folder / "compare-problems")
    assert [row["solved"] for row in figures["profile"]] == [2, 2]
    assert figures["skipped"] == {} and len(figures["outcomes"]) == 4


def test_unreadable_files_are_named_and_skipped(fakes, folder):
    (folder / "problems/c.h5").write_text("nothing")
    result = runner.invoke(app, ["compare", "problems", "--no-plot"])
    assert result.exit_code == 1
    assert "skipped" in result.stderr and "c.h5" in result.stderr
    figures = written(folder / "compare-problems")
    assert list(figures["skipped"]) == ["c.h5"] and len(figures["outcomes"]) == 4


def test_failing_solver_is_told_and_the_rest_goes_on(fakes, folder, monkeypatch):
    monkeypatch.setitem(SOLVERS, "broken", Broken)
    result = runner.invoke(app, ["compare", "problems/a.h5", "--solvers", "broken,halving"])
    assert result.exit_code == 1
    assert "broken failed: ZeroDivisionError" in result.stderr
    assert [row["converged"] for row in written(folder / "compare-a")["outcomes"]] == [
        "failed",
        "yes",
    ]


def test_ctrl_c_leaves_what_was_done(fakes, folder, monkeypatch):
    monkeypatch.setitem(SOLVERS, "halving", Interrupted)
    result = runner.invoke(app, ["compare", "problems", "--no-plot"])
    assert result.exit_code == 130
    figures = written(folder / "compare-problems")
    assert not figures["finished"]
    assert [(row["problem"], row["solver"]) for row in figures["outcomes"]] == [
        ("a.h5", "halving"),
        ("a.h5", "plain"),
    ]
    assert "a.h5" in result.stdout


def test_again_is_allowed_but_other_files_are_not_overwritten(fakes, folder):
    command = ["compare", "problems/a.h5", "--no-plot", "--output", "out"]
    assert runner.invoke(app, command).exit_code == 0
    assert runner.invoke(app, command).exit_code == 0
    before = (folder / "out/compare.json").read_bytes()
    result = runner.invoke(app, ["compare", "problems/b.h5", "--no-plot", "--output", "out"])
    assert result.exit_code == 2 and "choose another folder" in result.stderr.replace("\n", " ")
    assert (folder / "out/compare.json").read_bytes() == before
    (folder / "mine").mkdir()
    (folder / "mine/profile.png").write_text("a holiday")
    result = runner.invoke(app, ["compare", "problems", "--output", "mine"])
    assert result.exit_code == 2 and (folder / "mine/profile.png").read_text() == "a holiday"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["box-stakc"], "Did you mean 'box-stack'"),
        (["nowhere/a.h5"], "no such file"),
        (["problems", "--solvers", "halfing"], "Did you mean 'halving'"),
        (["problems", "--measure", "speed"], "--measure is 'speed'"),
        (["problems", "--tolerance", "0"], "--tolerance is 0"),
        (["problems", "--seconds-limit", "-1"], "--seconds-limit is -1"),
        (["problems", "--output", "problems/a.h5"], "must be a folder"),
        (["problems", "--set", "count=3"], "--set is for scenes"),
        (["problems/README.md"], "README.md"),
        (["empty"], "no problem files"),
        (["bad"], "none of its 1 files"),
    ],
)
def test_wrong_input_gets_one_sentence_and_exit_2(fakes, folder, arguments, message):
    (folder / "empty").mkdir()
    (folder / "bad").mkdir()
    (folder / "bad/x.dat").write_text("nothing")
    result = runner.invoke(app, ["compare", *arguments])
    assert result.exit_code == 2, result.output
    assert message in result.stderr.replace("\n", " ")
    assert not list(folder.glob("compare-*"))


def test_missing_matplotlib_names_the_extra(fakes, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = runner.invoke(app, ["compare", "problems", "--plot"])
    assert result.exit_code == 2 and "drystone[plot]" in result.stderr.replace("\n", "")
    result = runner.invoke(app, ["compare", "problems"])  # without, the table comes all the same
    assert result.exit_code == 0 and "drystone[plot]" in result.stderr.replace("\n", "")


def test_scene_gives_the_problem_of_that_step(folder, monkeypatch):
    """Two boxes at rest: 8 contacts; the fake knows nothing of boxes and need not converge."""
    monkeypatch.setitem(SOLVERS, "halving", Halving)
    command = ["compare", "box-stack", "--set", "count=2", "--steps", "2", "--seconds-limit", "0.1"]
    result = runner.invoke(app, [*command, "--solvers", "halving"])
    assert result.exit_code == 0, result.output
    figures = written(folder / "compare-box-stack")
    assert figures["kind"] == "scene"
    assert [row["contacts"] for row in figures["outcomes"]] == [8]


def test_scene_in_which_nothing_touches(folder):
    result = runner.invoke(app, ["compare", "dzhanibekov", "--steps", "1"])
    assert result.exit_code == 2 and "nothing touches in step 1" in result.stderr


def test_numbers_that_json_does_not_know_become_null():
    values = {"a": np.array([1.0, np.inf]), "b": (np.nan, np.int64(3)), "c": "text"}
    plain = compare._plain(values)
    assert plain == {"a": [1.0, None], "b": [None, 3], "c": "text"}
