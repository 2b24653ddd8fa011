"""World(dim=2): closed forms, joints, and the same scenes in three dimensions with planar locks."""

from math import cos, hypot, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.special import ellipk

import drystone as ds
from drystone.solvers.articulated.secant import CLOSED
from flat_twin import TwinScene

DT = 1 / 240
G = 9.81


def slope(angle, **options):
    """A plane that falls towards +x by `angle`, as a world and its downhill direction."""
    world = ds.World(dim=2, dt=DT, sleeping=False, tolerance=1e-12, **options)
    return world, np.array([sin(angle), 0.0, cos(angle)]), np.array([cos(angle), 0.0, -sin(angle)])


@pytest.mark.parametrize("friction", [0.2, 0.5])
def test_block_slides_down_a_slope(friction):
    """From rest: s = t² g (sin a - mu cos a) / 2; exact, for the acceleration is constant."""
    angle = radians(35)
    world, normal, downhill = slope(angle)
    rock = ds.Material(density=2000, friction=friction)
    world.add_fixed(ds.Plane(tuple(normal)), rock)
    block = world.add_body(ds.Polygon.box(1, 0.5), rock, position=tuple(0.25 * normal), angle=angle)
    world.run(1.0)
    way = (block.position - 0.25 * normal) @ downhill
    assert way == pytest.approx(0.5 * G * (sin(angle) - friction * cos(angle)), rel=1e-6)
    assert abs(block.position @ normal - 0.25) < 1e-6
    assert block.position[1] == block.velocity[1] == 0.0


def test_block_holds_below_the_friction_angle():
    angle = radians(20)
    world, normal, _ = slope(angle)
    rock = ds.Material(friction=1.01 * tan(angle))
    world.add_fixed(ds.Plane(tuple(normal)), rock)
    block = world.add_body(ds.Polygon.box(1, 0.5), rock, position=tuple(0.25 * normal), angle=angle)
    world.run(1.0)
    assert np.abs(block.position - 0.25 * normal).max() < 1e-9
    forces = world.contacts()
    assert forces.on(block) == pytest.approx((0, 0, G * block.mass), rel=1e-6)


@pytest.mark.parametrize("friction, rolls", [(0.5, True), (0.1, False)])
def test_disc_rolls_down_a_slope(friction, rolls):
    """Rolling: a = 2/3 g sin a and v = w r; sliding (mu < tan a / 3): a = g (sin a - mu cos a)."""
    angle, r = radians(30), 0.2
    world, normal, downhill = slope(angle)
    rubber = ds.Material(friction=friction)
    world.add_fixed(ds.Plane(tuple(normal)), rubber)
    disc = world.add_body(ds.Disc(r), rubber, position=tuple(r * normal))
    world.run(1.0)
    way = (disc.position - r * normal) @ downhill
    wanted = 2 / 3 * sin(angle) if rolls else sin(angle) - friction * cos(angle)
    assert way == pytest.approx(0.5 * G * wanted, rel=1e-6)
    turning = disc.velocity @ downhill / r if rolls else 2.0 * G * friction * cos(angle) / r
    assert disc.spin == pytest.approx((0, turning, 0), rel=1e-6)


def test_stack_of_boxes_rests_with_the_weights_above():
    world = ds.World(dim=2)
    world.add_fixed(ds.Plane())
    boxes = [world.add_body(ds.Polygon.box(1, 1), position=(0, k + 0.5)) for k in range(10)]
    world.run(2.0)
    assert all(box.asleep for box in boxes)
    heights = [box.position[2] for box in boxes]
    assert heights == pytest.approx([k + 0.5 for k in range(10)], abs=1e-3)


def test_contacts_have_one_tangent_and_at_most_two_points():
    world = ds.World(dim=2, sleeping=False)
    world.add_fixed(ds.Plane())
    world.add_body(ds.Polygon.box(1, 1), position=(0, 0.5), velocity=(1, 0))
    world.add_body(ds.Disc(0.5), position=(3, 0.5), velocity=(1, 0))
    world.step()
    table = world.contacts()
    assert sorted(table.body_b.tolist()) == [0, 0, 1]
    assert not table.normal[:, 1].any() and not table.tangent1[:, 1].any()
    assert np.abs(table.tangent2) == pytest.approx(np.tile([0, 1, 0], (3, 1)))
    assert not table.impulse_axes[:, 2].any() and table.impulse_axes[:, 1].any()


def test_bounce_keeps_the_ratio_of_speeds():
    world = ds.World(dim=2, dt=1e-3)
    ball = ds.Material(restitution=0.5, friction=0)
    world.add_fixed(ds.Segment((-1, 0), (1, 0)), ball)
    disc = world.add_body(ds.Disc(0.1), ball, position=(0, 1.1))
    world.run(sqrt(2 / G) + 0.05)
    # It struck with √2g after a fall of 1 m; energy of the flight since then.
    height, speed = disc.position[2] - 0.1, disc.velocity[2]
    assert speed**2 / 2 + G * height == pytest.approx(0.25 * G, rel=1e-3)


# Joints


def test_pendulum_has_the_period_of_the_elliptic_integral():
    """A bar on a hinge at its end, amplitude 1 rad: T = 4 K(sin² 1/2) √(2 l / 3 g)."""
    length, start = 1.0, 1.0
    world = ds.World(dim=2, dt=DT, sleeping=False)
    at = (-0.5 * length * sin(start), -0.5 * length * cos(start))
    bar = world.add_body(ds.Polygon.box(1e-3, length), position=at, angle=start)
    hinge = world.add_joint(ds.Hinge(None, bar, (0, 0)))
    period = 4.0 * ellipk(sin(0.5 * start) ** 2) * sqrt(2.0 * length / (3.0 * G))
    energy, crossings, before = sum(world.energy()), [], start
    for _ in range(int(4.2 * period / DT)):
        world.step()
        now = start + hinge.angle
        if before < 0.0 <= now or before > 0.0 >= now:
            crossings.append(world.time - DT * now / (now - before))
        before = now
    assert np.diff(crossings) == pytest.approx(0.5 * period, rel=1e-3)
    assert sum(world.energy()) == pytest.approx(energy, abs=1e-3 * bar.mass * G * length)
    assert hinge.separation < 1e-8
    assert world.joint_rows(hinge).kind.size == 2


def four_bar(world):
    """Crank 0.2, coupler 0.5, rocker 0.4 on a ground of 0.5 m; crank along +x at first."""
    crank_end = np.array([0.2, 0.0])
    pivot = np.array([0.5, 0.0])
    reach = pivot - crank_end
    # Where circles of the coupler and the rocker meet, above the ground.
    d = hypot(*reach)
    along = (0.5**2 - 0.4**2 + d * d) / (2 * d)
    knee = crank_end + along * reach / d + sqrt(0.5**2 - along**2) * np.array([0.0, 1.0])

    def bar(a, b):
        way = b - a
        return world.add_body(
            ds.Polygon.box(hypot(*way), 0.02), position=tuple(0.5 * (a + b)),
            angle=-np.arctan2(way[1], way[0]), mass=1.0,
        )  # fmt: skip

    crank, coupler, rocker = bar(np.zeros(2), crank_end), bar(crank_end, knee), bar(knee, pivot)
    joints = [
        ds.Hinge(None, crank, (0, 0), motor=ds.Motor(-2 * pi, max_torque=1e3)),
        ds.Hinge(crank, coupler, tuple(crank_end)),
        ds.Hinge(coupler, rocker, tuple(knee)),
        ds.Hinge(rocker, None, tuple(pivot)),
    ]
    return [world.add_joint(joint) for joint in joints], crank, rocker, knee


def test_four_bar_closes_and_its_rocker_follows_the_crank():
    world = ds.World(dim=2, dt=DT, sleeping=False)
    joints, crank, rocker, _ = four_bar(world)
    for _ in range(240):
        world.step()
        knee = joints[2].anchor_a
        crank_end = joints[1].anchor_a
        assert max(joint.separation for joint in joints) < 1e-6
        assert hypot(*(knee - crank_end)[[0, 2]]) == pytest.approx(0.5, abs=1e-6)
        assert hypot(knee[0] - 0.5, knee[2]) == pytest.approx(0.4, abs=1e-6)
    assert joints[0].angle == pytest.approx(-2 * pi, abs=0.05)  # it starts from rest


def test_slider_fixed_distance_and_spring():
    world = ds.World(dim=2, sleeping=False)
    a, b, c, d = (world.add_body(ds.Disc(0.1), position=(k, 5)) for k in range(4))
    slider = world.add_joint(ds.Slider(None, a, (1, -1)))
    fixed = world.add_joint(ds.Fixed(None, b))
    rod = world.add_joint(ds.Distance(None, c, (2, 6), (2, 5)))
    spring = world.add_joint(ds.SpringDamper(None, d, (3, 6), (3, 5), 1e4, 100.0))
    world.run(0.5)
    # Free along the slope of 45°: s = t² g sin 45° / 2.
    assert slider.position == pytest.approx(0.125 * G * sin(pi / 4), rel=1e-6)
    assert fixed.separation < 1e-9 and b.spin[1] == 0.0
    assert rod.separation < 1e-9
    assert spring.distance > 1.0
    assert not world.positions[:, 1].any() and not world.velocities[:, 1].any()


# Against three dimensions


def pile(scene):
    scene.plane()
    for k in range(5):
        scene.box(1.0, 0.5, (0.03 * k, 0.25 + 0.5 * k))
    scene.disc(0.4, (-3, 0.4), velocity=(4, 0))
    scene.disc(0.3, (3, 1.3), velocity=(-1, 0), spin=2.0)
    scene.box(0.6, 0.4, (2.0, 1.5), spin=1.0, angle=0.3)


def swing(scene):
    """A double pendulum that hits a box on the ground."""
    scene.plane()
    upper = scene.box(0.1, 1.0, (0.5, 2.0), angle=-pi / 2)
    lower = scene.disc(0.3, (2.0, 2.0))
    scene.hinge(None, upper, (0.0, 2.0))
    scene.hinge(upper, lower, (1.0, 2.0))
    scene.box(0.5, 0.5, (-0.8, 0.25))


@pytest.mark.parametrize("build, solver, far", [(pile, "nsgs", CLOSED), (swing, "auto", 1e-9)])
def test_agrees_with_three_dimensions_and_planar_locks(build, solver, far):
    """For 2 s to 1e-9 m and rad: the same contacts, masses and tangents, solved to 1e-10 m/s.

    The locks are joints. In the pile they are as exact as rounds of secants leave them; and there
    `auto` would move the rolling discs to the middle of the step in two dimensions, but not beside
    joints.
    """
    flat, solid = (TwinScene(dim, solver=solver) for dim in (2, 3))
    build(flat)
    build(solid)
    for _ in range(480):
        flat.world.step()
        solid.world.step()
        assert np.abs(flat.poses() - solid.poses()).max() < far
    assert flat.world.contacts().gap.size > 0
    assert len(solid.world.joints) > len(flat.world.joints)


def test_saved_world_goes_on_bit_for_bit(tmp_path):
    world = ds.World(dim=2)
    world.add_fixed(ds.Segment((-5, 0.5), (5, 0)))
    shapes = [
        ds.Disc(0.3),
        ds.Polygon([(0, 0), (0.7, 0.1), (0.4, 0.6)]),
        ds.Compound((ds.Disc(0.2), (-0.3, 0)), (ds.Polygon.box(0.6, 0.2), (0.1, 0))),
        ds.Segment((-0.3, 0), (0.3, 0.1), 0.05),
    ]
    for k, shape in enumerate(shapes):
        world.add_body(shape, position=(k - 2, 1.5), angle=0.3 * k)
    world.run(0.5)
    world.save(tmp_path / "flat.h5")
    again = ds.World.load(tmp_path / "flat.h5")
    assert again.dim == 2
    world.run(0.5)
    again.run(0.5)
    assert world.hash() == again.hash()
    assert again.contacts().gap.size > 3


@pytest.mark.parametrize("solver", ds.SOLVERS)
def test_every_solver_steps_two_dimensions(solver):
    """A block pushed over its friction: all laws agree where friction has one direction."""
    world = ds.World(dim=2, solver=solver, sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.3))
    rock = ds.Material(density=10, friction=0.3)
    block = world.add_body(ds.Polygon.box(1, 0.2), rock, position=(0, 0.1), velocity=(2, 0))
    world.run(0.25)
    assert block.velocity[0] == pytest.approx(2 - 0.25 * 0.3 * G, abs=2e-3)
    assert block.velocity[1] == 0.0


def test_recording_replays_edits_bit_for_bit(tmp_path):
    world = ds.World(dim=2)
    world.add_fixed(ds.Plane())
    disc = world.add_body(ds.Disc(0.3), position=(0, 0.5))
    with ds.record(world, tmp_path / "flat.h5"):
        world.run(0.1)
        disc.spin, disc.angle, disc.inertia = 3.0, 0.2, 20.0
        world.add_body(ds.Polygon.box(0.5, 0.5), position=(0, 2), angle=0.4)
        world.run(0.5)
    assert ds.replay(tmp_path / "flat.h5")
