"""Reduced coordinates: kinematics and dynamics of robots by the algorithms of Featherstone."""
