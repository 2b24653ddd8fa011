"""Worlds: what is added, removed, run and refused, and every sentence for wrong input."""

import re

import numpy as np
import pytest

import drystone as ds
from box_worlds import STONE, box_world

G = 9.81


# Adding and removing


def test_bodies_can_be_added_and_removed_while_the_world_runs():
    world = box_world(sleeping=False)
    world.run(0.2)
    bits = world.state.position[0].tobytes(), world.state.twist[0].tobytes()
    kept = world.state.cached_impulse.copy()
    ball = world.add_body(ds.Sphere(0.2), STONE, position=(3, 0, 2))
    assert (world.state.position[0].tobytes(), world.state.twist[0].tobytes()) == bits
    np.testing.assert_array_equal(world.state.cached_impulse[: len(kept)], kept[:4])
    world.run(1.0)
    assert ball.position[2] == pytest.approx(0.2, abs=1e-4)
    world.remove(ball)
    assert len(world) == 1 and len(world.positions) == 1
    world.run(0.1)
    assert world.step_count == round(1.3 * 240)


def test_warm_starts_of_other_pairs_survive_an_edit():
    """With its warm start a resting box needs no more sweeps than without the edit."""
    plain, edited = box_world(sleeping=False), box_world(sleeping=False)
    for world in (plain, edited):
        world.run(0.5)
    first = edited.add_body(ds.Sphere(0.1), STONE, position=(5, 0, 5))
    edited.add_body(ds.Sphere(0.1), STONE, position=(6, 0, 5))
    edited.step()
    plain.step()
    edited.remove(first)
    edited.step()
    plain.step()
    assert edited["crate"].position.tobytes() == plain["crate"].position.tobytes()
    assert edited["crate"].velocity.tobytes() == plain["crate"].velocity.tobytes()


def test_removing_the_support_wakes_what_stood_on_it():
    world = box_world()
    upper = world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 1.5))
    world.run(2.0)
    assert upper.asleep
    world.remove(world["crate"])
    assert not upper.asleep
    world.run(1.0)
    assert upper.position[2] == pytest.approx(0.5, abs=1e-3)


def test_removing_the_ground_wakes_what_stood_on_it():
    world = box_world()
    world.run(1.0)
    world.remove(world["ground"])
    world.run(0.5)
    assert world["crate"].position[2] == pytest.approx(0.5 - G * 0.125, rel=0.02)


def test_a_removed_body_says_so():
    world = box_world()
    crate = world["crate"]
    world.remove(crate)
    for use in (
        lambda: crate.position,
        lambda: crate.velocity,
        lambda: crate.kinetic_energy,
        lambda: setattr(crate, "mass", 2.0),
        lambda: world.remove(crate),
    ):
        with pytest.raises(ds.InputError, match="crate.*removed"):
            use()
    assert "removed" in repr(crate)


def test_excluded_bodies_pass_through_each_other():
    world = ds.World(gravity=(0, 0, 0))
    a = world.add_body(ds.Sphere(0.5), STONE, velocity=(2, 0, 0))
    b = world.add_body(ds.Sphere(0.5), STONE, position=(2, 0, 0))
    world.exclude(a, b)
    world.run(1.5)
    np.testing.assert_allclose(a.velocity, (2, 0, 0))
    np.testing.assert_allclose(b.velocity, (0, 0, 0))


def test_masks_decide_what_touches():
    world = ds.World()
    world.add_fixed(ds.Plane(), STONE, group=2)
    through = world.add_body(ds.Sphere(0.5), STONE, position=(0, 0, 1), mask=1)
    lands = world.add_body(ds.Sphere(0.5), STONE, position=(3, 0, 1), mask=2)
    world.run(1.0)
    assert through.position[2] < -1.0
    assert lands.position[2] == pytest.approx(0.5, abs=1e-3)


def test_set_pair_overrides_the_rule():
    """A box on a slope of 20°: slides at mu = 0.1, stays at mu = 1."""
    ice, wood = ds.Material(900, 0.5, name="ice"), ds.Material(700, 0.5, name="wood")
    tilt = np.radians(20)
    speed = {}
    for mu in (0.1, 1.0):
        world = ds.World(gravity=(G * np.sin(tilt), 0, -G * np.cos(tilt)), sleeping=False)
        world.add_fixed(ds.Plane(), ice)
        box = world.add_body(ds.Box(1, 1, 0.5), wood, position=(0, 0, 0.25))
        world.set_pair(wood, ice, friction=mu)
        world.run(0.5)
        speed[mu] = box.velocity[0]
    expected = G * (np.sin(tilt) - 0.1 * np.cos(tilt)) * 0.5
    assert speed[0.1] == pytest.approx(expected, rel=1e-3)
    assert abs(speed[1.0]) < 1e-4


def test_kinematic_bodies_move_as_told_and_push():
    world = ds.World(gravity=(0, 0, 0))
    plate = world.add_body(ds.Box(1, 1, 1), STONE, velocity=(1, 0, 0), kinematic=True)
    ball = world.add_body(ds.Sphere(0.2), STONE, position=(1, 0, 0))
    world.run(1.0)
    np.testing.assert_allclose(plate.position, (1, 0, 0), atol=1e-12)
    assert ball.velocity[0] == pytest.approx(1.0, abs=1e-4)
    assert plate.kinetic_energy == 0.0


# Time


def test_time_is_counted_in_steps():
    world = box_world(dt=0.1)
    for _ in range(3):
        world.step()
    assert world.step_count == 3 and world.time == 3 * 0.1
    world.run(0.7)
    assert world.step_count == 10 and world.time == 10 * 0.1
    world.run(0.0)
    assert world.step_count == 10


def test_run_equals_steps_bit_for_bit():
    one, many = box_world(), box_world()
    one["crate"].velocity = many["crate"].velocity = (1, 0.5, 0)
    one.run(0.5)
    for _ in range(120):
        many.step()
    assert one.hash() == many.hash() != box_world().hash()


def test_callback_sees_every_step_and_can_stop():
    world = box_world()
    seen = []
    world.run(1.0, callback=lambda w: seen.append(w.step_count) or w.step_count == 7)
    assert seen == [1, 2, 3, 4, 5, 6, 7]


def test_progress_goes_to_stderr(capsys):
    world = box_world()
    world.run(0.1, progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "steps" in err and "contacts" in err


# Map coordinates


@pytest.mark.parametrize("shape", [ds.Plane(), ds.Plane(normal=(0.1, 0, 1))])
def test_map_coordinates_cost_no_digits(shape):
    """DEMAND B44: the same scene far away, equal to 1e-9 m."""
    there = np.array([2_793_293.0, 1_180_191.0, 1500.0])
    paths = []
    for place in (np.zeros(3), there):
        world = ds.World(sleeping=False)
        world.add_fixed(shape, STONE, position=place)
        box = world.add_body(ds.Box(1, 0.8, 0.6), STONE, position=place + (0, 0, 1.0))
        world.add_body(ds.Sphere(0.3), STONE, position=place + (0.2, 0.1, 2.0))
        world.run(0.5)
        paths.append((world.positions - place, world.velocities))
        assert np.abs(world.state.position).max() < 100
        assert np.abs(world.contacts().point - place).max() < 100
        assert box.position[2] > place[2]
    # Absolute positions are rounded to 5e-10 m there; velocities are not.
    np.testing.assert_allclose(paths[0][0], paths[1][0], atol=1e-9)
    np.testing.assert_allclose(paths[0][1], paths[1][1], atol=1e-9)


# The package


@pytest.mark.parametrize("name", ds.__all__)
def test_every_public_name_is_there(name):
    assert getattr(ds, name) is not None and name in dir(ds)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Wrold'"):
        ds.Wrold  # noqa: B018  the access is the test


def test_the_problem_of_a_step_can_be_solved_again():
    """DEMAND B18: what the step reports is what anybody finds who looks again."""
    world = box_world(sleeping=False)
    world.add_body(ds.Box(1, 1, 1), STONE, position=(0.2, 0, 1.5))
    info = world.step()
    problem = world.problem()
    impulse, again = ds.solve(problem, solver="nsgs", tolerance=1e-10)
    assert again.converged and again.residual <= 1e-10
    assert ds.residual(problem, impulse) == pytest.approx(again.residual, abs=1e-12)
    assert problem.contact_count == info.contacts == len(world.contacts())
    rows = world._work.contact_list.row_contact[: info.contacts]
    assert ds.residual(problem, world.contacts().impulse_axes[rows]) == pytest.approx(
        info.residual, abs=1e-12
    )
    for call, sentence in [
        (lambda: ds.solve(world), "is no ContactProblem"),
        (lambda: ds.solve(problem, "nsg"), "Did you mean 'nsgs'"),
        (lambda: ds.solve(problem, guess=np.zeros(3)), "guess must hold 8 x 3"),
    ]:
        with pytest.raises(ds.InputError, match=sentence):
            call()


# Wrong input


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: ds.World(solver="ngss"), "solver is 'ngss'.*Did you mean 'nsgs'"),
        (lambda: ds.World(solver=3), "solver is 3, must be a name"),
        (lambda: ds.World(stepper="time-steping"), "Did you mean 'time-stepping'"),
        (lambda: ds.World(dt=0), "dt is 0 s, must be > 0"),
        (lambda: ds.World(dt=float("nan")), "dt is nan, must be a finite number"),
        (lambda: ds.World(dt="fast"), "dt is 'fast', must be a number"),
        (lambda: ds.World(gravity=(0, -9.81)), "gravity has 2 numbers, must have 3"),
        (lambda: ds.World(gravity=9.81), "gravity is 9.81, must be 3 numbers"),
        (lambda: ds.World(tolerance=-1), "tolerance is -1 m/s, must be > 0"),
        (lambda: ds.World(on_nonconverged="shout"), "on_nonconverged is 'shout'"),
        (lambda: ds.World(dim=4), "dim is 4"),
        (lambda: ds.World(ccd="no"), "ccd is 'no', must be True or False"),
        (lambda: ds.World(ccd=float("nan")), "ccd is nan, must be True or False"),
        (lambda: ds.World(sleeping="no"), "sleeping is 'no', must be True or False"),
        (lambda: ds.World(sleep_speed=-1), "sleep_speed is -1, must be >= 0"),
    ],
)
def test_a_wrong_setting_gets_a_sentence(make, sentence):
    with pytest.raises(ds.InputError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"shape": 3}, "crate: shape is 3"),
        ({"shape": ds.Box}, "crate: shape is <class"),
        ({"shape": ds.Plane()}, "no volume.*add_fixed"),
        ({"material": 0.5}, "crate: material is 0.5"),
        ({"position": (0, 0)}, "crate: position has 2 numbers"),
        ({"position": (0, 0, np.nan)}, "crate: position is .*finite"),
        ({"orientation": (0, 0, 0, 0)}, "crate: orientation .*unit quaternion"),
        ({"velocity": "fast"}, "crate: velocity is 'fast'"),
        ({"spin": (1, 2, np.inf)}, "crate: spin is .*finite"),
        ({"mass": 0}, "crate: mass is 0 kg, must be > 0.*add_fixed"),
        ({"mass": -1}, "crate: mass is -1 kg"),
        ({"inertia": (1, 1, 5)}, "crate: inertia .*larger than the sum"),
        ({"inertia": (1, -1, 1)}, "crate: inertia .*> 0"),
        ({"inertia": np.ones((2, 2))}, "crate: inertia .*3 by 3"),
        ({"inertia": [[1, 2, 0], [0, 1, 0], [0, 0, 1]]}, "crate: inertia .*symmetric"),
        ({"inertia": "big"}, "crate: inertia is 'big'"),
        ({"centre": 1.0}, "crate: centre is 1.0"),
        ({"group": 1.5}, "crate: group is 1.5"),
        ({"mask": 2**40}, "crate: mask is .*32 bits"),
        ({"name": 7}, "name is 7, must be a text"),
    ],
)
def test_a_wrong_body_gets_a_sentence_and_is_not_added(options, sentence):
    world = ds.World()
    with pytest.raises(ds.InputError, match=re.compile(sentence, re.S)):
        world.add_body(**({"shape": ds.Box(1, 1, 1), "name": "crate"} | options))
    assert len(world) == 0


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("position", (1, 2), "crate: position has 2 numbers"),
        ("orientation", (0, 0, 0, 0), "crate: orientation"),
        ("velocity", (np.nan, 0, 0), "crate: velocity"),
        ("spin", None, "crate: spin is None"),
        ("force", (1, 2, 3, 4), "crate: force has 4 numbers"),
        ("torque", (1, 2, "x"), "crate: torque"),
        ("centre", np.inf, "crate: centre"),
        ("mass", 0, "crate: mass is 0 kg"),
        ("inertia", (1, 1, 9), "crate: inertia"),
        ("name", "", "crate: name is ''"),
    ],
)
def test_a_wrong_value_changes_nothing(field, value, sentence):
    world = box_world()
    world.step()
    before = world.hash()
    with pytest.raises(ds.InputError, match=sentence):
        setattr(world["crate"], field, value)
    assert world.hash() == before


def test_other_wrong_calls_get_a_sentence():
    world, other = box_world(), box_world()
    crate = world["crate"]
    for call, sentence in [
        (lambda: world.remove(other["crate"]), "belongs to another world"),
        (lambda: world.remove("crate"), "is no body"),
        (lambda: world.exclude(crate, crate), "from itself"),
        (lambda: world.set_pair(STONE, STONE, friction=-1), "friction is -1"),
        (lambda: world.set_pair(STONE, STONE, restitution=2), "restitution is 2"),
        (lambda: world.set_pair(STONE, "ice"), "material is 'ice'"),
        (lambda: world.run(-1), "seconds is -1, must be >= 0"),
        (lambda: world.run("long"), "seconds is 'long'"),
        (lambda: world.problem(), "call step"),
        (lambda: world.contacts().on(other["crate"]), "none of the moving bodies"),
        (lambda: world.contacts().on(world["ground"]), "none of the moving bodies"),
    ]:
        with pytest.raises(ds.InputError, match=sentence):
            call()


def test_what_is_not_there_says_so():
    world = box_world()
    with pytest.raises(ds.InputError, match="stepper is 'rk5', which is unknown"):
        ds.World(stepper="rk5")
    with pytest.raises(ds.UnsupportedFeature, match="rk4"):
        ds.World(stepper="rk4")  # of penalty forces, and the solver gives impulses
    with pytest.raises(ds.UnsupportedFeature):
        world.exclude(world["crate"], world["ground"])


# Failure


def test_a_nan_names_body_and_step_and_leaves_a_checkpoint(tmp_path):
    world = box_world(checkpoint_folder=tmp_path, sleeping=False)
    world.add_body(ds.Sphere(0.5), STONE, position=(5, 0, 2), name="bad apple")
    world.run(0.1)
    world.state.twist[1, 2] = np.nan
    with pytest.raises(ds.SimulationError, match="bad apple.*step 25.*t = 0.104") as error:
        world.run(1.0)
    assert world.step_count == 24
    path = tmp_path / "drystone-step-24.h5"
    assert str(path) in str(error.value)
    again = ds.World.load(path)
    assert again.step_count == 24 and again["crate"].position.tobytes() == (
        world["crate"].position.tobytes()
    )
    with pytest.raises(ds.SimulationError, match="bad apple.*step 25"):
        again.step()
    world["bad apple"].velocity = (0, 0, 0)
    world.run(0.1)
    assert world.step_count == 48


def test_a_full_disk_does_not_hide_the_failure(tmp_path, monkeypatch):
    world = box_world(checkpoint_folder=tmp_path)
    world.step()
    world.state.force[0, 0] = np.inf

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("drystone.model.files._replace_file", full)
    with pytest.raises(ds.SimulationError, match="crate.*step 2.*could not be saved.*No space"):
        world.step()


def starved(policy):
    from drystone.solvers import SOLVERS

    world = ds.World(
        solver=SOLVERS["nsgs"](max_sweeps=1, tolerance=1e-30), on_nonconverged=policy,
        sleeping=False,
    )  # fmt: skip
    world.add_fixed(ds.Plane(), STONE)
    for k in range(4):
        world.add_body(ds.Box(1, 1, 1), STONE, position=(0.1 * k, 0, 0.5 + k))
    return world


def test_a_solve_that_stops_short_is_said_as_wanted():
    """DEMAND B18."""
    quiet = starved("ignore")
    info = quiet.step()
    assert not info.converged and info.residual > 1e-30 and quiet.info is info
    with pytest.warns(ds.NotConvergedWarning, match="residual .* tolerance"):
        starved("warn").step()
    loud = starved("raise")
    with pytest.raises(ds.SimulationError, match="did not converge in 1 of 1 steps up to step 1"):
        loud.run(1.0)
    assert loud.step_count == 1


def test_runs_that_are_no_full_steps_add_up(tmp_path):
    """A hundred runs of 0.01 s at 1/240 s are 240 steps, also over a save; a run that is ended
    early owes nothing."""
    world = box_world()
    for k in range(100):
        world.run(0.01)
        if k == 40:
            world.save(tmp_path / "half.h5")
            world = ds.World.load(tmp_path / "half.h5")
        assert abs(world.time - 0.01 * (k + 1)) < 0.51 * world.dt
    assert world.step_count == 240
    world.run(1.0, callback=lambda world: True)
    assert world.step_count == 241
    world.run(0.4 * world.dt)
    assert world.step_count == 241
