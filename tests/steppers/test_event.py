"""stepper="event": moments of touch found by halving steps."""

from math import sqrt

import numpy as np
import pytest

import drystone as ds


def fall(restitution, **options):
    stone = ds.Material(restitution=restitution, friction=0.3)
    world = ds.World(stepper="event", sleeping=False, dt=0.01, **options)
    world.add_fixed(ds.Plane(), stone)
    return world, world.add_body(ds.Sphere(0.1), stone, position=(0, 0, 1.1))


def height(t, e, h=1.0, g=9.81):
    """Of the lowest point of a ball that is dropped from h, at time t."""
    touch, speed = sqrt(2 * h / g), sqrt(2 * g * h)
    if t < touch:
        return h - 0.5 * g * t * t
    while True:
        speed *= e
        if speed < 0.01:  # World's bounce_speed: it has come to rest
            return 0.0
        flight = 2 * speed / g
        if touch + flight > t:
            s = t - touch
            return speed * s - 0.5 * g * s * s
        touch += flight


@pytest.mark.parametrize("e", [0.5, 0.8, 1.0])
def test_bouncing_ball_follows_the_closed_form(e):
    """Heights after several bounces, to what the skin leaves open: 3e-6 m at each of them."""
    world, ball = fall(e)
    for _ in range(15):
        world.run(0.1)
        assert ball.position[2] - 0.1 == pytest.approx(height(world.time, e), abs=2e-5)
        assert world.info.penetration < 4e-6
    assert world.step_count == 150 and world.time == pytest.approx(1.5)


def test_ball_without_restitution_stops_at_the_surface_at_its_time():
    """It is in free flight to the last step before the touch, and rests from then on."""
    world, ball = fall(0.0)
    touch = sqrt(2 / 9.81)
    while world.time + world.dt < touch:
        world.step()
        assert -ball.velocity[2] == pytest.approx(9.81 * world.time, abs=1e-9)
    world.step()
    assert abs(ball.velocity[2]) < 1e-6 and abs(ball.position[2] - 0.1) < 4e-6
    world.run(0.5)
    assert abs(ball.position[2] - 0.1) < 4e-6


def test_fast_ball_does_not_pass_through_a_thin_wall():
    """100 m/s against 5 mm, a metre in a step."""
    world = ds.World(stepper="event", sleeping=False, dt=0.01, gravity=(0, 0, 0))
    world.add_fixed(ds.Box(0.005, 2, 2))
    ball = world.add_body(ds.Sphere(0.05), position=(-0.73, 0, 0), velocity=(100, 0, 0))
    world.run(0.05)
    assert ball.position[0] == pytest.approx(-0.0525, abs=1e-5)


@pytest.mark.slow
def test_tumbling_box_comes_to_rest():
    """Rocking touches ever more often; the step must end all the same."""
    world = ds.World(stepper="event", sleeping=False, dt=0.01)
    world.add_fixed(ds.Plane())
    box = world.add_body(ds.Box(0.5, 0.5, 0.5), position=(0, 0, 1), spin=(1, 0.5, 0.2))
    deepest = []
    world.run(3.0, callback=lambda w: deepest.append(w.info.penetration))
    assert box.position[2] == pytest.approx(0.25, abs=1e-4)
    assert world.energy().kinetic < 1e-12 and max(deepest) < 1e-4


@pytest.mark.slow
def test_forces_act_within_the_parts_of_a_step():
    """A ball on a spring between two walls of restitution 1 keeps its energy."""
    stone = ds.Material(restitution=1.0)
    world = ds.World(stepper="event", sleeping=False, gravity=(0, 0, 0))
    world.add_fixed(ds.Plane(normal=(1, 0, 0), offset=-0.5), stone)
    ball = world.add_body(ds.Sphere(0.1), stone, position=(0.5, 0, 0), mass=1.0)
    world.add_force(ds.Spring(None, ball, 50.0, point_a=(0, 0, 0), length=0.0))
    start = world.energy().total
    world.run(2.0)
    assert world.energy().total == pytest.approx(start, rel=2e-3)
    assert ball.position[0] > -0.4 - 1e-5


def test_saved_world_goes_on_bit_for_bit(tmp_path):
    world, _ = fall(0.7)
    world.run(0.6)
    world.save(tmp_path / "w.h5")
    again = ds.World.load(tmp_path / "w.h5")
    assert again.stepper == "event"
    world.run(0.5)
    again.run(0.5)
    assert again.hash() == world.hash()


def test_solvers_in_python_are_refused():
    world = ds.World(stepper="event", solver="prox-newton")
    world.add_body(ds.Sphere(0.1))
    with pytest.raises(ds.UnsupportedFeature, match="prox-newton"):
        world.step()
    assert np.isfinite(world.positions).all()
