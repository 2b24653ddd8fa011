"""Where the camera of a picture stands, so that the scene fills it."""

from typing import NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import listed, shown, vector
from drystone.world.export.drawing import Drawing
from drystone.world.export.framed import fixed_balls, placed

VIEW_ANGLE = 28.0  # [degrees] top to bottom: a longish lens, so that verticals stay upright
FROM = (-0.6, -1.0, 0.45)  # from where the camera looks, unless told
MARGIN = 0.93  # of the picture that the scene fills
# A body this many times farther from the middle than nearly all others is left out of the frame.
FAR = 3.0


class View(NamedTuple):
    """Where the camera is, and what it looks at [m]."""

    eye: np.ndarray
    target: np.ndarray

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.eye - self.target))


def frame_scene(drawing: Drawing, poses, camera, aspect: float) -> View:
    """Where the camera is and what it looks at: as near as nearly all bodies let it."""
    given = list(FROM) if camera is None else listed("camera", camera, "two points or a direction")
    if len(given) == 2:
        eye, target = (np.array(vector("camera", point)) for point in given)
        if (eye == target).all():
            raise InputError(f"camera: is at {shown(given[0])}, where it looks at; move one.")
        return View(eye, target)
    direction = np.array(vector("camera", given))
    if not direction.any():
        raise InputError(
            "camera: the direction is zero; give one to look from, such as (1, -1, 1)."
        )
    if not np.linalg.norm(direction[:2]) > 1e-6 * np.linalg.norm(direction):
        direction = direction + (0.0, -1e-3 * np.linalg.norm(direction) - 1e-9, 0.0)
    away = direction / np.linalg.norm(direction)
    right = np.cross((0.0, 0.0, 1.0), away)
    right /= np.linalg.norm(right)
    axes = np.array([right, np.cross(away, right), away])
    place, radius = balls(drawing, poses)
    x, y, z = (place @ axes.T).T
    tangent = np.tan(np.radians(VIEW_ANGLE / 2)) * MARGIN
    middle, far = np.array([_middle(x, radius), _middle(y, radius), 0.0]), 1.0
    for _ in range(4):  # what is near the camera looks larger, so the middle moves a little
        over = z + np.maximum(
            (np.abs(x - middle[0]) + radius) / (tangent * aspect),
            (np.abs(y - middle[1]) + radius) / tangent,
        )
        far = float(over.max())
        depth = far - z
        middle[0] += 0.5 * far * _middle((x - middle[0]) / depth, radius / depth)
        middle[1] += 0.5 * far * _middle((y - middle[1]) / depth, radius / depth)
    target = middle @ axes
    return View(target + max(far, 1e-3) * away, target)


def _middle(x: np.ndarray, radius: np.ndarray) -> float:
    return float((x - radius).min() + (x + radius).max()) / 2


def balls(drawing: Drawing, poses) -> tuple[np.ndarray, np.ndarray]:
    """Bounding spheres of what the picture must hold: all bodies but those that flew far off."""
    shown = np.array(poses)
    there = ~np.isnan(shown[:, :, 0])
    place, radius = placed(drawing, shown[there], np.tile(drawing.shape, (len(shown), 1))[there])
    if not len(place):
        place, radius = fixed_balls(drawing)
    if not len(place):
        return np.zeros((1, 3)), np.ones(1)
    off = np.linalg.norm(place - np.median(place, axis=0), axis=1)
    near = off <= FAR * (np.percentile(off, 90) + np.median(radius))
    return place[near], radius[near]
