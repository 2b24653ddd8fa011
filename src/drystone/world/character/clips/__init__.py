"""Motion capture clips: a skeleton and its poses, from files and to files."""
