"""Characters that are hit by a ball and recover (CLINE 5.1.2, figures 5.2 and 5.3).

Clips of people are no part of the package, so these are made of formulas; `drystone character` does
the same with a clip from a file.
"""

from math import pi
from typing import TYPE_CHECKING

import numpy as np

import drystone as ds
from drystone.scenes.scene import Scene

if TYPE_CHECKING:
    from drystone.world.character.clips.clip import Clip

RATE = 120.0  # frames of the clip a second [Hz]
STRIDE = 1.1  # of the figure that walks on the spot [s]
FLOOR = 2  # group of the floor: a root that follows carries the figure, its feet touch nothing

# Of each joint: mean, size and lead (of a stride) of its angle about the axis across [degrees].
SWINGS = {
    "right_hip": (-6.0, 22.0, 0.0), "left_hip": (-6.0, 22.0, 0.5),
    "right_knee": (25.0, 22.0, 0.22), "left_knee": (25.0, 22.0, 0.72),
    "right_ankle": (-4.0, 8.0, 0.3), "left_ankle": (-4.0, 8.0, 0.8),
    "right_shoulder": (0.0, 25.0, 0.5), "left_shoulder": (0.0, 25.0, 0.0),
    "right_elbow": (-30.0, 12.0, 0.55), "left_elbow": (-30.0, 12.0, 0.05),
    "chest": (2.0, 2.0, 0.1), "neck": (0.0, 2.0, 0.2),
}  # fmt: skip


def walk_on_the_spot(seconds: float, name: str = "walk") -> "Clip":
    """A clip of the figure of DeepMimic, which walks on the spot, facing y."""
    from drystone.world.character import quaternions  # SciPy: lists of scenes need not wait for it
    from drystone.world.character.clips.deepmimic import ENDS, INWARDS, JOINTS

    times = np.arange(round(seconds * RATE) + 1) / RATE
    rotations = np.zeros((len(times), len(JOINTS), 4))
    rotations[..., 0] = 1.0
    for j, (joint, *_) in enumerate(JOINTS):
        if joint in SWINGS:
            mean, size, lead = SWINGS[joint]
            angle = mean + size * np.sin(2.0 * pi * (times / STRIDE + lead))
            # Across the figure, whose right is +x; forwards is y: a leg that swings forwards turns
            # by a positive angle about x, a knee bends by a negative one.
            rotations[:, j] = quaternions.about(0, np.radians(-angle if "knee" in joint else angle))
    at = np.zeros((len(times), 3))
    at[:, 2] = 0.9 + 0.015 * np.cos(4.0 * pi * times / STRIDE)
    return ds.Clip(
        [joint for joint, *_ in JOINTS], [parent for _, parent, *_ in JOINTS],
        np.array([offset for _, _, offset, _ in JOINTS])[:, INWARDS], at, rotations, 1.0 / RATE,
        [(j, np.array(end)[INWARDS]) for j, end in ENDS], name,
    )  # fmt: skip


def fill_arm_ball(world, ball_mass=2.0, ball_speed=8.0, frequency=14.0, blow=0.6):
    """An arm that swings as one of a walker does; a ball meets the forearm after `blow` seconds.

    frequency   of the muscles as springs [rad/s]
    """
    clip = walk_on_the_spot(3.0).branch("right_shoulder")
    _fill(world, clip, "right_elbow", ball_mass, ball_speed, frequency, blow)


def fill_body_ball(world, ball_mass=3.0, ball_speed=8.0, frequency=14.0, blow=0.6):
    """A figure that walks on the spot; a ball meets its upper arm after `blow` seconds."""
    _fill(world, walk_on_the_spot(3.0), "right_shoulder", ball_mass, ball_speed, frequency, blow)


def _fill(world, clip, bone, mass, speed, frequency, blow):
    figure = ds.Figure.from_clip(clip)
    ground = min(figure.ground, -0.5) if not figure.feet else figure.ground
    world.add_fixed(ds.Plane(), position=(0, 0, ground), name="floor", group=FLOOR)
    character = world.add_character(
        figure, clip, gains=ds.Gains(frequency=frequency), mask=~FLOOR, name="figure"
    )
    # From its right and a little from ahead, so that it meets nothing else.
    character.throw(bone, mass, speed, distance=speed * blow, direction=(-1.0, -0.35, 0.0))


SCENES = [
    Scene(
        name="arm-ball",
        summary="A swinging arm is hit by a ball and goes on as before",
        fill=fill_arm_ball,
        seconds=3.0,
        expect="the ball pushes the forearm off by more than 10 degrees; muscles bring the arm "
        "back to its clip within a second",
        source="CLINE 5.1.2, figure 5.2",
        finding="the arm reacts, then returns to the path of the motion capture",
        ranges={"ball_mass": (0.01, 100.0), "ball_speed": (0.5, 40.0), "frequency": (0.1, 200.0),
                "blow": (0.05, 2.5)},
        settings={"sleeping": False},
        picture_time=0.55,
    ),
    Scene(
        name="body-ball",
        summary="A walking figure is hit by a ball and goes on as before",
        fill=fill_body_ball,
        seconds=3.0,
        expect="the arm that is hit gives way by more than 10 degrees and is back within a second",
        source="CLINE 5.1.2, figure 5.3, with a ball that hits the body twice",
        finding="the body reacts, then restores to the original motion, at an interactive rate",
        ranges={"ball_mass": (0.01, 100.0), "ball_speed": (0.5, 40.0), "frequency": (0.1, 200.0),
                "blow": (0.05, 2.5)},
        settings={"sleeping": False},
        picture_time=0.55,
    ),
]  # fmt: skip
