"""Checkpoints: a world to an HDF5 file and back; the loaded world goes on bit for bit.

    description     JSON, as bytes: settings, materials, shapes, names, joints, pair rules
    arrays/0, 1..   the arrays that shapes refer to
    body/...        one column for each constant of the bodies
    state/...       the arrays of State as they are: warm starts, sleep, pair lists and all

The constant arrays are made anew from the description; a digest of them says whether that gave
the same bits. A file is never trusted: whatever is wrong with it becomes one InputError.
"""

import io
import json
import tempfile
import warnings
from hashlib import blake2b
from math import isfinite
from pathlib import Path

import h5py
import numpy as np

from drystone.constraints.joint_rows import joint_work_of
from drystone.constraints.joints.pack import write_settings
from drystone.errors import InputError
from drystone.model import capacity
from drystone.model.arrays import (
    AXIS_DIRECTION,
    AXIS_EDGES,
    AXIS_FACE_A,
    AXIS_FACE_B,
    AXIS_KINDS,
    AXIS_NONE,
    AXIS_SECOND,
    BOX,
    COUNTER_CACHED,
    COUNTER_PAIRS,
    COUNTER_STEP,
    COUNTERS,
    FILE_KINDS,
    HULL,
    Settings,
    State,
    new_state,
)
from drystone.model.attachment import HERE, NO_TURN
from drystone.model.checks import shown, vector, within
from drystone.model.files import as_path, read_file, write_file
from drystone.model.hdf5 import (
    allowance,
    open_file,
    read_array,
    read_attribute,
    read_dataset,
    reading,
    write_attributes,
)
from drystone.model.robot_state import ROBOT_STATE
from drystone.model.signatures import level_of_caller
from drystone.solvers.reduced.scratch import robot_scratch_of
from drystone.world import build
from drystone.world.body import Start
from drystone.world.io import serialize as to
from drystone.world.io.serialize_characters import describe_character, restore_character
from drystone.world.io.serialize_forces import describe_force, restore_force
from drystone.world.io.serialize_joints import describe_joint, restore_joint
from drystone.world.io.serialize_robots import describe_placed, restore_placed
from drystone.world.robots.pack import slices_of
from drystone.world.world import World

FORMAT, VERSION = "drystone world", 3

# Smaller arrays are not worth compressing [bytes].
COMPRESS = 4096
# A file may hold so many bodies, shapes and joints, and one more for so many of its bytes.
MOST_THINGS, THING_BYTES = 10_000, 8

# Tables of the joints that write_settings() writes.
SETTINGS = ("limit", "drive_mode", "drive", "friction", "number")

# Arrays of the State whose names in files are older than those in the program.
FILE_NAMES = {
    "fat_aabb": "roomy_box",
    "pair_cached": "pair_kept",
    "cached_point": "kept_point",
    "cached_impulse": "kept_impulse",
}


def save_world(world, path) -> None:
    """Write `world` to `path`; an older file there is replaced only by a complete one."""
    path = as_path(path)  # before the world is packed, which takes its time
    write_file(path, world_image(world), "the world cannot be saved there")


def rescue(world) -> str:
    """Save the last good step of a failed run; returns the sentence that says where.

    Whatever happens here must not hide the failure that is being reported.
    """
    name = f"drystone-step-{world.step_count}"
    reason = ""
    for folder in (Path(world.checkpoint_folder or "."), Path(tempfile.gettempdir())):
        path, copy = folder / f"{name}.h5", 1
        while path.exists():
            copy += 1
            path = folder / f"{name}-{copy}.h5"
        try:
            save_world(world, path)
        except Exception as error:
            reason = str(error)
            continue
        return f"It was saved as {path.resolve()}; World.load() continues from there."
    return f"It could not be saved ({reason})"


def load_world(path) -> World:
    """The world in the file `path`."""
    return world_from_image(read_file(path), str(path))


# The file as bytes: HDF5 never sees the disk, so that a full one cannot confuse it.


def world_image(world, characters: bool = True) -> bytes:
    """The bytes of the file.

    characters   whether the muscles of characters are part of it; their bodies and joints are
    """
    built = world._synced()
    arrays: list[np.ndarray] = []
    description = _describe(world, arrays, characters)
    columns = _take_columns(description)
    text = json.dumps(description).encode()
    parts = {f"body/{name}": column for name, column in columns.items()}
    parts |= {"description": np.frombuffer(text, dtype=np.uint8)}
    parts |= {f"arrays/{k}": array for k, array in enumerate(arrays)}
    parts |= {
        f"state/{FILE_NAMES.get(name, name)}": x for name, x in world._state._asdict().items()
    }
    model = _as_described(world, built.model)
    image = _packed(parts, model_digest(model), True)
    if 8 * sum(array.size for array in parts.values()) > allowance(len(image)):
        # So regular that it would look like a file made to fill the memory.
        image = _packed(parts, model_digest(model), False)
    return image


def _as_described(world, model):
    """The model as it will be made of the description: muscles write targets of servos in every
    step, which are no setting of the joints."""
    if not world._characters:
        return model
    joints = model.joints
    table = joints._replace(**{name: getattr(joints, name).copy() for name in SETTINGS})
    moved = {id(joint) for actor in world._characters for joint in actor._joints}
    for j, joint in enumerate(world._build.joints):
        if id(joint) in moved:
            write_settings(table, j, joint)
    return model._replace(joints=table)


def _packed(parts: dict[str, np.ndarray], model: str, compress: bool) -> bytes:
    options = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
    with h5py.File("world", "w", driver="core", backing_store=False) as file:
        for name, array in parts.items():
            large = compress and array.nbytes > COMPRESS
            file.create_dataset(name, data=array, **(options if large else {}))
        write_attributes(
            file, format=FORMAT, version=VERSION, model=model, checksum=_checksum(file)
        )
        file.flush()
        return file.id.get_file_image()


def world_from_image(image: bytes, source: str) -> World:
    """The world in these bytes; `source` says in errors where they came from."""
    with reading(source, "Drystone world"):
        with open_file(io.BytesIO(image), len(image)) as file:
            _check_format(file, source)
            return _restore(file, source, len(image))


def model_digest(model) -> str:
    """Of every bit of the constant arrays."""
    digest = blake2b(digest_size=16)
    kind = np.array(FILE_KINDS, np.int32)[model.shapes.kind]
    for group in model._replace(shapes=model.shapes._replace(kind=kind)):
        if group is model.pairing and not group.special.any():
            # Files that were saved before there was this must still have the same digest.
            group = (group.friction, group.restitution, group.excluded)
        for array in _arrays_of(group):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array))
        if group is model.joints:
            # The coordinates of joints once stood there as an empty array: files that were saved
            # then must still have the same digest.
            digest.update(repr(((0, 3), "<f8")).encode())
    return digest.hexdigest()


def _arrays_of(group):
    """Of a table, and of the tables in it."""
    for member in group or ():
        yield from _arrays_of(member) if isinstance(member, tuple) else (member,)


def _checksum(file) -> str:
    digest = blake2b(digest_size=16)
    names = []
    file.visititems(lambda name, item: names.append(name) if hasattr(item, "dtype") else None)
    for name in sorted(names):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(read_dataset(file[name])))
    return digest.hexdigest()


def _check_format(file, source):
    what = "an HDF5 file of another program"
    if "format" in file.attrs and (what := read_attribute(file, "format", str)) == FORMAT:
        version = read_attribute(file, "version", int)
        if version != VERSION:
            raise InputError(
                f"{source}: has format version {version}; this Drystone reads version {VERSION}."
            )
        if read_attribute(file, "checksum", str) != _checksum(file):
            raise InputError(f"{source}: is damaged, its checksum is wrong. Use an older copy.")
        return
    raise InputError(f"{source}: is no saved world but {what}.")


# Contents of the file


def _describe(world, arrays, characters: bool) -> dict:
    materials, shapes = {}, {}  # -> number in the file; a shape is known by its identity

    def put(array):
        arrays.append(array)
        return len(arrays) - 1

    def refer(thing):
        if id(thing._shape) not in shapes:
            shapes[id(thing._shape)] = len(shapes), to.describe_shape(thing._shape, put)
        return {
            "shape": shapes[id(thing._shape)][0],
            "material": materials.setdefault(thing._material, len(materials)),
        }

    fixed = [to.describe_fixed(thing) | refer(thing) for thing in world._fixed]
    bodies = [to.describe_body(body) | refer(body) for body in world._bodies]
    pairs = [
        [materials.setdefault(m, len(materials)) for m in pair] + [values]
        for pair, values in world._pairs.items()
    ]
    moving = [thing for thing in (*world._fixed, *world._bodies) if thing._surface is not None]
    more: dict = {"surfaces": [[t._number, t._surface] for t in moving]} if moving else {}
    if characters and world._characters:
        more["characters"] = [describe_character(actor, put) for actor in world._characters]
    return more | {
        "settings": world._settings._asdict(),
        "solver": to.describe_solver(world._solver),
        "dim": world.dim,
        "stepper": world._stepper,
        "on_nonconverged": world._policy,
        "origin": world._origin,
        "unspent": world._unspent,
        "next_number": world._next_number,
        "materials": [to.describe_material(material) for material in materials],
        "shapes": [description for _, description in shapes.values()],
        "fixed": fixed,
        "bodies": bodies,
        "joints": [
            describe_joint(joint) | {"collide": collide} for joint, collide in world._joints.items()
        ],
        "excluded": sorted(world._excluded),
        "pairs": pairs,
        "forces": [describe_force(force) for force in world._forces],
        "robots": [describe_placed(robot, put) for robot in world._robots],
    }


def _take_columns(description) -> dict[str, np.ndarray]:
    """The numbers of the bodies leave the JSON for arrays, which are much faster to read."""
    bodies = description["bodies"]
    description["bodies"] = [body.pop("name") for body in bodies]
    if not bodies:
        return {}
    return {key: np.array([body[key] for body in bodies]) for key in bodies[0]}


def _restore(file, source, file_bytes: int) -> World:
    said = json.loads(read_array(file, "description").tobytes())
    _check_counts(said, file_bytes)
    settings = _checked_settings(said["settings"])
    world = World(
        dt=settings.dt,
        gravity=(settings.gravity_x, settings.gravity_y, settings.gravity_z),
        solver=to.restore_solver(said["solver"]),
        dim=said.get("dim", 3),
        stepper=said["stepper"],
        on_nonconverged=said["on_nonconverged"],
        sleeping=bool(settings.sleeping),
        sleep_speed=settings.sleep_speed,
        sleep_delay=settings.sleep_delay,
        bounce_speed=settings.bounce_speed,
        skin=settings.skin,
    )
    world._settings = settings._replace(hashing=0)
    world._unspent = within("unspent", said.get("unspent", 0.0), -settings.dt, settings.dt)
    materials = [to.restore_material(value) for value in said["materials"]]
    shapes = [
        to.restore_shape(value, lambda k: read_array(file, f"arrays/{int(k)}"))
        for value in said["shapes"]
    ]
    for value in said["fixed"]:
        shape, material = shapes[value["shape"]], materials[value["material"]]
        world._fixed.append(to.restore_fixed(world, value, shape, material))
    for value in _body_rows(file, said["bodies"]):
        shape, material = shapes[value["shape"]], materials[value["material"]]
        # Joints ask where their bodies are; what they know of it is in the file already.
        start = Start(HERE, NO_TURN, HERE, HERE)
        world._bodies.append(to.restore_body(world, value, shape, material, start))
    for thing in (*world._fixed, *world._bodies):
        world._space.check_shape(thing._shape, thing._name)
        world._names.setdefault(thing._name, []).append(thing)
    numbers = {thing._number: thing for thing in (*world._fixed, *world._bodies)}
    for number, value in said.get("surfaces", []):
        numbers[number]._surface = vector("surface_velocity", value)
    world._next_number = int(said["next_number"])
    world._origin = vector("origin", said["origin"])
    world._pairs = {(materials[a], materials[b]): dict(given) for a, b, given in said["pairs"]}
    world._excluded = {(int(a), int(b)) for a, b in said["excluded"]}
    _check_numbers(world)
    _restore_joints(world, said["joints"])
    _restore_robots(world, said.get("robots", []), file)
    _adopt_arrays(world, file, source)
    _restore_forces(world, said.get("forces", []))
    for value in said.get("characters", []):
        restore_character(value, lambda k: read_array(file, f"arrays/{int(k)}"), world, numbers)
    return world


def _restore_robots(world, described, file):
    things = {body._number: body for body in world._bodies}
    for value in described:
        placed = restore_placed(
            value, lambda k: read_array(file, f"arrays/{int(k)}"), world, things
        )  # fmt: skip
        world._robots.append(placed)
        if world._stepper != "rk4":
            world._stepper = "reduced"


def _check_counts(said: dict, file_bytes: int) -> None:
    """Before any is made: a thing takes a thousand times the memory of its name in a list."""
    count = sum(len(said[name]) for name in ("fixed", "bodies", "joints", "shapes", "materials"))
    if count > MOST_THINGS + file_bytes // THING_BYTES:
        raise InputError(f"claims {count} things, too many for a file of {file_bytes} bytes.")


def _restore_forces(world, described):
    bodies = {body._number: body for body in world._bodies}
    for value in described:
        force = restore_force(value, bodies.__getitem__)
        object.__setattr__(force, "_world", world)
        world._forces.append(force)


def _checked_settings(values: dict) -> Settings:
    plain = Settings()
    for field, value in values.items():
        if type(value) is not type(getattr(plain, field)) or not isfinite(value):
            raise InputError(f"its setting {shown(field)} is {shown(value)}.")
    return Settings(**{"relative_tolerance": 0.0} | values)  # as it was before it was saved


def _body_rows(file, names):
    if not names:
        return
    arrays = {key: read_array(file, f"body/{key}", "biuf") for key in file["body"]}
    if any(array.shape[:1] != (len(names),) for array in arrays.values()):
        raise InputError("its list of bodies is incomplete.")
    columns = {key: array.tolist() for key, array in arrays.items()}
    for k, name in enumerate(names):
        yield {"name": name} | {key: column[k] for key, column in columns.items()}


def _check_numbers(world):
    numbers = [thing._number for thing in (*world._fixed, *world._bodies)]
    if len(set(numbers)) < len(numbers) or not all(0 <= k < world._next_number for k in numbers):
        raise InputError("the numbers of its bodies are wrong.")
    moving = {body._number for body in world._bodies}
    if any(a not in moving or b not in moving or a >= b for a, b in world._excluded):
        raise InputError("it excludes a pair of bodies that do not exist.")


def _restore_joints(world, described):
    things = {thing._number: thing for thing in (*world._fixed, *world._bodies)}
    for value in described:
        fields = {name: x for name, x in value.items() if name != "collide"}
        joint = restore_joint(fields, things)
        if not isinstance(value["collide"], bool):
            raise InputError(
                f"{value['is']}: collide is {shown(value['collide'])}, must be a bool."
            )
        world.add_joint(joint, value["collide"])


def _adopt_arrays(world, file, source):
    built = build.build_model(world)
    world._build = built
    world._state = capacity.for_new_work(_checked_state(file, built.model))
    world._work = capacity.allocate(built.model)
    world._joint_work = joint_work_of(built.model.joints, built.model.bodies)
    world._robot_work = robot_scratch_of(built.model, world._joint_work)
    for t, placed in enumerate(world._robots):
        placed._slices = slices_of(built.model.robots, t)
    for row, body in enumerate(world._bodies):
        body._row, body._start = row, None
    world._stale = False
    if model_digest(built.model) != read_attribute(file, "model", str):
        warnings.warn(
            f"{source}: its shapes come out with other last digits here than where it was saved; "
            f"the run continues, but not bit for bit.",
            stacklevel=level_of_caller(),
        )


def _checked_state(file, model) -> State:
    """The State in the file; sizes, kinds and everything used as an index are checked.

    Non-finite motion passes: that is what the checkpoint of a failed run may hold.
    """
    n, ns = len(model.bodies.kind), len(model.shapes.kind)
    like = new_state(model, np.zeros((n, 3)), np.zeros((n, 4)), np.zeros((n, 6)))
    given = {}
    for name in State._fields:
        place = f"state/{FILE_NAMES.get(name, name)}"
        older = name in ROBOT_STATE and place not in file  # than robots in files
        given[name] = getattr(like, name) if older else read_array(file, place)
    for name, array in given.items():
        wanted = getattr(like, name)
        free = name.startswith(("pair", "cached"))  # these have spare capacity
        shape = array.shape[1:] if free else array.shape
        if array.dtype != wanted.dtype or shape != wanted.shape[1 if free else 0 :]:
            raise InputError(f"its array {name!r} has the wrong size or kind.")
    state = State(**{name: np.ascontiguousarray(array) for name, array in given.items()})
    counter = state.counter
    pairs, cached = counter[COUNTER_PAIRS], counter[COUNTER_CACHED]
    capacity_pairs, capacity_cached = len(state.pair), len(state.cached_point)
    first, count = state.pair_cached[:pairs].astype(np.int64).T
    listed = state.pair[:pairs]
    if not (
        len(counter) == COUNTERS
        and counter[COUNTER_STEP] >= 0
        and 0 <= pairs <= capacity_pairs == len(state.pair_cached) == len(state.pair_axis)
        and 0 <= cached <= capacity_cached == len(state.cached_impulse)
        and ((listed >= 0) & (listed < ns)).all()
        and ((count == 0) | (first >= 0) & (count > 0) & (first + count <= cached)).all()
        and ((state.asleep == 0) | (state.asleep == 1)).all()
    ):
        raise InputError("its contact lists are wrong.")
    for name in ("joint_value", "joint_impulse", "joint_curve", "robot_control", "robot_impulse"):
        if not np.isfinite(getattr(state, name)).all():
            raise InputError(f"its array {name!r} holds numbers that are not finite.")
    _check_memory(state.pair_axis[:pairs, 0], listed, model.shapes)
    return state


def _check_memory(code, pair, shapes):
    """The faces and edges that pairs with a hull remember (collision/narrowphase/axis_cache.py)
    must exist.
    """
    kinds = shapes.kind[pair]
    both = ((kinds == BOX) | (kinds == HULL)).all(axis=1) & (kinds == HULL).any(axis=1)
    swapped = kinds[both, 0] > kinds[both, 1]
    sides = np.where(swapped[:, None], pair[both][:, ::-1], pair[both])
    code = code[both]
    if not (np.isfinite(code) & (code >= 0.0) & (code < 2.0**53)).all():
        raise InputError("its pairs remember what is not there.")
    index, kind = np.divmod(code.astype(np.int64), AXIS_KINDS)
    j, i = np.divmod(index, AXIS_SECOND)
    counts = shapes.polytope[shapes.table[sides]]
    faces, edges = counts[:, :, 3], counts[:, :, 5]
    fits = (
        (kind == AXIS_NONE)
        | (kind == AXIS_DIRECTION)
        | ((kind == AXIS_FACE_A) & (i < faces[:, 0]))
        | ((kind == AXIS_FACE_B) & (i < faces[:, 1]))
        | ((kind == AXIS_EDGES) & (i < edges[:, 0]) & (j < edges[:, 1]))
    )
    if not fits.all():
        raise InputError("its pairs remember what is not there.")
