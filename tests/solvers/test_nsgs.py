"""Gauss-Seidel against its dense twin, its limits, and the colours of its slabs."""

import numpy as np
import pytest

import drystone as ds
import naive
from drystone.constraints.residual import residual
from drystone.scenes import find_scene
from drystone.solvers.gauss_seidel.solve_islands import solve_rows
from drystone.solvers.gauss_seidel.sweep import MANY_SWEEPS, MANY_VISITS, sweep_limit, sweeps_alone
from drystone.solvers.nsgs import Nsgs, rows_of
from hand_built import box_stack

STONE = ds.Material(friction=0.5)


def pushed_boxes(count, velocity):
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), STONE)
    for k in range(count):
        push = np.array(velocity) * (k + 1)
        world.add_body(ds.Box(1, 0.8, 0.5), STONE, position=(0, 0, 0.25 + 0.5 * k), velocity=push)
    world.step()
    return world.problem()


@pytest.fixture(scope="module")
def pyramid():
    world = find_scene("pyramid").build(rows=14, sleeping=False)
    world.run(5 * world.dt)
    return world.problem()


@pytest.mark.parametrize(("count", "velocity"), [(1, (2, 1, 0)), (1, (1e-3, 0, 0)), (2, (1, 0, 0))])
def test_velocities_equal_those_of_the_dense_twin(count, velocity):
    """Impulses of four corners are not unique, the velocities of the bodies are: 1e-6 m/s."""
    problem = pushed_boxes(count, velocity)
    impulse, info = ds.solve(problem, Nsgs(tolerance=1e-9, max_sweeps=20_000))
    assert info.converged
    slow = naive.gauss_seidel(problem, 60)
    assert naive.residual(problem, slow) < 1e-6
    np.testing.assert_allclose(problem.twist_from(impulse), problem.twist_from(slow), atol=2e-6)


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_reported_residual_is_that_of_the_judge(pyramid, solver):
    problem = box_stack(np.ones(5)) if solver == "lemke" else pyramid  # its pivots are dense
    impulse, info = ds.solve(problem, solver)
    kind = ds.SOLVERS[solver]()
    assert info.residual == residual(problem, impulse, kind.law, getattr(kind, "facets", 0))
    if kind.law == "coulomb":
        assert info.residual == pytest.approx(naive.residual(problem, impulse), rel=1e-6, abs=1e-12)
    assert info.contacts == problem.contact_count and info.solver == solver


@pytest.mark.parametrize("solver", [k for k, v in ds.SOLVERS.items() if v().law == "coulomb"])
def test_impulses_lie_in_their_cones(pyramid, solver):
    """0 <= p_n and |p_t| <= mu p_n hold at all times, converged or not; to rounding."""
    impulse, _ = ds.solve(pyramid, solver)
    size = np.abs(impulse).max()
    assert impulse[:, 0].min() >= 0.0
    excess = np.hypot(impulse[:, 1], impulse[:, 2]) - pyramid.friction * impulse[:, 0]
    assert excess.max() <= 1e-12 * size


def test_too_few_sweeps_are_admitted(pyramid):
    _, info = ds.solve(pyramid, Nsgs(max_sweeps=1))
    assert info.iterations == 1
    assert not info.converged and info.residual > Nsgs().tolerance


def test_more_sweeps_get_closer(pyramid):
    errors = [ds.solve(pyramid, Nsgs(max_sweeps=n))[1].residual for n in (1, 10, 100)]
    assert errors[0] > errors[1] > errors[2]


def test_a_solution_is_kept(pyramid):
    """Started from its own answer, one sweep is enough and changes nothing above the tolerance."""
    solver = Nsgs(tolerance=1e-6, max_sweeps=20_000)
    impulse, info = ds.solve(pyramid, solver)
    assert info.converged
    again, info = ds.solve(pyramid, solver, guess=impulse)
    assert info.converged and info.iterations <= 5
    change = pyramid.twist_from(again - impulse)
    assert np.abs(change).max() < 1e-5


def test_mixed_sweeps_end_sooner_at_the_same_solution(pyramid):
    """A large island, `hasty`: velocities still are those of the impulses."""
    p, sweeps, moves = pyramid, [], []
    for hasty in (False, True):
        rows, groups, twist = rows_of(p, np.zeros((p.contact_count, 3)))
        done, error = solve_rows(
            rows, groups, p.contact_count, False, p.mass, 1e-4, 0.0, sweeps_alone(20_000), hasty,
            twist,
        )  # fmt: skip
        assert error <= 1e-4 and residual(p, rows.impulse) <= 1.01e-4
        _, _, twist_again = rows_of(p, rows.impulse)
        assert twist[:, :6] == pytest.approx(twist_again[:, :6], abs=1e-11)
        sweeps.append(done)
        moves.append(twist[:, :6])
    assert sweeps[1] < 0.6 * sweeps[0]
    assert moves[1] == pytest.approx(moves[0], abs=1e-3)


def test_sweep_limit():
    """As told; else at least MANY_SWEEPS, and for few contacts as many as MANY_VISITS allow."""
    assert sweep_limit(7, 10) == 7
    assert sweep_limit(0, 8) == MANY_VISITS // 8
    assert sweep_limit(0, MANY_VISITS) == MANY_SWEEPS
    assert sweep_limit(0, 0) == MANY_VISITS


def test_no_body_is_in_two_slabs_of_one_colour(pyramid):
    """Slabs of the same colour are swept at once: a body that moves may be in one of them only."""
    p = pyramid
    moving = p.mass[:, 0] > 0
    slabs = len(p.slab_first) - 1
    assert slabs >= 4
    assert p.slab_first[0] == 0 and p.slab_first[-1] == p.contact_count
    for colour in range(2):
        seen = set()
        for i in range(colour, slabs, 2):
            rows = p.body[p.slab_first[i] : p.slab_first[i + 1]]
            here = {int(b) for b in np.unique(rows) if moving[b]}
            assert not seen & here
            seen |= here


def test_no_contacts_are_no_problem():
    world = ds.World()
    world.add_body(ds.Sphere(1.0))
    world.step()
    impulse, info = ds.solve(world.problem())
    assert impulse.shape == (0, 3) and info.converged and info.residual == 0.0


@pytest.mark.parametrize("solver", ["nsgs", "auto"])
def test_a_history_does_not_change_the_solve(pyramid, solver):
    """Groups stop by themselves and sweep deeper than the tolerance, with a history or without."""
    for problem in (pyramid, box_stack([1.0, 30.0, 1.0])):
        plain, info = ds.solve(problem, solver)
        impulse, observed = ds.solve(problem, solver, history=True)
        assert impulse.tobytes() == plain.tobytes()
        unlike = {"history": None, "seconds": 0.0}
        assert observed._replace(**unlike) == info._replace(**unlike)
        course = observed.history
        assert course.iteration[0] == 0 and course.iteration[-1] == info.iterations
        assert course.residual[0] == residual(problem, np.zeros_like(plain))
        assert course.residual[-1] == info.residual
        assert len(course.iteration) > 3
