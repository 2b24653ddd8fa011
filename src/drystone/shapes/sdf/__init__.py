"""Signed distance fields (SDF) of meshes: octree, closest points, feature samples, disk cache."""
