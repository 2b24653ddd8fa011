"""Calls that build: shapes, materials, joints and forces, all arguments right.

What is accepted is used: a shape gets a body and falls, a joint and a force join a world.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.props import Call, Props
from drystone.errors import DrystoneError

# Corners and outward faces of a tetrahedron of 1 m.
CORNERS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3))


def drop(shape: Any) -> None:
    """A body of that shape, on the ground."""
    for flat in (False, True):
        world = ds.World(dim=2 if flat else 3)
        repr(shape)
        try:
            world.add_fixed(ds.Plane())
            world.add_body(shape, position=(0, 1) if flat else (0, 0, 1))
            world.step()
            world.check()
            return
        except DrystoneError:
            if flat:
                raise


def stand_on(shape: Any) -> None:
    world = ds.World()
    repr(shape)
    world.add_fixed(shape)
    world.add_body(ds.Sphere(0.5), position=(0.2, 0.2, 0.6))
    world.step()


def shape_calls(p: Props) -> dict[str, Call]:
    hull = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
    mesh = ds.Mesh(CORNERS, FACES)
    solids = {
        "Sphere": Call(ds.Sphere, {"r": 0.5}, drop),
        "Box": Call(ds.Box, {"x": 1.0, "y": 2.0, "z": 3.0}, drop),
        "Capsule": Call(ds.Capsule, {"r": 0.2, "length": 1.0}, drop),
        "Cylinder": Call(ds.Cylinder, {"r": 0.2, "length": 1.0}, drop),
        "Cone": Call(ds.Cone, {"r": 0.2, "length": 1.0}, drop),
        "ConvexHull": Call(ds.ConvexHull, {"points": hull}, drop),
        "Compound": Call(
            lambda shape, position, orientation: ds.Compound((shape, position, orientation)),
            {"shape": ds.Box(1, 1, 1), "position": (0, 0, 1), "orientation": (1, 0, 0, 0)}, drop,
        ),
        "Compound of": Call(lambda member: ds.Compound(member), {"member": ds.Sphere(1)}, drop),
        "Disc": Call(ds.Disc, {"r": 0.5}, drop),
        "Polygon": Call(ds.Polygon, {"points": square}, drop),
        "Polygon.box": Call(ds.Polygon.box, {"x": 1.0, "z": 2.0}, drop),
        "Segment": Call(ds.Segment, {"a": (0, 0), "b": (1, 0), "radius": 0.1}, drop),
        "Mesh": Call(
            ds.Mesh,
            {"vertices": CORNERS, "faces": FACES, "generator": "field", "repair": True,
             "reduce": False}, drop,
        ),
        "check_mesh": Call(ds.check_mesh, {"vertices": CORNERS, "faces": FACES}),
        "Mesh.load": Call(
            ds.Mesh.load, {"path": p.files["stl"], "scale": 2.0, "repair": True,
                           "generator": "triangles"}, drop,
        ),
        "Mesh.decompose": Call(mesh.decompose, {"threshold": 0.5, "most": 2, "seed": 1}, drop),
    }  # fmt: skip
    grounds = {
        "Plane": Call(ds.Plane, {"normal": (0, 0, 1), "offset": 0.1}, stand_on),
        "Terrain": Call(ds.Terrain, {"vertices": CORNERS, "faces": FACES}, stand_on),
        "Terrain.from_grid": Call(
            ds.Terrain.from_grid,
            {"heights": np.zeros((3, 4)), "spacing": 1.0, "origin": (-1, -1), "first_row": "south"},
            stand_on,
        ),
        "Terrain.load": Call(ds.Terrain.load, {"path": p.files["stl"]}, stand_on),
    }
    return solids | grounds


def material_calls(p: Props) -> dict[str, Call]:
    def slide(material: Any) -> None:
        repr(material)
        world = ds.World()
        world.add_fixed(ds.Plane(), material)
        world.add_body(ds.Sphere(1), material, position=(0, 0, 1), velocity=(1, 0, -1))
        world.step()

    full = {"density": 700.0, "friction": 0.3, "restitution": 0.3, "name": "wood",
            "friction_direction": (1, 0, 0), "rolling_friction": 0.01,
            "spinning_friction": 0.01}  # fmt: skip
    return {"Material": Call(ds.Material, full, slide)}


def joint_calls(p: Props) -> dict[str, Call]:
    def hang(joint: Any) -> None:
        repr(joint)
        p.world.remove(p.joint)
        p.world.add_joint(joint)
        p.world.step()
        p.world.joint_values(joint)

    def set_of(joint: Any) -> Callable:
        return lambda **given: joint.set(**given)

    motor, servo = ds.Motor(1.0, max_torque=5.0), ds.Servo(0.2, 10.0, max_force=3.0)
    a, b, up, here = p.a, p.b, (0, 0, 1), (0, 0, 1.0)
    ends = {"a": a, "b": b}
    free = {"limits": (-1, 1), "friction": 0.1}
    hinge = p.world.add_joint(ds.Hinge(p.a, None, (0, 0, 0.5), (1, 0, 0)))
    return {
        "Ball": Call(ds.Ball, ends | {
            "point": here, "limits": ds.SwingTwist(up, 0.5), "friction": 0.1, "motor": None}, hang),
        "SwingTwist": Call(
            ds.SwingTwist, {"axis": up, "swing": 0.5, "twist": (-1, 1)},
            lambda limits: hang(ds.Ball(a, b, here, limits=limits))),
        "SwingTwist cone": Call(
            ds.SwingTwist, {"axis": up, "cone": (0.1, 0.2, 0.3), "towards": (1, 0, 0)},
            lambda limits: hang(ds.Ball(a, b, here, limits=limits))),
        "Hinge": Call(ds.Hinge, ends | free | {"point": here, "axis": up, "motor": motor}, hang),
        "Slider": Call(ds.Slider, ends | free | {
            "axis": up, "point": here, "motor": ds.Motor(1.0, max_force=2.0)}, hang),
        "Cylindrical": Call(ds.Cylindrical, ends | {
            "point": here, "axis": up, "limits": (-1, 1), "limits_angle": None,
            "motor": servo, "motor_angle": motor}, hang),
        "Universal": Call(ds.Universal, ends | {
            "point": here, "axis_a": (1, 0, 0), "axis_b": (0, 1, 0), "limits_a": (-1, 1),
            "motor_a": motor}, hang),
        "Planar": Call(ds.Planar, {
            "a": a, "normal": up, "b": None, "direction": (1, 0, 0), "limits_u": (-1, 1),
            "limits_angle": (-1, 1)}, hang),
        "Fixed": Call(ds.Fixed, ends | {"point": here}, hang),
        "Distance": Call(ds.Distance, ends | {
            "point_a": (0, 0, 1), "point_b": (0, 0, 1.4), "limits": (0, 1),
            "motor": servo, "friction": 0.1}, hang),
        "SpringDamper": Call(ds.SpringDamper, ends | {
            "point_a": (0, 0, 1), "point_b": (0, 0, 1.4), "stiffness": 10.0, "damping": 1.0,
            "length": 0.4}, hang),
        "Gear": Call(ds.Gear, ends | {
            "point_a": (0, 0, 1), "axis_a": up, "point_b": (1, 0, 1), "axis_b": up,
            "ratio": -2.0}, hang),
        "Rack": Call(ds.Rack, ends | {
            "point": here, "axis": up, "direction": (1, 0, 0), "radius": 0.1}, hang),
        "Coupling": Call(ds.Coupling, ends | free | {
            "point": here, "axis": up, "motor": motor}, hang),
        "Motor": Call(
            ds.Motor, {"speed": 1.0, "max_torque": 2.0},
            lambda motor: hang(ds.Hinge(a, b, here, up, motor=motor))),
        "Servo": Call(
            ds.Servo, {"target": 1.0, "stiffness": 5.0, "damping": 0.1, "max_torque": 2.0},
            lambda motor: hang(ds.Hinge(a, b, here, up, motor=motor))),
        "Hinge.set": Call(set_of(hinge), free | {"motor": motor}, lambda _: p.world.step()),
    }  # fmt: skip


def force_calls(p: Props) -> dict[str, Call]:
    def pull(force: Any) -> None:
        repr(force)
        p.world.add_force(force)
        p.world.step()
        p.world.energy()

    ends = {"a": p.a, "b": p.b, "point_a": (0, 0, 1), "point_b": (0, 0, 2)}
    pole = {"position": (0, 0, 3), "strength": 5.0, "body": p.a, "power": 2.0, "core": 0.1}
    drag = {"body": p.a, "linear": 0.1, "quadratic": 0.1, "angular": 0.1}

    def push(view: Any) -> Any:
        return np.ones((len(view.centres), 3))

    return {
        "Spring": Call(ds.Spring, ends | {"stiffness": 5.0, "damping": 0.1, "length": 1.0}, pull),
        "Damper": Call(ds.Damper, ends | {"damping": 3.0}, pull),
        "Drag": Call(ds.Drag, drag, pull),
        "Attractor": Call(ds.Attractor, pole, pull),
        "Repulsor": Call(ds.Repulsor, pole, pull),
        "Force": Call(ds.Force, {"function": push, "gradient": None, "on": (p.a,)}, pull),
        "Force that returns": Call(
            lambda value: ds.Force(lambda view: value), {"value": np.ones((2, 3))}, pull),
        "Spring.set": Call(
            lambda **given: p.force.set(**given), {"stiffness": 3.0, "damping": 1.0},
            lambda _: p.world.step()),
    }  # fmt: skip
