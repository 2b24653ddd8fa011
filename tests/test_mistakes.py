"""Sixty plausible mistakes: each gets one sentence that names the thing, the value and the fix."""

import numpy as np
import pytest

import drystone as ds


def box(world, **options):
    return world.add_body(ds.Box(1, 1, 1), **({"position": (0, 0, 3), "name": "crate"} | options))


def joined(world, **options):
    return ds.Hinge(box(world), None, point=(0, 0, 3), axis=(0, 1, 0), **options)


def solved(world, *args, **options):
    box(world, position=(0, 0, 0.5))
    world.step()
    return ds.solve(world.problem(), *args, **options)


def setting(name, value):
    def mistake(world):
        setattr(world, name, value)

    return mistake


def of_body(name, value):
    def mistake(world):
        setattr(box(world), name, value)

    return mistake


# What is done, and words that the sentence must have: the thing, the value or the fix.
MISTAKES = {
    "timestep for dt": (lambda w: ds.World(timestep=0.01), "timestep", "dt"),
    "dt of zero": (lambda w: ds.World(dt=0), "dt", "> 0"),
    "dt as text": (lambda w: ds.World(dt="fast"), "dt", "number"),
    "gravity as a number": (lambda w: ds.World(gravity=-9.81), "gravity", "3 numbers"),
    "gravity with two numbers": (lambda w: ds.World(gravity=(0, -9.81)), "gravity", "2", "3"),
    "solver misspelt": (lambda w: ds.World(solver="prox-newten"), "prox-newten", "prox-newton"),
    "solver as a class": (lambda w: ds.World(solver=ds.SOLVERS["nsgs"]), "Nsgs", "Nsgs()"),
    "stepper misspelt": (lambda w: ds.World(stepper="implict"), "implict", "implicit"),
    "tolerance negative": (lambda w: ds.World(tolerance=-1e-5), "tolerance", "> 0"),
    "four dimensions": (lambda w: ds.World(dim=4), "dim is 4", "2 or 3"),
    "sleeping as text": (lambda w: ds.World(sleeping="yes"), "sleeping", "True or False"),
    "policy misspelt": (lambda w: ds.World(on_nonconverged="rise"), "rise", "raise"),
    "attribute misspelt": (setting("gravty", (0, 0, 0)), "gravty", "gravity"),
    "time set": (setting("time", 3), "World.time", "only be read"),
    "step replaced": (setting("step", 3), "World.step", "function"),
    "centres set": (setting("centres", 3), "centres", "only be read"),
    "tolerance set to text": (setting("tolerance", "small"), "tolerance", "small", "number"),
    "solver set to nonsense": (setting("solver", 5), "solver is 5", "solve(problem, impulse)"),
    "body attribute misspelt": (of_body("velocty", (0, 0, 1)), "velocty", "velocity"),
    "fixed thing moved": (
        lambda w: setattr(w.fixed[0], "position", (0, 0, 1)), "position", "only be read",
    ),
    "velocity of two numbers": (of_body("velocity", (1, 2)), "crate: velocity", "2", "3"),
    "mass negative": (of_body("mass", -2), "crate: mass is -2", "> 0"),
    "quaternion of degrees": (of_body("orientation", (90, 0, 0, 0)), "orientation", "unit"),
    "Euler angles": (of_body("orientation", (0, 0, 1.57)), "orientation", "3", "4"),
    "NaN position": (of_body("position", (0, np.nan, 0)), "position", "finite"),
    "group as text": (of_body("group", "red"), "group", "red", "integer"),
    "material as a number": (of_body("material", 0.5), "crate", "0.5", "Material"),
    "name not a text": (of_body("name", 7), "name", "7", "text"),
    "sleep without sleeping": (
        lambda w: setattr(box(ds.World(sleeping=False)), "asleep", True), "crate", "sleeping=False",
    ),
    "angle in three dimensions": (lambda w: box(w, angle=0.3), "angle", "dim=2"),
    "density negative": (lambda w: ds.Material(density=-1), "density", "-1"),
    "friction negative": (lambda w: ds.Material(friction=-0.1), "friction", "-0.1"),
    "restitution of two": (lambda w: ds.Material(restitution=2), "restitution", "2"),
    "material keyword": (lambda w: ds.Material(mu=0.5), "mu"),
    "box without height": (lambda w: ds.Box(1, 1), "Box", "z"),
    "box of size zero": (lambda w: ds.Box(1, 0, 1), "0", "> 0"),
    "sphere by diameter": (lambda w: ds.Sphere(diameter=1), "diameter", "r"),
    "flat hull": (lambda w: ds.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0)]), "ConvexHull"),
    "mesh file missing": (lambda w: ds.Mesh.load("no-such.stl"), "no-such.stl"),
    "moving plane": (lambda w: w.add_body(ds.Plane()), "Plane", "fixed"),
    "shape forgotten": (lambda w: w.add_body(position=(0, 0, 1)), "add_body", "shape"),
    "no shape": (lambda w: w.add_body(3), "3", "shape"),
    "body where a material belongs": (lambda w: w.add_body(ds.Box(1, 1, 1), box(w)), "Material"),
    "unknown name": (lambda w: box(w) and w["crat"], "crat", "crate"),
    "name used twice": (lambda w: [box(w), box(w), w["crate"]], "2 bodies", "crate"),
    "joint with itself": (
        lambda w: (lambda b: ds.Ball(b, b, point=(0, 0, 3)))(box(w)), "same body", "crate",
    ),
    "joint of nothing": (lambda w: ds.Ball(None, None, point=(0, 0, 3)), "fixed world", "body"),
    "joint of a name that is not there": (
        lambda w: w.add_joint(ds.Ball("crat", None, point=(0, 0, 0))), "crat",
    ),
    "limits the wrong way round": (lambda w: joined(w, limits=(1, -1)), "limits", "1", "-1"),
    "hinge without axis": (lambda w: ds.Hinge(box(w), None, point=(0, 0, 3)), "Hinge", "axis"),
    "axis of length zero": (
        lambda w: ds.Hinge(box(w), None, point=(0, 0, 3), axis=(0, 0, 0)), "Hinge", "axis",
    ),
    "joint added twice": (
        lambda w: (lambda j: [w.add_joint(j), w.add_joint(j)])(joined(w)), "in a world already",
    ),
    "force where a joint belongs": (lambda w: w.add_joint(ds.Drag(linear=1)), "Drag", "joint"),
    "spring without stiffness": (
        lambda w: ds.Spring(box(w), None, stiffness=0), "stiffness", "> 0",
    ),
    "removed body used": (
        lambda w: (lambda b: [w.remove(b), b.position])(box(w)), "crate", "removed",
    ),
    "run backwards": (lambda w: w.run(-1), "seconds", "-1", ">= 0"),
    "run as text": (lambda w: w.run("1 s"), "seconds", "number"),
    "problem before a step": (lambda w: w.problem(), "step"),
    "world file missing": (lambda w: ds.World.load("no-such.h5"), "no-such.h5"),
    "recording every zero": (lambda w: ds.record(w, "a.h5", every=0), "every is 0", "at least 1"),
    "recording of no file": (lambda w: ds.Recording("no-such.h5"), "no-such.h5"),
    "drag of the ground": (lambda w: w.drag(w.fixed[0]), "cannot be pulled"),
    "drag of a name that is not there": (lambda w: w.drag("crat"), "crat"),
    "throw nowhere": (lambda w: w.throw((0, 0, 1), (0, 0, 0)), "direction", "zero"),
    "throw with negative speed": (
        lambda w: w.throw((0, 0, 1), (1, 0, 0), speed=-1), "speed", "-1", "> 0",
    ),
    "attractor of negative strength": (lambda w: w.attract((0, 0, 1), -5), "strength", "-5"),
    "viewer for everybody": (lambda w: w.view(host="0.0.0.0", block=False), "0.0.0.0", "token"),
    "solve nothing": (lambda w: ds.solve(None), "solve", "None"),
    "measure misspelt": (lambda w: solved(w, measure="velocty"), "velocty", "velocity"),
}  # fmt: skip


@pytest.fixture
def world():
    world = ds.World()
    world.add_fixed(ds.Plane(), name="ground")
    return world


def test_there_are_sixty():
    assert len(MISTAKES) >= 60


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_sentence(world, name):
    mistake, *words = MISTAKES[name]
    with pytest.raises(ds.DrystoneError) as caught:
        mistake(world)
    said = str(caught.value)
    assert "\n" not in said and len(said) < 400
    for word in words:
        assert word in said, f"{word!r} is missing in: {said}"


def test_arrays_of_a_world_cannot_be_written_to_in_vain(world):
    box(world)
    for name in ("positions", "orientations", "centres", "velocities", "spins"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(world, name)[0, 2] = 3


def test_check_finds_degrees_and_quaternions_with_w_last(world):
    crate = box(world, orientation=(0, 0, 0, 1))
    world.add_joint(ds.Hinge(crate, None, point=(0, 0, 3), axis=(0, 1, 0), limits=(-90, 90)))
    found = {(finding.object, finding.fix) for finding in world.check()}
    assert any("np.radians(-90)" in fix for _, fix in found)
    assert any(thing == "crate" and "(w, x, y, z)" in fix for thing, fix in found)
