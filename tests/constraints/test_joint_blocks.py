"""Joints in the contact problem: what the compiled step found is what every solver finds."""

import dataclasses

import h5py
import numpy as np
import pytest

import drystone as ds
from drystone.constraints import last_step
from drystone.constraints.joint_blocks import block_impulses
from drystone.constraints.residual import relative_error
from drystone.model.arrays import POST_STABILIZATION
from drystone.model.joint_arrays import ROW_DRIVE, ROW_LIMIT

STONE = ds.Material(density=1000, friction=0.5)
ABLE = ("auto", "nsgs", "prox-newton")


def world_of(**options):
    """Where the rows of the last step stay as they were solved, also if nothing touches."""
    world = ds.World(sleeping=False, tolerance=1e-9, **options)
    world._settings = world._settings._replace(drift=POST_STABILIZATION)
    return world


def chain(links=5, **options):
    """Hangs on one end, the other lies on the ground and slides."""
    world = world_of(**options)
    world.add_fixed(ds.Plane(), STONE)
    before, at = None, np.array([0.0, 0.0, 1.0])
    along = np.array([0.8, 0.0, -0.6]) * 0.3
    for _ in range(links):
        turn = (np.cos(0.32175), 0, np.sin(0.32175), 0)  # x leans down by atan(3/4)
        link = world.add_body(ds.Box(0.26, 0.08, 0.08), STONE, at + along / 2, turn)
        world.add_joint(ds.Ball(before, link, at))
        before, at = link, at + along
    return world


def four_bar(**options):
    """Four hinges in a loop in space hold three bodies with 20 rows of which 17 suffice."""
    world = world_of(**options)
    corners = [np.array(c) for c in ((0, 0, 0), (0, 0, 0.2), (0.4, 0, 0.4), (0.5, 0, 0))]
    bars = []
    for a, b in zip(corners[:-1], corners[1:], strict=True):
        angle = -np.arctan2(*(b - a)[[2, 0]]) / 2
        size = np.linalg.norm(b - a)
        turn = (np.cos(angle), 0, np.sin(angle), 0)
        bars.append(world.add_body(ds.Box(size, 0.03, 0.03), STONE, (a + b) / 2, turn))
    sides = [None, *bars, None]
    for k, corner in enumerate(corners):
        motor = ds.Motor(6.28) if k == 0 else None
        world.add_joint(ds.Hinge(sides[k], sides[k + 1], corner, (0, 1, 0), motor=motor))
    return world


def flap(**options):
    """Falls on its limit."""
    world = world_of(**options)
    body = world.add_body(ds.Box(0.5, 0.2, 0.05), STONE, (0.25, 0, 1))
    world.add_joint(ds.Hinge(None, body, (0, 0, 1), (0, 1, 0), limits=(-0.2, 0.1)))
    return world


def crane(**options):
    """A motor that is too weak to lift its arm, and friction."""
    world = world_of(**options)
    body = world.add_body(ds.Box(0.5, 0.2, 0.05), STONE, (0.25, 0, 1))
    motor = ds.Motor(-3.0, max_torque=2.0)
    world.add_joint(ds.Hinge(None, body, (0, 0, 1), (0, 1, 0), motor=motor, friction=0.1))
    load = world.add_body(ds.Sphere(0.1), STONE, (0.5, 0, 0.6))
    rope = ds.Distance(body, load, (0.5, 0, 1), (0.5, 0, 0.7), limits=(None, 0.3))
    world.add_joint(rope)
    return world


MACHINES = {
    "chain": (chain, 150), "four-bar": (four_bar, 40), "limit": (flap, 120), "motor": (crane, 30),
}  # fmt: skip


def solved(name):
    """A step in the middle: the problem, and the impulses of the compiled step."""
    make, steps = MACHINES[name]
    world = make()
    for _ in range(steps):
        world.step()
    problem = world.problem()
    return world, problem, last_step.last_impulse(problem, world._work, world._joint_work)


@pytest.mark.parametrize("name", MACHINES)
def test_the_machines_do_what_they_are_for(name):
    world, problem, _ = solved(name)
    rows, joints = world._joint_work.rows, problem.joints
    if name == "chain":
        assert problem.contact_count >= 2 and len(joints.body) == 5
    if name == "four-bar":
        matrix = problem.jacobian().toarray()[joints.row.ravel() >= 0]
        assert len(matrix) == 21 and np.linalg.matrix_rank(matrix, tol=1e-6) == 18
    if name == "limit":
        assert (rows.impulse[rows.kind == ROW_LIMIT] > 0.0).sum() == 1
    if name == "motor":
        driven = rows.kind == ROW_DRIVE
        assert rows.impulse[driven] == rows.lower[driven]


@pytest.mark.parametrize("name", MACHINES)
def test_the_impulses_of_the_step_solve_the_problem(name):
    _, problem, impulse = solved(name)
    assert ds.residual(problem, impulse) < 1e-9
    assert ds.residual(problem, np.zeros_like(impulse)) > 1e-2
    assert relative_error(problem, impulse) < 1e-8


@pytest.mark.parametrize("solver", ["auto", "prox-newton"])
@pytest.mark.parametrize("name", MACHINES)
def test_solvers_agree_with_the_step(name, solver):
    """Joint impulses to 1e-8 of the largest; redundant ones by what they do to the bodies."""
    _, problem, impulse = solved(name)
    found, info = ds.solve(problem, solver, tolerance=1e-11)
    assert info.converged and info.residual <= 1e-11 and info.solver == solver
    bodies, nc = len(problem.free), problem.contact_count
    wrench = [problem.joints.wrench(p[nc:], bodies) for p in (found, impulse)]
    np.testing.assert_allclose(*wrench, rtol=0, atol=1e-8 * np.abs(wrench[1]).max())
    np.testing.assert_allclose(
        problem.twist_from(found), problem.twist_from(impulse), rtol=0, atol=1e-8
    )
    if name != "four-bar":
        found, impulse = found[nc:], impulse[nc:]
        np.testing.assert_allclose(found, impulse, rtol=0, atol=1e-8 * np.abs(impulse).max())


@pytest.mark.parametrize("name", ["chain", "limit", "motor"])
def test_sweeps_come_to_the_same(name):
    _, problem, impulse = solved(name)
    found, info = ds.solve(problem, "nsgs", tolerance=1e-9)
    assert info.converged
    twists = [problem.twist_from(p) for p in (found, impulse)]
    np.testing.assert_allclose(*twists, rtol=0, atol=1e-5)


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_solvers_honour_joints_or_say_so(solver):
    _, problem, _ = solved("motor")
    if solver in ABLE:
        assert ds.solve(problem, solver)[1].converged
        return
    with pytest.raises(ds.UnsupportedFeature, match=f"{solver} does not support joints and limits"):
        ds.solve(problem, solver)
    with pytest.raises(ds.UnsupportedFeature, match=f"{solver} does not support joints"):
        chain(solver=solver)


@pytest.mark.parametrize("measure", ["velocity", "relative"])
@pytest.mark.parametrize("solver", ABLE)
def test_both_measures_and_the_history_cover_joints(solver, measure):
    _, problem, _ = solved("chain")
    options = dict(tolerance=1e-7, measure=measure, history=True)
    impulse, info = ds.solve(problem, solver, **options)
    assert info.converged
    error = info.residual if measure == "velocity" else relative_error(problem, impulse)
    assert error <= 1e-7
    assert len(info.history.residual) > 1
    assert info.history.residual[0] == pytest.approx(
        ds.residual(problem, np.zeros_like(impulse)), rel=1e-12
    )


def test_the_operators_fit_each_other():
    """W, blocks and q against J, M and the free velocities, with every softness."""
    world, problem, impulse = solved("chain")
    rng = np.random.default_rng(4)
    p = rng.normal(size=impulse.shape)
    matrix, nc = problem.W().toarray(), problem.contact_count
    np.testing.assert_allclose((matrix @ p.ravel()).reshape(-1, 3), problem.apply_W(p), atol=1e-12)
    for c, block in enumerate(problem.blocks()):
        own = matrix[3 * c : 3 * c + 3, 3 * c : 3 * c + 3]
        np.testing.assert_allclose(own[np.triu_indices(3)], block, rtol=1e-12, atol=1e-12)
    jacobian = problem.jacobian()
    twist = rng.normal(size=problem.free.shape)
    np.testing.assert_allclose(
        (jacobian @ twist.ravel()).reshape(-1, 3), problem.relative(twist), atol=1e-12
    )
    plain = problem.relative(problem.free)
    plain[:nc, 0] += problem.bias
    plain[nc:] += problem.joints.bias
    np.testing.assert_array_equal(plain, problem.q())
    assert len(set(problem.islands())) == world.info.islands
    assert np.allclose(problem.free + problem.twist_from(impulse), world._work.motion.twist[:, :6])


def test_the_energy_is_that_of_the_bodies():
    """What the impulses add to the kinetic energy, also by soft rows and drives."""
    world = world_of()
    body = world.add_body(ds.Box(0.5, 0.2, 0.05), STONE, (0.25, 0, 1), spin=(1, 2, 3))
    servo = ds.Servo(0.4, 30.0, 2.0)
    world.add_joint(ds.Hinge(None, body, (0, 0, 1), (0, 1, 0), motor=servo))
    for _ in range(20):
        world.step()
    problem = world.problem()
    impulse, info = ds.solve(problem, "prox-newton", tolerance=1e-11)
    v, change = problem.free, problem.twist_from(impulse)
    wrench = problem.joints.wrench(impulse, len(v))
    assert info.energy_change == pytest.approx((wrench * (v + change / 2)).sum(), rel=1e-9)
    assert np.abs(problem.joints.softness).max() > 1e-3


def test_problems_are_kept_in_files(tmp_path):
    _, problem, impulse = solved("chain")
    problem.save(tmp_path / "chain.h5")
    again = ds.ContactProblem.load(tmp_path / "chain.h5")
    for field in dataclasses.fields(problem):
        old, new = getattr(problem, field.name), getattr(again, field.name)
        if field.name == "joints":
            assert all(np.array_equal(a, b) for a, b in zip(old, new, strict=True))
        elif old is not None:
            np.testing.assert_array_equal(old, new)
    assert ds.residual(again, impulse) == ds.residual(problem, impulse)


@pytest.mark.parametrize("name, change", [
    ("body", lambda x: x + 1000), ("body", lambda x: x - 1000), ("body", lambda x: x * 1.5),
    ("linear", lambda x: x[:-1]), ("linear", lambda x: x * np.nan),
    ("angular", lambda x: x[..., :3]), ("bias", lambda x: x + np.inf),
    ("softness", lambda x: x - 1.0), ("lower", lambda x: x * np.nan),
    ("lower", lambda x: np.full_like(x, 1e9)), ("row", lambda x: x - 9), ("upper", lambda x: x[0]),
    ("bias", None), ("lower", lambda x: np.float64(3)),
])  # fmt: skip
def test_hostile_problem_files_get_a_sentence(tmp_path, name, change):
    _, problem, _ = solved("motor")
    path = tmp_path / "hostile.h5"
    problem.save(path)
    with h5py.File(path, "r+") as file:
        array = file[f"joints/{name}"][()]
        del file[f"joints/{name}"]
        if change is not None:
            file[f"joints/{name}"] = change(array)
    with pytest.raises(ds.InputError, match="hostile.h5.*joints"):
        ds.ContactProblem.load(path)


def test_files_with_joints_are_of_another_version(tmp_path):
    _, problem, _ = solved("motor")
    path = tmp_path / "old.h5"
    problem.save(path)
    with h5py.File(path, "r+") as file:
        file.attrs["version"] = 1
    with pytest.raises(ds.InputError, match="written as version 1"):
        ds.ContactProblem.load(path)


def test_a_world_runs_under_prox_newton():
    """Step by step from Python it goes the same way as the compiled step."""
    fast, slow = chain(), chain(solver="prox-newton")
    for _ in range(60):
        fast.step()
        info = slow.step()
        assert info.converged and info.solver == "prox-newton"
    np.testing.assert_allclose(slow.positions, fast.positions, rtol=0, atol=1e-7)
    for one, two in zip(fast.joints, slow.joints, strict=True):
        np.testing.assert_allclose(two.force, one.force, rtol=0, atol=1e-4)
        assert two.separation < 1e-7


def test_sleeping_joints_are_no_part_of_the_problem():
    world = chain()
    assert world.info is None
    world.step()
    problem = world.problem()
    rows = world._joint_work.rows
    assert block_impulses(problem.joints, rows).shape == (5, 3)
    assert block_impulses(None, rows).shape == (0, 3)
    free = ds.World()
    free.add_body(ds.Box(1, 1, 1), STONE)
    free.step()
    assert free.problem().joints is None


def test_large_islands_go_to_sparse_factors(monkeypatch):
    """If the factors do not fit, the part of the problem is handed on, joints and all."""
    _, problem, impulse = solved("chain")
    monkeypatch.setattr("drystone.solvers.newton.hybrid.CAPACITY", 10)
    found, info = ds.solve(problem, "auto", tolerance=1e-11)
    assert info.converged and "sparse newton" in info.method
    found, impulse = found[problem.contact_count :], impulse[problem.contact_count :]
    np.testing.assert_allclose(found, impulse, rtol=0, atol=1e-8 * np.abs(impulse).max())
