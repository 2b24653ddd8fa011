"""Contact patches of a step: for each near pair its points, gains and friction; as arrays.

Within a step the points of a pair stay those that were found at its start: they move with the
bodies, so that the forces that Runge-Kutta integrates are smooth. (The source does not say whether
it looks for them four times a step.)
"""

from typing import NamedTuple

import numpy as np

from drystone.jit.table import table

# What is remembered of a pair, in the columns of State.pair_axis. Column 0 is what the narrow phase
# of other solvers keeps there, and stays zero.
MODE, INTEGRAL, SPRING = 1, 2, 3  # SPRING takes four columns

# Modes of a pair, PENALTY Fig. 2.
APART, IMPACT, REST = range(3)


@table
class Patches(NamedTuple):
    """np pairs that are near, m contacts. Bodies: n is the fixed world. World axes."""

    first: np.ndarray  # (np + 1,) int32 first contact of each pair
    body: np.ndarray  # (np, 2) int32: the owner of the contact plane, the other body
    mode: np.ndarray  # (np,) int32 APART, IMPACT or REST
    sign: np.ndarray  # (np,) 1: the normal from A to B points out of the owner, -1: into it
    # (np, 4) proportional [N/m], derivative [N s/m], integral times I [N]; what stops within a step
    gain: np.ndarray
    friction: np.ndarray  # (np,)
    spring: np.ndarray  # (np, 4) tangential displacement [m], turn about the normal [rad]
    stretch: np.ndarray  # (np, 4) likewise at this stage
    normal: np.ndarray  # (np, 3) out of the owner, in the owner's axes
    on_owner: np.ndarray  # (m, 3) foot of the point on the contact plane, in the owner's axes
    on_other: np.ndarray  # (m, 3) the point in the axes of the other body
    stick: np.ndarray  # (m, 3) friction="system": what would stop it by the end of the step [N]
    pressure: np.ndarray  # (m,) normal force at this stage [N]
    force: np.ndarray  # (m, 3) on the other body at this stage [N]
    mean: np.ndarray  # (m, 3) over the step [N]
    depth: np.ndarray  # (m,) at the start of the step [m]


def new_patches(pairs: int, contacts: int) -> Patches:
    """Buffers for so many pairs and contacts."""
    f, i = np.zeros, np.int32
    return Patches(
        first=f(pairs + 1, i), body=f((pairs, 2), i), mode=f(pairs, i), sign=f(pairs),
        gain=f((pairs, 4)), friction=f(pairs), spring=f((pairs, 4)), stretch=f((pairs, 4)),
        normal=f((pairs, 3)), on_owner=f((contacts, 3)), on_other=f((contacts, 3)),
        stick=f((contacts, 3)), pressure=f(contacts), force=f((contacts, 3)),
        mean=f((contacts, 3)), depth=f(contacts),
    )  # fmt: skip
