"""What a person does with a world beside running it: drag, throw, look, draw."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from drystone.forces.attractor import Attractor, Repulsor
from drystone.model.materials import Material
from drystone.shapes.part import Shape
from drystone.world import interaction
from drystone.world.body import Body

if TYPE_CHECKING:
    from drystone.world.view.viewer import Viewer


class Hands:
    """The part of World that people use live; all of it is recorded and replayed exactly."""

    add_force: Any

    def drag(
        self,
        body: Body | str,
        point: ArrayLike | None = None,
        target: ArrayLike | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
    ) -> interaction.Dragging:
        """Hold `body` by a spring at `point`, whose other end is at `target`.

        point       of the body, in world coordinates now [m]; None: its centre of mass
        target      [m]; None: the point itself
        stiffness   [N/m]; None: so that the body follows within 0.2 s
        damping     [N s/m]; None: without oscillation

        Move the end with `move(target)`, let go with `release()`, or use it in a `with`.
        """
        return interaction.drag(self, body, point, target, stiffness, damping)

    def throw(
        self,
        origin: ArrayLike,
        direction: ArrayLike,
        speed: float = 10.0,
        shape: Shape | None = None,
        material: Material | None = None,
        name: str | None = None,
    ) -> Body:
        """Throw a ball, or any `shape`, from `origin` along `direction` at `speed` [m/s].

        shape       None: a ball of the size that bodies here have
        material    None: 2000 kg/m³, friction 0.5
        name        None: thrown 1, thrown 2, ...
        """
        return interaction.throw(self, origin, direction, speed, shape, material, name)

    def attract(self, position: ArrayLike, strength: float, core: float = 0.1) -> Attractor:
        """Put an Attractor of all bodies at `position`, pulling with `strength` [N] at 1 m.

        core        within about this distance the force no longer grows [m]

        Move it with `set(position=...)`, take it away with `World.remove`.
        """
        return self.add_force(Attractor(position, strength, core=core))  # type: ignore[arg-type]

    def repel(self, position: ArrayLike, strength: float, core: float = 0.1) -> Repulsor:
        """Put a Repulsor of all bodies at `position`, pushing with `strength` [N] at 1 m.

        What it is given means the same as for attract().
        """
        return self.add_force(Repulsor(position, strength, core=core))  # type: ignore[arg-type]

    def view(
        self,
        port: int = 8080,
        host: str = "127.0.0.1",
        token: str | None = None,
        block: bool = True,
        play: bool = False,
    ) -> "Viewer":
        """Look at the world in the browser, run it there and interact with it (needs [view]).

        port     of the page; the next free one if it is taken
        host     the address that is listened at; any but loopback needs a `token`
        token    what a visitor must know: the page is at http://HOST:PORT/?token=TOKEN
        block    wait until Ctrl-C; else the viewer runs in threads of its own
        play     whether the world runs from the start
        """
        from drystone.world.view.viewer import view_world

        return view_world(self, port, host, token, block, play)

    def picture(
        self,
        path: str | Path,
        camera: Any = None,
        size: tuple[int, int] = (1200, 800),
        forces: bool = False,
    ) -> Path:
        """Draw the world as it is now to a picture file (needs [render]).

        camera   from where and at what, two points [m]; or a direction to look from; None: the
                 camera frames all bodies by itself
        size     [pixels]
        forces   draw the contact forces as arrows
        """
        from drystone.world.io.render import draw

        return draw(self, path, camera, size, forces)

    def _repr_html_(self) -> str:
        """The scene in a cell of a notebook: it can be turned, and still can when it is saved."""
        from drystone.world.export.notebook import cell_of_world

        return cell_of_world(self)
