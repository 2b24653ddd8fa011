"""Bounding volume hierarchies (BVH) over triangles: SAH trees, wide BVHs, cones; x-y grids."""
