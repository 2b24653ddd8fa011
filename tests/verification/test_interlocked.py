"""Interlocked meshes stay interlocked: pushed into each other, under heavy loads, at long steps."""

from math import pi

import numpy as np
import pytest
import trimesh

import drystone as ds
from drystone.bench.fuzz.linked_tubes import linking_number
from drystone.model.rotation import matrix_from_quaternion
from drystone.scenes import SCENES
from drystone.scenes.mechanism import PIN

STANDING = (np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0)
STEPS = (1 / 240, 0.01)


def ring_line(body, radius):
    """Points of the middle circle of a torus, in the world."""
    angle = 2 * pi * np.arange(90) / 90
    circle = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    return circle @ matrix_from_quaternion(body.orientation).T + body.position


def linked(one, other, radius):
    return abs(linking_number(ring_line(one, radius), ring_line(other, radius))) == 1


def total_energy(world):
    energy = world.energy()
    return energy.kinetic + energy.potential


@pytest.mark.parametrize("deep", [0.002, 0.03, 0.09, 0.18])
@pytest.mark.parametrize("sections", [(16, 8), (64, 16)])
def test_a_ring_that_hangs_too_deep_in_another_does_not_fall(sections, deep):
    """R 0.4, r 0.1: pushed out to the height at which it touches, from which it hangs."""
    ring = trimesh.creation.torus(0.4, 0.1, major_sections=sections[0], minor_sections=sections[1])
    mesh = ds.Mesh(ring.vertices, ring.faces)
    world = ds.World(sleeping=False)
    upper = world.add_fixed(mesh, orientation=STANDING, name="upper")
    about_y = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
    lower = world.add_body(mesh, position=(0, 0, -0.6 - deep), orientation=about_y, name="lower")
    assert world.step().penetration == pytest.approx(deep, rel=0.05)
    info = world.run(1.0)
    assert linked(upper, lower, 0.4)
    assert info.converged and lower.position[2] == pytest.approx(-0.6, abs=1e-3)


def neighbours(world, rows):
    for i in range(rows):
        for j in range(rows):
            for name, k, m in ((f"link x {i}.{j}", i + 1, j), (f"link y {i}.{j}", i, j + 1)):
                if k < rows and m < rows:
                    yield world[f"node {i}.{j}"], world[name]
                    yield world[f"node {k}.{m}"], world[name]


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
def test_no_ring_leaves_the_net(dt):
    rows = 3
    world = SCENES["chain-net"].build(rows=rows, dt=dt)
    energy = total_energy(world)
    for _ in range(8):
        world.run(0.1)
        now = total_energy(world)
        assert now <= energy + 1e-6 * abs(energy)
        energy = now
    assert all(linked(a, b, 0.25) for a, b in neighbours(world, rows))


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
def test_the_chain_of_the_wrecking_ball_holds(dt):
    world = SCENES["wrecking-ball"].build(count=5, rows=0, dt=dt)
    chain = [world["hook"], *world.bodies[:5]]
    energy, scale = total_energy(world), 249e3 * 9.81
    for _ in range(10):
        world.run(0.1)
        now = total_energy(world)
        assert now <= energy + 1e-6 * scale
        energy = now
        assert all(linked(a, b, 0.5) for a, b in zip(chain[:-1], chain[1:], strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("dt", STEPS)
def test_arms_stay_on_their_pins(dt):
    world = SCENES["pinned-pendulum"].build(dt=dt)
    energy = total_energy(world)
    for _ in range(10):
        world.run(0.1)
        now = total_energy(world)
        assert now <= energy + 1e-6 * 100.0
        energy = now
        first, second = (world[f"{k} arm"] for k in ("first", "second"))
        assert np.linalg.norm(first.position) < 0.1 * PIN
        down = matrix_from_quaternion(first.orientation) @ (0, 0, -0.5)
        apart = second.position - first.position - down
        assert np.hypot(apart[0], apart[2]) < 0.1 * PIN
