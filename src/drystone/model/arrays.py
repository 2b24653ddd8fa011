"""The arrays of a world: Model (constant), State (changing), Work (scratch), Settings.

Float arrays are float64, integers int32 unless said otherwise, all C-contiguous, so that
every kernel is compiled once. World axes and SI units unless said otherwise. Positions are
relative to the world's local origin, so that map coordinates cost no digits.

    ns shapes, n bodies, np polytopes, nv their vertices, nf faces, ne edges, nt terrains
"""

from typing import Any, NamedTuple

import numpy as np

from drystone.jit.table import table
from drystone.model.island_arrays import IslandWork
from drystone.model.joint_arrays import COORDINATES, Joints
from drystone.model.robot_state import joined_links, robot_sizes

# Kinds of shape, in the order in which a pair is handed to the narrow phase (lower kind first).
# In two dimensions: PLANE, SPHERE (a disc) and OUTLINE.
PLANE, SPHERE, CAPSULE, CYLINDER, CONE, BOX, HULL, TERRAIN, OUTLINE, MESH = range(10)
# The number by which files know each kind, in that order: it never changes; a new kind gets the
# next one, wherever it stands.
FILE_KINDS = (0, 1, 2, 3, 9, 4, 5, 6, 7, 8)

DYNAMIC, KINEMATIC = 0, 1

FIXED = -1  # the body number of the world itself
SWEPT_COLUMNS = 12  # of Boxes.swept
MOST_MESH_CANDIDATES = 512  # points of two meshes, before reduction; slots of those not reduced
CACHED_TRIANGLES = 768  # pairs of triangles that two meshes which touch cache at most


@table
class Shapes(NamedTuple):
    """What bodies look like. A shape sits in its body's frame (centre of mass, principal axes)."""

    kind: np.ndarray  # (ns,) PLANE ... MESH
    body: np.ndarray  # (ns,) the body it belongs to, FIXED for the world
    local: np.ndarray  # (ns, 12) pose in the body's frame: position, rotation row by row
    size: np.ndarray  # (ns, 3) [m] sphere: radius; capsule, cylinder, cone: radius, half length on
    #                   z; box: half sizes, also of the box that holds an outline or a mesh; plane
    #                   (normal is local z), hull, terrain: unused
    radius: np.ndarray  # (ns,) of the sphere about its origin that holds it; inf for a plane
    thickness: np.ndarray  # (ns,) half of it, about (shapes/part.py) [m]; inf: it has no other side
    table: np.ndarray  # (ns,) number of its polytope (box, hull) or terrain (also a mesh), else -1
    surface: np.ndarray  # (ns,) terrain with its triangles; -1: it has none, or nobody asks
    unreduced: np.ndarray  # (ns,) 1: a mesh whose contacts are not reduced to a manifold
    material: np.ndarray  # (ns,)
    group: np.ndarray  # (ns,) bits: what it is
    mask: np.ndarray  # (ns,) bits: what it touches; a pair needs group & mask != 0 both ways
    # polytopes; vertex, face, edge and loop numbers in the tables are relative to the first of each
    polytope: np.ndarray  # (np, 6) first vertex and count, of the faces, of the edges
    vertex: np.ndarray  # (nv, 3)
    face_plane: np.ndarray  # (nf, 4) outward unit normal and offset: inside is n.x <= offset
    face_loop: np.ndarray  # (nf, 2) first entry in `loop` (absolute), number of corners
    loop: np.ndarray  # corners of the faces, counter-clockwise seen from outside
    edge: np.ndarray  # (ne, 4) vertices from, to; face on its left (it runs from, to), on its right
    vertex_star: np.ndarray  # (nv, 2) first entry in `star` (absolute), edges at the vertex
    star: np.ndarray  # the edges at each vertex
    # terrains and meshes: one-sided triangles, front is counter-clockwise; in the shape's axes
    terrain: np.ndarray  # (nt, 6) first vertex, first triangle and count, first cell, cells in x, y
    terrain_grid: np.ndarray  # (nt, 3) lower corner x, y and side of the cells
    terrain_vertex: np.ndarray  # (ntv, 3)
    triangle: np.ndarray  # (ntt, 3) its corners
    triangle_normal: np.ndarray  # (ntt, 3) unit
    neighbour: np.ndarray  # (ntt, 3) triangle across the edge from corner k to k+1, -1: none
    cell_first: np.ndarray  # (cells + 1,) first entry in cell_triangle, terrain by terrain
    cell_triangle: np.ndarray  # triangles whose box overlaps the cell (numbers within the terrain)
    # BVHs over the triangles of meshes, and of terrains in a world with a mesh; node i has the
    # children i + 1 and node_link[i, 0], or is a leaf: its first triangle and their number
    tree: np.ndarray  # (nt,) first node, -1: none
    node_box: np.ndarray  # (nodes, 6) lower corner, upper corner, in the shape's axes
    node_link: np.ndarray  # (nodes, 2) second child and 0, or first triangle and count (absolute)
    # the same as wide BVHs with eight children a node, see shapes/bvh/wide.py and
    # shapes/bvh/normal_cones.py
    wide_root: np.ndarray  # (nt,) first wide node, -1: none
    wide_box: np.ndarray  # (48 wide nodes,) centres and half sizes of the children's boxes
    child_link: np.ndarray  # (children, 2) wide node and 0, or first triangle and count
    child_cone: np.ndarray  # (children, 13) spatialized normal cone
    wide_cone: np.ndarray  # (104 wide nodes,) the same, numbers of a kind side by side
    owns: np.ndarray  # (ntt,) bits: the corners and edges it stands for, see shapes/bvh/build.py
    # signed distance fields (SDF) and what is tested against them; empty if no mesh asks for one
    octree: np.ndarray  # (nt,) first cell, -1: none; see shapes/sdf/octree.py
    octree_frame: np.ndarray  # (nt, 4) lower corner and side of the root, in the shape's axes [m]
    octree_child: np.ndarray  # (cells,) first of its eight children (absolute), -1: none
    octree_value: np.ndarray  # (cells, 9) distances at its corners, error [m]
    vertex_normal: np.ndarray  # (ntv, 3) unit, of terrain_vertex
    sample_root: np.ndarray  # (nt,) first node of its samples, see shapes/sdf/feature_samples.py
    sample_sphere: np.ndarray  # (nodes, 4) centre and radius
    sample_link: np.ndarray  # (nodes, 2) second child and 0, or first sample and count (absolute)
    sample_segment: np.ndarray  # (samples, 6) both ends
    tangent_first: np.ndarray  # (samples + 1,) first row in `tangent`
    tangent: np.ndarray  # (n, 3) unit vectors along the surface at the samples


@table
class Bodies(NamedTuple):
    """How bodies resist. The frame of a body: centre of mass, principal axes."""

    kind: np.ndarray  # (n,) DYNAMIC or KINEMATIC
    inv_mass: np.ndarray  # (n,) [1/kg], zero if kinematic
    inv_inertia: np.ndarray  # (n, 3) principal [1/(kg m²)], zero if kinematic
    inertia: np.ndarray  # (n, 3) principal [kg m²]
    radius: np.ndarray  # (n,) of the sphere about the centre of mass that holds all its shapes [m]


@table
class Pairing(NamedTuple):
    """What applies when two materials or bodies meet."""

    friction: np.ndarray  # (materials, materials) symmetric
    restitution: np.ndarray  # (materials, materials) symmetric
    excluded: np.ndarray  # int64, sorted keys (lower body << 32 | higher body) that never touch
    rolling: np.ndarray  # (materials, materials, 2) rolling and spinning friction [m]
    surface: np.ndarray  # (materials, 3) how surfaces move on their bodies, body axes [m/s]
    special: np.ndarray  # (2,) see ROLLING, MOVING


# What some contacts of a world have, and most worlds do not: Pairing.special, ContactRows.special.
# 1 if there is rolling or spinning friction; if surfaces move; in a step, if there were impacts.
ROLLING, MOVING, STRUCK = range(3)


@table
class Outlines(NamedTuple):
    """Shapes of two dimensions in their own axes: x and z. See shapes/two_dimensions/outline.py."""

    first: np.ndarray  # (ns + 1,) first corner of each shape; planes have none
    corner: np.ndarray  # (corners, 2) counter-clockwise with x to the right and z up
    normal: np.ndarray  # (corners, 2) outward unit normal of the edge to the next corner
    rounding: np.ndarray  # (ns,) [m] by which the shape is thicker than its corners


@table
class Model(NamedTuple):
    """All that is constant while the world runs."""

    shapes: Shapes
    bodies: Bodies
    pairing: Pairing
    joints: Joints
    # None in three dimensions, which lets Numba leave out what two dimensions need.
    outlines: Outlines | None = None
    robots: Any = None  # Robots (model/robot_arrays.py); None in a world without, likewise


@table
class State(NamedTuple):
    """All that a run needs to go on bit for bit. Saved as it is."""

    position: np.ndarray  # (n, 3) centre of mass [m]
    rotation: np.ndarray  # (n, 4) unit quaternion w, x, y, z: body axes -> world axes
    twist: np.ndarray  # (n, 6) velocity [m/s] of the centre of mass, then spin [rad/s]
    force: np.ndarray  # (n, 6) constant force [N] and torque [N m] given by the user, world axes
    asleep: np.ndarray  # (n,) 1 if the body sleeps
    rest_time: np.ndarray  # (n,) how long the body has been slow [s]
    counter: np.ndarray  # (8,) int64, see COUNTER_*
    # broad phase: fat AABBs, which have a margin to move in, and the pairs whose AABBs overlap
    fat_aabb: np.ndarray  # (ns, 6) lower corner, upper corner [m]
    pair: np.ndarray  # (pairs, 2) shapes, sorted by first, then second
    pair_cached: np.ndarray  # (pairs, 2) first of its cached contacts and their number
    pair_axis: np.ndarray  # (pairs, 8) cached by the narrow phase: the separating axis of the pair
    # contact cache: those of the last step, for warm starts
    cached_point: np.ndarray  # (contacts, 6) the point in the axes of body A, of body B
    cached_impulse: np.ndarray  # (contacts, 3) on B, world axes [N s]
    # joints
    joint_value: np.ndarray  # (nj, 3) free coordinates, full revolutions counted [rad] or [m]
    joint_impulse: np.ndarray  # (rows,) of the last step [N s] or [N m s]
    joint_curve: np.ndarray  # (rows, 3) biases that let them fit after the last three steps [m/s]
    # robots, one after the other (model/robot_arrays.py)
    robot_q: np.ndarray  # (nq,) coordinates [rad], [m]
    robot_v: np.ndarray  # (nv,) rates
    robot_tau: np.ndarray  # (nv,) forces at the joints given by the user [N m], [N]
    robot_control: np.ndarray  # (na,) commands of the actuators
    robot_impulse: np.ndarray  # (rows,) of limits, dry friction, drives, loops in the last step


# Column 0 of State.pair_axis for polytopes: kind + AXIS_KINDS (i + AXIS_SECOND j), the best
# separating axis, of faces or edges number i and j within the polytopes.
AXIS_NONE, AXIS_FACE_A, AXIS_FACE_B, AXIS_EDGES, AXIS_DIRECTION = range(5)
AXIS_KINDS = 8
AXIS_SECOND = 1 << 24

COUNTER_STEP, COUNTER_PAIRS, COUNTER_CACHED, COUNTER_BOXES_VALID = range(4)
COUNTERS = 8


DEFAULT_DRIFT, NO_DRIFT, BAUMGARTE, POST_STABILIZATION = range(4)  # settings.drift


class Settings(NamedTuple):
    """Numbers that a step reads. Every default is what a World uses."""

    dt: float = 1.0 / 240.0  # [s]
    gravity_x: float = 0.0  # [m/s²]
    gravity_y: float = 0.0
    gravity_z: float = -9.81
    tolerance: float = 1e-5  # on residual() [m/s]; 1/4000 of what gravity adds in a step
    # Share of the speed at which the contacts of a large island close that is added to it.
    relative_tolerance: float = 0.2
    max_sweeps: int = 0  # of the solver in a step; 0: sweep_limit() (gauss_seidel/sweep.py)
    budget_sweeps: int = 0  # hard bound of the solve; 0: none
    budget_time: float = 0.0  # [s] likewise
    newton: int = 1  # 1: Newton's method takes over where sweeps over a small island stall
    sleeping: int = 1
    sleep_speed: float = 5e-3  # [m/s] a body slower than this everywhere on it may fall asleep
    sleep_delay: float = 0.5  # [s] after which a slow island sleeps
    bounce_speed: float = 1e-2  # [m/s] impacts slower than this do not bounce
    push_out: float = 0.5  # share of an overlap that one step takes away
    # Gaps and overlaps below this share of the smaller body's radius count as touching. Without it
    # a stack never comes to rest: an error of the velocity makes a gap of error * dt, which the
    # next step may close with the velocity of that error.
    skin: float = 3e-5
    # What becomes of the drift of joints and contacts: 0 the default, 1 nothing, 2 Baumgarte,
    # 3 post-stabilization alone.
    drift: int = 0
    baumgarte: float = 0.0  # [1/s] share of an error that becomes velocity
    # 1: continuous collision detection of pairs that move far (collision/ccd.py); 2: likewise where
    # not all of their contacts act, as in the half steps of steppers/verlet.py.
    ccd: int = 1
    hashing: int = 0  # 1: hash the state after every step


def new_state(model: Model, position, rotation, twist) -> State:
    """State of bodies at the given poses (n, 3), (n, 4) and velocities (n, 6), nothing touching."""
    n, ns = len(model.bodies.kind), len(model.shapes.kind)
    return State(
        position=np.array(position, dtype=np.float64).reshape(n, 3),
        rotation=np.array(rotation, dtype=np.float64).reshape(n, 4),
        twist=np.array(twist, dtype=np.float64).reshape(n, 6),
        force=np.zeros((n, 6)),
        asleep=np.zeros(n, np.int32),
        rest_time=np.zeros(n),
        counter=np.zeros(COUNTERS, np.int64),
        fat_aabb=np.zeros((ns, 6)),
        pair=np.zeros((0, 2), np.int32),
        pair_cached=np.zeros((0, 2), np.int32),
        pair_axis=np.zeros((0, 8)),
        cached_point=np.zeros((0, 6)),
        cached_impulse=np.zeros((0, 3)),
        joint_value=np.zeros((len(model.joints.kind), COORDINATES)),
        joint_impulse=np.zeros(model.joints.row_first[-1]),
        joint_curve=np.zeros((model.joints.row_first[-1], 3)),
        **{name: np.zeros(size) for name, size in robot_sizes(model.robots).items()},
    )


def joined_bodies(model: Model) -> np.ndarray:
    """(k, 2) int32 pairs of bodies that hang together: by joints, or as links of a robot."""
    return np.vstack([model.joints.body, joined_links(model.robots)]).astype(np.int32)


LANE_NUMBERS = 328  # of a batch of contacts, 41 for each


@table
class ContactRows(NamedTuple):
    """The contact problem of one step, one row a contact, in the order of
    constraints/islands.py.
    """

    body: np.ndarray  # (m, 2) bodies A and B; n stands for the fixed world
    frame: np.ndarray  # (m, 9) normal, tangent 1, tangent 2
    arm: np.ndarray  # (m, 6) from the centre of mass of A, of B, to the point [m]
    # (m, 6) diagonal block of the Delassus matrix W = J M⁻¹ Jᵀ [1/kg]: nn, n1, n2, 11, 12, 22
    delassus: np.ndarray
    inverse: np.ndarray  # (m, 6) its inverse
    bias: np.ndarray  # (m,) added to the normal velocity before the law is applied [m/s]
    friction: np.ndarray  # (m,)
    restitution: np.ndarray  # (m,)
    gap: np.ndarray  # (m,) at the start of the step [m]
    skin: np.ndarray  # (m,) gaps and overlaps below this count as touching [m]
    approach: np.ndarray  # (m,) normal velocity at the start of the step [m/s]
    speed: np.ndarray  # (m,) of B seen from A at the point, as the step begins [m/s]
    impulse: np.ndarray  # (m, 3) [N s]
    push: np.ndarray  # (m,) impulses of the displacement (motion/stabilization.py) [N s]
    impact_impulse: np.ndarray  # (m, 3) of impacts within the step (solvers/stages/impact.py) [N s]
    round_impulse: np.ndarray  # (m, 3) those of one round
    target: np.ndarray  # (m,) normal velocity wanted after a round, negative [m/s]
    impact_list: np.ndarray  # (m,) rows that take part in an impact
    bounce_list: np.ndarray  # (m,) rows with restitution
    toi: np.ndarray  # (m,) time of their next impact within the step [s], -1 if they have none
    found_at: np.ndarray  # (m,) time within the step at which frame and arms are right [s]
    searches: np.ndarray  # (m,) how often they were found again in this step
    previous: np.ndarray  # (m, 3) impulses that the sweep before left (parallel_sweep.py) [N s]
    previous_twist: np.ndarray  # (n + 1, 8) velocities that it left
    slab_first: np.ndarray  # (slabs + 1,) rows of the slabs
    slab_change: np.ndarray  # (slabs,) float: what a sweep found there
    slab_sums: np.ndarray  # (slabs, 16) float: see sums of parallel_sweep.sweep_active()
    slab_list: np.ndarray  # (slabs,) scratch
    run_first: np.ndarray  # (slabs,) scratch: slabs that one thread sweeps (parallel_sweep.py)
    run_last: np.ndarray
    group_first: np.ndarray  # (groups + 1,) slabs of the groups
    group_sweeps: np.ndarray  # (groups,)
    group_residual: np.ndarray  # (groups,) float [m/s]
    group_tolerance: np.ndarray  # (groups,) float: what that may be [m/s]
    group_list: np.ndarray  # (groups,) scratch
    group_linked: np.ndarray  # (groups,) 1: it is an island with joints, 2: with robots
    flat: np.ndarray  # (1,) 1 in two dimensions: nothing couples to tangent 2
    special: np.ndarray  # (3,) see ROLLING, MOVING, STRUCK; what follows is right only if it is 1
    rolling: np.ndarray  # (m, 2) rolling and spinning friction [m]
    torque: np.ndarray  # (m, 3) impulse of these on B about normal, tangent 1, tangent 2 [N m s]
    surface: np.ndarray  # (m, 3) velocity of the surface of B on B less that of A, world [m/s]
    # Contacts in batches of eight, see constraints/lane_batches.py
    lane_row: np.ndarray  # (8 batches,) the contact in each lane, -1: none
    lane_body: np.ndarray  # (16 batches,) bodies A of the eight, then B
    lane_data: np.ndarray  # (LANE_NUMBERS batches,) what a visit reads
    lane_even: np.ndarray  # (batches,) 1: no body of the batch has an axis of its inertia
    lane_fill: np.ndarray  # (batches,) how many lanes have a contact
    lane_run: np.ndarray  # (slabs,) see PART ... in constraints/lane_batches.py
    lane_end: np.ndarray  # (slabs,) of the run that begins with the slab: end of its batches, or 0
    lane_bits: np.ndarray  # (n + 1,) scratch
    lane_base: np.ndarray  # (n + 1,) scratch
    lane_mass: np.ndarray  # (n + 1, 8) mass properties of bodies whose inertia has axes


# How a body is displaced in a step, motion.scheme: by the mean of its velocities before and after
# (MIDPOINT), as RATTLE found (RATTLED), from END_OF_STEP on by the velocity after; HELD: and joints
# hold it; CARRIED: by those before and after the middle of the step (carried_contacts.py); PLACED:
# a link, which its robot rotates after the step.
MIDPOINT, RATTLED, END_OF_STEP, HELD, CARRIED, PLACED = range(6)


@table
class Motion(NamedTuple):
    """Bodies within a step; n + 1 rows where the last is the fixed world.

    Rows that several cores write at once are 64 bytes wide and aligned (six numbers and two of
    padding): two bodies in one line of the cache made sweeps four times slower.
    """

    rotation_matrix: np.ndarray  # (n, 9) at the start of the step, or at its last impact
    mass: np.ndarray  # (n + 1, 7) inverse mass, then world inverse inertia xx xy xz yy yz zz, there
    force: np.ndarray  # (n, 6) all forces [N] and torques [N m] but gravity, world axes
    free: np.ndarray  # (n + 1, 8) velocities if nothing touched
    twist: np.ndarray  # (n + 1, 8) solved velocities
    move: np.ndarray  # (n + 1, 8) displacement twists
    mean: np.ndarray  # (n, 3) mean spin of a free rotation over the step
    later: np.ndarray  # (n, 3) spin at the end of the step after that rotation
    scheme: np.ndarray  # (n + 1,) MIDPOINT ... CARRIED, see motion/displacement.py
    carried: np.ndarray  # (n + 1,) float: share s of CARRIED, see carried_contacts.py
    impact_time: np.ndarray  # (n + 1,) time of its last impact within this step [s], -1 if none
    impact_displacement: np.ndarray  # (n + 1, 6) until that impact [m, rad]
    impact_rotation: np.ndarray  # (n + 1, 4) quaternion at that impact
    struck: np.ndarray  # (n + 1,) time of the impact that is being solved [s], -1: takes no part
    before: np.ndarray  # (n + 1, 6) velocities before a round of impacts; move before stabilization
    after: np.ndarray  # (n + 1, 6) velocities right after that impact


@table
class Boxes(NamedTuple):
    """Poses and AABBs of the shapes, and the hashed grid in which pairs are searched."""

    pose: np.ndarray  # (ns, 12)
    # (ns, SWEPT_COLUMNS) bounds of the motion within the step: 0..2 displacement of its body's
    # centre by its velocity [m]; 3 of its surface by rotation and forces [m]; 4..6 rotation vector
    # [rad]; 7..9 displacement of its origin [m]; 10 of its surface by forces and the curvature of
    # its path [m]; 11 by gravity, which is part of no other column [m]
    swept: np.ndarray
    reach: np.ndarray  # (ns,) how far a shape can move in this step: its speculative margin [m]
    spread: np.ndarray  # (ns,) likewise if it is struck by a shape that is near [m]
    aabb: np.ndarray  # (ns, 6) AABB of the shape as far as it can reach within the step
    escaped: np.ndarray  # (chunks,) int64 AABBs that have left their fat AABBs
    left: np.ndarray  # (ns,) 1: it has left its fat AABB
    seam_last: np.ndarray  # (ns,) last entry of Near.seam_next of a shape, plus 1; 0: none
    cell: np.ndarray  # (ns, 4) int64 level and cell
    bucket_first: np.ndarray  # (buckets + 1,)
    bucket_item: np.ndarray  # (ns,)
    pair_start: np.ndarray  # (ns + 1,)
    found: np.ndarray  # (pairs, 2)
    old_pair: np.ndarray  # (pairs, 2) the last list, while a new one is made
    old_cached: np.ndarray
    old_axis: np.ndarray


@table
class Near(NamedTuple):
    """Active pairs, whose AABBs overlap, and the slots for what the narrow phase finds."""

    pair: np.ndarray  # (pairs,) numbers of the pairs that are near
    slot_first: np.ndarray  # (pairs + 1,)
    slot_count: np.ndarray  # (pairs,)
    contact_first: np.ndarray  # (pairs,) index of its first contact in ContactList
    slot: np.ndarray  # (slots, 7) point, normal, gap
    toi: np.ndarray  # (pairs,) time of impact, as a share of the step, see collision/ccd_mesh.py
    # row p: triangle cache of two meshes, see collision/narrowphase/mesh/triangle_cache.py
    cached_of: np.ndarray  # (pairs, 3) shapes, number of pairs of triangles
    cached_axis: np.ndarray  # (pairs, 8) how far was searched and their pose; or closest points
    cached_triangle: np.ndarray  # (pairs, 2 CACHED_TRIANGLES) triangles that were near, two and two
    cached_gap: np.ndarray  # (pairs, CACHED_TRIANGLES) float32: how far apart they were [m]
    unresolved: np.ndarray  # (pairs,) overlaps of two meshes that no contact was found for
    given_up: np.ndarray  # (pairs,) 1: its time of impact was not found (collision/ccd_mesh.py)
    seam_next: np.ndarray  # (2 pairs,) lists of grounds, see collision/seams.py


@table
class Ccd(NamedTuple):
    """Continuous collision detection, see collision/ccd.py."""

    boxes: Boxes  # only pose and spread
    near: Near  # of one pair
    pair: np.ndarray  # (1, 2)
    axis: np.ndarray  # (1, 8)
    fraction: np.ndarray  # (n,) float: share of the step that a body moves
    changed: np.ndarray  # (n,) 1 if that was shortened in this pass
    changed_before: np.ndarray  # (n,) likewise in the pass before
    fraction_before: np.ndarray  # (n,) float: the share at the start of the pass


@table
class ContactList(NamedTuple):
    """Contacts in the order of the pairs."""

    place: np.ndarray  # (contacts, 7) point, normal, gap
    body: np.ndarray  # (contacts, 2)
    material: np.ndarray  # (contacts, 2)
    warm: np.ndarray  # (contacts, 3) warm start of the impulse, world axes
    point: np.ndarray  # (contacts, 6) to be cached
    impulse: np.ndarray  # (contacts, 3) to be cached
    row_contact: np.ndarray  # (contacts,) contact of each row


@table
class Graph(NamedTuple):
    """Islands, see constraints/islands.py."""

    tally: np.ndarray  # (4,) int64
    level: np.ndarray  # (n,)
    island: np.ndarray  # (n,)
    island_rest: np.ndarray  # (n,) float
    island_impact: np.ndarray  # (n,) float: time of its next impact within the step [s]
    queue: np.ndarray  # (n,)
    link_start: np.ndarray  # (n + 1,)
    link: np.ndarray  # (2 pairs,)
    joined: np.ndarray  # (k, 2) constant: pairs of bodies that hang together, see joined_bodies()
    robot_body: np.ndarray  # (nt,) constant: a body of each robot, -1: it has none
    island_robot: np.ndarray  # (n + 1,) group of an island with robots, -1 for others
    level_first: np.ndarray  # (n + 1,)
    level_island: np.ndarray  # (n,)


@table
class Log(NamedTuple):
    """Statistics of a step."""

    flag: np.ndarray  # (4,) see FLAG_*
    info: np.ndarray  # (INFOS,) float, see INFO_*
    measures: np.ndarray  # (5,) float, see constraints/error_measures.py
    clock: np.ndarray  # (12,) uint64 ticks spent in each stage; TICKS_PER_SECOND
    hashes: np.ndarray  # (steps,) uint64


@table
class Work(NamedTuple):
    """Scratch of a step. Nothing here outlives it but for reading (contacts, info).

    In several tuples, because a kernel is compiled the slower the more arrays it is handed, and
    because Numba's parallel loops take tuples of arrays but not tuples of tuples.
    """

    motion: Motion
    boxes: Boxes
    near: Near
    ccd: Ccd
    contact_list: ContactList
    graph: Graph
    rows: ContactRows
    island: IslandWork
    log: Log


# WHOLE: 1 if a step may be said to be TOO_LONG; PARTS: in how many the last one was taken, 0 or 1
# if it was whole.
FLAG_PLACED, FLAG_COLLIDED, FLAG_WHOLE, FLAG_PARTS = range(4)
TICKS_PER_SECOND = 11  # entry of Log.clock, written where Settings.budget_time asks for it
# JOINT_ERROR: of joints after the step [m]; ENERGY_MADE: by it, in islands with joints [J], and
# ENERGY_LOST by it in those of them that nothing touches; SHAREs, and the EXCESS of the residual,
# are those of what is tolerated.
(
    INFO_RESIDUAL, INFO_SWEEPS, INFO_CONTACTS, INFO_PENETRATION, INFO_PUSHES, INFO_WORST_RESIDUAL,
    INFO_WORST_PENETRATION, INFO_NONCONVERGED, INFO_TOTAL_SWEEPS, INFO_NEAR, INFO_ISLANDS,
    INFO_FAILED_BODY, INFO_IMPACTS, INFO_NEWTON_ISLANDS, INFO_NEWTON_STEPS, INFO_STOPPED,
    INFO_WANTED, INFO_JOINT_ERROR, INFO_JOINT_SHARE, INFO_WORST_JOINT_ERROR, INFO_ENERGY_MADE,
    INFO_ENERGY_SHARE, INFO_WORST_ENERGY_MADE, INFO_UNRESOLVED, INFO_GIVEN_UP, INFO_OVERLAPS,
    INFO_TOTAL_UNRESOLVED, INFO_TOTAL_GIVEN_UP, INFO_TOLERANCE, INFO_EXCESS, INFO_ENERGY_LOST,
    INFO_TOTAL_ENERGY_LOST,
) = range(32)  # fmt: skip
INFOS = 32
