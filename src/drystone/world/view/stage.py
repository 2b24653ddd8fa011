"""The bodies in the browser: one batch of instances for each shape; only poses are sent."""

import numpy as np

from drystone.model.rotation import (
    matrix_with_z_along,
    quaternion_from_matrix,
    rotation_matrices,
)
from drystone.world.export.drawing import FIXED, Drawing, rgb

FROM = (-0.6, -1.0, 0.45)  # from where the camera looks, unless told
LENS = 0.75  # [rad] top to bottom: longer than viser's, whose verticals lean

# The sky behind the scene, from its upper to its lower edge, and the ground under it.
SKY, HAZE, GROUND = (176, 196, 216), (232, 236, 240), (203, 198, 187)
LINES, EDGES = (190, 184, 172), (168, 161, 148)

# What moved by less than this share of the scene, or rotated by less than this [rad], since it was
# sent is not sent again: a hundredth of a pixel, but a wall that stands sends nothing.
SEEN = 1e-5

# Colours for what a toggle shows.
ASLEEP, AWAKE = (150, 160, 185), (214, 140, 60)
PICKED = (250, 200, 40)
ISLANDS = (
    (78, 121, 167), (242, 142, 43), (225, 87, 89), (118, 183, 178), (89, 161, 79), (237, 201, 72),
    (176, 122, 161), (255, 157, 167), (156, 117, 95),
)  # fmt: skip


class Stage:
    """What is drawn of the bodies and the fixed world, in the scene of a viser server."""

    def __init__(self, server, drawing: Drawing) -> None:
        self.server, self.drawing = server, drawing
        self.centre, self.radius = drawing.bounds
        self.batches = []  # (handle, rows of the bodies)
        self._clear = False
        self._sent = drawing.pose[0].astype(np.float32)  # (n, 7) what the page shows
        self._least = np.repeat(np.float32(SEEN) * np.array((self.radius, 1.0)), (3, 4))
        scene = server.scene
        scene.set_up_direction("+z")
        self._light()
        for k, geometry in enumerate(drawing.geometry):
            rows = np.flatnonzero(drawing.shape == k)
            if not len(rows):
                continue
            at, turn, size = _instances(drawing.pose[0, rows])
            vertices, faces = geometry.shared()
            handle = scene.add_batched_meshes_simple(
                f"/bodies/{k}",
                vertices=vertices.astype(np.float32),
                faces=faces.astype(np.uint32),
                batched_wxyzs=turn,
                batched_positions=at,
                batched_scales=size,
                batched_colors=_painted(drawing.colour[rows]),
                side="double",
                lod="off",
            )
            self.batches.append((handle, rows))
        self._draw_fixed()

    def _light(self) -> None:
        """Sun and sky. The photographed surroundings that viser shines on everything bleach it."""
        scene = self.server.scene
        scene.configure_default_lights()
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(150, 145, 135), intensity=1.5
        )
        share = np.linspace(0.0, 1.0, 64)[:, None, None]
        sky = (1 - share) * np.array(SKY) + share * np.array(HAZE)
        scene.set_background_image(np.repeat(sky, 4, axis=1).astype(np.uint8), format="png")

    def _draw_fixed(self) -> None:
        scene = self.server.scene
        for j, (k, where, _) in enumerate(self.drawing.fixed):
            geometry = self.drawing.geometry[k]
            vertices, faces = geometry.shared()
            scene.add_mesh_simple(
                f"/fixed/{j}",
                vertices.astype(np.float32),
                faces.astype(np.uint32),
                color=rgb(FIXED),
                # Walls of a container would hide what is in it.
                opacity=0.35 if len(geometry.vertices) == 36 else None,
                wxyz=where[3:],
                position=where[:3],
                side="double",
            )
        for j, (point, normal) in enumerate(self.drawing.planes):
            below = self.centre - normal * (normal @ (self.centre - point))
            size = 10.0 * self.radius
            scene.add_grid(
                f"/planes/{j}",
                width=size,
                height=size,
                position=below,
                wxyz=_along(normal),
                cell_size=size / 40,
                section_size=size / 8,
                cell_color=LINES,
                section_color=EDGES,
                plane_color=GROUND,
                plane_opacity=1.0,
                shadow_opacity=0.35,
            )

    def move(self, pose: np.ndarray) -> None:
        """Show the bodies at `pose` (n, 7): batches in which one has moved are sent."""
        pose = pose.astype(np.float32)
        there, was = ~np.isnan(pose[:, 0]), ~np.isnan(self._sent[:, 0])
        moved = ((np.abs(pose - self._sent) > self._least).any(axis=1) & there) | (there != was)
        if not moved.any():
            return
        at, turn, size = _instances(pose)
        for handle, rows in self.batches:
            if not moved[rows].any():
                continue
            handle.batched_positions = at[rows]
            handle.batched_wxyzs = turn[rows]
            handle.batched_scales = size[rows]
            self._sent[rows] = pose[rows]

    def paint(self, colours: np.ndarray | None) -> None:
        """Show the bodies in `colours` (n, 3), or in their own."""
        colours = self.drawing.colour if colours is None else colours
        for handle, rows in self.batches:
            handle.batched_colors = _painted(colours[rows])

    def see_through(self, clear: bool) -> None:
        """Arrows of contacts stand within the bodies: they are seen through while these are on."""
        if clear != self._clear:
            self._clear = clear
            for handle, _ in self.batches:
                handle.opacity = 0.45 if clear else None

    def body_at(self, handle, instance: int | None) -> int | None:
        """The row of the body that is instance `instance` of the batch `handle`."""
        for known, rows in self.batches:
            if known is handle and instance is not None and 0 <= instance < len(rows):
                return int(rows[instance])
        return None


def aim(server, stage: Stage, direction) -> None:
    """The cameras of all visitors, and of those to come, frame the scene from `direction`."""
    away = np.array(direction) / np.linalg.norm(direction)
    first = server.initial_camera
    for camera in (first, *(client.camera for client in server.get_clients().values())):
        camera.up, camera.fov = (0.0, 0.0, 1.0), LENS
        camera.position = tuple(stage.centre + stage.radius / np.sin(LENS / 2) * away)
        camera.look_at = tuple(stage.centre)


def look_at(server, target: np.ndarray) -> None:
    """The cameras move along with `target`."""
    for client in server.get_clients().values():
        camera = client.camera
        camera.position = np.array(camera.position) + (target - np.array(camera.look_at))
        camera.look_at = target


def _instances(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, orientations and sizes; a body that is not there has none."""
    gone = np.isnan(pose[:, 0])
    at, turn = pose[:, :3].astype(np.float32), pose[:, 3:].astype(np.float32)
    at[gone], turn[gone] = 0.0, (1.0, 0.0, 0.0, 0.0)
    return at, turn, np.where(gone, 1e-9, 1.0).astype(np.float32)


def _painted(colours: np.ndarray) -> np.ndarray:
    """Darker than they are: the lights of the page bleach them."""
    return (0.9 * colours).astype(np.uint8)


def _along(normal: np.ndarray) -> np.ndarray:
    """Quaternion that takes z to `normal`."""
    return quaternion_from_matrix(matrix_with_z_along(normal))


def box_edges(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """(12 n, 2, 3) edges of the boxes from `low` to `high` (n, 3)."""
    corner = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)], float)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8) if bin(a ^ b).count("1") == 1]
    points = low[:, None] + corner[None] * (high - low)[:, None]
    return points[:, np.array(pairs)].reshape(-1, 2, 3)


def reaches(drawing: Drawing, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Low and high corners (n, 3) of the AABBs of the bodies at `pose`."""
    low, high = np.empty((len(pose), 3)), np.empty((len(pose), 3))
    for k, geometry in enumerate(drawing.geometry):
        rows = np.flatnonzero(drawing.shape == k)
        corners = np.unique(geometry.vertices, axis=0)
        placed = np.einsum("nij,cj->nci", rotation_matrices(pose[rows, 3:]), corners)
        low[rows], high[rows] = placed.min(axis=1), placed.max(axis=1)
    return low + pose[:, :3], high + pose[:, :3]
