"""What the calls of the argument family need, and the form of a call."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import drystone as ds


class Call(NamedTuple):
    """A call that would be right."""

    call: Callable
    arguments: dict[str, Any]  # by name, all of them right
    use: Callable[[Any], object] = lambda result: None  # what is done with what it returns

    def with_defaults(self) -> "Call":
        """With all other arguments that it can have, as they are if nobody gives them."""
        usual = {
            parameter.name: parameter.default
            for parameter in inspect.signature(self.call).parameters.values()
            if parameter.default is not parameter.empty
        }
        return self._replace(arguments=usual | self.arguments)


class Props:
    """What the calls of one case need: worlds with bodies, and files to read."""

    def __init__(self, context: Any, folder: Path) -> None:
        self.files: dict[str, Path] = context
        self.folder = folder
        self.world = ds.World(dt=0.01)
        self.ground = self.world.add_fixed(ds.Plane(), name="ground")
        self.a = self.world.add_body(ds.Box(1, 1, 1), position=(0, 0, 0.5), name="a")
        self.b = self.world.add_body(ds.Sphere(0.5), position=(0, 0, 1.5), name="b")
        self.gone = self.world.add_body(ds.Sphere(0.5), position=(5, 0, 1.5), name="gone")
        self.world.remove(self.gone)
        self.elsewhere = ds.World().add_body(ds.Sphere(1.0), name="elsewhere")
        self.joint = self.world.add_joint(ds.Ball(self.a, self.b, (0, 0, 1)))
        self.force = self.world.add_force(ds.Spring(self.a, self.b, 10.0))

    def things(self) -> tuple[Callable[[], Any], ...]:
        """Odd values that are things of a world."""
        mine = (
            self.world, self.ground, self.a, self.b, self.gone, self.elsewhere, self.joint,
            self.force, ds.Box(1, 2, 3), ds.Plane(), ds.Disc(0.5), ds.Material(), ds.World,
            ds.Motor(1.0, max_torque=3.0), ds.Servo(0.5, 10.0), ds.SwingTwist((0, 0, 1), 0.5),
            ds.SOLVERS["pgs"](),
        )  # fmt: skip
        return tuple(lambda thing=thing: thing for thing in mine)
