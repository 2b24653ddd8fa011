"""Off-screen rendering of worlds, through pyvista (the `render` extra)."""

import io
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.arrays import BOX, PLANE
from drystone.model.files import as_path, write_file

STONE = ("#b8b0a2", "#a39b8f", "#c9bfae", "#8f8a82", "#b3a593", "#9c948a", "#c2b6a3", "#a89f8d")
STEEL, FIXED, GROUND, SHADOW = "#3d4652", "#8d9aa5", "#e4e0d8", "#b9b4aa"
SUN = np.array([-0.62, -0.42, 0.66])  # where the light comes from, z up
VIEW_ANGLE = 28.0  # [degrees] top to bottom: a longish lens, so that verticals stay upright


def draw(world, path, camera=None, size=(1200, 800)) -> Path:
    """Write a picture of `world` as it is now to `path` (png)."""
    return draw_states(world, [(world.positions, world.orientations)], path, [None], camera, size)


def draw_states(world, states, path, titles, camera=None, size=(1000, 700)) -> Path:
    """Several states of one world side by side, seen from the same place.

    states  list of (positions, orientations) as the world's arrays of these names
    titles  one text for each, or None
    camera  (from where, at what) two points [m]; or a direction to look from; None: chosen
    """
    pv, path = _pyvista(), as_path(path, "picture")
    eye, target = _camera(world, states, camera, size[0] / size[1])
    plotter = pv.Plotter(
        off_screen=True, shape=(1, len(states)), border=False,
        window_size=(size[0] * len(states), size[1]),
    )  # fmt: skip
    for column, ((positions, orientations), title) in enumerate(zip(states, titles, strict=True)):
        plotter.subplot(0, column)
        _fill_plot(pv, plotter, world, positions, orientations, np.linalg.norm(eye - target))
        if title:
            plotter.add_text(title, position="upper_left", font_size=13, color="#333333")
        _light(pv, plotter, eye, target)
        plotter.camera_position = [tuple(eye), tuple(target), (0, 0, 1)]
        plotter.camera.view_angle = VIEW_ANGLE
        plotter.camera.clipping_range = np.array([0.1, 8.0]) * np.linalg.norm(eye - target)
    image = plotter.screenshot(None, return_img=True)
    plotter.close()
    return _write_picture(image, path)


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


def _camera(world, states, camera, aspect):
    """Where the camera is and what it looks at: as near as nearly all bodies let it."""
    if camera is not None and len(camera) == 2:
        return np.asarray(camera[0], float), np.asarray(camera[1], float)
    direction = np.array((-0.6, -1.0, 0.45) if camera is None else camera, float)
    away = direction / np.linalg.norm(direction)
    right = np.cross((0.0, 0.0, 1.0), away)
    right /= np.linalg.norm(right)
    up = np.cross(away, right)
    points = np.concatenate([positions for positions, _ in states])
    # A ball in flight, or a stone that flew off, may be outside.
    target = (np.percentile(points, 2, axis=0) + np.percentile(points, 98, axis=0)) / 2
    size = _typical_size(world)
    x, y, z = (np.abs((points - target) @ axis) + size for axis in (right, up, away))
    tangent = np.tan(np.radians(VIEW_ANGLE / 2)) * 0.92
    needed = z + np.maximum(x / (tangent * aspect), y / tangent)
    return target + np.percentile(needed, 96) * away, target


def _typical_size(world):
    """Median radius of the bodies [m]."""
    radii = [part.radius for body in world.bodies for part in body.shape.parts()]
    return float(np.median(radii)) if radii else 1.0


def _fill_plot(pv, plotter, world, positions, orientations, distance):
    flat, round_, grounds = [], [], []
    for k, body in enumerate(world.bodies):
        colour = STEEL if body.name in ("ball", "cue") else STONE[(7 * k + k // 8) % len(STONE)]
        _add_shape(pv, body.shape, positions[k], orientations[k], colour, flat, round_)
    casting = [mesh for mesh, _ in flat + round_]
    for fixed in world.fixed:
        kind = fixed.shape.parts()[0].kind
        pose = fixed.position, fixed.orientation
        # Walls of a container would hide what is in it; only their edges are drawn.
        target = grounds if kind == PLANE else [] if kind == BOX else flat
        _add_shape(pv, fixed.shape, *pose, FIXED, target, round_, distance)
        for mesh, _ in target if kind == BOX else ():
            plotter.add_mesh(mesh.extract_feature_edges(10), color=FIXED, line_width=2)
    for ground, _ in grounds:
        plotter.add_mesh(ground, color=GROUND, lighting=False)
        _cast_shadows(pv, plotter, casting, ground, distance)
    for meshes, smooth in ((flat, False), (round_, True)):
        if meshes:
            plotter.add_mesh(
                _merge(pv, meshes), scalars="colour", rgb=True, smooth_shading=smooth, ambient=0.3,
                diffuse=0.75, specular=0.2 if smooth else 0.03, specular_power=25,
            )  # fmt: skip


def _cast_shadows(pv, plotter, meshes, ground, distance):
    """Every mesh pressed flat on the ground along the sun's rays: sharp, and free of artefacts."""
    centre = np.asarray(ground.center)
    normal = np.asarray(ground.compute_normals().cell_data["Normals"][0], float)
    flat = []
    for mesh in meshes:
        shadow = mesh.copy()
        height = (shadow.points - centre) @ normal
        shadow.points = shadow.points - np.outer(height / (SUN @ normal) - 2e-4 * distance, SUN)
        shadow.clear_data()
        flat.append(shadow)
    if flat:
        plotter.add_mesh(pv.merge(flat, merge_points=False), color=SHADOW, lighting=False)


def _add_shape(pv, shape, position, orientation, colour, flat, round_, distance=0.0):
    from drystone.shapes import matrix_from_quaternion

    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = matrix_from_quaternion(orientation), position
    for part in shape.parts():
        if part.kind == PLANE:  # endless: as much of it as is in view
            local = np.eye(4)
            local[:3, :3], local[:3, 3] = part.rotation, part.position
            ground = pv.Disc(inner=0, outer=20 * distance, c_res=64)
            flat.append((ground.transform(pose @ local, inplace=False), GROUND))
    for surface in shape.surfaces():
        mesh = _polygons(pv, surface).transform(pose, inplace=False)
        (round_ if surface.smooth else flat).append((mesh, colour))


def _polygons(pv, surface):
    faces = surface.faces
    if isinstance(faces, np.ndarray):  # a million triangles take no time
        counted = np.column_stack([np.full(len(faces), faces.shape[1]), faces]).ravel()
    else:
        counted = np.concatenate([np.concatenate([[len(face)], face]) for face in faces])
    return pv.PolyData(np.ascontiguousarray(surface.vertices), counted.astype(np.int64))


def _merge(pv, meshes):
    for mesh, colour in meshes:
        mesh.clear_data()
        rgb = (255 * np.array(pv.Color(colour).float_rgb)).astype(np.uint8)
        mesh.cell_data["colour"] = np.tile(rgb, (mesh.n_cells, 1))
    merged = pv.merge([mesh for mesh, _ in meshes], merge_points=False)
    return merged.extract_surface() if not isinstance(merged, pv.PolyData) else merged


def _light(pv, plotter, eye, target):
    reach = np.linalg.norm(eye - target)
    plotter.remove_all_lights()
    plotter.add_light(pv.Light(position=target + reach * SUN, focal_point=target, intensity=0.9))
    plotter.add_light(pv.Light(light_type="headlight", intensity=0.3))
    plotter.set_background(GROUND, top="#ffffff")
    plotter.enable_ssao(radius=0.03 * reach, bias=0.002 * reach)
    plotter.enable_anti_aliasing("ssaa")
