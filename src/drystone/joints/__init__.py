"""Joints: rows of the contact problem that hold two bodies together; one file, one joint."""

from drystone.joints.ball import Ball, SwingTwist
from drystone.joints.drives import Motor, Servo
from drystone.joints.fixed import Fixed
from drystone.joints.hinge import Hinge
from drystone.joints.joint import Joint

__all__ = ["Ball", "Fixed", "Hinge", "Joint", "Motor", "Servo", "SwingTwist"]
