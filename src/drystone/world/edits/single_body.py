"""Edits of bodies: the body wakes, arrays are made anew where needed, recordings note it."""

from dataclasses import replace

import numpy as np

from drystone.errors import InputError
from drystone.model.arrays import MOVING
from drystone.model.checks import bits, flag, float_array, text
from drystone.model.materials import ARMS, PAIR_KEYS, is_elliptic
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
    frame = body._frame = with_mass(body._frame, mass)
    world, row = body._world, body._row
    if world._stale or body._start is not None:
        changed(body)
        return
    # In place, in microseconds. Snapshots are known to be of another world by its Build.
    world._build = built = replace(world._build)
    bodies = built.model.bodies
    built.mass[row], bodies.inertia[row] = frame.mass, frame.inertia
    if not body._kinematic:
        bodies.inv_mass[row] = 1.0 / frame.mass
        bodies.inv_inertia[row] = build.free_axes(world.dim) / bodies.inertia[row]
    if world._joint_work is not None:  # what elimination left holds for other masses
        world._joint_work.filled[:] = np.nan
    moved(body)


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
    honour_material(thing._world, material)
    note_set(thing, "material", material)
    thing._material = material
    changed(thing)


def set_surface(thing, value) -> None:
    """See Body.surface_velocity. In place, once the thing has a row of its own in the tables."""
    world = thing._world
    value = world._space.vector(f"{thing._name}: surface_velocity", value)
    if any(value):
        build.require_special((0, 1), world)
    note_set(thing, "surface_velocity", value)
    thing._surface = value
    row = None if world._stale else world._build.surface_row.get(thing._number)
    if row is None:
        changed(thing)
        return
    pairing = world._build.model.pairing
    pairing.surface[row] = build.surface_inside(thing)
    pairing.special[MOVING] = pairing.surface.any()
    world._inputs = object()
    build.wake_around(world._build, world._state, thing._number)


def honour_material(world, material) -> None:
    """honour() for all that a material says."""
    honour(world, {name: getattr(material, name) for name in PAIR_KEYS})


def honour(world, given: dict) -> None:
    """Refuse at once what the solver, or a world of two dimensions, cannot do; see PAIR_KEYS."""
    world._space.check_friction(given.get("friction"))
    asked = {
        "restitution": bool(given.get("restitution")),
        "elliptic": is_elliptic(given.get("friction")),
    }
    require_features([feature for feature in asked if asked[feature]], world._solver)
    if any(given.get(name) for name in ARMS):
        build.require_special((1, 0), world)
