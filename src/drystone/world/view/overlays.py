"""What the toggles of the viewer show of a step: contacts, forces, islands, boxes, joints."""

import numpy as np

from drystone.world.view.stage import ASLEEP, AWAKE, ISLANDS, PICKED, Stage, box_edges, reaches

STICK, SLIP, APART = (40, 110, 200), (220, 60, 40), (150, 150, 150)
NORMAL, BOX, JOINT, ERROR = (60, 60, 60), (120, 120, 120), (90, 60, 170), (220, 60, 40)

# Label of each toggle, in the order of the panel.
TOGGLES = {
    "points": "contact points (blue stick, red slide)",
    "normals": "contact normals",
    "forces": "contact forces",
    "sleep": "asleep, awake",
    "islands": "islands",
    "boxes": "bounding boxes",
    "joints": "joints and their errors",
}


class Overlays:
    """Draws what is switched on; what is switched off costs nothing."""

    def __init__(self, server, stage: Stage) -> None:
        self.server, self.stage = server, stage
        self.on: set[str] = set()
        self._nodes: dict = {}
        self._painted = False

    def draw(self, world, pose: np.ndarray, picked: int | None) -> None:
        """After a step, or a change of the toggles."""
        wanted = {"points", "normals", "forces"} & self.on
        table = world.contacts() if wanted else None
        self.stage.see_through(bool(wanted - {"points"}))
        self._contacts(table, world)
        self._boxes(pose)
        self._joints(world)
        self._colours(world, picked)

    def clear(self) -> None:
        for node in self._nodes.values():
            node.remove()
        self._nodes.clear()

    def _contacts(self, table, world) -> None:
        size = 0.02 * self.stage.radius
        points = table.point if table is not None else np.zeros((0, 3))
        colours = np.zeros((len(points), 3), np.uint8)
        if len(points):
            paint = {"stick": STICK, "slip": SLIP, "separate": APART}
            colours[:] = [paint[status] for status in table.status]
        self._put(
            "points",
            len(points),
            lambda name: self.server.scene.add_point_cloud(
                name,
                points.astype(np.float32),
                colours,
                point_size=0.6 * size,
                point_shape="circle",
            ),
        )
        if table is not None and len(points):
            normals = np.stack([points, points + 3 * size * table.normal], axis=1)
            force = table.force
            # So long that the weight of all bodies together is as long as the scene is wide.
            weight = sum(body.mass for body in world.bodies) * 9.81 or 1.0
            reach = force * (self.stage.radius / weight * max(len(world), 1) ** 0.5)
            arrows = np.stack([points, points + reach], axis=1)
        else:
            normals = arrows = np.zeros((0, 2, 3))
        for name, lines, colour in (("normals", normals, NORMAL), ("forces", arrows, colours)):
            self._put(
                name,
                len(lines),
                lambda path, lines=lines, colour=colour: self.server.scene.add_arrows(
                    path, lines.astype(np.float32), colour, shaft_radius=0.2 * size,
                    head_radius=0.5 * size, head_length=1.2 * size,
                ),
            )  # fmt: skip

    def _boxes(self, pose: np.ndarray) -> None:
        there = ~np.isnan(pose[:, 0])
        edges = np.zeros((0, 2, 3))
        if "boxes" in self.on and there.any():
            low, high = reaches(self.stage.drawing, np.where(there[:, None], pose, _REST))
            edges = box_edges(low[there], high[there])
        self._put(
            "boxes",
            len(edges),
            lambda name: self.server.scene.add_line_segments(
                name, edges.astype(np.float32), np.tile(np.array(BOX, np.uint8), (len(edges), 2, 1))
            ),
        )

    def _joints(self, world) -> None:
        """An axis at each joint, and a red line where its two points have come apart."""
        lines, colours = [], []
        for joint in world.joints if "joints" in self.on else ():
            a, b = joint.anchor_a, joint.anchor_b
            axis = getattr(joint, "axis", None)
            along = 0.1 * self.stage.radius * np.array((0, 0, 1) if axis is None else axis, float)
            lines += [(a - along / 2, a + along / 2), (a, b)]
            colours += [(JOINT, JOINT), (ERROR, ERROR)]
        self._put(
            "joints",
            len(lines),
            lambda name: self.server.scene.add_line_segments(
                name, np.array(lines, np.float32), np.array(colours, np.uint8)
            ),
        )

    def _colours(self, world, picked: int | None) -> None:
        colours = None
        if self.on & {"sleep", "islands"} or picked is not None:
            colours = self.stage.drawing.colour.copy()
            state = world.state
            if "islands" in self.on:
                island = island_of(world)
                colours[: len(island)] = np.array(ISLANDS)[island % len(ISLANDS)]
            elif "sleep" in self.on:
                asleep = state.asleep.astype(bool)
                colours[: len(asleep)] = np.where(asleep[:, None], ASLEEP, AWAKE)
            if picked is not None:
                colours[picked] = PICKED
        if colours is not None or self._painted:
            self.stage.paint(colours)
        self._painted = colours is not None

    def _put(self, name: str, count: int, make) -> None:
        """Replace what is drawn under `name`; nothing if it is off or empty."""
        old = self._nodes.pop(name, None)
        if old is not None:
            old.remove()
        if name in self.on and count:
            self._nodes[name] = make(f"/overlays/{name}")


_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


def island_of(world) -> np.ndarray:
    """(n,) number of the island of each body: bodies joined by contacts or joints."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count, table = len(world), world.contacts()
    both = (table.body_a >= 0) & (table.body_b >= 0)
    a, b = table.body_a[both].tolist(), table.body_b[both].tolist()
    row = {body: k for k, body in enumerate(world.bodies)}
    for joint in world.joints:
        ends = [row[body] for body in joint.bodies if body is not None]
        if len(ends) == 2:
            a.append(ends[0])
            b.append(ends[1])
    graph = coo_matrix((np.ones(len(a)), (a, b)), shape=(count, count))
    return connected_components(graph, directed=False)[1]
