"""The narrow phase on one pair of shapes, at other poses than those of the step."""

from drystone.collision.narrowphase.collide import collide_near
from drystone.collision.narrowphase.collide_2d import collide_flat
from drystone.collision.narrowphase.mesh.collide import NEAREST_ONLY, collide_meshes, has_meshes
from drystone.jit import inner_kernel
from drystone.model.arrays import MESH


@inner_kernel
def collide_displaced(a, b, margin, nearest_only, shapes, outlines, ccd):
    """Contacts of shapes `a` and `b`, which stand as ccd.boxes.pose says, closer than `margin`.

    nearest_only   of meshes the nearest point alone, which takes less time

    They are the rows of ccd.near.slot; returns how many. Nothing is cached from call to call.
    """
    boxes, near = ccd.boxes, ccd.near
    boxes.spread[a], boxes.spread[b] = margin, 0.0
    for k in range(8):
        ccd.axis[0, k] = 0.0
    if nearest_only and max(shapes.kind[a], shapes.kind[b]) == MESH:
        ccd.axis[0, 0] = NEAREST_ONLY
    ccd.pair[0, 0], ccd.pair[0, 1] = a, b
    near.slot_count[0] = 0
    if outlines is None:
        collide_near(shapes, boxes, ccd.pair, ccd.axis, near, 1)
        if has_meshes(shapes):
            collide_meshes(shapes, boxes, ccd.pair, ccd.axis, near, 1)
    else:
        collide_flat(shapes, outlines, boxes, ccd.pair, near, 1)
    return near.slot_count[0]
