"""Shapes of worlds of two dimensions: discs, polygons and segments in the x-z plane."""
