"""Rows of joints: errors from their definitions, Jacobians against finite differences."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from drystone import Hinge
from drystone.constraints.joints.fill_rows import fill_joint_rows
from drystone.model.joint_arrays import (
    ROW_DRIVE,
    ROW_EQUALITY,
    ROW_FRICTION,
    ROW_LIMIT,
    ROW_SPRING,
)
from joint_rigs import (
    DT,
    RIGS,
    coordinates,
    halves,
    held_errors,
    inside,
    moved,
    relative_velocity,
    rig,
    swing_vector,
    table_of,
    two_bodies,
)
from rounding import close

seeds = st.integers(0, 2**31)
STEP = 1e-6  # of the differences; their error is STEP² times third derivatives, and rounding 1e-10
HELD = ("rod", "fixed", "gear", "rack", "coupling")  # no rows but those that hold
EXACT = 1e-7  # [m/s] of differences: fifty times the worst that was seen, 2e-9


def wild_pose(test, rng):
    """A pose far from where the joint holds, but away from the half turns without direction."""
    position, rotation = moved(*test.created, rng.normal(size=(2, 6)) * 0.8)
    _, axes = halves(test, position, rotation)
    assume(axes[0][:, 0] @ axes[1][:, 0] > -0.9)
    assume(np.linalg.norm(np.cross(axes[0][:, 0], axes[1][:, 0])) > 0.05)
    turn = Rotation.from_matrix(axes[0].T @ axes[1])
    assume(turn.magnitude() < 2.8)
    return position, rotation


def difference(function, position, rotation, twist):
    later = function(*moved(position, rotation, twist, STEP))
    before = function(*moved(position, rotation, twist, -STEP))
    return (np.asarray(later) - np.asarray(before)) / (2 * STEP)


@pytest.mark.parametrize("name", RIGS)
def test_nothing_is_wrong_at_creation(name):
    """Errors and coordinates are zero whatever the poses are (CLINE 4.4.1); to rounding."""
    for seed in range(20):
        test = rig(name, np.random.default_rng(seed))
        rows = test.fill(*test.created)
        assert close(rows.error, 0.0)
        if name not in ("rod", "piston", "spring"):
            assert close(rows.value, 0.0)


@pytest.mark.parametrize("name", RIGS)
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_errors_are_those_of_the_definition(name, seed):
    rng = np.random.default_rng(seed)
    test = rig(name, rng)
    position, rotation = wild_pose(test, rng)
    rows = test.fill(position, rotation)
    held = rows.kind == ROW_EQUALITY
    np.testing.assert_allclose(rows.error[held], held_errors(test, position, rotation), atol=1e-10)
    expected = coordinates(test, position, rotation)
    np.testing.assert_allclose(rows.value[0, : len(expected)], expected, atol=1e-10)


@pytest.mark.parametrize("name", RIGS)
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_jacobians_of_held_rows(name, seed):
    """u of an equality row is the rate of its error, at any pose and for any motion."""
    rng = np.random.default_rng(seed)
    test = rig(name, rng)
    position, rotation = wild_pose(test, rng)
    rows, twist = test.fill(position, rotation), rng.normal(size=(2, 6))
    u = relative_velocity(rows, twist)[rows.kind == ROW_EQUALITY]
    rate = difference(lambda *pose: held_errors(test, *pose), position, rotation, twist)
    np.testing.assert_allclose(u, rate, atol=EXACT)


@pytest.mark.parametrize("name", [name for name in RIGS if name not in HELD and "ball" not in name])
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_jacobians_of_coordinates(name, seed):
    """u of limits, drives, friction and springs is the rate of their coordinate, ± for limits."""
    rng = np.random.default_rng(seed)
    test = rig(name, rng)
    position, rotation = wild_pose(test, rng)
    rows, twist = test.fill(position, rotation), rng.normal(size=(2, 6))
    u = relative_velocity(rows, twist)[rows.kind != ROW_EQUALITY]
    values = coordinates(test, position, rotation)
    rate = difference(lambda *pose: coordinates(test, *pose), position, rotation, twist)
    assume(np.abs(np.abs(values) - np.pi).min() > 1e-3)  # the twin does not count turns
    signs = [1] if name in ("hinge-motor", "spring") else [1, -1, 1, 1]
    expected = np.outer(rate, signs).ravel()
    np.testing.assert_allclose(u, expected, atol=EXACT)


@given(seed=seeds)
@settings(max_examples=100, deadline=None)
def test_jacobians_of_the_cone(seed):
    """Room of an elliptic cone, min(alpha) (1 - rho), and its rate, from their definitions."""
    rng = np.random.default_rng(seed)
    test = rig("ball", rng)
    position, rotation = wild_pose(test, rng)
    rows, twist = test.fill(position, rotation), rng.normal(size=(2, 6))

    def room(*pose):
        (_, y, z), phi = swing_vector(halves(test, *pose)[1])
        y, z = np.array([y, z]) / np.hypot(y, z) * phi
        return 0.7 * (1.0 - np.hypot(y / 1.1, z / 0.7))

    cone = 3
    assert rows.kind[cone] == ROW_LIMIT
    here = rows.error[cone] + rows.bias[cone] * DT
    assert here == pytest.approx(room(position, rotation), abs=1e-10)
    u = relative_velocity(rows, twist)[cone]
    assert u == pytest.approx(difference(room, position, rotation, twist), abs=EXACT)


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_jacobians_of_a_balls_drive(seed):
    """Drive and friction of a ball act on the relative spin, in the joint's axes on A."""
    rng = np.random.default_rng(seed)
    test = rig("ball", rng)
    position, rotation = wild_pose(test, rng)
    rows, twist = test.fill(position, rotation), rng.normal(size=(2, 6))
    _, (axes, _) = halves(test, position, rotation)
    spin = axes.T @ (twist[1, 3:] - twist[0, 3:])
    u = relative_velocity(rows, twist)
    np.testing.assert_allclose(u[rows.kind == ROW_DRIVE], spin, atol=1e-12)
    np.testing.assert_allclose(u[rows.kind == ROW_FRICTION], spin, atol=1e-12)


@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_a_balls_servo_pulls_along_the_shortest_turn(seed):
    """Its bias is k / (d + k dt) times the rotation vector from the target to B."""
    rng = np.random.default_rng(seed)
    test = rig("ball", rng)
    position, rotation = wild_pose(test, rng)
    rows, servo = test.fill(position, rotation), test.joint.motor
    now, then = (Rotation.from_quat(q[:, [1, 2, 3, 0]]) for q in (rotation, test.created[1]))
    since = then[0] * now[0].inv() * now[1] * then[1].inv()  # B in A, in world axes at creation
    offset = (since * Rotation.from_rotvec(servo.target).inv()).as_rotvec()
    basis = Rotation.from_quat(np.roll(test.joint.attachment.bases[0], -1)).as_matrix()
    expected = servo.stiffness * (basis.T @ offset) / (servo.damping + servo.stiffness * DT)
    np.testing.assert_allclose(rows.bias[rows.kind == ROW_DRIVE], expected, atol=1e-9)


@pytest.mark.parametrize("name", RIGS)
@given(seed=seeds)
@settings(max_examples=40, deadline=None)
def test_an_impulse_conserves_momentum(name, seed):
    """p l on B, -p l on A and the torques p b, -p a have no moment, at any pose.

    But for the three rows of a point with a position error, which push at p_A and at p_B.
    """
    rng = np.random.default_rng(seed)
    test = rig(name, rng)
    position, rotation = wild_pose(test, rng)
    rows = test.fill(position, rotation)
    c_a, c_b = position[rows.body[:, 0]], position[rows.body[:, 1]]
    moment = np.cross(c_b - c_a, rows.linear) + rows.angular[:, 3:] - rows.angular[:, :3]
    if type(test.joint).__name__ in ("Ball", "Hinge", "Fixed", "Universal"):
        (p_a, p_b), _ = halves(test, position, rotation)
        moment[:3] -= np.cross(p_b - p_a, rows.linear[:3])
    np.testing.assert_allclose(moment, 0.0 * moment, atol=1e-12)


def test_the_fixed_world_may_be_a_row_or_missing():
    """Arrays with n rows, or n + 1 whose last is the world, give the same rows."""
    bodies = two_bodies(np.random.default_rng(1))
    table, rows = table_of([Hinge(None, bodies[0], (1, 2, 3), (0, 1, 1))], bodies)
    position, rotation = inside(bodies)
    fill_joint_rows(table, position, rotation, DT, rows)
    short = [array.copy() for array in rows]
    longer = np.vstack([position, np.zeros(3)]), np.vstack([rotation, [1, 0, 0, 0]])
    fill_joint_rows(table, *longer, DT, rows)
    assert all(np.array_equal(x, y) for x, y in zip(short, rows, strict=True))
    assert rows.body[:, 0].tolist() == [2] * 5


def test_row_kinds_and_bounds():
    """What the solver is told about each kind of row."""
    test = rig("hinge", np.random.default_rng(5))
    rows = test.fill(*test.created)
    assert rows.kind.tolist() == [ROW_EQUALITY] * 5 + [ROW_LIMIT] * 2 + [ROW_DRIVE, ROW_FRICTION]
    assert rows.lower.tolist()[:5] == [-np.inf] * 5 and rows.upper.tolist()[:7] == [np.inf] * 7
    assert rows.lower[5:7].tolist() == [0, 0]
    np.testing.assert_allclose(rows.bias[5:7] * DT, [0.5, 0.8])
    np.testing.assert_allclose(rows.upper[7:], [5 * DT, 0.2 * DT])
    np.testing.assert_allclose(rows.lower[7:], [-5 * DT, -0.2 * DT])
    np.testing.assert_allclose(rows.softness[7], 1 / (DT * (3 + 20 * DT)))
    np.testing.assert_allclose(rows.bias[7], 20 * -0.7 / (3 + 20 * DT))
    spring = rig("spring", np.random.default_rng(5))
    assert spring.fill(*spring.created).kind.tolist() == [ROW_SPRING]
