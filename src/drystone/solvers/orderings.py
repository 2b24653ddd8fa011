"""Orderings of the rows of projected Gauss-Seidel: the heuristics of NEWTON (WSCG paper) 5.

A contact has three rows: normal, tangent 1, tangent 2. An ordering is a permutation of them,
made once before the first iteration from what is then known:

    none                  as the contacts come
    impulse-propagation   contacts by their normal velocity, the fastest approach first
    coordinate            contacts by their place along an axis; "-y", the paper's best, descends
    greedy-staggered      normals or tangents, whichever set is more wrong, in each iteration anew
    extreme-staggered     normals and tangents alternately, one set per iteration: eq. 19 to 21

Three rows of one contact stay together and its normal comes first, so that the friction bounds are
those of this visit. The staggered ones list all normals, then all tangents; which of the two an
iteration visits is decided in pgs.py.
"""

import numpy as np
import scipy.sparse

from drystone.errors import UnsupportedFeature

ORDERINGS = (
    "none", "impulse-propagation", "coordinate", "greedy-staggered", "extreme-staggered",
)  # fmt: skip
STAGGERED = ("greedy-staggered", "extreme-staggered")
AXES = ("x", "y", "z", "-x", "-y", "-z")


def visiting_order(problem, impulse, ordering: str, axis: str = "-y") -> np.ndarray:
    """(3 nc,) int32: every row once, in the order in which a sweep visits them."""
    contacts = np.arange(problem.contact_count)
    if ordering == "impulse-propagation":
        contacts = np.argsort(problem.velocity(impulse)[:, 0], kind="stable")
    elif ordering == "coordinate":
        place = contact_places(problem)[:, "xyz".index(axis[-1])]
        contacts = np.argsort(-place if axis[0] == "-" else place, kind="stable")
    rows = 3 * contacts[:, None] + np.arange(3)
    if ordering in STAGGERED:
        rows = np.concatenate((rows[:, 0], rows[:, 1:].ravel()))
    return rows.ravel().astype(np.int32)


def contact_places(problem) -> np.ndarray:
    """(nc, 3) points of the contacts [m], each relative to some point of its own island.

    A problem knows the arms from the bodies to the contacts, not where the bodies are. Two moving
    bodies that touch are arm A - arm B apart, which places the bodies of an island against each
    other; between islands nothing is known, and nothing need be, as they share no rows.
    """
    if not hasattr(problem, "body"):
        raise UnsupportedFeature(
            "ordering 'coordinate' needs to know where the contacts are, which a problem given by "
            "its matrix does not tell. Use another ordering."
        )
    arm_a, arm_b = problem.arm[:, :3], problem.arm[:, 3:]
    position = body_places(problem.body, arm_a - arm_b, problem.mass[:, 0] > 0)
    mover_is_a = problem.mass[problem.body[:, 0], 0] > 0
    from_a, from_b = position[problem.body[:, 0]] + arm_a, position[problem.body[:, 1]] + arm_b
    return np.where(mover_is_a[:, None], from_a, from_b)


def body_places(body, apart, moving) -> np.ndarray:
    """(n, 3) positions of the bodies, the first of each island at zero.

    body    (nc, 2) bodies A and B of the contacts
    apart   (nc, 3) from the centre of A to that of B [m]
    moving  (n,) bool; the others connect nothing
    """
    position = np.zeros((len(moving), 3))
    links = np.flatnonzero(moving[body].all(axis=1))
    a, b = body[links].T
    graph = scipy.sparse.csr_array((np.ones(len(links)), (a, b)), shape=(len(moving), len(moving)))
    link_of = {}
    for link, i, j in zip(links, a, b, strict=True):
        link_of[i, j], link_of[j, i] = apart[link], -apart[link]
    count, island = scipy.sparse.csgraph.connected_components(graph, directed=False)
    _, roots = np.unique(island, return_index=True)
    for root in roots[np.bincount(island, minlength=count) > 1]:
        order, before = scipy.sparse.csgraph.breadth_first_order(graph, root, directed=False)
        for j in order[1:]:
            position[j] = position[before[j]] + link_of[before[j], j]
    return position
