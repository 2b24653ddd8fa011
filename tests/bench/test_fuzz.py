"""The fuzzer: it finds what it should, repeats it alone, and finds nothing in the library."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import drystone as ds
from drystone.bench.fuzz import runner
from drystone.bench.fuzz.arguments import GROUPS
from drystone.bench.fuzz.case import Case, Family, generator_of
from drystone.bench.fuzz.damage import damage_bytes, damage_text
from drystone.bench.fuzz.file_seeds import write_small_files
from drystone.bench.fuzz.props import Call, Props
from drystone.bench.fuzz.runner import Tally, fuzz, run_alone, run_batch
from drystone.bench.fuzz.worker import run_case
from drystone.cli import app
from fuzz_family import WAYS

FAKE = "fuzz_family:FAMILY"


@pytest.fixture
def fake_family(monkeypatch):
    """The worker finds the family of the tests, and hangs are short."""
    import fuzz_family

    monkeypatch.setenv("PYTHONPATH", str(Path(fuzz_family.__file__).parent))
    monkeypatch.setattr(runner, "FIRST_PATIENCE", 3.0)
    monkeypatch.setattr(runner, "PATIENCE", 3.0)


def way(number):
    return WAYS[generator_of(0, FAKE, number).integers(len(WAYS))]


def first(wanted):
    return next(number for number in range(1000) if way(number) == wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    "ending, kind",
    [
        ("result", "result"), ("refused", "refused"), ("exception", "exception"),
        ("found", "below ground"), ("crash", "crash"), ("hang", "hang"), ("memory", "memory"),
    ],
)  # fmt: skip
def test_every_way_to_end_is_told(fake_family, ending, kind):
    outcome = run_alone(FAKE, 0, first(ending))
    assert outcome.kind == kind
    assert outcome.is_finding == (ending not in ("result", "refused"))


@pytest.mark.slow
def test_a_batch_goes_on_after_crashes_and_hangs(fake_family):
    count = first("hang") + first("crash") + 3
    outcomes = list(run_batch(FAKE, 0, 0, count))
    assert [outcome.number for outcome in outcomes] == list(range(count))
    assert all((way(o.number) == "crash") == (o.kind == "crash") for o in outcomes)


def test_a_process_that_has_compiled_too_much_is_given_up(monkeypatch):
    """Its peak is above the limit in every case that follows, whatever they do."""
    started = []

    def process(name, seed, first, count, patience):
        started.append((first, count))
        kind = "memory" if len(started) == 1 else "result"
        yield from (runner.Outcome(k, "", kind) for k in range(first, first + count))

    monkeypatch.setattr(runner, "_one_process", process)
    outcomes = list(run_batch(FAKE, 0, 0, 4))
    assert [(o.number, o.kind) for o in outcomes] == [(k, "result") for k in range(4)]
    assert started == [(0, 4), (0, 1), (1, 3)]


def test_jobs_run_the_same_cases(monkeypatch):
    def batch(name, seed, first, count, end):
        yield from (runner.Outcome(k, name, "result") for k in range(first, first + count))

    monkeypatch.setattr(runner, "run_batch", batch)
    families = ["arguments", "worlds"]
    alone = sorted(fuzz(families, 0, cases=1003))
    assert alone == [(name, runner.Outcome(k, name, "result")) for name in families
                     for k in range(1003)]  # fmt: skip
    for jobs in (2, 16, 2000):
        assert sorted(fuzz(families, 0, cases=1003, jobs=jobs)) == alone
    batches = list(runner._batches(["arguments"], 0, 10_000, 16))
    assert len(batches) == 32 and {count for _, _, count in batches[:-1]} == {313}


def test_a_thread_that_fails_ends_the_run(monkeypatch):
    def batch(name, seed, first, count, end):
        raise ds.InputError("the family cannot be prepared")
        yield

    monkeypatch.setattr(runner, "run_batch", batch)
    with pytest.raises(ds.InputError, match="prepared"):
        list(fuzz(["worlds"], 0, cases=10, jobs=4))


def test_a_package_that_is_missing_is_no_finding(tmp_path):
    def run(case):
        import no_such_package  # noqa: F401

    family = Family(lambda folder: None, run, batch=1, megabytes=1e6)
    outcome = run_case(family, Case(generator_of(0, "x", 0), None, tmp_path), 0)
    assert outcome.kind == "no package" and not outcome.is_finding


def test_equal_findings_are_told_once():
    tally = Tally()
    raw = runner.Outcome(3, "shapes", "exception", "text", "shapes/box.py:10")
    assert tally.add("arguments", raw) and not tally.add("arguments", raw._replace(number=4))
    assert not tally.add("arguments", runner.Outcome(5, "shapes", "refused"))
    assert tally.findings == 2
    assert tally.table()[1].split() == ["arguments", "shapes", "3", "0", "1", "2", "0"]


def test_a_case_depends_on_its_number_alone():
    draws = [generator_of(1, "worlds", 7).integers(2**60) for _ in range(2)]
    assert draws[0] == draws[1] != generator_of(1, "worlds", 8).integers(2**60)
    assert draws[0] != generator_of(2, "worlds", 7).integers(2**60)


def test_damage_changes_files():
    text = b"ncols 3\nnrows 2\n1 2 3\n"
    for damage in (damage_bytes, damage_text):
        changed = [damage(np.random.default_rng(k), text) for k in range(40)]
        assert sum(one != text for one in changed) > 30


def test_everything_public_is_called(tmp_path):
    """What only the library makes is left out: results, and things that worlds hand out."""
    made = {
        "Body", "FixedBody", "ContactTable", "Energy", "Momentum", "Finding", "SolveInfo",
        "ForceState", "Recorder", "Replay", "Lcp", "MixedLcp", "LcpResult", "MixedResult",
        "Trajectory", "Barriers", "energy_line_velocity", "Dragging", "Viewer", "ReplayViewer",
        "Snapshot", "ClosestPoints", "RayHit", "RayHits", "PlacedRobot", "CharacterRun",
        "Fall", "Torques",
    }  # fmt: skip
    props = Props(write_small_files(tmp_path), tmp_path)
    called = " ".join(name for make, _ in GROUPS.values() for name in make(props))
    for module in (ds, ds.lcp, ds.rockfall):
        for name in module.__all__:
            thing = getattr(module, name)
            error = inspect.isclass(thing) and issubclass(thing, Exception)
            if callable(thing) and not error and name not in made:
                assert name in called, name


# Methods that take arguments and are not called: for solvers and files inside; threads of a
# viewer and pictures, which take too long; those of studies and results, which need a finished one.
NOT_CALLED = {
    "describe", "restored", "Force.gradients", "Force.values", "Penalty.solve", "Recorder.after",
    "Recorder.before", "Recorder.note", "ReplayViewer.seek", "Viewer.do", "World.picture",
    "World.view",
    "CharacterRun.write", "Results.columns", "Results.raster", "Results.table", "Study.blaming",
    "Study.sample", "Study.with_runs",
}  # fmt: skip


def test_methods_with_arguments_and_settable_properties_are_called(tmp_path):
    props = Props(write_small_files(tmp_path), tmp_path)
    known = {name for make, _ in GROUPS.values() for name in make(props)} | NOT_CALLED
    known |= {"set"} if {"Joint.set", "Force.set"} <= known else set()  # those of all kinds
    missing = []
    for module in (ds, ds.lcp, ds.rockfall):
        for kind in (getattr(module, name) for name in module.__all__):
            if not inspect.isclass(kind) or issubclass(kind, Exception):
                continue
            for name, member in inspect.getmembers(kind):
                whole = f"{kind.__name__}.{name}"
                if name.startswith("_") or hasattr(tuple, name) or known & {name, whole}:
                    continue
                missing += [whole] if _takes_something(member) else []
    assert not missing


def _takes_something(member):
    if isinstance(member, property):
        return member.fset is not None
    return callable(member) and set(inspect.signature(member).parameters) - {"self"}


def test_a_call_has_all_arguments_that_it_can_have():
    def made(a, b=2, *, c="x"):
        return a, b, c

    assert Call(made, {"a": 1, "c": "y"}).with_defaults().arguments == {"a": 1, "b": 2, "c": "y"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "family, cases", [("arguments", 200), ("worlds", 24), ("files", 200), ("rockfall", 60)]
)
def test_nothing_is_found(family, cases):
    outcomes = [outcome for _, outcome in fuzz([family], seed=20, cases=cases)]
    assert len(outcomes) == cases
    found = [f"{o.number}: {o.kind}: {o.text}" for o in outcomes if o.is_finding]
    assert not found, "\n".join(found)


def test_the_command_refuses_an_unknown_family():
    result = CliRunner().invoke(app, ["fuzz", "--only", "argument"])
    assert result.exit_code == 2


@pytest.mark.slow
def test_the_command_repeats_a_case_and_prints_a_table():
    result = CliRunner().invoke(app, ["fuzz", "--only", "arguments", "--case", "3"])
    assert result.exit_code == 0
    assert "family" in result.stdout and " 1 " in result.stdout
