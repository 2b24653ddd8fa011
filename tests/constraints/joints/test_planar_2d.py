"""Joints in two dimensions: what is left of their rows is what three dimensions have."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone import Ball, Distance, Fixed, Hinge, Motor, Planar, Slider, SpringDamper
from drystone.constraints.joints.fill_rows import fill_joint_rows, flat_kind
from drystone.constraints.joints.pack import pack_joints
from drystone.model.joint_arrays import ROW_EQUALITY, joint_rows
from joint_rigs import DT, inside, moved, relative_velocity

IN_PLANE = np.array([1, 0, 1, 0, 1, 0.0])  # twists of two dimensions
FREE = dict(limits=(-0.5, 0.5), motor=Motor(1.0, max_force=3), friction=0.1)
RIGS = {
    "hinge": lambda a, b: Hinge(a, b, (0.5, 0, 0.2), (0, -1, 0), **FREE),
    "slider": lambda a, b: Slider(a, b, (0.6, 0, 0.8), **FREE),
    "fixed": lambda a, b: Fixed(a, b),
    "rod": lambda a, b: Distance(a, b, (0.2, 0, 0), (1, 0, 0.3)),
    "spring": lambda a, b: SpringDamper(a, b, (0.2, 0, 0), (1, 0, 0.3), 5, 1),
}
ROWS = {"hinge": 2, "slider": 2, "fixed": 3, "rod": 1, "spring": 0}


def tables(name, rng):
    """A joint between two bodies in the plane, packed for two dimensions and for three."""
    world, bodies = ds.World(), []
    for x in (0, 1):
        q = Rotation.from_rotvec((0, rng.uniform(-3, 3), 0)).as_quat()[[3, 0, 1, 2]]
        bodies.append(world.add_body(ds.Box(1, 0.3, 0.2), position=(x, 0, 0), orientation=q))
    joint = RIGS[name](*bodies)
    names = ("offset", "principal_rotation")
    offset, turn = (np.array([getattr(b._frame, f) for b in bodies]) for f in names)
    packed = [
        pack_joints([joint], bodies.index, offset, turn, kind_of=k) for k in (flat_kind, None)
    ]
    return [(table, joint_rows(table)) for table in packed], inside(bodies)


@pytest.mark.parametrize("name", RIGS)
@given(seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_rates_are_those_of_the_errors(name, seed):
    """Zero at creation; at any pose in the plane u is the rate of the error."""
    rng = np.random.default_rng(seed)
    ((table, rows), _), created = tables(name, rng)
    fill_joint_rows(table, *created, DT, rows)
    assert np.count_nonzero(rows.kind == ROW_EQUALITY) == ROWS[name]
    assert np.abs(rows.error).max() < 1e-12
    pose = moved(*created, rng.normal(size=(2, 6)) * IN_PLANE)
    twist, errors = rng.normal(size=(2, 6)) * IN_PLANE, []
    for time in (1e-6, -1e-6):
        fill_joint_rows(table, *moved(*pose, twist, time), DT, rows)
        errors.append(rows.error.copy())
    rate = np.subtract(*errors) / 2e-6
    fill_joint_rows(table, *pose, DT, rows)
    held = rows.kind == ROW_EQUALITY
    turned = np.abs(np.abs(rows.error[held]) - np.pi) > 1e-3  # angles jump at a half turn
    u = relative_velocity(rows, twist)[held]
    np.testing.assert_allclose(u[turned], rate[held][turned], atol=1e-7)


@pytest.mark.parametrize("name", RIGS)
@given(seed=st.integers(0, 2**31))
@settings(max_examples=40, deadline=None)
def test_rows_span_those_of_three_dimensions(name, seed):
    """For motions in the plane the held rows forbid the same; free coordinates have equal rows."""
    rng = np.random.default_rng(seed)
    (flat, full), created = tables(name, rng)
    pose = moved(*created, rng.normal(size=(2, 6)) * [0, 0, 0, 0, 0.2, 0])
    held, free = [], []
    for table, rows in (flat, full):
        fill_joint_rows(table, *pose, DT, rows)
        basis = np.eye(12).reshape(12, 2, 6)[[0, 2, 4, 6, 8, 10]]
        u = np.array([relative_velocity(rows, twist) for twist in basis]).T
        held.append(u[rows.kind == ROW_EQUALITY])
        free.append((u[rows.kind != ROW_EQUALITY], rows.bias[rows.kind != ROW_EQUALITY]))
    for x, y in zip(*free, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    rank = np.linalg.matrix_rank
    assert rank(held[0]) == len(held[0]) == rank(held[1], 1e-9)
    assert rank(np.vstack(held), 1e-9) == len(held[0])


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda a, b: Ball(a, b, (0, 0, 0)), "use Hinge"),
        (lambda a, b: Planar(a), "Planar: is not in two dimensions"),
        (lambda a, b: Hinge(a, b, (0, 0, 0), (0, 0, 1)), "must be (0, ±1, 0)"),
        (lambda a, b: Slider(a, b, (1, 1, 0)), "must be (x, 0, z)"),
    ],
)
def test_what_is_not_in_the_plane_is_refused(make, words):
    world = ds.World()
    bodies = [world.add_body(ds.Sphere(0.1), position=(x, 0, 0)) for x in (0, 1)]
    with pytest.raises(ds.DrystoneError) as caught:
        flat_kind(make(*bodies))
    assert words in str(caught.value)
