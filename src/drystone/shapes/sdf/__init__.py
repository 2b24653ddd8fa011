"""Signed distance fields (SDF) of meshes: octree, closest points, feature samples, and their cache
on disk.
"""
