"""Sliding under friction on a polygon, in closed form."""

import numpy as np

G = 9.81


def predicted_stop(facets, angle, speed, mu):
    """Where a particle stops that starts at `angle` under friction on a polygon.

    Let a be its angle from the nearest corner, 0 <= a <= h = pi / facets. The corner's friction
    mu g slows the motion along itself alone, so the direction turns away from it, until
    it is straight between two corners, at the angle h. From there friction is against the motion,
    mu g cos h strong, and the direction stays.
    """
    h = np.pi / facets
    corner = 2 * h * np.round(angle / (2 * h))
    a, side = abs(angle - corner), np.sign(angle - corner)
    across, along = speed * np.sin(a), speed * np.cos(a)
    turned = across / np.tan(h)  # speed along the corner when the direction has turned
    time = (along - turned) / (mu * G)
    rest = (across / np.sin(h)) ** 2 / (2 * mu * G * np.cos(h))
    x = (along**2 - turned**2) / (2 * mu * G) + rest * np.cos(h)
    y = side * (across * time + rest * np.sin(h))
    c, s = np.cos(corner), np.sin(corner)
    return np.array([c * x - s * y, s * x + c * y])
