"""Friction that differs with the direction: a skate, grooves, and inclines that hold one way only.

Maximal dissipation on an ellipse with semi-axes mu_1 p_n and mu_2 p_n: while a contact slides with
u, the impulse p is the point of the ellipse whose outward normal points against u,

    p_k = -p_n mu_k² u_k / sqrt(mu_1² u_1² + mu_2² u_2²),    p_1 / p_2 = mu_1² u_1 / (mu_2² u_2),

so that p = -mu_k p_n along either axis, and the ratio of the two is mu_1 / mu_2.
"""

from math import atan, cos, pi, radians, sin

import numpy as np
import pytest

import drystone as ds
from drystone.scenes import SCENES

G = 9.81
solvers = pytest.mark.parametrize(
    "solver", [name for name, kind in ds.SOLVERS.items() if "elliptic" in kind.supports]
)


def about_z(angle):
    return cos(angle / 2), 0.0, 0.0, sin(angle / 2)


def closed_form(normal, slip, mu):
    """Friction (nc, 2) of contacts that slide with `slip` (nc, 2) under `normal` (nc,)."""
    mu = np.array(mu)
    return -normal[:, None] * mu**2 * slip / np.linalg.norm(mu * slip, axis=1)[:, None]


def blade_axes(body):
    """Along and across the blade, horizontal."""
    w, x, y, z = body.orientation
    along = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)])
    along /= np.linalg.norm(along)
    return np.array([along, (-along[1], along[0])])


def sliding(contacts, axes):
    """Normal force, friction and slip of the skate at contacts that bear it, along `axes`."""
    bears = contacts.impulse_axes[:, 0] > 0
    frame = np.stack((contacts.tangent1, contacts.tangent2), axis=1)[bears]
    slip = np.einsum("ck,ckx->cx", contacts.velocity[bears, 1:], frame)
    force = contacts.force[bears]
    return force[:, 2], force[:, :2] @ axes.T, slip[:, :2] @ axes.T


@solvers
def test_friction_turns_with_the_skate(solver):
    """Force ratio p_1 / p_2 = mu_1² u_1 / (mu_2² u_2) at every contact of a full turn, within 1 %.

    The axes are those of the body, not those that the engine says it has used. A ratio has a
    meaning where both parts are: where |u_k| is above 1 mm/s, a hundred times the tolerance. The
    largest force along and across the blade have the ratio mu_1 / mu_2, within 1 % too: the skate
    turns by 1.5 degrees a step, and half of that, times mu_2 / mu_1, is missed at worst.
    """
    mu = 0.05, 0.4
    world = SCENES["skate"].build(solver=solver, mu_1=mu[0], mu_2=mu[1])
    skate, turned, compared = world["skate"], 0.0, 0
    largest, energy = np.zeros(2), world.energy().kinetic
    while turned < 2 * pi:
        axes = blade_axes(skate)
        assert world.step().converged
        normal, force, slip = sliding(world.contacts(), axes)
        assert normal.sum() == pytest.approx(skate.mass * G, rel=1e-3)
        assert np.linalg.norm(force - closed_form(normal, slip, mu), axis=1).max() < 1e-3 * G
        assert np.hypot(*(force / mu).T) == pytest.approx(normal, rel=1e-2)  # on the ellipse
        both = (np.abs(slip) > 1e-3).all(axis=1)
        ratio = (force[:, 0] * mu[1] ** 2 * slip[:, 1])[both]
        assert ratio == pytest.approx((force[:, 1] * mu[0] ** 2 * slip[:, 0])[both], rel=1e-2)
        assert ((force * slip).sum(axis=1) < 0.0).all()  # it takes energy at every contact
        assert world.energy().kinetic < energy
        compared, energy = compared + both.sum(), world.energy().kinetic
        largest = np.maximum(largest, np.abs(force / normal[:, None]).max(axis=0))
        turned += skate.spin[2] * world.dt
    assert compared > 800  # four corners, 240 steps
    assert largest[0] / largest[1] == pytest.approx(mu[0] / mu[1], rel=1e-2)
    assert skate.velocity[0] > 1.0


def thrown_box(solver, direction, carrier, angle, mu, speed=100.0):
    """Total friction on a box, in weights, that slides without spin at `angle` from +x."""
    grained = ds.Material(friction=mu, friction_direction=direction)
    plain = ds.Material(friction=1.0)
    world = ds.World(solver=solver, sleeping=False)
    world.set_pair(grained, plain, friction=mu)
    under, over = (plain, grained) if carrier == "body" else (grained, plain)
    turn = (1, 0, 0, 0) if carrier == "body" else about_z(0.3)
    if carrier == "kinematic":
        world.add_body(
            ds.Box(4, 4, 1), under, position=(0, 0, -0.5), orientation=turn, kinematic=True
        )
    else:
        world.add_fixed(ds.Plane(), under, orientation=turn)
    box = world.add_body(
        ds.Box(0.2, 0.1, 0.01), over, position=(0, 0, 0.005),
        velocity=(speed * cos(angle), speed * sin(angle), 0),
        orientation=about_z(0.3) if carrier == "body" else about_z(1.2),
    )  # fmt: skip
    world.step()
    return world.contacts().on(box) / (box.mass * G)


@solvers
@pytest.mark.parametrize("carrier", ["body", "fixed", "kinematic"])
def test_direction_may_be_fixed_in_either_body(solver, carrier):
    """The direction is at 0.3 rad from x, given in the axes of what carries it; 0.1 % of mu.

    At 100 m/s the step takes mu g dt = 0.02 % of the speed and so hardly turns the slip.
    """
    mu = np.array([0.6, 0.1])
    for direction, first in (((1, 0, 0), 0.3), ((0, -7, 0), 0.3 - pi / 2)):
        for degrees in range(0, 360, 30):
            angle = radians(degrees)
            force = thrown_box(solver, direction, carrier, angle, tuple(mu))
            slip = np.array([[cos(angle - first), sin(angle - first)]])
            expected = closed_form(np.ones(1), slip, mu)[0]
            along, across = np.array([cos(first), sin(first)]), np.array([-sin(first), cos(first)])
            found = force[:2] @ along, force[:2] @ across
            assert found == pytest.approx(tuple(expected), abs=1e-3 * mu.max())


@solvers
@pytest.mark.parametrize("axis", [0, 1])
def test_force_along_the_axes_is_that_of_the_axis(solver, axis):
    """F = mu_k m g, straight against the motion, within 0.1 %."""
    mu, angle = (0.15, 0.6), 0.3 + axis * pi / 2
    force = thrown_box(solver, (1, 0, 0), "body", angle, mu)
    assert force[:2] @ (cos(angle), sin(angle)) == pytest.approx(-mu[axis], rel=1e-3)
    assert force[:2] @ (-sin(angle), cos(angle)) == pytest.approx(0.0, abs=1e-3 * mu[axis])


@solvers
@pytest.mark.parametrize("carrier", ["body", "slope"])
@pytest.mark.parametrize("strong_downhill", [True, False])
def test_incline_holds_along_the_strong_axis_only(solver, carrier, strong_downhill):
    """tan a between the two: at rest, or v = g (sin a - mu cos a) t with the mu of the weak axis.

    1e-6 m of rest; 0.1 % of the velocity, as for isotropic friction: the first step does not yet
    know that the contact slides.
    """
    strong, weak, angle = 0.8, 0.2, atan(0.5)
    direction = (1, 0, 0) if strong_downhill else (0, 1, 0)
    grained = ds.Material(friction=(strong, weak), friction_direction=direction)
    plain = ds.Material()
    world = ds.World(solver=solver, sleeping=False)
    world.set_pair(grained, plain, friction=(strong, weak))
    materials = (plain, grained) if carrier == "body" else (grained, plain)
    tilt = (cos(angle / 2), 0.0, sin(angle / 2), 0.0)
    normal, downhill = np.array([sin(angle), 0, cos(angle)]), np.array([cos(angle), 0, -sin(angle)])
    world.add_fixed(ds.Plane(), materials[0], orientation=tilt)
    box = world.add_body(
        ds.Box(0.4, 0.4, 0.1), materials[1], position=0.05 * normal, orientation=tilt
    )
    start = box.position
    world.run(0.5)
    if strong_downhill:
        assert np.linalg.norm(box.position - start) < 1e-6
        assert (world.contacts().status == "stick").all()
    else:
        expected = G * (sin(angle) - weak * cos(angle)) * 0.5
        assert box.velocity @ downhill == pytest.approx(expected, rel=1e-3)
        assert abs(box.velocity[1]) < 1e-3 * expected


@solvers
def test_equal_axes_are_a_plain_number(solver):
    """(mu, mu) is the number mu, bit for bit; all but equal axes move alike to 1e-6 m."""
    assert ds.Material(friction=(0.3, 0.3)) == ds.Material(friction=0.3)
    places, hashes = [], []
    for mu in (0.3, (0.3, 0.3), (0.3, 0.3 * (1 + 1e-9))):
        material = ds.Material(friction=mu)
        world = ds.World(solver=solver, tolerance=1e-8, sleeping=False)
        world.add_fixed(ds.Plane(), material)
        box = world.add_body(
            ds.Box(0.3, 0.2, 0.05), material, position=(0, 0, 0.025), velocity=(2, 1, 0),
            spin=(0, 0, 5),
        )  # fmt: skip
        world.run(0.25)
        places.append(box.position)
        hashes.append(world.hash())
    assert hashes[0] == hashes[1]
    np.testing.assert_allclose(places[2], places[0], atol=1e-6)


@solvers
@pytest.mark.parametrize("mu", [(0.3, 0.05), (0.05, 0.3), (0.2, 0.0), (9.0, 0.01)])
def test_bouncing_ball_is_led_aside(solver, mu):
    """An impact obeys the same law: p_t from the slip after it, p_n = (1 + e) m v_n; within 0.1 %.

    The ball strikes at the start of its step, so that gravity only adds its g dt. With mu_1 = 9 it
    sticks along that axis, all but: u_1 is not zero, but below 0.1 % of u_2.
    """
    e, radius = 0.5, 0.1
    material = ds.Material(restitution=e, friction=mu)
    world = ds.World(solver=solver, sleeping=False, dt=1e-3)
    world.add_fixed(ds.Plane(), material, orientation=about_z(-0.4))
    before = np.array([9.0, 12.0, -4.0])
    ball = world.add_body(
        ds.Sphere(radius), material, position=(0, 0, radius), velocity=before,
        spin=(1, -2, 9), orientation=about_z(0.7),
    )  # fmt: skip
    world.step()
    impulse = ball.mass * (ball.velocity - before + np.array([0, 0, G * world.dt]))
    assert impulse[2] == pytest.approx((1 + e) * ball.mass * 4.0, rel=1e-4)
    along = np.array([cos(0.7), sin(0.7)])  # of the ball: it was added later than the plane
    axes = np.array([along, (-along[1], along[0])])
    slip = axes @ (ball.velocity + np.cross(ball.spin, (0, 0, -radius)))[:2]
    expected = closed_form(impulse[2:], slip[None], mu)[0]
    if mu[0] == 9.0:
        assert 0.0 < slip[0] < 1e-3 * slip[1]
    else:
        assert np.abs(slip).min() > 0.1
    assert axes @ impulse[:2] == pytest.approx(expected, abs=1e-3 * min(max(mu), 1) * impulse[2])
    assert world.contacts().on(ball) * world.dt == pytest.approx(impulse, rel=1e-6)
