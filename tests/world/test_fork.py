"""Processes that are forked after a world has run: a sentence, not a pool that waits for ever."""

import multiprocessing
import os
import sys

import pytest

import drystone as ds
from drystone.world import fork


def grid(side):
    world = ds.World()
    world.add_fixed(ds.Plane())
    for k in range(side**2):
        world.add_body(ds.Sphere(0.5), position=(k % side, k // side, 0.5))
    return world


def outcome(side):
    """In the child: the sentence, or how far the world came."""
    try:
        world = grid(side)
        world.step()
        return f"step {world.step_count}"
    except ds.DrystoneError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:This process")  # Python itself warns of fork beside threads
def test_a_forked_child_refuses_a_large_world_and_runs_a_small_one():
    grid(20).step()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        said = pool.apply_async(outcome, (20,)).get(timeout=120)
        assert "401 shapes" in said and "get_context('spawn')" in said
        assert pool.apply_async(outcome, (3,)).get(timeout=120) == "step 1"


def test_a_process_that_was_not_forked_is_not_refused(monkeypatch):
    monkeypatch.setattr(fork.Fork, "orphaned", False)
    world = grid(5)
    world.step()
    assert world.step_count == 1 and sys.modules[fork.__name__].Fork.started
