"""world.check() on joints: one mistake, one finding that names it; none if all is well."""

import numpy as np
import pytest

import drystone as ds

STONE = ds.Material(density=1000, friction=0.5)


def pair(**options):
    """Two boxes side by side that hang on a post by a hinge each."""
    world = ds.World()
    world.add_fixed(ds.Box(0.1, 0.1, 0.1), STONE, (0, 0, 3), name="post")
    world.add_body(ds.Box(0.4, 0.1, 0.1), STONE, (0.25, 0, 3), name="first")
    world.add_body(ds.Box(0.4, 0.1, 0.1), STONE, (0.75, 0, 3), name="second")
    first, second = world.bodies
    world.add_joint(ds.Hinge(world["post"], first, (0, 0, 3), (0, 1, 0)))
    world.add_joint(ds.Hinge(first, second, (0.5, 0, 3), (0, 1, 0), **options))
    return world


def found(world, what):
    return [finding for finding in world.check() if what in str(finding)]


def test_a_good_machine_has_no_findings():
    world = pair(limits=(-1, 1), motor=ds.Servo(0.5, 10.0))
    assert world.check() == []
    world.run(0.5)
    assert world.check() == []


def test_checking_changes_nothing():
    world, twin = pair(limits=(-0.2, 0.2)), pair(limits=(-0.2, 0.2))
    for each in (world, twin):
        each.run(0.2)
    world.check()
    assert world.joints[1].force.tobytes() == twin.joints[1].force.tobytes()
    for each in (world, twin):
        each.run(0.2)
    assert world.hash() == twin.hash()


def test_points_far_from_their_bodies():
    world = pair()
    world.add_joint(ds.Ball(world["second"], None, (50.0, 0, 3)))
    (finding,) = found(world, "has its point")
    assert finding.severity == "warning"
    assert finding.object == "Ball of second and the fixed world"
    assert "49.2 m from second" in finding.what


def test_joints_with_large_position_errors():
    world = pair()
    world["second"].position = (0.8, 0, 3)
    (finding,) = found(world, "misses by 0.05")
    assert finding.object == "Hinge of first and second"


@pytest.mark.parametrize("limits, over", [((0.1, 0.5), 0.1), ((-1, -0.3), 0.3), ((0, 1), None)])
def test_limits_that_are_violated_at_the_start(limits, over):
    findings = found(pair(limits=limits), "beyond its limits")
    assert len(findings) == (over is not None)
    if over:
        assert f"starts {over:g} " in findings[0].what


def test_cones_that_are_violated_at_the_start():
    world = ds.World()
    body = world.add_body(ds.Box(0.4, 0.1, 0.1), STONE, (0, 0, 3))
    cone = ds.SwingTwist((1, 0, 0), swing=0.4, cone=(np.cos(0.5), np.sin(0.5), 0))
    world.add_joint(ds.Ball(None, body, (0, 0, 3), cone))
    (finding,) = found(world, "beyond its limits")
    assert "starts 0.1 " in finding.what


@pytest.mark.parametrize("collide, count", [(True, 1), (False, 0)])
def test_jointed_bodies_that_overlap(collide, count):
    world = ds.World()
    a = world.add_body(ds.Box(0.4, 0.1, 0.1), STONE, (0, 0, 3), name="a")
    b = world.add_body(ds.Box(0.4, 0.1, 0.1), STONE, (0.35, 0, 3), name="b")
    world.add_joint(ds.Hinge(a, b, (0.175, 0, 3), (0, 1, 0)), collide=collide)
    findings = found(world, "overlaps")
    assert len(findings) == count
    if count:
        assert "collide=False" in findings[0].fix


def test_fixed_things_that_were_removed():
    world = pair()
    world.remove(world["post"])
    (finding,) = found(world, "which was removed")
    assert "holds on to post" in finding.what
    world.remove(world["first"])  # its joints go with it
    assert world.joints == () and not found(world, "which was removed")


def test_servos_that_press_against_a_limit():
    world = pair(limits=(-0.5, 0.5), motor=ds.Servo(0.8, 10.0))
    (finding,) = found(world, "target 0.8 outside")
    assert finding.severity == "hint"


def test_what_hangs_does_not_fall_for_ever():
    world = ds.World()
    body = world.add_body(ds.Box(1, 1, 1), STONE)
    assert found(world, "falls for ever")
    world.add_joint(ds.Ball(None, body, (0, 0, 2)))
    assert not found(world, "for ever")
    below = pair()
    for body in below.bodies:
        body.position = body.position - (0, 0, 9)
    assert not found(below, "fall for ever")
    below.remove(below.joints[1])
    assert len(found(below, "fall for ever")) == 1


def test_a_joint_needs_something_that_moves():
    """So that a check for it is not needed."""
    world = ds.World()
    a, b = (world.add_body(ds.Box(1, 1, 1), STONE, (k, 0, 0), kinematic=True) for k in range(2))
    with pytest.raises(ds.InputError, match="neither side can be moved"):
        ds.Ball(a, b, (0.5, 0, 0))
