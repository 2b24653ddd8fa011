"""Results of a study: tables, rasters, check lines, statistics."""
