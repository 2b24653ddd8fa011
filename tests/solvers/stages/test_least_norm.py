"""Impulses of a body that sticks are shared evenly: the least-norm answer of Coulomb's law."""

import numpy as np
import pytest

import drystone as ds

G = 9.81


def tripod(share, friction=0.3):
    """A body on three feet that is pushed along x by this share of what it can bear."""
    world = ds.World(sleeping=False)
    stone = ds.Material(density=1000, friction=friction)
    world.add_fixed(ds.Plane(), stone)
    feet = [(0.3 * np.cos(t), 0.3 * np.sin(t), 0.05) for t in 2 * np.pi * np.arange(3) / 3]
    body = world.add_body(ds.Compound(*[(ds.Sphere(0.05), foot) for foot in feet]), stone)
    body.force = (share * friction * body.mass * G, 0, 0)
    return world, body


def test_a_tripod_shares_its_friction():
    world, body = tripod(0.4)
    for _ in range(3):
        info = world.step()
    contacts = world.contacts()
    assert info.converged
    assert np.allclose(contacts.force[:, 0], -body.force[0] / 3, rtol=1e-6)
    assert np.allclose(contacts.force[:, 1], 0.0, atol=1e-6 * body.force[0])


def test_it_is_the_answer_of_prox_newton():
    world, _ = tripod(0.4)
    for _ in range(3):
        world.step()
    impulse, _ = ds.solve(world.problem(), "prox-newton", tolerance=1e-10)
    found = world.contacts().impulse_axes
    assert np.allclose(np.hypot(*found[:, 1:].T), np.hypot(*impulse[:, 1:].T), rtol=1e-4)


def test_a_box_that_is_pushed_at_its_middle_has_no_forces_across():
    world = ds.World(sleeping=False)
    stone = ds.Material(density=1000, friction=0.5)
    world.add_fixed(ds.Plane(), stone)
    body = world.add_body(ds.Box(0.4, 0.4, 0.2), stone, position=(0, 0, 0.1))
    body.force = (0.2 * body.mass * G, 0, 0)
    for _ in range(3):
        world.step()
    force = world.contacts().force
    assert np.allclose(force[:, 0], -0.05 * body.mass * G, rtol=1e-6)
    assert np.abs(force[:, 1]).max() < 1e-6 * body.mass * G


def test_a_body_that_slides_keeps_the_friction_of_sliding():
    world, body = tripod(1.5)
    for _ in range(10):
        info = world.step()
    contacts = world.contacts()
    assert info.converged and body.velocity[0] > 0.0
    normal, *tangential = contacts.impulse_axes.T
    assert np.hypot(*tangential) == pytest.approx(0.3 * normal, rel=1e-6)
