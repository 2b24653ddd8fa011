"""What is kept of a run, also of one that failed."""

from types import SimpleNamespace

import numpy as np
import pytest

from drystone.errors import SimulationError
from drystone.rockfall.engine.records import FAILED, VELOCITY
from drystone.rockfall.run import trajectory_points
from drystone.rockfall.run.chunk import compute_chunk, make_context, usable_part
from drystone.rockfall.run.plan import chunk_size, make_plan
from drystone.rockfall.run.trajectory_points import sample_points
from fakes import FakeStudy, bounce


def trajectory(bounces=4):
    rock, start, _ = FakeStudy().sample(0)
    return rock, start, bounce(rock, start, bounces)


def test_a_good_trajectory_is_left_alone():
    _, start, good = trajectory()
    same = usable_part(0, start, good)
    for part, other in zip(same[:4], good[:4], strict=True):
        assert part.tobytes() == other.tobytes()


def test_a_failed_run_is_kept_up_to_where_it_failed():
    _, start, bad = trajectory()
    whole = bad.arcs.copy()
    bad.arcs["v"][2], bad.end["x"], bad.end["reason"] = np.nan, np.nan, FAILED
    kept = usable_part(0, start, bad)
    assert len(kept.arcs) == 2 and len(kept.impacts) == 2
    np.testing.assert_allclose(kept.end["x"], whole["x"][2], atol=1e-12)
    assert kept.end["t"] == whole["t1"][1]


def test_a_run_without_arcs_is_kept_at_its_start():
    _, start, bad = trajectory()
    bad.end["reason"] = FAILED
    kept = usable_part(0, start, bad._replace(arcs=bad.arcs[:0]))
    assert len(kept.arcs) == 1
    np.testing.assert_array_equal(kept.arcs["x"][0], start.position)


def test_numbers_that_are_none_without_a_failure_are_an_error():
    _, start, bad = trajectory()
    bad.arcs["x"][1], bad.end["reason"] = np.nan, VELOCITY
    with pytest.raises(SimulationError, match="run 5 did not fail"):
        usable_part(5, start, bad)


def test_points_are_at_the_step_the_impacts_and_the_end():
    _, _, good = trajectory()
    ground = make_plan(FakeStudy(), "fakes:roll_many").ground
    points = sample_points([3], [good], 0.25, ground)
    times = set(np.arange(0, good.end["t"], 0.25)) | set(good.impacts["t"]) | {good.end["t"]}
    np.testing.assert_array_equal(points["t"], sorted(times))
    np.testing.assert_array_equal(points["run"], 3)


def test_points_of_many_runs_are_those_of_each(monkeypatch):
    """Rocks that tumble, taken together, in groups and one by one: the same bits."""
    ground, rng = make_plan(FakeStudy(), "fakes:roll_many").ground, np.random.default_rng(1)
    many = [trajectory(n)[2] for n in (4, 1, 7)]
    for one in many:
        one.arcs["w"] = one.arcs["w_end"] = rng.normal(0.0, 3.0, (len(one.arcs), 3))
    inertia = rng.uniform(1.0, 1.8, (3, 3))
    runs = [2, 5, 9]
    alone = [
        sample_points([run], [one], 0.05, ground, inertia[k : k + 1], 0.1)
        for k, (run, one) in enumerate(zip(runs, many, strict=True))
    ]
    assert len({points["q"].tobytes() for points in alone}) == 3
    for together in (200_000, 50):
        monkeypatch.setattr(trajectory_points, "TOGETHER", together)
        made = sample_points(runs, many, 0.05, ground, inertia, 0.1)
        assert made.tobytes() == np.concatenate(alone).tobytes()


def test_a_chunk_does_not_depend_on_those_before_it():
    study = FakeStudy(count=48)
    plan = make_plan(study, "fakes:roll_many")
    busy, fresh = make_context(study, plan), make_context(study, plan)
    compute_chunk(busy, 0)
    compute_chunk(busy, 1)
    again, alone = compute_chunk(busy, 2), compute_chunk(fresh, 2)
    assert {name: a.tobytes() for name, a in again.items()} == {
        name: a.tobytes() for name, a in alone.items()
    }


def test_chunks_hold_all_runs_once():
    for count in (1, 15, 16, 17, 1000, 1024, 1025, 10**6):
        plan = SimpleNamespace(count=count, chunk=chunk_size(count))
        chunks = -(-count // plan.chunk)
        assert (chunks - 1) * plan.chunk < count <= chunks * plan.chunk
        assert chunks <= 2000
