"""Buffers of a step: allocation, and growth where a stage asks for more capacity."""

import numpy as np

from drystone.model.arrays import (
    CACHED_TRIANGLES,
    COUNTER_PAIRS,
    INFOS,
    LANE_NUMBERS,
    SWEPT_COLUMNS,
    Boxes,
    Ccd,
    ContactList,
    ContactRows,
    Graph,
    Log,
    Model,
    Motion,
    Near,
    State,
    Work,
    joined_bodies,
)
from drystone.model.island_arrays import Island, IslandWork, Links, NewtonWork
from drystone.model.robot_state import robot_bodies


def allocate(model: Model) -> Work:
    """Scratch for `model`; its capacity for pairs and contacts is zero at first."""
    n, ns = len(model.bodies.kind), len(model.shapes.kind)
    f, i = _floats, _integers
    buckets = 1 << max(4, int(2 * ns).bit_length())
    joined = joined_bodies(model)
    return Work(
        motion=Motion(
            rotation_matrix=f(n, 9), mass=f(n + 1, 7), force=f(n, 6), free=_lines(n + 1),
            twist=_lines(n + 1), move=_lines(n + 1), mean=f(n, 3), later=f(n, 3), scheme=i(n + 1),
            impact_time=f(n + 1), impact_displacement=f(n + 1, 6), impact_rotation=f(n + 1, 4),
            struck=f(n + 1), carried=f(n + 1),
            before=f(n + 1, 6), after=f(n + 1, 6),
        ),
        boxes=Boxes(
            pose=f(ns, 12), swept=f(ns, SWEPT_COLUMNS), reach=f(ns), spread=f(ns), aabb=f(ns, 6),
            escaped=np.zeros(ns // 64 + 1, np.int64), left=i(ns), seam_last=i(ns),
            cell=np.zeros((ns, 4), np.int64), bucket_first=i(buckets + 1), bucket_item=i(ns),
            pair_start=i(ns + 1), **_search_arrays(0),
        ),
        near=_near_arrays(0, 0),
        ccd=_ccd_arrays(n, ns),
        contact_list=_contact_list(0),
        graph=Graph(
            tally=np.zeros(4, np.int64), level=i(n), island=i(n), island_rest=f(n),
            island_impact=f(n), queue=i(n),
            link_start=i(n + 2), link=i(2 * len(joined)), joined=joined,
            robot_body=robot_bodies(model.robots), island_robot=i(n + 1), level_first=i(n + 2),
            level_island=i(n + 1),
        ),
        rows=new_contact_rows(0, n),
        island=island_work(n, -(-int(model.joints.row_first[-1]) // 3) + len(model.joints.kind)),
        log=Log(i(4), f(INFOS), f(5), np.zeros(12, np.uint64), np.zeros(0, np.uint64)),
    )  # fmt: skip


def _lines(rows: int) -> np.ndarray:
    """(rows, 8) floats, every row one line of the cache."""
    store = np.zeros(8 * rows + 8)
    first = -(store.ctypes.data // 8) % 8
    return store[first : first + 8 * rows].reshape(rows, 8)


def _floats(*shape: int) -> np.ndarray:
    return np.zeros(shape)


def _integers(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.int32)


def _search_arrays(m: int) -> dict:
    i = _integers
    return dict(found=i(m, 2), old_pair=i(m, 2), old_cached=i(m, 2), old_axis=_floats(m, 8))


def _near_arrays(pairs: int, slots: int) -> Near:
    i = _integers
    return Near(
        i(pairs), i(pairs + 1), i(pairs), i(pairs), _floats(slots, 7), _floats(pairs),
        cached_of=i(pairs, 3), cached_axis=_floats(pairs, 8),
        cached_triangle=i(pairs, 2 * CACHED_TRIANGLES),
        cached_gap=np.zeros((pairs, CACHED_TRIANGLES), np.float32),
        unresolved=i(pairs), given_up=i(pairs), seam_next=i(2 * pairs),
    )  # fmt: skip


def _ccd_arrays(n: int, ns: int) -> Ccd:
    f, i = _floats, _integers
    boxes = Boxes(
        pose=f(ns, 12), swept=f(0, SWEPT_COLUMNS), reach=f(0), spread=f(ns), aabb=f(0, 6),
        escaped=np.zeros(0, np.int64), left=i(0), seam_last=i(0),
        cell=np.zeros((0, 4), np.int64), bucket_first=i(0), bucket_item=i(0), pair_start=i(0),
        **_search_arrays(0),
    )  # fmt: skip
    near = _near_arrays(1, 16)
    return Ccd(boxes, near, i(1, 2), f(1, 8), f(n), i(n), i(n), f(n))


def _contact_list(m: int) -> ContactList:
    f, i = _floats, _integers
    return ContactList(f(m, 7), i(m, 2), i(m, 2), f(m, 3), f(m, 6), f(m, 3), i(m))


def new_contact_rows(m: int, n: int) -> ContactRows:
    """Buffers of up to `m` contacts between `n` bodies."""
    f, i = _floats, _integers
    batches = m // 2  # ROOM of constraints/lane_batches.py
    return ContactRows(
        body=i(m, 2), frame=f(m, 9), arm=f(m, 6), delassus=f(m, 6),
        inverse=f(m, 6), bias=f(m), friction=f(m), restitution=f(m),
        gap=f(m), skin=f(m),
        approach=f(m), speed=f(m), impulse=f(m, 3), push=f(m), impact_impulse=f(m, 3),
        round_impulse=f(m, 3),
        target=f(m), impact_list=i(m), bounce_list=i(m), toi=f(m), found_at=f(m), searches=i(m),
        previous=f(m, 3), previous_twist=f(n + 1, 8),
        slab_first=i(n + 2), slab_change=f(n + 2), slab_sums=f(n + 2, 16), slab_list=i(n + 2),
        run_first=i(n + 2), run_last=i(n + 2), group_first=i(n + 2), group_sweeps=i(n + 2),
        group_residual=f(n + 2), group_tolerance=f(n + 2), group_list=i(n + 2),
        group_linked=i(n + 2), flat=i(1), special=i(3), rolling=f(m, 2), torque=f(m, 3),
        surface=f(m, 3),
        lane_row=i(8 * batches), lane_body=i(16 * batches), lane_data=f(LANE_NUMBERS * batches),
        lane_even=i(batches), lane_fill=i(batches), lane_run=i(n + 2), lane_end=i(n + 2),
        lane_bits=np.zeros(n + 1, np.int64), lane_base=i(n + 1), lane_mass=f(n + 1, 8),
    )  # fmt: skip


def _grown(array: np.ndarray, capacity: int) -> np.ndarray:
    larger = np.zeros((max(capacity, len(array)), *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def grow_pairs(state: State, work: Work, wanted: int) -> tuple[State, Work]:
    """State and work with capacity for more than `wanted` pairs."""
    capacity = max(int(1.5 * wanted) + 64, len(state.pair))
    state = state._replace(
        pair=_grown(state.pair, capacity),
        pair_cached=_grown(state.pair_cached, capacity),
        pair_axis=_grown(state.pair_axis, capacity),
    )
    return state, work._replace(
        boxes=work.boxes._replace(**_search_arrays(capacity)),
        near=_near_arrays(capacity, len(work.near.slot)),
        graph=work.graph._replace(link=_integers(2 * capacity + 2 * len(work.graph.joined))),
    )


def grow_slots(work: Work, wanted: int) -> Work:
    """Work with capacity for more than `wanted` slots of the narrow phase."""
    return work._replace(near=work.near._replace(slot=_floats(int(1.5 * wanted) + 64, 7)))


def grow_contacts(state: State, work: Work, wanted: int) -> tuple[State, Work]:
    """State and work with capacity for more than `wanted` contacts."""
    capacity = max(int(1.5 * wanted) + 64, len(state.cached_point))
    state = state._replace(
        cached_point=_grown(state.cached_point, capacity),
        cached_impulse=_grown(state.cached_impulse, capacity),
    )
    bodies = len(state.position)
    return state, work._replace(
        contact_list=_contact_list(capacity), rows=new_contact_rows(capacity, bodies)
    )


# Capacity of the Newton solver within a step.
MOST_CONTACTS = 512  # of an island; more than that have a band too wide to be worth it

MOST_BLOCKS = 24 * MOST_CONTACTS

MOST_NUMBERS = 1_000_000  # of the factors, 8 MB

# Chains and trees of joints have narrow bands, however long they are.
JOINT_BLOCKS = 32  # for each block of rows of joints: neighbours

JOINT_NUMBERS = 300  # and numbers of the factors


def island_work(bodies: int, nodes: int = 0) -> IslandWork:
    """Scratch for islands of a world of so many bodies and blocks of three rows of joints."""
    n = min(MOST_CONTACTS, 64 * bodies) + nodes
    blocks = min(MOST_BLOCKS + JOINT_BLOCKS * nodes, n * n)

    def i(size):
        return np.zeros(size, np.int32)

    return IslandWork(
        Links(
            np.zeros((n, 2), np.int32), np.full(bodies + 1, -1, np.int32), i(2 * n + 1), i(2 * n),
            i(n), i(n + 1), i(blocks), i(n), i(n), np.zeros((n, 3)), np.zeros((n, 36)),
            np.zeros((n, 36)),
        ),
        new_island(n, blocks),
        newton_work(n, min(MOST_NUMBERS + JOINT_NUMBERS * nodes, 9 * n * (n + 1))),
    )  # fmt: skip


def new_island(n: int, blocks: int) -> Island:
    """Buffers of an island of up to `n` contacts and that many blocks."""
    return Island(
        first=np.zeros(n + 1, dtype=np.int32), column=np.zeros(blocks, dtype=np.int32),
        value=np.zeros((blocks, 9)), q=np.zeros((n, 3)), friction=np.zeros(n), scale=np.zeros(n),
        flat=np.zeros(n, dtype=np.bool_), joint=np.zeros(n, dtype=np.bool_),
        lower=np.zeros((n, 3)), upper=np.zeros((n, 3)), soft=np.zeros((n, 3)),
        own=np.ones((n, 3)), bounded=np.zeros(1, dtype=np.bool_),
    )  # fmt: skip


def newton_work(n: int, capacity: int) -> NewtonWork:
    return NewtonWork(
        centre=np.zeros((n, 3)), velocity=np.zeros((n, 3)), best=np.zeros((n, 3)),
        status=np.zeros(n, dtype=np.int32), free=np.zeros(n, dtype=np.int32),
        axis=np.zeros((n, 2)), drag=np.zeros(n),
        row=np.zeros(n + 1, dtype=np.int32), matrix=np.empty(capacity),
        low=np.zeros(3 * n, dtype=np.int32), high=np.zeros(3 * n, dtype=np.int32),
        at=np.zeros(3 * n, dtype=np.int32), y=np.zeros(3 * n),
    )  # fmt: skip


def for_new_work(state: State) -> State:
    """A copy without spare capacity for pairs.

    A stage asks for more if the state has too little; with capacity in the state but none in
    scratch that was just made, pairs would be lost.
    """
    count = int(state.counter[COUNTER_PAIRS])
    copy = State(*(array.copy() for array in state))
    return copy._replace(
        pair=copy.pair[:count].copy(),
        pair_cached=copy.pair_cached[:count].copy(),
        pair_axis=copy.pair_axis[:count].copy(),
    )
