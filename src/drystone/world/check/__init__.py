"""Checks of a world before it runs."""
