"""Bounding volume hierarchies (BVH) over triangles: binary SAH trees, their eight-wide form, normal
cones.
"""
