"""Trajectories of single rocks, one compiled call each. Read `trajectory.py` first."""
