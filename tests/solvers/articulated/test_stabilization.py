"""Joints that are far open: they close, and nobody gains speed by it."""

import numpy as np
import pytest

import drystone as ds

KINDS = {
    "ball": lambda a, b, point: ds.Ball(a, b, point=point),
    "hinge": lambda a, b, point: ds.Hinge(a, b, point, (0, 0, 1)),
    "fixed": lambda a, b, point: ds.Fixed(a, b),
}


def row_of_boxes(world, count, join=KINDS["ball"], **options):
    boxes = []
    for i in range(count):
        place = (0.12 * (i - 1), 0, 0)
        boxes.append(world.add_body(ds.Box(0.1, 0.03, 0.02), position=place, **options))
        if i > 0:
            world.add_joint(join(boxes[-2], boxes[-1], (0.12 * i - 0.18, 0, 0)))
    return boxes


def widest(world):
    return max(joint.separation for joint in world.joints)


@pytest.mark.parametrize("kind", KINDS)
def test_a_body_set_elsewhere_comes_back_to_its_joints(kind):
    """A link in the middle of four, set down a few centimetres away and turned by a radian."""
    world = ds.World(gravity=(0, 0, 0), sleeping=False)
    boxes = row_of_boxes(world, 4, KINDS[kind])
    world.step()
    boxes[1].position = (0.03, 0.05, -0.04)
    boxes[1].orientation = (np.cos(0.5), 0, np.sin(0.5), 0)
    world.run(10 * world.dt)
    assert widest(world) < 1e-3
    assert world.energy().kinetic < 1e-20


def test_stabilization_leaves_contacts_alone():
    """A chain that lies on the ground, and one link of it lifted: all lie there again."""
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane())
    boxes = row_of_boxes(world, 3)
    for box in boxes:
        box.position = box.position + np.array([0, 0, 0.01])
    world.run(0.1)
    boxes[2].position = boxes[2].position + np.array([0.02, 0, 0.05])
    world.run(1.0)
    assert widest(world) < 1e-3
    assert [box.position[2] for box in boxes] == pytest.approx([0.01] * 3, abs=1e-4)


@pytest.mark.parametrize("seed", [0, 2, 28, 50])
def test_chain_that_rotates_by_radians_a_step_opens_no_wider(seed):
    """Between two walls, 60 steps a second: what cannot be stabilized is left as it is."""
    world = ds.World(dt=1 / 60, gravity=(0, 0, 0), sleeping=False)
    glass = ds.Material(density=2000, friction=0.0, restitution=1.0)
    for x in (-0.55, 0.55):
        world.add_fixed(ds.Box(0.2, 3, 3), glass, position=(x, 0, 0))
    rng = np.random.default_rng(seed)
    for box in row_of_boxes(world, 4, material=glass):
        box.velocity, box.spin = (25, 0, 0), rng.normal(0, 60, 3)
    for _ in range(20):
        world.step()
        assert widest(world) < 1.0
