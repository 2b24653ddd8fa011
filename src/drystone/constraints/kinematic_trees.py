"""Kinematic trees of joints for the articulated body algorithm [Featherstone1983], and its scratch.

Joints connect bodies that move. Where they close no loop they are a spanning tree: every body hangs
on another one, or on the fixed world, by one joint: body `child` on body `parent`. The order in
which solvers/articulated/articulated_body.py takes them is found once for a set of joints. Joints
in loops, and of kinds that hold more than a point and directions, have no tree.
"""

from typing import NamedTuple

import numpy as np

from drystone.constraints.joints.fill_rows import JOINTS
from drystone.jit.table import table
from drystone.model.joint_arrays import DRIVE_POSITION, DRIVE_SPEED, Joints

# Rows that hold a point, rows that hold directions, and free rotations of each kind that can be
# eliminated; in two dimensions, and in both.
_FLAT_FORMS = [joint._flat for joint in JOINTS if joint._flat is not None]
FLAT_ELIMINATED = {flat.kind: flat.tree for flat in _FLAT_FORMS if flat.tree is not None}
ELIMINATED = FLAT_ELIMINATED | {
    joint._kind: joint._tree for joint in JOINTS if joint._tree is not None
}

MOST_BLOCKS = 64  # contacts and blocks of rows of joints of an island that
# solvers/articulated/tree_delassus.py takes
MOST_MOTIONS = 192  # free motions of all its bodies


@table
class KinematicTrees(NamedTuple):
    """Trees of joints. Vectors of six are linear, then angular."""

    tree: np.ndarray  # (nj,) int32: tree of each joint, -1: none
    first: np.ndarray  # (trees + 1,) int32: joints of each tree
    joint: np.ndarray  # (nj,) int32: from the root outwards
    child: np.ndarray  # (nj,) int32: body that hangs on the joint
    parent: np.ndarray  # (nj,) int32: body that it hangs on
    root: np.ndarray  # (trees,) int32: body on which all others hang, -1: it does not move
    up: np.ndarray  # (n + 1,) int32: joint on which a body hangs, -1: none
    held: np.ndarray  # (nj, 3) int32: numbers of ELIMINATED
    plain: np.ndarray  # (trees,) int32: 1 if no drive or friction of its joints has a bound
    driven: np.ndarray  # (trees,) int32: 1 if it has drives
    # what elimination leaves
    ready: np.ndarray  # (trees,) int32: 1 if it holds for the poses, without drives
    lever: np.ndarray  # (nj, 3) from the child to the parent: arm of this less arm of that [m]
    arm: np.ndarray  # (nj, 3) from the child to the point [m]
    dual: np.ndarray  # (nj, 9) spins that only one of the held directions sees
    step: np.ndarray  # (nj, 18) free motions of the child, of unit inertia
    seen: np.ndarray  # (nj, 18) momenta of these
    inertia: np.ndarray  # (n + 1, 21) of a body with all that hangs on it, see
    #                        solvers/articulated/articulated_body.py
    root_factor: np.ndarray  # (trees, 21)
    # of one right side
    flow: np.ndarray  # (n + 1, 6) impulse on a body with all that hangs on it, then its velocity
    offset: np.ndarray  # (nj, 6) velocity of the child that the joint asks for [m/s, rad/s]
    rate: np.ndarray  # (nj, 3) of the free motions
    # of one island, see solvers/articulated/tree_delassus.py
    member: np.ndarray  # (n + 1,) int32: tree of a body, -1: none
    place: np.ndarray  # (nj,) int32: first of its free motions among those of the tree
    width: np.ndarray  # (trees,) int32: number of these, with six of a root that moves
    base: np.ndarray  # (trees,) int32: first of them among those of the island
    alone: np.ndarray  # (n + 1,) int32: first of six motions of a body without joints
    listed: np.ndarray  # (trees,) int32: trees of the island
    # (5,) int32: how many; 1 + the group whose W stands, its contacts and blocks, its motions,
    # its rows in `block`
    count: np.ndarray
    acts: np.ndarray  # (rows,) int32: 1 if a row with a bound may act
    block: np.ndarray  # (MOST_BLOCKS, 3) int32: such rows, behind the contacts; -1: none
    zeta: np.ndarray  # (3 MOST_BLOCKS, MOST_MOTIONS) Z
    motion: np.ndarray  # (MOST_MOTIONS,) int32: those that a block drives
    half: np.ndarray  # (6,)


def build_trees(joints: Joints, bodies) -> KinematicTrees:
    """The trees of `joints`; bodies is arrays.Bodies."""
    n, count = len(bodies.inv_mass), len(joints.kind)
    found = _find_trees(joints, bodies)
    f, i = np.zeros, np.int32
    trees = KinematicTrees(
        tree=np.full(count, -1, i), first=f(len(found) + 1, i), joint=f(count, i),
        child=np.full(count, -1, i), parent=np.full(count, -1, i), root=np.full(len(found), -1, i),
        up=np.full(n + 1, -1, i), held=f((count, 3), i), plain=np.ones(len(found), i),
        driven=f(len(found), i), ready=f(len(found), i), lever=f((count, 3)), arm=f((count, 3)),
        dual=f((count, 9)), step=f((count, 18)), seen=f((count, 18)), inertia=f((n + 1, 21)),
        root_factor=f((len(found), 21)), flow=f((n + 1, 6)), offset=f((count, 6)),
        rate=f((count, 3)), member=np.full(n + 1, -1, i), place=f(count, i),
        width=f(len(found), i), base=f(len(found), i), alone=f(n + 1, i), listed=f(len(found), i),
        count=f(5, i), acts=f(int(joints.row_first[-1]), i), block=f((MOST_BLOCKS, 3), i),
        zeta=f((3 * MOST_BLOCKS, MOST_MOTIONS)), motion=f(MOST_MOTIONS, i), half=f(6),
    )  # fmt: skip
    for t, (root, edges) in enumerate(found):
        trees.root[t] = root
        if root >= 0:
            trees.member[root] = t
        trees.first[t + 1] = trees.first[t] + len(edges)
        for k, (j, child, parent) in enumerate(edges):
            trees.tree[j], trees.joint[trees.first[t] + k] = t, j
            trees.child[j], trees.parent[j], trees.up[child] = child, parent, j
            trees.held[j] = ELIMINATED[int(joints.kind[j])]
            trees.member[child] = t
            trees.place[j] = trees.width[t]
            trees.width[t] += trees.held[j, 2]
            trees.plain[t] &= not _is_bounded(joints, j)
            trees.driven[t] |= bool((joints.drive_mode[j] == DRIVE_POSITION).any())
        trees.width[t] += 6 if root >= 0 else 0
    return trees


def _is_bounded(joints, j) -> bool:
    """Whether a drive or friction of joint `j` is more than a spring and damper."""
    mode, bound = joints.drive_mode[j], joints.drive[j, :, 3]
    servo = mode == DRIVE_POSITION
    return bool(
        (joints.friction[j] > 0.0).any() or (mode == DRIVE_SPEED).any()
        or np.isfinite(bound[servo]).any()
    )  # fmt: skip


def _find_trees(joints, bodies) -> list:
    """(root, [(joint, child, parent), ...]) of every set of joints without a loop."""
    n = len(bodies.inv_mass)
    moves = [*(m > 0.0 for m in bodies.inv_mass), False]
    at = [[] for _ in range(n + 1)]  # joints of each body that moves
    for j, pair in enumerate(joints.body):
        for b in pair:
            if moves[b]:
                at[b].append(j)
    trees, done = [], [False] * n
    for start in range(n):
        if done[start] or not at[start]:
            continue
        members, links = _gather(start, joints, moves, at)
        for b in members:
            done[b] = True
        held = [j for j in links if not all(moves[b] for b in joints.body[j])]
        # Each body hangs on one joint but for the root; one that stands still is no body.
        loop = len(links) != len(members) - 1 + len(held) or len(held) > 1
        if not loop and _can_eliminate(links, members, joints, bodies):
            trees.append(_grow(members, held, joints, moves, at))
    return trees


def _gather(start, joints, moves, at) -> tuple[list[int], list[int]]:
    """Bodies and joints that are connected with body `start`."""
    members, links, seen = [start], {}, {start}
    for b in members:
        for j in at[b]:
            links[j] = None
            for c in map(int, joints.body[j]):
                if moves[c] and c not in seen:
                    seen.add(c)
                    members.append(c)
    return members, list(links)


def _can_eliminate(links, members, joints, bodies) -> bool:
    """Kinds that hold a point and directions; inertia about every axis of rotation."""
    lower, upper = joints.limit[links, :, 0], joints.limit[links, :, 1]
    if any(int(joints.kind[j]) not in ELIMINATED for j in links) or (lower == upper).any():
        return False  # a range of no width holds, too
    flat = int(joints.kind[links[0]]) in FLAT_ELIMINATED
    return bool((bodies.inv_inertia[members][:, [1] if flat else [0, 1, 2]] > 0.0).all())


def _grow(members, held, joints, moves, at) -> tuple[int, list]:
    """Root and joints from there outwards."""
    edges, root = [], -1
    if held:
        a, b = (int(c) for c in joints.body[held[0]])
        child, parent = (a, b) if moves[a] else (b, a)
        edges.append((held[0], child, parent))
        reached = [child]
    else:
        root = max(members, key=lambda b: len(at[b]))
        reached = [root]
    used = set(held)
    for b in reached:
        for j in at[b]:
            if j not in used:
                used.add(j)
                other = int(joints.body[j, 1] if joints.body[j, 0] == b else joints.body[j, 0])
                edges.append((j, other, b))
                reached.append(other)
    return root, edges
