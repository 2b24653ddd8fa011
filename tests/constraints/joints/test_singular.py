"""Places where angles lose their meaning: rows stay finite, and turns are counted."""

from itertools import product

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from drystone import Ball, Distance, Hinge, SwingTwist, Universal
from drystone.constraints.joints.fill_rows import fill_joint_rows
from joint_rigs import DT, RIGS, halves, inside, rig, table_of, two_bodies


def with_b_turned(test, axes_b):
    """Poses as at creation, B turned so that its joint axes are the columns `axes_b`."""
    position, rotation = (array.copy() for array in test.created)
    _, (_, now) = halves(test, position, rotation)
    i = test.bodies.index(test.joint.bodies[1])
    turned = Rotation.from_matrix(axes_b @ now.T) * Rotation.from_quat(rotation[i, [1, 2, 3, 0]])
    rotation[i] = turned.as_quat()[[3, 0, 1, 2]]
    return position, rotation


TURNS = list(product([0.0, np.pi / 2, np.pi, -np.pi, 2 * np.pi], range(3), [0, 1e-14, 1e-9, 1e-4]))


@pytest.mark.parametrize("name", RIGS)
def test_rows_stay_finite(name):
    """No swing, quarter, half and whole turns about every axis, and very near to them.

    A row of no length would be divided by: none is short but those that hold an orientation, at a
    half turn from where it should be, which no drift reaches.
    """
    test = rig(name, np.random.default_rng(3))
    _, (axes, _) = halves(test, *test.created)
    held = {"fixed": 3, "slider": 2}.get(name)
    for angle, about, near in TURNS:
        turn = Rotation.from_rotvec(np.eye(3)[about] * (angle + near)).as_matrix()
        rows = test.fill(*with_b_turned(test, axes @ turn))
        for array in (rows.linear, rows.angular, rows.error, rows.bias, rows.softness):
            assert np.isfinite(array).all()
        size = np.linalg.norm(np.hstack([rows.linear, rows.angular]), axis=1)
        assert size[:held].min() > 1e-3 and size.max() < 1e4


def test_points_that_coincide_have_a_direction():
    bodies = two_bodies(np.random.default_rng(1))
    table, rows = table_of([Distance(*bodies, (0, 0, 0), (0, 0, 0), limits=(0.5, 2))], bodies)
    fill_joint_rows(table, *inside(bodies), DT, rows)
    assert np.linalg.norm(rows.linear[0]) == pytest.approx(1.0, abs=1e-12)
    assert rows.error[0] == pytest.approx(-0.5)


def turning(joint_of, axis, angles):
    """Coordinates and rooms of a joint while B turns about `axis` to each of `angles`."""
    a, b = two_bodies(np.random.default_rng(2))
    joint = joint_of(a, b)
    table, rows = table_of([joint], [a, b])
    position, start = inside([a, b])
    found = []
    for angle in angles:
        rotation = start.copy()
        turned = Rotation.from_rotvec(axis * angle) * Rotation.from_quat(start[1, [1, 2, 3, 0]])
        rotation[1] = turned.as_quat()[[3, 0, 1, 2]]
        fill_joint_rows(table, position, rotation, DT, rows)
        found.append((rows.value[0].copy(), rows.bias * DT + rows.error))
    return found


def test_a_hinge_counts_turns():
    """Up three turns and back down to minus two, 2 rad a step, with limits at 900 and -500 degrees.

    The quaternion of B repeats after every turn, so only the counter can know.
    """
    axis = np.array([0.6, 0.0, 0.8])
    angles = np.concatenate([np.arange(0, 19, 2.0), np.arange(19, -13, -2.0)])
    limits = np.radians([-500, 900])
    found = turning(lambda a, b: Hinge(a, b, b.centre, axis, limits=limits), axis, angles)
    values, rooms = (np.array(x) for x in zip(*found, strict=True))
    np.testing.assert_allclose(values[:, 0], angles, atol=1e-12)
    np.testing.assert_allclose(rooms[:, 5], angles - limits[0], atol=1e-12)
    np.testing.assert_allclose(rooms[:, 6], limits[1] - angles, atol=1e-12)
    assert rooms[:, 6].min() < -3.0  # beyond the limit by more than half a turn, and still known


@pytest.mark.parametrize("first", [0, 1])
def test_a_universal_joint_counts_turns(first):
    axes = np.array([[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]])
    angles = np.arange(0, 30, 1.5)
    found = turning(lambda a, b: Universal(a, b, b.centre, *axes), axes[first], angles)
    values = np.array([value for value, _ in found])
    np.testing.assert_allclose(values[:, first], angles, atol=1e-12)
    np.testing.assert_allclose(values[:, 1 - first], 0.0, atol=1e-12)


def test_a_balls_twist_counts_turns():
    axis, angles = np.array([0.6, 0.0, 0.8]), np.arange(0, -20, -1.5)
    limits = SwingTwist(axis, swing=1.0, twist=(-25.0, 0.5))
    found = turning(lambda a, b: Ball(a, b, b.centre, limits), axis, angles)
    values, rooms = (np.array(x) for x in zip(*found, strict=True))
    np.testing.assert_allclose(values[:, 0], angles, atol=1e-12)
    np.testing.assert_allclose(rooms[:, 4], angles + 25.0, atol=1e-12)
    np.testing.assert_allclose(rooms[:, 3], 1.0, atol=1e-7)  # the swing never changes
