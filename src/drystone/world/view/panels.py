"""The panel beside the scene of a live world: run, look, pick, hands, build, physics, plots."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from drystone.constraints.joints.fixed import Fixed
from drystone.constraints.joints.hinge import Hinge
from drystone.errors import InputError
from drystone.model.materials import Material
from drystone.shapes import Box, Capsule, Cone, Cylinder, Disc, Polygon, Sphere
from drystone.solvers import solver_names
from drystone.world.view.overlays import TOGGLES
from drystone.world.view.plots import Plots

SPEEDS = {"0.1 x": 0.1, "0.25 x": 0.25, "1 x": 1.0, "4 x": 4.0, "as fast as it goes": 1e3}
TOLERANCES = ("1e-3", "1e-4", "1e-5", "1e-6", "1e-8", "1e-10")
REFRESH = 8  # frames between two updates of texts and plots: four times a second

# The palette: a shape of about the size a [m].
PALETTE: dict[str, Callable[[float], Any]] = {
    "box": lambda a: Box(a, a, a),
    "plank": lambda a: Box(3 * a, a, a / 4),
    "ball": lambda a: Sphere(a / 2),
    "capsule": lambda a: Capsule(a / 4, a),
    "cylinder": lambda a: Cylinder(a / 2, a),
    "cone": lambda a: Cone(a / 2, a),
}
PALETTE_2D: dict[str, Callable[[float], Any]] = {
    "disc": lambda a: Disc(a / 2),
    "square": lambda a: Polygon(
        ((-a / 2, -a / 2), (a / 2, -a / 2), (a / 2, a / 2), (-a / 2, a / 2))
    ),
}


class LivePanel:
    """Buttons and what they do; every command goes through the viewer's queue."""

    def __init__(self, viewer: Any, server: Any) -> None:
        self.viewer, self.gui = viewer, server.gui
        self.shown_playing = False
        self._count = 0
        self._said = ""
        self._run_folder()
        self._picked_folder()
        self._look_folder()
        self._hands_folder()
        self._build_folder()
        self._physics_folder()
        with self.gui.add_folder("Plots", expand_by_default=False):
            self._plots = Plots(self.gui)
        self._file_folder()

    # Read by others

    def toggled(self) -> set[str]:
        return {name for name, box in self._toggles.items() if box.value}

    def throws(self) -> bool:
        return bool(self._throw.value)

    def show_playing(self, playing: bool) -> None:
        self.shown_playing = playing
        self._play.label = "Pause" if playing else "Play"

    def say(self, sentence: str) -> None:
        """An error, or what was done, at the top of the panel."""
        self._said = sentence
        self._note.content = sentence

    def update(self) -> None:
        """After a frame; texts and plots only now and then."""
        self._count += 1
        if self._count % REFRESH and self.viewer.playing:
            return
        world = self.viewer.world
        asleep = int(np.count_nonzero(world.state.asleep))  # their contacts are not counted
        self._clock.content = (
            f"t = **{world.time:.3f} s**, {len(world)} bodies, "
            f"{world.info.contacts if world.info else 0} contacts"
            + (f", {asleep} asleep" if asleep else "")
        )
        self._picked.content = described(self.viewer)
        self._plots.update(self.viewer.history)

    # Folders

    def _ask(self, command: Callable[[], object]) -> Callable[[Any], None]:
        return lambda _: self.viewer._ask(command)

    def _button(self, label: str, command: Callable[[], object]) -> Any:
        button = self.gui.add_button(label)
        button.on_click(self._ask(command))
        return button

    def _run_folder(self) -> None:
        viewer = self.viewer
        self._note = self.gui.add_markdown("")
        self._clock = self.gui.add_markdown("")
        self._play = self.gui.add_button("Play", color="green")
        self._play.on_click(lambda _: viewer.pause() if viewer.playing else viewer.play())
        self._button("Step", lambda: viewer.world.step())
        self._button("Reset", viewer._reset)
        speed = self.gui.add_dropdown("speed", tuple(SPEEDS), initial_value="1 x")
        speed.on_update(lambda _: viewer._set_speed(SPEEDS[speed.value]))
        if viewer.gallery:
            self.gui.add_markdown("[All scenes, with pictures](/gallery)")
            choice = self._scene = self.gui.add_dropdown("gallery", tuple(viewer.gallery))
            self._summary = self.gui.add_markdown("")
            choice.on_update(lambda _: self._summarise())
            self._summarise()
            self._button("Load this scene", lambda: viewer._load(choice.value))

    def _summarise(self) -> None:
        self._summary.content = self.viewer.gallery[self._scene.value][0]

    def _picked_folder(self) -> None:
        with self.gui.add_folder("Picked"):
            self._picked = self.gui.add_markdown("Click a body.")
            follow = self.gui.add_checkbox("follow it", False)

            @follow.on_update
            def _(_):
                self.viewer.follow = follow.value

    def _look_folder(self) -> None:
        self._toggles = {}
        with self.gui.add_folder("Show", expand_by_default=False):
            self._squares = self.gui.add_markdown("")
            for name, label in TOGGLES.items():
                box = self._toggles[name] = self.gui.add_checkbox(label, False)
                box.on_update(self._ask(self._retoggle))

    def _retoggle(self) -> None:
        self.viewer._overlays.on = self.toggled()

    def _hands_folder(self) -> None:
        viewer = self.viewer
        with self.gui.add_folder("Hands", expand_by_default=False):
            self.gui.add_markdown("Drag a body with the left button.")
            self._throw = self.gui.add_checkbox("a click throws a ball", False)
            self.throw_speed = self.gui.add_slider(
                "speed [m/s]", min=1.0, max=50.0, step=1.0, initial_value=15.0
            )
            pole = self._pole = self.gui.add_dropdown("at the cursor", ("off", "attract", "repel"))
            # At half the radius of the scene: from a tenth to a hundred weights of a body.
            strength = self.gui.add_slider(
                "strength [weights]", min=0.1, max=100.0, step=0.1, initial_value=2.0
            )

            def changed():
                weight = max((body.mass for body in viewer.world.bodies), default=1.0) * 9.81
                newtons = strength.value * weight * (0.5 * viewer._stage.radius) ** 2
                viewer.pointer.set_pole(pole.value, newtons)

            pole.on_update(self._ask(changed))
            strength.on_update(self._ask(changed))

    def _build_folder(self) -> None:
        with self.gui.add_folder("Build", expand_by_default=False):
            self._kind = self.gui.add_dropdown("shape", tuple(PALETTE))
            self._size = self.gui.add_number("size [m]", 1.0, min=1e-3)
            self._place = self.gui.add_vector3("at [m]", (0.0, 0.0, 0.0))
            self._button("Add", lambda: self._add(self._chosen(), self._place.value))
            self._button("Remove the picked", self._remove)
            self._button("Weld the two picked", lambda: self._join(Fixed))
            self._button("Hinge the two picked", lambda: self._join(Hinge))

    def _chosen(self) -> Any:
        return (PALETTE | PALETTE_2D)[self._kind.value](self._size.value)

    def _above(self) -> tuple[float, float, float]:
        stage = self.viewer._stage
        x, y, z = (stage.centre + [0.0, 0.0, stage.radius]).round(3).tolist()
        return x, y, z

    def _add(self, shape: Any, place: Any) -> None:
        self.viewer.world.add_body(shape, Material(density=1000, friction=0.5), position=place)

    def _remove(self) -> None:
        if not self.viewer.picked:
            raise InputError("no body is picked; click one first.")
        self.viewer.world.remove(self.viewer.picked.pop())

    def _join(self, kind: Any) -> None:
        if len(self.viewer.picked) != 2:
            raise InputError("two bodies must be picked to be joined; click one, then another.")
        a, b = self.viewer.picked
        if kind is Hinge:
            # At the middle between them, about the horizontal across the line that joins them.
            middle, line = (a.centre + b.centre) / 2, b.centre - a.centre
            across = np.cross(line, (0.0, 0.0, 1.0))
            flat = self.viewer.world.dim == 2 or np.linalg.norm(across) < 1e-9
            axis = (0.0, 1.0, 0.0) if flat else tuple(across.tolist())
            self.viewer.world.add_joint(Hinge(a, b, tuple(middle.tolist()), axis))
        else:
            self.viewer.world.add_joint(Fixed(a, b))

    def _physics_folder(self) -> None:
        with self.gui.add_folder("Physics", expand_by_default=False):
            names = solver_names()
            self._solver = self.gui.add_dropdown("solver", names)
            self._tolerance = self.gui.add_dropdown("tolerance [m/s]", TOLERANCES)
            self._gravity = self.gui.add_slider(
                "gravity, z [m/s²]", min=-25.0, max=5.0, step=0.1, initial_value=-9.8
            )
            self._friction = self.gui.add_slider(
                "friction of all", min=0.0, max=1.5, step=0.05, initial_value=0.5
            )
        self.follow_world("")
        self._when_set(self._solver, lambda name: self._set("solver", name))
        self._when_set(self._tolerance, lambda text: self._set("tolerance", float(text)))
        self._when_set(self._gravity, self._set_gravity)
        self._when_set(self._friction, self._set_friction)

    def _when_set(self, control: Any, command: Callable[[Any], object]) -> None:
        """command(value) when a visitor has set it, and not when it is shown what holds."""

        @control.on_update
        def _(event):
            if event.client is not None:
                self.viewer._ask(lambda: command(control.value))

    def follow_world(self, scene: str) -> None:
        """Show what holds in the world that is there now; `scene` if it is of the gallery."""
        world = self.viewer.world
        names = self._solver.options
        name = next((n for n in names if type(world.solver).__name__.lower() == n), names[0])
        self._solver.value = name
        known = [text for text in TOLERANCES if float(text) == world.tolerance]
        own = known[0] if known else f"{world.tolerance:g}"
        self._tolerance.options = TOLERANCES if known else (own, *TOLERANCES)
        self._tolerance.value = own
        self._gravity.value = float(np.clip(world.gravity[2], -25.0, 5.0))
        frictions = [thing.material.friction for thing in (*world.bodies, *world.fixed)]
        if frictions:
            self._friction.value = float(np.clip(np.median(frictions), 0.0, 1.5))
        if self.viewer.pointer.pole is None:
            self._pole.value = "off"
        self._size.value = round(self.viewer._stage.radius / 8, 3) or 1e-3
        self._place.value = self._above()
        self._kind.options = tuple(PALETTE if world.dim == 3 else PALETTE_2D)
        self._squares.content = f"Squares of the ground: {self.viewer._stage.cell:g} m."
        if scene:
            self._scene.value = scene
            self._summarise()

    def _set(self, name: str, value: Any) -> None:
        setattr(self.viewer.world, name, value)

    def _set_gravity(self, z: float) -> None:
        x, y, _ = self.viewer.world.gravity
        self.viewer.world.gravity = (x, y, z)

    def _set_friction(self, value: float) -> None:
        world = self.viewer.world
        for thing in (*world.fixed, *world.bodies):
            if thing.material.friction != value:
                thing.material = replace(thing.material, friction=value)

    def _file_folder(self) -> None:
        viewer = self.viewer
        with self.gui.add_folder("File", expand_by_default=False):
            path = self.gui.add_text("file", "viewed.h5")
            self._button("Save the world", lambda: self._save(path.value))
            record = self.gui.add_button("Record from here")

            def toggle():
                from drystone.world.io.recorder import Recorder

                if viewer.world._recorder is not None:
                    viewer.world._recorder.close()
                    record.label = "Record from here"
                    self.say(f"Recorded: `drystone view {path.value}`")
                else:
                    Recorder(viewer.world, Path(path.value), every=2)
                    record.label = "Stop recording"

            record.on_click(self._ask(toggle))

    def _save(self, path: str) -> None:
        self.viewer.world.save(path)
        self.say(f"Saved as {path}.")


def described(viewer: Any) -> str:
    """The picked body, as Markdown."""
    if not viewer.picked:
        return "Click a body."
    body, table = viewer.picked[-1], viewer.world.contacts()
    mine = np.flatnonzero((table.body_a == body.index) | (table.body_b == body.index))
    others = np.where(table.body_a == body.index, table.body_b, table.body_a)[mine]
    bodies = viewer.world.bodies
    names = {bodies[k].name if k >= 0 else "the fixed world" for k in others.tolist()}
    v, w = np.linalg.norm(body.velocity), np.linalg.norm(body.spin)
    x, y, z = body.position
    asleep = ", asleep" if body.asleep else ""
    return (
        f"**{body.name}**: {type(body.shape).__name__}, {body.mass:.4g} kg{asleep}\n\n"
        f"at ({x:.3f}, {y:.3f}, {z:.3f}) m, {v:.3g} m/s, {w:.3g} rad/s\n\n"
        f"{len(mine)} contacts, with {', '.join(sorted(names)[:6]) or 'nothing'}"
    )
