"""Constants of mesh contacts that both generators share: state of a pair, limits, query array."""

# What two meshes are to each other, column 0 of their row of State.pair_axis.
APART, TOUCHING = 1.0, 2.0
NEARBY = 4.0  # apart, and the distance is known
# Pairs are searched beyond the margin up to this part of the smaller radius, so that one that is
# apart by as much need not be searched again for a while.
LOOKAHEAD = 0.05
# How deep one may be in the other and still be pushed out, as a part of the smaller radius, where
# contacts come from triangles.
DEPTH = 0.6
# The speculative margin is at most this many half thicknesses of the thinner one.
MAX_MARGIN = 1.0
# Rounding of a distance, as a part of the smaller radius.
ROUNDING = 1e-9

# A query, in an array: candidates nearer than MARGIN are found; triangles within REACH are tested,
# and those in front of each other within FRONT; least distance that was found, or is possible
# between triangles that were not tested [m]; what is wanted: all candidates, or the nearest alone
# as long as none is nearer than CLOSE, then all of these, or of those up to the nearest that was
# found before:
MARGIN, REACH, FRONT, BOUND, WANTED, CLOSE = range(6)
# and how the two move relative to each other, see motion_bound.py:
SLACK, ANGLE, TRANSLATION, ROTATION = 6, 7, 8, 11
# and their distance, if it is known: what counts no farther away than that is not there [m]:
LEAST = 14
QUERY_SIZE = 15
ALL, DISTANCE, NEAREST = 0.0, 1.0, 2.0
