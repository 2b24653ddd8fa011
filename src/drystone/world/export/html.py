"""One HTML file that plays a recording, or shows a world: opens offline, needs nothing else.

The page holds our own small renderer (player.js) and the numbers in single precision, packed by
deflate: positions are relative to the centre of the scene, so that single precision is enough.
"""

import base64
import html
import json
import zlib
from importlib.resources import files
from pathlib import Path

import numpy as np

from drystone.model.files import as_path, write_file
from drystone.world.export.drawing import FIXED, Drawing, rgb
from drystone.world.export.framed import framed

# From where the camera looks at the scene first.
FROM = (-0.6, -1.0, 0.45)
# Pages with more numbers than this are thinned out: so many frames are kept [numbers].
MOST_NUMBERS = 20_000_000


def write_html(drawing: Drawing, path, title: str, view=FROM) -> Path:
    """Write the page to `path`."""
    text = page(drawing, title, view)
    return write_file(as_path(path), text.encode(), "the page cannot be written there")


def page(drawing: Drawing, title: str, view=FROM) -> str:
    """The page as text."""
    folder = files("drystone.world.export")
    text = folder.joinpath("player.html").read_text(encoding="utf-8")
    script = folder.joinpath("player.js").read_text(encoding="utf-8")
    data = json.dumps(scene_data(drawing, view), separators=(",", ":"), allow_nan=False)
    data = data.replace("</", "<\\/")  # a name must not end the script
    parts = {"TITLE": html.escape(title), "SCENE_DATA": data, "PLAYER_SCRIPT": script}
    for mark, part in parts.items():
        text = text.replace(mark, part, 1)
    return text


def scene_data(drawing: Drawing, view=FROM) -> dict:
    """What player.js draws, as JSON holds it."""
    (centre, radius), walls = framed(drawing, view), drawing.walls
    kept = _kept_frames(drawing)
    numbers, shapes, at = [], [], 0
    for geometry in drawing.geometry:
        count = len(geometry.vertices)
        shapes.append({"at": at, "count": count, "radius": round(geometry.radius, 6)})
        numbers += [geometry.vertices.ravel(), geometry.normals.ravel()]
        at += 6 * count
    pose = drawing.pose[kept].copy()
    pose[:, :, :3] -= centre
    numbers.append(pose.ravel())
    packed = zlib.compress(np.concatenate(numbers).astype("<f4").tobytes(), 6)
    bodies = [
        [int(shape), colour.tolist(), name]
        for shape, colour, name in zip(drawing.shape, drawing.colour, drawing.names, strict=True)
    ]
    fixed = [
        [k, [*(where[:3] - centre).tolist(), *where[3:].tolist()], rgb(FIXED), name, j in walls]
        for j, (k, where, name) in enumerate(drawing.fixed)
    ]
    planes = []
    for point, normal in drawing.planes:
        # The point of the plane below the scene: it is drawn only so far around.
        below = normal * (normal @ (point - centre))
        planes.append([below.tolist(), normal.tolist()])
    return {
        "shapes": shapes,
        "bodies": bodies,
        "fixed": fixed,
        "planes": planes,
        "times": drawing.times[kept].tolist(),
        "pose_at": at,
        "centre": [0.0, 0.0, 0.0],
        "radius": radius,
        "from": list(map(float, view)),
        "data": base64.b64encode(packed).decode(),
    }


def _kept_frames(drawing: Drawing) -> np.ndarray:
    frames = len(drawing.times)
    every = -(-drawing.pose.size // MOST_NUMBERS) if drawing.pose.size else 1
    return np.unique(np.append(np.arange(0, frames, every), frames - 1))
