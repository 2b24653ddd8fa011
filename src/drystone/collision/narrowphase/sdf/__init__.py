"""Mesh against the signed distance field (SDF) of another: vertices and edges below its surface."""
