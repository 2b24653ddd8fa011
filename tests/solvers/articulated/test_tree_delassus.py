"""Contacts of trees of joints with the joints eliminated, against the whole matrix."""

import numpy as np
import pytest

from drystone.constraints.last_step import last_impulse
from drystone.constraints.residual import residual
from drystone.jit import kernel
from drystone.model.joint_arrays import ROW_DRIVE, ROW_EQUALITY
from drystone.scenes import SCENES
from drystone.solvers.articulated.tree_delassus import (
    choose_rows,
    condense,
    eliminate_listed,
    number_motions,
)


@kernel
def condensed(contacts, model, work, joint_work):
    """W of the contacts of the only group into work.island; its number of blocks."""
    motion, rows = work.motion, work.rows
    if number_motions(0, rows, joint_work, motion.mass) == 0:
        return 0
    joint_work.trees.ready[0] = 0
    eliminate_listed(model.joints, model.bodies, motion.rotation_matrix, joint_work)
    n = choose_rows(0, contacts, joint_work, True, False)
    condense(0, n, rows, joint_work, model.bodies, motion, work.island.island)
    return n


@pytest.fixture(scope="module")
def fallen():
    """The figure on the stairs in its first moments of contact."""
    world = SCENES["ragdoll-stairs"].build()
    while world.time < 2.0 and len(world.contacts().gap) < 6:
        world.step()
    assert len(world.contacts().gap) >= 6
    return world


def dense_blocks(n, island):
    blocks = np.zeros((3 * n, 3 * n))
    for i in range(n):
        for k in range(island.first[i], island.first[i + 1]):
            j = island.column[k]
            blocks[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] = island.value[k].reshape(3, 3)
    return blocks


def test_matrix_is_that_of_the_whole_without_joints(fallen):
    """W_cc - W_cj W_jj⁻¹ W_jc for the rows j that hold, and the dampers."""
    problem, joint_work, work = fallen.problem(), fallen._joint_work, fallen._work
    nc, rows = problem.contact_count, joint_work.rows
    joint_work.slack[:] = 1e9  # no limit is near
    n = condensed(nc, fallen._build.model, work, joint_work)
    assert n == nc
    row, w = problem.joints.row, problem.W().toarray()
    taken = (row >= 0) & np.isin(rows.kind[row], (ROW_EQUALITY, ROW_DRIVE))
    j, c = 3 * nc + np.flatnonzero(taken), np.arange(3 * nc)
    wanted = w[np.ix_(c, c)] - w[np.ix_(c, j)] @ np.linalg.solve(w[np.ix_(j, j)], w[np.ix_(j, c)])
    found = dense_blocks(n, work.island.island)
    assert found == pytest.approx(wanted, abs=1e-7 * np.abs(wanted).max())


def test_step_obeys_the_laws_of_all_rows(fallen):
    """Contacts, joints, dampers and limits: by the judge that all solvers share."""
    for _ in range(60):
        fallen.step()
        problem = fallen.problem()
        error = residual(problem, last_impulse(problem, fallen._work, fallen._joint_work))
        assert error <= fallen._settings.tolerance
