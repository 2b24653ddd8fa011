"""drystone robot FILE: the tree of a robot, masses, degrees of freedom, what was ignored."""

from pathlib import Path

import numpy as np

from drystone.world.robots.robot import Robot


def describe(robot: Robot) -> list[str]:
    """Lines of the tree and what belongs to it."""
    lines = [
        f"{robot.name}: {len(robot.links)} links, {robot.nv} degrees of freedom, "
        f"{robot.mass:.6g} kg, {len(robot.actuators)} actuators, {len(robot.loops)} loops"
    ]
    depth = {None: -1}
    for link, joint in zip(robot.links, robot.joints, strict=True):
        depth[link.name] = depth[joint.parent] + 1
        low, high = joint.limits
        limits = f" [{low:.4g}, {high:.4g}]" if np.isfinite([low, high]).any() else ""
        shapes = f", {len(link.shapes)} shape(s)" if link.shapes else ""
        mimic = f", follows {joint.mimic[0]}" if joint.mimic else ""
        lines.append(
            f"{'  ' * depth[link.name]}{link.name}  ({joint.kind} {joint.name}{limits}{mimic}; "
            f"{link.mass:.6g} kg{shapes})"
        )
    lines += [
        f"actuator {a.name}: {a.kind} on {a.joint}"
        + (f", at most {a.max_force:.4g}" if a.max_force is not None else "")
        for a in robot.actuators
    ]
    lines += [f"keyframe {name}" for name in robot.keyframes]
    lines += [f"not honoured: {line}" for line in robot.ignored]
    return lines


def draw(robot: Robot, picture: Path) -> None:
    """A picture of the robot as it was described."""
    from drystone.world.io import render
    from drystone.world.world import World

    world = World(sleeping=False)
    world.add_robot(robot)
    render.draw(world, picture)
