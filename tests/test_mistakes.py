"""A hundred plausible mistakes: each gets one sentence that names thing, value and fix."""

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


def links():
    return [ds.Link(name, 1.0, (0, 0, -0.5), (0.1, 0.1, 0.01)) for name in ("upper", "lower")]


def elbow(**options):
    given = {"position": (0, 0, -1), "axis": (0, 1, 0)} | options
    return ds.RobotJoint("elbow", "revolute", "lower", "upper", **given)


def arm(joint=None, motor="elbow"):
    shoulder = ds.RobotJoint("shoulder", "revolute", "upper", axis=(0, 1, 0))
    motors = [ds.Actuator("motor", motor, max_force=20)]
    return ds.Robot(links(), [shoulder, joint or elbow()], motors, name="arm")


def placed(world, **options):
    return world.add_robot(arm(), position=(0, 0, 3), **options)


def of_robot(name, value):
    def mistake(world):
        setattr(placed(world), name, value)

    return mistake


def of_link(name, value):
    def mistake(world):
        setattr(placed(world).link("upper"), name, value)

    return mistake


def batch(world, n=2):
    box(world)
    return ds.Batch(world, n)


def clip():
    from drystone.world.character.clips.walking import walk_on_the_spot

    return walk_on_the_spot(0.3)


def figure(**options):
    return ds.Figure.from_clip(clip(), **options)


def in_viewer(mistake):
    def made(world):
        viewer = world.view(port=0, block=False)
        try:
            mistake(viewer)
        finally:
            viewer.stop()

    return made


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
    # Robots
    "kind of a robot's joint": (
        lambda w: ds.RobotJoint("elbow", "hinge", "lower"), "elbow", "hinge", "revolute",
    ),
    "limits of it the wrong way round": (lambda w: elbow(limits=(1, -1)), "elbow", "(1, -1)"),
    "axis of it of length zero": (lambda w: elbow(axis=(0, 0, 0)), "elbow", "axis"),
    "limits of it misspelt": (lambda w: elbow(limit=(0, 1)), "limit", "limits"),
    "parent that is not there": (
        lambda w: arm(ds.RobotJoint("elbow", "revolute", "lower", "uper")), "uper", "upper",
    ),
    "link that hangs on two": (
        lambda w: arm(ds.RobotJoint("elbow", "revolute", "upper", "lower")), "upper", "Loop",
    ),
    "actuator of no joint": (lambda w: arm(motor="elbwo"), "elbwo", "elbow"),
    "actuator of a torque": (
        lambda w: ds.Actuator("motor", "elbow", max_torque=3), "max_torque", "max_force",
    ),
    "link of negative mass": (lambda w: ds.Link("upper", -1.0), "link upper", "-1", ">= 0"),
    "shape on a link, bare": (
        lambda w: ds.Link("upper", 1.0, shapes=[ds.Box(1, 1, 1)]), "link upper", "LinkShape",
    ),
    "robot file missing": (lambda w: ds.Robot.load("no-such.urdf"), "no-such.urdf"),
    "base misspelt": (lambda w: ds.Robot.load("a.urdf", base="floating"), "floating", "free"),
    "robot as a body": (lambda w: w.add_body(arm()), "Robot", "shape"),
    "robot by its path": (lambda w: w.add_robot("arm.urdf"), "arm.urdf", "Robot.load(path)"),
    "robot without a robot": (lambda w: w.add_robot(), "World.add_robot() needs robot"),
    "coordinates of another robot": (lambda w: placed(w, q=(0.1,)), "arm: q", "(1,)", "(2,)"),
    "commands, too many": (of_robot("control", [1, 2]), "arm: control", "(2,)", "(1,)"),
    "torques that are no number": (of_robot("tau", [np.nan, 0]), "arm: tau", "finite"),
    "commands misspelt": (of_robot("contrl", [1]), "contrl", "control"),
    "link misspelt": (lambda w: placed(w).link("uppr"), "arm", "uppr", "upper"),
    "link placed by hand": (of_link("position", (0, 0, 0)), "arm/upper", "q and qd"),
    "link pushed to a speed": (of_link("velocity", (0, 0, 0)), "arm/upper", "q and qd"),
    "link removed": (lambda w: w.remove(placed(w).link("upper")), "arm/upper", "robot"),
    "robot in two dimensions": (lambda w: ds.World(dim=2).add_robot(arm()), "robots", "dim=3"),
    "link dragged that is not there": (
        lambda w: [placed(w), w.drag("arm/lowr")], "arm/lowr", "arm/lower",
    ),
    # Characters
    "clip missing": (lambda w: ds.Clip.load("no-such.bvh"), "no-such.bvh"),
    "clip trimmed backwards": (lambda w: clip().trimmed(2, 1), "trimmed", "from 2 to 1 s"),
    "joint of a clip misspelt": (
        lambda w: clip().branch("left_sholder"), "left_sholder", "left_shoulder",
    ),
    "figure of negative mass": (lambda w: figure(mass=-70), "mass is -70 kg", "> 0"),
    "table misspelt": (lambda w: figure(table="winters"), "winters", "winter"),
    "bone misspelt": (lambda w: figure().bone("left_nee"), "left_nee", "left_knee"),
    "root misspelt": (
        lambda w: w.add_character(figure(), clip(), root="folow"), "root", "folow", "follow",
    ),
    "figure and clip swapped": (
        lambda w: w.add_character(clip(), figure()), "figure", "Clip", "must be a Figure",
    ),
    "character without a clip": (
        lambda w: w.add_character(figure()), "World.add_character() needs clip",
    ),
    "gains as a number": (
        lambda w: w.add_character(figure(), clip(), gains=100), "gains is 100", "Gains(...)",
    ),
    "method of inverse dynamics": (
        lambda w: ds.inverse_dynamics(figure(), clip(), method="newton"), "newton-euler",
    ),
    # Batches
    "batch of none": (lambda w: batch(w, 0), "n is 0", ">= 1"),
    "batch of a list": (lambda w: ds.Batch([w], 2), "Batch", "World"),
    "batch stepped backwards": (lambda w: batch(w).step(-1), "count is -1", "from 1"),
    "copy that is not there": (lambda w: batch(w)[5], "index is 5", "1"),
    "velocities replaced": (
        lambda w: setattr(batch(w), "velocities", 0), "velocities", "write into it",
    ),
    "velocities misspelt": (lambda w: setattr(batch(w), "velocites", 0), "velocites"),
    "positions of copies set": (
        lambda w: setattr(batch(w), "positions", 0), "positions", "only be read",
    ),
    # The penalty method, and bounds of time
    "penalty as a class": (lambda w: ds.World(solver=ds.Penalty), "Penalty", "Penalty()"),
    "penalty of a stiffness": (lambda w: ds.Penalty(stiffness=1e4), "stiffness", "proportional"),
    "penalty with another stepper": (
        lambda w: ds.World(solver="penalty", stepper="implicit"), "penalty", "implicit", "rk4",
    ),
    "rk4 with impulses": (lambda w: ds.World(stepper="rk4"), "rk4", "penalty", "time-stepping"),
    "penalty for a problem": (lambda w: solved(w, "penalty"), "penalty", "World(solver="),
    "budget of no unit": (lambda w: ds.World(budget="fast"), "budget", "fast", "2 ms"),
    # The viewer, pictures
    "port too large": (lambda w: w.view(port=99999, block=False), "port is 99999", "65535"),
    "port as text": (lambda w: w.view(port="8080", block=False), "port", "'8080'", "integer"),
    "token too short": (lambda w: w.view(token="abc", block=False), "token has 3", "8"),
    "blocking misspelt": (lambda w: w.view(blocking=False), "blocking", "block"),
    "viewer told in words": (in_viewer(lambda v: v.do("step")), "do", "step", "function"),
    "attribute of a viewer": (in_viewer(lambda v: setattr(v, "folow", True)), "folow", "follow"),
    "camera of two numbers": (
        lambda w: w.picture("a.png", camera=(1, 2)), "camera", "3 numbers",
    ),
    "picture of one size": (lambda w: w.picture("a.png", size=800), "size is 800", "2 numbers"),
    "held no longer": (
        lambda w: (lambda held: [held.release(), held.move((0, 0, 1))])(w.drag(box(w))),
        "crate", "no longer held", "drag()",
    ),
    "attractor moved, misspelt": (
        lambda w: w.attract((0, 0, 1), 5).set(postion=(0, 0, 2)), "Attractor", "postion",
    ),
    "restored from a number": (lambda w: w.restore(3), "restore", "3", "snapshot()"),
}  # fmt: skip


@pytest.fixture
def world():
    world = ds.World()
    world.add_fixed(ds.Plane(), name="ground")
    return world


def test_there_are_a_hundred():
    assert len(MISTAKES) >= 100


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
