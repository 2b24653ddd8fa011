"""Large islands in motion: sweeps with momentum, and Newton on the bodies that are left wrong."""

import numpy as np

import drystone as ds
from drystone.scenes.stacks import fill_pyramid
from drystone.scenes.walls import fill_wall
from drystone.solvers.newton.by_bodies import solve_worst
from drystone.solvers.nsgs import rows_of


def test_a_wall_that_is_struck_converges():
    """200 stones, a steel ball of 10 m/s: the steps while it falls apart."""
    world = ds.World(sleeping=False)
    fill_wall(world, strike_time=0.1)
    missed, overlaps, worst = 0, 0, 0.0
    for _ in range(150):
        world.step()
        missed += world.info.residual > world.info.tolerance
        overlaps += world.info.overlaps
        worst = max(worst, world.info.residual)
    assert missed <= 10
    assert overlaps <= 1
    assert worst < 0.1


class _Aside:
    """A world to which a scene adds its bodies `away` along y; no second ground."""

    def __init__(self, world, number, away):
        self.world, self.number, self.away = world, number, away
        self.gravity, self.dt = world.gravity, world.dt

    def add_fixed(self, *args, **kwargs):
        if self.number == 0:
            self.world.add_fixed(*args, **kwargs)

    def add_body(self, *args, position, name, **kwargs):
        place = np.array(position) + [0.0, self.number * self.away, 0.0]
        self.world.add_body(*args, position=place, name=f"{name} of {self.number}", **kwargs)


def test_one_wall_may_do_as_much_as_if_there_were_no_others():
    """Three at once; 34 steps missed when they shared one limit of visits."""
    world = ds.World(sleeping=False)
    for k in range(3):
        fill_wall(_Aside(world, k, 64.0), strike_time=0.1)
    missed = 0
    for _ in range(120):
        world.step()
        missed += world.info.residual > world.info.tolerance
    assert missed <= 10


def test_momentum_does_not_diverge_on_a_wide_pyramid():
    """Boxes at rest, 6400 contacts: with momentum alone velocities were off by 16 m/s."""
    world = ds.World(sleeping=False)
    fill_pyramid(world, 40)
    start, missed = world.positions.copy(), 0
    for _ in range(40):
        world.step()
        missed += not world.info.converged
    assert missed <= 3
    assert np.abs(world.positions - start).max() < 1e-4


def test_only_the_contacts_of_bodies_that_are_wrong_are_changed():
    world = ds.World(sleeping=False)
    fill_pyramid(world, 10)
    world.run(0.5)
    problem = world.problem()
    count = problem.contact_count
    good, _ = ds.solve(problem, tolerance=1e-9)
    wrong, impulse = 7, good.copy()
    impulse[wrong, 0] += 1.0
    rows, _, twist = rows_of(problem, impulse)
    before = rows.impulse[:count].copy()
    error, islands, steps = solve_worst(
        0, count, 1e-3, rows, problem.mass, (1e-8, 1e-8, 1e8), twist
    )
    changed = np.flatnonzero((rows.impulse[:count] != before).any(axis=1))
    assert error <= 1e-6 and islands == 1 and steps > 0
    assert len(changed) < count / 2
    wanted = problem.free + problem.twist_from(rows.impulse[:count].copy())
    assert np.allclose(twist[:, :6], wanted, atol=1e-9)
