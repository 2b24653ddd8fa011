"""Topology of a triangle mesh: half-edges, holes (border loops) and shells (components).

Half-edge 3 f + k runs from corner k of face f to corner k + 1.
"""

from typing import NamedTuple

import numpy as np


class Edges(NamedTuple):
    """The edges of `face_count` faces; lists hold one half-edge of each edge, or both."""

    face_count: int
    pair: np.ndarray  # (k, 2) the half-edges of an edge of just two faces
    open: np.ndarray  # edges of one face
    crowded: np.ndarray  # edges of three or more
    crowd: int  # faces at the first of these
    against: np.ndarray  # (k, 2) half-edges of edges along which two faces run alike

    @property
    def closed(self) -> bool:
        return not (len(self.open) or len(self.crowded))

    @property
    def oriented(self) -> bool:
        """Whether neighbours are oriented alike everywhere."""
        return not len(self.against)


def edges_of(face: np.ndarray, vertex_count: int) -> Edges:
    start, end = face.ravel(), np.roll(face, -1, axis=1).ravel()
    key = np.minimum(start, end) * np.int64(vertex_count) + np.maximum(start, end)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    count = np.diff(np.append(first, len(key)))
    two = first[count == 2]
    pair = np.stack([order[two], order[two + 1]], axis=1)
    many = count > 2
    return Edges(
        face_count=len(face),
        pair=pair,
        open=np.sort(order[first[count == 1]]),
        crowded=order[first[many]],
        crowd=int(count[many][0]) if many.any() else 0,
        against=pair[start[pair[:, 0]] == start[pair[:, 1]]],
    )


def shells_of(edges: Edges) -> np.ndarray:
    """(m,) number of the shell of each face: faces that are connected by edges of two faces."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    rows, columns = edges.pair.T // 3
    graph = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(edges.face_count,) * 2)
    return connected_components(graph, directed=False)[1]


def loops_of(face: np.ndarray, edges: Edges) -> list[np.ndarray]:
    """Borders of the holes: vertices in the order in which a face that fills them would run.

    Where holes meet in a vertex the path is cut there, so that no loop passes a vertex twice.
    """
    start, end = face.ravel()[edges.open], np.roll(face, -1, axis=1).ravel()[edges.open]
    onward: dict[int, list[int]] = {}
    for a, b in zip(end.tolist(), start.tolist(), strict=True):  # against the faces there are
        onward.setdefault(a, []).append(b)
    loops = []
    for origin in list(onward):
        path, index = [origin], {origin: 0}
        while onward.get(path[-1]):
            following = onward[path[-1]].pop()
            if following in index:
                loops.append(np.array(path[index[following] :]))
                for vertex in path[index[following] + 1 :]:
                    del index[vertex]
                del path[index[following] + 1 :]
            else:
                index[following] = len(path)
                path.append(following)
    return loops
