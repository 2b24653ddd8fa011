"""What is suspicious about the joints of a world, before it runs."""

from math import inf, isfinite, pi, radians

import numpy as np

from drystone.constraints.joints.drives import Servo
from drystone.constraints.joints.fill_rows import fill_joint_rows
from drystone.model.attachment import is_world
from drystone.model.finding import Finding
from drystone.model.joint_arrays import COORDINATES, ROW_EQUALITY, ROW_LIMIT, joint_rows

LONG_ARM = 10.0  # sizes of a body that its joint may be away; a crane's load is nearer
APART = (
    1e-4  # [m], [rad] of position error that a joint may have: coordinates typed with four digits
)
BEYOND = 1e-6  # [m], [rad] beyond a limit that is more than rounding


def far_joints(world):
    """Points far away from the bodies that they are fixed to."""
    radius = world._build.model.bodies.radius
    for joint in world.joints:
        for body, anchor in zip(joint.bodies, joint.attachment.anchors, strict=True):
            if body is None:
                continue
            size = 2.0 * float(radius[body.index])
            arm = float(np.linalg.norm(np.subtract(anchor, body._frame.offset)))
            if arm > LONG_ARM * size:
                yield Finding(
                    "warning",
                    name_of(joint),
                    f"has its point {arm:.3g} m from {body.name}, which is {size:.3g} m large.",
                    "Points of joints are in world coordinates, not in those of the body.",
                )


def degrees(world):
    """Limits of angles that look as if they were degrees: round numbers beyond a revolution."""
    for joint in world.joints:
        for is_angle, coordinate in zip(joint._angles, joint._coordinates(), strict=False):
            far = [x for x in coordinate.limits if isfinite(x) and abs(x) > 2.0 * pi]
            if is_angle and far and all(x == round(x) for x in far):
                yield Finding(
                    "warning",
                    name_of(joint),
                    f"has a limit of {far[0]:g} rad, which is {far[0] / (2 * pi):.3g} revolutions.",
                    f"Limits are in radians: np.radians({far[0]:g}) is {radians(far[0]):.4g}.",
                )


def poses(world):
    """Joints with a position error, or beyond their limits, as the bodies stand now."""
    table, state = world._build.model.joints, world._state
    if not len(table.kind):
        return
    rows = joint_rows(table)
    rows.value[:] = state.joint_value
    fill_joint_rows(table, state.position, state.rotation, world.dt, rows)
    for j, joint in enumerate(world._build.joints):
        mine = slice(table.row_first[j], table.row_first[j + 1])
        kind, error = rows.kind[mine], rows.error[mine]
        held = np.abs(error[kind == ROW_EQUALITY]).max(initial=0.0)
        over = -error[kind == ROW_LIMIT].min(initial=0.0)
        if held > APART:
            yield Finding(
                "warning",
                name_of(joint),
                f"misses by {held:.3g} (m or rad): a body was moved since the joint was made.",
                "Make the joint after the bodies are where they belong.",
            )
        if over > BEYOND:
            yield Finding(
                "warning",
                name_of(joint),
                f"starts {over:.3g} (m or rad) beyond its limits, and will be pushed back.",
                "Coordinates are zero where the joint was made; change limits or pose.",
            )


def targets(world):
    """Servos that pull to where a limit does not let them."""
    for joint in world.joints:
        for k, coordinate in enumerate(joint._coordinates()[:COORDINATES]):
            (lower, upper), drive = coordinate.limits, coordinate.drive
            if (lower, upper) == (-inf, inf) or not isinstance(drive, Servo):
                continue
            if len(joint._measures) > k and not lower <= drive.target <= upper:
                yield Finding(
                    "hint",
                    name_of(joint),
                    f"has a servo with the target {drive.target:g} outside its limits "
                    f"({lower:g}, {upper:g}).",
                    "It presses against the limit for ever; change the target if it should not.",
                )


def removed(world):
    """Joints that hold on to a fixed thing that is no longer there."""
    for joint in world.joints:
        for side in (joint.a, joint.b):
            if side is not None and side._world is None:
                yield Finding(
                    "warning",
                    name_of(joint),
                    f"holds on to {side.name}, which was removed: it stays fixed to that place.",
                    "Remove the joint too, or give None for the fixed world.",
                )


def joined_pairs(world) -> set[tuple[int, int]]:
    """Rows of the bodies that a joint holds together, lower first."""
    pairs = set()
    for joint in world.joints:
        a, b = joint.bodies
        if a is not None and b is not None:
            pairs.add(tuple(sorted((a.index, b.index))))
    return pairs


def held_bodies(world) -> set:
    """Bodies that hang on the fixed world or on kinematic ones, by one joint or several."""
    links = [joint.bodies for joint in world.joints]
    held = {body for body in world.bodies if body.kinematic}
    count = -1
    while len(held) > count:
        count = len(held)
        for a, b in links:
            if a is None or b is None or a in held or b in held:
                held |= {body for body in (a, b) if body is not None}
    return held


def name_of(joint) -> str:
    """Such as: Hinge of door and the fixed world."""
    names = [_side(side) for side in (joint.a, joint.b)]
    return f"{type(joint).__name__} of {names[0]} and {names[1]}"


def _side(body) -> str:
    if body is None:
        return "the fixed world"
    return body.name if not is_world(body) or body._world is not None else "the fixed world"
