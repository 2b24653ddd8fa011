"""Scenes of meshes that have closed forms: loop, holes, chain, gears."""

from math import cos, pi, radians, sin

import numpy as np
import pytest

from drystone.model.rotation import matrix_from_quaternion
from drystone.scenes import SCENES
from drystone.scenes.mechanism import CAM, LIFT, MODULE, TEETH, gear_centres, rotated
from drystone.scenes.meshes.extrusions import egg
from drystone.scenes.meshes.tracks import loop_pieces
from drystone.solvers import SOLVERS

METHODS = [name for name in ("auto", "ffd") if name in SOLVERS]


def total_energy(world):
    energy = world.energy()
    return energy.kinetic + energy.potential


def track_motion(pieces, slope, radius, friction, start, dt=2e-4):
    """A ball along the track, as an ordinary differential equation: the passes through the loop.

    With arc length s of the track, its slope a and curvature k: the centre moves at v along a path
    of curvature k / (1 - k r); the track presses with N/m = v² k / (1 - k r) + g cos a; friction f
    is that of rolling, 2/7 g sin a, if the ball does not slip and the cone allows it, else mu N
    against the slip; dv/dt = f - g sin a, r dw/dt = -5/2 f. Returns rows (time, least N/m g,
    angle) per pass, angle where it left the track or None.
    """
    g, ends = 9.81, np.cumsum([p.length for p in pieces])
    starts = ends - [p.length for p in pieces]
    heading = -slope + np.cumsum([0.0, *(p.length * p.curvature for p in pieces)])
    s, v, w, t, passes, least = start, 0.0, 0.0, 0.0, [], None
    while 0.0 <= s <= ends[-1] and t < 20.0:
        i = min(np.searchsorted(ends, s), len(pieces) - 1)
        k = pieces[i].curvature
        a = heading[i] + k * (s - starts[i])
        press = v * v * k / (1 - k * radius) + g * cos(a)
        if i == 3:
            least = press / g if least is None else min(least, press / g)
            if press < 0.0:
                return [*passes, (t, least, a)]
        elif least is not None:
            passes.append((t, least, None))
            least = None
        pull, slip = -g * sin(a), v - w
        rolling = abs(slip) < 1e-3 and abs(2 / 7 * pull) <= friction * press
        force = -2 / 7 * pull if rolling else -friction * press * np.sign(slip)
        v, w = v + dt * (pull + force), w - dt * 5 / 2 * force
        if rolling or slip * (v - w) < 0.0:
            v = w = (5 * v + 2 * w) / 7
        s, t = s + dt * v / (1 - k * radius), t + dt
    return passes


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_ball_stays_in_the_loop_once_and_not_twice(method):
    world = SCENES["loop"].build(solver=method, turn_deg=0.5)
    ball, dt = world["ball"], world.dt
    slope = radians(60.0)
    pieces = loop_pieces(2.8, slope, 1.0, 0.8, 0.8, 0.5, radians(15.0))
    (out, least, left), (_, _, angle) = track_motion(pieces, slope, 0.1, 0.05, 0.3)
    assert left is None and least > 0.5 and pi / 2 < 2 * pi - angle < pi
    middle = loop_middle(world)
    energy, angles, reach = [total_energy(world)], [], []
    while world.time < 9.0:
        world.run(10 * dt)
        energy.append(total_energy(world))
        x, _, z = ball.position - middle
        reach.append(np.hypot(x, z))
        angles.append(np.arctan2(x, -z) % (2 * pi))
    energy, angles, reach = np.array(energy), np.array(angles), np.array(reach)
    assert np.diff(energy).max() < 1e-6 * energy[0]
    time = 10 * dt * np.arange(1, len(reach) + 1)
    upper = (angles > pi / 2) & (angles < 3 * pi / 2) & (reach < 0.85)
    first = upper & (time < out + 0.5)
    assert first.any() and np.abs(reach[first] - 0.7).max() < 0.02
    second = upper & (time > out + 0.5)
    off = second & (reach < 0.65)
    assert off.any()
    fell = angles[np.argmax(off)]
    assert fell == pytest.approx(angle, abs=0.5)


def loop_middle(world):
    """Middle of the loop: above the lowest point of the track, in the plane of its radius."""
    vertices = world["track"].shape.vertices
    x = loop_pieces(2.8, radians(60.0), 1.0, 0.8, 0.8, 0.5, radians(15.0))
    along = x[0].length * cos(radians(60.0)) + sin(radians(60.0)) + x[2].length
    bottom = vertices[:, 2].min() + 0.05
    return np.array([along, 0.0, bottom + 0.8])


@pytest.mark.parametrize("method", METHODS)
def test_peg_of_999_enters_hole_of_10(method):
    """It reaches the table through the block, straight up to what the play allows."""
    world = SCENES["peg-in-hole"].build(solver=method)
    world.run(0.3)
    peg = world["peg"]
    assert peg.position[2] == pytest.approx(0.0, abs=2e-5)
    assert np.hypot(*peg.position[:2]) < 1e-5
    # Of its axis: twice the play over the length.
    lean = matrix_from_quaternion(peg.orientation)[2, :2]
    assert np.hypot(*lean) < 2 * 1e-5 / 0.02


@pytest.mark.parametrize("method", METHODS)
def test_torus_slides_down_the_post(method):
    world = SCENES["peg-in-hole"].build(solver=method)
    ring = world["torus"]
    world.run(0.5)
    assert ring.position[2] == pytest.approx(0.005, abs=2e-4)  # lies on its side: its tube's radius
    assert np.hypot(ring.position[0] - 0.06, ring.position[1]) < 0.002 + 1e-4  # 7 mm - 5 mm


def test_ball_and_crate_rest_on_the_floor_of_the_channel():
    world = SCENES["u-channel"].build()
    world.run(1.5)
    floor = 0.05
    assert world["ball"].position[2] == pytest.approx(floor + 0.105, abs=1e-4)
    assert world["crate"].position[2] == pytest.approx(floor + 0.075, abs=1e-4)
    assert world["channel"].position[2] == pytest.approx(floor, abs=1e-4)


def linked(one, other, radius):
    """Whether the middle circles of two tori go through each other, an odd number of times."""
    turn_1, turn_2 = (matrix_from_quaternion(body.orientation) for body in (one, other))
    angle = np.linspace(0, 2 * pi, 720, endpoint=False)
    circle = radius * np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    points = (circle @ turn_2.T + other.position - one.position) @ turn_1
    above = points[:, 2] > 0
    through = above != np.roll(above, -1)
    within = np.hypot(points[:, 0], points[:, 1]) < radius
    return (through & within).sum() % 2 == 1


@pytest.mark.parametrize("method", METHODS)
def test_links_of_the_chain_stay_in_each_other(method):
    world = SCENES["torus-chain"].build(solver=method, count=5, sections=24)
    chain = [world["hook"], *world.bodies]
    for _ in range(10):
        world.run(0.1)
        assert all(linked(a, b, 0.1) for a, b in zip(chain[:-1], chain[1:], strict=True))


def test_hanging_chain_carries_its_weight():
    """Straight down: the force between two links is the weight of all below."""
    world = SCENES["torus-chain"].build(count=4, angle_deg=0.0, sections=24, sleeping=False)
    world.run(1.5)
    mass = world.bodies[0].mass
    found = world.contacts()
    for k in range(4):
        pair = (np.minimum(found.body_a, found.body_b) == k - 1) & (
            np.maximum(found.body_a, found.body_b) == k
        )
        force = np.abs(found.force[pair].sum(axis=0)[2])
        assert force == pytest.approx((4 - k) * mass * 9.81, rel=0.02)


def test_gears_of_the_pyramid_stand_still():
    world = SCENES["gears"].build(rows=2, sleeping=False)
    before = world.positions
    world.run(0.5)
    assert np.abs(world.positions - before).max() < 1e-5


def test_mechanism_turns_at_the_ratio_of_its_teeth():
    """Without the pebble: the rack falls, pitch circles roll, the follower stands on the cam."""
    world = SCENES["mechanism"].build(pebble=False)
    rack, gears = world["rack"], [world[f"gear {k}"] for k in range(3)]
    follower = world["follower"]
    turns, dt = np.zeros(3), world.dt
    world.run(0.15)  # the teeth are a millimetre apart at first
    start = rack.position[2]
    for _ in range(15):
        before = np.array([gear.spin[1] for gear in gears])
        world.run(10 * dt)
        turns += 10 * dt * (before + [gear.spin[1] for gear in gears]) / 2
    fallen = start - rack.position[2]
    assert fallen > 0.05
    radii = MODULE * np.array(TEETH) / 2
    assert np.abs(turns) == pytest.approx(fallen / radii, rel=0.02)
    assert turns[0] * turns[1] < 0 < turns[0] * turns[2]
    # Turned about -y, seen as the outlines are drawn: x to the right, z up.
    w, _, y, _ = gears[2].orientation
    low = follower.position[2] - 0.25 - gear_centres()[2][1]
    assert low == pytest.approx(height_on_cam(-2 * np.arctan2(y, w)), abs=1e-3)


@pytest.mark.slow
def test_pebble_jams_the_mechanism():
    world = SCENES["mechanism"].build(pebble=True)
    world.run(0.6)
    rack = world["rack"]
    assert rack.position[2] > 0.2 and world.energy().kinetic < 1e-3


def height_on_cam(angle, width=0.06):
    """How high above the axle a flat follower of that width stands on the cam at `angle`."""
    points = rotated(egg(CAM, LIFT, 720), pi / 2 + angle)
    under = np.abs(points[:, 0]) <= width / 2
    return points[under, 1].max()
