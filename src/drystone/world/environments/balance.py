"""Balance: a cart that must keep its pole upright [Barto1983]."""

from typing import Any

import gymnasium
import numpy as np

from drystone.constraints.joints.hinge import Hinge
from drystone.constraints.joints.slider import Slider
from drystone.shapes import Box
from drystone.world.environments.environment import Environment
from drystone.world.world import World

CART, POLE, HALF = 1.0, 0.1, 0.5  # masses [kg]; half the length of the pole [m]
FORCE = 10.0  # [N]
WIDEST, MOST = 2.4, 0.2095  # [m], and 12 degrees [rad]: the episode ends there


class Balance(Environment):
    """Push a cart so that the pole on it stays upright.

    Action (1,): force on the cart, -1 to 1 times 10 N. Observation (4,): position [m] and speed of
    the cart, angle [rad] of the pole from upright and its rate. Reward: 1 a step. It ends where
    the cart is 2.4 m off, or the pole leans by 12 degrees.
    """

    def __init__(self, frames: int = 4, render_mode: str | None = None, **options: Any) -> None:
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (4,), np.float64)
        super().__init__(frames, render_mode, **options)

    def make_world(self) -> World:
        world = World(sleeping=False)
        self.cart = world.add_body(Box(0.4, 0.3, 0.2), mass=CART, name="cart")
        self.pole = world.add_body(
            Box(0.05, 0.05, 2.0 * HALF), position=(0, 0, HALF), mass=POLE, name="pole"
        )
        self.rail = world.add_joint(Slider(None, self.cart, (1, 0, 0)))
        self.hinge = world.add_joint(Hinge(self.cart, self.pole, (0, 0, 0), (0, 1, 0)))
        return world

    def begin(self, random: np.random.Generator) -> None:
        """Everything within 0.05 of upright and at rest, as in [Barto1983]."""
        x, speed, angle, rate = random.uniform(-0.05, 0.05, 4)
        self.cart.position, self.cart.velocity = (x, 0, 0), (speed, 0, 0)
        arm = np.array([np.sin(angle), 0.0, np.cos(angle)])
        self.pole.orientation = (np.cos(angle / 2), 0, np.sin(angle / 2), 0)
        self.pole.position = HALF * arm + (x, 0, 0)
        self.pole.spin = (0, rate, 0)
        self.pole.velocity = np.cross((0, rate, 0), HALF * arm) + (speed, 0, 0)

    def act(self, action: np.ndarray) -> None:
        self.cart.force = (FORCE * float(np.clip(action[0], -1.0, 1.0)), 0, 0)

    def observe(self) -> np.ndarray:
        rail, hinge = self.rail, self.hinge
        return np.array([rail.position, rail.speed, hinge.angle, hinge.speed])

    def reward(self, action: np.ndarray) -> float:
        return 1.0

    def is_over(self) -> bool:
        return abs(self.rail.position) > WIDEST or abs(self.hinge.angle) > MOST
