"""Figures of motion that have a right answer: energy, gaps, directions, radii, momenta.

`figures.py` lists them. A module measures what moves alike; a measurement returns one number.
"""
