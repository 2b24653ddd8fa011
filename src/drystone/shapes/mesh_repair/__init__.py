"""Triangle meshes from files: reading, validation and repair."""
