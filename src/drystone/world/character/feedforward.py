"""Feed-forward torques for a step: those that take a figure through its clip with no feedback.

The torques of inverse dynamics are exact for a time that runs on evenly, not for steps, and an
arm that is held up is an inverted pendulum: what differs grows tenfold in a fifth of a second. So
the clip is followed once, in a world of its own, with explicit feedback besides, and what the
muscles did in every step is kept. Given again in the same steps it does the same again.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from drystone.model.checks import of_kind, positive
from drystone.model.signatures import public
from drystone.world.character.clips.clip import Clip
from drystone.world.character.figure import Figure
from drystone.world.character.gains import Gains
from drystone.world.character.muscles import EXPLICIT
from drystone.world.character.torques import Torques
from drystone.world.world import World

FREQUENCY = 30.0  # of the feedback, if steps are short enough for it [rad/s]
MOST_TURN = 0.05  # [rad] of that in a step: the inertia of what hangs on a joint changes tenfold


@public
def feedforward(
    figure: Figure, clip: Clip, dt: float = 1e-3, gravity: ArrayLike = (0, 0, -9.81)
) -> Torques:
    """Torques that take `figure` through `clip` in steps of `dt` without feedback, root following.

    For World.add_character(..., torques=, feedback=False) in a world of that dt and gravity.
    """
    of_kind("feedforward: clip", clip, Clip, "a Clip")
    dt = positive("feedforward: dt", dt, "s")
    world = World(dt=dt, gravity=gravity, sleeping=False)
    gains = Gains(frequency=min(FREQUENCY, MOST_TURN / dt))
    character = world.add_character(figure, clip, feedback=False, gains=gains, self_collide=False)
    character._plan["mode"][2] = EXPLICIT
    steps = len(character._plan["target"]) - 1  # without that which holds the last pose
    for _ in range(steps):
        world.step()
    given = np.einsum("jab,njb->nja", character._frames, character._noted.given[:steps])
    return replace(character.torques, torque=given)
