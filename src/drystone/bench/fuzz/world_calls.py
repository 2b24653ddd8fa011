"""Calls of worlds and what belongs to them: methods, settable properties, solvers, recordings."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
import scipy.sparse

import drystone as ds
from drystone.bench.fuzz.case import Misbehaviour
from drystone.bench.fuzz.props import Call, Props


def step_once(world: Any) -> None:
    """One step of a world that may be empty."""
    if not len(world):
        world.add_fixed(ds.Plane())
        flat = world.dim == 2
        world.add_body(ds.Disc(0.5) if flat else ds.Sphere(0.5), position=(0, 0.5) if flat
                       else (0, 0, 0.5))  # fmt: skip
    world.step()
    world.energy()
    repr(world)


def world_calls(p: Props) -> dict[str, Call]:
    w = p.world

    def stepped(_: Any) -> None:
        step_once(w)
        w.check()

    settings = {
        "dt": 0.01, "gravity": (0, 0, -9.81), "solver": "auto", "tolerance": 1e-5,
        "stepper": "time-stepping", "sleeping": True, "dim": 3, "on_nonconverged": "ignore",
        "sleep_speed": 0.01, "sleep_delay": 0.5, "bounce_speed": 0.1, "skin": 0.001,
        "checkpoint_folder": p.folder, "drift": "default", "baumgarte": None, "ccd": True,
    }  # fmt: skip
    thing = {
        "shape": ds.Box(1, 1, 1), "material": ds.Material(), "position": (3, 0, 1),
        "orientation": (1, 0, 0, 0), "name": "new", "group": 1, "mask": -1, "angle": None,
    }  # fmt: skip
    moving = {
        "velocity": (0, 0, 1), "spin": (1, 0, 0), "mass": 2.0, "inertia": (1, 1, 1),
        "centre": (0, 0, 0), "kinematic": False,
    }  # fmt: skip
    flat = ds.World(dim=2)
    return {
        "World": Call(ds.World, settings, step_once),
        "World.add_fixed": Call(w.add_fixed, thing, stepped),
        "World.add_body": Call(w.add_body, thing | moving, stepped),
        "World.add_body again": Call(w.add_body, thing | moving, stepped),
        "World(dim=2).add_body": Call(
            flat.add_body,
            {"shape": ds.Disc(1), "position": (0, 1), "angle": 0.1, "velocity": (0, 1),
             "spin": 1.0, "mass": 1.0, "inertia": 1.0, "centre": (0, 0)},
            lambda _: step_once(flat),
        ),
        "World.remove": Call(w.remove, {"body": p.a}, stepped),
        "World.exclude": Call(w.exclude, {"body_a": p.a, "body_b": p.b}, stepped),
        "World.set_pair": Call(
            w.set_pair,
            {"material_a": ds.Material(), "material_b": ds.Material(name="x"), "friction": 0.3,
             "restitution": 0.1, "rolling_friction": 0.01, "spinning_friction": 0.01}, stepped,
        ),
        "World.add_joint": Call(
            w.add_joint, {"joint": ds.Fixed(p.a, p.b), "collide": True}, stepped
        ),
        "World.add_force": Call(w.add_force, {"force": ds.Drag(linear=1.0)}, stepped),
        "World.drag": Call(
            w.drag,
            {"body": p.a, "point": (0, 0, 1), "target": (1, 0, 1), "stiffness": 10.0,
             "damping": 1.0}, stepped,
        ),
        "World.throw": Call(
            w.throw,
            {"origin": (9, 0, 5), "direction": (1, 0, 0), "speed": 2.0, "shape": ds.Sphere(0.1),
             "material": ds.Material(), "name": "thrown"}, stepped,
        ),
        "World.attract": Call(
            w.attract, {"position": (0, 0, 9), "strength": 1.0, "core": 0.1}, stepped
        ),
        "World.repel": Call(
            w.repel, {"position": (0, 0, 9), "strength": 1.0, "core": 0.1}, stepped
        ),
        "World.step": Call(w.step, {}),
        "World.run": Call(w.run, {"seconds": 0.03, "progress": False, "callback": lambda _: True}),
        "World.momentum": Call(w.momentum, {"about": (0, 0, 0)}),
        "World.save": Call(w.save, {"path": p.folder / "world.h5"}),
        "World.load": Call(ds.World.load, {"path": p.files["world"]}, step_once),
        "World.joint_rows": Call(w.joint_rows, {"joint": p.joint}),
        "World.joint_values": Call(w.joint_values, {"joint": p.joint}),
        "World.joint_changed": Call(w.joint_changed, {"joint": p.joint}),
        "World.force_changed": Call(w.force_changed, {"force": p.force}),
        "World[]": Call(w.__getitem__, {"name": "a"}),
        "in World": Call(w.__contains__, {"name": "a"}),
        "ContactTable.on": Call(_contacts(w).on, {"body": p.a}),
        "ContactTable.between": Call(_contacts(w).between, {"body_a": p.a, "body_b": None}),
    }  # fmt: skip


def _contacts(world: Any) -> Any:
    if world.info is None:
        world.step()
    return world.contacts()


def property_calls(p: Props) -> dict[str, Call]:
    """Settable properties, before the first step and after it."""
    good = {
        "name": "other", "mass": 2.0, "inertia": (1, 1, 1), "position": (0, 0, 1),
        "orientation": (1, 0, 0, 0), "angle": 0.1, "centre": (0, 0, 1), "velocity": (0, 0, 1),
        "spin": (0, 0, 1), "force": (0, 0, 1), "torque": (0, 0, 1), "asleep": True,
        "group": 3, "mask": 5, "material": ds.Material(friction=0.2),
        "surface_velocity": (1, 0, 0),
    }  # fmt: skip

    def set_on(thing: Any, name: str) -> Call:
        def put(value: Any) -> None:
            setattr(thing, name, value)
            getattr(thing, name)

        return Call(put, {"value": good.get(name, (0, 0, -1))}, lambda _: step_once(p.world))

    p.world.step()
    fresh = p.world.add_body(ds.Box(1, 1, 1), position=(4, 0, 2), name="fresh")
    calls = {f"Body.{name}": set_on(p.a, name) for name in good}
    calls |= {f"new Body.{name}": set_on(fresh, name) for name in good}
    calls["removed Body.mass"] = set_on(p.gone, "mass")
    calls["FixedBody.surface_velocity"] = set_on(p.ground, "surface_velocity")
    for name, value in (("gravity", (0, 0, -1)), ("solver", "nsgs"), ("tolerance", 1e-4)):
        good[name] = value
        calls[f"World.{name}"] = set_on(p.world, name)
    return calls


def _drop_by(method: Any) -> None:
    """Two steps of a box that overlaps the ground."""
    world = ds.World(solver=method)
    world.add_fixed(ds.Plane())
    world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.45))
    for _ in range(2):
        world.step()


def solver_calls(p: Props) -> dict[str, Call]:
    """Solvers with their options, ds.solve and ds.residual, on a problem of three contacts."""
    p.world.step()
    problem = p.world.problem()
    calls = {}
    for name, solver in ds.SOLVERS.items():
        options = {field.name: getattr(solver(), field.name) for field in fields(solver)}
        calls[f"SOLVERS[{name!r}]"] = Call(
            solver, options, lambda made: repr(ds.World(solver=made))
        )

    penalty = {field.name: getattr(ds.Penalty(), field.name) for field in fields(ds.Penalty)}
    calls["Penalty"] = Call(ds.Penalty, penalty, _drop_by)

    def finite(result: Any) -> None:
        if not np.isfinite(result[0]).all():
            raise Misbehaviour("not finite", "impulses that are not finite")

    guess = np.zeros((problem.block_count, 3))
    whole = {field.name: getattr(problem, field.name) for field in fields(problem)}
    matrix = {
        "matrix": scipy.sparse.csr_array(2.0 * np.eye(6)), "free_velocity": -np.ones((2, 3)),
        "friction": np.full(2, 0.5),
        "friction_2": None, "dim": 3,
    }  # fmt: skip
    return calls | {
        "solve": Call(
            ds.solve,
            {"problem": problem, "solver": "nsgs", "tolerance": 1e-6, "measure": "velocity",
             "guess": guess, "history": True}, finite,
        ),
        "residual": Call(ds.residual, {"problem": problem, "impulse": guess}),
        "ContactProblem": Call(
            lambda **given: ds.solve(replace(problem, **given)), whole, finite
        ),
        "MatrixProblem": Call(ds.MatrixProblem, matrix, lambda made: finite(ds.solve(made))),
        "ContactProblem.load": Call(
            ds.ContactProblem.load, {"path": p.files["problem"]},
            lambda made: finite(ds.solve(made)),
        ),
        "ContactProblem.save": Call(problem.save, {"path": p.folder / "problem.h5"}),
        "ContactProblem.velocity": Call(problem.velocity, {"impulse": guess}),
        "ContactProblem.apply_W": Call(problem.apply_W, {"impulse": guess}),
    }  # fmt: skip


def lcp_calls(p: Props) -> dict[str, Call]:
    m, q, one = np.eye(3), -np.ones(3), np.eye(2)
    pair = {"method": "lemke", "cover": np.ones(3), "limit": 50}
    mixed = {"A": one, "B": m, "C": np.ones((2, 3)), "D": np.ones((3, 2)), "a": np.ones(2), "b": q}
    return {
        "lcp.solve": Call(ds.lcp.solve, {"M": m, "q": q} | pair),
        "lcp.solve_mixed": Call(ds.lcp.solve_mixed, mixed),
        "lcp.lcp_error": Call(ds.lcp.lcp_error, {"M": m, "q": q, "z": np.ones(3)}),
        "lcp.load": Call(ds.lcp.load, {"path": p.files["lcp"]}),
        "lcp.murty": Call(ds.lcp.murty, {"n": 3}),
    }


def recording_calls(p: Props) -> dict[str, Call]:
    def recorded(recorder: Any) -> None:
        with recorder:
            p.world.step()

    recording = ds.Recording(p.files["recording"])
    calls = {
        f"Recording.{name}": Call(getattr(recording, name), {"k": 1})
        for name in ("positions", "orientations", "numbers")
    }
    return calls | {
        "record": Call(
            ds.record, {"world": p.world, "path": p.folder / "r.h5", "every": 2}, recorded
        ),
        "Recording": Call(ds.Recording, {"path": p.files["recording"]}, lambda r: r.close()),
        "replay": Call(ds.replay, {"path": p.files["recording"], "verify": True, "progress": None}),
    }
