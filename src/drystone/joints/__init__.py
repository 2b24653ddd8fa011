"""Joints: rows of the contact problem that hold two bodies together; one file, one joint."""

from drystone.joints.ball import Ball
from drystone.joints.cylindrical import Cylindrical
from drystone.joints.distance import Distance
from drystone.joints.drives import Motor, Servo
from drystone.joints.fixed import Fixed
from drystone.joints.hinge import Hinge
from drystone.joints.joint import Joint
from drystone.joints.planar import Planar
from drystone.joints.slider import Slider
from drystone.joints.spring import SpringDamper
from drystone.joints.swing_twist import SwingTwist
from drystone.joints.universal import Universal

__all__ = [
    "Ball",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Hinge",
    "Joint",
    "Motor",
    "Planar",
    "Servo",
    "Slider",
    "SpringDamper",
    "SwingTwist",
    "Universal",
]
