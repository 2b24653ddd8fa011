"""Robots: described by links and joints, read from URDF and MJCF, put into worlds."""
