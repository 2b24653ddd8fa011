"""Worlds with robots do what other worlds do: save, record, copy, sleep, bounce, many at once."""

from pathlib import Path

import numpy as np
import pytest

import drystone as ds
from two_threads import printed_by


def rod(name, mass=1.0):
    across = mass / 12
    return ds.Link(name, mass, (0, 0, -0.5), (across, across, 0.01 * mass))


def turning(name, child, parent=None, position=(0, 0, 0), **options):
    return ds.RobotJoint(name, "revolute", child, parent, position, axis=(0, 1, 0), **options)


def cart(servo=None):
    """A floating box with an arm on a servo."""
    shape = ds.LinkShape(ds.Box(0.4, 0.4, 0.2))
    box = ds.Link("box", 4.0, (0, 0, 0), (0.07, 0.07, 0.1), [shape])
    ball = ds.LinkShape(ds.Sphere(0.05), (0.3, 0, 0))
    arm = ds.Link("arm", 0.5, (0.3, 0, 0), (0.001, 0.004, 0.004), [ball])
    joints = [ds.RobotJoint("f", "free", "box"), turning("h", "arm", "box", (0, 0, 0.2))]
    motor = servo or ds.Actuator("s", "h", "position", stiffness=80, damping=4, max_force=6)
    return ds.Robot([box, arm], joints, [motor])


def busy_world(**options):
    """Robots, a free box on one of them, a loose joint, and a floor."""
    world = ds.World(dt=2e-3, **options)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.6))
    robot = cart()
    world.add_robot(robot, q=[0, 0, 0.1, 1, 0, 0, 0, 0.1])
    world.add_robot(robot, position=(1.5, 0, 0), q=[0, 0, 0.3, 1, 0, 0, 0, -0.2])
    load = world.add_body(ds.Box(0.1, 0.1, 0.1), position=(-0.05, 0.02, 0.2501), name="load")
    hung = world.add_body(ds.Sphere(0.05), position=(-0.05, 0.02, 0.7), name="hung")
    world.add_joint(ds.Distance(load, hung, (-0.05, 0.02, 0.3), (-0.05, 0.02, 0.65)))
    return world


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a._state, b._state, strict=True))


def bits(world):
    return [world.hash(), *(placed.q.tobytes() for placed in world.robots)]


def test_a_saved_world_goes_on_bit_for_bit(tmp_path):
    world = busy_world()
    world.robots[0].control = [0.4]
    world.robots[1].tau = [0.0] * 6 + [0.2]
    world.run(0.1)
    world.save(tmp_path / "robots.h5")
    loaded = ds.World.load(tmp_path / "robots.h5")
    assert len(loaded.robots) == 2 and loaded.robots[0].control == [0.4]
    for one in (world, loaded):
        one.run(0.2)
    assert bits(world) == bits(loaded)
    assert loaded.robots[0].link("arm") is not world.robots[0].link("arm")


def test_a_recording_is_replayed_bit_for_bit_edits_and_all(tmp_path):
    world = busy_world()
    with ds.record(world, tmp_path / "run.h5", every=8):
        world.run(0.05)
        world.robots[0].control = [-0.3]
        world.run(0.05)
        third = world.add_robot(cart(), position=(3, 0, 0), q=[0, 0, 0.2, 1, 0, 0, 0, 0])
        world.run(0.05)
        third.qd = [0.1, 0, 0, 0, 0, 0, 0.5]
        world.robots[1].tau = [0.0] * 6 + [0.3]
        world.run(0.05)
    replayed = ds.replay(tmp_path / "run.h5")
    assert replayed.verified and not replayed.complaint
    assert bits(replayed.world) == bits(world)


def test_snapshots_and_copies_have_the_same_bits():
    world = busy_world()
    world.run(0.05)
    snapshot = world.snapshot()
    other = world.copy()
    world.run(0.1)
    there = bits(world)
    other.run(0.1)
    assert bits(other) == there
    other.robots[0].control = [1.0]
    assert world.robots[0].control[0] != 1.0
    world.restore(snapshot)
    world.run(0.1)
    assert bits(world) == there


def test_many_copies_are_stepped_together():
    world = busy_world()
    alone = world.copy()
    batch = ds.Batch(world, 3)
    batch.controls[1] = [0.5, -0.5]
    batch.step(40)
    alone.robots[0].control, alone.robots[1].control = [0.5], [-0.5]
    alone.run(40 * alone.dt)
    assert bits(batch[1]) == bits(alone)
    assert batch.q.shape == (3, 16) and batch.qd.shape == (3, 14)
    assert np.array_equal(batch.q[1], np.concatenate([r.q for r in alone.robots]))
    assert not np.array_equal(batch.q[0], batch.q[1])


def test_robots_fall_asleep_and_wake():
    world = ds.World(dt=5e-3, sleep_delay=0.2)
    world.add_fixed(ds.Plane())
    placed = world.add_robot(cart(), q=[0, 0, 0.1, 1, 0, 0, 0, 0])
    world.run(1.5)
    assert placed.link("box").asleep and placed.link("arm").asleep
    q = placed.q
    world.run(0.1)
    assert np.array_equal(placed.q, q) and not placed.qd.any()
    placed.control = [0.5]
    assert not placed.link("box").asleep
    world.run(0.3)
    assert placed.q[-1] > 0.3
    world.run(3.0)
    assert placed.link("box").asleep
    world.add_body(ds.Box(0.1, 0.1, 0.1), position=(0, 0, 0.5))
    world.run(0.3)
    assert not placed.link("box").asleep


def hopping(restitution):
    """A robot of one ball that can move up and down alone."""
    shape = ds.LinkShape(ds.Sphere(0.1), restitution=restitution)
    ball = ds.Link("ball", 2.0, (0, 0, 0), (0.01, 0.01, 0.01), [shape])
    return ds.Robot([ball], [ds.RobotJoint("up", "prismatic", "ball", axis=(0, 0, 1))])


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_links_bounce_as_high_as_the_law_says(restitution):
    world = ds.World(dt=1e-4, sleeping=False)
    world.add_fixed(ds.Plane())
    placed = world.add_robot(hopping(restitution), position=(0, 0, 0.6))
    speed = np.sqrt(2 * 9.81 * 0.5)
    while placed.qd[0] < 0.0 or world.time < 0.1:
        before = placed.qd[0]
        world.step()
        if placed.qd[0] > before:
            break
    world.step()  # without restitution a step ends at the floor, and the next one stands there
    assert before == pytest.approx(-speed, rel=1e-3)
    assert placed.qd[0] == pytest.approx(restitution * speed, rel=1e-3, abs=2e-3)


def test_an_impact_with_friction_never_makes_energy():
    link = ds.Link("rod", 1.0, (0, 0, 0), (0.09, 0.09, 0.002),
                   [ds.LinkShape(ds.Capsule(0.05, 1.0), friction=1.0,
                                 restitution=1.0)])  # fmt: skip
    robot = ds.Robot([link], [ds.RobotJoint("f", "free", "rod")])
    for tilt in (0.2, 0.5, 0.9):
        world = ds.World(dt=1e-3, sleeping=False)
        world.add_fixed(ds.Plane(), ds.Material(friction=1.0, restitution=1.0))
        q = [0, 0, 0.75, np.cos(tilt / 2), 0, np.sin(tilt / 2), 0]
        placed = world.add_robot(robot, q=q)
        placed.qd = [1.5, 0, -2.0, 0, 3.0, 0]
        start = placed.energy()
        for _ in range(300):
            world.step()
            assert placed.energy() < start + 1e-3 * start


def test_links_beside_a_joint_of_the_world_with_limits_and_a_weak_motor():
    world = ds.World(dt=1e-3, sleeping=False)
    placed = world.add_robot(ds.Robot([rod("a")], [turning("j", "a")]), position=(0, 0, 2))
    bob = world.add_body(ds.Sphere(0.1), position=(0, 0, 0.8), mass=1.0)
    hinge = ds.Hinge(
        placed.link("a"), bob, (0, 0, 1), (0, 1, 0), limits=(-0.3, 0.3),
        motor=ds.Motor(5.0, 0.2), friction=0.01,
    )  # fmt: skip
    world.add_joint(hinge)
    placed.qd = [2.0]
    for _ in range(1000):
        world.step()
        assert -0.32 < hinge.angle < 0.32
    assert world.info.joint_error < 1e-3


def test_solvers_agree():
    worlds = [busy_world(solver=name, sleeping=False) for name in ("auto", "prox-newton")]
    for world in worlds:
        world.run(0.03)
    for a, b in zip(worlds[0].robots, worlds[1].robots, strict=True):
        assert a.q == pytest.approx(b.q, abs=1e-6)
        assert a.qd == pytest.approx(b.qd, abs=1e-3)


def test_what_a_link_has_is_set_by_its_robot():
    world = busy_world()
    body = world.robots[0].link("arm")
    for field in ("position", "velocity", "spin", "orientation"):
        with pytest.raises(ds.InputError, match="those of its robot"):
            setattr(body, field, getattr(body, field))
    with pytest.raises(ds.InputError, match="those of its robot"):
        body.mass = 2.0
    with pytest.raises(ds.UnsupportedFeature, match="cannot be taken from its robot"):
        world.remove(body)


def test_a_push_on_a_link_moves_the_whole_robot():
    world = ds.World(dt=1e-3, gravity=(0, 0, 0))
    placed = world.add_robot(cart(), q=[0, 0, 1, 1, 0, 0, 0, 0])
    arm = placed.link("arm")
    arm.push((0, 0, 0.3))
    mass, jacobian = placed.mass_matrix(), placed.jacobian("arm", (0.3, 0, 0))
    assert mass @ placed.qd == pytest.approx(jacobian[:3].T @ [0, 0, 0.3])
    momentum = sum(body.mass * body.velocity for body in placed.links.values())
    assert momentum == pytest.approx([0, 0, 0.3], abs=1e-12)


PILE = """
import sys, numba
sys.path[:0] = sys.argv[1:]
import drystone as ds
from test_robot_worlds import cart
for threads in (1, 2):
    numba.set_num_threads(threads)
    world = ds.World(dt=4e-3, sleeping=False)
    world.add_fixed(ds.Plane())
    for k in range(147):
        place = 0.21 * (k % 7), 0.21 * (k // 7 % 7), 0.1 + 0.201 * (k // 49)
        world.add_body(ds.Box(0.2, 0.2, 0.2), position=place)
    world.add_robot(cart(), position=(0.2, 0.2, 0), q=[0, 0, 0.8, 1, 0, 0, 0, 0])
    world.run(0.3)
    print(world.hash())
"""


@pytest.mark.slow
def test_robots_on_a_pile_have_the_same_bits_for_one_thread_and_two():
    one, two = printed_by(
        PILE, Path(__file__).parent, Path(__file__).parents[2] / "helpers"
    ).split()
    assert one == two


@pytest.mark.parametrize(
    ("kind", "mass", "inertia"),
    [("free", 0.0, (0, 0, 0)), ("free", 1.0, (0.1, 0.1, 0)), ("revolute", 1.0, (0.1, 0.1, 0))],
)
def test_a_joint_that_moves_no_inertia_is_refused_by_name(kind, mass, inertia):
    """No force would have a finite answer; a rotor is enough, and so is what hangs on it."""
    link = ds.Link("blob", mass, (0, 0, 0), inertia)
    world = ds.World()
    with pytest.raises(ds.InputError, match=rf"joint j \({kind}\) .* no inertia; give link blob"):
        world.add_robot(ds.Robot([link], [ds.RobotJoint("j", kind, "blob")]))
    assert not world.robots and not world.bodies
    if kind == "revolute":
        rotor = ds.RobotJoint("j", kind, "blob", armature=0.01)
        world.add_robot(ds.Robot([link], [rotor]))
    hung = ds.RobotJoint("k", "fixed", "rod", "blob")
    world.add_robot(ds.Robot([link, rod("rod")], [ds.RobotJoint("j", kind, "blob"), hung]))
    world.run(0.01)
    assert all(np.isfinite(robot.q).all() for robot in world.robots)


def test_a_robot_without_bodies_whose_numbers_are_not_finite_stops_the_run(tmp_path, monkeypatch):
    """Links without mass and shape are no bodies, so nothing else would look at them."""
    monkeypatch.chdir(tmp_path)
    joint = ds.RobotJoint("j", "prismatic", "car", armature=1e-3)
    world = ds.World(dt=1e-3)
    placed = world.add_robot(ds.Robot([ds.Link("car")], [joint], name="ghost"))
    placed.tau = [1e306]
    with pytest.raises(ds.SimulationError, match="^ghost: its motion is no longer a finite number"):
        world.run(1.0)
    assert np.isfinite(placed.q).all()
