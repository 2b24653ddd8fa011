"""Where two surfaces are to each other, and what both generators of contacts take from it."""

from drystone.jit import inner_kernel
from drystone.vec import mul_t, pose_position, pose_rotation, sub

APART, TOUCHING = 1.0, 2.0
# Beyond the margin pairs are looked at up to this part of the smaller radius, so that one that is
# apart by as much need not be looked at for a while.
LOOK = 0.05
# How deep one may be in the other and still be pushed out, as a part of the smaller radius.
DEPTH = 0.25
# Contacts are looked for up to this many half thicknesses of the thinner one.
FAR = 1.0
# Rounding of a distance, as a part of the smaller radius.
ROUNDING = 1e-9


@inner_kernel
def relative_pose(pose, a, b):
    """Rotation and position of b in the axes of a."""
    ra, rb = pose_rotation(pose, a), pose_rotation(pose, b)
    x = mul_t(ra, (rb[0], rb[3], rb[6]))
    y = mul_t(ra, (rb[1], rb[4], rb[7]))
    z = mul_t(ra, (rb[2], rb[5], rb[8]))
    r = (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2])
    return r, mul_t(ra, sub(pose_position(pose, b), pose_position(pose, a)))
