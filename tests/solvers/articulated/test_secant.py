"""Secant Jacobians: rows whose product with the displacement is what the joint opens by in it."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.joint_rows import nodes_of
from drystone.jit import kernel
from drystone.model.joint_arrays import ROW_EQUALITY
from drystone.solvers.articulated.end_poses import fill_end_rows, predict_poses
from drystone.solvers.articulated.secant import set_secant_rows

DT = 1 / 240


@kernel
def make_secants(joints, bodies, state, joint_work, motion, dt):
    """Rows of the first group as secants of the start and of where motion.move leads."""
    first, last = nodes_of(0, joint_work)
    predict_poses(first, last, bodies, state, joint_work, motion, False, state.twist, 0, dt)
    fill_end_rows(first, last, joints, joint_work, dt)
    set_secant_rows(first, last, joints, state, joint_work, motion, 1.0, state.twist, dt)


KINDS = {
    "ball": lambda a, b: ds.Ball(a, b, (0.3, 0.1, 0)),
    "hinge": lambda a, b: ds.Hinge(a, b, (0.3, 0.1, 0), (0, 0, 1)),
    "slider": lambda a, b: ds.Slider(a, b, (1, 0, 0)),
    "distance": lambda a, b: ds.Distance(a, b, (0, 0.3, 0), (1, 0.2, 0)),
}


def opened(kind, angle, seed=0):
    """Rows of a pair that rotates by `angle` [rad], what they see of it, and what opens [m]."""
    world = ds.World(gravity=(0, 0, 0), dt=DT, sleeping=False)
    a = world.add_body(ds.Box(0.5, 0.3, 0.2), mask=0)
    b = world.add_body(ds.Box(0.5, 0.2, 0.3), position=(1, 0, 0), mask=0)
    world.add_joint(KINDS[kind](a, b))
    world.step()
    joint_work, motion, rng = world._joint_work, world._work.motion, np.random.default_rng(seed)
    for body in range(2):
        spin = rng.normal(size=3)
        motion.move[body, :3] = 0.1 * angle / DT * rng.normal(size=3)
        motion.move[body, 3:6] = angle / DT * spin / np.linalg.norm(spin)
    model = world._build.model._replace(outlines=None)
    make_secants(model.joints, model.bodies, world._state, joint_work, motion, DT)
    rows, end = joint_work.rows, joint_work.end_rows
    held = rows.kind == ROW_EQUALITY
    one, two = motion.move[rows.body[held, 0], :6], motion.move[rows.body[held, 1], :6]
    seen = np.sum(rows.linear[held] * (two[:, :3] - one[:, :3]), axis=1)
    seen += np.sum(rows.angular[held, 3:] * two[:, 3:], axis=1)
    seen -= np.sum(rows.angular[held, :3] * one[:, 3:], axis=1)
    return rows.linear[held].any(axis=1), DT * seen, end.error[held] - rows.error[held]


@pytest.mark.parametrize("angle", [1e-3, 0.3, 1.5])
def test_secant_of_a_point_is_exact_at_any_angle(angle):
    """Means of the arms times tan(x) / x: the difference of two rotated arms, to rounding."""
    point, seen, opening = opened("ball", angle)
    assert point.all()
    assert seen == pytest.approx(opening, abs=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_secants_err_in_third_order(kind):
    """Halving the angle divides what they miss by eight; J at the start only by four."""
    errors = []
    for angle in (0.04, 0.02):
        _, seen, opening = opened(kind, angle)
        errors.append(np.abs(seen - opening).max())
    assert errors[1] < errors[0] / 6.0 + 1e-13
