"""Narrow phase: contact points, normals and gaps of each pair of shapes.

`dispatch.py` holds the table of pairs: which routine handles which two kinds of shape.
`shapes/kinds.py` holds what these routines ask of a convex shape.
"""
