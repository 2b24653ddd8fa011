"""Which pairs of the last step were given up, by the names of their bodies."""

import numpy as np

from drystone.constraints.problem import SolveInfo
from drystone.model.arrays import INFO_NEAR


def name_pairs(world, info: SolveInfo) -> SolveInfo:
    """`info` with the names of the pairs that it counts as unresolved or given up."""
    if not info.unresolved and not info.given_up:
        return info
    near, count = world._work.near, int(world._work.log.info[INFO_NEAR])
    left = near.unresolved[:count] > 0
    if info.given_up:  # else what is written there is of an earlier step
        left = left | (near.given_up[:count] > 0)
    owner = world._build.shape_owner[world._state.pair[near.pair[:count][left]]]
    name = {thing._number: thing.name for thing in (*world.bodies, *world.fixed)}
    pairs = {(name[a], name[b]): None for a, b in np.atleast_2d(owner).tolist()}
    return info._replace(unresolved_pairs=tuple(pairs))


def say_what_is_left(info: SolveInfo, most: int = 3) -> str:
    """Sentences about what the last step left undone beside its solve; empty if there is none."""
    text = ""
    if info.overlaps:
        text = f" Its deepest overlap was {1e3 * info.penetration:.3g} mm."
    pairs = [f"{a or 'fixed'} and {b or 'fixed'}" for a, b in info.unresolved_pairs]
    if pairs:
        more = f" and {len(pairs) - most} more" if len(pairs) > most else ""
        text += f" It gave up {'; '.join(pairs[:most])}{more}."
    return text
