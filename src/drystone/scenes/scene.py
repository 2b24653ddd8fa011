"""Scene: a function that fills a world, by name, with its defaults and what to expect."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, flag, integer, within
from drystone.model.signatures import public

if TYPE_CHECKING:
    from drystone.world.world import World

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_READABLE = (bool, int, float, str)
MOST = 1_000_000  # of a number of things, which a slip of the finger makes 10**12


@public
@dataclass(frozen=True)
class Scene:
    """A scene by name. `fill(world, **options)` places the bodies; its keywords are the options."""

    name: str
    summary: str  # one line for `drystone scenes`
    fill: Callable
    seconds: float  # how long `drystone run` runs it unless told otherwise [s]
    expect: str  # what should be seen
    source: str = ""  # where the scene comes from, if not from us
    finding: str = ""  # what the source found with it
    ours: str = ""  # what we found with it
    # (least, most) of options, where they are not what `_checked` takes for granted
    ranges: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)  # of the world, where they differ from its own
    picture_time: float = 0.0  # when the first of the two pictures is taken [s]; the other: the end
    view: tuple = (-0.6, -1.0, 0.45)  # from where the pictures look at the scene

    @property
    def options(self) -> dict:
        """Name and default of every option, `seed` included where the scene draws numbers."""
        parameters = list(inspect.signature(self.fill).parameters.values())[1:]
        return {p.name: p.default for p in parameters}

    def background(self) -> list[str]:
        """What should be seen, and what was found by whom; one line each."""
        lines = {
            "Expect": self.expect,
            "Source": self.source,
            "Found there": self.finding,
            "Found here": self.ours,
        }
        return [f"{label}: {text}." for label, text in lines.items() if text]

    def build(self, **options: Any) -> "World":
        """A new world of this scene; options of the scene and settings of the world alike."""
        from drystone.world.world import World

        of_world = _world_options()
        known = (*self.options, *of_world)
        for name in options:
            if name not in known:
                raise InputError(f"{self.name}: no option {name!r}. {did_you_mean(name, known)}")
        settings = {k: v for k, v in options.items() if k in of_world}
        world = World(**(self.settings | settings))
        own = {k: self._checked(k, v) for k, v in options.items() if k not in of_world}
        try:
            self.fill(world, **own)
        except (ArithmeticError, ValueError) as error:  # options that do not fit each other
            if not own:
                raise
            given = ", ".join(f"{name}={value}" for name, value in own.items())
            raise InputError(f"{self.name} cannot be built with {given}: {error}") from error
        return world

    def _checked(self, name: str, value):
        """`value` of the kind of the default and in the range of option `name`, or InputError.

        Unless `ranges` says otherwise integers are 1 to MOST, seeds 0 or more, and other
        numbers finite: shapes and materials refuse what they cannot be.
        """
        what, kind = f"{self.name}: {name}", type(self.options[name])
        if kind is bool:
            return flag(what, value)
        if kind is int:
            least, most = self.ranges.get(name, (0 if name == "seed" else 1, None))
            if name != "seed" and most is None:
                most = MOST
            return integer(what, value, least, most)
        return within(what, value, *self.ranges.get(name, (None, None)))

    def read_option(self, name: str, text: str) -> Any:
        """`text` as the kind of value that option `name` holds, for the command line."""
        default = (_world_options() | self.options).get(name)
        if not isinstance(default, _READABLE):  # or unknown: build() says so, with a guess
            return text
        kind = type(default)
        try:
            return _TRUTH[text.lower()] if kind is bool else kind(text)
        except (ValueError, KeyError):
            raise InputError(
                f"{self.name}: {name} is {text!r}, must be of the kind of {default!r}."
            ) from None


def _world_options() -> dict:
    """Name and default of every setting of a world."""
    from drystone.world.world import World

    return {p.name: p.default for p in inspect.signature(World).parameters.values()}
