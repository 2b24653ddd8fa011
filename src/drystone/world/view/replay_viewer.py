"""ReplayViewer: a recording in the browser. Play, pause, step, scrub, pick, follow."""

from functools import cache
from typing import Any

import numpy as np

from drystone.model.checks import integer
from drystone.model.rotation import matrix_from_quaternion
from drystone.model.signatures import public
from drystone.world.export.drawing import drawing_of_recording
from drystone.world.export.framed import framed
from drystone.world.view.loop import Loop
from drystone.world.view.panels import SPEEDS
from drystone.world.view.plots import Plots
from drystone.world.view.server import start_server, stop_server
from drystone.world.view.stage import FROM, PICKED, Stage, aim, look_at, welcome


@public
class ReplayViewer:
    """A recording that is looked at in the browser.

    url      of the page
    frame    which is shown
    """

    def __init__(
        self, recording: Any, port: int = 8080, host: str = "127.0.0.1", token: str | None = None
    ) -> None:
        self.recording = recording
        self._drawing = drawing_of_recording(recording)
        self._server, self.url = start_server(host, port, token, "Drystone")
        self._stage = Stage(self._server, self._drawing, framed(self._drawing, FROM))
        self._time = float(self._drawing.times[0])
        self._picked: int | None = None
        self._bodies = cache(recording.bodies)
        self._loop = Loop(self._advance, self._show, self._is_watched, self._say)
        self._fill_panel()
        aim(self._server, self._stage, FROM)
        for handle, _ in self._stage.batches:
            handle.on_click(self._clicked)
        self._server.on_client_connect(self._greet)
        self._loop.start()

    @property
    def frame(self) -> int:
        """The last frame up to the time that is shown."""
        times = self._drawing.times
        return max(0, int(np.searchsorted(times, self._time + 1e-9, side="right")) - 1)

    @property
    def playing(self) -> bool:
        return self._loop.playing

    @property
    def statistics(self) -> dict[str, float]:
        """Frames sent, and seconds spent on showing them."""
        return {"frames": self._loop.frames, "view_s": self._loop.view_seconds}

    def play(self) -> None:
        """Let it play; from the start if it had come to the end."""
        if self._time >= self._drawing.times[-1]:
            self._time = float(self._drawing.times[0])
        self._loop.playing = True
        self._play.label = "Pause"

    def pause(self) -> None:
        """Let it stand."""
        self._loop.playing = False
        self._play.label = "Play"

    def seek(self, frame: int) -> None:
        """Jump to `frame`."""
        frame = integer("frame", frame, 0, len(self._drawing.times) - 1)

        def jump():
            self._time = float(self._drawing.times[frame])

        self._loop.ask(jump)

    def stop(self) -> None:
        """End the viewer."""
        self._loop.stop()
        stop_server(self._server)

    # Inside

    def _fill_panel(self) -> None:
        gui, last = self._server.gui, len(self._drawing.times) - 1
        self._note = gui.add_markdown("")
        self._clock = gui.add_markdown("")
        self._play = gui.add_button("Play", color="green")
        self._play.on_click(lambda _: self.pause() if self.playing else self.play())
        back, on = gui.add_button("Step back"), gui.add_button("Step")
        back.on_click(lambda _: self.seek(max(self.frame - 1, 0)))
        on.on_click(lambda _: self.seek(min(self.frame + 1, last)))
        speed = gui.add_dropdown("speed", tuple(SPEEDS)[:-1], initial_value="1 x")

        @speed.on_update
        def _(_):
            self._loop.speed = SPEEDS[speed.value]

        self._slider = gui.add_slider("frame", min=0, max=max(last, 1), step=1, initial_value=0)

        @self._slider.on_update
        def _(event):
            if event.client is not None:  # moved by a visitor, not by ourselves
                self.seek(min(int(self._slider.value), last))

        self._about = gui.add_markdown("Click a body.")
        self._follow = gui.add_checkbox("follow it", False)
        recording, times = self.recording, self._drawing.times
        with gui.add_folder("Plots", expand_by_default=False):
            rows = zip(
                times, recording.kinetic, recording.potential, recording.residuals,
                recording.contact_counts, strict=True,
            )  # fmt: skip
            Plots(gui).update([(*row, {}) for row in rows])

    def _clicked(self, event: Any) -> None:
        row = self._stage.body_at(event.target, event.instance_index)

        def pick():
            self._picked = row
            colours = self._drawing.colour.copy()
            if row is not None:
                colours[row] = PICKED
            self._stage.paint(colours)

        self._loop.ask(pick)

    def _greet(self, client: Any) -> None:
        welcome(self._server, client, FROM)
        self._loop.ask(lambda: None)  # there is somebody to show it to

    def _is_watched(self) -> bool:
        return bool(self._server.get_clients())

    def _advance(self, elapsed: float, _: float) -> None:
        self._time += self._loop.speed * elapsed
        if self._time >= self._drawing.times[-1]:
            self._time = float(self._drawing.times[-1])
            self.pause()

    def _show(self) -> None:
        k = self.frame
        pose = self._drawing.at(self._time)
        with self._server.atomic():
            self._stage.move(pose)
        if self._slider.value != k:
            self._slider.value = k
        self._clock.content = f"t = **{self._time:.3f} s**, frame {k}"
        if self._picked is not None and not np.isnan(pose[self._picked, 0]):
            self._about.content = self._described(self._picked, pose[self._picked])
            if self._follow.value:
                look_at(self._server, self._stage.to_page(pose[self._picked, :3]))
        elif self._picked is not None:
            self._about.content = f"**{self._drawing.names[self._picked]}** is not there now."
        self._server.flush()

    def _described(self, row: int, pose: np.ndarray) -> str:
        """The body, as Markdown; how fast it moves follows from the frames before and after."""
        body = self._bodies()[int(self._drawing.numbers[row])]
        last, k = len(self._drawing.times) - 1, self.frame
        a, b = max(k - 1, 0), min(k + 1, last)
        arm = matrix_from_quaternion(body.orientation).T @ (body.centre - body.position)
        places = [
            self._drawing.pose[j, row, :3]
            + matrix_from_quaternion(self._drawing.pose[j, row, 3:]) @ arm
            for j in (a, b)
        ]
        span = self._drawing.times[b] - self._drawing.times[a]
        speed = np.linalg.norm(places[1] - places[0]) / span if span > 0.0 else np.nan
        moves = f", {speed:.3g} m/s" if np.isfinite(speed) else ""
        x, y, z = pose[:3]
        return (
            f"**{body.name}**: {type(body.shape).__name__}, {body.mass:.4g} kg\n\n"
            f"at ({x:.3f}, {y:.3f}, {z:.3f}) m{moves}"
        )

    def _say(self, sentence: str) -> None:
        self._note.content = sentence
