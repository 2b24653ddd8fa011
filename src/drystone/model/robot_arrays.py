"""The arrays of a robot in reduced coordinates: a tree of links, each hung on its parent.

Links are numbered so that a parent comes before its children. Coordinates q and rates v stand one
joint after the other; a joint has, with what it lets move:

    FIXED       0, 0
    REVOLUTE    1, 1   angle about the axis [rad]
    PRISMATIC   1, 1   displacement along the axis [m]
    BALL        4, 3   unit quaternion w, x, y, z; spin in the axes of the link [rad/s]
    PLANAR      3, 3   displacements along x, y of the joint's frame, angle about its z
    FREE        7, 6   position and quaternion in the joint's frame; velocity in the axes of the
                       joint's frame, spin in the axes of the link (as MuJoCo has it)
"""

from typing import NamedTuple

import numpy as np

from drystone.jit.table import table

FIXED, REVOLUTE, PRISMATIC, BALL, PLANAR, FREE = range(6)
JOINT_KINDS = ("fixed", "revolute", "prismatic", "ball", "planar", "free")
COORDINATES = (0, 1, 1, 4, 3, 7)  # of q
RATES = (0, 1, 1, 3, 3, 6)  # of v


@table
class RobotModel(NamedTuple):
    """What is constant about a robot: nl links, nq coordinates, nv rates."""

    parent: np.ndarray  # (nl,) int32, -1: the fixed world
    kind: np.ndarray  # (nl,) int32: of the joint on which the link hangs, FIXED ... FREE
    first_q: np.ndarray  # (nl + 1,) int32
    first_v: np.ndarray  # (nl + 1,) int32
    dof_link: np.ndarray  # (nv,) int32: link of each rate
    above: np.ndarray  # (nv,) int32: the rate before it on the way to the root, -1: none
    frame: np.ndarray  # (nl, 12) pose of the joint in the parent's axes: position, rotation by rows
    axis: np.ndarray  # (nl, 3) unit, of a revolute or prismatic joint, in its frame
    inertia: np.ndarray  # (nl, 10) mass, mass times centre, inertia about the origin of the link:
    #                      xx xy xz yy yz zz, in its axes
    armature: np.ndarray  # (nv,) inertia of rotors, as seen by the joint [kg m²], [kg]
    damping: np.ndarray  # (nv,) [N m s/rad], [N s/m]
    friction: np.ndarray  # (nv,) dry friction [N m], [N]
    stiffness: np.ndarray  # (nv,) of a spring at the joint [N m/rad], [N/m]; revolute, prismatic
    rest: np.ndarray  # (nv,) coordinate at which that spring is slack
    limit: np.ndarray  # (nv, 2) of the coordinate; ∓inf: none


@table
class RobotWork(NamedTuple):
    """Scratch: spatial vectors are angular, then linear, in world axes about `origin`."""

    origin: np.ndarray  # (3,) near the robot, so that map coordinates cost no digits [m]
    pose: np.ndarray  # (nl, 12) of the links: position, rotation by rows
    motion: np.ndarray  # (nv, 6) S: what a unit rate moves
    carried: np.ndarray  # (nv,) int32: 1 if S is fixed in the link, 0: in its parent
    velocity: np.ndarray  # (nl, 6)
    acceleration: np.ndarray  # (nl, 6)
    force: np.ndarray  # (nl, 6)
    inertia: np.ndarray  # (nl, 10) as RobotModel.inertia, in world axes about `origin`
    composite: np.ndarray  # (nl, 10) of a link with all that hangs on it
    articulated: np.ndarray  # (nl, 36) articulated inertia
    bias: np.ndarray  # (nl, 6) articulated bias force
    seen: np.ndarray  # (nv, 6) U = I_A S
    inner: np.ndarray  # (nv, 6) inverse of D = Sᵀ U, rows of a joint
    left: np.ndarray  # (nv,) u = τ - Sᵀ p


def new_robot_work(model: RobotModel) -> RobotWork:
    """Scratch for `model`."""
    nl, nv = len(model.parent), len(model.dof_link)
    f = np.zeros
    return RobotWork(
        f(3), f((nl, 12)), f((nv, 6)), np.zeros(nv, np.int32), f((nl, 6)), f((nl, 6)), f((nl, 6)),
        f((nl, 10)), f((nl, 10)), f((nl, 36)), f((nl, 6)), f((nv, 6)), f((nv, 6)), f(nv),
    )  # fmt: skip
