"""Viewer: a live world in the browser. Play, pick, drag, throw, build, switch, save."""

from collections import deque
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import numpy as np

from drystone.model.checks import flag
from drystone.model.signatures import public
from drystone.world.export.drawing import drawing_of_world
from drystone.world.run import stage_seconds
from drystone.world.view.loop import Loop
from drystone.world.view.overlays import Overlays
from drystone.world.view.panels import LivePanel
from drystone.world.view.pointer import Pointer
from drystone.world.view.server import start_server
from drystone.world.view.stage import Stage

HISTORY = 600  # points of the plots


def view_world(world, port, host, token, block, play, gallery=None) -> "Viewer":
    """World.view(), with a gallery of other worlds to choose from: {name: (summary, build)}."""
    viewer = Viewer(world, port, host, token, gallery or {})
    if flag("play", play):
        viewer.play()
    if flag("block", block):
        wait_for_end(viewer)
    return viewer


def wait_for_end(viewer: Any) -> None:
    """Say where the page is and wait for Ctrl-C."""
    from rich.console import Console

    Console(stderr=True, highlight=False).print(
        f"The viewer is at {viewer.url}\nCtrl-C ends it.", markup=False, soft_wrap=True
    )
    try:
        while True:
            sleep(0.5)
    except KeyboardInterrupt:
        viewer.stop()


@public
class Viewer:
    """A world that is looked at in the browser; `World.view` makes one.

    url      of the page
    world    what is shown; another one after a reset, or from the gallery

    While it runs the world belongs to the viewer's thread: use `do` to change it.
    """

    def __init__(
        self,
        world: Any,
        port: int = 8080,
        host: str = "127.0.0.1",
        token: str | None = None,
        gallery: dict | None = None,
    ) -> None:
        self.world = world
        self.gallery = gallery or {}
        self.picked: list = []  # bodies, the last one picked last
        self.follow = False
        self.history: deque = deque(maxlen=HISTORY)
        self._server, self.url = start_server(host, port, token, "Drystone")
        self._loop = Loop(self._advance, self._show, self._is_watched, self._complain)
        self._debt = 0.0  # simulated seconds that are due
        self._stages: dict = {}
        self._panel: Any = None
        self.pointer: Any = None
        self._set_up()
        self._server.on_client_connect(self._welcome)
        self._loop.start()

    # What a program does with it

    def play(self) -> None:
        """Let the world run."""
        self._loop.playing = True
        self._panel.show_playing(True)

    def pause(self) -> None:
        """Let it stand."""
        self._loop.playing = False
        self._panel.show_playing(False)

    def step(self) -> None:
        """One step, if it stands."""
        self.do(lambda world: world.step())

    def do(self, command: Callable[[Any], object]) -> object:
        """command(world) between two steps; returns what it returns."""
        return self._loop.call(lambda: command(self.world))

    @property
    def playing(self) -> bool:
        return self._loop.playing

    @property
    def statistics(self) -> dict[str, float]:
        """Frames sent, and seconds spent on steps and on showing them."""
        loop = self._loop
        return {
            "frames": loop.frames,
            "step_s": loop.step_seconds,
            "view_s": loop.view_seconds,
        }

    def reset(self) -> None:
        """Back to the world as it was when the viewer got it."""
        self._ask(self._reset)

    def stop(self) -> None:
        """End the viewer; the world stays as it is."""
        self._loop.stop()
        self._server.stop()

    # Called by panels and pointer, in threads of the server

    def _ask(self, command: Callable[[], object]) -> None:
        self._loop.ask(command)

    def _set_speed(self, speed: float) -> None:
        self._loop.speed = speed

    # In the loop's thread

    def _set_up(self) -> None:
        """Draw everything anew: at the start, and when bodies have come or gone."""
        from drystone.world.io.checkpoint import world_image

        self._image = world_image(self.world)
        self._drawn: tuple = ()
        self._redraw()
        self._panel = LivePanel(self, self._server)
        self._aim()

    def _redraw(self) -> None:
        self._server.scene.reset()
        drawing = drawing_of_world(self.world)
        self._stage = Stage(self._server, drawing)
        self._overlays = Overlays(self._server, self._stage)
        if self._panel is not None:
            self._overlays.on = self._panel.toggled()
        before = self.pointer
        if before is not None and before.dragging and before.dragging.body._world is not self.world:
            before.dragging = None
        self.pointer = Pointer(self, self._server, self._stage, before)
        self._drawn = self._things()
        self.picked = [body for body in self.picked if body._world is self.world]

    def _things(self) -> tuple:
        return tuple(thing.number for thing in (*self.world.bodies, *self.world.fixed))

    def _aim(self) -> None:
        """The camera frames the scene."""
        away = np.array([-0.6, -1.0, 0.45])
        distance = 2.6 * self._stage.radius
        camera = self._server.initial_camera
        camera.position = tuple(self._stage.centre + distance * away / np.linalg.norm(away))
        camera.look_at = tuple(self._stage.centre)
        camera.up = (0.0, 0.0, 1.0)

    def _welcome(self, client: Any) -> None:
        self._ask(lambda: None)  # something has changed: there is somebody to show it to

    def _is_watched(self) -> bool:
        return bool(self._server.get_clients())

    def _advance(self, elapsed: float, budget: float) -> None:
        """The steps that are due, as far as the time allows."""
        world, start = self.world, perf_counter()
        self._debt = min(self._debt + self._loop.speed * elapsed, self._loop.speed * 0.1)
        count = 1
        while self._debt >= world.dt and perf_counter() - start < budget:
            count = max(1, min(count, int(self._debt / world.dt)))
            done = world._advance(count).done
            self._debt -= done * world.dt
            count *= 2
        self._take_sample()

    def _take_sample(self) -> None:
        if not self._is_watched() or self.world.info is None:
            return
        world, energy = self.world, self.world.energy()
        stages = stage_seconds(world)
        spent = {name: x - self._stages.get(name, 0.0) for name, x in stages.items()}
        self._stages = stages
        self.history.append(
            (world.time, energy.kinetic, energy.potential, world.info.residual,
             world.info.contacts, spent)
        )  # fmt: skip

    def _show(self) -> None:
        if self._drawn != self._things():
            self._redraw()
        world = self.world
        pose = np.hstack([world.positions, world.orientations])
        picked = self.picked[-1].index if self.picked else None
        with self._server.atomic():
            self._stage.move(pose)
            self._overlays.draw(world, pose, picked)
            self.pointer.draw()
        if self.follow and self.picked:
            for client in self._server.get_clients().values():
                target = np.array(self.picked[-1].centre)
                shift = target - np.array(client.camera.look_at)
                client.camera.position = np.array(client.camera.position) + shift
                client.camera.look_at = target
        self._panel.update()
        self._server.flush()

    def _complain(self, sentence: str) -> None:
        self._panel.say(sentence)
        if self._panel.shown_playing and not self._loop.playing:
            self._panel.show_playing(False)

    def _reset(self) -> None:
        from drystone.world.io.checkpoint import world_from_image

        self._change_world(world_from_image(self._image, "the start"))

    def _load(self, name: str) -> None:
        """A world of the gallery in place of this one."""
        world = self.gallery[name][1]()
        from drystone.world.io.checkpoint import world_image

        self._image = world_image(world)
        self._change_world(world)
        self._aim()
        for client in self._server.get_clients().values():
            client.camera.position = self._server.initial_camera.position
            client.camera.look_at = self._server.initial_camera.look_at

    def _change_world(self, world: Any) -> None:
        if self.world._recorder is not None:
            self.world._recorder.close()
        self.world = world
        self.picked, self._debt, self._stages = [], 0.0, {}
        self.history.clear()
        self._redraw()
