"""Dispatch of the narrow phase: which routine finds the contacts of which pair of kinds.

The lower kind of model/arrays.py is A. Contacts are speculative: all whose gap is below the margin
are written, also those that are still apart.

    A \\ B     sphere    capsule  round  box       hull      terrain  mesh
    plane     plane.py, all convex shapes                    none     mesh/
    sphere    closed    closed   GJK    closed    GJK       terrain  terrain
    capsule             closed   GJK    GJK       GJK       terrain  terrain
    round                        GJK    GJK       GJK       terrain  terrain
    box                                 SAT, GJK  SAT, GJK  terrain  mesh/, sdf/
    hull                                          SAT, GJK  terrain  mesh/, sdf/
    terrain                                                 none     mesh/, sdf/
    mesh                                                             mesh/, sdf/

    round    cylinder, and any other kind below BOX
    closed   sphere_capsule.py, and sphere_box() in convex.py
    GJK      convex.py: GJK, and GJK on shapes moved apart where they overlap; there is no EPA
    SAT      box_box.py (15 axes) and hull_hull.py (Gauss map, axis cached from step to step); where
             the closest points lie on no face or pair of edges they leave the pair to GJK; where
             edges or corners meet, swinging_corners.py adds what may come down beside them
    terrain  terrain/: one-sided triangles, without contacts at inner edges
    mesh/    collide_meshes(): pairs of triangles; sdf/: samples in a signed distance field
"""

from drystone.collision.narrowphase.axis_cache import cache_direction, clear_axis
from drystone.collision.narrowphase.box_box import ASK_DISTANCE, box_box
from drystone.collision.narrowphase.convex import convex_contacts, sphere_box
from drystone.collision.narrowphase.hull_hull import polytope_contacts
from drystone.collision.narrowphase.plane import plane_contacts
from drystone.collision.narrowphase.sphere_capsule import (
    capsule_capsule,
    sphere_capsule,
    sphere_sphere,
)
from drystone.collision.narrowphase.swinging_corners import add_corners
from drystone.collision.narrowphase.terrain.convex import terrain_contacts
from drystone.jit import kernel
from drystone.jit.stage import stage
from drystone.model.arrays import BOX, CAPSULE, HULL, MESH, PLANE, SPHERE, TERRAIN


@kernel
def _far_apart(pose, radius, a, b, margin):
    x = pose[b, 0] - pose[a, 0]
    y = pose[b, 1] - pose[a, 1]
    z = pose[b, 2] - pose[a, 2]
    reach = radius[a] + radius[b] + margin
    return x * x + y * y + z * z >= reach * reach


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
    most four per pair, sixteen with a terrain, eleven with a mesh. `axis` row p is what the pair
    caches between steps.
    """
    kind = shapes.kind
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
            count = plane_contacts(shapes, pose, a, b, margin, out, first, scratch)
        elif _far_apart(pose, shapes.radius, a, b, margin):
            count = 0
        elif ka == SPHERE and kb == SPHERE:
            count = sphere_sphere(shapes, pose, a, b, margin, out, first)
        elif ka == SPHERE and kb == CAPSULE:
            count = sphere_capsule(shapes, pose, a, b, margin, out, first)
        elif ka == CAPSULE and kb == CAPSULE:
            count = capsule_capsule(shapes, pose, a, b, margin, out, first)
        elif ka == SPHERE and kb == BOX:
            count = sphere_box(shapes, pose, a, b, margin, out, first)
        else:
            count = ASK_DISTANCE
            if ka == BOX and kb == BOX:
                count = box_box(shapes, pose, a, b, margin, out, first, scratch)
            polytopes = ka >= BOX and kb == HULL
            if polytopes:
                count = polytope_contacts(shapes, pose, a, b, margin, axis, p, out, first, scratch)
                if count == ASK_DISTANCE:
                    clear_axis(axis, p)
            if count == ASK_DISTANCE:
                count = convex_contacts(shapes, pose, a, b, margin, axis, p, out, first, scratch)
                if polytopes:
                    cache_direction(axis, p)
            if (count == 1 or count == 2) and ka >= BOX and kb <= HULL:
                count = add_corners(shapes, pose, a, b, margin, out, first, count, scratch)
        slot_count[k] = count
        if swapped:
            _flip_normals(out, first, count)


@kernel
def _flip_normals(out, first, count):
    for row in range(first, first + count):
        out[row, 3], out[row, 4], out[row, 5] = -out[row, 3], -out[row, 4], -out[row, 5]
