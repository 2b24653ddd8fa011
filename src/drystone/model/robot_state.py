"""What robots add to State and to the islands: sizes, and which bodies hang together.

A file of its own, for model/arrays.py, and with it every kernel, depends on it: `robots` is the
Robots of model/robot_arrays.py, or None.
"""

from typing import Any

import numpy as np

ROBOT_STATE = ("robot_q", "robot_v", "robot_tau", "robot_control", "robot_impulse")


def robot_sizes(robots: Any) -> dict[str, int]:
    """Lengths of the arrays of State that robots have."""
    if robots is None:
        return dict.fromkeys(ROBOT_STATE, 0)
    nv, drives = len(robots.model.dof_link), len(robots.drive_kind)
    rows = 3 * nv + drives + len(robots.couple) + 3 * len(robots.loop_link)
    return dict(
        zip(ROBOT_STATE, (int(robots.model.first_q[-1]), nv, nv, drives, rows), strict=True)
    )


def robot_bodies(robots: Any) -> np.ndarray:
    """(nt,) int32 a body of each robot, -1 where no link has one."""
    if robots is None:
        return np.zeros(0, np.int32)
    first = robots.model.first_link
    own = [robots.body[a:b][robots.body[a:b] >= 0] for a, b in zip(first, first[1:], strict=False)]
    return np.array([bodies[0] if len(bodies) else -1 for bodies in own], np.int32)


def joined_links(robots: Any) -> np.ndarray:
    """(k, 2) int32 the bodies of each robot paired with its first, which is paired with the world:
    so that a robot is an island, whatever it touches."""
    pairs = []
    if robots is not None:
        world, first = len(robots.link) - 1, robots.model.first_link
        for a, b in zip(first, first[1:], strict=False):
            own = robots.body[a:b][robots.body[a:b] >= 0]
            pairs += [(own[0], world if k == 0 else body) for k, body in enumerate(own)]
    return np.array(pairs, np.int32).reshape(-1, 2)
