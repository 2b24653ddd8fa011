"""Scratch of the robots of a world, and its growth."""

from typing import Any

import numpy as np

from drystone.model.arrays import Model
from drystone.model.capacity import new_island, newton_work
from drystone.model.robot_arrays import Robots
from drystone.model.robot_scratch import RobotRows, RobotScratch, TiedProblem, new_robot_work
from drystone.model.robot_state import robot_sizes

# Problems of more blocks have no matrix: they are swept, see tied_sweep.py.
MOST_DENSE = 256


def row_blocks(robots: Robots, nodes: int) -> int:
    """Blocks beside contacts: those of joints, and of all that robots may demand in a step."""
    rows = robot_sizes(robots)["robot_impulse"]
    return nodes + (rows + 2) // 3 + len(robots.base)


def new_robot_scratch(model: Model, contacts: int = 0, nodes: int = 0) -> RobotScratch | None:
    """Scratch with capacity for so many contacts and blocks of joints; None without robots."""
    robots = model.robots
    if robots is None:
        return None
    f = np.zeros
    nv, nt, nq = len(robots.mass_first) - 1, len(robots.base), int(robots.model.first_q[-1])
    nl, rows = len(robots.body), robot_sizes(robots)["robot_impulse"]
    first = robots.model.first_v[robots.model.first_link]
    widest = max(6, int(np.diff(first).max(initial=0)))
    blocks = contacts + row_blocks(robots, nodes) + 4
    dense = min(blocks, MOST_DENSE)
    held = [
        3 * (b - a) + (d - c)
        for a, b, c, d in zip(
            robots.first_loop, robots.first_loop[1:], robots.first_couple, robots.first_couple[1:],
            strict=False,
        )
    ]  # fmt: skip
    most = max(held, default=0)

    def i(*shape):
        return np.zeros(shape, np.int32)

    return RobotScratch(
        tree=new_robot_work(robots.model),
        rows=RobotRows(
            i(nt + 1), i(rows), i(rows), i(rows, 2), f((rows, 2)), f(rows), f(rows), f(rows),
            f(rows), f(rows), f(rows),
        ),
        problem=TiedProblem(
            np.array([0, 0, 0, blocks], np.int64), i(blocks, 2), i(blocks, 2),
            np.zeros((blocks, 2), np.int64), i(blocks, 4), i(blocks), f(6 * widest * blocks),
            f(nv + 6 * len(robots.link)), f((blocks, 3)), f(blocks), f(blocks),
            f((blocks, 3)), i(blocks, 3), f((blocks, 3)), f(nv + 6 * len(robots.link)),
            f((blocks, 6)), f((blocks, 6)),
        ),
        island=new_island(blocks, dense * dense),
        newton=newton_work(blocks, 9 * dense * (dense + 2)),
        touched=i(nt), folded=i(len(robots.drive_kind)), pulled=f(len(robots.drive_kind)),
        unfold=i(nt), active=i(nt), free=f(nv), rate=f(nv), shift=f(nv), next_q=f(nq),
        integrated=i(nt), stood=np.full(nq, np.nan),
        mass=f(int(robots.mass_first[-1])), inverse=f(nv), root=f(nv), tau=f(nv), vector=f(nv),
        soft=f(nv), push=f((nl, 6)), stage=f((7, nq + nv + 1)),
        closing=f(most * (widest + most + 3)),
    )  # fmt: skip


def robot_scratch_of(model: Model, joint_work: Any) -> RobotScratch | None:
    """Scratch for a world that begins; `joint_work` as the world has it, or None."""
    return new_robot_scratch(model, 0, 0 if joint_work is None else len(joint_work.node_body))


def grown_scratch(model: Model, contacts: int, nodes: int) -> RobotScratch | None:
    """Scratch with room to spare for more than so many contacts."""
    return new_robot_scratch(model, int(1.5 * contacts) + 16, nodes)
