"""Calls of methods, and of settable properties, of things that the other calls make."""

from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse

import drystone as ds
from drystone.bench.fuzz.props import Call, Props
from drystone.bench.fuzz.robot_calls import JOINT, LINK
from drystone.bench.fuzz.world_calls import step_once
from drystone.world.character.clips.walking import walk_on_the_spot


def setter(thing: Any, name: str, good: Any, use: Any = lambda result: None) -> Call:
    """Put a value there, and read it again."""

    def put(value: Any) -> None:
        setattr(thing, name, value)
        getattr(thing, name)

    return Call(put, {"value": good}, use)


def placed_calls(p: Props) -> dict[str, Call]:
    """Robots in a world, alone and in a batch."""

    def stepped(_: Any) -> None:
        world.step()

    world = ds.World(dt=0.01)
    motor = ds.Actuator("motor", "hinge", "position", stiffness=10.0)
    robot = ds.Robot([ds.Link(**LINK)], [ds.RobotJoint(**JOINT)], [motor], name="one")
    placed, one = world.add_robot(robot), np.zeros(1)
    world.step()
    batch, state = ds.Batch(world, 2), {"q": one, "qd": one}
    start = {"position": (3, 0, 0), "orientation": (1, 0, 0, 0), "q": one, "self_collide": True}
    return {
        "World.add_robot": Call(world.add_robot, {"robot": robot} | start, stepped),
        "PlacedRobot.q": setter(placed, "q", one, stepped),
        "PlacedRobot.qd": setter(placed, "qd", one, stepped),
        "PlacedRobot.tau": setter(placed, "tau", one, stepped),
        "PlacedRobot.control": setter(placed, "control", [0.1], stepped),
        "PlacedRobot.jacobian": Call(placed.jacobian, {"link": "arm", "point": (0, 0, 0)}),
        "PlacedRobot.link": Call(placed.link, {"name": "arm"}),
        "Robot.centre_of_mass": Call(robot.centre_of_mass, {"q": one}),
        "Robot.centre_of_mass_jacobian": Call(robot.centre_of_mass_jacobian, {"q": one}),
        "Robot.energy": Call(robot.energy, state),
        "Robot.forward_kinematics": Call(robot.forward_kinematics, {"q": one}),
        "Robot.index": Call(robot.index, {"joint": "hinge"}),
        "Robot.rate_index": Call(robot.rate_index, {"joint": "hinge"}),
        "Robot.integrate": Call(robot.integrate, state | {"dt": 0.01, "steps": 2, "tau": one}),
        "Robot.passive_forces": Call(robot.passive_forces, state),
        "Robot.load": Call(
            ds.Robot.load,
            {"path": p.files["urdf"], "base": "free", "packages": {"p": p.folder},
             "meshes": "hull"}, repr,
        ),
        "Batch of robots.run": Call(batch.run, {"seconds": 0.02}),
    } | environment_calls(p)  # fmt: skip


def environment_calls(p: Props) -> dict[str, Call]:
    """Tasks for learning, where Gymnasium is installed."""
    if find_spec("gymnasium") is None:
        return {}
    from drystone.world.environments.balance import Balance
    from drystone.world.environments.reach import Reach

    calls = {}
    for task in (Balance, Reach):
        made = task(frames=1)
        made.reset(seed=1)
        start = {"frames": 2, "render_mode": None, "size": (64, 48)}
        action = np.zeros(made.action_space.shape)
        calls |= {
            task.__name__: Call(task, start),
            f"{task.__name__}.step": Call(made.step, {"action": action}),
            f"{task.__name__}.reset": Call(made.reset, {"seed": 1, "options": None}),
        }
    return calls


def edit_calls(p: Props) -> dict[str, Call]:
    """Edits of worlds, joints, forces and batches that are running."""
    w = p.world

    def stepped(_: Any) -> None:
        step_once(w)

    shape = {"shape": ds.Sphere(0.2), "position": (0, 0, 2), "orientation": (1, 0, 0, 0)}
    hinge = w.add_joint(ds.Hinge(p.a, None, (0, 0, 0.5), (1, 0, 0)))
    held = w.drag(p.a, (0, 0, 1), (1, 0, 1))
    w.step()
    batch = ds.Batch(w, 2)
    bodies = len(w)
    return {
        "World.positions": setter(w, "positions", w.positions, stepped),
        "World.orientations": setter(w, "orientations", w.orientations, stepped),
        "World.velocities": setter(w, "velocities", np.ones((bodies, 3)), stepped),
        "World.spins": setter(w, "spins", np.ones((bodies, 3)), stepped),
        "World.closest_to": Call(w.closest_to, shape),
        "World.overlaps": Call(w.overlaps, shape),
        "FixedBody.group": setter(p.ground, "group", 3, stepped),
        "FixedBody.mask": setter(p.ground, "mask", 3, stepped),
        "FixedBody.material": setter(p.ground, "material", ds.Material(friction=0.1), stepped),
        "Joint.set": Call(
            hinge.set,
            {"limits": (-1, 1), "motor": ds.Motor(1.0, max_torque=2.0), "friction": 0.1}, stepped,
        ),
        "Force.set": Call(p.force.set, {"stiffness": 5.0, "damping": 0.1}, stepped),
        "Dragging.move": Call(held.move, {"target": (1, 1, 1)}, stepped),
        "ContactTable.on_fixed": Call(w.contacts().on_fixed, {"fixed": p.ground}),
        "Batch.step": Call(batch.step, {"count": 2}),
        "Batch.run": Call(batch.run, {"seconds": 0.02}),
        "Batch.set_joint": Call(
            batch.set_joint,
            {"joint": hinge, "name": "limits", "values": [(-1, 1), (-2, 2)]},
            lambda _: batch.step(),
        ),
    }  # fmt: skip


def reading_calls(p: Props) -> dict[str, Call]:
    """What results, recordings, clips and problems are asked for, and files that they write."""
    p.world.step()
    problem, clip = p.world.problem(), walk_on_the_spot(0.1)
    figure, recording = ds.Figure.from_clip(clip), ds.Recording(p.files["recording"])
    impulse, twist = np.zeros((problem.block_count, 3)), np.zeros((len(p.world), 6))
    matrix = ds.MatrixProblem(
        scipy.sparse.csr_array(2.0 * np.eye(6)), -np.ones((2, 3)), np.full(2, 0.5)
    )
    saved = p.folder / "matrix.h5"
    matrix.save(saved)
    torques = ds.Torques.load(p.files["torques"])
    return {
        "ContactProblem.part": Call(problem.part, {"member": np.arange(2)}),
        "ContactProblem.relative": Call(problem.relative, {"twist": twist}),
        "ContactProblem.twist_from": Call(problem.twist_from, {"impulse": impulse}),
        "MatrixProblem.apply_W": Call(matrix.apply_W, {"impulse": np.zeros((2, 3))}),
        "MatrixProblem.velocity": Call(matrix.velocity, {"impulse": np.zeros((2, 3))}),
        "MatrixProblem.load": Call(ds.MatrixProblem.load, {"path": saved}, lambda m: ds.solve(m)),
        "MatrixProblem.save": Call(matrix.save, {"path": p.folder / "again.h5"}),
        "Recording.export": Call(recording.export, {"path": p.folder / "r.csv", "frame": 1}),
        "Recording.frame": Call(recording.frame, {"k": 1}),
        "Clip.load": Call(
            ds.Clip.load,
            {"path": p.files["amc"], "unit": "cm", "skeleton": p.files["asf"], "rate": 60.0}, repr,
        ),
        "Clip.save": Call(clip.save, {"path": p.folder / "clip.bvh"}),
        "Clip.index": Call(clip.index, {"joint": "left_hip"}),
        "Torques.load": Call(ds.Torques.load, {"path": p.files["torques"]}, repr),
        "Torques.save": Call(torques.save, {"path": p.folder / "torques.h5"}),
        "Torques.stances": Call(torques.stances, {"prominence": 0.05}, repr),
        "Figure.bone": Call(figure.bone, {"name": figure.names[1]}),
        "Figure.index": Call(figure.index, {"bone": figure.names[1]}),
        "Gains.of": Call(ds.Gains().of, {"figure": figure, "stands": True}),
        "Motion.at": Call(ds.Motion(figure, clip).at, {"times": [0.0, 0.05]}),
    }  # fmt: skip
