"""The bodies in the browser: one batch of instances for each shape; only poses are sent.

The page has coordinates of its own: the scene's centre is its origin, and its size always the same.
What is sent in single precision is then exact on real maps too, and a watch and a valley both lie
where the page has shadows and cuts nothing off.
"""

from typing import Any

import numpy as np

from drystone.model.rotation import (
    matrix_from_quaternion,
    matrix_with_z_along,
    quaternion_from_matrix,
    rotation_matrices,
)
from drystone.world.export.drawing import FIXED, Drawing, rgb
from drystone.world.export.framed import LENS

FROM = (-0.6, -1.0, 0.45)  # from where the camera looks, unless told
RADIUS = 2.5  # of the scene, as the page has it; shadows end at 20

# The sky behind the scene, from its upper to its lower edge, and the ground under it.
SKY, HAZE, GROUND = (176, 196, 216), (226, 231, 235), (183, 188, 186)
LINES, EDGES = (168, 173, 171), (146, 151, 149)
FAR = 24.0  # radii of the scene away the ground has faded into the sky
MOST_FACES = 1_500_000  # triangles of all bodies: a laptop draws them in every frame, and shadows
NEAR, LEAST_SHARE = 3.0, 0.05  # from there on bodies have that share of their triangles or more
CLEAR = 0.45  # opacity of bodies within which arrows stand
FLAT = 0.2  # upward part of the normal of a plane that is ground; others would hide the scene

# What moved by less than this share of the scene, or rotated by less than this [rad], since it was
# sent is not sent again: a hundredth of a pixel, but a wall that stands sends nothing.
SEEN = 1e-5

NARROW = 0.8  # width to height of a window in which the panel lies below, as on a phone
UNDER_PANEL = 0.2  # of the distance, by which the scene is then lifted

# Colours for what a toggle shows.
ASLEEP, AWAKE = (150, 160, 185), (214, 140, 60)
PICKED = (250, 200, 40)
ISLANDS = (
    (78, 121, 167), (242, 142, 43), (225, 87, 89), (118, 183, 178), (89, 161, 79), (237, 201, 72),
    (176, 122, 161), (255, 157, 167), (156, 117, 95),
)  # fmt: skip


class Stage:
    """What is drawn of the bodies and the fixed world, in the scene of a viser server."""

    def __init__(
        self, server, drawing: Drawing, frame: tuple | None = None, before: "Stage | None" = None
    ) -> None:
        """`frame`: centre and radius of what is seen, if not that of the drawing.

        before   what it takes the place of: what is the same is not sent again, so nothing flickers
        """
        self.server, self.drawing = server, drawing
        self.centre, self.radius = drawing.bounds if frame is None else frame
        self.unit = RADIUS / self.radius  # of the page in a metre
        self.batches: list = []  # (handle, rows of the bodies)
        self.fresh: list = []  # handles among these that are new
        self._clear: bool = before is not None and before._clear
        self._sent = self._shown(drawing.pose[0])  # (n, 7) what the page shows
        self._least = np.repeat(np.float32(SEEN) * np.array((RADIUS, 1.0)), (3, 4))
        self._fixed: dict = {}  # handles by their names
        if before is None:
            server.scene.set_up_direction("+z")
            self._light()
        same = before is not None and before.unit == self.unit
        same = same and (before.centre == self.centre).all()
        for k in range(len(drawing.geometry)):
            rows = np.flatnonzero(drawing.shape == k)
            if len(rows):
                self._draw_bodies(k, rows, before if same else None)
        if same and _same_fixed(drawing, before.drawing):
            self._fixed = before._fixed
        else:
            self._draw_fixed()
            for j, (point, normal) in enumerate(drawing.planes):
                self._draw_plane(j, point, normal)
        if before is not None:
            self._remove(before)

    def _draw_bodies(self, k: int, rows: np.ndarray, before: "Stage | None") -> None:
        """One batch: that of `before`, if it is of this shape and of as many bodies."""
        geometry = self.drawing.geometry[k]
        at, turn, size = _instances(self._sent[rows])
        known = {handle.name: (handle, old) for handle, old in before.batches} if before else {}
        handle, old = known.get(f"/bodies/{k}", (None, ()))
        if handle is not None and len(old) == len(rows):
            vertices = before.drawing.geometry[k].vertices
            if np.array_equal(vertices, geometry.vertices):
                handle.batched_positions, handle.batched_wxyzs = at, turn
                handle.batched_scales = size
                handle.batched_colors = _painted(self.drawing.colour[rows])
                self.batches.append((handle, rows))
                return
        vertices, faces = geometry.shared()
        handle = self.server.scene.add_batched_meshes_simple(
            f"/bodies/{k}",
            vertices=(self.unit * vertices).astype(np.float32),
            faces=faces.astype(np.uint32),
            batched_wxyzs=turn,
            batched_positions=at,
            batched_scales=size,
            batched_colors=_painted(self.drawing.colour[rows]),
            opacity=CLEAR if self._clear else None,
            side="double",
            lod=self._coarser(),
        )
        self.batches.append((handle, rows))
        self.fresh.append(handle)

    def _coarser(self) -> Any:
        """Thousands of round bodies have more triangles than can be drawn: those far away get
        fewer."""
        faces = [len(geometry.vertices) // 3 for geometry in self.drawing.geometry]
        total = int(np.array(faces)[self.drawing.shape].sum()) if len(self.drawing.shape) else 0
        return "off" if total <= MOST_FACES else ((NEAR, max(MOST_FACES / total, LEAST_SHARE)),)

    def _remove(self, before: "Stage") -> None:
        """What was there before and has no successor of its name."""
        names = {handle.name for handle, _ in self.batches} | set(self._fixed)
        gone = [handle for handle, _ in before.batches] + list(before._fixed.values())
        for handle in gone:
            if handle.name not in names:
                handle.remove()

    def to_page(self, points) -> np.ndarray:
        """(n, 3) or (3,) coordinates of the page, of points in the world [m]."""
        return self.unit * (np.asarray(points, float) - self.centre)

    def from_page(self, points) -> np.ndarray:
        """The point in the world [m]."""
        return np.asarray(points, float) / self.unit + self.centre

    @property
    def cell(self) -> float:
        """Side of the squares of the ground [m]: a power of ten."""
        return float(10.0 ** np.floor(np.log10(self.radius / 1.2)))

    def _shown(self, pose: np.ndarray) -> np.ndarray:
        return np.hstack([self.to_page(pose[:, :3]), pose[:, 3:]]).astype(np.float32)

    def _light(self) -> None:
        """Sun and sky. The photographed surroundings that viser shines on everything bleach it."""
        scene = self.server.scene
        scene.configure_default_lights()
        scene.configure_environment_map(hdri=None)
        scene.add_light_hemisphere(
            "/sky", sky_color=(255, 255, 255), ground_color=(150, 145, 135), intensity=1.1
        )
        # The sun of the page stands nearly overhead: what is upright gets light from the side.
        scene.add_light_directional("/side", intensity=1.0, position=(-3.0, -4.0, 2.0))
        share = np.linspace(0.0, 1.0, 64)[:, None, None]
        sky = (1 - share) * np.array(SKY) + share * np.array(HAZE)
        scene.set_background_image(np.repeat(sky, 4, axis=1).astype(np.uint8), format="png")

    def _draw_fixed(self) -> None:
        walls = self.drawing.walls
        for j, (k, where, _) in enumerate(self.drawing.fixed):
            vertices, faces = self.drawing.geometry[k].shared()
            name = f"/fixed/{j}"
            self._fixed[name] = self.server.scene.add_mesh_simple(
                name,
                (self.unit * vertices).astype(np.float32),
                faces.astype(np.uint32),
                color=rgb(FIXED),
                opacity=0.2 if j in walls else None,
                wxyz=where[3:],
                position=self.to_page(where[:3]),
                side="double",
            )

    def _draw_plane(self, j: int, point: np.ndarray, normal: np.ndarray) -> None:
        """Squares of `cell` that count from the point of the plane."""
        turn = _along(normal)
        axes, cell = matrix_from_quaternion(turn), 10 * self.cell
        below = axes.T @ (self.centre - point)
        below = point + axes @ (np.round(below / cell) * cell * (1.0, 1.0, 0.0))
        ground = normal[2] > FLAT
        name = f"/planes/{j}"
        self._fixed[name] = self.server.scene.add_grid(
            name,
            width=2.2 * FAR * RADIUS,
            height=2.2 * FAR * RADIUS,
            position=self.to_page(below),
            wxyz=turn,
            cell_size=self.unit * self.cell,
            section_size=self.unit * cell,
            cell_color=LINES,
            section_color=EDGES,
            plane_color=GROUND,
            plane_opacity=1.0 if ground else 0.12,
            shadow_opacity=0.4 if ground else 0.0,
            fade_from="origin",
            fade_distance=FAR * RADIUS,
            fade_strength=0.5,
        )

    def move(self, pose: np.ndarray) -> None:
        """Show the bodies at `pose` (n, 7): batches in which one has moved are sent."""
        pose = self._shown(pose)
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
                handle.opacity = CLEAR if clear else None

    def body_at(self, handle, instance: int | None) -> int | None:
        """The row of the body that is instance `instance` of the batch `handle`."""
        for known, rows in self.batches:
            if known is handle and instance is not None and 0 <= instance < len(rows):
                return int(rows[instance])
        return None


def aim(server, stage: Stage, direction) -> None:
    """The cameras of all visitors, and of those to come, frame the scene from `direction`."""
    first = server.initial_camera
    first.up, first.fov = (0.0, 0.0, 1.0), LENS
    first.position, first.look_at = _eye(direction, 1.0), (0.0, 0.0, 0.0)
    for client in server.get_clients().values():
        aim_one(client, direction)


def welcome(server, client, direction) -> None:
    """Aim the camera of a visitor whose window is narrow, once it has come to the first view."""
    aimed = False

    def look(camera) -> None:
        nonlocal aimed
        first = np.array(server.initial_camera.position)
        arrived = np.allclose(camera.position, first, atol=1e-3 * RADIUS)
        if arrived and not aimed and camera.image_width < camera.image_height:
            aimed = True
            aim_one(client, direction)

    client.camera.on_update(look)
    look(client.camera)


def aim_one(client, direction) -> None:
    """The camera of one visitor, whose window may be narrow: the panel then covers its lower part,
    so the scene is put into the upper one."""
    camera = client.camera
    aspect = min(1.0, camera.image_width / (camera.image_height or 1))
    eye = np.array(_eye(direction, aspect))
    right = np.cross((0.0, 0.0, 1.0), eye)
    up = np.cross(eye, right) / (np.linalg.norm(right) * np.linalg.norm(eye) or 1.0)
    down = -up * UNDER_PANEL * np.linalg.norm(eye) if aspect < NARROW else np.zeros(3)
    camera.up, camera.fov = (0.0, 0.0, 1.0), LENS
    camera.position, camera.look_at = tuple(eye + down), tuple(down)


def _eye(direction, aspect: float) -> tuple[float, float, float]:
    away = np.array(direction) / np.linalg.norm(direction)
    half = np.arctan(max(aspect, 0.1) * np.tan(LENS / 2))
    x, y, z = (RADIUS / np.sin(half) * away).tolist()
    return x, y, z


def look_at(server, target: np.ndarray) -> None:
    """The cameras move along with `target`, a point of the page."""
    for client in server.get_clients().values():
        camera = client.camera
        camera.position = np.array(camera.position) + (target - np.array(camera.look_at))
        camera.look_at = target


def _same_fixed(drawing: Drawing, other: Drawing) -> bool:
    """Whether the fixed world is the same in both."""
    if len(drawing.fixed) != len(other.fixed) or len(drawing.planes) != len(other.planes):
        return False
    for (k, where, _), (m, there, _) in zip(drawing.fixed, other.fixed, strict=True):
        vertices = drawing.geometry[k].vertices, other.geometry[m].vertices
        if not (np.array_equal(where, there) and np.array_equal(*vertices)):
            return False
    planes = zip(drawing.planes, other.planes, strict=True)
    return all(np.array_equal(a, b) and np.array_equal(n, m) for (a, n), (b, m) in planes)


def _instances(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Positions, orientations and sizes; a body that is not there has none."""
    gone = np.isnan(pose[:, 0])
    at, turn = pose[:, :3].copy(), pose[:, 3:].copy()
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
