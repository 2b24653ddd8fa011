"""Vectors of three, eight of them at a time (lanes.py): products, inertia, the largest lane."""

from drystone.jit import kernel
from drystone.jit.lanes import WIDTH, gather, load, store


@kernel
def three(data, at):
    """Three numbers of each lane, from place `at` of a batch on."""
    return load(data, at), load(data, at + WIDTH), load(data, at + 2 * WIDTH)


@kernel
def cross_lanes(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def dot_lanes(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def turned(m, t):
    """World inverse inertia times torques; columns of a table of masses."""
    return (
        m[1] * t[0] + m[2] * t[1] + m[3] * t[2],
        m[2] * t[0] + m[4] * t[1] + m[5] * t[2],
        m[3] * t[0] + m[5] * t[1] + m[6] * t[2],
    )


@kernel
def answers(even, inertia, at, lane_body, lane_mass, ta, tb):
    """What torques `ta` and `tb` change the spins of the bodies of a batch by.

    even     whether their inertia is the same about all axes, and its inverse is `inertia`
    """
    if even:
        ja, jb = inertia
        return (ja * ta[0], ja * ta[1], ja * ta[2]), (jb * tb[0], jb * tb[1], jb * tb[2])
    ma, mb = gather(lane_mass, lane_body, at), gather(lane_mass, lane_body, at + WIDTH)
    return turned(ma, ta), turned(mb, tb)


@kernel
def largest_lane(v, scratch):
    """The largest of eight, or 0; `scratch` has place for them."""
    store(scratch, 0, v)
    worst = 0.0
    for k in range(WIDTH):
        if not scratch[k] <= worst:  # also takes a NaN
            worst = scratch[k]
    return worst
