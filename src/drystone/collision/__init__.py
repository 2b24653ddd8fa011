"""Collision detection: broad phase, narrow phase, contact list with warm start, continuous
detection.
"""
