"""world.check(): each suspicious thing is found, named and given a fix; a good world is silent."""

import numpy as np
import pytest

import drystone as ds

STONE = ds.Material(density=2600, friction=0.6)


def good_world(**options):
    world = ds.World(**options)
    world.add_fixed(ds.Plane(), STONE, name="ground")
    world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 0.5), name="lower")
    world.add_body(ds.Box(1, 1, 1), STONE, position=(0, 0, 1.5), name="upper")
    return world


def found(world, what):
    """The findings whose text has `what` in it."""
    return [finding for finding in world.check() if what in finding.what]


def test_a_good_world_has_no_findings():
    world = good_world()
    assert world.check() == []
    world.run(0.5)
    assert world.check() == []


def test_checking_changes_nothing():
    plain, checked = good_world(), good_world()
    checked.check()
    plain.run(0.2)
    checked.run(0.2)
    checked.check()
    assert plain.hash() == checked.hash()


def test_mass_ratio_of_touching_bodies():
    world = good_world()
    world["upper"].mass = 1001 * world["lower"].mass
    (finding,) = found(world, "times the mass of lower")
    assert finding.severity == "warning" and finding.object == "upper"
    assert "touches" in finding.what and finding.fix
    world["upper"].mass = 999 * world["lower"].mass
    assert not found(world, "times the mass")


def test_mass_ratio_of_bodies_that_are_apart():
    world = ds.World()
    world.add_fixed(ds.Plane(), STONE)
    world.add_body(ds.Sphere(1), STONE, position=(0, 0, 3), name="big")
    world.add_body(ds.Sphere(0.05), STONE, position=(5, 0, 3), name="small")
    (finding,) = found(world, "times the mass of small")
    assert finding.object == "big" and "may come to touch" in finding.what


@pytest.mark.parametrize(("depth", "count"), [(0.009, 0), (0.05, 1)])
def test_initial_overlap(depth, count):
    """More than 1 % of the size, which is the diagonal of the box, 1.73 m."""
    world = good_world()
    world["upper"].position = (0, 0, 1.5 - depth)
    findings = found(world, "overlaps")
    assert len(findings) == count
    if count:
        assert findings[0].object == "upper" and "lower" in findings[0].what
        assert "0.05 m" in findings[0].what


def test_a_body_deep_in_the_ground():
    world = good_world()
    world.add_body(ds.Sphere(0.5), STONE, position=(5, 0, -3), name="mole")
    (finding,) = found(world, "overlaps")
    assert finding.object == "mole" and "fixed world" in finding.what


@pytest.mark.parametrize(("size", "count"), [(1e-4, 1), (1e-2, 0), (100, 0), (2000, 1)])
def test_sizes_that_are_not_metres(size, count):
    world = ds.World()
    world.add_fixed(ds.Plane(), STONE)
    world.add_body(ds.Sphere(size / 2), STONE, position=(0, 0, size), name="ball")
    findings = found(world, "m large")
    assert len(findings) == count and all("metres" in f.fix for f in findings)


def test_no_gravity_and_no_ground():
    assert found(good_world(gravity=(0, 0, 0)), "is zero")[0].object == "gravity"
    world = ds.World()
    world.add_body(ds.Sphere(1), STONE)
    assert found(world, "nothing fixed")
    assert not found(good_world(), "nothing fixed")


def test_a_body_below_everything():
    world = ds.World()
    world.add_fixed(ds.Box(10, 10, 1), STONE)
    world.add_body(ds.Sphere(0.5), STONE, position=(0, 0, -20), name="lost")
    world.add_body(ds.Sphere(0.5), STONE, position=(0, 0, 2), name="fine")
    (finding,) = found(world, "below everything")
    assert finding.object == "lost"


@pytest.mark.parametrize("turned", [False, True])
def test_bodies_under_a_terrain(turned):
    """A hill of 2 m, also as a wall turned by 90 degrees about x, with gravity along y."""
    x = np.linspace(-10, 10, 21)
    hill = 2.0 * np.exp(-(x[:, None] ** 2 + x[None] ** 2) / 20)
    world = ds.World(gravity=(0, 9.81, 0) if turned else (0, 0, -9.81))
    orientation = (0.5**0.5, 0.5**0.5, 0, 0) if turned else (1, 0, 0, 0)
    world.add_fixed(ds.Terrain.from_grid(hill, 1.0, (-10, -10)), STONE, orientation=orientation)
    slab = (2, 0.2, 2) if turned else (2, 2, 0.2)
    for name, (px, py, pz) in {
        "air": (0.3, 0.2, 3), "sunk": (0.3, 0.2, 1.8), "buried": (0.3, 0.2, 0.5),
        "beyond": (20, 0, 0.5), "housed": (3.3, 3.2, -2),
    }.items():  # fmt: skip
        at = (px, -pz, py) if turned else (px, py, pz)
        world.add_body(ds.Sphere(0.3), STONE, position=at, name=name)
    floor = (3.3, 3.0, 3.2) if turned else (3.3, 3.2, -3.0)
    world.add_fixed(ds.Box(*slab), STONE, position=floor)
    (finding,) = found(world, "under a terrain")
    assert finding.object == "buried" and "1.45 m under" in finding.what  # the facet is at 1.952 m


def test_materials():
    for material, what, severity in [
        (ds.Material(friction=0, name="odd"), "no friction", "hint"),
        (ds.Material(friction=30, name="odd"), "friction of 30", "warning"),
        (ds.Material(restitution=1, name="odd"), "bounce for ever", "hint"),
    ]:
        world = good_world()
        world.add_body(ds.Sphere(1), material, position=(5, 0, 1))
        findings = found(world, what)
        assert findings and all("odd" in f.object and f.severity == severity for f in findings)


def test_density_in_other_units():
    world = good_world()
    world.add_body(ds.Sphere(1), ds.Material(density=2.6), position=(5, 0, 1), name="pebble")
    (finding,) = found(world, "density of 2.6")
    assert finding.object == "pebble" and "2600 meant" in finding.fix


def test_speeds_that_outrun_the_step():
    world = good_world(ccd=False)
    world.add_body(ds.Sphere(0.01), STONE, (5, 0, 1), velocity=(300, 0, 0), name="bullet")
    world.add_body(ds.Sphere(0.1), STONE, (7, 0, 1), spin=(0, 0, 1000), name="top")
    (fast,), (spinning,) = found(world, "in one step and is"), found(world, "rad in one step")
    assert fast.object == "bullet" and "dt <=" in fast.fix
    assert spinning.object == "top"


def test_what_has_continuous_collision_detection_may_be_fast():
    world = good_world()
    world.add_body(ds.Sphere(0.01), STONE, (5, 0, 1), velocity=(300, 0, 0), name="bullet")
    assert not found(world, "in one step and is")


@pytest.mark.parametrize(("dt", "count"), [(1e-7, 1), (1 / 1000, 0), (1 / 60, 0), (0.1, 1)])
def test_unusual_steps(dt, count):
    assert len(found(good_world(dt=dt), "unusual")) == count


def test_kinematic_bodies_that_are_pushed():
    world = good_world()
    lift = world.add_body(ds.Box(1, 1, 1), STONE, (5, 0, 5), kinematic=True, name="lift")
    assert not found(world, "kinematic")
    lift.force = (0, 0, 10)
    assert found(world, "kinematic")[0].object == "lift"


def test_names_used_twice():
    world = good_world()
    world.add_body(ds.Sphere(0.1), STONE, position=(5, 0, 1), name="upper")
    assert found(world, "name of 2 bodies")[0].object == "upper"


def test_masks_that_touch_nothing():
    world = good_world()
    world.add_body(ds.Sphere(0.1), STONE, position=(5, 0, 1), name="ghost", mask=0)
    assert found(world, "touches nothing")[0].object == "ghost"


def test_numbers_that_are_not_finite_come_first():
    world = good_world(gravity=(0, 0, 0))
    world.state.twist[1, 0] = np.nan
    first = world.check()[0]
    assert first.severity == "error" and first.object == "upper"
    assert str(first).startswith("error: upper: ")


def test_many_findings_of_a_kind_are_counted():
    world = ds.World()
    world.add_fixed(ds.Plane(), STONE)
    for k in range(25):
        world.add_body(ds.Sphere(1e-5), STONE, position=(k, 0, 1))
    findings = found(world, "m large")
    assert len(findings) == 10 and "15 more" in findings[-1].what


def test_a_check_does_not_wait_for_the_solver(monkeypatch):
    """Contacts are there before the solve, which may take seconds where it does not converge."""
    from drystone.world.check import world as module

    asked, run_steps = [], module.run_steps

    def run(model, state, work, settings, *rest):
        asked.append(settings.max_sweeps)
        return run_steps(model, state, work, settings, *rest)

    monkeypatch.setattr(module, "run_steps", run)
    world = ds.World(solver="nsgs")
    world.add_fixed(ds.Plane())
    world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.3), name="crate")
    assert any("overlaps" in finding.what for finding in world.check())
    assert asked == [1]
