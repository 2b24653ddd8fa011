"""The arrays of robots in reduced coordinates: trees of links, each hung on its parent.

A model holds one robot, or all of a world one after the other. Links are numbered so that a parent
comes before its children. Coordinates q and rates v stand one
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
    """What is constant about nt robots: nl links, nq coordinates, nv rates in all."""

    tree: np.ndarray  # (nl,) int32: robot of each link
    first_link: np.ndarray  # (nt + 1,) int32
    parent: np.ndarray  # (nl,) int32, -1: the fixed world
    kind: np.ndarray  # (nl,) int32: of the joint on which the link hangs, FIXED ... FREE
    first_q: np.ndarray  # (nl + 1,) int32
    first_v: np.ndarray  # (nl + 1,) int32
    dof_link: np.ndarray  # (nv,) int32: link of each rate
    above: np.ndarray  # (nv,) int32: the rate before it on the way to the root, -1: none
    frame: np.ndarray  # (nl, 12) pose of the joint in the parent's axes: position, rotation by rows
    axis: np.ndarray  # (nl, 3) unit, of a revolute or prismatic joint, in its frame
    turning: np.ndarray  # (nl, 18) F [a]× and F [a]×² of a revolute joint, by rows: F is the
    #                      rotation of its frame, a its axis, and F + sin q F [a]× + (1 - cos q)
    #                      F [a]×² that of the link in its parent (Rodrigues)
    inertia: np.ndarray  # (nl, 10) mass, mass times centre, inertia about the origin of the link:
    #                      xx xy xz yy yz zz, in its axes
    armature: np.ndarray  # (nv,) inertia of rotors, as seen by the joint [kg m²], [kg]
    damping: np.ndarray  # (nv,) [N m s/rad], [N s/m]
    friction: np.ndarray  # (nv,) dry friction [N m], [N]
    stiffness: np.ndarray  # (nv,) of a spring at the joint [N m/rad], [N/m]; revolute, prismatic
    rest: np.ndarray  # (nv,) coordinate at which that spring is slack
    limit: np.ndarray  # (nv, 2) of the coordinate; ∓inf: none


DRIVE_TORQUE, DRIVE_RATE, DRIVE_SERVO = range(3)
ROBOT_LIMIT, ROBOT_FRICTION, ROBOT_DRIVE, ROBOT_COUPLING, ROBOT_LOOP = range(5)  # rows of a robot


@table
class Robots(NamedTuple):
    """The robots of a world, all that is constant: nl links, nv rates, na actuators in all.

    Rows of robots have fixed places in State.robot_impulse: lower limit, upper limit and dry
    friction of each rate, then the drives, the coupled joints, three for each loop.
    """

    model: RobotModel
    base: np.ndarray  # (nt, 12) pose of what the first joints hang on, from the local origin
    body: np.ndarray  # (nl,) int32: row of the body of each link, -1: none
    link: np.ndarray  # (n + 1,) int32: link of each body, -1: none
    centre: np.ndarray  # (nl, 3) origin of the body in the link's frame [m]
    principal: np.ndarray  # (nl, 9) axes of the body in the link's frame
    mass_first: np.ndarray  # (nv + 1,) int32: see constraints/reduced/mass_factor.py
    smooth: np.ndarray  # (nt,) int32: 1 if no servo, motor, loop or dry friction acts
    drive_kind: np.ndarray  # (na,) int32: DRIVE_TORQUE ... DRIVE_SERVO
    drive_rate: np.ndarray  # (na,) int32: the rate that it drives
    drive_q: np.ndarray  # (na,) int32: its coordinate
    drive: np.ndarray  # (na, 4) gear, largest force, stiffness, damping
    first_drive: np.ndarray  # (nt + 1,) int32
    couple: np.ndarray  # (nc, 4) int32: rate and coordinate that follow, those that lead
    couple_number: np.ndarray  # (nc, 2) factor, offset
    first_couple: np.ndarray  # (nt + 1,) int32
    loop_link: np.ndarray  # (no, 2) int32: links, -1: the fixed world
    loop_point: np.ndarray  # (no, 6) in the frames of the links [m]
    first_loop: np.ndarray  # (nt + 1,) int32
