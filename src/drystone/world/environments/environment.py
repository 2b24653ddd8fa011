"""Environment: a world as a Gymnasium environment [Towers2024].

A task says how its world is made, what an action does, what is seen and what it is worth. The world
is built once; every episode begins with a snapshot of it, which takes microseconds.
"""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import float_array, integer, shown

try:
    import gymnasium
except ImportError as error:
    raise UnsupportedFeature(
        "environments need Gymnasium; install it with pip install 'drystone[gym]'."
    ) from error

if TYPE_CHECKING:
    from drystone.world.world import World


class Environment(gymnasium.Env):
    """Base of tasks. Override make_world, act, observe and reward; begin and is_over if need be.

    frames    steps of the world for one of the environment
    size      of pictures [pixels]

    The task sets observation_space and action_space before it calls this. `info` holds
    `converged`: whether all steps of the world did.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 60}

    def __init__(
        self,
        frames: int = 4,
        render_mode: str | None = None,
        size: tuple[int, int] = (480, 320),
    ) -> None:
        self.frames = integer(f"{type(self).__name__}: frames", frames, 1)
        if not isinstance(render_mode, str | None) or render_mode not in (None, "rgb_array"):
            raise UnsupportedFeature(
                f"{type(self).__name__}: render_mode is {shown(render_mode)}, must be 'rgb_array' "
                "or None."
            )
        self.render_mode, self.size = render_mode, size
        self.world: World = self.make_world()
        self._first = self.world.snapshot()

    # What a task is

    def make_world(self) -> "World":
        """The world, once; keep the bodies and joints that you need as attributes."""
        raise NotImplementedError

    def begin(self, random: np.random.Generator) -> None:
        """Draw the start of an episode, in the world of the snapshot."""

    def act(self, action: np.ndarray) -> None:
        """Set forces, motors, targets: once for all frames of a step."""
        raise NotImplementedError

    def observe(self) -> np.ndarray:
        """What is seen, as observation_space has it."""
        raise NotImplementedError

    def reward(self, action: np.ndarray) -> float:
        """What the step that was just made is worth."""
        raise NotImplementedError

    def is_over(self) -> bool:
        """Whether the episode has ended by itself; how long it may last is up to Gymnasium."""
        return False

    # What Gymnasium calls

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode: the same one for the same seed, to the last bit."""
        super().reset(seed=None if seed is None else integer("reset: seed", seed, 0))
        self.world.restore(self._first)
        self.begin(self.np_random)
        return self.observe(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """One action, `frames` steps of the world."""
        action = self._checked(action)
        self.act(action)
        converged = True
        for _ in range(self.frames):
            converged = self.world.step().converged and converged
        value = float(self.reward(action))
        return self.observe(), value, self.is_over(), False, {"converged": converged}

    def _checked(self, action: Any) -> Any:
        """One that the task can take: of a Box finite numbers in its shape, also beyond its
        bounds, which tasks clip."""
        if not isinstance(self.action_space, gymnasium.spaces.Box):
            return action
        given, shape = float_array("step: action", action), self.action_space.shape
        if given.shape != shape or not np.isfinite(given).all():
            raise InputError(f"step: action is {shown(action)}, must be finite, of shape {shape}.")
        return given

    def render(self) -> Any:
        """The world as it is now, (height, width, 3) bytes; needs [render]."""
        if self.render_mode is None:
            return None
        import imageio.v3

        with tempfile.TemporaryDirectory() as folder:
            path = self.world.picture(Path(folder) / "now.png", size=self.size)
            return np.ascontiguousarray(imageio.v3.imread(path)[:, :, :3])
