"""Model and State from the lists of a World, also anew while it runs."""

from dataclasses import dataclass, replace

import numpy as np

from drystone.constraints.elliptic_friction import Ellipses, build_ellipses
from drystone.constraints.joints.pack import carry_state, pack_joints
from drystone.errors import UnsupportedFeature
from drystone.model.arrays import (
    COUNTER_BOXES_VALID,
    COUNTER_CACHED,
    COUNTER_PAIRS,
    DYNAMIC,
    FIXED,
    KINEMATIC,
    PLANE,
    ROLLING,
    Bodies,
    Model,
    Pairing,
    State,
    joined_bodies,
    new_state,
)
from drystone.model.frames import fill_inside
from drystone.model.materials import arm_table, is_elliptic, pair_tables
from drystone.motion.sleeping import spread_waking
from drystone.shapes import Entry, build_shapes, matrix_from_quaternion
from drystone.shapes.two_dimensions.outline import build_outlines
from drystone.solvers.supported_features import MEANING, SPECIAL, require_features
from drystone.world.inertial_frame import NO_ROTATION
from drystone.world.robots.pack import carry_robots, pack_robots

# Coordinates beyond this [m] get a local origin: from here on a double has fewer than
# 13 digits behind the metre.
FAR = 1000.0


@dataclass(frozen=True)
class Build:
    """The constant arrays of a world, and where each of its things stands in them."""

    model: Model
    numbers: np.ndarray  # (n,) the unique number of each body
    mass: np.ndarray  # (n,) [kg], also of kinematic bodies
    offset: np.ndarray  # (n, 3) centre of mass in the shape's frame [m]
    principal_rotation: np.ndarray  # (n, 4) quaternion: principal axes -> shape's axes
    shape_owner: np.ndarray  # (ns,) number of the body or fixed thing
    shape_part: np.ndarray  # (ns,) which part of its owner's shape
    joints: tuple  # Ball, Hinge, ... as in model.joints
    ellipses: Ellipses | None  # None: friction is the same in all directions everywhere
    materials: tuple  # of the rows of the tables of pairs
    surface_row: dict  # number of a thing whose surface may move -> its row in the tables of pairs


def choose_origin(bodies, fixed) -> tuple:
    """Zero, or full metres in the middle of the bodies if something is far away."""
    places = [_outer_centre(body) for body in bodies] or [thing._pose[0] for thing in fixed]
    if not places:
        return (0.0, 0.0, 0.0)
    places = np.array(places)
    if np.abs(places).max() <= FAR:
        return (0.0, 0.0, 0.0)
    return tuple(np.round(places.mean(axis=0)).tolist())


def _outer_centre(body):
    start, offset = body._start, body._frame.offset
    if offset == (0.0, 0.0, 0.0):
        return start.position
    return tuple(body.centre.tolist())


def build_model(world) -> Build:
    """All constant arrays, anew from the lists of `world`."""
    bodies, fixed = world._bodies, world._fixed
    # In the order of first use -> row of the pair tables; a surface that moves has its own.
    materials = {}
    for thing in (*fixed, *bodies):
        materials.setdefault(material_key(thing), len(materials))
    listed = [material for material, _ in materials]
    frames = [body._frame for body in bodies]
    entries, radius, owner, part = [], [], [], []
    _enter_fixed(fixed, materials, np.array(world._origin), entries, owner, part)
    _enter_bodies(bodies, materials, entries, radius, owner, part)
    n = len(bodies)
    offset = np.array([frame.offset for frame in frames], dtype=np.float64).reshape(n, 3)
    rotation = np.array([frame.principal_rotation for frame in frames], dtype=np.float64)
    rotation = rotation.reshape(n, 4)
    model = Model(
        build_shapes(entries),
        _body_arrays(bodies, frames, radius, world.dim),
        _pairing(world, materials, listed),
        pack_joints(
            world._joints, {body: row for row, body in enumerate(bodies)}.__getitem__, offset,
            rotation, world._origin, world._space.joint_kind,
        ),
        build_outlines(entries) if world.dim == 2 else None,
        pack_robots(
            world._robots, {body: row for row, body in enumerate(bodies)}, world._origin, rotation
        ),
    )  # fmt: skip
    ellipses = build_ellipses(listed, world._pairs, (*fixed, *bodies), owner)
    if ellipses is not None:  # a file may hold what the world would have refused
        require_features(("elliptic",), world._solver)
    require_special(model.pairing.special, world)
    return Build(
        model=model,
        numbers=np.array([body._number for body in bodies], dtype=np.int64),
        mass=np.array([frame.mass for frame in frames], dtype=np.float64),
        offset=offset,
        principal_rotation=rotation,
        shape_owner=np.array(owner, dtype=np.int64),
        shape_part=np.array(part, dtype=np.int64),
        joints=tuple(world._joints),
        ellipses=ellipses,
        materials=tuple(listed),
        surface_row={n: row for (_, n), row in materials.items() if n is not None},
    )


def rewrite_pairs(world) -> bool:
    """Write other values of pairs into the tables of a running world; False if that is not all."""
    built = world._build
    if world._stale or built is None or built.ellipses is not None:
        return False
    if any(is_elliptic(given.get("friction")) for given in world._pairs.values()):
        return False
    pairing = built.model.pairing
    pairing.friction[:], pairing.restitution[:] = pair_tables(built.materials, world._pairs)
    pairing.rolling[:] = arm_table(built.materials, world._pairs)
    pairing.special[ROLLING] = pairing.rolling.any()
    world._build = replace(built)  # by which snapshots know another world
    return True


def material_key(thing) -> tuple:
    """Things of one key have one row in the tables of pairs."""
    return thing._material, None if thing._surface is None else thing._number


def _pairing(world, materials, listed) -> Pairing:
    arms, surface = arm_table(listed, world._pairs), np.zeros((len(listed), 3))
    for thing in (*world._fixed, *world._bodies):
        if thing._surface is not None:
            surface[materials[material_key(thing)]] = surface_inside(thing)
    special = np.array([arms.any(), surface.any()], np.int32)
    return Pairing(
        *pair_tables(listed, world._pairs), _excluded_keys(world), arms, surface, special
    )


def surface_inside(thing) -> np.ndarray:
    """Velocity of its surface in the axes of the arrays: world axes of what is fixed."""
    if thing.is_fixed:
        return matrix_from_quaternion(thing._pose[1]) @ np.array(thing._surface)
    return matrix_from_quaternion(thing._frame.principal_rotation).T @ np.array(thing._surface)


def require_special(special, world) -> None:
    """Refuse what the solver or the stepper of `world` does not know."""
    asked = [name for name, is_there in zip(SPECIAL, special, strict=True) if is_there]
    require_features(asked, world._solver)
    if "rolling" in asked and world._stepper not in ("time-stepping", "reduced"):
        raise UnsupportedFeature(
            f"stepper {world._stepper!r} does not support {MEANING['rolling']}. Set them to 0, or "
            f"use stepper='time-stepping'."
        )


def _enter_fixed(fixed, materials, origin, entries, owner, part):
    for thing in fixed:
        at, matrix = np.array(thing._pose[0]) - origin, matrix_from_quaternion(thing._pose[1])
        material = materials[material_key(thing)]
        for k, piece in enumerate(thing._shape.parts()):
            place, axes = at + matrix @ piece.position, matrix @ piece.rotation
            if piece.kind == PLANE:
                # A plane is endless: seen from its point nearest to the bodies no digits cancel.
                place = axes[:, 2] * (axes[:, 2] @ place)
            entries.append(Entry(FIXED, piece, place, axes, material, thing._group, thing._mask))
            owner.append(thing._number)
            part.append(k)


def _enter_bodies(bodies, materials, entries, radius, owner, part):
    placed = {}  # bodies of equal shape and frame share their parts
    for row, body in enumerate(bodies):
        key = body._shape, id(body._frame)
        known = placed.get(key)
        if known is None:
            known = placed[key] = _placed_parts(body._shape, body._frame)
        pieces, reach = known
        radius.append(reach)
        material, group, mask, number = (
            materials[material_key(body)], body._group, body._mask, body._number
        )  # fmt: skip
        for k, (piece, place, axes) in enumerate(pieces):
            entries.append(Entry(row, piece, place, axes, material, group, mask))
            owner.append(number)
            part.append(k)


def _placed_parts(shape, frame):
    """The parts of a shape in the body's own frame, and the radius that holds them all."""
    pieces, reach = [], 0.0
    rotated = frame.principal_rotation != NO_ROTATION
    back = matrix_from_quaternion(frame.principal_rotation).T if rotated else None
    centred = frame.offset == (0.0, 0.0, 0.0)
    for piece in shape.parts():
        place = piece.position if centred else piece.position - np.array(frame.offset)
        axes = piece.rotation
        if rotated:
            place, axes = back @ place, back @ axes
        pieces.append((piece, place, axes))
        reach = max(reach, float(np.sqrt(place @ place)) + piece.radius)
    return pieces, reach


def _body_arrays(bodies, frames, radius, dim) -> Bodies:
    n = len(bodies)
    kinematic = np.array([body._kinematic for body in bodies], dtype=bool)
    mass = np.array([frame.mass for frame in frames], dtype=np.float64)
    inertia = np.array([frame.inertia for frame in frames], dtype=np.float64).reshape(n, 3)
    return Bodies(
        kind=np.where(kinematic, KINEMATIC, DYNAMIC).astype(np.int32),
        inv_mass=np.where(kinematic, 0.0, 1.0 / mass),
        inv_inertia=np.where(kinematic[:, None], 0.0, free_axes(dim) / inertia),
        inertia=inertia,
        radius=np.array(radius, dtype=np.float64),
    )


def free_axes(dim: int) -> np.ndarray:
    """1 for the axes about which bodies rotate."""
    return np.array([0.0, 1.0, 0.0]) if dim == 2 else np.ones(3)


def _excluded_keys(world) -> np.ndarray:
    row = {body._number: row for row, body in enumerate(world._bodies)}
    pairs = [(row[a], row[b]) for a, b in world._excluded]
    for joint, collide in world._joints.items():
        a, b = joint.bodies
        if a is not None and b is not None and not collide:
            pairs.append((row[a._number], row[b._number]))
    keys = {tuple(sorted(pair)) for pair in pairs}
    return np.array(sorted(low << 32 | high for low, high in keys), dtype=np.int64)


# State


def build_state(world, built: Build) -> State:
    """The state for a new model: old bodies have the same bits, new ones stand at their start."""
    bodies, old = world._bodies, world._state
    n = len(bodies)
    fresh = np.array([body._start is not None for body in bodies], dtype=bool)
    position, rotation = np.empty((n, 3)), np.empty((n, 4))
    twist, force = np.empty((n, 6)), np.empty((n, 6))
    starts = [body._start for body in bodies if body._start is not None]
    m = len(starts)
    at, rotated = np.empty((m, 3)), np.empty((m, 4))
    fill_inside(
        np.array([s.position for s in starts], dtype=np.float64).reshape(m, 3),
        np.array([s.orientation for s in starts], dtype=np.float64).reshape(m, 4),
        built.offset[fresh], built.principal_rotation[fresh], world._origin,
        at, rotated,
    )  # fmt: skip
    position[fresh], rotation[fresh] = at, rotated
    twist[fresh] = np.array([s.velocity + s.spin for s in starts]).reshape(m, 6)
    force[fresh] = np.array([s.force + s.torque for s in starts]).reshape(m, 6)
    rows = np.array([body._row for body in bodies if body._start is None], dtype=np.int64)
    if old is not None:
        position[~fresh], rotation[~fresh] = old.position[rows], old.rotation[rows]
        twist[~fresh], force[~fresh] = old.twist[rows], old.force[rows]
    state = new_state(built.model, position, rotation, twist)
    state.force[:] = force
    state.asleep[fresh] = [s.asleep for s in starts]
    if world._robots:
        carry_robots(world, world._build, old, built, state)
    if old is None:
        return state
    state.asleep[~fresh], state.rest_time[~fresh] = old.asleep[rows], old.rest_time[rows]
    carry_state(
        world._build.joints, world._build.model.joints, old,
        built.joints, built.model.joints, state,
    )  # fmt: skip
    return _carry_pairs(world, built, state, old, fresh)


def _carry_pairs(world, built, state, old, fresh) -> State:
    """Caches of pairs are carried over to their new numbers."""
    place = _shape_map(world._build, built, fresh)
    count = old.counter[COUNTER_PAIRS]
    pair = place[old.pair[:count]]
    # The map is monotonic, so pairs stay sorted.
    alive = (pair >= 0).all(axis=1)
    counter = old.counter.copy()
    counter[COUNTER_PAIRS] = alive.sum()
    counter[COUNTER_BOXES_VALID] = 0
    cached = old.counter[COUNTER_CACHED]
    return state._replace(
        counter=counter,
        pair=np.ascontiguousarray(pair[alive], dtype=np.int32),
        pair_cached=old.pair_cached[:count][alive],
        pair_axis=old.pair_axis[:count][alive],
        cached_point=old.cached_point[:cached].copy(),
        cached_impulse=old.cached_impulse[:cached].copy(),
    )


def _shape_map(old: Build, new: Build, fresh) -> np.ndarray:
    """Number of each old shape in the new build, -1 if it is gone or in another frame now."""
    gone = set(new.numbers[fresh].tolist())
    keys = zip(new.shape_owner.tolist(), new.shape_part.tolist(), strict=True)
    place = {key: s for s, key in enumerate(keys) if key[0] not in gone}
    keys = zip(old.shape_owner.tolist(), old.shape_part.tolist(), strict=True)
    return np.array([place.get(key, -1) for key in keys], dtype=np.int32)


def wake_around(built: Build, state: State, number: int) -> None:
    """Wake the thing of that number, what touches it, and all sleepers that hang together."""
    own = np.flatnonzero(built.numbers == number)
    state.rest_time[own] = 0.0
    if not state.asleep.any():
        return
    count = state.counter[COUNTER_PAIRS]
    pair = state.pair[:count][state.pair_cached[:count, 1] > 0]
    touched = built.model.shapes.body[pair[(built.shape_owner[pair] == number).any(axis=1)]]
    woken = np.union1d(own, touched[touched != FIXED])
    state.asleep[woken] = 0
    state.rest_time[woken] = 0.0
    model = built.model
    spread_waking(model.shapes.body, model.bodies.kind, joined_bodies(model), state)


def wake_all(state: State | None) -> None:
    """After a change that every body feels."""
    if state is not None:
        state.asleep[:] = 0
        state.rest_time[:] = 0.0
