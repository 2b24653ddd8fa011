"""The bodies in the browser: one batch of instances for each shape; only poses are sent."""

import numpy as np

from drystone.model.rotation import (
    matrix_from_quaternion,
    matrix_with_z_along,
    quaternion_from_matrix,
)
from drystone.world.export.drawing import FIXED, Drawing, rgb

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
        scene = server.scene
        scene.set_up_direction("+z")
        scene.configure_default_lights()
        for k, geometry in enumerate(drawing.geometry):
            rows = np.flatnonzero(drawing.shape == k)
            if not len(rows):
                continue
            at, turn, size = _instances(drawing.pose[0, rows])
            handle = scene.add_batched_meshes_simple(
                f"/bodies/{k}",
                vertices=geometry.vertices.astype(np.float32),
                faces=geometry.faces.astype(np.uint32),
                batched_wxyzs=turn,
                batched_positions=at,
                batched_scales=size,
                batched_colors=_painted(drawing.colour[rows]),
                flat_shading=not _is_round(geometry),
                side="double",
                lod="off",
            )
            self.batches.append((handle, rows))
        self._draw_fixed()

    def _draw_fixed(self) -> None:
        scene = self.server.scene
        for j, (k, where, _) in enumerate(self.drawing.fixed):
            geometry = self.drawing.geometry[k]
            scene.add_mesh_simple(
                f"/fixed/{j}",
                geometry.vertices.astype(np.float32),
                geometry.faces.astype(np.uint32),
                color=rgb(FIXED),
                # Walls of a container would hide what is in it.
                opacity=0.35 if len(geometry.vertices) == 36 else None,
                wxyz=where[3:],
                position=where[:3],
                flat_shading=True,
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
                cell_color=(225, 222, 216),
                section_color=(205, 200, 190),
                plane_color=(238, 235, 229),
                plane_opacity=1.0,
                shadow_opacity=0.25,
            )

    def move(self, pose: np.ndarray) -> None:
        """Show the bodies at `pose` (n, 7)."""
        for handle, rows in self.batches:
            at, turn, size = _instances(pose[rows])
            handle.batched_positions = at
            handle.batched_wxyzs = turn
            if np.isnan(pose[rows, 0]).any():
                handle.batched_scales = size

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


def _instances(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, orientations and sizes; a body that is not there has none."""
    gone = np.isnan(pose[:, 0])
    at, turn = pose[:, :3].astype(np.float32), pose[:, 3:].astype(np.float32)
    at[gone], turn[gone] = 0.0, (1.0, 0.0, 0.0, 0.0)
    return at, turn, np.where(gone, 1e-9, 1.0).astype(np.float32)


def _painted(colours: np.ndarray) -> np.ndarray:
    """Darker than they are: the lights of the page bleach them."""
    return (0.75 * colours).astype(np.uint8)


def _is_round(geometry) -> bool:
    """Whether corners of a triangle have different normals."""
    normals = geometry.normals.reshape(-1, 3, 3)
    return bool((np.abs(normals - normals[:, :1]) > 1e-6).any())


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
    for row, k in enumerate(drawing.shape):
        points = drawing.geometry[k].vertices @ matrix_from_quaternion(pose[row, 3:]).T
        low[row], high[row] = points.min(axis=0), points.max(axis=0)
    return low + pose[:, :3], high + pose[:, :3]
