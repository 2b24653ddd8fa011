"""Limits and marks that both generators of contacts of meshes have in common."""

APART, TOUCHING = 1.0, 2.0
BESIDE = 4.0  # apart, and the distance is known
# Beyond the margin pairs are looked at up to this part of the smaller radius, so that one that is
# apart by as much need not be looked at for a while.
LOOK = 0.05
# How deep one may be in the other and still be pushed out, as a part of the smaller radius, where
# contacts come from triangles.
DEPTH = 0.6
# Contacts are looked for up to this many half thicknesses of the thinner one.
FAR = 1.0
# Rounding of a distance, as a part of the smaller radius.
ROUNDING = 1e-9

# State of a search, in an array: candidates nearer than MARGIN are kept; triangles within REACH are
# looked at, and those in front of each other within FRONT; least distance that was found, or is
# possible between triangles that were not looked at [m]; what is wanted: all candidates, or the
# nearest alone as long as none is nearer than CLOSE, then all of these, or of those up to the
# nearest that was found before:
MARGIN, REACH, FRONT, BOUND, WANTED, CLOSE = range(6)
# and how the two move, see motion_bound.py:
SLACK, TURN_SIZE, WAY, TURN = 6, 7, 8, 11
# and their distance, if it is known: what counts no farther away than that is not there [m]:
LEAST = 14
LEVELS = 15
ALL, DISTANCE, NEAREST = 0.0, 1.0, 2.0
