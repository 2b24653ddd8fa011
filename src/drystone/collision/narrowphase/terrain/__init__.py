"""Convex shapes against triangles of terrain and meshes: faces, edges, vertices, without inner
edges.
"""
