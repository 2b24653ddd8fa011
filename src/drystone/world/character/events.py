"""What there is to know of a run of a character: falls, feet that slide, joints at the end of their
range, torques beyond those of people."""

import numpy as np

from drystone.world.character import quaternions
from drystone.world.character.gains import swing_and_twist

SLIDES = 0.05  # [m/s] of a foot that presses on something; feet that roll over are slower
SLID = 0.02  # [m] before it is worth a sentence
AT_END = np.radians(1.0)  # of a range
# Torque of the strongest joint, the knee, in the mean of men [N m a kilogram of the body]; the
# pooled mean of [Sarabon2021] has 3.45 as its upper bound.
STRONGEST = 3.5


def find_events(character) -> list[str]:
    """See Character.events()."""
    if not character.done:
        return []
    found = [f"{character.figure.name} {fall}." for fall in (character.fall(),) if fall is not None]
    return [*found, *_slides(character), *_ends(character), *_strains(character)]


def _slides(character):
    """Feet that slid while they pressed on something."""
    figure, times, dt = character.figure, character.times, character._world.dt
    for k in figure.feet:
        speed = character.slip[:, k]
        fast = np.where(speed > SLIDES, speed, 0.0)
        way = float(fast.sum() * dt)
        if way > SLID:
            first = int((fast > 0.0).argmax())
            yield (
                f"{figure.names[k]} slid by {100.0 * way:.3g} cm in all, "
                f"first at t = {times[first]:.2f} s."
            )


def _ends(character):
    """Joints that came to the end of their range."""
    turned, figure = character.orientations(), character.figure
    for j, joint in enumerate(character._joints):
        limits = joint.limits
        if limits is None:
            continue
        base = quaternions.conjugate(turned[:, figure.parents[j + 1]])
        swing, twist = swing_and_twist(
            quaternions.product(base, turned[:, j + 1]), np.array(limits.axis)
        )
        there = swing > limits.swing - AT_END
        if limits.twist is not None:
            there |= (twist < limits.twist[0] + AT_END) | (twist > limits.twist[1] - AT_END)
        if there.any():
            first = int(there.argmax())
            yield (
                f"{figure.joints[j]} was at the end of its range for "
                f"{there.sum() * character._world.dt:.2f} s, first at "
                f"t = {character.times[first]:.2f} s."
            )


def _strains(character):
    """Muscles that gave more than people have."""
    figure = character.figure
    most = STRONGEST * figure.mass
    size = np.linalg.norm(character.torque, axis=-1)
    for j in np.flatnonzero(size.max(axis=0, initial=0.0) > most):
        k = int(size[:, j].argmax())
        yield (
            f"muscles of {figure.joints[j]} gave {size[k, j]:.0f} N m at "
            f"t = {character.times[k]:.2f} s, {size[k, j] / figure.mass:.1f} a kilogram of the "
            f"figure; the knees of men give {STRONGEST:g}."
        )
