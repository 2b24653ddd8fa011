"""Elimination along trees of joints against dense equations, and which joints have trees."""

import numpy as np
import pytest

import drystone as ds
from drystone.constraints.joint_rows import joint_work_of
from drystone.constraints.joints.fill_rows import direction_errors, fill_joint_rows
from drystone.constraints.joints.position_error import point_error
from drystone.jit import kernel
from drystone.jit.vec import rotation_matrix
from drystone.model.joint_arrays import ROW_DRIVE, ROW_EQUALITY
from drystone.scenes import SCENES
from drystone.solvers.articulated.articulated_body import (
    eliminate,
    held_error,
    member,
    momentum_of,
    set_impulses,
    solve_tree,
)
from rounding import close

DT = 1 / 240


@kernel
def solve(t, joints, bodies, turn, joint_work, free, twist):
    """Twists of tree `t` that fit, and its impulses; returns how far they are from fitting."""
    trees, rows, stiff = joint_work.trees, joint_work.rows, joint_work.added_inertia
    driven = trees.driven[t] == 1
    eliminate(t, joints, bodies, turn, stiff, rows, trees, driven)
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            f, m = momentum_of(
                b, bodies, turn, stiff, (free[b, 0], free[b, 1], free[b, 2]),
                (free[b, 3], free[b, 4], free[b, 5]),
            )  # fmt: skip
            for i in range(3):
                trees.flow[b, i], trees.flow[b, 3 + i] = f[i], m[i]
    solve_tree(t, joints, rows, rows.bias, free, trees, True, driven, True)
    for k in range(trees.first[t], trees.first[t + 1] + 1):
        b = member(t, k, trees)
        if b >= 0:
            for i in range(6):
                twist[b, i] = trees.flow[b, i]
    set_impulses(t, joints, bodies, turn, stiff, rows, free, twist, trees)
    return held_error(t, joints, rows, rows.bias, twist, trees)


@kernel
def position_errors(joints, position, rotation, out):
    for j in range(joints.kind.shape[0]):
        out[j, :3] = point_error(joints, j, position, rotation)
        out[j, 3:] = direction_errors(joints, j, rotation)


def rig(world):
    """Model, linkage with rows of random biases, rotation matrices and free twists."""
    model, state, rng = world._synced().model, world._state, np.random.default_rng(4)
    joint_work = joint_work_of(model.joints, model.bodies)
    fill_joint_rows(model.joints, state.position, state.rotation, DT, joint_work.rows)
    held = joint_work.rows.kind == ROW_EQUALITY
    joint_work.rows.bias[held] = rng.normal(size=held.sum())
    turn = np.array([rotation_matrix(*q) for q in state.rotation])
    free = np.zeros((len(turn) + 1, 8))
    free[:-1, :6] = rng.normal(size=(len(turn), 6))
    return model, joint_work, turn, free


def dense_answer(model, joint_work, turn, free):
    """Twists and impulses from W p + softness p + q = 0, all joints and soft drives at once."""
    rows, n = joint_work.rows, len(turn)
    inverse = np.zeros((6 * n, 6 * n))
    for b, r in enumerate(turn.reshape(n, 3, 3)):
        o = 6 * b
        inverse[o : o + 3, o : o + 3] = model.bodies.inv_mass[b] * np.eye(3)
        inverse[o + 3 : o + 6, o + 3 : o + 6] = r @ np.diag(model.bodies.inv_inertia[b]) @ r.T
    taken = np.flatnonzero((rows.kind == ROW_EQUALITY) | (rows.kind == ROW_DRIVE))
    jacobian = np.zeros((len(taken), n + 1, 6))
    for k, r in enumerate(taken):
        a, b = rows.body[r]
        jacobian[k, b] += [*rows.linear[r], *rows.angular[r, 3:]]
        jacobian[k, a] -= [*rows.linear[r], *rows.angular[r, :3]]
    jacobian = jacobian[:, :n].reshape(len(taken), 6 * n)
    w = jacobian @ inverse @ jacobian.T + np.diag(rows.softness[taken])
    impulse = -np.linalg.solve(w, jacobian @ free[:-1, :6].ravel() + rows.bias[taken])
    return free[:-1, :6] + (inverse @ jacobian.T @ impulse).reshape(n, 6), taken, impulse


def ladder():
    """Fixed, universal and ball joints, with the child sometimes A and sometimes B."""
    world = ds.World()
    parts = [world.add_body(ds.Box(1, 0.2, 0.3), position=(k, 0, 0.1 * k)) for k in range(5)]
    world.add_joint(ds.Fixed(parts[1], parts[0]))
    world.add_joint(ds.Universal(parts[1], parts[2], (1.5, 0, 0.1), (1, 0, 0), (0, 1, 0.2)))
    world.add_joint(ds.Ball(parts[3], parts[2], (2.5, 0, 0.2)))
    world.add_joint(ds.Hinge(parts[4], parts[3], (3.5, 0, 0.3), (0.6, 0.8, 0)))
    return world


BUILDS = {
    "chain": lambda: SCENES["chain"].build(),
    "figure": lambda: SCENES["ragdoll-stairs"].build(),
    "ladder": ladder,
}


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_agrees_with_dense_equations(build):
    model, joint_work, turn, free = rig(build())
    assert (joint_work.trees.tree == 0).all()
    twist = free.copy()
    error = solve(0, model.joints, model.bodies, turn, joint_work, free, twist)
    wanted, taken, impulse = dense_answer(model, joint_work, turn, free)
    assert error < 1e-12
    assert twist[:-1, :6] == pytest.approx(wanted, abs=1e-11)
    assert joint_work.rows.impulse[taken] == pytest.approx(impulse, abs=1e-10)


@pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS)
def test_position_errors_are_those_of_the_rows(build):
    model, joint_work, turn, _ = rig(build())
    rng, n, joints = np.random.default_rng(7), len(turn), model.joints
    position, rotation = rng.normal(size=(n + 1, 3)), rng.normal(size=(n + 1, 4))
    rotation /= np.linalg.norm(rotation, axis=1)[:, None]
    position[n], rotation[n] = 0.0, (1, 0, 0, 0)
    fill_joint_rows(joints, position, rotation, DT, joint_work.rows)
    found = np.zeros((len(joints.kind), 6))
    position_errors(joints, position, rotation, found)
    scale = max(1.0, np.abs(position).max(), np.abs(joints.anchor).max())
    for j, (points, held, _) in enumerate(joint_work.trees.held):
        first = joints.row_first[j]
        error = joint_work.rows.error[first : first + points + held]
        assert close(found[j, : points + held], error, scale)


def test_loops_and_other_kinds_have_no_tree():
    for name in ("four-bar", "agony"):  # closed by the ground, by the load
        built = SCENES[name].build()._synced()
        assert (joint_work_of(built.model.joints, built.model.bodies).trees.tree == -1).all()
    world = ladder()
    world.add_joint(ds.Slider(world.bodies[0], world.add_body(ds.Sphere(0.1)), (1, 0, 0)))
    model = world._synced().model
    assert (joint_work_of(model.joints, model.bodies).trees.tree == -1).all()
