"""Triangle meshes from files: reading, checking and repairing them."""
