"""Motion: displacement of bodies, position stabilization, integration, sleeping."""
