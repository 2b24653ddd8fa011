"""The points of all near pairs of shapes that overlap, as slots of the narrow phase."""

from drystone.collision.penetration.points import penetrating_points
from drystone.jit import kernel


@kernel
def reserve_slots(near, near_count, most):
    """Give every near pair `most` slots; returns how many there must be."""
    for k in range(near_count + 1):
        near.slot_first[k] = most * k
    return most * near_count


@kernel
def find_points(tables, scratch, pair, pose, radius, most, near, near_count, owner_side):
    """Points, normals and gaps of all near pairs; owner_side (np,): whose facet the plane is."""
    for k in range(near_count):
        p = near.pair[k]
        near.slot_count[k], owner_side[k] = penetrating_points(
            tables, pair[p, 0], pair[p, 1], pose, radius, most, scratch, near.slot,
            near.slot_first[k],
        )  # fmt: skip
