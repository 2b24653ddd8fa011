"""Off-screen pictures of worlds, through pyvista (the `render` extra). No display is needed.

VTK draws colours, normals and depths; light and shadow are put on them by light.py. All bodies are
one mesh, whose corners are moved from picture to picture.
"""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import flag, integer, vector
from drystone.model.files import as_path, write_file
from drystone.model.rotation import rotation_matrices
from drystone.world.export.drawing import FIXED, GROUND, Drawing, drawing_of_world, rgb
from drystone.world.io.framing import VIEW_ANGLE, View, balls, frame_scene
from drystone.world.io.light import (
    DEEP,
    FAR_AWAY,
    NEAR,
    Lights,
    eye_of,
    light_axes,
    lights_on,
    lit,
    sky_directions,
    sun_directions,
)
from drystone.world.io.windows import Window, pyvista

FORCE, TEXT = "#d2321e", (51, 51, 51)
MOST_PIXELS = 16384  # of a side
UNLIT = (128, 128, 128)  # what lines have in place of a normal
LEAST_FORCE = 0.01  # of the largest one: smaller ones are no arrow


class Quality(NamedTuple):
    """What a picture costs."""

    fine: int  # points a pixel, across and down
    suns: int  # lights that the sun is made of
    sun_pixels: int  # of the side of a depth map
    skies: int
    sky_pixels: int


STILL = Quality(3, 18, 1024, 180, 512)
FILM = Quality(2, 4, 1024, 20, 256)


def draw(world, path, camera=None, size=(1200, 800), forces=False) -> Path:
    """Write a picture of `world` as it is now to `path` (png)."""
    drawing = drawing_of_world(world)
    arrows = _arrows(world, drawing.bounds[1]) if flag("forces", forces) else None
    return _draw(drawing, [drawing.pose[0]], path, [None], camera, size, arrows)


def draw_states(world, states, path, titles, camera=None, size=(1000, 560)) -> Path:
    """Several states of one world side by side, seen from the same place.

    states  list of (positions, orientations) as the world's arrays of these names
    titles  one text for each, or None
    camera  (from where, at what) two points [m]; or a direction to look from; None: chosen
    """
    poses = [np.hstack(state) for state in states]
    return _draw(drawing_of_world(world), poses, path, titles, camera, size, None)


def _draw(drawing, poses, path, titles, camera, size, arrows) -> Path:
    path = as_path(path, "picture")
    wide, high = (integer("size", x, 16, MOST_PIXELS) for x in vector("size", size, 2))
    view = frame_scene(drawing, poses, camera, wide / high)
    quality = STILL._replace(fine=max(1, min(STILL.fine, MOST_PIXELS // max(wide, high))))
    with Scene(drawing, poses, view, (wide, high), quality, arrows) as scene:
        parts = [_titled(scene.picture(p), title) for p, title in zip(poses, titles, strict=True)]
    return _write_picture(np.hstack(parts), path)


class Scene:
    """The meshes of a drawing, and pictures of them with the bodies at some pose.

    Used in a `with`: it has windows of VTK, one for the camera and one each for sun and sky.
    """

    def __init__(
        self, drawing: Drawing, poses: Any, view: View, size: tuple[int, int], quality: Quality,
        arrows: Any = None,
    ) -> None:  # fmt: skip
        self._pv, self._drawing, self._view = pyvista(), drawing, view
        self._fine, aspect = quality.fine, size[0] / size[1]
        self._eye = eye_of(view, VIEW_ANGLE, aspect)
        self._centre, self._radius = self._lit_sphere(poses, aspect)
        self._window = Window(size[0] * quality.fine, size[1] * quality.fine)
        clip = NEAR * view.distance, FAR_AWAY * view.distance
        self._window.look(view.eye, view.target, (0, 0, 1), VIEW_ANGLE, 0.0, clip)
        self._lamps = []  # (lights, window) of sun and sky
        for directions, pixels in (
            (sun_directions(quality.suns), quality.sun_pixels),
            (sky_directions(quality.skies), quality.sky_pixels),
        ):
            lights = lights_on(directions, self._centre, self._radius, pixels)
            self._lamps.append((lights, Window(pixels, pixels)))
        self._add_fixed()
        self._corner, self._normal, self._row = _corners(drawing)
        self._meshes = ()  # of the bodies, as each layer has them
        if len(self._corner):
            mesh = self._mesh_of(self._corner, drawing.colour[self._row], self._normal)
            self._meshes = self._add(mesh)
        if arrows is not None and len(arrows[0]):
            self._add_arrows(*arrows)

    def __enter__(self) -> "Scene":
        return self

    def __exit__(self, *_: object) -> None:
        for window in (self._window, *(window for _, window in self._lamps)):
            window.close()

    def picture(self, pose: np.ndarray) -> np.ndarray:
        """(height, width, 3) with the bodies at `pose` (n, 7); NaN: not there."""
        self._move(pose)
        window = self._window
        window.draw("colour")
        colour = window.colours()
        window.draw("normal")
        buffers = colour, window.colours(), window.depths()
        arrows = np.zeros((0, 0, 3), np.uint8), np.zeros((0, 0), np.float32)
        if window.has("arrow"):
            window.draw("arrow")
            arrows = window.colours(), window.depths()
        sun, sky = ((lights, self._maps(lights, seen)) for lights, seen in self._lamps)
        return lit(buffers, arrows, self._eye, sun, sky, self._fine)

    def _lit_sphere(self, poses: Any, aspect: float) -> tuple[np.ndarray, float]:
        """What sun and sky look at: all bodies, and what the camera sees beside them."""
        place, radius = balls(self._drawing, poses)
        centre = (place.min(axis=0) + place.max(axis=0)) / 2
        reach = float((np.linalg.norm(place - centre, axis=1) + radius).max())
        seen = np.tan(np.radians(VIEW_ANGLE / 2)) * self._view.distance * max(aspect, 1.0)
        return centre, max(reach, seen) if self._drawing.fixed else reach

    def _mesh_of(self, points: np.ndarray, colours: np.ndarray, normals: np.ndarray) -> Any:
        """Three corners for each triangle, with what is drawn of them in each layer."""
        faces = np.arange(len(points)).reshape(-1, 3)
        counted = np.hstack([np.full((len(faces), 1), 3), faces]).ravel()
        mesh = self._pv.PolyData(points.astype(np.float32), counted)
        mesh.point_data["colour"] = np.ascontiguousarray(colours, np.uint8)
        mesh.point_data["normal"] = _as_colours(normals)
        return mesh

    def _add(self, mesh: Any, casts: bool = True) -> tuple:
        """Each layer has a mesh of its own, for a mesh has one array that is shown."""
        meshes = mesh, mesh.copy()
        for layer, own in zip(("colour", "normal"), meshes, strict=True):
            self._window.add(layer, own, scalars=layer, rgb=True)
        for _, window in self._lamps if casts else ():
            window.add("cast", mesh, color="white")
        return meshes

    def _add_fixed(self) -> None:
        reach = FAR_AWAY * self._view.distance
        for point, normal in self._drawing.planes:
            if normal @ (self._view.eye - point) <= 0.0:
                continue  # from behind it would hide the scene
            below = self._view.target - normal * (normal @ (self._view.target - point))
            right, up = light_axes(normal)
            ends = [below + reach * (a * right + b * up) for a, b in _TWO_TRIANGLES]
            ground = np.tile(np.array(rgb(GROUND)), (6, 1)), np.tile(normal, (6, 1))
            # What lies below it is cut off anyway: nothing is in the shadow of a plane.
            self._add(self._mesh_of(np.array(ends), *ground), casts=False)
        walls = self._drawing.walls
        for j, (k, where, _) in enumerate(self._drawing.fixed):
            geometry = self._drawing.geometry[k]
            axes, count = rotation_matrices(where[3:]), len(geometry.vertices)
            paint = np.tile(np.array(rgb(FIXED)), (count, 1))
            mesh = self._mesh_of(
                geometry.vertices @ axes.T + where[:3], paint, geometry.normals @ axes.T
            )
            if j in walls:
                # Walls of a container would hide what is in it; only their edges are drawn.
                edges = mesh.clean().extract_feature_edges(10)
                width = 2 * self._fine
                self._window.add("colour", edges, color=rgb(FIXED), line_width=width)
                self._window.add("normal", edges, color=UNLIT, line_width=width)
            else:
                self._add(mesh)

    def _move(self, pose: np.ndarray) -> None:
        if not self._meshes:
            return
        there = ~np.isnan(pose[:, 0])
        known = np.where(there[:, None], pose, _REST)
        axes = rotation_matrices(known[:, 3:])
        # Who is not there shrinks to a point behind the camera.
        behind = self._view.eye + 0.1 * (self._view.eye - self._view.target)
        axes, at = axes * there[:, None, None], np.where(there[:, None], known[:, :3], behind)
        points = np.einsum("nij,nj->ni", axes[self._row], self._corner) + at[self._row]
        for mesh in self._meshes:
            mesh.points[:] = points
        turned = np.einsum("nij,nj->ni", axes[self._row], self._normal)
        self._meshes[1].point_data["normal"][:] = _as_colours(turned)

    def _maps(self, lights: Lights, window: Window) -> np.ndarray:
        """(k, m, m) how far each of the lights sees."""
        pixels = window.size[0]
        out = np.ones((len(lights.direction), pixels, pixels), np.float32)
        if window.has("cast"):
            deep = DEEP * self._radius
            for k, towards in enumerate(lights.direction):
                eye, up = self._centre + deep * towards, light_axes(towards)[1]
                window.look(eye, self._centre, up, None, self._radius, (0.0, 2 * deep))
                window.draw("cast")
                out[k] = window.depths()
        return out

    def _add_arrows(self, point: np.ndarray, force: np.ndarray) -> None:
        cloud = self._pv.PolyData(point)
        cloud["force"], cloud["length"] = force, np.linalg.norm(force, axis=1)
        shape = self._pv.Arrow(shaft_radius=0.025, tip_radius=0.07, tip_length=0.22)
        arrows = cloud.glyph(orient="force", scale="length", geom=shape)
        self._window.add("arrow", arrows, color=FORCE)


_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
_TWO_TRIANGLES = ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1))


def _as_colours(normals: np.ndarray) -> np.ndarray:
    return np.rint(127.5 * (np.clip(normals, -1.0, 1.0) + 1.0)).astype(np.uint8)


def _corners(drawing: Drawing) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners and normals of all bodies, each in its own frame, and whose they are."""
    none = np.zeros((0, 3), np.float32)
    corner, normal, row = [none], [none], [np.zeros(0, int)]
    for b, k in enumerate(drawing.shape):
        geometry = drawing.geometry[k]
        corner.append(geometry.vertices.astype(np.float32))
        normal.append(geometry.normals.astype(np.float32))
        row.append(np.full(len(geometry.vertices), b))
    return np.concatenate(corner), np.concatenate(normal), np.concatenate(row)


def _arrows(world, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Where contact forces act, and the forces: the largest is a third of the scene long [m]."""
    table = world.contacts()
    size = np.linalg.norm(table.force, axis=1)
    largest = size.max(initial=0.0)
    shown = size > LEAST_FORCE * largest
    return table.point[shown], table.force[shown] * (0.35 * radius / (largest or 1.0))


def _titled(image: np.ndarray, title: str | None) -> np.ndarray:
    if not title:
        return image
    from PIL import Image, ImageDraw, ImageFont

    page = Image.fromarray(image)
    high = max(12, len(image) // 24)
    ImageDraw.Draw(page).text((high, high // 2), title, TEXT, ImageFont.load_default(size=high))
    return np.asarray(page)


def _write_picture(image: np.ndarray, path: Path) -> Path:
    """Packed in memory, so that a full disk leaves an older picture as it was."""
    from PIL import Image

    if not path.name:
        raise InputError(f"{path}: is a folder, must be the file of a picture.")
    path = path if path.suffix else path.with_suffix(".png")
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise InputError(f"{path}: pictures cannot be written as {path.suffix}; use .png.")
    content = io.BytesIO()
    try:
        Image.fromarray(image).save(content, format=kind)
    except (OSError, ValueError, KeyError) as error:  # two colours alone, small ones alone ...
        raise InputError(f"{path}: {kind} cannot hold this picture ({error}); use .png.") from None
    return write_file(path, content.getvalue(), "the picture cannot be written there")
