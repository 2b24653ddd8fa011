"""Snapshots, copies and batches: the same bits, whatever ran between."""

import numpy as np
import pytest

import drystone as ds


def pile(count=6):
    world = ds.World()
    world.add_fixed(ds.Plane())
    for k in range(count):
        world.add_body(ds.Box(0.4, 0.4, 0.4), position=(0.05 * (k % 2), 0, 0.25 + 0.45 * k))
    return world


def test_rollouts_from_a_snapshot_end_in_the_same_bits():
    world = pile()
    world.run(0.3)
    kept, ends = world.snapshot(), set()
    for k in range(6):
        world.run(0.1)
        ends.add(world.hash())
        world.bodies[k % 3].velocity = (k, 0, 0)  # what ran between
        world.run(0.02 * k)
        world.restore(kept)
        assert world.time == kept.time
    assert len(ends) == 1


def test_a_copy_goes_on_with_the_same_bits_and_by_itself():
    world = pile()
    world.run(0.3)
    other = world.copy()
    assert other.bodies[0] is not world.bodies[0] and other.bodies[0].shape is world.bodies[0].shape
    world.run(0.2)
    before = other.hash()
    assert other.hash() == before != world.hash()
    other.run(0.2)
    assert other.hash() == world.hash()


def test_a_snapshot_of_another_world_or_before_an_edit_is_refused():
    world = pile(1)
    kept = world.snapshot()
    with pytest.raises(ds.InputError, match="edited"):
        world.copy().restore(kept)
    world.add_body(ds.Sphere(1), position=(5, 0, 5))
    with pytest.raises(ds.InputError, match="edited"):
        world.restore(kept)
    with pytest.raises(ds.InputError, match="no Snapshot"):
        world.restore(None)


def test_all_poses_and_velocities_can_be_set_at_once():
    world = pile(3)
    world.positions = world.positions + (1, 0, 0)
    assert world.bodies[1].position == pytest.approx([1.05, 0, 0.7])
    world.velocities = 0
    world.spins = (0, 0, 2)
    assert (world.spins == (0, 0, 2)).all() and not world.velocities.any()
    half = 2**-0.5
    world.orientations = [(half, 0, 0, half)] * 3
    assert world.bodies[2].orientation == pytest.approx([half, 0, 0, half])
    with pytest.raises(ds.InputError, match="shape"):
        world.positions = np.zeros((2, 3))
    with pytest.raises(ds.InputError, match="unit quaternion"):
        world.orientations = (2, 0, 0, 0)
    with pytest.raises(ds.InputError, match="finite"):
        world.velocities = np.nan


def test_the_copies_of_a_batch_have_the_bits_of_worlds_of_their_own():
    world = pile(3)
    batch = ds.Batch(world, 3)
    batch.velocities[1, 0] = (0.5, 0, 0)
    batch.set_mass(world.bodies[0], [1.0, 2.0, 64.0])
    batch.step(30)
    alone = world.copy()
    alone.bodies[0].mass = 2.0
    alone.bodies[0].velocity = (0.5, 0, 0)
    for _ in range(30):
        alone.step()
    assert batch[1].hash() == alone.hash()
    assert (batch.velocities[1] == alone.velocities).all()
    assert batch.positions.shape == (3, 3, 3)
    assert batch[0].hash() != batch[1].hash()


def test_pushes_act_at_their_point():
    world = ds.World(gravity=(0, 0, 0))
    body = world.add_body(ds.Box(1, 1, 1), mass=2.0)
    body.push((4, 0, 0), at=(0, 0, 0.5))
    assert body.velocity == pytest.approx([2, 0, 0])
    assert body.spin == pytest.approx([0, 4 * 0.5 / (2.0 / 6), 0])
    body.force_at((0, 3, 0), (1, 0, 0))
    assert body.force.tolist() == [0, 3, 0] and body.torque.tolist() == [0, 0, 3]


def test_a_joint_that_is_set_while_the_world_runs_gives_the_bits_of_one_that_was_made_so():
    def door(speed):
        world = ds.World(sleeping=False)
        leaf = world.add_body(ds.Box(1, 0.1, 2), position=(0.5, 0, 0))
        hinge = ds.Hinge(None, leaf, point=(0, 0, 0), axis=(0, 0, 1),
                         motor=ds.Motor(speed, max_torque=50.0))  # fmt: skip
        world.add_joint(hinge)
        return world, hinge

    made, _ = door(2.0)
    world, hinge = door(1.0)
    assert world.model is not None
    build = world._build
    hinge.set(motor=ds.Motor(2.0, max_torque=50.0))
    assert world._build is build and not world._stale  # nothing was built anew
    for one in (made, world):
        one.run(0.1)
    assert made.hash() == world.hash()


def test_contact_forces_on_fixed_things_are_told_apart():
    world = ds.World(sleeping=False)
    left = world.add_fixed(ds.Box(1, 1, 1), position=(-2, 0, -0.5))
    right = world.add_fixed(ds.Box(1, 1, 1), position=(2, 0, -0.5))
    for x, mass in ((-2, 1.0), (2, 3.0)):
        world.add_body(ds.Box(0.5, 0.5, 0.5), position=(x, 0, 0.25), mass=mass)
    world.run(0.2)
    contacts = world.contacts()
    assert contacts.on_fixed(left) == pytest.approx([0, 0, -9.81], abs=1e-3)
    assert contacts.on_fixed(right) == pytest.approx([0, 0, -3 * 9.81], abs=1e-3)


def driven():
    """Hinges with motors and servos above a pile."""
    world = pile(3)
    hinges, below = [], None
    for k in range(3):
        link = world.add_body(ds.Box(0.4, 0.1, 0.1), position=(2.2 + 0.4 * k, 0, 1.0))
        drive = ds.Motor(1.0, max_torque=9.0) if k == 1 else ds.Servo(0.3, 40.0, 2.0)
        hinge = ds.Hinge(below, link, (2.0 + 0.4 * k, 0, 1.0), (0, 1, 0), motor=drive)
        hinges.append(world.add_joint(hinge))
        below = link
    return world, hinges


def test_rollouts_of_joints_end_in_the_same_bits_whatever_they_were_set_to():
    world, hinges = driven()
    world.run(0.2)
    kept, ends = world.snapshot(), set()
    for k in range(6):
        for _ in range(20):
            world.step()
        ends.add(world.hash())
        hinges[1].set(motor=ds.Motor(-float(k), max_torque=9.0))  # what ran between
        hinges[0].set(motor=ds.Servo(0.1 * k, 10.0, 1.0))
        world.run(0.03 * k)
        world.restore(kept)
        assert hinges[1].motor.speed == 1.0 and hinges[0].motor.stiffness == 40.0
    assert len(ends) == 1


def test_masses_and_values_of_pairs_are_written_in_place():
    """With the bits of a world that is built anew."""
    worlds = [pile(3), pile(3)]
    for world in worlds:
        world.run(0.3)
        world.bodies[1].mass = 7.0
        world.set_pair(world.fixed[0].material, world.bodies[0].material, friction=0.2)
        assert not world._stale
    worlds[1]._stale = True  # all arrays anew
    for world in worlds:
        assert world.model.bodies.inv_mass[1] == 1 / 7.0
        assert world.model.pairing.friction[0, 0] == 0.2
        world.bodies[0].velocity = (1, 0, 0)
        world.run(0.3)
    assert worlds[0].hash() == worlds[1].hash()


def test_a_snapshot_is_of_another_world_after_a_mass_was_set():
    world = pile(1)
    world.step()
    kept = world.snapshot()
    world.bodies[0].mass = 3.0
    with pytest.raises(ds.InputError, match="edited"):
        world.restore(kept)


def test_each_copy_of_a_batch_has_its_own_mass_friction_and_gains():
    """As worlds that were made so, to the last bit."""
    world, hinges = driven()
    stone = world.bodies[0].material
    batch = ds.Batch(world, 2)
    batch.set_mass(world.bodies[2], [2.0, 3.0])
    batch.set_friction(stone, stone, [0.1, 0.7])
    batch.set_gains(hinges[0], [30.0, 60.0], 3.0)
    batch.targets[:, 1, 0] = (0.5, -0.5)  # the speed of a motor
    batch.step(40)
    for k, (mass, friction, gain, speed) in enumerate(((2, 0.1, 30, 0.5), (3, 0.7, 60, -0.5))):
        alone = world.copy()
        alone.bodies[2].mass = mass
        alone.set_pair(stone, stone, friction=friction)
        alone.joints[0].set(motor=ds.Servo(0.3, gain, 3.0))
        alone.joints[1].set(motor=ds.Motor(speed, max_torque=9.0))
        for _ in range(40):
            alone.step()
        assert alone.hash() == batch[k].hash()
    batch.stiffness[0, 0, 0] = np.nan
    with pytest.raises(ds.InputError, match="drive of joint 0 in copy 0"):
        batch.step()
    with pytest.raises(ds.InputError, match="no Servo"):
        batch.set_gains(hinges[1], 1.0)
    with pytest.raises(ds.InputError, match="seconds is 1e.154, which is"):
        batch.run(1e154)
    with pytest.raises(ds.InputError, match="count is"):
        batch.step(2**63)
    with pytest.raises(ds.InputError, match="set_joint: values is 1.7"):
        batch.set_joint(hinges[0], "limits", 1.7)
    with pytest.raises(ds.InputError, match="set_joint: name is 3"):
        batch.set_joint(hinges[0], 3, [1, 2])


def test_setting_a_drive_looks_at_what_a_joint_allows_only_if_it_must():
    """A drive of the same kind takes the short way, and everything else all checks."""
    world, hinges = driven()
    world.step()
    with pytest.raises(ds.InputError, match="motor"):
        hinges[0].set(motor=3.0)
    with pytest.raises(ds.InputError, match="1 number"):
        hinges[1].set(motor=ds.Motor((0, 0, 1)))
    with pytest.raises(ds.InputError, match="cannot be set"):
        hinges[1].set(a=None)
    build = world._build
    hinges[1].set(motor=ds.Motor(2.5, max_torque=9.0))
    assert world._build is build and world.model.joints.drive[1, 0, 0] == 2.5
    hinges[1].set(motor=ds.Motor(2.5))  # without a bound its tree is another one
    assert world._stale


def test_what_slept_lies_where_it_slept():
    """Poses of shapes that sleep are kept from step to step: not those of a later time."""
    world = ds.World()
    world.add_fixed(ds.Plane())
    box = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5))
    ball = world.add_body(ds.Sphere(0.3), position=(0, 0, 9.0))
    world.run(1.0)
    assert box.asleep and not ball.asleep
    snapshot, copy = world.snapshot(), world.copy()
    copy.run(1.0)
    box.velocity = 8.0, 0.0, 0.0
    world.run(3.0)
    assert box.position[0] > 1.0 and box.asleep
    world.restore(snapshot)
    world.run(1.0)
    assert world.hash() == copy.hash()
    assert ball.position[2] > 1.2  # on the box
