"""Bodies that scenes are made of: meshes by formula, and figures with joints."""
