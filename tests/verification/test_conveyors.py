"""Surfaces that move on their bodies: conveyors, against closed forms, files and recordings."""

import numpy as np
import pytest

import drystone as ds

G = 9.81


def belt_world(**options):
    world = ds.World(**options)
    belt = world.add_fixed(ds.Box(8, 1, 0.2), position=(0, 0, -0.1), name="belt")
    crate = world.add_body(ds.Box(0.3, 0.3, 0.3), position=(-2, 0, 0.15), name="crate")
    return world, belt, crate


def test_a_crate_slides_then_rides():
    """mu g until it has the speed of the belt; it then sticks, and does not fall asleep."""
    world, belt, crate = belt_world()
    belt.surface_velocity = (1.0, 0, 0)
    world.run(0.1)
    assert crate.velocity[0] == pytest.approx(0.5 * G * 0.1, rel=1e-3)
    world.run(1.4)
    assert crate.velocity == pytest.approx([1, 0, 0], abs=1e-7) and not crate.asleep
    assert set(world.contacts().status) == {"stick"}
    belt.surface_velocity = (0, 0, 0)
    world.run(1.0)
    assert np.abs(crate.velocity).max() < 1e-6


def test_the_axes_are_those_of_the_shape():
    half = 0.5**0.5
    world = ds.World()
    belt = world.add_fixed(ds.Box(8, 8, 0.2), position=(0, 0, -0.1), orientation=(half, 0, 0, half))
    crate = world.add_body(ds.Box(0.3, 0.3, 0.3), position=(0, 0, 0.15))
    belt.surface_velocity = (0.4, 0, 0)
    world.run(0.6)
    assert crate.velocity == pytest.approx([0, 0.4, 0], abs=1e-7)


def test_a_belt_on_a_cart_pushes_the_cart_back():
    """Momentum stays: what the belt gives the crate, the cart loses."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.0, name="ice"))
    cart = world.add_body(ds.Box(2, 1, 0.2), mass=4.0, position=(0, 0, 0.1))
    crate = world.add_body(ds.Box(0.3, 0.3, 0.3), mass=1.0, position=(0, 0, 0.35))
    cart.surface_velocity = (0.5, 0, 0)
    world.run(0.4)
    assert crate.velocity[0] - cart.velocity[0] == pytest.approx(0.5, abs=1e-6)
    assert crate.velocity[0] + 4.0 * cart.velocity[0] == pytest.approx(0.0, abs=1e-9)


def test_solvers_agree_on_a_belt():
    world, belt, crate = belt_world(sleeping=False)
    belt.surface_velocity = (1.0, 0.3, 0)
    world.run(0.05)
    problem = world.problem()
    for solver in ("auto", "nsgs", "prox", "prox-newton"):
        impulse, info = ds.solve(problem, solver, tolerance=1e-9)
        assert info.converged
        x, y, z = problem.twist_from(impulse)[0, :3]
        assert [x, y] == pytest.approx([0.5 * z / 1.09**0.5, 0.15 * z / 1.09**0.5], rel=1e-5)
    with pytest.raises(ds.UnsupportedFeature, match="surfaces"):
        ds.solve(problem, "ffd")


def test_a_belt_in_two_dimensions_and_one_that_bounces():
    world = ds.World(dim=2)
    belt = world.add_fixed(ds.Plane())
    crate = world.add_body(ds.Polygon([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]),
                           position=(0, 0.1))  # fmt: skip
    belt.surface_velocity = (0.3, 0)
    world.run(0.5)
    assert crate.velocity[0] == pytest.approx(0.3, abs=1e-6)
    rubber = ds.Material(friction=0.5, restitution=0.8)
    world = ds.World()
    belt = world.add_fixed(ds.Plane(), rubber)
    ball = world.add_body(ds.Sphere(0.1), rubber, position=(0, 0, 0.5))
    belt.surface_velocity = (3, 0, 0)
    world.run(0.4)  # it sticks in the first impact: 2/7 of the speed of the belt
    assert ball.velocity[0] == pytest.approx(6 / 7, rel=1e-6)


def test_it_is_saved_recorded_copied_and_restored(tmp_path):
    world, belt, crate = belt_world()
    belt.surface_velocity = (0.5, 0, 0)
    with ds.record(world, tmp_path / "run.h5"):
        world.run(0.2)
        belt.surface_velocity = (-0.5, 0, 0)
        world.run(0.2)
    assert ds.replay(tmp_path / "run.h5").verified
    world.save(tmp_path / "world.h5")
    other, copy, kept = ds.World.load(tmp_path / "world.h5"), world.copy(), world.snapshot()
    belt.surface_velocity = (0, 0.7, 0)  # in place: neither the copy nor the snapshot has it
    assert not world._stale
    world.run(0.1)
    world.restore(kept)
    assert belt.surface_velocity.tolist() == [-0.5, 0, 0]
    for one in (world, other, copy):
        one.run(0.2)
    assert world.hash() == other.hash() == copy.hash()


def test_odd_belts_are_refused_or_found():
    world, belt, _ = belt_world()
    with pytest.raises(ds.InputError, match="surface_velocity"):
        belt.surface_velocity = (1, np.nan, 0)
    ffd = ds.World(solver="ffd")
    ground = ffd.add_fixed(ds.Plane())
    with pytest.raises(ds.UnsupportedFeature, match="surfaces"):
        ground.surface_velocity = (1, 0, 0)
    slick = ds.World()
    floor = slick.add_fixed(ds.Plane(), ds.Material(friction=0.0), name="floor")
    floor.surface_velocity = (1, 0, 0)
    odd = ds.Material(friction=0.0, rolling_friction=0.2)
    slick.add_body(ds.Sphere(0.1), odd, position=(0, 0, 0.1))
    said = " ".join(map(str, slick.check()))
    assert "surface that moves" in said and "rolling_friction" in said
