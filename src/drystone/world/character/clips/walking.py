"""A clip made of formulas: someone who walks on the spot. The package ships none of people."""

from math import pi

import numpy as np

from drystone.world.character import quaternions
from drystone.world.character.clips.clip import Clip
from drystone.world.character.clips.deepmimic import ENDS, INWARDS, JOINTS

RATE = 120.0  # frames of the clip a second [Hz]
STRIDE = 1.1  # of the figure that walks on the spot [s]

# Of each joint: mean, size and lead (of a stride) of its angle about the axis across [degrees].
SWINGS = {
    "right_hip": (-6.0, 22.0, 0.0), "left_hip": (-6.0, 22.0, 0.5),
    "right_knee": (25.0, 22.0, 0.22), "left_knee": (25.0, 22.0, 0.72),
    "right_ankle": (-4.0, 8.0, 0.3), "left_ankle": (-4.0, 8.0, 0.8),
    "right_shoulder": (0.0, 25.0, 0.5), "left_shoulder": (0.0, 25.0, 0.0),
    "right_elbow": (-30.0, 12.0, 0.55), "left_elbow": (-30.0, 12.0, 0.05),
    "chest": (2.0, 2.0, 0.1), "neck": (0.0, 2.0, 0.2),
}  # fmt: skip


def walk_on_the_spot(seconds: float, name: str = "walk") -> Clip:
    """A clip of the figure of DeepMimic, which walks on the spot, facing y."""
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
    return Clip(
        [joint for joint, *_ in JOINTS], [parent for _, parent, *_ in JOINTS],
        np.array([offset for _, _, offset, _ in JOINTS])[:, INWARDS], at, rotations, 1.0 / RATE,
        [(j, np.array(end)[INWARDS]) for j, end in ENDS], name,
    )  # fmt: skip
