"""Newton with the velocities of bodies as unknowns: large islands at rest converge."""

import numba
import numpy as np
import pytest

import drystone as ds
from drystone.constraints.coulomb import project_on_cone
from drystone.scenes.stacks import fill_box_stack, fill_jenga, fill_masonry, fill_pyramid
from drystone.solvers.newton.body_system import _cone_stiffness
from drystone.solvers.newton.by_bodies import BODY_OPERATIONS, solve_by_bodies
from drystone.solvers.nsgs import rows_of


def rest(world, seconds, grace=0.1):
    """Run; how many steps after `grace` did not converge, and the largest drift [m]."""
    start, missed = world.positions.copy(), 0
    for step in range(round(seconds / world.dt)):
        world.step()
        missed += step * world.dt >= grace and not world.info.converged
    return missed, np.abs(world.positions - start).max()


def test_stiffness_is_the_derivative_of_the_projection():
    rng = np.random.default_rng(3)
    project, stiffness = project_on_cone.py_func, _cone_stiffness.py_func
    kinds = set()
    for _ in range(200):
        z, mu = rng.normal(size=3), rng.uniform(0.1, 1.0)
        nn, n1, n2, k11, k12, k22 = stiffness(*z, mu, 1.0)
        matrix = np.array([[nn, n1, n2], [n1, k11, k12], [n2, k12, k22]])
        step = 1e-6
        slopes = [
            (np.array(project(*(z + d), mu)) - project(*(z - d), mu)) / (2 * step)
            for d in step * np.eye(3)
        ]
        assert np.allclose(matrix, np.array(slopes).T, atol=1e-8)
        kinds.add(np.linalg.matrix_rank(matrix, tol=1e-6))
    assert kinds == {0, 2, 3}  # open, sliding, sticking


def test_impulses_and_velocities_agree_with_the_problem():
    world = ds.World(sleeping=False)
    fill_jenga(world, 9)
    world.step()
    problem = world.problem()
    rows, _, twist = rows_of(problem, np.zeros((problem.contact_count, 3)))
    free = np.zeros_like(twist)
    free[:, :6] = problem.free
    aims = 1e-6, 1e-5, BODY_OPERATIONS
    count = problem.contact_count
    for _ in range(4):  # from zero it may need more steps than one call takes
        error, islands, steps = solve_by_bodies(0, count, rows, problem.mass, free, aims, twist)
        if error <= 1e-5:
            break
    impulse = rows.impulse[:count]
    assert error <= 1e-5
    assert (islands, steps > 0) == (1, True)
    assert ds.residual(problem, impulse) == pytest.approx(error, rel=1e-6, abs=1e-12)
    wanted = problem.free + problem.twist_from(impulse)
    assert np.allclose(twist[:, :6], wanted, atol=1e-12)


def test_an_island_that_is_too_large_is_left_as_it_was():
    world = ds.World(sleeping=False)
    fill_jenga(world, 9)
    world.step()
    problem = world.problem()
    rows, _, twist = rows_of(problem, np.zeros((problem.contact_count, 3)))
    before, aims = twist.copy(), (1e-6, 1e-5, 1.0)
    free = np.zeros_like(twist)
    free[:, :6] = problem.free
    error, islands, steps = solve_by_bodies(
        0, problem.contact_count, rows, problem.mass, free, aims, twist
    )
    assert (islands, steps) == (0, 0)
    assert error > 1e-5
    assert np.array_equal(twist, before)


def test_jenga_tower_stands_and_falls_asleep():
    world = ds.World()
    fill_jenga(world)
    missed, drift = rest(world, 1.0)
    assert missed == 0
    assert drift < 1e-4
    assert all(body.asleep for body in world.bodies)


@pytest.mark.slow
def test_tall_stack_and_pyramid_stand():
    for fill, count in ((fill_box_stack, 140), (fill_pyramid, 24)):
        world = ds.World(sleeping=False)
        fill(world, count)
        missed, drift = rest(world, 0.3)
        assert missed == 0, fill.__name__
        assert drift < 1e-4, fill.__name__


def test_wall_of_equal_stones_converges_from_the_first_step():
    world = ds.World(sleeping=False)
    fill_masonry(world, courses=20, stones=20)
    missed, drift = rest(world, 0.1, grace=0.0)
    assert missed == 0
    assert drift < 1e-6


def test_tower_beside_the_middle_does_not_creep():
    """30 stones, some millimetres beside each other: the uppermost went off by 0.1 mm in 0.4 s."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane())
    for k in range(30):
        shape = ds.Box(0.2, 0.2, 0.2) if k % 3 else ds.Cylinder(0.11, 0.2)
        place = 0.003 * np.sin(k), 0.003 * np.cos(2 * k), 0.2 * k + 0.1
        world.add_body(shape, position=place)
    missed, drift = rest(world, 0.4)
    assert missed == 0
    assert drift < 1e-5


def test_bits_do_not_depend_on_threads():
    hashes = set()
    most = numba.config.NUMBA_NUM_THREADS
    try:
        for threads in {1, most}:
            numba.set_num_threads(threads)
            world = ds.World()
            fill_jenga(world)
            world.run(0.05)
            hashes.add(world.hash())
    finally:
        numba.set_num_threads(most)
    assert len(hashes) == 1


def test_tolerance_grows_with_the_motion_of_a_large_island():
    def pile(**options):
        world = ds.World(sleeping=False, **options)
        world.add_fixed(ds.Plane())
        for k in range(150):
            place = 0.22 * (k % 5), 0.22 * (k // 5 % 5), 0.11 + 0.3 * (k // 25)
            world.add_body(ds.Box(0.2, 0.2, 0.2), position=place)
        tolerances = []
        for _ in range(80):
            world.step()
            tolerances.append(world.info.tolerance)
        return world, np.array(tolerances)

    world, tolerances = pile(relative_tolerance=0.05)
    assert tolerances.max() > 10 * world.settings.tolerance  # layers land on each other
    assert tolerances.min() == world.settings.tolerance
    exact, tolerances = pile(relative_tolerance=0.0)
    assert (tolerances == exact.settings.tolerance).all()
    heights = [w.positions[:, 2].mean() for w in (world, exact)]
    assert heights[0] == pytest.approx(heights[1], rel=5e-3)


def test_relative_tolerance_is_checked():
    with pytest.raises(ds.InputError, match="relative_tolerance"):
        ds.World(relative_tolerance=-0.1)
