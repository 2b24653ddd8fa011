"""A mesh cut into convex hulls, by coacd [Wei2022]."""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import integer, number
from drystone.shapes.compound import Compound
from drystone.shapes.convex_hull import ConvexHull

LARGEST_INT = 2**31 - 1  # of the compiled code that coacd calls


def decompose(vertices, faces, threshold: float, most: int | None, seed: int) -> Compound:
    """A Compound of hulls that covers about the space of a closed mesh, see Mesh.decompose()."""
    threshold = number("Mesh: threshold", threshold)
    if not 0.01 <= threshold <= 1.0:  # what coacd takes
        raise InputError(f"Mesh: threshold is {threshold:g}, must be between 0.01 and 1.")
    most = -1 if most is None else integer("Mesh: most", most, 1, LARGEST_INT)
    seed = integer("Mesh: seed", seed, 0, LARGEST_INT)
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
        max_convex_hull=most,
        seed=seed,
    )
    hulls = [ConvexHull(points) for points, _ in pieces]
    return Compound(*((hull, (0.0, 0.0, 0.0)) for hull in hulls))
