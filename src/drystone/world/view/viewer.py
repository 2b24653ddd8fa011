"""Viewer: a live world in the browser. Play, pick, drag, throw, build, switch, save."""

from collections import deque
from collections.abc import Callable
from time import perf_counter, sleep
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import flag, shown
from drystone.model.rotation import matrix_from_quaternion
from drystone.model.settable import Settable
from drystone.model.signatures import public
from drystone.world.export.drawing import drawing_of_world
from drystone.world.export.framed import framed
from drystone.world.run import stage_seconds
from drystone.world.view.gallery import Gallery
from drystone.world.view.loop import Loop
from drystone.world.view.overlays import Overlays
from drystone.world.view.panels import LivePanel
from drystone.world.view.pointer import Pointer
from drystone.world.view.sender import Sender
from drystone.world.view.server import start_server, stop_server
from drystone.world.view.stage import FROM, Stage, aim, look_at, welcome

HISTORY = 600  # points of the plots
SAMPLED = 0.1  # [s] between two of them: one minute of play is seen


def view_world(world, port, host, token, block, play, gallery=None, view=FROM) -> "Viewer":
    """World.view(), with a gallery of other worlds: {name: (summary, build, from where)}."""
    viewer = Viewer(world, port, host, token, gallery or {}, view)
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
class Viewer(Settable):
    """A world that is looked at in the browser; `World.view` makes one.

    url      of the page
    world    what is shown; another one after a reset, or from the gallery

    While it runs the world belongs to the viewer's thread: use `do` to change it.
    """

    url: str
    world: Any
    gallery: dict
    picked: list  # bodies, the last one picked last
    follow: bool  # whether the camera follows it
    history: deque
    pointer: Any

    def __init__(
        self,
        world: Any,
        port: int = 8080,
        host: str = "127.0.0.1",
        token: str | None = None,
        gallery: dict | None = None,
        view: tuple = FROM,
    ) -> None:
        self.world = world
        self.gallery = gallery or {}
        self._view = view  # from where the camera looks at first
        # Centre and radius of what it looks at; bodies that come and go do not move it.
        self._frame: tuple[np.ndarray, float] | None = None
        self.picked = []
        self.follow = False
        self._followed: tuple[int, np.ndarray] | None = None  # row, and the centre in its axes
        self.history = deque(maxlen=HISTORY)
        pages = Gallery(self.gallery, lambda name: self._ask(lambda: self._load(name)))
        self._server, self.url = start_server(
            host, port, token, "Drystone", pages if self.gallery else None
        )
        self._loop = Loop(self._advance, self._show, self._is_watched, self._complain)
        self._sender = Sender(self._is_watched, self._send)
        self._debt = 0.0  # simulated seconds that are due
        self._step_seconds = 0.0  # what the last steps took, each
        self._sampled = 0.0  # when the plots got their last point
        self._stages: dict = {}
        self._panel: Any = None
        self._stage: Any = None
        self._overlays: Any = None
        self.pointer = None
        self._set_up()
        self._server.on_client_connect(self._welcome)
        self._loop.start()
        self._sender.start()

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
        if not callable(command):
            raise InputError(f"do: {shown(command)} is no function; give one of the world.")
        return self._loop.call(lambda: command(self.world))

    @property
    def playing(self) -> bool:
        return self._loop.playing

    @property
    def statistics(self) -> dict[str, float]:
        """Frames sent, and seconds of CPU spent on steps (by their first thread) and on showing."""
        loop, sender = self._loop, self._sender
        return {
            "frames": sender.frames,
            "step_s": loop.step_seconds,
            "view_s": loop.view_seconds + sender.seconds,
        }

    def reset(self) -> None:
        """Back to the world as it was when the viewer got it."""
        self._ask(self._reset)

    def stop(self) -> None:
        """End the viewer; the world stays as it is."""
        self._loop.stop()
        self._sender.stop()
        stop_server(self._server)

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
        self._redraw()
        self._panel = LivePanel(self, self._server)
        aim(self._server, self._stage, self._view)

    def _redraw(self) -> None:
        if self._overlays is not None:
            self._overlays.clear()
        with self._sender.lock, self._server.atomic():
            drawing = drawing_of_world(self.world)
            if self._frame is None:
                self._frame = framed(drawing, self._view)
            self._stage = Stage(self._server, drawing, self._frame, self._stage)
            self._sender.forget()
            self._followed = None
        self._overlays = Overlays(self._server, self._stage)
        if self._panel is not None:
            self._overlays.on = self._panel.toggled()
        self.pointer = Pointer(self, self._server, self._stage, self.pointer)
        self._built, self._drawn = self.world._synced(), self._things()
        self.picked = [body for body in self.picked if body._world is self.world]

    def _things(self) -> tuple:
        return tuple(thing.number for thing in (*self.world.bodies, *self.world.fixed))

    def _welcome(self, client: Any) -> None:
        welcome(self._server, client, self._view)
        self._ask(lambda: None)  # something has changed: there is somebody to show it to

    def _is_watched(self) -> bool:
        return bool(self._server.get_clients())

    def _advance(self, elapsed: float, budget: float) -> None:
        """The steps that are due, as many as the time allows; one, if it allows none."""
        world, end = self.world, perf_counter() + budget
        self._debt = min(self._debt + self._loop.speed * elapsed, self._loop.speed * 0.1 + world.dt)
        while self._debt >= world.dt:
            start = perf_counter()
            fit = (end - start) / self._step_seconds if self._step_seconds > 0.0 else 1.0
            count = int(min(self._debt / world.dt, max(fit, 1.0)))
            done = world._advance(count).done
            self._debt -= done * world.dt
            self._step_seconds = (perf_counter() - start) / max(done, 1)
            # What is due and would come late waits for the next turn.
            if perf_counter() + self._step_seconds > end:
                break
        self._take_sample()

    def _take_sample(self) -> None:
        now = perf_counter()
        if now - self._sampled < SAMPLED or not self._is_watched() or self.world.info is None:
            return
        self._sampled = now
        world, energy = self.world, self.world.energy()
        stages = stage_seconds(world)
        spent = {name: x - self._stages.get(name, 0.0) for name, x in stages.items()}
        self._stages = stages
        self.history.append(
            (world.time, energy.kinetic, energy.potential, world.info.residual,
             world.info.contacts, spent)
        )  # fmt: skip

    def _show(self) -> None:
        if self._built is not self.world._synced():  # an edit; it may be of a material alone
            self._built = self.world._synced()
            if self._drawn != self._things():
                self._redraw()
        world = self.world
        pose = np.hstack([world.positions, world.orientations])
        picked = self.picked[-1].index if self.picked else None
        self._followed = None
        if self.follow and picked is not None:
            axes = matrix_from_quaternion(pose[picked, 3:])
            self._followed = picked, (self.picked[-1].centre - pose[picked, :3]) @ axes
        self._sender.give(pose, self.playing)
        with self._server.atomic():
            self._overlays.draw(world, pose, picked)
            self.pointer.draw()
        self._panel.update()

    def _send(self, pose: np.ndarray) -> None:
        """In the sender's thread."""
        with self._server.atomic():
            self._stage.move(pose)
        if self._followed is not None:
            row, arm = self._followed
            centre = pose[row, :3] + matrix_from_quaternion(pose[row, 3:]) @ arm
            look_at(self._server, self._stage.to_page(centre))
        self._server.flush()

    def _complain(self, sentence: str) -> None:
        self._panel.say(sentence)
        if self._panel.shown_playing and not self._loop.playing:
            self._panel.show_playing(False)

    def _reset(self) -> None:
        from drystone.world.io.checkpoint import world_from_image

        self._change_world(world_from_image(self._image, "the start"), anew=False)

    def _load(self, name: str) -> None:
        """A world of the gallery in place of this one."""
        from drystone.world.io.checkpoint import world_image

        _, build, self._view = self.gallery[name]
        world = build()
        self._image = world_image(world)
        self._change_world(world, True, name)
        aim(self._server, self._stage, self._view)

    def _change_world(self, world: Any, anew: bool, name: str = "") -> None:
        """`anew`: it is another scene, so it is framed too; `name` of it in the gallery."""
        if self.world._recorder is not None:
            self.world._recorder.close()
        self.world = world
        self.picked, self._debt, self._stages = [], 0.0, {}
        self.history.clear()
        if anew:
            self._frame = None
        self._redraw()
        self._panel.follow_world(name)
