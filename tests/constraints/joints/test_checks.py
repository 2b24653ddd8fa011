"""Wrong input to joints: one sentence that names the joint, the value and what is right."""

import numpy as np
import pytest

import drystone as ds
from drystone import (
    Ball,
    Cylindrical,
    Distance,
    Fixed,
    Hinge,
    Motor,
    Planar,
    Servo,
    Slider,
    SpringDamper,
    SwingTwist,
    Universal,
)
from drystone.bench.fuzz.odd_values import Raises

HERE, X, Y = (0, 0, 0), (1, 0, 0), (0, 1, 0)
nan, inf = np.nan, np.inf


@pytest.fixture(scope="module")
def pair():
    world = ds.World()
    return [world.add_body(ds.Sphere(0.1), position=(x, 0, 0), name=f"ball {x}") for x in (0, 1)]


WRONG = [
    (lambda a, b: Hinge(a, b, HERE, (0, 0, 0)), "Hinge: axis is (0, 0, 0)"),
    (lambda a, b: Hinge(a, b, HERE, (nan, 0, 0)), "Hinge: axis"),
    (lambda a, b: Hinge(a, b, HERE, X, attachment="here"), "Hinge: attachment is 'here'"),
    (lambda a, b: ds.Damper(a, b, 3.0, attachment=7), "Damper: attachment is 7"),
    (lambda a, b: Hinge(a, b, (0, nan, 0), X), "Hinge: point"),
    (lambda a, b: Hinge(a, b, (0, 0), X), "Hinge: point"),
    (lambda a, b: Hinge(a, b, (2e6, 0, 0), X), "2e+06 m away from 'ball 0'"),
    (lambda a, b: Hinge(a, a, HERE, X), "same body 'ball 0'"),
    (lambda a, b: Hinge(None, None, HERE, X), "both sides are the fixed world"),
    (lambda a, b: Hinge(3.0, b, HERE, X), "Hinge: a is 3.0"),
    (lambda a, b: Hinge(a, b, HERE, X, limits=(1, -1)), "write (-1, 1)"),
    (lambda a, b: Hinge(a, b, HERE, X, limits=(nan, 1)), "Hinge: limits"),
    (lambda a, b: Hinge(a, b, HERE, X, limits=1.0), "must be (lower, upper) in rad"),
    (lambda a, b: Hinge(a, b, HERE, X, limits=(inf, inf)), "Hinge: limits"),
    (lambda a, b: Hinge(a, b, HERE, X, limits=np.array(1.0)), "must be (lower, upper) in rad"),
    (lambda a, b: Hinge(a, b, HERE, X, friction=-1), "Hinge: friction is -1"),
    (lambda a, b: Hinge(a, b, HERE, X, motor=3.0), "Hinge: motor is 3.0"),
    (lambda a, b: Hinge(a, b, HERE, X, motor=Motor((1, 2, 3))), "Hinge: motor: speed"),
    (
        lambda a, b: Ball(a, b, HERE, motor=Motor(1.0)),
        "speed is 1.0, must be 3 numbers",
    ),
    (lambda a, b: Ball(a, b, HERE, limits=(0.5, 1)), "must be SwingTwist"),
    (lambda a, b: Ball(a, b, HERE, friction=nan), "Ball: friction"),
    (lambda a, b: SwingTwist(X, swing=0.0), "use Hinge"),
    (lambda a, b: SwingTwist(X, swing=4.0), "below pi"),
    (lambda a, b: SwingTwist(X, swing=(0.5, 0.5, 0.5)), "one angle or two"),
    (lambda a, b: SwingTwist(X, swing=ds.World), "one angle or two"),
    (lambda a, b: SwingTwist(X, swing=(Raises(), 1)), "SwingTwist: swing"),
    (lambda a, b: SwingTwist(X, swing=(0.5, 1.0)), "towards="),
    (lambda a, b: SwingTwist(X, swing=(0.5, 1.0), towards=(2, 0, 0)), "towards"),
    (lambda a, b: SwingTwist(X, twist=(1, 0)), "SwingTwist: twist"),
    (lambda a, b: Universal(a, b, HERE, X, (2, 0, 0)), "use Hinge"),
    (lambda a, b: Universal(a, b, HERE, X, Y, limits_b=(2, 1)), "Universal: limits_b"),
    (lambda a, b: Slider(a, b, HERE), "Slider: axis is (0, 0, 0)"),
    (lambda a, b: Slider(a, b, X, limits=(1, 0)), "(1, 0) m"),
    (lambda a, b: Fixed(a, a), "same body"),
    (lambda a, b: Fixed(a, b, (nan, 0, 0)), "Fixed: point"),
    (lambda a, b: Cylindrical(a, b, HERE, HERE), "Cylindrical: axis"),
    (lambda a, b: Cylindrical(a, b, HERE, X, motor_angle=1), "Cylindrical: motor_angle"),
    (lambda a, b: Planar(None), "both sides are the fixed world"),
    (lambda a, b: Planar(None, b=a), "must be the body to keep in the plane"),
    (lambda a, b: Planar(a, HERE), "Planar: normal"),
    (lambda a, b: Planar(a, X, direction=X), "must not point along the normal"),
    (lambda a, b: Distance(a, b, HERE, HERE), "use Ball"),
    (lambda a, b: Distance(a, b, HERE, X, length=-1), "Distance: length is -1"),
    (lambda a, b: Distance(a, b, HERE, X, length=1, limits=(0, 1)), "give only one"),
    (lambda a, b: Distance(a, b, HERE, X, limits=(-3, -1)), "below 0"),
    (lambda a, b: Distance(a, b, HERE, X, friction=1), "limits=(0, None)"),
    (lambda a, b: SpringDamper(a, b, HERE, X, -5), "SpringDamper: stiffness is -5"),
    (lambda a, b: SpringDamper(a, b, HERE, X, 5, -1), "SpringDamper: damping is -1"),
    (lambda a, b: SpringDamper(a, b, HERE, X, 0), "both 0"),
    (lambda a, b: SpringDamper(a, b, HERE, X, 5, length=nan), "SpringDamper: length"),
    (lambda a, b: Motor(nan), "Motor: speed"),
    (lambda a, b: Motor("fast"), "Motor: speed"),
    (lambda a, b: Motor(1, max_force=-1), "Motor: max_force is -1"),
    (lambda a, b: Motor(1, max_torque=nan), "Motor: max_torque"),
    (lambda a, b: Motor(1, max_force=1, max_torque=1), "give only one"),
    (lambda a, b: Servo(0, -1), "Servo: stiffness is -1"),
    (lambda a, b: Servo(0, 0, 0), "both 0"),
    (lambda a, b: Hinge(a, b, HERE, X).set(speed=1), "'speed' cannot be set"),
    (lambda a, b: Hinge(a, b, HERE, X).set(a=b), "'a' cannot be set"),
    (lambda a, b: Hinge(a, b, HERE, X).force, "is in no world yet"),
    (lambda a, b: Ball(a, b, HERE, SwingTwist(X, swing=1)).set(limits=SwingTwist(Y)), "axes"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_input_is_one_clear_sentence(number, pair):
    make, words = WRONG[number]
    with pytest.raises(ds.DrystoneError) as caught:
        make(*pair)
    message = str(caught.value)
    assert words in message and "\n" not in message and message.endswith(".")


def test_bodies_of_two_worlds(pair):
    other = ds.World().add_body(ds.Sphere(0.1), name="far")
    with pytest.raises(ds.DrystoneError, match="different worlds"):
        Hinge(pair[0], other, HERE, X)


def test_two_bodies_that_nothing_can_move():
    world = ds.World()
    floor, lift = world.add_fixed(ds.Plane()), world.add_body(ds.Sphere(1), kinematic=True)
    with pytest.raises(ds.DrystoneError, match="neither side can be moved"):
        Fixed(floor, lift)


def test_wrong_changes_change_nothing(pair):
    joint = Hinge(*pair, HERE, X, limits=(-1, 1))
    with pytest.raises(ds.DrystoneError):
        joint.set(friction=1.0, limits=(2, 1))
    assert joint.limits == (-1, 1) and joint.friction == 0.0


@pytest.mark.parametrize("change", [{"limits": (-0.5, 2.0)}, {"friction": 0.3}])
def test_a_plain_change_is_what_all_checks_would_have_made_of_it(pair, change):
    """Those that no check refuses are written without them, in a third of the time."""
    joint, slow = (Hinge(*pair, HERE, X, limits=(-1.0, 1.0)) for _ in range(2))
    attachment = joint.attachment
    joint.set(**change)
    slow.set(**{name: np.array(value).tolist() for name, value in change.items()})
    assert [getattr(joint, name) for name in change] == [getattr(slow, name) for name in change]
    assert joint.attachment is attachment and slow.attachment == attachment
    for wrong in ({"limits": (1.0, -1.0)}, {"friction": -1.0}, {"limits": (0.0, float("nan"))}):
        with pytest.raises(ds.DrystoneError):
            joint.set(**wrong)
