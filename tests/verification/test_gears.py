"""Gears, racks, screws and couplings: ratios, momenta and energies from closed forms."""

import numpy as np
import pytest

import drystone as ds

Z = (0, 0, 1)


def floating(**options):
    return ds.World(gravity=(0, 0, 0), sleeping=False, **options)


def pair(ratio=-2.0):
    """Two gears on shafts of the fixed world, and the joint between them."""
    world = floating()
    a = world.add_body(ds.Cylinder(0.1, 0.05))
    b = world.add_body(ds.Cylinder(0.2, 0.05), position=(0.3, 0, 0))
    shafts = [world.add_joint(ds.Hinge(None, gear, gear.position, Z)) for gear in (a, b)]
    teeth = world.add_joint(ds.Gear(a, b, (0, 0, 0), Z, (0.3, 0, 0), Z, ratio=ratio))
    return world, a, b, shafts, teeth


def test_gears_share_a_spin_by_their_inertias():
    """An impact of the teeth: w_A = ratio w_B and I_A w_A + I_B w_B / ratio stays."""
    world, a, b, shafts, teeth = pair()
    a.spin = (0, 0, 10)
    own, other = a.inertia[2, 2], b.inertia[2, 2]
    world.step()
    assert a.spin[2] == pytest.approx(10 * own / (own + other / 4), rel=1e-6)
    energy = world.energy().total
    world.run(10.0)
    assert a.spin[2] == pytest.approx(-2 * b.spin[2], rel=1e-8)
    assert shafts[0].angle == pytest.approx(-2 * shafts[1].angle, rel=1e-7)
    assert abs(shafts[0].angle) > 20 and teeth.separation < 1e-7
    assert world.energy().total == pytest.approx(energy, rel=1e-6)
    assert world.info.converged


def test_a_planetary_gear_on_a_carrier_that_moves():
    """Ring fixed, radius 0.4, planet 0.1, sun 0.2: w_planet = -3 w_carrier, w_sun = 3 w_carrier."""
    world = floating()
    carrier = world.add_body(ds.Box(0.3, 0.05, 0.02), position=(0.15, 0, 0))
    planet = world.add_body(ds.Cylinder(0.1, 0.05), position=(0.3, 0, 0.1))
    sun = world.add_body(ds.Cylinder(0.2, 0.05), position=(0, 0, 0.1))
    for a, b, at, motor in (
        (None, carrier, 0.0, ds.Motor(1.0, max_torque=50.0)), (carrier, planet, 0.3, None),
        (None, sun, 0.0, None),
    ):  # fmt: skip
        world.add_joint(ds.Hinge(a, b, (at, 0, 0), Z, motor=motor))
    ring = world.add_joint(ds.Gear(None, planet, (0, 0, 0), Z, (0.3, 0, 0), Z, ratio=0.25))
    inner = world.add_joint(ds.Gear(sun, planet, (0, 0, 0), Z, (0.3, 0, 0), Z, ratio=-0.5))
    world.run(2.0)
    assert carrier.spin[2] == pytest.approx(1.0, rel=1e-5)
    assert planet.spin[2] == pytest.approx(-3.0 * carrier.spin[2], rel=1e-8)
    assert sun.spin[2] == pytest.approx(3.0 * carrier.spin[2], rel=1e-8)
    assert max(ring.separation, inner.separation) < 1e-6


def test_free_gears_make_no_momentum():
    """Two gears that nothing else holds: the force between the teeth is opposite and equal."""
    world = floating()
    a = world.add_body(ds.Cylinder(0.1, 0.1), spin=(0, 0, 3))
    b = world.add_body(ds.Cylinder(0.2, 0.1), position=(0.3, 0, 0), velocity=(0, 0.01, 0))
    world.add_joint(ds.Gear(a, b, (0, 0, 0), Z, (0.3, 0, 0), Z, ratio=-2))
    linear, angular = world.momentum()
    world.run(0.5)
    assert world.momentum().linear == pytest.approx(linear, abs=1e-10)
    assert world.momentum().angular == pytest.approx(angular, rel=1e-6, abs=1e-9)


def test_a_rack_and_a_screw():
    """Displacement of the pinion against the rack is radius times angle."""
    world = floating()
    rack = world.add_body(ds.Box(2, 0.05, 0.05), position=(0, 0, -0.125))
    pinion = world.add_body(ds.Sphere(0.1))
    slide = world.add_joint(ds.Slider(None, rack, (1, 0, 0)))
    shaft = world.add_joint(
        ds.Hinge(None, pinion, (0, 0, 0), (0, 1, 0), motor=ds.Motor(2.0, max_torque=5.0))
    )
    teeth = world.add_joint(ds.Rack(rack, pinion, (0, 0, 0), (0, 1, 0), (1, 0, 0), radius=0.1))
    world.run(1.5)
    assert slide.position == pytest.approx(-0.1 * shaft.angle, abs=1e-8)
    assert teeth.position == pytest.approx(0.1 * teeth.angle, abs=1e-8) and teeth.speed > 1.9
    screw_world = ds.World(sleeping=False)
    nut = screw_world.add_body(ds.Cylinder(0.1, 0.05), mass=1.0)
    screw_world.add_joint(ds.Cylindrical(None, nut, (0, 0, 0), Z))
    lead = 0.02
    thread = screw_world.add_joint(ds.Rack(None, nut, (0, 0, 0), Z, Z, radius=lead / (2 * np.pi)))
    screw_world.run(1.0)
    k = lead / (2 * np.pi)  # m z' = m g - F, I w' = F k, z = k angle: z'' = g / (1 + I / (m k²))
    fall = 9.81 / (1 + nut.inertia[2, 2] / k**2)
    assert nut.position[2] == pytest.approx(-0.5 * fall, rel=5e-3)
    assert thread.separation < 1e-7


def test_a_coupling_keeps_the_speed_of_shafts_at_an_angle():
    """A constant-velocity joint: equal angles at every moment, as a universal joint has not."""
    world = floating()
    lean = 0.5
    along = np.array([np.cos(lean), np.sin(lean), 0])
    one = world.add_body(ds.Box(1, 0.1, 0.2), position=(-0.5, 0, 0))
    two = world.add_body(
        ds.Box(1, 0.1, 0.2), position=0.5 * along,
        orientation=(np.cos(lean / 2), 0, 0, np.sin(lean / 2)),
    )  # fmt: skip
    first = world.add_joint(
        ds.Hinge(None, one, (0, 0, 0), (1, 0, 0), motor=ds.Motor(3.0, max_torque=100.0))
    )
    second = world.add_joint(ds.Hinge(None, two, (0, 0, 0), along))
    world.add_joint(ds.Coupling(one, two, (0, 0, 0), (1, 0, 0), axis_b=along))
    off = 0.0
    for _ in range(360):
        world.step()
        off = max(off, abs(first.angle - second.angle))
    assert first.angle > 4.0 and off < 1e-5


def test_a_clutch_slips_at_its_torque():
    """max torque 0.5 N m on a body of I: it is sped up by 0.5 / I until both rotate alike."""
    world = floating()
    driver = world.add_body(ds.Box(0.2, 0.2, 0.2), kinematic=True, spin=(0, 0, 5))
    load = world.add_body(ds.Cylinder(0.2, 0.2), position=(0, 0, 0.3))
    world.add_joint(ds.Hinge(None, load, (0, 0, 0.3), Z))
    clutch = ds.Coupling(driver, load, (0, 0, 0.2), Z, limits=(None, None), friction=0.5)
    world.add_joint(clutch)
    world.run(0.5)
    assert load.spin[2] == pytest.approx(0.5 * 0.5 / load.inertia[2, 2], rel=1e-6)
    clutch.set(friction=500.0)
    world.run(0.2)
    assert load.spin[2] == pytest.approx(5.0, rel=1e-6)


def test_worlds_with_gears_go_on_after_files(tmp_path):
    world, a, *_ = pair(0.7)
    a.spin = (0, 0, 4)
    world.run(0.3)
    world.save(tmp_path / "gears.h5")
    other, copy = ds.World.load(tmp_path / "gears.h5"), world.copy()
    for one in (world, other, copy):
        one.run(0.3)
    assert world.hash() == other.hash() == copy.hash()


def test_gears_in_line_and_odd_ratios_are_refused():
    world = floating()
    a, b = world.add_body(ds.Sphere(0.1)), world.add_body(ds.Sphere(0.1), position=(0, 0, 1))
    with pytest.raises(ds.InputError, match="Coupling"):
        ds.Gear(a, b, (0, 0, 0), Z, (0, 0, 1), Z, ratio=2)
    with pytest.raises(ds.InputError, match="ratio"):
        ds.Gear(a, b, (0, 0, 0), (1, 0, 0), (0, 0, 1), (1, 0, 0), ratio=0)
    with pytest.raises(ds.InputError, match="radius"):
        ds.Rack(a, b, (0, 0, 0), Z, Z, radius=0)
    with pytest.raises(ds.InputError, match="limits"):
        ds.Coupling(a, b, (0, 0, 0), Z, friction=1.0)
    with pytest.raises(ds.UnsupportedFeature, match="dimensions"):
        flat = ds.World(dim=2)
        disc = flat.add_body(ds.Disc(0.1))
        flat.add_joint(ds.Rack(None, disc, (0, 0, 0), (0, 1, 0), (1, 0, 0), 0.1))
