"""Scenes of the source documents that belong to no family."""
