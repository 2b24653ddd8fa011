"""Queries of a world: rays, closest points, overlap. No part of the step."""
