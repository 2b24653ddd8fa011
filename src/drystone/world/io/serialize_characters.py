"""Characters as plain values that JSON can hold, and back, bit for bit.

Figure, clip and torques are made anew with all their checks, and then given the very bits that were
saved; the tables that muscles follow are saved too, for splines may come out with other last digits
on another machine. What the muscles wrote before the last step is there, beside what happened so
far: forces of the user on bones are told from theirs by it.
"""

from dataclasses import fields

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, integer, shown
from drystone.world.character.character import ROOTS, Character, RootPath
from drystone.world.character.clips.clip import Clip
from drystone.world.character.figure import Bone, Figure
from drystone.world.character.gains import Gains
from drystone.world.character.motion import Motion
from drystone.world.character.torques import ARRAYS, Torques
from drystone.world.io import serialize as to

ROUNDING = 1e-12  # how far an array may be from what its check makes of it, relative to its size
# Tables of a character's plan, and rows of what was noted; n steps, j joints, b bones.
PLAN = {
    "parent": "j", "target": "nj3", "speed": "nj3", "torque": "nj3", "after": "nj4",
    "stiffness": "j", "damping": "j", "tensor": "j9", "rate": "2", "effort": "j",
    "root_gain": "6", "mode": "3",
}  # fmt: skip
PATH = {"centre": "n3", "turned": "n4", "velocity": "n3", "spin": "n3", "residual": "n6"}
HISTORY = {
    "error": "dj", "torque": "dj3", "power": "dj", "root_error": "d2", "root_force": "d6",
    "pose": "db7", "given": "dj3", "touch": "db3", "slip": "db",
}  # fmt: skip
LATER = ("touch", "slip")
BEFORE = {"last": "b6", "push": "b6"}
WHOLE = ("parent", "mode")  # numbers of things: int64
CLIP_ARRAYS = ("offsets", "positions", "rotations")


def describe_character(character: Character, put) -> dict:
    """A character of a world; arrays go through `put` (see serialize.py)."""
    world, noted, gains = character._world, character._noted, character.gains
    torques, done = character.torques, character.done
    number = {id(joint): j for j, joint in enumerate(world._joints)}
    return {
        "figure": _figure(character.figure, put),
        "clip": _clip(character.motion.clip, put),
        "torques": {name: put(getattr(torques, name)) for name in ARRAYS}
        | {"names": torques.names, "feet": torques.feet}
        | {"mass": float(torques.mass), "friction": float(torques.friction)},
        "root": character.root,
        "gains": {
            "frequency": gains.frequency, "ratio": gains.ratio, "effort": gains.effort,
            "joints": {name: list(pair) for name, pair in gains.joints.items()},
        },
        "bodies": [body.number for body in character.bodies],
        "joints": [number[id(joint)] for joint in character._joints],
        "first": character._first,
        "frames": put(character._frames),
        "plan": {name: put(character._plan[name]) for name in PLAN},
        "path": {name: put(getattr(character._path, name)) for name in PATH},
        "history": {name: put(getattr(noted, name)[:done]) for name in HISTORY},
        "before": {name: put(getattr(noted, name)) for name in BEFORE},
    }  # fmt: skip


def restore_character(value: dict, get, world, things: dict) -> None:
    """The character that describe_character() described, into `world`; `things` are its bodies."""
    figure = _restored_figure(value["figure"], get)
    motion = Motion(figure, _restored_clip(value["clip"], get))
    torques = _restored_torques(value["torques"], get)
    if torques.names != figure.joints or torques.feet != tuple(
        figure.names[k] for k in figure.feet
    ):
        raise InputError(f"{figure.name}: its torques are those of another figure.")
    bodies = [_one_of(things, k, f"{figure.name}: a bone is body") for k in value["bodies"]]
    all_joints = dict(enumerate(world._joints))
    joints = [_one_of(all_joints, k, f"{figure.name}: a joint is joint") for k in value["joints"]]
    if len(bodies) != len(figure.bones) or len(joints) != len(figure.joints):
        raise InputError(f"{figure.name}: its bones or joints are incomplete.")
    for j, joint in enumerate(joints):
        if joint.a is not bodies[figure.parents[j + 1]] or joint.b is not bodies[j + 1]:
            raise InputError(f"{figure.name}: joint {figure.joints[j]} holds other bones.")
    root = choice("character: root", value["root"], ROOTS)
    character = Character(
        world, figure, motion, torques, root, bodies, joints, Gains(**value["gains"])
    )
    character._first = integer("character: first", value["first"], 0)
    sizes = {"j": len(joints), "b": len(bodies)}
    character._frames = _array("frames", get(value["frames"]), "j33", sizes)
    sizes["n"] = len(get(value["plan"]["target"]))
    if not sizes["n"]:
        raise InputError(f"{figure.name}: its plan has no steps.")
    character._plan = {
        name: _array(name, get(value["plan"][name]), form, sizes) for name, form in PLAN.items()
    }
    _check_plan(figure, root, character._plan)
    character._path = RootPath(
        **{n: _array(n, get(value["path"][n]), form, sizes) for n, form in PATH.items()}
    )
    sizes["d"] = len(get(value["history"]["error"]))
    kept = value["history"]  # files of before do not have what touched the bones
    history = {
        n: _array(n, get(kept[n]), f, sizes)
        for n, f in HISTORY.items()
        if n not in LATER or n in kept
    }
    before = {n: _array(n, get(value["before"][n]), f, sizes) for n, f in BEFORE.items()}
    character._take_history(sizes["d"], history, before)
    world._characters.append(character)


def _check_plan(figure: Figure, root: str, plan: dict) -> None:
    if not np.array_equal(plan["parent"], figure.parents[1:]):
        raise InputError(f"{figure.name}: its plan has other parents.")
    mode = plan["mode"].tolist()
    if mode[0] != ROOTS.index(root) or mode[1] not in (0, 1) or mode[2] not in (0, 1, 2):
        raise InputError(f"{figure.name}: its plan has the mode {shown(mode)}.")
    if plan["stiffness"].min(initial=0.0) < 0.0 or plan["damping"].min(initial=0.0) < 0.0:
        raise InputError(f"{figure.name}: its plan has a stiffness or damping below 0.")


def _one_of(things: dict, number, what: str):
    if type(number) is not int or number not in things:
        raise InputError(f"{what} {shown(number)}, which is not there.")
    return things[number]


def _array(name: str, array, form: str, sizes: dict) -> np.ndarray:
    """`array` if it has the shape of its form, and only finite numbers."""
    kind = np.int64 if name in WHOLE else np.float64
    wanted = tuple(sizes[c] if c in sizes else int(c) for c in form)
    if array.shape != wanted or array.dtype != kind:
        raise InputError(f"character: {name} has shape {array.shape}, must be {wanted}.")
    if not np.isfinite(array).all():
        raise InputError(f"character: {name} has a number that is not finite.")
    return np.array(array)


# What it is made of


def _figure(figure: Figure, put) -> dict:
    return {
        "name": figure.name,
        "ground": figure.ground,
        "bones": [
            {
                "name": bone.name, "mass": bone.mass, "parent": bone.parent, "role": bone.role,
                "centre": put(bone.centre), "inertia": put(bone.inertia),
                "offset": put(bone.offset),
                "members": [
                    [to.describe_shape(shape, put), _plain(at), _plain(turned)]
                    for shape, at, turned in bone.members
                ],
                "range": None if bone.range is None else list(bone.range),
                "sole": None if bone.sole is None else put(np.asarray(bone.sole)),
            }
            for bone in figure.bones
        ],
    }  # fmt: skip


def _plain(vector) -> list:
    return np.asarray(vector, np.float64).tolist()


def _restored_figure(value: dict, get) -> Figure:
    bones = []
    for said in value["bones"]:
        members = [
            (to.restore_shape(shape, get), tuple(at), tuple(turned))
            for shape, at, turned in said["members"]
        ]
        arrays = {name: get(said[name]) for name in ("centre", "inertia", "offset")}
        sole = None if said["sole"] is None else get(said["sole"])
        bone = Bone(
            said["name"], said["mass"], **arrays, parent=said["parent"], members=members,
            role=str(said["role"]), range=said["range"], sole=sole,
        )  # fmt: skip
        for name, array in arrays.items():
            _keep_bits(bone, name, array, f"bone {bone.name}")
        bones.append(bone)
    return Figure(bones, value["name"], float(value["ground"]))


def _clip(clip: Clip, put) -> dict:
    return {
        "names": clip.names, "parents": clip.parents.tolist(), "dt": clip.dt, "name": clip.name,
        "unit": clip.unit, "channels": [list(c) for c in clip.channels],
        "ends": [[j, at.tolist()] for j, at in clip.ends],
    } | {name: put(getattr(clip, name)) for name in CLIP_ARRAYS}  # fmt: skip


def _restored_clip(value: dict, get) -> Clip:
    arrays = {name: get(value[name]) for name in CLIP_ARRAYS}
    clip = Clip(
        value["names"], value["parents"], dt=value["dt"], ends=value["ends"], name=value["name"],
        unit=value["unit"], channels=[tuple(c) for c in value["channels"]], **arrays,
    )  # fmt: skip
    for name, array in arrays.items():
        _keep_bits(clip, name, array, f"clip {clip.name}")
        getattr(clip, name).flags.writeable = False
    return clip


def _restored_torques(value: dict, get) -> Torques:
    names, feet = tuple(value["names"]), tuple(value["feet"])
    sizes = {"j": len(names), "f": len(feet), "n": len(get(value["times"]))}
    arrays = {}
    for name, form in ARRAYS.items():
        array = arrays[name] = np.array(get(value[name]))
        wanted = tuple(sizes[c] if c in sizes else int(c) for c in form)
        if array.shape != wanted or array.dtype != np.float64:
            raise InputError(f"torques: {name} has shape {array.shape}, must be {wanted}.")
    known = {field.name for field in fields(Torques)}
    scalars = {name: float(value[name]) for name in known - set(ARRAYS) - {"names", "feet"}}
    return Torques(names=names, feet=feet, **arrays, **scalars)


def _keep_bits(thing, name: str, saved: np.ndarray, who: str) -> None:
    """Give `thing` the array that was saved, if that is what its check made of it but for
    rounding."""
    made = getattr(thing, name)
    size = max(float(np.abs(saved).max(initial=0.0)), 1.0)
    if made.shape != saved.shape or not (np.abs(made - saved) <= ROUNDING * size).all():
        raise InputError(f"{who}: its {name} is not what it can be.")
    object.__setattr__(thing, name, np.array(saved))
