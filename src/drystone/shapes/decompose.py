"""A mesh cut into convex hulls, by coacd [Wei2022]."""

from math import isfinite

import numpy as np

from drystone.errors import InputError
from drystone.shapes.compound import Compound
from drystone.shapes.hull import ConvexHull


def decompose(vertices, faces, threshold: float, most: int | None, seed: int) -> Compound:
    """A Compound of hulls that covers about the space of a closed mesh, see Mesh.decompose()."""
    if not (isfinite(threshold) and 0.01 <= threshold <= 1.0):  # what coacd takes
        raise InputError(f"Mesh: threshold is {threshold!r}, must be between 0.01 and 1.")
    if most is not None and most < 1:
        raise InputError(f"Mesh: most is {most!r}, must be 1 or more hulls.")
    try:
        import coacd
    except ImportError:
        raise InputError(
            "Mesh: decompose() needs the package coacd: pip install 'drystone[mesh]'."
        ) from None
    coacd.set_log_level("error")
    pieces = coacd.run_coacd(
        coacd.Mesh(np.asarray(vertices, dtype=np.float64), np.asarray(faces, dtype=np.int32)),
        threshold=threshold,
        max_convex_hull=-1 if most is None else int(most),
        seed=int(seed),
    )
    hulls = [ConvexHull(points) for points, _ in pieces]
    return Compound(*((hull, (0.0, 0.0, 0.0)) for hull in hulls))
