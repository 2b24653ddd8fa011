"""What joints tell: signs of angles, ways, speeds, forces and torques, and changes of settings."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

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
from drystone.constraints.joints.fill_rows import fill_joint_rows
from drystone.constraints.joints.pack import carry_state, pack_joints, write_settings
from drystone.model.joint_arrays import ROW_DRIVE
from joint_rigs import DT, RIGS, coordinates, inside, rig, table_of, two_bodies
from rounding import close

X, Y, Z = np.eye(3)


class SmallWorld:
    """As much of a world as joints ask for: rows at the present poses, and impulses."""

    def __init__(self, joint, bodies, dt=DT):
        self.dt, self.changed = dt, []
        self.table, self.rows = table_of([joint], bodies)
        fill_joint_rows(self.table, *inside(bodies), dt, self.rows)
        object.__setattr__(joint, "_world", self)

    def joint_rows(self, joint):
        return self.rows

    def joint_values(self, joint):
        return self.rows.value[0]

    def joint_changed(self, joint):
        self.changed.append(joint)


def turn_b(body, about, angle, through=None):
    """Turn `body` by the right hand about an axis through a point, its own origin without."""
    turn = Rotation.from_rotvec(np.asarray(about) * angle)
    through = body.position if through is None else np.asarray(through)
    body.position = through + turn.apply(body.position - through)
    q = (turn * Rotation.from_quat(body.orientation[[1, 2, 3, 0]])).as_quat()
    body.orientation = q[[3, 0, 1, 2]]


def pair(**options):
    world = ds.World()
    a = world.add_body(ds.Box(1, 1, 1), name="a")
    return a, world.add_body(ds.Box(1, 0.5, 0.2), position=(1, 0, 0), name="b", **options)


def test_a_hinge_turns_by_the_right_hand():
    """B turned by +0.3 about the axis reads +0.3, A turned by it reads -0.3."""
    a, b = pair(spin=(0, 0, 2))
    joint = Hinge(a, b, (0.5, 0, 0), Z)
    assert (joint.angle, joint.speed) == (0.0, pytest.approx(2.0))
    turn_b(b, Z, 0.3, (0.5, 0, 0))
    assert joint.angle == pytest.approx(0.3) and joint.separation < 1e-12
    turn_b(a, Z, 0.3, (0.5, 0, 0))
    assert joint.angle == pytest.approx(0.0)
    turn_b(a, Z, 0.3, (0.5, 0, 0))
    assert joint.angle == pytest.approx(-0.3)
    assert Hinge(a, b, (0.5, 0, 0), -Z).speed == pytest.approx(-2.0)


def test_a_hinge_in_a_world_reads_whole_turns():
    a, b = pair()
    joint = Hinge(a, b, (0.5, 0, 0), Z)
    world = SmallWorld(joint, [a, b])
    for angle in (2.0, 4.0, 6.0, 8.0):
        turn_b(b, Z, 2.0, (0.5, 0, 0))
        assert joint.angle == pytest.approx(angle)
        fill_joint_rows(world.table, *inside([a, b]), DT, world.rows)


def test_a_slider_goes_along_its_axis():
    a, b = pair(velocity=(0, 3, 0))
    joint = Slider(a, b, Y)
    b.position = (1, 0.4, 0.1)
    assert joint.position == pytest.approx(0.4) and joint.speed == pytest.approx(3.0)
    assert joint.separation == pytest.approx(0.1)
    a.position = (0, 1, 0)
    assert joint.position == pytest.approx(-0.6)


def test_a_universal_joint_turns_first_about_its_own_axis():
    """B turned by angle_b about axis_b, then with it by angle_a about axis_a."""
    a, b = pair()
    joint = Universal(a, b, (0.5, 0, 0), Z, X)
    turn_b(b, X, 0.4, (0.5, 0, 0))
    turn_b(b, Z, -0.7, (0.5, 0, 0))
    assert (joint.angle_a, joint.angle_b) == (pytest.approx(-0.7), pytest.approx(0.4))
    b.spin = (0, 0, 5)
    assert (joint.speed_a, joint.speed_b) == (pytest.approx(5), pytest.approx(0, abs=1e-12))


def test_a_cylinder_reads_both():
    a, b = pair(velocity=(2, 0, 0), spin=(3, 0, 0))
    joint = Cylindrical(a, b, (0.5, 0, 0), X)
    turn_b(b, X, -1.0)
    b.position = (1.25, 0, 0)
    assert (joint.position, joint.angle) == (pytest.approx(0.25), pytest.approx(-1.0))
    assert (joint.speed, joint.angle_speed) == (pytest.approx(2), pytest.approx(3))


def test_a_body_in_a_plane():
    """The default plane is y = const: u along x, v = normal x direction = -z."""
    a, b = pair(velocity=(1, 2, 3), spin=(0, 4, 0))
    joint = Planar(b)
    b.position = (1.5, 0.1, 0.3)
    turn_b(b, Y, 0.2)
    assert joint.position == (pytest.approx(0.5), pytest.approx(-0.3))
    assert joint.speed == (pytest.approx(1), pytest.approx(-3))
    assert (joint.angle, joint.angle_speed) == (pytest.approx(0.2), pytest.approx(4))
    assert joint.separation == pytest.approx(0.1)


def test_distances():
    a, b = pair(velocity=(2, 0, 0))
    rod, rope = (Distance(a, b, (0, 0, 0), (1, 0, 0), **o) for o in ({}, {"limits": (None, 1.2)}))
    spring = SpringDamper(a, b, (0, 0, 0), (1, 0, 0), 5)
    b.position = (1.5, 0, 0)
    for joint in (rod, rope, spring):
        assert joint.distance == pytest.approx(1.5) and joint.speed == pytest.approx(2)
    assert rod.separation == pytest.approx(0.5) and rope.separation == pytest.approx(0.3)


def test_a_ball_reads_swing_twist_and_rotation():
    a, b = pair(spin=(1, 2, 3))
    joint = Ball(a, b, (0.5, 0, 0), SwingTwist(X, cone=(np.cos(0.2), np.sin(0.2), 0), swing=1))
    assert joint.swing == pytest.approx(0.2) and joint.twist == pytest.approx(0.0)
    turn_b(b, X, 0.5, (0.5, 0, 0))
    assert joint.swing == pytest.approx(0.2) and joint.twist == pytest.approx(0.5)
    np.testing.assert_allclose(joint.rotation, (0.5, 0, 0), atol=1e-12)
    np.testing.assert_allclose(joint.spin, (1, 2, 3))
    turn_b(a, Z, 1.0)
    turn_b(b, Z, 1.0)
    np.testing.assert_allclose(joint.rotation, (0.5, 0, 0), atol=1e-12)


def test_a_shoulder_and_a_knee():
    """A cone off the axis, and a range of angles that starts at its end, as in a ragdoll."""
    a, b = pair()
    knee = Hinge(a, b, (0.5, 0, 0), Y, limits=np.radians([-120, 0]))
    shoulder = Ball(a, b, (0.5, 0, 0), SwingTwist(X, cone=(0, 1, 0), swing=np.pi / 2))
    table, rows = table_of([knee, shoulder], [a, b])
    turn_b(b, Y, -0.1, (0.5, 0, 0))
    turn_b(b, Z, -0.05, (0.5, 0, 0))
    fill_joint_rows(table, *inside([a, b]), DT, rows)
    lower, upper, cone = 5, 6, 10
    assert rows.bias[lower] * DT == pytest.approx(np.radians(120) - 0.1, abs=1e-3)
    assert rows.bias[upper] * DT == pytest.approx(0.1, abs=1e-3)
    beyond = np.arcsin(np.sin(0.05) * np.cos(0.1))  # of the axis below the plane y = 0
    assert rows.error[cone] == pytest.approx(-beyond, abs=1e-12) and rows.bias[cone] == 0.0


def hold(joint, bodies, force, dt=DT):
    """Impulses of all rows of a joint to the world that carries B at rest against a force."""
    world = SmallWorld(joint, bodies, dt)
    rows = world.rows
    jacobian = np.hstack([rows.linear, rows.angular[:, 3:]])
    # J M⁻¹ Jᵀ p = -J v_free with any mass: what carries a body at rest does not depend on it
    push = np.concatenate([force, np.zeros(3)]) * dt
    rows.impulse[:] = np.linalg.lstsq(jacobian @ jacobian.T, -jacobian @ push, rcond=None)[0]
    return world


@pytest.mark.parametrize("make", [Fixed, lambda a, b, p: Hinge(a, b, p, Y, limits=(0, 0))])
def test_force_and_torque_are_those_on_b(make):
    """A weight at the end of a bar: the wall carries it up, with the moment of the arm about p."""
    _, b = pair()
    joint = make(None, b, (0.5, 0, 0))
    hold(joint, [b], (0, 0, -10.0))
    np.testing.assert_allclose(joint.force, (0, 0, 10), atol=1e-10)
    # The weight pulls down at x = 1, 0.5 m from the joint; its moment (0, +5, 0) is balanced.
    np.testing.assert_allclose(joint.torque, (0, -5, 0), atol=1e-10)


def test_motor_force_is_that_of_the_drive():
    _, b = pair()
    joint = Hinge(None, b, (0.5, 0, 0), Y, motor=Servo(0, 10), friction=1)
    world = SmallWorld(joint, [b])
    world.rows.impulse[:] = 7.0
    world.rows.impulse[world.rows.kind == ROW_DRIVE] = 3 * DT
    assert joint.motor_force == pytest.approx(3.0)


@given(seed=st.integers(0, 2**31))
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("name", ["hinge", "universal", "cylindrical", "planar", "piston"])
def test_readings_agree_with_the_rows(name, seed):
    """The same coordinates at odd poses, and rates that finite differences of them give."""
    test = rig(name, np.random.default_rng(seed))
    joint, bodies, h = test.joint, test.bodies, 1e-6
    count = len(coordinates(test, *test.created))
    rates = [joint._rate(k) for k in range(count)]
    values = []
    for time in (h, -2 * h):
        for body in bodies:
            centre = body.centre + time * body.velocity
            turn_b(body, body.spin, time)
            body.centre = centre
        values.append([joint._value(k) for k in range(count)])
        np.testing.assert_allclose(values[-1], coordinates(test, *inside(bodies)), atol=1e-12)
    np.testing.assert_allclose(np.subtract(*values) / (2 * h), rates, atol=1e-7)


def test_settings_can_be_changed_while_it_runs():
    a, b = pair()
    joint = Hinge(a, b, (0.5, 0, 0), Z, motor=Motor(1.0, max_torque=4), limits=(-1, 1))
    world = SmallWorld(joint, [a, b])
    joint.set(motor=Motor(-2.0, max_torque=8), limits=(-3, 2))
    assert world.changed == [joint] and joint.motor.speed == -2.0
    write_settings(world.table, 0, joint)
    fill_joint_rows(world.table, *inside([a, b]), DT, world.rows)
    np.testing.assert_allclose(world.rows.bias[5:] * [DT, DT, 1], [3, 2, 2.0])
    assert world.rows.upper[7] == pytest.approx(8 * DT)


def test_the_pose_at_creation_outlives_a_change():
    """After the bodies have moved, zero is still where the joint was made."""
    a, b = pair()
    joint = Hinge(a, b, (0.5, 0, 0), Z)
    turn_b(b, Z, 0.3, (0.5, 0, 0))
    joint.set(limits=(-1, 1))
    assert joint.angle == pytest.approx(0.3)


def test_state_is_carried_over_when_joints_come_and_go():
    a, b = two_bodies(np.random.default_rng(0))
    first, second = Hinge(a, b, (0, 0, 0), X), Slider(a, b, Y)
    third = Ball(None, a, (0, 0, 0))
    old, new = table_of([first, second], [a, b])[0], table_of([third, second], [a, b])[0]

    def state(values, rows):
        curve = np.column_stack([2 * rows, rows])
        return SimpleNamespace(joint_value=values, joint_impulse=rows.copy(), joint_curve=curve)

    before = state(np.arange(6.0).reshape(2, 3), np.arange(10.0))
    after = state(np.zeros((2, 3)), np.zeros(8))
    carry_state([first, second], old, before, [third, second], new, after)
    assert after.joint_value.tolist() == [[0, 0, 0], [3, 4, 5]]
    assert after.joint_impulse.tolist() == [0, 0, 0, 5, 6, 7, 8, 9]
    assert after.joint_curve[:, 0].tolist() == [0, 0, 0, 10, 12, 14, 16, 18]


def test_a_fixed_part_is_the_fixed_world():
    world = ds.World()
    floor = world.add_fixed(ds.Plane(), position=(0, 0, -3))
    b = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 1))
    at_floor, at_world = Hinge(floor, b, (0, 0, 1), X), Hinge(None, b, (0, 0, 1), X)
    assert at_floor.bodies == at_world.bodies == (None, b)
    assert at_floor.attachment == at_world.attachment


@pytest.mark.parametrize("name", RIGS)
def test_a_joint_is_made_again_from_its_fields(name):
    """Fields and attachment are all that a file needs; where the bodies are does not matter.

    To rounding: axes are computed again from others that were computed.
    """
    test = rig(name, np.random.default_rng(4))
    joint = test.joint
    fields = {f: getattr(joint, f) for f in joint.__dataclass_fields__}
    for body in test.bodies:
        body.position = (7, 8, 9)
    again = type(joint)(**fields)
    first, _ = table_of([joint], test.bodies)
    second, _ = table_of([again], test.bodies)
    for x, y in zip(first, second, strict=True):
        finite = np.isfinite(x)
        assert np.array_equal(finite, np.isfinite(y)) and close(
            x[finite], y[finite], size(x[finite])
        )
        assert np.array_equal(x[~finite], y[~finite])


def size(array):
    """The size of its numbers, as the scale of rounding."""
    return max(1.0, np.abs(array).max(initial=0.0))


def test_a_local_origin_moves_only_the_anchors_of_the_world():
    a, b = two_bodies(np.random.default_rng(6))
    joints = [Ball(None, a, (1, 2, 3)), Ball(a, b, (1, 2, 3))]
    names = ("offset", "principal_rotation")
    offset, turn = (np.array([getattr(x._frame, f) for x in (a, b)]) for f in names)
    table = pack_joints(joints, [a, b].index, offset, turn, (1, 1, 1))
    assert table.anchor[0, :3].tolist() == [0, 1, 2]
    position, rotation = inside([a, b])
    rows = table_of(joints, [a, b])[1]
    fill_joint_rows(table, position - 1.0, rotation, DT, rows)
    assert np.abs(rows.error).max() < 1e-12
