"""Calls of robots, and of what robot users ask of a world: rays, distances, snapshots, batches."""

from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.props import Call, Props

LINK = {
    "name": "arm", "mass": 1.0, "centre": (0, 0, -0.5), "inertia": (0.1, 0.1, 0.01),
    "shapes": (),
}  # fmt: skip
JOINT = {
    "name": "hinge", "kind": "revolute", "child": "arm", "parent": None, "position": (0, 0, 2),
    "orientation": (1, 0, 0, 0), "axis": (0, 1, 0), "limits": (-1.0, 1.0), "damping": 0.1,
    "friction": 0.1, "armature": 0.01,
}  # fmt: skip


def robot_calls(p: Props) -> dict[str, Call]:
    def use(robot: Any) -> None:
        robot.mass_matrix(np.zeros(robot.nq))

    def robot_of(**given: Any) -> ds.Robot:
        parts = {"links": [ds.Link(**LINK)], "joints": [ds.RobotJoint(**JOINT)], "name": "one"}
        return ds.Robot(**(parts | given))

    one = robot_of()
    q, link = np.zeros(1), {"link": "arm", "point": (0, 0, 0)}
    return {
        "Link": Call(ds.Link, LINK, lambda made: use(robot_of(links=[made]))),
        "LinkShape": Call(
            ds.LinkShape,
            {"shape": ds.Sphere(0.1), "position": (0, 0, 0), "orientation": (1, 0, 0, 0),
             "friction": 0.5, "collide": True, "name": "ball"},
            lambda made: robot_of(links=[ds.Link(**(LINK | {"shapes": [made]}))]),
        ),
        "RobotJoint": Call(ds.RobotJoint, JOINT, lambda made: use(robot_of(joints=[made]))),
        "Actuator": Call(
            ds.Actuator,
            {"name": "motor", "joint": "hinge", "kind": "position", "gear": 1.0, "max_force": 5.0,
             "stiffness": 10.0, "damping": 1.0},
            lambda made: robot_of(actuators=[made]),
        ),
        "Loop": Call(
            ds.Loop,
            {"name": "loop", "link_a": "arm", "link_b": None, "point_a": (0, 0, -1),
             "point_b": (0, 0, 1)},
            lambda made: robot_of(loops=[made]),
        ),
        "Robot": Call(
            ds.Robot,
            {"links": [ds.Link(**LINK)], "joints": [ds.RobotJoint(**JOINT)], "actuators": (),
             "loops": (), "name": "two", "position": (0, 0, 0), "orientation": (1, 0, 0, 0)},
            use,
        ),
        "Robot.mass_matrix": Call(one.mass_matrix, {"q": q}),
        "Robot.bias_forces": Call(one.bias_forces, {"q": q, "qd": q}),
        "Robot.jacobian": Call(one.jacobian, {"q": q} | link),
        "Robot.inverse_dynamics": Call(one.inverse_dynamics, {"q": q, "qd": q, "qdd": q}),
        "Robot.forward_dynamics": Call(one.forward_dynamics, {"q": q, "qd": q, "tau": q}),
    }  # fmt: skip


def query_calls(p: Props) -> dict[str, Call]:
    w = p.world
    hinge = w.add_joint(ds.Hinge(p.a, None, (0, 0, 0.5), (1, 0, 0), motor=ds.Servo(0.1, 5.0)))
    batch = ds.Batch(w, 2)
    step = batch.step
    return {
        "Batch.set_mass": Call(
            batch.set_mass, {"body": p.a, "values": [1.0, 2.0]}, lambda _: step()
        ),
        "Batch.set_friction": Call(
            batch.set_friction,
            {"material_a": p.a.material, "material_b": p.a.material, "values": [0.1, 0.2]},
            lambda _: step(),
        ),
        "Batch.set_gains": Call(
            batch.set_gains,
            {"joint": hinge, "stiffness": [1.0, 2.0], "damping": 0.1},
            lambda _: step(),
        ),
        "World.ray_cast": Call(w.ray_cast, {"origin": (0, 0, 9), "direction": (0, 0, -1)}),
        "World.ray_casts": Call(
            w.ray_casts, {"origins": [(0, 0, 9.0)] * 2, "directions": [(0, 0, -1.0)] * 2}
        ),
        "World.closest_points": Call(w.closest_points, {"a": p.a, "b": p.b}),
        "World.overlap": Call(w.overlap, {"a": p.a, "b": p.b}),
        "World.copy": Call(w.copy, {}, lambda made: made.step()),
        "World.restore": Call(w.restore, {"snapshot": w.snapshot()}, lambda _: w.step()),
        "Batch": Call(ds.Batch, {"world": w, "n": 2}, lambda made: made.step()),
        "Body.push": Call(p.a.push, {"impulse": (0, 0, 1), "at": (0, 0, 1)}),
        "Body.force_at": Call(p.a.force_at, {"force": (0, 0, 1), "at": (0, 0, 1)}),
    }
