"""stepper="verlet": half steps around one collision check at the middle."""

import os

import numpy as np
import pytest

import drystone as ds
from drystone.bench import tunnelling
from drystone.solvers.ffd.solver import Ffd
from two_threads import printed_by

G = 9.81
solvers = pytest.mark.parametrize("solver", ["ffd", "auto", "prox"])


def test_free_flight_is_exact():
    """Centre of mass on its parabola, angular momentum and energy of the spin kept, to rounding."""
    world = ds.World(stepper="verlet", solver="ffd", dt=0.01, sleeping=False)
    box = world.add_body(ds.Box(1, 2, 3), velocity=(1, 0, 5), spin=(1, 2, 3))
    energy, angular = world.energy().total, world.momentum().angular
    world.run(2.0)
    np.testing.assert_allclose(box.position, (2, 0, 10 - 2 * G), atol=1e-10)
    assert world.energy().total == pytest.approx(energy, rel=1e-12)
    spun = world.momentum(about=box.position).angular
    np.testing.assert_allclose(spun, angular, rtol=1e-10)
    assert world.step_count == 200


def test_spring_swings_with_second_order():
    """Position after 1.5 periods: a fourth of the error for half of the step."""
    errors = []
    for dt in (0.02, 0.01):
        world = ds.World(stepper="verlet", dt=dt, gravity=(0, 0, 0), sleeping=False)
        ball = world.add_body(ds.Sphere(0.1), position=(1, 0, 0), mass=1.0)
        world.add_force(ds.Spring(None, ball, 25.0, point_a=(0, 0, 0), length=0.0))
        energy = world.energy().total
        world.run(1.8)
        errors.append(abs(ball.position[0] - np.cos(5 * world.time)))
        assert world.energy().total == pytest.approx(energy, rel=5 * dt)
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)


@solvers
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_ball_bounces_back_by_its_restitution(solver, e):
    """Speed after the first touch is e times the one before, less what gravity adds in a step.

    Without restitution a contact may first close, within the step after that.
    """
    rubber = ds.Material(restitution=e, friction=0.3)
    world = ds.World(stepper="verlet", solver=solver, dt=1e-3, sleeping=False)
    world.add_fixed(ds.Plane(), rubber)
    ball = world.add_body(ds.Sphere(0.1), rubber, position=(0, 0, 0.6))
    before = 0.0
    while ball.velocity[2] <= before and world.time < 0.5:
        before = ball.velocity[2]
        world.step()
    if e == 0.0:
        world.step()
    assert -before == pytest.approx(np.sqrt(2 * G * 0.5), abs=2 * G * world.dt)
    assert ball.velocity[2] == pytest.approx(-e * before, abs=G * world.dt)


@pytest.mark.slow
@solvers
def test_energy_of_an_elastic_ball_does_not_grow(solver):
    """Five bounces with e = 1; each loses or gains what half a step of fall is worth at most."""
    rubber = ds.Material(restitution=1.0, friction=0.0)
    world = ds.World(stepper="verlet", solver=solver, dt=2e-3, sleeping=False)
    world.add_fixed(ds.Plane(), rubber)
    world.add_body(ds.Sphere(0.1), rubber, position=(0, 0, 0.3))
    start = world.energy().total
    world.run(2.0)
    assert 0.9 * start < world.energy().total < 1.02 * start


@solvers
def test_elastic_balls_change_their_velocities(solver):
    """Head-on, e = 1: (3, 0) becomes (0, 3) for equal masses; and 1 against 3 kg."""
    rubber = ds.Material(restitution=1.0, friction=0.0)
    for mass in (1.0, 3.0):
        world = ds.World(stepper="verlet", solver=solver, gravity=(0, 0, 0), sleeping=False)
        a = world.add_body(ds.Sphere(0.5), rubber, velocity=(3, 0, 0), mass=1.0)
        b = world.add_body(ds.Sphere(0.5), rubber, position=(1.2, 0, 0), mass=mass)
        world.run(0.2)
        assert a.velocity[0] == pytest.approx(3 * (1 - mass) / (1 + mass), abs=1e-4)
        assert b.velocity[0] == pytest.approx(6 / (1 + mass), abs=1e-4)
        assert world.info.momentum_error < 1e-9


@pytest.mark.parametrize("projection", ["exact", "surrogate"])
@pytest.mark.parametrize("passes", [1, 10])
def test_momentum_error_is_that_of_the_bounce_too(projection, passes):
    """A spinning ball against a box, one contact: what momentum changes by is momentum_error times
    its impulse; with passes enough it hardly changes."""
    rubber = ds.Material(restitution=1.0, friction=0.3)
    solver = Ffd(projection=projection, max_iterations=passes)
    world = ds.World(stepper="verlet", solver=solver, gravity=(0, 0, 0), sleeping=False)
    world.add_body(
        ds.Sphere(0.1), rubber, position=(-0.5, 0, 0.05), velocity=(5, 0, 0), spin=(0, 0, 20)
    )
    box = world.add_body(ds.Box(0.3, 0.2, 0.2), rubber, position=(0.5, 0, 0))
    start = world.momentum().linear
    while not box.velocity.any() and world.time < 0.5:
        info = world.step()
    change = np.linalg.norm(world.momentum().linear - start)
    impulse = np.linalg.norm(world.contacts().impulse)
    assert impulse > 0.5 * np.linalg.norm(start)
    assert change == pytest.approx(info.momentum_error * impulse, rel=1e-6)
    assert change > 0.01 * impulse if passes == 1 else change < 1e-6 * impulse


@pytest.mark.parametrize("ccd", [True, False])
def test_no_bullet_passes_a_wall_in_either_half_step(ccd):
    """A wall of 1 mm, bullets that move 0.2 m in half a step: without ccd some get through."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False, stepper="verlet", ccd=ccd)
    for k in range(100):
        world.add_fixed(ds.Box(0.001, 2, 2), position=(0, 3 * k, 0))
        start = (-0.05 - 0.01 * k, 3 * k, 0)
        world.add_body(ds.Sphere(0.01), position=start, velocity=(100, 0, 0))
    energy, stopped = world.energy().total, 0
    for _ in range(5):
        stopped += world.step().stopped
        assert world.energy().total <= energy
    through = int((world.positions[:, 0] > 0).sum())
    assert (through == 0 and stopped > 5) if ccd else (through > 5 and stopped == 0)


@pytest.mark.parametrize(
    "kind", [kind for kind in tunnelling.KINDS if kind != "rod"]
)  # it has joints
def test_no_shot_misses(kind, monkeypatch):
    world = dict(gravity=(0, 0, 0), sleeping=False, stepper="verlet")
    monkeypatch.setattr(tunnelling, "_empty_world", lambda: ds.World(**world))
    assert tunnelling.missed(kind, 40, np.random.default_rng(6)) == 0


def test_no_disc_passes_a_line_in_two_dimensions():
    world = ds.World(dim=2, gravity=(0, 0), sleeping=False, stepper="verlet")
    for k in range(60):
        world.add_fixed(ds.Segment((3 * k, -1), (3 * k, 1)))
        world.add_body(ds.Disc(0.01), position=(3 * k - 0.05 - 0.01 * k, 0), velocity=(100, 0))
    world.run(5 * world.dt)
    assert (world.positions[:, 0] < 3 * np.arange(60)).all()


@pytest.mark.slow
@solvers
def test_ball_between_thin_plates_gains_no_energy(solver):
    """Elastic, at 20 m/s, 40 bounces: it is stopped at both plates, which takes away the fall that
    it has not done. A bounce may be off by half a step of fall, 0.2 % of the energy here."""
    rubber = ds.Material(restitution=1.0, friction=0.0)
    world = ds.World(stepper="verlet", solver=solver, sleeping=False)
    for z in (-0.02, 1.02):
        world.add_fixed(ds.Box(3, 3, 0.001), rubber, position=(0, 0, z))
    ball = world.add_body(ds.Sphere(0.01), rubber, position=(0, 0, 0.5), velocity=(0, 0, 20))
    energy, stopped = world.energy().total, 0
    for _ in range(480):
        stopped += world.step().stopped
        assert world.energy().total < 1.004 * energy and -0.02 < ball.position[2] < 1.02
    assert world.energy().total > 0.9 * energy and stopped > 20


SCRIPT = """
import numba
import numpy as np

import drystone as ds
from drystone.scenes.meshes.revolutions import torus

for threads in (1, 2):
    numba.set_num_threads(threads)
    world = ds.World(stepper="verlet")
    rng, stopped = np.random.default_rng(1), 0
    world.add_fixed(ds.Box(40, 40, 0.001))
    for k in range(80):
        shape = ds.Mesh(*torus(0.1, 0.03, 16, 8)) if k % 2 else ds.Box(0.1, 0.2, 0.3)
        world.add_body(shape, position=(0.4 * (k % 9), 0.4 * (k // 9), 1.5),
                       velocity=(0, 0, -100), spin=30 * rng.normal(size=3))
    for _ in range(20):
        stopped += world.step().stopped
    assert stopped > 40 and (world.positions[:, 2] > 0).all()
    print(world.hash())
"""


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="takes long uncompiled")
def test_bits_do_not_depend_on_threads_where_bodies_are_stopped():
    one, two = printed_by(SCRIPT).split()
    assert one == two


@solvers
def test_block_on_a_slope_sticks_or_slides(solver):
    """Below the friction angle it stays; above, a = g (sin - mu cos), within 0.1 %."""
    for mu, angle in ((0.5, 0.9 * np.arctan(0.5)), (0.4, 1.3 * np.arctan(0.4))):
        stone = ds.Material(friction=mu)
        gravity = (G * np.sin(angle), 0, -G * np.cos(angle))
        world = ds.World(stepper="verlet", solver=solver, gravity=gravity, sleeping=False)
        world.add_fixed(ds.Plane(), stone)
        box = world.add_body(ds.Box(1, 1, 0.4), stone, position=(0, 0, 0.2))
        world.run(0.5)
        expected = G * max(0.0, np.sin(angle) - mu * np.cos(angle)) * 0.5
        assert box.velocity[0] == pytest.approx(expected, rel=1e-3, abs=1e-5)
        assert abs(box.position[2] - 0.2) < 1e-5


@solvers
def test_boxes_stand(solver):
    world = ds.World(stepper="verlet", solver=solver, sleeping=False)
    world.add_fixed(ds.Plane())
    for k in range(3):
        world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5 + k))
    world.run(1.0)
    expected = [(0, 0, 0.5 + k) for k in range(3)]
    np.testing.assert_allclose(world.positions, expected, atol=3e-4)
    assert np.abs(world.velocities).max() < 1e-4


def test_as_published_it_runs():
    """One pass of surrogates from zero, friction limited by velocities: a box lands and stays."""
    world = ds.World(stepper="verlet", solver=Ffd.published(), sleeping=False)
    world.add_fixed(ds.Plane())
    box = world.add_body(ds.Box(0.5, 0.5, 0.5), position=(0, 0, 0.6), spin=(0.5, 0.3, 0.1))
    world.run(2.0)
    assert box.position[2] == pytest.approx(0.25, abs=2e-3)
    assert np.abs(box.velocity).max() < 0.05


def test_bodies_fall_asleep_after_the_same_time():
    times = []
    for stepper in ("time-stepping", "verlet"):
        world = ds.World(stepper=stepper, solver="ffd")
        world.add_fixed(ds.Plane())
        body = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5))
        while not body.asleep and world.time < 2.0:
            world.step()
        times.append(world.time)
    assert times[0] == pytest.approx(times[1], abs=2 / 240) and times[0] < 1.0


def test_saved_world_goes_on_bit_for_bit(tmp_path):
    world = ds.World(stepper="verlet", solver="ffd")
    world.add_fixed(ds.Plane())
    for k in range(3):
        turn = np.array([1.0, 0.2 * k, 0.1, 0])
        world.add_body(
            ds.Box(1, 1, 1), position=(0.1 * k, 0, 0.9 + 1.6 * k),
            orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip
    world.run(0.6)
    world.save(tmp_path / "w.h5")
    again = ds.World.load(tmp_path / "w.h5")
    assert again.stepper == "verlet" and again.solver == world.solver
    world.run(0.4)
    again.run(0.4)
    assert again.hash() == world.hash()


def test_a_number_that_is_not_finite_leaves_the_last_good_step(tmp_path):
    world = ds.World(stepper="verlet", checkpoint_folder=tmp_path)
    ball = world.add_body(ds.Sphere(0.1), position=(0, 0, 5), velocity=(1, 0, 0), name="ball")
    world.run(0.1)
    place = ball.position
    ball.force = (np.finfo(float).max, 0, 0)
    ball.torque = (np.finfo(float).max, 0, 0)
    with pytest.raises(ds.DrystoneError, match="ball"):
        world.run(0.1)
    np.testing.assert_array_equal(ball.position, place)


def test_joints_are_refused():
    world = ds.World(stepper="verlet")
    body = world.add_body(ds.Box(1, 1, 1))
    world.add_joint(ds.Ball(None, body, (0, 0, 1)))
    with pytest.raises(ds.UnsupportedFeature, match="'verlet' does not support joints"):
        world.step()
