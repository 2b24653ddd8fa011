"""Bodies in odd poses, one joint of every kind with all that it can have, and slow twins.

A twin computes what a joint measures from its definition alone, with SciPy's rotations: which
points and axes were given, and how both bodies have moved since.
"""

from types import SimpleNamespace

import numpy as np
from scipy.spatial.transform import Rotation

import drystone as ds
from drystone import (
    Ball,
    Coupling,
    Cylindrical,
    Distance,
    Fixed,
    Gear,
    Hinge,
    Motor,
    Planar,
    Rack,
    Servo,
    Slider,
    SpringDamper,
    SwingTwist,
    Universal,
)
from drystone.constraints.joints.fill_rows import fill_joint_rows
from drystone.constraints.joints.pack import pack_joints
from drystone.jit.vec import quaternion_product
from drystone.model.joint_arrays import joint_rows

DT = 1 / 240


def unit(v):
    return np.asarray(v) / np.linalg.norm(v)


def two_bodies(rng):
    """Bodies whose centre and principal axes are not those of the shape's frame."""
    world, pair = ds.World(), []
    for name in "ab":
        turn = Rotation.random(random_state=rng).as_matrix()
        pair.append(
            world.add_body(
                ds.Box(1.0, 0.6, 0.4),
                position=rng.uniform(-2, 2, 3),
                orientation=Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]],
                velocity=rng.normal(size=3),
                spin=rng.normal(size=3),
                centre=rng.uniform(-0.2, 0.2, 3),
                inertia=turn @ np.diag([0.3, 0.4, 0.5]) @ turn.T,
                mass=2.0,
                name=name,
            )
        )
    return pair


def inside(bodies):
    """Arrays of the centres of mass and principal axes."""
    position = np.array([b.centre for b in bodies])
    rotation = [
        quaternion_product(tuple(b.orientation.tolist()), b._frame.principal_rotation)
        for b in bodies
    ]
    return position, np.array(rotation)


def table_of(joints, bodies):
    offset = np.array([b._frame.offset for b in bodies])
    turn = np.array([b._frame.principal_rotation for b in bodies])
    table = pack_joints(joints, bodies.index, offset, turn)
    return table, joint_rows(table)


def moved(position, rotation, twist, h=1.0):
    """Poses after twists (n, 6) for a time h."""
    turned = Rotation.from_rotvec(h * twist[:, 3:]) * Rotation.from_quat(rotation[:, [1, 2, 3, 0]])
    return position + h * twist[:, :3], turned.as_quat()[:, [3, 0, 1, 2]]


def relative_velocity(rows, twist):
    """u of every row for twists (n, 6); the fixed world is n."""
    twist = np.vstack([twist, np.zeros(6)])
    a, b = twist[rows.body[:, 0]], twist[rows.body[:, 1]]
    u = np.sum(rows.linear * (b[:, :3] - a[:, :3]), axis=1)
    return u + np.sum(rows.angular[:, 3:] * b[:, 3:] - rows.angular[:, :3] * a[:, 3:], axis=1)


SERVO = Servo(0.7, stiffness=20, damping=3, max_force=5)
LIMITED = dict(limits=(-0.5, 0.8), motor=SERVO, friction=0.2)


def limited(*suffixes):
    return {f"{name}{suffix}": value for suffix in suffixes for name, value in LIMITED.items()}


def ball(a, b, point, x, y):
    limits = SwingTwist(x, swing=(0.7, 1.1), twist=(-1, 1), cone=unit(x + 0.3 * y), towards=y)
    return Ball(a, b, point, limits, 0.1, Servo((0.1, -0.2, 0.3), 10, 1))


RIGS = {
    "ball": ball,
    "round-ball": lambda a, b, point, x, y: Ball(a, b, point, SwingTwist(x, swing=1.0)),
    "hinge": lambda a, b, point, x, y: Hinge(a, b, point, x, **LIMITED),
    "hinge-motor": lambda a, b, point, x, y: Hinge(a, b, point, x, motor=Motor(2, max_torque=3)),
    "universal": lambda a, b, point, x, y: Universal(a, b, point, x, y, **limited("_a", "_b")),
    "universal-slanted": lambda a, b, point, x, y: Universal(
        a, b, point, x, x + y, **limited("_a", "_b")
    ),
    "slider": lambda a, b, point, x, y: Slider(a, b, x, point, **LIMITED),
    "fixed": lambda a, b, point, x, y: Fixed(a, b, point),
    "rod": lambda a, b, point, x, y: Distance(a, b, point, point + y),
    "piston": lambda a, b, point, x, y: Distance(
        a, b, point, point + y, **(LIMITED | {"limits": (0.5, 1.8)})
    ),
    "cylindrical": lambda a, b, point, x, y: Cylindrical(
        a, b, point, x, **limited("", "_angle")
    ),
    "planar": lambda a, b, point, x, y: Planar(b, x, a, y, **limited("_u", "_v", "_angle")),
    "gear": lambda a, b, point, x, y: Gear(
        a, b, point, x, point + y, unit(x + 0.3 * np.cross(x, y)), -1.5
    ),
    "rack": lambda a, b, point, x, y: Rack(a, b, point, x, unit(x + y), 0.3),
    "coupling": lambda a, b, point, x, y: Coupling(a, b, point, x),
    "clutch": lambda a, b, point, x, y: Coupling(a, b, point, x, **LIMITED),
    "spring": lambda a, b, point, x, y: SpringDamper(a, b, point, point + y, 50, 2),
}  # fmt: skip


def rig(name, rng):
    """A joint between two new bodies and all that is needed to fill its rows at any pose."""
    bodies = two_bodies(rng)
    x, y, _ = Rotation.random(random_state=rng).as_matrix()
    joint = RIGS[name](*bodies, rng.uniform(-1, 1, 3), x, y)
    table, rows = table_of([joint], bodies)
    created = inside(bodies)

    def fill(position, rotation):
        fill_joint_rows(table, position, rotation, DT, rows)
        return rows

    return SimpleNamespace(joint=joint, bodies=bodies, table=table, fill=fill, created=created)


def halves(rig, position, rotation):
    """Points and axes (columns) of A and of B at the given poses, from how these have moved."""
    joint, (position0, rotation0) = rig.joint, rig.created
    points, axes = [], []
    given = [joint.point_a, joint.point_b] if hasattr(joint, "point_a") else None
    for side, body in enumerate(joint.bodies):
        i = rig.bodies.index(body)
        now, then = (Rotation.from_quat(q[i, [1, 2, 3, 0]]) for q in (rotation, rotation0))
        turn = (now * then.inv()).as_matrix()
        if given is None:
            point = getattr(joint, "point", position0[1])  # of Planar, the centre of B
        else:
            point = given[side]
        points.append(position[i] + turn @ (point - position0[i]))
        axes.append(
            turn @ Rotation.from_quat(np.roll(joint.attachment.bases[side], -1)).as_matrix()
        )
    return points, axes


def twist_angle(axes):
    x, _, _, w = Rotation.from_matrix(axes[0].T @ axes[1]).as_quat()
    return (2 * np.arctan2(x, w) + np.pi) % (2 * np.pi) - np.pi


def swing_vector(axes):
    """2 sin(phi/2) about the axis that takes x_A to x_B, in the axes of A."""
    lean = axes[0].T @ np.cross(axes[0][:, 0], axes[1][:, 0])
    phi = np.arctan2(np.linalg.norm(lean), axes[0][:, 0] @ axes[1][:, 0])
    return lean / np.sinc(phi / np.pi) / phi * 2 * np.sin(phi / 2), phi


def held_errors(rig, position, rotation):
    """What the equality rows must have as errors, from the definitions."""
    (p_a, p_b), axes = halves(rig, position, rotation)
    apart, joint = p_b - p_a, rig.joint
    local = axes[0].T @ apart
    q = Rotation.from_matrix(axes[0].T @ axes[1]).as_quat(canonical=True)
    kind = type(joint).__name__
    if kind == "Ball":
        return apart
    if kind == "Hinge":
        return np.append(apart, swing_vector(axes)[0][1:])
    if kind == "Universal":
        between = [np.arccos(x[:, 0] @ y[:, 0]) for x, y in (axes, joint_axes(joint))]
        return np.append(apart, between[0] - between[1])
    if kind == "Slider":
        return np.append(local[1:], 2 * q[:3])
    if kind == "Fixed":
        return np.append(apart, 2 * q[:3])
    if kind == "Cylindrical":
        return np.append(local[1:], swing_vector(axes)[0][1:])
    if kind == "Planar":
        return np.append(local[0], swing_vector(axes)[0][1:])
    if kind == "Distance" and joint.limits is None:
        return np.array([np.linalg.norm(apart) - joint.length])
    if kind == "Gear":
        radius = np.linalg.norm(joint.point_b - np.array(joint.point_a)) / (1 + abs(joint.ratio))
        one, two = line_angles(apart, axes)
        return np.array([radius * (one - joint.ratio * two)])
    if kind == "Rack":
        direction = axes[0] @ joint_axes(joint)[0].T @ joint.direction
        return np.array([direction @ apart - joint.radius * twist_angle(axes)])
    if kind == "Coupling" and joint.limits is None:
        return np.array([twist_angle(axes)])
    return np.zeros(0)


def line_angles(apart, axes):
    """Angles of A and of B about their axes x against the line between their points."""
    angles = []
    for turn, line in zip(axes, (apart, -apart), strict=True):
        _, y, z = turn.T @ line
        angles.append(-np.arctan2(z, y))
    return angles


def joint_axes(joint):
    """Axes (columns) of A and of B at creation."""
    return [Rotation.from_quat(np.roll(q, -1)).as_matrix() for q in joint.attachment.bases]


def coordinates(rig, position, rotation):
    """Free coordinates from their definitions; angles in (-pi, pi]."""
    (p_a, p_b), axes = halves(rig, position, rotation)
    local, kind = axes[0].T @ (p_b - p_a), type(rig.joint).__name__
    if kind in ("Ball", "Hinge", "Coupling"):
        return [twist_angle(axes)]
    if kind == "Gear":
        return line_angles(p_b - p_a, axes)
    if kind == "Rack":
        return [
            twist_angle(axes),
            held_errors(rig, position, rotation)[0] + (rig.joint.radius * twist_angle(axes)),
        ]
    if kind == "Universal":
        b_in_a, a_in_b = axes[0].T @ axes[1][:, 0], axes[1].T @ axes[0][:, 0]
        return [np.arctan2(b_in_a[2], b_in_a[1]), -np.arctan2(a_in_b[2], a_in_b[1])]
    if kind == "Slider":
        return [local[0]]
    if kind == "Cylindrical":
        return [local[0], twist_angle(axes)]
    if kind == "Planar":
        return [local[1], local[2], twist_angle(axes)]
    if kind in ("Distance", "SpringDamper"):
        return [np.linalg.norm(local)]
    return []
