"""World(budget=...): a hard bound of the solve, in sweeps or in time."""

import numba
import numpy as np
import pytest

import drystone as ds


def pile(**options):
    """150 boxes in six layers that land on each other, each on four: one large island."""
    world = ds.World(sleeping=False, **options)
    world.add_fixed(ds.Plane())
    for k in range(150):
        shift = 0.11 * (k // 25 % 2)
        place = 0.22 * (k % 5) + shift, 0.22 * (k // 5 % 5) + shift, 0.11 + 0.25 * (k // 25)
        world.add_body(ds.Box(0.2, 0.2, 0.2), position=place)
    return world


def test_no_island_is_swept_more_often_than_the_budget_allows():
    world, most = pile(budget=6), 0
    for _ in range(90):
        world.step()
        most = max(most, world.info.iterations)
    assert most == 6
    assert np.isfinite(world.positions).all()


def test_residual_tells_the_price_of_a_budget():
    residuals = {}
    for sweeps in (2, 40):
        world = pile(budget=sweeps)
        errors = []
        for _ in range(90):
            world.step()
            errors.append(world.info.residual)
            if world.info.residual > world.info.tolerance:
                assert not world.info.converged
        residuals[sweeps] = np.mean(errors)
    assert residuals[40] < 0.5 * residuals[2]


def test_budget_in_sweeps_keeps_bits_for_any_number_of_threads():
    most, hashes = numba.get_num_threads(), set()
    try:
        for threads in {1, most}:
            numba.set_num_threads(threads)
            world = pile(budget=8)
            world.run(0.2)
            hashes.add(world.hash())
    finally:
        numba.set_num_threads(most)
    assert len(hashes) == 1


def test_time_that_is_over_at_once_leaves_one_sweep():
    world, most = pile(budget="1e-6 us"), 0
    for _ in range(40):
        world.step()
        most = max(most, world.info.iterations)
    assert most == 1


def test_time_that_never_ends_bounds_nothing():
    bounded, free = pile(budget="1000 s"), pile(relative_tolerance=0.5)
    for world in (bounded, free):
        world.run(0.1)
    assert np.abs(bounded.positions - free.positions).max() < 1e-3


def test_budget_is_saved(tmp_path):
    world = pile(budget=7)
    world.run(0.05)
    world.save(tmp_path / "world.h5")
    again = ds.World.load(tmp_path / "world.h5")
    assert again.settings.budget_sweeps == 7
    for w in (world, again):
        w.run(0.05)
    assert world.hash() == again.hash()


@pytest.mark.parametrize(
    "budget",
    [0, -3, 2.5, "2", "2 parsecs", "-1 ms", "nan ms", "", "inf s", 2**63, 1e308, "1e300 s"],
)
def test_odd_budgets_are_refused(budget):
    with pytest.raises(ds.InputError, match="budget"):
        ds.World(budget=budget)


def test_solvers_that_cannot_keep_a_budget_are_refused():
    with pytest.raises(ds.UnsupportedFeature, match="budget"):
        ds.World(budget=5, solver="pgs")
    with pytest.raises(ds.UnsupportedFeature, match="budget"):
        ds.World(budget=5, stepper="verlet")
    world = ds.World(budget=5)
    with pytest.raises(ds.UnsupportedFeature, match="budget"):
        world.solver = "pgs"
