"""Edits of bodies: the body wakes, arrays are made anew where needed, recordings note it."""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import bits, flag, float_array, text
from drystone.model.materials import is_elliptic
from drystone.model.rotation import rotation_matrices
from drystone.solvers.supported_features import require_features
from drystone.world import build
from drystone.world.inertial_frame import check_material, with_mass


def note_set(body, field: str, value) -> None:
    """Tell a running recording, so that a replay can do the same."""
    body._world._note("set", [body._number, field, value])


def changed(body) -> None:
    """The constant arrays no longer hold: remake them, and wake what touches `body`."""
    world = body._world
    if world._state is not None:
        build.wake_around(world._build, world._state, body._number)
    world._stale = True


def moved(body) -> None:
    """The row of `body` in the arrays was written: wake it and what touches it."""
    build.wake_around(body._world._build, body._world._state, body._number)


def forget_name(body) -> None:
    names = body._world._names
    same = names[body._name]
    same.remove(body)
    if not same:
        del names[body._name]


def refuse_link(body, field: str) -> None:
    """What a link of a robot has comes from the robot."""
    placed = placed_of(body)
    if placed is not None:
        wanted = "mass" if field in ("mass", "inertia") else "pose and velocity"
        fix = "describe the robot anew" if wanted == "mass" else "set q and qd of the robot"
        raise InputError(f"{body._name}: the {wanted} of a link are those of its robot; {fix}.")


def placed_of(body):
    """The robot of which `body` is a link, or None."""
    for placed in body._world._robots if body._world is not None else ():
        if any(own is body for own in placed._bodies.values()):
            return placed
    return None


def rename(body, name) -> None:
    name = text(f"{body._name}: name", name)
    note_set(body, "name", name)
    world = body._world
    forget_name(body)
    body._name = name
    world._names.setdefault(name, []).append(body)


def set_mass(body, mass: float) -> None:
    refuse_link(body, "mass")
    note_set(body, "mass", mass)
    body._frame = with_mass(body._frame, mass)
    changed(body)


def set_inertia(body, inertia) -> None:
    refuse_link(body, "inertia")
    frame = body._world._space.with_inertia(body._frame, inertia, body._name)
    note_set(body, "inertia", float_array("inertia", inertia).tolist())
    changed(body)
    # The principal axes rotate, so the body enters the arrays anew, where it is and as it moves.
    body._start = body._as_start()
    body._row = -1
    body._frame = frame


def push(body, impulse, at) -> None:
    """See Body.push()."""
    space = body._owner()._space
    if body._kinematic:
        raise InputError(f"{body._name}: nothing pushes a kinematic body; set its velocity.")
    p = np.array(space.vector(f"{body._name}: impulse", impulse))
    if (placed := placed_of(body)) is not None:
        point = None if at is None else np.array(space.vector(f"{body._name}: push: at", at))
        placed._push(body, p, point)
        return
    arm = _arm(body, at, "push: at")
    frame, orientation = body._frame, np.array(body._pose()[1])
    axes = rotation_matrices(orientation) @ rotation_matrices(np.array(frame.principal_rotation))
    spin = axes @ ((axes.T @ np.cross(arm, p)) / np.array(frame.inertia))
    if space.dim == 2:
        spin = spin * (0.0, 1.0, 0.0)
    body.velocity = body.velocity + p / frame.mass
    body.spin = body.spin + spin


def force_at(body, force, at) -> None:
    """See Body.force_at()."""
    f = np.array(body._owner()._space.vector(f"{body._name}: force", force))
    torque = np.cross(_arm(body, at, "force_at: at"), f)
    if body._world.dim == 2:
        torque = torque * (0.0, 1.0, 0.0)
    body.force, body.torque = f, torque


def _arm(body, at, what: str) -> np.ndarray:
    """From the centre of mass to a point in world axes."""
    if at is None:
        return np.zeros(3)
    return np.array(body._world._space.vector(f"{body._name}: {what}", at)) - body.centre


def set_asleep(body, value: bool) -> None:
    world, value = body._world, flag(f"{body._name}: asleep", value)
    if value and not world._settings.sleeping:
        raise InputError(f"{body._name}: cannot sleep, the world was built with sleeping=False.")
    note_set(body, "asleep", value)
    if body._start is not None:
        body._start.asleep = value
    elif value:
        world._state.asleep[body._row] = 1
        world._state.twist[body._row] = 0.0
    else:
        moved(body)


def set_bits(thing, field: str, value) -> None:
    """`field` is group or mask, of a body or a fixed thing."""
    value = bits(f"{thing._name}: {field}", value)
    note_set(thing, field, value)
    setattr(thing, f"_{field}", value)
    changed(thing)


def set_material(thing, material) -> None:
    """Friction and restitution change with it; mass and inertia stay as they are."""
    material = check_material(material, thing._name)
    honour(thing._world, material.restitution, material.friction)
    note_set(thing, "material", material)
    thing._material = material
    changed(thing)


def honour(world, restitution, friction) -> None:
    """Refuse at once what the solver, or a world of two dimensions, cannot do."""
    world._space.check_friction(friction)
    asked = {"restitution": bool(restitution), "elliptic": is_elliptic(friction)}
    require_features([feature for feature in asked if asked[feature]], world._solver)
