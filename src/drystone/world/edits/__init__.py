"""Edits of a world while it runs: each wakes what it touches, and recordings note it."""
