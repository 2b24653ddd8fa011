"""The data of a world: Model (constant), State (changing), Work (scratch), and their capacity.

`arrays.py` declares every array with its meaning, shape, unit and axes. Nothing here computes a
step.
"""
