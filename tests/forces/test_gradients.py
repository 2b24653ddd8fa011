"""Gradients of force elements against central differences of their forces."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import drystone as ds
from drystone.forces.dispatch import element_gradients, fill_forces
from drystone.forces.evaluate import Forces, elements_of
from drystone.forces.gradients import holding_back, stiffness
from drystone.forces.user_force import STEP, ForceState, differences
from drystone.jit.vec import quaternion_product

number = st.floats(-2.0, 2.0)
vec = st.tuples(number, number, number)
quaternion = st.tuples(number, number, number, number).filter(lambda q: np.linalg.norm(q) > 0.3)


def world_of(places, turns, twists):
    world = ds.World()
    for place, turn, twist in zip(places, turns, twists, strict=True):
        world.add_body(
            ds.Box(0.5, 0.3, 0.2), position=place, orientation=turn / np.linalg.norm(turn),
            velocity=twist[0], spin=twist[1], centre=(0.05, -0.1, 0.02), mass=1.0,
        )  # fmt: skip
    return world


def force_of(world, view):
    """Forces of the elements at the poses and twists of `view`, whose turns are from now on."""
    state, out = world.state, np.zeros((len(world), 6))
    q = [
        quaternion_product(tuple(t), tuple(r)) for t, r in zip(view[2], state.rotation, strict=True)
    ]
    twist = np.hstack((view.velocities, view.spins))
    moved = state._replace(position=view.centres, rotation=np.array(q), twist=twist)
    fill_forces(elements_of(world), moved, out)
    return out


def compare(world):
    """All gradients of the one element of `world`."""
    n, state = len(world), world.state
    not_turned = np.tile((1.0, 0.0, 0.0, 0.0), (n, 1))
    view = ForceState(0.0, state.position, not_turned, state.twist[:, :3], state.twist[:, 3:])
    wanted = differences(lambda v: force_of(world, v), view)
    found = [np.zeros((6 * n + 6, 6 * n + 6)), np.zeros((6 * n + 6, 6 * n + 6))]
    for body, *matrices in element_gradients(elements_of(world), state):
        for whole, blocks in zip(found, matrices, strict=True):
            for rows, block in zip(body, blocks, strict=True):
                at = (6 * rows[:, None] + np.arange(6)).ravel()
                whole[np.ix_(at, at)] += block
    for one, other in zip(found, wanted, strict=True):
        scale = 1.0 + np.abs(other).max()
        assert np.abs(one[: 6 * n, : 6 * n] - other).max() < 1e-6 * scale


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(vec, quaternion, vec, vec), min_size=2, max_size=2), vec, vec)
def test_gradients_of_springs(bodies, one, two):
    """Force, torque, both ends, damping and arms: exact to the error of the differences."""
    world = world_of(*zip(*((p, q, (v, w)) for p, q, v, w in bodies), strict=True))
    a, b = world.bodies
    shift = np.subtract(one, two) + b.centre - a.centre
    assume(np.linalg.norm(shift) >= 0.2)  # the differences lose their digits where d is short
    world.add_force(
        ds.Spring(
            a,
            b,
            3.0,
            0.7,
            point_a=a.centre + np.array(two),
            point_b=b.centre + np.array(one),
            length=0.8,
        )  # fmt: skip
    )
    compare(world)


@settings(max_examples=30, deadline=None)
@given(vec, quaternion, vec, vec, st.floats(0.0, 4.0))
def test_gradients_of_drag_and_poles(place, turn, velocity, spin, power):
    assume(np.linalg.norm(velocity) > 0.1)  # |v| v has no second derivative at rest
    for force in (
        ds.Drag(linear=0.3, quadratic=0.2, angular=0.1),
        ds.Attractor((2.5, 0.1, 0.2), 1.5, power=power, core=0.3),
        ds.Repulsor((0.1, 2.5, 0.2), 1.5, power=power, core=0.3),
    ):
        world = world_of([place], [turn], [(velocity, spin)])
        world.add_force(force)
        compare(world)


@settings(max_examples=30, deadline=None)
@given(vec, vec)
def test_differences_find_the_matrices_of_a_linear_function(place, velocity):
    """F = K x + C v: the differences are K and C, to rounding / STEP."""
    rng = np.random.default_rng(1)
    k, c = rng.normal(size=(3, 3)), rng.normal(size=(6, 6))

    def linear(view):
        out = np.hstack((view.velocities, view.spins)) @ c.T
        out[:, :3] += view.centres @ k.T
        return out

    view = ForceState(
        0.0, np.array([place]), np.array([(1.0, 0, 0, 0)]), np.array([velocity]), np.ones((1, 3))
    )
    by_pose, by_twist = differences(linear, view)
    assert np.abs(by_pose[:3, :3] - k).max() < 1e-13 / STEP
    assert not by_pose[:, 3:].any() and not by_pose[3:].any()
    assert np.abs(by_twist - c).max() < 1e-13 / STEP


def test_what_pushes_on_is_left_out():
    """A pressed spring: stiff along, nothing across, where its true gradient is positive."""
    world = world_of([(0, 0, 0)], [(1, 0, 0, 0)], [((0, 0, 0), (0, 0, 0))])
    (body,) = world.bodies
    far = body.centre + np.array((0.5, 0, 0))
    world.add_force(ds.Spring(body, None, 10.0, point_b=far, length=1.0))
    ((_, by_pose, _),) = element_gradients(elements_of(world), world.state)
    assert by_pose[0, 1, 1] == 10.0  # k (L / l - 1)
    kept = stiffness(Forces(world), world.state)[0].toarray()
    assert kept[0, 0] == pytest.approx(-10.0) and np.abs(kept[1:]).max() < 1e-12
    assert (np.linalg.eigvalsh(holding_back(by_pose)) < 1e-12).all()
