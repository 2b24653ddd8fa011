"""A step with joints that becomes non-finite is not taken: State is the last good step (trust.md).

All arrays of State are compared, bit for bit: a solver that had written start velocities, biases or
poses before the numbers were checked would be found out. But for the fat AABBs of bodies that
leave theirs in that very step, which are made before it (timestep.py) and hold for the same poses.
"""

import numpy as np
import pytest

import drystone as ds

HUGE = float(np.finfo(float).max)
SERVO = ds.Servo(0.3, stiffness=5.0, damping=0.1)


def chain(folder, motor=None, loop=False, ground=None, hung=True, top=False):
    """Two boxes on hinges, that hang on the fixed world or fall freely onto the ground."""
    world = ds.World(sleeping=False, checkpoint_folder=folder)
    if top:  # beside them a gyroscope, whose step is cut into substeps
        disc = world.add_body(
            ds.Cylinder(0.1, 0.02), position=(5.1, 0, 0), orientation=(0.5**0.5, 0, 0.5**0.5, 0),
            spin=(300, 0, 0),
        )  # fmt: skip
        world.add_joint(ds.Ball(None, disc, (5, 0, 0)))
    if ground is not None:
        world.add_fixed(ds.Plane(), position=(0, 0, ground))
    boxes = [
        world.add_body(ds.Box(0.2, 0.1, 0.1), position=(0.1 + 0.2 * k, 0, 2), mass=1 + k)
        for k in range(2)
    ]
    if hung:
        world.add_joint(ds.Hinge(None, boxes[0], (0, 0, 2), (0, 1, 0)))
    world.add_joint(ds.Hinge(*boxes, (0.2, 0, 2), (0, 1, 0), motor=motor))
    if loop:
        world.add_joint(ds.Distance(None, boxes[1], (0.4, 0, 3), (0.4, 0, 2)))
    return world


def spoil_velocity(world):
    world.state.twist[-1, 2] = np.nan


def spoil_drive(world):
    """A target that no number can hold, behind the back of the checks; rows are filled anew."""
    world._build.model.joints.drive[-1, 0, 0] = HUGE
    world._build.model.joints.drive[-1, 0, 1] = HUGE
    world._joint_work.filled[:] = np.nan


# What is built, and what makes the step fail.
CASES = {
    "tree": (dict(), spoil_velocity),
    "tree with a servo": (dict(motor=SERVO), spoil_drive),
    "free tree with a servo": (dict(motor=SERVO, hung=False), spoil_drive),
    "loop": (dict(loop=True), spoil_velocity),
    "substeps": (dict(top=True), spoil_velocity),
    "motor": (dict(motor=ds.Motor(1.0)), spoil_drive),
    "contact": (dict(motor=SERVO, hung=False, ground=1.9), spoil_drive),
}


def fails_and_leaves(world, spoil):
    """Arrays of State that the failing step has changed, as far as they went: some may grow."""
    spoil(world)
    before = {name: array.copy() for name, array in world.state._asdict().items()}
    with pytest.raises(ds.SimulationError, match="no longer a finite number"):
        world.step()
    after = {name: getattr(world.state, name)[: len(old)] for name, old in before.items()}
    box, fat = world._work.boxes.aabb, world.state.fat_aabb
    inside = (box[:, :3] >= fat[:, :3]) & (box[:, 3:] <= fat[:, 3:])
    assert (inside | np.isnan(box[:, :3])).all()
    del before["fat_aabb"]
    return [name for name, old in before.items() if after[name].tobytes() != old.tobytes()]


@pytest.mark.parametrize("given, spoil", CASES.values(), ids=CASES)
def test_the_last_good_step_is_left(tmp_path, given, spoil):
    world = chain(tmp_path, **given)
    world.run(0.1)
    assert fails_and_leaves(world, spoil) == []


def test_it_is_left_where_velocities_do_not_fit_the_joints(tmp_path):
    """They are made to fit for the step, in work arrays alone."""
    world = chain(tmp_path, motor=SERVO)
    world.run(0.1)
    world.state.twist[1] += 0.5
    assert fails_and_leaves(world, spoil_drive) == []


def test_it_is_left_in_the_step_in_which_the_island_first_touches(tmp_path):
    """The step before was smooth, so that there are biases to carry on."""
    given = dict(motor=SERVO, hung=False, ground=1.9)
    world, steps = chain(tmp_path, **given), 0
    while not len(world.contacts().gap):
        world.step()
        steps += 1
    world = chain(tmp_path, **given)
    for _ in range(steps - 1):
        world.step()
    assert world.state.joint_curve.any() and not len(world.contacts().gap)
    assert fails_and_leaves(world, spoil_drive) == []
