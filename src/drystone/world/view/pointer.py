"""The pointer in the browser: pick and drag bodies, throw a ball, attract and repel (CLINE 4.7).

Left button on a body drags it by a spring at the point that was grabbed; a click picks it. With
"throw" a click throws a ball along the ray through that pixel. Attractor and repulsor sit in a
cursor that is moved along the ground and up and down.
"""

from typing import Any

import numpy as np

from drystone.world.interaction import Dragging
from drystone.world.view.stage import RADIUS, Stage

SPRING, CURSOR = (220, 60, 40), (90, 60, 170)


class Pointer:
    """What the mouse of the visitors does; commands go through the viewer's queue."""

    def __init__(self, viewer: Any, server: Any, stage: Stage, before: "Pointer | None") -> None:
        """`before` is the pointer of the scene that this one replaces: what it holds is kept."""
        self.viewer, self.server, self.stage = viewer, server, stage
        self.dragging: Dragging | None = None
        self.pole: Any = None  # Attractor or Repulsor
        self._line: Any = None
        self._cursor: Any = None
        if before is not None:
            self._take_over(before)
        # Handles outlive pointers: they ask for the one that is there when they are touched.
        for handle in stage.fresh:
            handle.on_click(lambda event: viewer.pointer._clicked(event))
            handle.on_drag("left")(lambda event: viewer.pointer._dragged(event))
        if before is None:
            server.scene.on_click()(lambda event: viewer.pointer._clicked_scene(event))

    def _take_over(self, before: "Pointer") -> None:
        self._line, self._cursor = before._line, before._cursor
        if before.dragging is not None and before.dragging.body._world is self.viewer.world:
            self.dragging = before.dragging
        if before.pole is not None and before.pole._world is self.viewer.world:
            self.pole = before.pole
            assert self._cursor is not None
            self._cursor.position = tuple(self.stage.to_page(self.pole.position).tolist())
        elif self._cursor is not None:
            self._cursor.remove()
            self._cursor = None

    # In threads of the server

    def _clicked(self, event: Any) -> None:
        row = self.stage.body_at(event.target, event.instance_index)
        if row is not None and not self.viewer._panel.throws():
            self.viewer._ask(lambda: self.pick(row))

    def _clicked_scene(self, event: Any) -> None:
        if self.viewer._panel.throws():
            origin = self.stage.from_page(event.ray_origin)
            self.viewer._ask(lambda: self.throw(origin, event.ray_direction))

    def _dragged(self, event: Any) -> None:
        row = self.stage.body_at(event.target, event.instance_index)
        target = self.stage.from_page(event.end_position)
        if event.phase == "start" and row is not None:
            point = self.stage.from_page(event.start_position)
            self.viewer._ask(lambda: self.grab(row, point, target))
        elif event.phase == "update":
            self.viewer._ask(lambda: self.pull(target))
        elif event.phase == "end":
            self.viewer._ask(self.let_go)

    # In the loop

    def pick(self, row: int) -> None:
        body = self.viewer.world.bodies[row]
        if body in self.viewer.picked:
            self.viewer.picked.remove(body)
        self.viewer.picked = [*self.viewer.picked[-1:], body]

    def grab(self, row: int, point: Any, target: Any) -> None:
        self.let_go()
        body = self.viewer.world.bodies[row]
        if not body.kinematic:
            self.dragging = self.viewer.world.drag(body, self._flat(point), self._flat(target))

    def pull(self, target: Any) -> None:
        if self.dragging is not None and self.dragging.held:
            self.dragging.move(self._flat(target))

    def let_go(self) -> None:
        if self.dragging is not None and self.dragging.held:
            self.dragging.release()
        self.dragging = None

    def throw(self, origin: Any, direction: Any) -> None:
        """Along the view ray, from a little in front of the eye."""
        world, panel = self.viewer.world, self.viewer._panel
        origin, direction = np.array(origin, float), np.array(direction, float)
        near = 0.3 * np.linalg.norm(self.stage.centre - origin)
        speed = float(panel.throw_speed.value)
        world.throw(self._flat(origin + near * direction), self._flat(direction), speed)

    def set_pole(self, kind: str, strength: float) -> None:
        """`kind` is off, attract or repel."""
        world = self.viewer.world
        if self.pole is not None and self.pole._world is world:
            world.remove(self.pole)
        self.pole = None
        if self._cursor is not None:
            self._cursor.remove()
            self._cursor = None
        if kind == "off":
            return
        place = tuple(self.stage.centre.tolist())
        self.pole = getattr(world, kind)(self._flat(place), strength, 0.1 * self.stage.radius)
        self._add_cursor(place)

    def _add_cursor(self, place: Any) -> None:
        self._cursor = self.server.scene.add_transform_controls(
            "/cursor", scale=0.3 * RADIUS, disable_rotations=True,
            position=self.stage.to_page(place),
        )  # fmt: skip
        self.server.scene.add_icosphere("/cursor/ball", 0.04 * RADIUS, color=CURSOR)
        self._cursor.on_update(lambda event: self.viewer.pointer._moved(event))

    def _moved(self, event: Any) -> None:
        place = tuple(self.stage.from_page(event.target.position).tolist())
        self.viewer._ask(lambda: self.move_pole(place))

    def move_pole(self, place: Any) -> None:
        if self.pole is not None and self.pole._world is self.viewer.world:
            self.pole.set(position=self._flat(place))

    def draw(self) -> None:
        """The spring of a drag, as a line."""
        if self._line is not None:
            self._line.remove()
            self._line = None
        if self.dragging is not None and self.dragging.held:
            ends = self.stage.to_page([[self.dragging.point, self.dragging.target]])
            self._line = self.server.scene.add_line_segments(
                "/spring", ends.astype(np.float32), SPRING, thickness=4.0, thickness_units="screen"
            )

    def _flat(self, place: Any) -> tuple:
        """In two dimensions everything happens in the plane y = 0."""
        x, y, z = (float(c) for c in place)
        return (x, 0.0, z) if self.viewer.world.dim == 2 else (x, y, z)
