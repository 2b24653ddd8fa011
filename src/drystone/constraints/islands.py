"""Islands of the contact graph, and an order of their contacts that cores can share.

Bodies that touch form islands. Within an island the bodies are numbered by levels: how many
contacts away they are from a body at its rim. A contact joins bodies of the same or of neighbouring
levels (level sets of the graph), so consecutive levels taken together as slabs are a colouring with
two colours: all even slabs can be swept at once, then all odd ones, and no body is written by two
of them; so can runs of slabs with one between each two (solvers/gauss_seidel/parallel_sweep.py).
The order does not depend on the number of threads.
"""

from drystone.constraints.joint_rows import list_rows
from drystone.constraints.lane_batches import forget_batches
from drystone.jit import inner_kernel, kernel
from drystone.jit.stage import stage
from drystone.model.arrays import FIXED, KINEMATIC

# Contacts per slab: enough work to hide the start of a parallel loop (about 1 microsecond),
# small enough that a pile of 1000 bodies has a dozen slabs of each colour.
SLAB_ROWS = 160

JOINED = -2  # an island with joints, while it has no group yet

# Counts that find_islands() leaves in graph.tally.
TALLY_LEVELS, TALLY_SLABS, TALLY_GROUPS, TALLY_ISLANDS = range(4)


@inner_kernel
def moves(b, kind):
    """Whether impulses change the velocity of body `b`."""
    return b != FIXED and kind[b] != KINEMATIC


@kernel
def _joined(j, side, joint_body, kind, asleep):
    """Body of joint `j` on that side if impulses move it now, else FIXED."""
    b = joint_body[j, side]
    if b == kind.shape[0] or kind[b] == KINEMATIC or asleep[b] == 1:
        return FIXED
    return b


@kernel
def _link_bodies(body, kind, pair, near, joint_body, asleep, graph, near_count):
    """Adjacency lists of the bodies over the pairs that touch and over joints."""
    start, link, level = graph.link_start, graph.link, graph.level
    n = kind.shape[0]
    for b in range(n + 1):
        start[b] = 0
    for b in range(n):
        level[b] = -2  # touches nothing
    for k in range(near_count):
        if near.slot_count[k] == 0:
            continue
        a, b = body[pair[near.pair[k], 0]], body[pair[near.pair[k], 1]]
        a_moves, b_moves = moves(a, kind), moves(b, kind)
        if a_moves:
            level[a] = -1  # to be visited
        if b_moves:
            level[b] = -1
        if a_moves and b_moves:
            start[a + 1] += 1
            start[b + 1] += 1
    for j in range(joint_body.shape[0]):
        a, b = _joined(j, 0, joint_body, kind, asleep), _joined(j, 1, joint_body, kind, asleep)
        if a != FIXED:
            level[a] = -1
        if b != FIXED:
            level[b] = -1
        if a != FIXED and b != FIXED:
            start[a + 1] += 1
            start[b + 1] += 1
    for b in range(n):
        start[b + 1] += start[b]
    total = start[n]
    for j in range(joint_body.shape[0] - 1, -1, -1):
        a, b = _joined(j, 0, joint_body, kind, asleep), _joined(j, 1, joint_body, kind, asleep)
        if a != FIXED and b != FIXED:
            start[a + 1] -= 1
            link[start[a + 1]] = b
            start[b + 1] -= 1
            link[start[b + 1]] = a
    for k in range(near_count - 1, -1, -1):
        if near.slot_count[k] == 0:
            continue
        a, b = body[pair[near.pair[k], 0]], body[pair[near.pair[k], 1]]
        if moves(a, kind) and moves(b, kind):
            start[a + 1] -= 1
            link[start[a + 1]] = b
            start[b + 1] -= 1
            link[start[b + 1]] = a
    # start[b + 1] now is the first link of b; its last is the first of b + 1.
    return total


@kernel
def _first_link(b, start):
    return start[b + 1]


@kernel
def _last_link(b, start, n, total):
    return start[b + 2] if b + 1 < n else total


@kernel
def _visit(root, first_level, island, start, link, total, queue, at, level, island_of):
    """Breadth-first from `root`; returns the end of the queue and the last level used."""
    n = level.shape[0]
    queue[at] = root
    level[root] = first_level
    island_of[root] = island
    head, tail = at, at + 1
    while head < tail:
        b = queue[head]
        head += 1
        for i in range(_first_link(b, start), _last_link(b, start, n, total)):
            other = link[i]
            if level[other] == -1:
                level[other] = level[b] + 1
                island_of[other] = island
                queue[tail] = other
                tail += 1
    return tail, level[queue[tail - 1]]


@stage
def find_islands(body, kind, pair, near, joint_body, asleep, graph, near_count):
    """Island and level of every body that touches something; counts go to graph.tally."""
    n = kind.shape[0]
    total = _link_bodies(body, kind, pair, near, joint_body, asleep, graph, near_count)
    start, link, queue, level = graph.link_start, graph.link, graph.queue, graph.level
    for b in range(n):
        graph.island[b] = -1
    at, levels, islands = 0, 0, 0
    for root in range(n):
        if level[root] != -1:
            continue
        end, last = _visit(
            root, levels, islands, start, link, total, queue, at, level, graph.island
        )
        if end - at > 32:
            # Start again at the body farthest away: more levels, hence more slabs.
            far = queue[end - 1]
            for i in range(at, end):
                level[queue[i]] = -1
            end, last = _visit(
                far, levels, islands, start, link, total, queue, at, level, graph.island
            )
        at, levels, islands = end, last + 1, islands + 1
    graph.tally[TALLY_LEVELS] = levels
    graph.tally[TALLY_ISLANDS] = islands


@kernel
def _level_of_pair(p, body, kind, pair, level):
    a, b = body[pair[p, 0]], body[pair[p, 1]]
    if not moves(a, kind):
        return level[b]
    if not moves(b, kind):
        return level[a]
    return min(level[a], level[b])


@stage
def order_contacts(body, kind, pair, near, graph, joint_work, row_contact, rows, near_count):
    """Sort contacts by level into row_contact; cut the rows into slabs and groups of slabs.

    A group is one large island, one with joints, or several small ones that fit in a single slab.
    """
    levels = graph.tally[TALLY_LEVELS]
    first = graph.level_first
    for i in range(levels + 1):
        first[i] = 0
    for k in range(near_count):
        if near.slot_count[k] > 0:
            at = _level_of_pair(near.pair[k], body, kind, pair, graph.level)
            first[at + 1] += near.slot_count[k]
    for i in range(levels):
        first[i + 1] += first[i]
    _find_robots(graph)
    _find_joined(graph, joint_work)
    _cut_slabs(graph, joint_work, rows, levels)
    forget_batches(graph.tally[TALLY_SLABS], rows)
    _list_nodes(graph, joint_work)
    for k in range(near_count):
        if near.slot_count[k] > 0:
            at = _level_of_pair(near.pair[k], body, kind, pair, graph.level)
            for i in range(near.slot_count[k]):
                row_contact[first[at]] = near.contact_first[k] + i
                first[at] += 1


@kernel
def _find_robots(graph):
    """Flag the islands with robots: solvers/reduced solves them, joints and all."""
    for i in range(graph.tally[TALLY_ISLANDS]):
        graph.island_robot[i] = -1
    for t in range(graph.robot_body.shape[0]):
        b = graph.robot_body[t]
        if b >= 0 and graph.island[b] >= 0:
            graph.island_robot[graph.island[b]] = JOINED


@kernel
def _node_island(node, graph, joint_work):
    """Island of a block of joints, -1 if its bodies sleep or it has robots."""
    for side in range(2):
        b = joint_work.node_body[node, side]
        if b < graph.island.shape[0] and graph.island[b] >= 0:
            i = graph.island[b]
            return i if graph.island_robot[i] == -1 else -1
    return -1


@kernel
def _find_joined(graph, joint_work):
    """Flag the islands with joints."""
    if joint_work is None:
        return
    for i in range(graph.tally[TALLY_ISLANDS]):
        joint_work.island_group[i] = -1
    for node in range(joint_work.node_body.shape[0]):
        i = _node_island(node, graph, joint_work)
        if i >= 0:
            joint_work.island_group[i] = JOINED


@kernel
def _is_joined(island, graph, joint_work):
    if graph.island_robot[island] != -1:
        return True
    if joint_work is None:
        return False
    return joint_work.island_group[island] == JOINED


@kernel
def _claim(island, group, graph, joint_work):
    """Give an island with joints or robots its group: 1 for joints, 2 for robots, 0 for neither."""
    if graph.island_robot[island] == JOINED:
        graph.island_robot[island] = group
        return 2
    if joint_work is None:
        return 0
    joined = joint_work.island_group[island] == JOINED
    if joined:
        joint_work.island_group[island] = group
    return 1 if joined else 0


@kernel
def _list_nodes(graph, joint_work):
    """Blocks of joints, sorted by group."""
    if joint_work is None:
        return
    first = joint_work.group_node
    for g in range(first.shape[0]):
        first[g] = 0
    for node in range(joint_work.node_body.shape[0]):
        i = _node_island(node, graph, joint_work)
        if i >= 0:
            first[joint_work.island_group[i] + 1] += 1
    for g in range(graph.tally[TALLY_GROUPS]):
        first[g + 1] += first[g]
    for node in range(joint_work.node_body.shape[0] - 1, -1, -1):
        i = _node_island(node, graph, joint_work)
        if i >= 0:
            first[joint_work.island_group[i] + 1] -= 1
            joint_work.node_list[first[joint_work.island_group[i] + 1]] = node
    # first[g + 1] now is the first block of group g
    for g in range(graph.tally[TALLY_GROUPS]):
        first[g] = first[g + 1]
    total = 0
    for node in range(joint_work.node_body.shape[0]):
        total += 1 if _node_island(node, graph, joint_work) >= 0 else 0
    first[graph.tally[TALLY_GROUPS]] = total
    list_rows(joint_work, total)


@kernel
def _cut_slabs(graph, joint_work, rows, levels):
    """Slabs of at least SLAB_ROWS rows; the levels of a large island share no slab with others."""
    first, slab_first, group_first = graph.level_first, rows.slab_first, rows.group_first
    level_island = graph.level_island
    for i in range(levels):
        level_island[i] = -1
    for b in range(graph.level.shape[0]):
        if graph.level[b] >= 0:
            level_island[graph.level[b]] = graph.island[b]
    slabs, groups, i = 0, 0, 0
    while i < levels:
        end = i  # the island that starts at level i ends before level `end`
        while end < levels and level_island[end] == level_island[i]:
            end += 1
        linked = _claim(level_island[i], groups, graph, joint_work)
        rows.group_linked[groups] = linked
        if linked > 0:
            group_first[groups] = slabs
            slab_first[slabs] = first[i]
            slabs += 1
            i = end
        elif first[end] - first[i] > 2 * SLAB_ROWS:
            group_first[groups] = slabs
            while i < end:
                slab_first[slabs] = first[i]
                last = i + 1
                while last < end and first[last] - first[i] < SLAB_ROWS:
                    last += 1
                if first[end] - first[last] < SLAB_ROWS // 2:
                    last = end
                slabs += 1
                i = last
        else:
            group_first[groups] = slabs
            slab_first[slabs] = first[i]
            slabs += 1
            begin = i
            i = end
            while i < levels:
                end = i
                while end < levels and level_island[end] == level_island[i]:
                    end += 1
                if (
                    _is_joined(level_island[i], graph, joint_work)
                    or first[end] - first[begin] > SLAB_ROWS
                ):
                    break
                i = end
        groups += 1
    slab_first[slabs] = first[levels]
    group_first[groups] = slabs
    graph.tally[TALLY_SLABS] = slabs
    graph.tally[TALLY_GROUPS] = groups
