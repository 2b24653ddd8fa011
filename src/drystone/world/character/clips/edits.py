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


SLOWEST = 1e-5  # of the frame rate: a filter that is slower yet loses its digits


def smooth(clip, cutoff: float) -> tuple[np.ndarray, np.ndarray]:
    """A Butterworth filter of second order, run forwards and back, so that nothing lags.

    [Winter2009] 3.4.4: two passes lower the cut-off, which the factor 0.802 corrects.
    """
    rate = 1.0 / clip.dt
    corrected = cutoff / 0.802
    if not SLOWEST * rate <= corrected < 0.5 * rate:
        raise InputError(
            f"smoothed: cutoff is {cutoff:g} Hz, must be from {0.802 * SLOWEST * rate:g} to "
            f"{0.401 * rate:g} Hz: {clip.name} has {rate:.4g} frames a second."
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


FADE = 0.3  # within which of its ends a cycle that does not quite close is bent [s]

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

    Each cycle stands where the one before it ended, turned about z as that was. Cycles that were
    cut out of a longer clip do not quite close: the poses of both ends meet halfway (see
    _closing).
    """
    if len(clip) < 4:
        raise InputError(f"repeated: {clip.name} has {len(clip)} frames, which are no cycle.")
    at, turned, angle, step = _closed(clip)
    all_at, all_turned = [at], [turned]
    place = at[0].copy()
    for k in range(1, times):
        spin = quaternions.about(2, np.array(k * angle))
        place = place + quaternions.rotate(quaternions.about(2, np.array((k - 1) * angle)), step)
        again = turned[1:].copy()
        again[:, 0] = quaternions.product(spin, again[:, 0])
        all_at.append(place + quaternions.rotate(spin, at[1:] - at[0]))
        all_turned.append(again)
    return np.concatenate(all_at), np.concatenate(all_turned)


def _closed(clip) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Positions and rotations whose ends meet; how far a cycle turns [rad], and goes [m]."""
    at, turned = clip.positions, quaternions.continuous(clip.rotations)
    gain = quaternions.product(turned[-1, 0], quaternions.conjugate(turned[0, 0]))
    angle = 2.0 * float(np.arctan2(gain[3], gain[0]))
    angle = (angle + np.pi) % (2.0 * np.pi) - np.pi
    s = np.linspace(0.0, 1.0, len(clip))
    # Without its way and its turn, a cycle ends where it began.
    way = (at[-1] - at[0]) * (1.0, 1.0, 0.0)
    unwound = turned.copy()
    unwound[:, 0] = quaternions.product(quaternions.about(2, -angle * s), turned[:, 0])
    sides = np.where((unwound[0] * unwound[-1]).sum(axis=-1) < 0.0, -1.0, 1.0)[:, None]
    unwound = quaternions.unit(unwound + _closing(unwound, sides, clip.dt))
    unwound[:, 0] = quaternions.product(quaternions.about(2, angle * s), unwound[:, 0])
    heading = quaternions.about(2, -angle * s)
    level = quaternions.rotate(heading, at - at[0] - s[:, None] * way)
    level = level + _closing(level, np.ones(1), clip.dt)
    there = at[0] + s[:, None] * way + quaternions.rotate(quaternions.conjugate(heading), level)
    return there, unwound, angle, there[-1] - there[0]


def _closing(x: np.ndarray, sides, dt: float) -> np.ndarray:
    """What makes the end of (n, ...) values `sides` times their start: half of the gap at either
    end, from where it fades away.

    Spread over the cycle it would lift feet that stand. To even the speeds too was tried: it made
    the residual force of one walk half as large again, and no seam smoother.
    """
    n = len(x)
    t = dt * np.arange(n).reshape(-1, *[1] * (x.ndim - 1))
    fade = min(FADE, 0.5 * (n - 1) * dt)
    start, end = (_smooth_step(1.0 - s / fade) for s in (t, t[::-1]))
    gap = 0.5 * (x[-1] - sides * x[0])
    return sides * gap * start - gap * end


def _smooth_step(s: np.ndarray) -> np.ndarray:
    """0 up to 0 and 1 from 1 on, with two derivatives in between."""
    s = np.clip(s, 0.0, 1.0)
    return s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
