"""Joints neither open nor make energy, whatever rotates or pulls: laws that hold at any step size.

No joint and no contact with e = 0 does positive work, so that energy never rises; and an equality
constraint holds at the poses after every step. Tolerances are those of `info` (docs/joints.md).
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import drystone as ds

LENGTH = 0.14  # of a link [m]


def chain(masses, load=None, length=LENGTH, dt=1 / 240, on_nonconverged="raise"):
    """Links on hinges, let go from the horizontal, with a ball at the end; nothing touches."""
    world = ds.World(dt=dt, sleeping=False, on_nonconverged=on_nonconverged)
    before = None
    for k, mass in enumerate(masses):
        link = world.add_body(
            ds.Box(0.98 * length, 0.02, 0.02), position=((k + 0.5) * length, 0, 0), mass=mass,
            mask=0,
        )  # fmt: skip
        world.add_joint(ds.Hinge(before, link, (k * length, 0, 0), (0, 1, 0)))
        before = link
    if load is not None:
        end = (len(masses) * length, 0, 0)
        ball = world.add_body(ds.Sphere(0.03), position=end, mass=load, mask=0)
        world.add_joint(ds.Hinge(before, ball, end, (0, 1, 0)))
    return world


def released(world) -> float:
    """Energy in play: what the bodies lose if they hang down [J]."""
    return sum(9.81 * body.mass * body.centre[0] for body in world.bodies)


def watch(world, seconds, in_play):
    """Run; the worst separation [m] and the most energy above the start, as a share of in_play."""
    start, gap, gain = world.energy().total, 0.0, -np.inf
    for _ in range(round(seconds / world.dt)):
        world.step()
        gap = max(gap, *(joint.separation for joint in world.joints))
        gain = max(gain, (world.energy().total - start) / in_play)
    return gap, gain


@pytest.mark.parametrize(
    "masses, load, seconds, keeps",
    [
        pytest.param([0.05] * 5, 20.0, 2.0, 0.9, id="400 to 1"),
        pytest.param([0.05] * 5, 50.0, 2.0, 0.9, id="1000 to 1"),
        pytest.param([1.0] * 3, None, 2.0, 0.95, id="equal"),
        pytest.param([0.05] * 20, 0.05, 3.0, 0.6, id="twenty", marks=pytest.mark.slow),
    ],
)
def test_chain_stays_closed_and_gains_nothing(masses, load, seconds, keeps):
    """Light links under a heavy load, and whips: closed to 1e-5 m, no gain, most energy kept."""
    world = chain(masses, load)
    in_play, start = released(world), world.energy().total
    gap, gain = watch(world, seconds, in_play)
    assert gap < 1e-5
    assert gain < 1e-9
    assert start - world.energy().total < (1.0 - keeps) * in_play


def test_a_chain_that_a_heavy_ball_tears_open_closes_again():
    """1000 to 1 in steps of 1/60 s: the ball left its chain for good, by 45 m in 10 s."""
    world = chain([0.05] * 5, 50.0, dt=1 / 60, on_nonconverged="ignore")
    in_play, most = released(world), world.energy().total
    for _ in range(600):
        info = world.step()
        gap = max(joint.separation for joint in world.joints)
        now = world.energy().total
        assert gap < 0.1 * LENGTH
        assert gap < 1e-4 or not info.converged
        assert now < most + 1e-6 * in_play or not info.converged
        most = max(most, now)


@pytest.mark.parametrize("off", [5e-6, 5e-4])
def test_a_joint_that_is_open_by_a_hair_is_closed(off):
    """RATTLE left alone what was open before, below a millimetre, and so did all that came after
    it."""
    world = chain([1.0] * 2, on_nonconverged="ignore")
    world.run(0.1)
    moved = world.bodies[1]
    moved.position = np.array(moved.position) + (0, 0, off)
    for _ in range(3):
        world.step()
    assert max(joint.separation for joint in world.joints) < 2e-7
    assert world.info.converged


def test_very_light_link_moves_as_a_massless_one():
    """Two links of 1 kg and 0.3 m with one of 1e-5 kg between: energy stays, as for a rod."""
    world = chain([1.0, 1e-5, 1.0], length=0.3)
    in_play, start = released(world), world.energy().total
    gap, gain = watch(world, 1.0, in_play)
    assert gap < 1e-6 and gain < 1e-9
    assert start - world.energy().total < 0.02 * in_play


def rods(seed, kind):
    """Two rods of 125 x 6 mm that fall at up to 2 m/s, joined at a point 7 cm beside both."""
    rng = np.random.default_rng(seed)
    wood = ds.Material(density=1000, friction=0.5, restitution=0.0)
    world = ds.World(sleeping=False)
    world.add_fixed(ds.Plane(), wood)
    point = np.array([0, 0, 0.3])
    for _ in range(2):
        q = rng.normal(size=4)
        q /= np.linalg.norm(q)
        angle = rng.uniform(0, 2 * np.pi)
        arm = Rotation.from_quat(q[[1, 2, 3, 0]]).apply((0, np.cos(angle), np.sin(angle)))
        world.add_body(
            ds.Box(0.125, 0.006, 0.006), wood, position=point - 0.07 * arm, orientation=q
        )
    axis, other = rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    across, (a, b) = np.cross(axis, other), world.bodies
    joint = {
        "ball": lambda: ds.Ball(a, b, point),
        "hinge": lambda: ds.Hinge(a, b, point, axis),
        "universal": lambda: ds.Universal(a, b, point, axis, across / np.linalg.norm(across)),
    }[kind]()
    world.add_joint(joint)
    velocity = rng.normal(size=3)
    velocity *= 2.0 * rng.random() / np.linalg.norm(velocity)
    for body in (a, b):
        body.velocity = velocity
    return world


@pytest.mark.parametrize(
    "kind, seed", [("ball", 1), ("hinge", 0), ("hinge", 7), ("universal", 36), ("universal", 3)]
)
def test_thin_rods_joined_beside_them_gain_nothing(kind, seed):
    """A lever of 7 cm on an inertia of 2 mm: a gain of 5000 times is gone, and so is the gap."""
    world = rods(seed, kind)
    in_play = world.energy().total
    gap, gain = watch(world, 1.0, in_play)
    assert gain < 1e-9
    assert gap < 1e-5


def bridge(planks, balls, drop=None):
    """A slack bridge; two ball joints at each seam are one too many. A box falls on it."""
    wood = ds.Material(density=600, friction=0.5, restitution=0.0)
    world = ds.World(sleeping=False)
    angles = np.linspace(0.45, -0.45, planks)
    at, before, length = np.array([0.0, 0.0, 2.0]), None, 0.3

    def hang(a, b):
        if balls:
            for side in (-0.5, 0.5):
                world.add_joint(ds.Ball(a, b, at + (0, side, 0)))
        else:
            world.add_joint(ds.Hinge(a, b, at, (0, 1, 0)))

    for angle in angles:
        along = np.array([np.cos(angle), 0, -np.sin(angle)])
        plank = world.add_body(
            ds.Box(0.98 * length, 1.2, 0.05), wood, position=at + 0.5 * length * along,
            orientation=(np.cos(angle / 2), 0, np.sin(angle / 2), 0), mass=10.8,
        )  # fmt: skip
        hang(before, plank)
        before, at = plank, at + length * along
    hang(before, None)
    if drop is not None:
        low = min(body.centre[2] for body in world.bodies)
        place = (0.5 * at[0], 0, low + 0.025 + 0.25 + drop)
        world.add_body(ds.Box(0.5, 0.5, 0.5), wood, position=place, mass=1080.0)
    return world


@pytest.mark.parametrize("balls", [True, False], ids=["two balls a seam", "hinges"])
def test_box_that_falls_on_a_slack_bridge_adds_nothing(balls):
    """A hundred planks' mass dropped by 0.3 m: 29 kJ came out of nothing in one step."""
    world = bridge(10, balls, drop=0.3)
    in_play = 1080.0 * 9.81 * 0.3
    last, rise = world.energy().total, 0.0
    for _ in range(240):
        world.step()
        now = world.energy().total
        rise, last = max(rise, now - last), now
    assert rise < 1e-6 * in_play
    assert max(joint.separation for joint in world.joints) < 1e-3


def test_a_step_that_leaves_joints_open_says_so():
    """Without stabilization a pendulum drifts off its pin: the step says by how much."""
    world = ds.World(dt=1 / 60, drift="none", sleeping=False)
    rod = world.add_body(ds.Box(1.0, 0.05, 0.05), position=(0.5, 0, 0), mass=1.0)
    joint = world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0)))
    for _ in range(60):
        info = world.step()
    assert info.joint_error == pytest.approx(joint.separation, rel=1.0)
    assert info.joint_error > 1e-2
    assert info.residual < 1e-5 and not info.converged


def test_open_joints_stop_a_run_that_is_to_raise():
    world = ds.World(dt=1 / 60, drift="none", sleeping=False, on_nonconverged="raise")
    rod = world.add_body(ds.Box(1.0, 0.05, 0.05), position=(0.5, 0, 0), mass=1.0)
    world.add_joint(ds.Hinge(None, rod, (0, 0, 0), (0, 1, 0)))
    with pytest.raises(ds.SimulationError, match="Joints were open by up to"):
        world.run(1.0)
