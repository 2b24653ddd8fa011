"""Reports of a study: figures, maps, HTML."""
