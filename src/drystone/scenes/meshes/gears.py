"""Outlines of involute gears and of the rack they run on.

A tooth of a gear with z teeth of module m is, at radius r, half as wide as the angle
    ψ(r) = π / 2z - b / 2 r_p + inv α - inv α(r),   inv x = tan x - x,  cos α(r) = r_b / r,
with pitch radius r_p = m z / 2, base radius r_b = r_p cos α, pressure angle α = 20 degrees and
backlash b, by which each tooth is thinner than half the pitch. Two such gears at a distance of
their pitch radii turn at a constant ratio, touching on their flanks alone. Teeth are stub
(0.8 m above, 1.0 m below the pitch circle), so that 14 teeth need no undercut.
"""

from math import acos, cos, pi, radians, tan

import numpy as np

PRESSURE = radians(20.0)
ADDENDUM, DEDENDUM = 0.8, 1.0  # of the module
STEP = 1e-3  # [rad] by which the foot of a tooth is wider than it is at the base circle


def gear_outline(teeth: int, module: float, backlash: float = 0.0, points: int = 5):
    """Outline (k, 2) [m], counter-clockwise; the middle of a tooth is on the x axis.

    module    pitch diameter / teeth [m]
    backlash  [m] along the pitch circle, of this gear alone
    points    on each flank
    """
    pitch = module * teeth / 2
    foot, tip = pitch - DEDENDUM * module, pitch + ADDENDUM * module
    base = pitch * cos(PRESSURE)
    radius = np.linspace(max(base, foot), tip, points)
    half = [_half_angle(r, teeth, pitch, backlash) for r in radius]
    if foot < base:
        radius, half = np.r_[foot, radius], [half[0] + STEP, *half]
    flank = np.array(half)
    angle = np.concatenate([-flank, flank[::-1]])
    reach = np.concatenate([radius, radius[::-1]])
    angles = 2 * pi / teeth * np.arange(teeth)
    angle = (angles[:, None] + angle).ravel()
    reach = np.tile(reach, teeth)
    return reach[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _half_angle(r, teeth, pitch, backlash):
    at = acos(min(1.0, pitch * cos(PRESSURE) / r))
    inv = (tan(PRESSURE) - PRESSURE) - (tan(at) - at)
    return pi / (2 * teeth) - backlash / (2 * pitch) + inv


def rack_lines(teeth: int, module: float, backlash: float, back: float):
    """Tooth line and back (k, 2) [m] of a rack along +x; pitch line y = 0, teeth towards -y.

    The middle of the first tooth is at x = 0; the bar is `back` thick behind the pitch line.
    """
    tall, deep, slope = ADDENDUM * module, DEDENDUM * module, tan(PRESSURE)
    half = pi * module / 4 - backlash / 2
    tooth = [
        (-half - deep * slope, deep), (-half + tall * slope, -tall),
        (half - tall * slope, -tall), (half + deep * slope, deep),
    ]  # fmt: skip
    line = [(x + k * pi * module, y) for k in range(teeth) for x, y in tooth]
    line = [(line[0][0] - module / 2, deep), *line, (line[-1][0] + module / 2, deep)]
    return np.array(line), np.array([(x, back) for x, _ in line])
