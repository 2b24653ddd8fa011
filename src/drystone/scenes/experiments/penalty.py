"""The experiments of PENALTY IV: block-penetrating, block-perturbed, mixed-pile, diff-drive and
humanoid-26. By default the penalty method steps them; `--set solver=auto` takes another one."""

from dataclasses import replace

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene
from drystone.solvers.penalty.options import Penalty

STEP = 1e-3  # [s] PENALTY IV
CUBE_MASS = 10.0  # [kg] PENALTY Fig. 12

# The gains of PENALTY IV-A, of a pair of bodies.
MANY = Penalty(5000.0, 2500.0, 100.0, per_kilogram=False, limit_gains=False)
DEEPEST = Penalty(6000.0, 3000.0, 200.0, per_kilogram=False, limit_gains=False, points=1)

PUSHES, PUSH_STEPS = 10, 500  # PENALTY IV-B: steps with a force, and as many without
LEAST_PUSH, MOST_PUSH = 10.0, 100.0  # [N]

WHEEL, WIDTH, TRACK = 0.1, 0.02, 0.4  # radius and width of a wheel, between the wheels [m]
# By so much casters hang above the ground: else it would not be determined what wheels bear [m].
CLEARANCE = 2e-3


def _choose(world, deepest: bool) -> None:
    """The deepest-point variant with its gains, if it is asked for and the method has one."""
    if deepest and isinstance(world.solver, Penalty):
        world.solver = DEEPEST


def fill_block_penetrating(world, depth=0.25, seed=0, deepest=False):
    """A cube of 1 m, turned at random, whose lowest corner is below the ground.

    depth     of that corner [m]
    deepest   apply forces to the point of deepest penetration alone, with the gains of the source
    """
    _choose(world, deepest)
    turn = np.random.default_rng(seed).normal(size=4)
    turn /= np.linalg.norm(turn)
    w, x, y, z = turn
    down = (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y))
    height = 0.5 * float(np.abs(down).sum()) - depth
    world.add_fixed(ds.Plane(), name="ground")
    world.add_body(
        ds.Box(1, 1, 1), mass=CUBE_MASS, position=(0, 0, height), orientation=turn.tolist(),
        name="cube",
    )  # fmt: skip


def fill_block_perturbed(world, seed=0, deepest=False):
    """A cube of 1 m at rest on the ground, pushed down ten times at random points of its top.

    Every push lasts 500 steps of 1 ms, and 500 steps of rest follow.
    deepest   as in block-penetrating
    """
    _choose(world, deepest)
    rng = np.random.default_rng(seed)
    points = np.column_stack([rng.uniform(-0.5, 0.5, (PUSHES, 2)), np.full(PUSHES, 0.5)])
    sizes = rng.uniform(LEAST_PUSH, MOST_PUSH, PUSHES)
    world.add_fixed(ds.Plane(), name="ground")
    cube = world.add_body(ds.Box(1, 1, 1), mass=CUBE_MASS, position=(0, 0, 0.5), name="cube")

    def push(state):
        count, within = divmod(state.time, 2 * PUSH_STEPS * STEP)
        k = int(count)
        if k >= PUSHES or within >= (PUSH_STEPS - 0.25) * STEP:
            return np.zeros((1, 6))
        w, x, y, z = state.orientations[0]
        axes = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])  # fmt: skip
        force = np.array([0.0, 0.0, -sizes[k]])
        return np.concatenate([force, np.cross(axes @ points[k], force)])[None]

    world.add_force(ds.Force(push, on=cube))


def fill_mixed_pile(world, bodies=24, seed=0, side=2.0):
    """Boxes, cylinders and spheres of masses up to 100 kg fall into a box and come to rest.

    side   of the ground of that box [m]
    """
    rng = np.random.default_rng(seed)
    stuff = ds.Material(friction=0.5)
    world.add_fixed(ds.Plane(), stuff, name="ground")
    half, thick, height = side / 2, 0.2, 3.0
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        long = side + 2 * thick
        size = (thick, long, height) if x else (long, thick, height)
        place = ((half + thick / 2) * x, (half + thick / 2) * y, height / 2)
        world.add_fixed(ds.Box(*size), stuff, position=place, name=f"wall {k}")
    for k in range(bodies):
        shapes = (
            ds.Box(*rng.uniform(0.2, 0.5, 3).tolist()),
            ds.Cylinder(float(rng.uniform(0.1, 0.25)), float(rng.uniform(0.2, 0.5))),
            ds.Sphere(float(rng.uniform(0.1, 0.25))),
        )
        turn = rng.normal(size=4)
        x, y = (half - 0.45) * (2.0 * np.array([k % 2, k // 2 % 2]) - 1.0)
        x, y = np.array([x, y]) + rng.uniform(-0.1, 0.1, 2)
        world.add_body(
            shapes[k % 3], stuff, mass=float(100.0 * (1.0 - rng.random())),
            position=(x, y, 0.45 + 0.65 * (k // 4)), orientation=turn / np.linalg.norm(turn),
        )  # fmt: skip


def _rod(name: str, mass: float, size: tuple, centre=(0, 0, 0), shapes=()) -> "ds.Link":
    """A link with the inertia of a box."""
    x, y, z = (s * s / 12.0 for s in size)
    return ds.Link(name, mass, centre, (mass * (y + z), mass * (x + z), mass * (x + y)), shapes)


def _drive() -> tuple[list, list, list]:
    """A base that floats on two driven wheels and two casters without friction."""
    box = (0.4, 0.3, 0.1)
    links = [_rod("base", 12.0, box, shapes=[ds.LinkShape(ds.Box(*box))])]
    joints = [ds.RobotJoint("float", "free", "base")]
    motors = []
    for name, y in (("left", TRACK / 2), ("right", -TRACK / 2)):
        half = 0.5**0.5
        tyre = ds.LinkShape(ds.Cylinder(WHEEL, WIDTH), orientation=(half, half, 0, 0), friction=0.5)
        across = (3 * WHEEL**2 + WIDTH**2) / 12
        links.append(ds.Link(name, 1.0, (0, 0, 0), (across, WHEEL**2 / 2, across), [tyre]))
        joints.append(
            ds.RobotJoint(
                f"{name} wheel", "revolute", name, "base", (0, y, 0), axis=(0, 1, 0),
                damping=0.1, armature=0.01,
            )
        )  # fmt: skip
        motors.append(ds.Actuator(f"{name} motor", f"{name} wheel", max_force=5.0))
    for name, x in (("front", 0.25), ("rear", -0.25)):
        ball = ds.LinkShape(ds.Sphere(0.04), friction=0.0)
        links.append(ds.Link(f"{name} caster", 0.2, (0, 0, 0), (1e-4, 1e-4, 1e-4), [ball]))
        place = (x, 0, 0.04 - WHEEL + CLEARANCE)
        joints.append(ds.RobotJoint(f"{name} fork", "fixed", f"{name} caster", "base", place))
    return links, joints, motors


def _capsule(radius: float, length: float) -> list:
    """Round about the z axis, from the joint of a link to the next one; or a ball at the joint."""
    if length == 0.0:
        return [ds.LinkShape(ds.Sphere(radius))]
    return [ds.LinkShape(ds.Capsule(radius, abs(length)), (0, 0, length / 2))]


def _box(x: float, y: float, z: float, centre) -> list:
    return [ds.LinkShape(ds.Box(x, y, z), centre)]


def _limb(name, chain, parent, at, links, joints, motors) -> None:
    """A chain of joints (axis, length, mass, shapes), each held by a servo."""
    for k, (axis, length, mass, shapes) in enumerate(chain):
        link, size = f"{name} {k + 1}", (0.06, 0.06, max(abs(length), 0.06))
        links.append(_rod(link, mass, size, (0, 0, length / 2), shapes))
        joints.append(
            ds.RobotJoint(
                f"{link} joint", "revolute", link, parent, at, axis=axis, damping=0.1,
                armature=0.05,
            )
        )  # fmt: skip
        servo = dict(stiffness=200.0, damping=8.0)
        motors.append(ds.Actuator(f"{link} servo", f"{link} joint", "position", **servo))
        parent, at = link, (0, 0, length)


X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


def diff_drive_robot() -> "ds.Robot":
    """A robot on two driven wheels: a floating base and two joints (PENALTY Fig. 15)."""
    return ds.Robot(*_drive(), name="diff-drive")


def humanoid_robot() -> "ds.Robot":
    """A figure on a base with two driven wheels: 26 degrees of freedom (PENALTY Fig. 14).

    Six of the base, two wheels, two of the waist, two of the neck, seven of each arm.
    """
    links, joints, motors = _drive()
    trunk = [
        (Z, 0.45, 4.0, _capsule(0.09, 0.34)),
        (Y, 0.4, 6.0, _box(0.2, 0.3, 0.34, (0, 0, 0.22))),
    ]
    _limb("waist", trunk, "base", (0, 0, 0.05), links, joints, motors)
    skull = [ds.LinkShape(ds.Capsule(0.085, 0.08), (0, 0, 0.12))]
    head = [(Z, 0.05, 0.5, _capsule(0.05, 0.05)), (Y, 0.2, 2.0, skull)]
    _limb("neck", head, "waist 2", (0, 0, 0.4), links, joints, motors)
    arm = [
        (Y, 0, 0.5, _capsule(0.06, 0)),
        (X, -0.14, 0.8, _capsule(0.045, -0.14)),
        (Z, -0.14, 0.8, _capsule(0.042, -0.14)),
        (Y, -0.12, 0.6, _capsule(0.04, -0.12)),
        (Z, -0.12, 0.6, _capsule(0.035, -0.12)),
        (Y, -0.04, 0.3, _capsule(0.032, -0.04)),
        (X, -0.1, 0.4, _box(0.08, 0.03, 0.12, (0, 0, -0.08))),
    ]  # fmt: skip
    for side, y in (("left", 0.21), ("right", -0.21)):
        _limb(f"{side} arm", arm, "waist 2", (0, y, 0.34), links, joints, motors)
    return ds.Robot(links, joints, motors, name="humanoid-26")


def _place_robot(world, robot, torque: float, turn: float) -> None:
    world.add_fixed(ds.Plane(), ds.Material(friction=0.5), name="ground")
    start = robot.zero()
    start[2] = WHEEL
    placed = world.add_robot(robot, q=start)
    control = placed.control
    control[:2] = torque * (1.0 - turn), torque * (1.0 + turn)
    placed.control = control


def fill_diff_drive(world, torque=0.5, turn=0.5):
    """A robot on two wheels drives in a circle.

    torque   of each motor [N m], against 0.1 N m s/rad of damping
    turn     by how much more the right one has, as a share
    """
    _place_robot(world, diff_drive_robot(), torque, turn)


def fill_humanoid(world, torque=0.5, turn=0.5):
    """A figure of 26 degrees of freedom on two wheels drives in a circle; options as diff-drive."""
    _place_robot(world, humanoid_robot(), torque, turn)


ROBOTS = replace(Penalty(), points=10, friction="system")  # at most ten points a wheel, IV-D

SCENES = [
    Scene(
        "block-penetrating",
        "a cube that begins within the ground is pushed out by penalty forces",
        fill_block_penetrating,
        seconds=3.0,
        ranges={"depth": (0.0, 0.8)},
        settings={"solver": MANY, "dt": STEP, "sleeping": False},
        expect="the cube rises without a jump and lies flat; with deepest=true it goes on rocking",
        source="PENALTY IV-A, Fig. 8 and 9",
        finding="energy and penetration of the deepest point stay orders of magnitude higher",
    ),
    Scene(
        "block-perturbed",
        "a cube at rest is pushed down ten times at random points of its top",
        fill_block_perturbed,
        seconds=2 * PUSHES * PUSH_STEPS * STEP,
        settings={"solver": MANY, "dt": STEP, "sleeping": False},
        expect="it gives way under each push and comes back to rest after it",
        source="PENALTY IV-B, Fig. 10 and 11",
        finding="mean penetration 5.9e-3, of the deepest point alone 9.0e-2, of an LCP 1.5e-4",
    ),
    Scene(
        "mixed-pile",
        "boxes, cylinders and spheres of up to 100 kg fall into a box, on penalty forces",
        fill_mixed_pile,
        seconds=8.0,
        ranges={"side": (1.2, 100.0)},
        settings={"solver": Penalty(), "dt": STEP, "sleeping": False},
        expect="they come to rest on each other and against the walls",
        source="PENALTY IV-C, Fig. 13",
        finding="a steady pile",
    ),
    Scene(
        "diff-drive",
        "a robot on two driven wheels, on penalty forces",
        fill_diff_drive,
        seconds=2.5,
        settings={"solver": ROBOTS, "dt": STEP, "sleeping": False},
        expect="it drives in a circle and does not slip",
        source="PENALTY IV-D, Fig. 15",
        finding="80.6 steps a second, 2.5 times as many as with an LCP",
    ),
    Scene(
        "humanoid-26",
        "a figure of 26 degrees of freedom on two driven wheels, on penalty forces",
        fill_humanoid,
        seconds=2.5,
        settings={"solver": ROBOTS, "dt": STEP, "sleeping": False},
        expect="it drives in a circle, its arms held by servos",
        source="PENALTY IV-D, Fig. 14",
        finding="30.7 steps a second, 7 times as many as with an LCP",
    ),
]
