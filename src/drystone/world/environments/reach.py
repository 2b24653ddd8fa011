"""Reach: an arm of two links must bring its tip to a point of the plane."""

from typing import Any

import gymnasium
import numpy as np

from drystone.constraints.joints.drives import Motor
from drystone.constraints.joints.hinge import Hinge
from drystone.shapes import Capsule
from drystone.world.environments.environment import Environment
from drystone.world.world import World

LENGTHS = (0.5, 0.4)  # of the links [m]
FASTEST = (2.0, 3.0)  # speeds of the motors [rad/s]
TORQUE = 20.0  # that each motor has [N m]
NEAREST, FARTHEST = 0.2, 0.85  # of the target from the shoulder [m]
EFFORT = 0.01  # what an action costs, against a metre off for a step


class Reach(Environment):
    """Drive the two motors of an arm so that its tip comes to the target, and stays.

    Action (2,): speeds of shoulder and elbow, -1 to 1 times 2 and 3 rad/s. Observation (8,):
    cosines and sines of both angles, their rates, and from the tip to the target [m]. Reward: minus
    the distance to the target [m], minus 0.01 |action|².
    """

    def __init__(self, frames: int = 4, render_mode: str | None = None, **options: Any) -> None:
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (8,), np.float64)
        self.target = np.zeros(2)
        super().__init__(frames, render_mode, **options)

    def make_world(self) -> World:
        world, lying = World(gravity=(0, 0, 0), sleeping=False), (0.5**0.5, 0, 0.5**0.5, 0)
        at, below, self.joints = 0.0, None, []
        for length, name in zip(LENGTHS, ("upper", "fore"), strict=True):
            link = world.add_body(
                Capsule(0.03, length), position=(at + length / 2, 0, 0), orientation=lying,
                mass=1.0, name=name,
            )  # fmt: skip
            joint = Hinge(below, link, (at, 0, 0), (0, 0, 1), motor=Motor(0.0, max_torque=TORQUE))
            self.joints.append(world.add_joint(joint))
            at, below = at + length, link
        self.hand = below
        return world

    def begin(self, random: np.random.Generator) -> None:
        angle = random.uniform(-np.pi, np.pi)
        distance = random.uniform(NEAREST, FARTHEST)
        self.target = distance * np.array([np.cos(angle), np.sin(angle)])

    def act(self, action: np.ndarray) -> None:
        for joint, share, most in zip(self.joints, action, FASTEST, strict=True):
            speed = most * float(np.clip(share, -1.0, 1.0))
            joint.set(motor=Motor(speed, max_torque=TORQUE))

    @property
    def tip(self) -> np.ndarray:
        """Where the tip of the arm is, x and y [m]."""
        one, two = self.joints[0].angle, self.joints[0].angle + self.joints[1].angle
        lengths = np.array(LENGTHS)
        return np.array([lengths @ np.cos([one, two]), lengths @ np.sin([one, two])])

    def observe(self) -> np.ndarray:
        angles = np.array([joint.angle for joint in self.joints])
        rates = [joint.speed for joint in self.joints]
        return np.concatenate([np.cos(angles), np.sin(angles), rates, self.target - self.tip])

    def reward(self, action: np.ndarray) -> float:
        return -float(np.linalg.norm(self.target - self.tip)) - EFFORT * float(action @ action)
