"""Fat AABBs of the broad phase, and the cells of its grid in which they stand.

A shape has a new one only when its AABB leaves the old one, whichever pairs are searched then, how
much room there is for them, and whether the world was just loaded: they are part of State.
"""

from math import ceil, floor, inf, log2

from drystone.jit import inner_kernel, kernel
from drystone.model.arrays import COUNTER_BOXES_VALID, FIXED, PLANE

# Margin of a fat AABB: this share of the shape's radius, plus this many steps of its motion.
# A larger margin means fewer searches but more pairs to test in every step.
FAT_SHARE = 0.05
FAT_STEPS = 6.0

LEVELS = 128  # powers of two of size that are told apart, centred on 1 m


@kernel
def _fill_cell(s, shapes, fat, cell):
    """The cell of the fat AABB of shape `s`."""
    if shapes.kind[s] == PLANE:
        cell[s, 0] = -1
        return
    extent = 0.0
    for k in range(3):
        extent = max(extent, fat[s, 3 + k] - fat[s, k])
    level = int(ceil(log2(max(extent, 1e-18)))) + LEVELS // 2
    level = max(0, min(LEVELS - 1, level))
    side = 2.0 ** (level - LEVELS // 2)
    cell[s, 0] = level
    for k in range(3):
        cell[s, 1 + k] = int(floor(fat[s, k] / side))


@inner_kernel
def fatten_escaped(shapes, state, boxes):
    """New fat AABBs around the AABBs that have left theirs; around all if there are none yet. So
    they are the same, whichever pairs are searched. The cells of all: State may be another one
    than in the step before."""
    fat, all_new = state.fat_aabb, state.counter[COUNTER_BOXES_VALID] == 0
    for s in range(shapes.kind.shape[0]):
        if boxes.left[s] == 1 or all_new:
            margin = 0.0
            if shapes.body[s] != FIXED:
                margin = FAT_SHARE * shapes.radius[s] + FAT_STEPS * boxes.reach[s]
            for k in range(3):
                fat[s, k] = boxes.aabb[s, k] - margin
                fat[s, 3 + k] = boxes.aabb[s, 3 + k] + margin
        _fill_cell(s, shapes, fat, boxes.cell)


@inner_kernel
def forget_escaped(shapes, state, boxes):
    """There is no room for the pairs: what has escaped is to be found so again."""
    for s in range(shapes.kind.shape[0]):
        if boxes.left[s] == 1:
            for k in range(3):
                state.fat_aabb[s, k], state.fat_aabb[s, 3 + k] = inf, -inf
