"""Off-screen pictures of worlds, through pyvista (the `render` extra). No display is needed.

All bodies are one mesh, whose corners are moved from picture to picture. Shadows are the bodies
pressed flat on the ground along the rays of the sun: sharp, and free of the squares and spots that
shadow maps and ambient occlusion have with a software renderer.
"""

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import flag, integer, listed, shown, vector
from drystone.model.files import as_path, write_file
from drystone.model.rotation import rotation_matrices
from drystone.world.export.drawing import FIXED, GROUND, Drawing, drawing_of_world, rgb

SHADOW, SKY = "#b3ac9f", "#c9d8e6"
FORCE = "#d03b2a"
# Where the light comes from, z up: low and from the side, so that what is rough shows it.
SUN = np.array([-0.72, -0.44, 0.54])
VIEW_ANGLE = 28.0  # [degrees] top to bottom: a longish lens, so that verticals stay upright
FROM = (-0.6, -1.0, 0.45)  # from where the camera looks, unless told
MARGIN = 0.93  # of the picture that the scene fills
CLEAR = 0.1  # share of the ground that is drawn, about the middle, without haze
# A body this many times farther from the middle than nearly all others is left out of the frame.
FAR = 3.0
MOST_PIXELS = 16384  # of a side


def draw(world, path, camera=None, size=(1200, 800), forces=False) -> Path:
    """Write a picture of `world` as it is now to `path` (png)."""
    drawing = drawing_of_world(world)
    arrows = _arrows(world) if flag("forces", forces) else None
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
    pv, path = _pyvista(), as_path(path, "picture")
    wide, high = (integer("size", x, 16, MOST_PIXELS) for x in vector("size", size, 2))
    view = frame_scene(drawing, poses, camera, wide / high)
    plotter = pv.Plotter(
        off_screen=True, shape=(1, len(poses)), border=False, window_size=(wide * len(poses), high)
    )
    for column, (pose, title) in enumerate(zip(poses, titles, strict=True)):
        plotter.subplot(0, column)
        Scene(pv, plotter, drawing, view).move(pose)
        if arrows is not None:
            _add_arrows(pv, plotter, arrows, drawing.bounds[1])
        if title:
            plotter.add_text(title, position="upper_left", font_size=13, color="#333333")
    image = plotter.screenshot(None, return_img=True)
    plotter.close()
    return _write_picture(image, path)


class View(NamedTuple):
    """Where the camera is, and what it looks at [m]."""

    eye: np.ndarray
    target: np.ndarray

    @property
    def distance(self) -> float:
        return float(np.linalg.norm(self.eye - self.target))


class Scene:
    """The meshes of a drawing in one plot; `move` places the bodies."""

    def __init__(self, pv: Any, plotter: Any, drawing: Drawing, view: View) -> None:
        self._drawing, self._view = drawing, view
        self._corner, self._normal, self._row = _corners(drawing)
        self._planes = drawing.planes
        light_plot(pv, plotter, view)
        self._add_fixed(pv, plotter)
        self._shadows = [
            (pv.PolyData(), point, normal)
            for point, normal in drawing.planes
            if SUN @ normal > 0.05
        ]
        faces = np.arange(len(self._corner)).reshape(-1, 3)
        counted = np.hstack([np.full((len(faces), 1), 3), faces]).ravel()
        self._mesh = None
        if len(faces):
            self._mesh = pv.PolyData(self._corner.copy(), counted)
            self._mesh.point_data["colour"] = drawing.colour[self._row].astype(np.uint8)
            self._mesh.point_data["Normals"] = self._normal
            self._mesh.point_data.active_normals_name = "Normals"
            plotter.add_mesh(
                self._mesh, scalars="colour", rgb=True, smooth_shading=False, ambient=0.32,
                diffuse=0.72, specular=0.08, specular_power=25, interpolation="phong",
            )  # fmt: skip
            self._flat = []
            for _, point, normal in self._shadows:
                flat = pv.PolyData(self._corner.copy(), counted)
                plotter.add_mesh(flat, color=SHADOW, lighting=False)
                self._flat.append((flat, point, normal))

    def _add_fixed(self, pv, plotter) -> None:
        reach = 25.0 * self._view.distance
        opaque = np.append(rgb(GROUND), 255).astype(np.uint8)
        for point, normal in self._planes:
            below = self._view.target - normal * (normal @ (self._view.target - point))
            ground = pv.Disc(center=below, inner=0, outer=reach, normal=normal, r_res=50, c_res=90)
            far = np.linalg.norm(ground.points - below, axis=1) / reach
            paint = np.tile(opaque, (len(far), 1))
            # It ends in haze, without an edge against the sky.
            paint[:, 3] = 255 * np.clip((0.5 - far) / (0.5 - CLEAR), 0.0, 1.0)
            plotter.add_mesh(ground, scalars=paint, rgba=True, lighting=False)
        for k, where, _ in self._drawing.fixed:
            geometry = self._drawing.geometry[k]
            axes = rotation_matrices(where[3:])
            faces = np.hstack([np.full((len(geometry.faces), 1), 3), geometry.faces]).ravel()
            mesh = pv.PolyData(geometry.vertices @ axes.T + where[:3], faces)
            if len(geometry.vertices) == 36:
                # Walls of a container would hide what is in it; only their edges are drawn.
                edges = mesh.clean().extract_feature_edges(10)
                plotter.add_mesh(edges, color=FIXED, line_width=2)
            else:
                plotter.add_mesh(mesh, color=rgb(FIXED), ambient=0.32, diffuse=0.72)

    def move(self, pose: np.ndarray) -> None:
        """Place the bodies at `pose` (n, 7); NaN: not there."""
        if self._mesh is None:
            return
        there = ~np.isnan(pose[:, 0])
        known = np.where(there[:, None], pose, _REST)
        axes = rotation_matrices(known[:, 3:])
        # Who is not there shrinks to a point behind the camera.
        axes, at = axes * there[:, None, None], np.where(there[:, None], known[:, :3], self._behind)
        points = np.einsum("nij,nj->ni", axes[self._row], self._corner) + at[self._row]
        self._mesh.points = points
        self._mesh.point_data["Normals"] = np.einsum(
            "nij,nj->ni", axes[self._row], self._normal
        ).astype(np.float32)
        for flat, point, normal in self._flat:
            height = (points - point) @ normal
            lifted = height / (SUN @ normal) - 2e-4 * self._view.distance
            flat.points = points - np.outer(lifted, SUN)

    @property
    def _behind(self) -> np.ndarray:
        return self._view.eye + 0.1 * (self._view.eye - self._view.target)


_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


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


def light_plot(pv, plotter, view: View) -> None:
    """Camera, sun, a little light from the camera, and the sky."""
    plotter.remove_all_lights()
    place = view.target + view.distance * SUN
    plotter.add_light(pv.Light(position=place, focal_point=view.target, intensity=0.9))
    plotter.add_light(pv.Light(light_type="headlight", intensity=0.3))
    plotter.set_background(GROUND, top=SKY)
    plotter.enable_anti_aliasing("ssaa")
    plotter.camera_position = [tuple(view.eye), tuple(view.target), (0, 0, 1)]
    plotter.camera.view_angle = VIEW_ANGLE
    plotter.camera.clipping_range = (0.05 * view.distance, 40.0 * view.distance)


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
    place, radius = _balls(drawing, poses)
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


def _balls(drawing: Drawing, poses) -> tuple[np.ndarray, np.ndarray]:
    """Bounding spheres of what the picture must hold: all bodies but those that flew far off."""
    rows = [(p[:3], drawing.geometry[drawing.shape[b]].radius)
            for pose in poses for b, p in enumerate(pose) if not np.isnan(p[0])]  # fmt: skip
    if not rows:
        rows = [(where[:3], drawing.geometry[k].radius) for k, where, _ in drawing.fixed]
    if not rows:
        return np.zeros((1, 3)), np.ones(1)
    place, radius = np.array([p for p, _ in rows]), np.array([r for _, r in rows])
    off = np.linalg.norm(place - np.median(place, axis=0), axis=1)
    near = off <= FAR * (np.percentile(off, 90) + np.median(radius))
    return place[near], radius[near]


def _arrows(world) -> np.ndarray:
    """(n, 2, 3) where contact forces act, and the forces [N]."""
    table = world.contacts()
    return np.stack([table.point, table.force], axis=1)


def _add_arrows(pv, plotter, arrows: np.ndarray, radius: float) -> None:
    """Contact forces; the largest one is a third of the scene long. Drawn over the bodies."""
    size = np.linalg.norm(arrows[:, 1], axis=1)
    largest = size.max(initial=0.0)
    for (point, force), length in zip(arrows, size, strict=True):
        if length <= 0.01 * largest:
            continue
        long = 0.35 * radius * length / largest
        mesh = pv.Arrow(point, force, scale=long, shaft_radius=0.02, tip_radius=0.06)
        plotter.add_mesh(mesh, color=FORCE, ambient=0.5)


def _write_picture(image: np.ndarray, path: Path) -> Path:
    """Packed in memory, so that a full disk leaves an older picture as it was."""
    from PIL import Image

    path = path if path.suffix else path.with_suffix(".png")
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise InputError(f"{path}: pictures cannot be written as {path.suffix}; use .png.")
    content = io.BytesIO()
    Image.fromarray(image).save(content, format=kind)
    return write_file(path, content.getvalue(), "the picture cannot be written there")


def _pyvista():
    try:
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger
    except ImportError:
        raise DrystoneError(
            "Pictures need pyvista. Install it with: pip install 'drystone[render]'"
        ) from None
    # Without a display VTK tries X first and complains before it renders off screen.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)
    return pyvista
