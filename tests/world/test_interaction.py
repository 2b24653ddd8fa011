"""Drag, throw, attract and repel: what they do, and that recordings repeat them exactly."""

import numpy as np
import pytest

import drystone as ds


def stack(count=3, **settings):
    world = ds.World(dt=1 / 120, **settings)
    world.add_fixed(ds.Plane())
    for k in range(count):
        world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5 + k), name=f"box {k}")
    return world


def test_a_dragged_body_comes_to_rest_at_the_target():
    """Gravity stretches the spring by m g / k."""
    world = ds.World(dt=1 / 240)
    box = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 5))
    with world.drag(box, target=(1, 2, 6)) as held:
        world.run(3.0)
        sag = box.mass * 9.81 / held._spring.stiffness
        assert box.position == pytest.approx((1, 2, 6 - sag), abs=1e-3)
        assert np.linalg.norm(box.velocity) < 1e-3
        held.move((1, 2, 8))
        world.run(3.0)
        assert box.position == pytest.approx((1, 2, 8 - sag), abs=1e-3)
    assert not held.held and not world.forces


def test_a_body_is_held_at_the_point_that_was_grabbed():
    world = ds.World(dt=1 / 240)
    box = world.add_body(ds.Box(1, 1, 1), position=(0, 0, 5))
    held = world.drag(box, point=(0.5, 0.5, 5.5))
    world.run(15.0)
    # It hangs from that corner: the centre of mass right below it.
    assert held.point[:2] == pytest.approx(box.centre[:2], abs=0.02)
    assert box.centre[2] < held.point[2] - 0.8


def test_a_thrown_ball_flies_along_its_direction_and_knocks_a_stack_over():
    world = stack(4)
    ball = world.throw((-6, 0, 3.0), (2, 0, 0), speed=20, name="ball")
    assert ball.velocity == pytest.approx((20, 0, 0))
    world.run(2.0)
    assert np.hypot(*world["box 3"].position[:2]) > 0.5  # its upper box was carried off


def test_a_repulsor_pushes_away_what_an_attractor_pulls():
    for verb, sign in (("attract", 1), ("repel", -1)):
        world = ds.World(gravity=(0, 0, 0))
        box = world.add_body(ds.Box(1, 1, 1), mass=1.0)
        getattr(world, verb)((4, 0, 0), strength=16.0, core=0.0)
        world.step()
        assert box.velocity[0] == pytest.approx(sign * world.dt, rel=1e-5)  # 16 N / 4²


def test_a_live_run_with_all_verbs_replays_with_the_same_hash_at_every_step(tmp_path):
    world = stack(4)
    with ds.record(world, tmp_path / "live.h5", every=3):
        world.run(0.1)
        held = world.drag("box 3", point=(0.5, 0.5, 4.0), target=(0.5, 0.5, 4.5))
        for k in range(10):
            world.step()
            held.move((0.5 + 0.1 * k, 0.5, 4.5))
        held.release()
        pole = world.attract((3, 0, 1), strength=5e3)
        for k in range(10):
            world.step()
            pole.set(position=(3, 0.1 * k, 1))
        world.remove(pole)
        world.throw((-5, 0, 1), (1, 0, 0.1), speed=20)
        world.run(0.2)
        world.throw((-5, 0, 2), (1, 0, 0.1), speed=20, name="second")
        world["box 0"].material = ds.Material(friction=0.1, restitution=0.3)
        world["box 1"].group, world["box 1"].mask = 3, -1
        world.fixed[0].material = ds.Material(friction=0.2)
        world.solver, world.tolerance = "nsgs", 1e-6
        world.gravity = (0, 0, -5)
        world.run(0.2)
    outcome = ds.replay(tmp_path / "live.h5")
    assert outcome.verified and not outcome.complaint
    assert outcome.steps == world.step_count and outcome.world.hash() == world.hash()
    assert outcome.world["box 0"].material == world["box 0"].material
    assert outcome.world.solver == world.solver


def walker(world):
    """A figure that walks on the spot, led by its root."""
    from drystone.world.character.clips.walking import walk_on_the_spot

    clip = walk_on_the_spot(1.0)
    return world.add_character(ds.Figure.from_clip(clip, mass=70), clip, name="walker")


def arm():
    links = [
        ds.Link(
            name, 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01),
            shapes=[ds.LinkShape(ds.Capsule(0.1, 0.8), (0, 0, -0.5))],
        )
        for name in ("upper", "lower")
    ]  # fmt: skip
    joints = [
        ds.RobotJoint("shoulder", "revolute", "upper", axis=(0, 1, 0)),
        ds.RobotJoint("elbow", "revolute", "lower", "upper", position=(0, 0, -1), axis=(0, 1, 0)),
    ]
    return ds.Robot(links, joints, [ds.Actuator("motor", "elbow", max_force=20)], name="arm")


@pytest.mark.slow
@pytest.mark.parametrize("who", ("robot", "character"))
def test_so_does_one_with_a_robot_or_a_character_and_it_can_be_looked_at(tmp_path, who):
    world = stack(3)
    if who == "character":
        walker(world)
    with ds.record(world, tmp_path / "live.h5", every=4):
        if who == "robot":
            placed = world.add_robot(arm(), position=(2.0, 0, 3.5), q=(0.5, 0.2))
            placed.control = [3.0]
        held = "arm/lower" if who == "robot" else world.bodies[-1].name
        world.run(0.1)
        with world.drag(held, target=world[held].position + (0.2, 0, 0.3)):
            world.run(0.1)
        pole = world.attract((3, 0, 1), strength=5e3)
        world.run(0.1)
        world.remove(pole)
        world.throw((-5, 0, 1), (1, 0, 0.1), speed=20)
        world.throw((-5, 0, 2), (1, 0, 0.1), speed=20, name="second")
        world.run(0.3)
    outcome = ds.replay(tmp_path / "live.h5")
    assert outcome.verified and not outcome.complaint and outcome.steps == world.step_count
    assert outcome.world.hash() == world.hash()
    with ds.Recording(tmp_path / "live.h5") as recording:
        path = recording.export(tmp_path / "live.glb")
        assert recording.export(tmp_path / "live.html").stat().st_size > 10_000
    import trimesh

    # Links and bones are bodies: each is a mesh of the file.
    assert len(trimesh.load(path).graph.nodes_geometry) == len(world)


def test_a_changed_material_takes_effect_while_the_world_runs():
    """On a slope of 20 degrees a block stays with friction 0.5 and slides with 0.1."""
    world = ds.World(sleeping=False)
    slope = np.radians(20)
    world.add_fixed(ds.Plane(normal=(np.sin(slope), 0, np.cos(slope))), ds.Material(friction=0.5))
    turn = (np.cos(slope / 2), 0, np.sin(slope / 2), 0)
    up = 0.5 * np.array([np.sin(slope), 0, np.cos(slope)])
    box = world.add_body(ds.Box(1, 1, 1), ds.Material(friction=0.5), position=up, orientation=turn)
    mass = box.mass
    world.run(0.3)
    assert np.linalg.norm(box.velocity) < 1e-4
    box.material = ds.Material(density=1, friction=0.1)
    world.set_pair(box.material, world.fixed[0].material, friction=0.1)
    world.run(0.3)
    assert np.linalg.norm(box.velocity) == pytest.approx(
        0.3 * 9.81 * (np.sin(slope) - 0.1 * np.cos(slope)), rel=0.02
    )
    assert box.mass == mass  # a new material leaves the mass


def test_a_changed_mask_lets_a_body_fall_through():
    world = stack(1)
    world.run(0.2)
    world["box 0"].mask = 0
    world.run(0.5)
    assert world["box 0"].position[2] < 0.0


def test_joints_take_names_of_bodies():
    world = stack(2)
    joint = world.add_joint(ds.Ball("box 0", "box 1", point=(0, 0, 1)))
    assert joint.bodies == (world["box 0"], world["box 1"])
    hinge = world.add_joint(ds.Hinge(a=None, b="box 1", point=(0, 0, 2), axis=(0, 1, 0)))
    assert hinge.b is world["box 1"]
    with pytest.raises(ds.InputError, match="Did you mean 'box 0'"):
        world.add_joint(ds.Ball("box0", None, point=(0, 0, 1)))


def test_an_own_value_stays_with_its_body():
    world = stack(1)
    world["box 0"].data = {"price": 3}
    world.step()
    assert [body.data for body in world] == [{"price": 3}]
