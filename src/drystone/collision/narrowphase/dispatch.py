"""Points, normals and gaps of each pair of shapes; one file per family of pairs."""

from drystone.collision.narrowphase.axis_cache import forget, keep_direction
from drystone.collision.narrowphase.box_box import ASK_DISTANCE, box_box
from drystone.collision.narrowphase.convex import convex_contacts, sphere_box
from drystone.collision.narrowphase.hull_hull import polytope_contacts
from drystone.collision.narrowphase.plane import (
    height_above,
    plane_box,
    plane_capsule,
    plane_cylinder,
    plane_hull,
    plane_sphere,
)
from drystone.collision.narrowphase.sphere_capsule import (
    capsule_capsule,
    sphere_capsule,
    sphere_sphere,
)
from drystone.collision.narrowphase.terrain.convex import terrain_contacts
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BOX, CAPSULE, CYLINDER, HULL, MESH, PLANE, SPHERE, TERRAIN


@kernel
def _far_apart(pose, radius, a, b, margin):
    x = pose[b, 0] - pose[a, 0]
    y = pose[b, 1] - pose[a, 1]
    z = pose[b, 2] - pose[a, 2]
    reach = radius[a] + radius[b] + margin
    return x * x + y * y + z * z >= reach * reach


@kernel(forceinline=True)
def _plane_contacts(kind, size, table, polytope, vertex, radius, pose, a, b, margin, out, first,
                    scratch):  # fmt: skip
    """Contacts of plane a with the convex shape b; two planes have none."""
    centre = (pose[b, 0], pose[b, 1], pose[b, 2])
    if kind[b] == PLANE or height_above(pose, a, centre) >= radius[b] + margin:
        return 0
    if kind[b] == SPHERE:
        return plane_sphere(pose, a, b, size, margin, out, first)
    if kind[b] == CAPSULE:
        return plane_capsule(pose, a, b, size, margin, out, first)
    if kind[b] == CYLINDER:
        return plane_cylinder(pose, a, b, size, margin, out, first)
    if kind[b] == BOX:
        return plane_box(pose, a, b, size, margin, out, first)
    return plane_hull(pose, a, b, table, polytope, vertex, radius, margin, out, first, scratch)


@stage
def collide_pairs(
    # in
    shapes, pose, pair, near, margin_of_shape,
    # in and out
    axis,
    # in, out
    slot_first, slot_count, out,
    # in
    lo, hi,
    # scratch
    scratch,
):  # fmt: skip
    """Contacts of the pairs p = near[k], lo <= k < hi, in rows slot_first[k]... of `out`.

    A row: point midway between the surfaces, unit normal from shape pair[p, 0] to pair[p, 1],
    gap [m], all in world axes. Only gaps below the sum of the two margins [m] are written, at
    most four per pair, sixteen with a terrain, eleven with a mesh. `axis` row p is the pair's
    memory between steps.
    """
    kind, size, radius = shapes.kind, shapes.size, shapes.radius
    for k in range(lo, hi):
        p = near[k]
        a, b = pair[p, 0], pair[p, 1]
        margin = margin_of_shape[a] + margin_of_shape[b]
        first = slot_first[k]
        swapped = kind[a] > kind[b]
        if swapped:
            a, b = b, a
        ka, kb = kind[a], kind[b]
        if kb == MESH and (ka == PLANE or ka >= BOX):
            continue  # these belong to collide_meshes()
        count = 0
        if kb == TERRAIN or kb == MESH:
            if ka != PLANE and ka != TERRAIN:
                count = terrain_contacts(shapes, pose, a, b, margin, out, first, scratch)
        elif ka == PLANE:
            count = _plane_contacts(
                kind, size, shapes.table, shapes.polytope, shapes.vertex, radius,
                pose, a, b, margin, out, first, scratch,
            )  # fmt: skip
        elif _far_apart(pose, radius, a, b, margin):
            count = 0
        elif ka == SPHERE and kb == SPHERE:
            count = sphere_sphere(pose, a, b, size, margin, out, first)
        elif ka == SPHERE and kb == CAPSULE:
            count = sphere_capsule(pose, a, b, size, margin, out, first)
        elif ka == CAPSULE and kb == CAPSULE:
            count = capsule_capsule(pose, a, b, size, margin, out, first)
        elif ka == SPHERE and kb == BOX:
            count = sphere_box(pose, a, b, size, margin, out, first)
        else:
            count = ASK_DISTANCE
            if ka == BOX and kb == BOX:
                count = box_box(pose, a, b, size, margin, out, first, scratch)
            polytopes = ka >= BOX and kb == HULL
            if polytopes:
                count = polytope_contacts(
                    shapes.table, radius, shapes.polytope, shapes.vertex, shapes.face_plane,
                    shapes.face_loop, shapes.loop, shapes.edge, shapes.vertex_star, shapes.star,
                    pose, a, b, margin, axis, p, out, first, scratch,
                )  # fmt: skip
                if count == ASK_DISTANCE:
                    forget(axis, p)
            if count == ASK_DISTANCE:
                count = convex_contacts(
                    kind, size, shapes.table, shapes.polytope, shapes.vertex, shapes.face_plane,
                    shapes.face_loop, shapes.loop, pose, a, b, margin, axis, p, out, first, scratch,
                )  # fmt: skip
                if polytopes:
                    keep_direction(axis, p)
        slot_count[k] = count
        if swapped:
            _turn_normals(out, first, count)


@kernel
def _turn_normals(out, first, count):
    for row in range(first, first + count):
        out[row, 3], out[row, 4], out[row, 5] = -out[row, 3], -out[row, 4], -out[row, 5]
