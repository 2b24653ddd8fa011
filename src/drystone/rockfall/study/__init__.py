"""A study: its file, its sources and rocks, what is checked before it runs."""
