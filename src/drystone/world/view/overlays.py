"""What the toggles of the viewer show of a step: contacts, forces, islands, boxes, joints."""

import numpy as np

from drystone.constraints.joints.joint import Joint
from drystone.model.rotation import matrix_from_quaternion
from drystone.world.view.stage import (
    ASLEEP,
    AWAKE,
    ISLANDS,
    PICKED,
    RADIUS,
    Stage,
    box_edges,
    reaches,
)

STICK, SLIP, APART = (40, 110, 200), (220, 60, 40), (150, 150, 150)
PAINT = {"stick": STICK, "slip": SLIP, "separate": APART}
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
        self._drawn: tuple = ()  # step, toggles and pick that are shown
        self._pose = np.zeros((0, 7))  # and of which poses

    def draw(self, world, pose: np.ndarray, picked: int | None) -> None:
        """After a step, a change of the world or of the toggles, or a pick."""
        belongs = (world.step_count, frozenset(self.on), picked)
        if belongs == self._drawn and np.array_equal(pose, self._pose, equal_nan=True):
            return
        self._drawn, self._pose = belongs, pose
        arrows = {"points", "normals", "forces"} & self.on
        table = world.contacts() if arrows or "islands" in self.on else None
        self.stage.see_through(bool(arrows - {"points"}) or "joints" in self.on)
        self._contacts(table if arrows else None, world)
        self._boxes(pose)
        self._joints(world)
        self._colours(world, table, picked)

    def clear(self) -> None:
        for node in self._nodes.values():
            node.remove()
        self._nodes.clear()

    def _contacts(self, table, world) -> None:
        size = 0.02 * RADIUS
        points = self.stage.to_page(table.point) if table is not None else np.zeros((0, 3))
        colours = np.zeros((len(points), 3), np.uint8)
        for status, paint in PAINT.items() if table is not None else ():
            colours[table.status == status] = paint
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
            reach = force * (RADIUS / weight * max(len(world), 1) ** 0.5)
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
                name,
                self.stage.to_page(edges).astype(np.float32),
                np.tile(np.array(BOX, np.uint8), (len(edges), 2, 1)),
                thickness=2.0,
                thickness_units="screen",
            ),
        )

    def _joints(self, world) -> None:
        """The axis of each joint, and a red line where its two points have come apart."""
        lines, colours = [], []
        reach = 0.1 * self.stage.radius
        for joint in world.joints if "joints" in self.on else ():
            a, b = joint.anchor_a, joint.anchor_b
            along = reach * _axis(joint)
            lines += [(a - along, a + along), (a, b)]
            colours += [(JOINT, JOINT), (ERROR, ERROR)]
        for robot in world.robots if "joints" in self.on else ():
            for joint in robot.robot.joints:
                link = robot.link(joint.child)
                along = reach * (matrix_from_quaternion(link.orientation) @ np.array(joint.axis))
                lines.append((link.position - along, link.position + along))
                colours.append((JOINT, JOINT))
        self._put(
            "joints",
            len(lines),
            lambda name: self.server.scene.add_line_segments(
                name,
                self.stage.to_page(lines).astype(np.float32),
                np.array(colours, np.uint8),
                thickness=5.0,
                thickness_units="screen",
            ),
        )

    def _colours(self, world, table, picked: int | None) -> None:
        colours = None
        if self.on & {"sleep", "islands"} or picked is not None:
            colours = self.stage.drawing.colour.copy()
            state = world.state
            if "islands" in self.on:
                island = island_of(world, table)
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


def _axis(joint: Joint) -> np.ndarray:
    """Unit vector along the axis of `joint` now; upwards if it has none."""
    if not hasattr(joint, "axis"):
        return np.array((0.0, 0.0, 1.0))
    own = matrix_from_quaternion(joint.attachment.frames[0])[:, 0]
    body = joint.bodies[0]
    return own if body is None else matrix_from_quaternion(body.orientation) @ own


def island_of(world, table) -> np.ndarray:
    """(n,) number of the island of each body: bodies joined by contacts, joints or a robot.

    table   of world.contacts()
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    count, both = len(world), (table.body_a >= 0) & (table.body_b >= 0)
    pairs = list(zip(table.body_a[both].tolist(), table.body_b[both].tolist(), strict=True))
    for joint in world.joints:
        ends = [body.index for body in joint.bodies if body is not None]
        if len(ends) == 2:
            pairs.append((ends[0], ends[1]))
    for robot in world.robots:
        links = [body.index for body in robot.links.values()]
        pairs += list(zip(links[1:], links[:-1], strict=True))
    a, b = np.array(pairs, dtype=int).reshape(-1, 2).T
    graph = coo_matrix((np.ones(len(a)), (a, b)), shape=(count, count))
    return connected_components(graph, directed=False)[1]
