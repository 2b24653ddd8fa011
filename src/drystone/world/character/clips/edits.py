"""What Clip does with its frames: resample, smooth, mirror, cut off a branch, repeat."""

import re

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt

from drystone.errors import InputError
from drystone.world.character import quaternions


def curves(times: np.ndarray, values: np.ndarray, degree: int = 5):
    """An interpolating spline through (n, ...) values, of a lower degree where points are few."""
    degree = min(degree, len(times) - 1)
    return make_interp_spline(times, values, k=degree - (degree % 2 == 0) if degree > 1 else degree)


def resample(clip, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Positions and rotations at `rate` [Hz]."""
    if len(clip) < 2:
        return clip.positions, clip.rotations
    wanted = np.arange(int(np.floor(clip.duration * rate * (1 + 1e-12))) + 1) / rate
    wanted = np.minimum(wanted, clip.duration)
    turned = quaternions.continuous(clip.rotations)
    at = curves(clip.times, clip.positions, 3)(wanted)
    return at, quaternions.unit(curves(clip.times, turned, 3)(wanted))


def smooth(clip, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """A Butterworth filter of second order, run forwards and back, so that nothing lags.

    [Winter2009] 3.4.4: two passes lower the cut-off, which the factor 0.802 corrects.
    """
    rate = 1.0 / clip.dt
    corrected = cutoff / 0.802
    if corrected >= 0.5 * rate:
        raise InputError(
            f"smoothed: cutoff is {cutoff:g} Hz, must be below {0.401 * rate:g} Hz: {clip.name} "
            f"has {rate:.4g} frames a second."
        )
    # Past both ends the clip goes on as it would in a mirror that is turned over, for a second or
    # as long as there are frames, so that the filter has no edge to ring at.
    pad = min(len(clip) - 1, int(round(rate)))
    if pad < 3:
        raise InputError(f"smoothed: {clip.name} has {len(clip)} frames, which are too few.")
    sections = butter(2, corrected, fs=rate, output="sos")
    at = sosfiltfilt(sections, clip.positions, axis=0, padlen=pad)
    turned = quaternions.continuous(clip.rotations)
    turned = sosfiltfilt(sections, turned, axis=0, padlen=pad)
    return at, quaternions.unit(turned)


# What tells a side in the name of a joint, as its start, its end, or after a separator.
_SIDES = (
    (r"^left", "right"), (r"^right", "left"), (r"^Left", "Right"), (r"^Right", "Left"),
    (r"^l_", "r_"), (r"^r_", "l_"), (r"^L_", "R_"), (r"^R_", "L_"), (r"_l$", "_r"),
    (r"_r$", "_l"), (r"_L$", "_R"), (r"_R$", "_L"), (r"^l(?=[A-Zfhtwcr])", "r"),
    (r"^r(?=[A-Zfhtwcr])", "l"), (r"^L(?=[A-Z])", "R"), (r"^R(?=[A-Z])", "L"),
)  # fmt: skip


def mirror_pairs(clip) -> list[int]:
    """The number of the joint on the other side; its own where there is none."""
    number = {name: j for j, name in enumerate(clip.names)}
    found = []
    for j, name in enumerate(clip.names):
        prefix, _, short = name.rpartition(":")
        prefix += ":" if prefix else ""
        others = [
            prefix + re.sub(side, other, short) for side, other in _SIDES if re.search(side, short)
        ]
        found.append(next((number[other] for other in others if other in number), j))
    for j, other in enumerate(found):
        parent, across = clip.parents[j], clip.parents[other]
        if found[other] != j or (parent >= 0 and found[parent] != across):
            raise InputError(
                f"mirrored: {clip.names[j]} and {clip.names[other]} of {clip.name} do not hang "
                f"alike, so left and right cannot be told apart."
            )
    return found


def branch_of(clip, first: int) -> list[int]:
    """`first` and all joints that hang on it."""
    kept = {first}
    for j in range(first + 1, len(clip.parents)):
        if int(clip.parents[j]) in kept:
            kept.add(j)
    return sorted(kept)


def repeat_root(clip, times: int) -> tuple[np.ndarray, np.ndarray]:
    """The frames `times` over. The last of a cycle is the first of the next one.

    Each cycle stands where the one before it ended, turned about z as that was.
    """
    if len(clip) < 2:
        raise InputError(f"repeated: {clip.name} has a single frame, which is no cycle.")
    at, turned = clip.positions, clip.rotations
    gain = quaternions.product(turned[-1, 0], quaternions.conjugate(turned[0, 0]))
    yaw = 2.0 * np.arctan2(gain[3], gain[0])
    step = at[-1] - at[0]
    all_at, all_turned = [at], [turned]
    angle, place = 0.0, at[0].copy()
    for _ in range(1, times):
        place = place + quaternions.rotate(quaternions.about(2, np.array(angle)), step)
        place[2] = at[0, 2]
        angle += yaw
        spin = quaternions.about(2, np.array(angle))
        again = turned[1:].copy()
        again[:, 0] = quaternions.product(spin, again[:, 0])
        all_at.append(place + quaternions.rotate(spin, at[1:] - at[0]))
        all_turned.append(again)
    return np.concatenate(all_at), np.concatenate(all_turned)
