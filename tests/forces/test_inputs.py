"""Wrong input to force elements: one sentence that names it."""

import numpy as np
import pytest

import drystone as ds
from drystone.forces import FORCES, dispatch


@pytest.fixture
def world():
    world = ds.World()
    world.add_body(ds.Sphere(0.1), name="a")
    world.add_body(ds.Sphere(0.1), position=(1, 0, 0), name="b")
    return world


def test_wrong_input_is_named(world):
    a, b = world["a"], world["b"]
    other = ds.World().add_body(ds.Sphere(0.1))
    spring = world.add_force(ds.Spring(a, b, 10.0))
    for call, sentence in [
        (lambda: ds.Spring(a, b, -1), "stiffness is -1"),
        (lambda: ds.Spring(a, b, 0), "one must be > 0"),
        (lambda: ds.Spring(a, a, 1), "same body"),
        (lambda: ds.Spring(None, None, 1), "both sides are the fixed world"),
        (lambda: ds.Spring(a, other, 1), "different worlds"),
        (lambda: ds.Spring(a, b, 1, length=-1), "length is -1"),
        (lambda: ds.Spring(a, b, 1, point_a=(0, 0)), "point_a has 2 numbers"),
        (lambda: ds.Damper(a, b, 0), "damping is 0"),
        (lambda: ds.Drag(a), "one must be > 0"),
        (lambda: ds.Drag("a", 1), "must be a moving body"),
        (lambda: ds.Attractor((0, 0, 0), 0), "strength is 0"),
        (lambda: ds.Repulsor((0, 0, 0), 1, power=-1), "power is -1"),
        (lambda: ds.Force(3), "function is 3"),
        (lambda: ds.Force(len, gradient=3), "gradient is 3"),
        (lambda: ds.Force(len, on=[a, a]), "twice"),
        (lambda: ds.Force(len, on=[None]), "must be moving bodies"),
        (lambda: world.add_force(a), "is no force"),
        (lambda: world.add_force(spring), "in a world already"),
        (lambda: world.add_force(ds.Drag(other, 1)), "another world"),
        (lambda: world.remove(ds.Drag(a, 1)), "not in this world"),
        (lambda: spring.set(point_a=(0, 0, 0)), "cannot be set"),
        (lambda: spring.set(stiffness=-2), "stiffness is -2"),
    ]:
        with pytest.raises(ds.InputError, match=sentence):
            call()
    assert spring.stiffness == 10.0 and world.forces == (spring,)


@pytest.mark.parametrize("answer", [np.zeros((2, 2)), "much", None, np.zeros(3)])
def test_functions_must_return_one_row_for_each_body(world, answer):
    world.add_force(ds.Force(lambda s: answer))
    with pytest.raises(ds.InputError, match="Force: .*its function returned"):
        world.step()
    assert world.step_count == 0 and not world.state.force.any()


def test_points_default_to_the_centres(world):
    body = world.add_body(ds.Box(1, 1, 1), position=(0, 2, 0), centre=(0.1, 0.2, 0.3))
    spring = ds.Spring(world["a"], body, 1.0)
    assert spring.point_b == pytest.approx((0.1, 2.2, 0.3))
    assert spring.length == pytest.approx(np.linalg.norm((0.1, 2.2, 0.3)))
    tether = ds.Spring(None, body, 1.0)
    assert tether.point_a == pytest.approx(tether.point_b) and tether.length == 0.0


def test_a_function_that_gives_no_number_stops_the_run(world, tmp_path):
    world.checkpoint_folder = tmp_path
    world.add_force(ds.Force(lambda s: np.full((2, 3), np.nan if s.time > 0.01 else 0.0)))
    with pytest.raises(ds.SimulationError, match="no longer a finite number"):
        world.run(0.1)
    assert np.isfinite(world.velocities).all()


def test_every_force_is_registered_and_dispatched():
    """A kind for each law, none twice; names as users know them; no force that nothing computes."""
    laws = [name for name in vars(dispatch) if name.endswith("_gradients") and name[0] != "e"]
    assert len(dispatch.GRADIENTS) == len(laws) == 3
    assert {force._kind for force in FORCES.values()} == {None, *dispatch.GRADIENTS}
    for name, force in FORCES.items():
        assert force.__name__ == name and getattr(ds, name) is force
