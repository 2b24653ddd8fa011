"""Limits and marks that both generators of contacts of meshes have in common."""

APART, TOUCHING = 1.0, 2.0
BESIDE = 4.0  # apart, and the distance is known
# Beyond the margin pairs are looked at up to this part of the smaller radius, so that one that is
# apart by as much need not be looked at for a while.
LOOK = 0.05
# How deep one may be in the other and still be pushed out, as a part of the smaller radius.
DEPTH = 0.25
# Contacts are looked for up to this many half thicknesses of the thinner one.
FAR = 1.0
# Rounding of a distance, as a part of the smaller radius.
ROUNDING = 1e-9
