"""What a world does with joints: add, remove, change and read them."""

from math import inf

import numpy as np

from drystone.constraints.joint_rows import new_joint_work
from drystone.constraints.joints.joint import Joint, NamedJoint
from drystone.constraints.joints.pack import drive_values, write_values
from drystone.constraints.last_step import parts_of
from drystone.errors import InputError
from drystone.model.checks import flag, shown
from drystone.model.joint_arrays import DRIVE_POSITION, SPRING, JointRows
from drystone.solvers.articulated.solve_islands import fill_joint_rows
from drystone.solvers.supported_features import require_features
from drystone.world import build
from drystone.world.new_bodies import check_owned


def add_joint(world, joint, collide: bool):
    """Put `joint` into `world`; bodies may have been given to it by their names."""
    if isinstance(joint, NamedJoint):
        joint = joint.between(world.__getitem__)
    _check_joint(joint, "add_joint")
    collide = flag("add_joint: collide", collide)
    if joint._world is not None:
        raise InputError(f"add_joint: this {type(joint).__name__} is in a world already.")
    for body in joint.bodies:
        if body is not None:
            check_owned(world, body, "add_joint")
    if world._space.joint_kind:
        world._space.joint_kind(joint)  # refuses what there is not in two dimensions
    require_features(features_of(joint), world._solver)
    world._note("add_joint", [joint, collide])
    world._joints[joint] = collide
    object.__setattr__(joint, "_world", world)
    _touch(world, joint)
    return joint


def remove_joint(world, joint) -> None:
    _own_joint(world, joint, "remove")
    world._note("remove_joint", list(world._joints).index(joint))
    _touch(world, joint)
    del world._joints[joint]
    object.__setattr__(joint, "_world", None)


def remove_joints_of(world, body) -> None:
    """Joints go with the bodies that they hold."""
    for joint in [joint for joint in world._joints if body in joint.bodies]:
        remove_joint(world, joint)


def joint_changed(world, joint) -> None:
    """After joint.set(): the tables are made anew, and its bodies wake."""
    _own_joint(world, joint, "joint_changed")
    written = _rewrite(world, joint)
    if not written:
        require_features(features_of(joint), world._solver)
    if world._recorder is not None:
        world._note("set_joint", [list(world._joints).index(joint), joint])
    world._inputs = object()
    if not written:
        _touch(world, joint)


def _rewrite(world, joint) -> bool:
    """Write new settings of `joint` into the tables of a world, in microseconds; False if they ask
    for other rows, or for another treatment of its tree."""
    if world._stale or world._state is None or world._joint_work is None:
        return False
    built, work = world._build, world._joint_work
    joints, j = built.model.joints, _number(built, joint)
    coordinates, kind = joint._coordinates(), world._space.joint_kind
    rows = kind(joint)[1] if kind else joint._held_rows + sum(c.row_count() for c in coordinates)
    if rows != joints.row_first[j + 1] - joints.row_first[j]:
        return False
    if _treatment(joints, j, len(coordinates)) != [_treated(c) for c in coordinates]:
        return False
    write_values(joints, j, coordinates, joint._numbers())
    work.filled[j] = np.nan  # its rows are filled anew
    if world._state.asleep.any():
        for body in joint.bodies:
            if body is not None:
                build.wake_around(built, world._state, body._number)
    return True


def _number(built, joint) -> int:
    """Place of `joint` in the tables; a dictionary beside them, since lists are searched slowly."""
    numbers = built.__dict__.get("joint_number")
    if numbers is None:
        numbers = {id(known): j for j, known in enumerate(built.joints)}
        built.__dict__["joint_number"] = numbers
    return numbers[id(joint)]


def _treatment(joints, j: int, count: int) -> list[tuple]:
    """What of its `count` coordinates decides how constraints/kinematic_trees.py takes its tree."""
    mode, friction = joints.drive_mode[j].tolist(), joints.friction[j].tolist()
    bound, limit = joints.drive[j, :, 3].tolist(), joints.limit[j].tolist()
    return [
        (mode[k], bound[k] < inf, friction[k] > 0.0, limit[k][0] == limit[k][1])
        for k in range(count)
    ]


def _treated(coordinate) -> tuple:
    """The same of a coordinate as the user gave it."""
    mode, values = drive_values(coordinate.drive)
    lower, upper = coordinate.limits
    return mode, values[3] < inf, coordinate.friction > 0.0, lower == upper


def features_of(joint) -> tuple[str, ...]:
    """What a solver must be able to do for `joint`."""
    bounded = any(coordinate.row_count() for coordinate in joint._coordinates())
    return ("joints", "limits") if bounded else ("joints",)


def rows_of(world, joint) -> JointRows:
    """Copies of the rows of `joint` in the last step; of one taken in parts, of the last of them,
    as if its forces acted over the whole step."""
    j, lo, hi = _span(world, joint)
    rows = world._joint_work.rows
    mine = {name: np.array(array[lo:hi]) for name, array in rows._asdict().items()}
    mine["impulse"] *= parts_of(world._work)
    return JointRows(**mine | {"value": rows.value[j : j + 1].copy()})


def values_of(world, joint) -> np.ndarray:
    _own_joint(world, joint, "joint_values")
    world._synced()
    return world._state.joint_value[world._build.joints.index(joint)].copy()


def potential(world) -> float:
    """Energy that spring-dampers and servos hold, half their stiffness times offset squared [J]."""
    joints = world._build.model.joints
    if not ((joints.kind == SPRING).any() or (joints.drive_mode == DRIVE_POSITION).any()):
        return 0.0
    scratch = new_joint_work(joints, world._build.model.bodies)
    fill_joint_rows(scratch, joints, world._state, world._settings)
    rows = scratch.rows
    offset, stiffness, _ = rows.spring[rows.softness > 0.0].T
    return float(0.5 * stiffness @ offset**2)


def _span(world, joint) -> tuple[int, int, int]:
    """Number of `joint` in the arrays, its first row and the one after its last."""
    _own_joint(world, joint, "read")
    built = world._synced()
    first = built.model.joints.row_first
    j = built.joints.index(joint)
    return j, int(first[j]), int(first[j + 1])


def _check_joint(joint, verb: str) -> None:
    if not isinstance(joint, Joint):
        raise InputError(f"{verb}: {shown(joint)} is no joint; give a Ball, Hinge, Slider, ...")


def _own_joint(world, joint, verb) -> None:
    _check_joint(joint, verb)
    if joint not in world._joints:
        raise InputError(f"{verb}: this {type(joint).__name__} is not in this world.")


def _touch(world, joint) -> None:
    """The tables no longer hold; the bodies of `joint` wake."""
    if world._state is not None and not world._stale:
        for body in joint.bodies:
            if body is not None:
                build.wake_around(world._build, world._state, body._number)
    elif world._state is not None:
        build.wake_all(world._state)
    world._stale = True
