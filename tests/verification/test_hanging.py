"""Bodies that hang by contact alone: they swing as they should, and gain nothing by it."""

from math import cos, pi, radians, sin, sqrt

import numpy as np
import pytest
import trimesh
from scipy.special import ellipk

import drystone as ds

MIDDLE, WIRE, PEG = 0.1, 0.02, 0.02  # radii [m]
ALONG_Y = (sqrt(0.5), sqrt(0.5), 0, 0)
ALONG_X = (sqrt(0.5), 0, sqrt(0.5), 0)
STEEL = ds.Material(density=7800, friction=0.6)


def ring(sections):
    torus = trimesh.creation.torus(MIDDLE, WIRE, major_sections=sections, minor_sections=24)
    return ds.Mesh(torus.vertices, torus.faces)


@pytest.mark.parametrize("angle", [5.0, 30.0])
def test_a_ring_that_rolls_on_a_peg_keeps_its_energy(angle):
    """Neither the mean of velocities nor the lifting out of overlaps may feed it."""
    inner = (MIDDLE - WIRE) * cos(pi / 96)  # the mesh is a polygon, 0.04 mm wider at its corners
    length = inner - PEG  # of the way of its centre
    world = ds.World(dt=1 / 240, sleeping=False)
    world.add_fixed(ds.Cylinder(PEG, 0.5), STEEL, orientation=ALONG_Y)
    start = (-length * sin(radians(angle)), 0, -length * cos(radians(angle)))
    body = world.add_body(ring(96), STEEL, position=start, orientation=ALONG_Y)
    swing = body.mass * 9.81 * length * (1 - cos(radians(angle)))  # [J]
    first = world.energy().total
    places, energies = [], []
    for _ in range(240 * 10):
        world.step()
        places.append(body.position[0])
        energies.append(world.energy().total)
    energies = np.array(energies)
    assert energies.max() < first + 0.02 * swing
    # What it may lose: a little at each corner of the polygon, and what it sinks by, its skin.
    assert energies[-240:].mean() > first - 0.15 * swing - body.mass * 9.81 * 2e-5
    if angle == 30.0:
        turns = np.flatnonzero(np.diff(np.sign(places)) > 0)
        period = (turns[-1] - turns[0]) / (len(turns) - 1) * world.dt
        inertia = body.inertia[2, 2]  # about its axis
        moved = body.mass * length**2 + inertia * (length / inner) ** 2
        small = 2 * pi * sqrt(moved / (body.mass * 9.81 * length))
        wanted = small * ellipk(sin(radians(angle / 2)) ** 2) * 2 / pi
        assert period == pytest.approx(wanted, rel=0.01)


def test_a_chain_of_rings_hangs_still():
    world, link = ds.World(dt=1 / 240, sleeping=False), ring(48)
    world.add_fixed(link, STEEL, orientation=ALONG_Y)
    for k in range(1, 6):
        turned = (ALONG_Y, ALONG_X)[k % 2]
        world.add_body(link, STEEL, position=(0, 0, -0.15 * k), orientation=turned)
    world.run(1.0)  # they fall by a centimetre
    last = world.energy().total
    for _ in range(100):
        world.run(0.1)
        energy = world.energy()
        assert energy.total < last + 1e-6 and energy.kinetic < 1e-3
        last = energy.total
    heights = np.append(0.0, [body.position[2] for body in world.bodies])
    np.testing.assert_allclose(np.diff(heights), -2 * (MIDDLE - WIRE), atol=1e-4)
    weight = 9.81 * sum(body.mass for body in world.bodies)
    force = world.contacts().between(None, world.bodies[0])
    assert force[2] == pytest.approx(weight, rel=1e-3)
