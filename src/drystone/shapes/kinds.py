"""Dispatch by kind: what kernels ask of a convex shape, one branch for each kind.

A convex shape is a core plus a rounding radius: a point (sphere) or a segment (capsule) with a
radius, or the shape itself without one (cylinder, cone, box, hull). Each operation is one function
here, over kernels that stand in the file of the shape:

    rounding_radius   what is added to the core on all sides
    core_support      support function: the point of the core farthest along a direction
    extent            range of the shape along a direction, for its AABB
    half_sizes        of a box in its own axes that holds its core
    find_feature      the point, segment or face that it shows along a direction
    feature_corner    corners of that feature, in world axes
    feature_normal    its normal, if it is a face
    side_radius       radius of curvature across a segment that is a line of the surface
    side_normal       normal of a round side, towards a direction
    snapped_normal    the normal of a face or side from which a direction differs by rounding
    resting_count     points of the core that may rest on a plane, and
    resting_point     these points
    height_over       of the shape over a point, and the normal there

Points and directions are in the shape's own axes unless said otherwise.
"""

from drystone.jit import inner_kernel
from drystone.jit.vec import (
    add,
    dot,
    load,
    mad,
    normalize,
    pose_axis_z,
    scale,
    to_local_direction,
    to_world_direction,
)
from drystone.model.arrays import BOX, CAPSULE, CONE, CYLINDER, HULL, SPHERE
from drystone.shapes.box import box_corner, box_extent, box_support
from drystone.shapes.capsule import capsule_extent, capsule_height, segment_support
from drystone.shapes.cone import (
    cone_corner,
    cone_extent,
    cone_feature,
    cone_height,
    cone_resting_count,
    cone_resting_point,
    cone_side_normal,
    cone_side_radius,
    cone_snapped,
    cone_support,
)
from drystone.shapes.cylinder import (
    STANDING,
    cylinder_corner,
    cylinder_extent,
    cylinder_feature,
    cylinder_height,
    cylinder_resting_point,
    cylinder_snapped,
    cylinder_support,
)
from drystone.shapes.polytope import (
    face_corner,
    facing_face,
    hull_support,
    hull_vertex,
    polytope_height,
)
from drystone.shapes.sphere import sphere_extent


@inner_kernel
def rounding_radius(shapes, s):
    """Radius that is added to the core of shape `s` [m]."""
    return shapes.size[s, 0] if shapes.kind[s] < CYLINDER else 0.0


@inner_kernel
def is_polytope(shapes, s):
    """Whether the faces of shape `s` stand in the tables of polytopes."""
    return shapes.kind[s] == BOX or shapes.kind[s] == HULL


@inner_kernel(forceinline=True)
def core_support(shapes, pose, s, d):
    """Support function of the core: its point farthest along world direction `d`, world axes,
    relative to the shape's position.
    """
    kind, size, q = shapes.kind[s], load(shapes.size, s), to_local_direction(pose, s, d)
    if kind == BOX:
        p = box_support(size, q)
    elif kind == HULL:
        p = hull_support(shapes, s, q)
    elif kind == CYLINDER:
        p = cylinder_support(size, q)
    elif kind == CONE:
        p = cone_support(size, q)
    elif kind == CAPSULE:
        p = segment_support(size, q)
    else:
        p = (0.0, 0.0, 0.0)
    return to_world_direction(pose, s, p)


@inner_kernel
def extent(shapes, s, d):
    """Lowest and highest d.x of the shape along the unit vector `d`; of a box for what is not
    sphere, capsule, cylinder or cone (hulls have an AABB from their vertices, broadphase.py).
    """
    kind, size = shapes.kind[s], load(shapes.size, s)
    if kind == SPHERE:
        return sphere_extent(size)
    if kind == CAPSULE:
        return capsule_extent(size, d)
    if kind == CYLINDER:
        return cylinder_extent(size, d)
    if kind == CONE:
        return cone_extent(size, d)
    return box_extent(size, d)


@inner_kernel
def half_sizes(shapes, s):
    """Of a box in the axes of the shape that holds its core."""
    kind, size, radius = shapes.kind[s], load(shapes.size, s), shapes.radius[s]
    if kind == BOX:
        return size
    if kind == HULL:
        return radius, radius, radius
    if kind == SPHERE:
        return 0.0, 0.0, 0.0
    aside = 0.0 if kind == CAPSULE else size[0]
    return aside, aside, size[1]


@inner_kernel
def find_feature(shapes, s, q):
    """What shape `s` shows along `q`: (q, corner count, face, moved corner).

    One corner: a point, two: a segment, more: a face. The corners of a rim are fixed in the shape,
    so that they last from step to step; only the moved one goes where the rim is deepest.
    """
    kind = shapes.kind[s]
    if is_polytope(shapes, s):
        face, count = facing_face(shapes, s, q)
        return q, count, face, -1
    if kind == SPHERE:
        return q, 1, -1, -1
    if kind == CAPSULE:
        return q, 2, -1, -1
    if kind == CONE:
        count, moved = cone_feature(load(shapes.size, s), q)
    else:
        count, moved = cylinder_feature(q)
    return q, count, -1, moved


@inner_kernel
def feature_corner(shapes, pose, s, feature, place, i):
    """Corner `i` of a feature of a shape at `place`; those of a face run counter-clockwise seen
    from outside. World axes.
    """
    q, count, face, moved = feature
    kind, size = shapes.kind[s], load(shapes.size, s)
    if kind == SPHERE:
        return place
    if face >= 0:
        v = face_corner(shapes, s, face, i)
    elif kind == CAPSULE:
        v = (0.0, 0.0, size[1] if i == 1 else -size[1])
    elif kind == CONE:
        v = cone_corner(size, q, count, moved, i)
    else:
        v = cylinder_corner(size, q, count, moved, i)
    return add(place, to_world_direction(pose, s, v))


@inner_kernel
def feature_normal(shapes, pose, s, feature):
    """Outward normal of a feature that is a face, in world axes."""
    q, _, face, _ = feature
    if face >= 0:
        return to_world_direction(pose, s, load(shapes.face_plane, face))
    return to_world_direction(pose, s, (0.0, 0.0, 1.0 if q[2] > 0.0 else -1.0))


@inner_kernel
def side_radius(shapes, s, i):
    """Radius of curvature across the surface at corner `i` of a feature that is a segment [m].

    None of a capsule: its segment is the core, which stands off by the rounding radius.
    """
    if shapes.kind[s] == CONE:
        return cone_side_radius(load(shapes.size, s), i)
    return shapes.size[s, 0] - rounding_radius(shapes, s)


@inner_kernel
def side_normal(shapes, pose, s, d, sign):
    """Normal of the round side of shape `s` in the half plane of `d`, world axes; outward if
    `sign` is 1, inward if it is -1.
    """
    u = pose_axis_z(pose, s)
    across = normalize(mad(d, u, -dot(d, u)))
    if shapes.kind[s] == CONE:
        return cone_side_normal(load(shapes.size, s), u, across, sign)
    return across


@inner_kernel
def snapped_normal(shapes, pose, s, n, sign, snap):
    """The normal that `n` would be without rounding, world axes; zero if it is near to none.

    It is outward if `sign` is 1, inward if it is -1. `snap` is 1 - cosine of the largest angle
    that counts as rounding. Not for polytopes.
    """
    if shapes.kind[s] == CYLINDER:
        return cylinder_snapped(pose_axis_z(pose, s), n, snap)
    if shapes.kind[s] == CONE:
        return cone_snapped(load(shapes.size, s), pose_axis_z(pose, s), n, sign, snap)
    return 0.0, 0.0, 0.0


@inner_kernel
def resting_count(shapes, s, q):
    """Number of points of the core that may rest on a plane with local normal `q`."""
    kind = shapes.kind[s]
    if kind == HULL:
        return shapes.polytope[shapes.table[s], 1]
    if kind == CYLINDER:
        return 2 if abs(q[2]) < STANDING else 4
    if kind == CONE:
        return cone_resting_count(q)
    return 8 if kind == BOX else (2 if kind == CAPSULE else 1)


@inner_kernel
def resting_point(shapes, s, q, i):
    """Point `i` of the core that may rest on a plane with local normal `q`; on flat ground and on
    a plane they are the same.
    """
    kind, size = shapes.kind[s], load(shapes.size, s)
    if kind == HULL:
        return hull_vertex(shapes, s, i)
    if kind == BOX:
        return box_corner(size, i)
    if kind == CAPSULE:
        return 0.0, 0.0, size[1] if i == 0 else -size[1]
    if kind == CYLINDER:
        return cylinder_resting_point(size, q, i)
    if kind == CONE:
        return cone_resting_point(size, q, i)
    return 0.0, 0.0, 0.0


@inner_kernel
def height_over(shapes, pose, s, v):
    """Inward normal of the shape nearest to point `v`, the height of the shape over `v` along it,
    and whether there is one. World axes, `v` relative to the shape.

    There is none for a sharp shape beyond its edges, unless `v` is no farther beside a face than
    away from it: such a contact fades as it closes.
    """
    kind, size = shapes.kind[s], load(shapes.size, s)
    if kind == SPHERE or kind == CAPSULE:
        return capsule_height(size, pose_axis_z(pose, s), v)
    q = to_local_direction(pose, s, v)
    if is_polytope(shapes, s):
        n, height, exists = polytope_height(shapes, s, q)
        return scale(to_world_direction(pose, s, n), -1.0), height, exists
    d, height, exists = cone_height(size, q) if kind == CONE else cylinder_height(size, q)
    return to_world_direction(pose, s, d), height, exists
