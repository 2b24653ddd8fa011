"""Bounding volume hierarchies (BVH) over triangles: binary SAH trees, wide BVHs, normal cones."""
