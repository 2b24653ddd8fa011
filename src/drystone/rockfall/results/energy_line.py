"""Energy line, reach angle and shadow angle: the geometric checks of a rockfall study.

The reach angle of a run is that of the straight line from where it started to where it ended,
    tan beta = (z_start - z_end) / L,    L their distance in plan.
The shadow angle is the same from the apex of the talus; here the apex is where the run crossed a
check line, so a line drawn along the foot of the rock face gives it (Evans and Hungr 1993,
Canadian Geotechnical Journal 30).

The energy line falls from a source at an angle phi. A rock whose losses it stands for can be
where the line is above the ground, with the velocity head of the difference:
    z_line = z_source - L tan phi,    v = sqrt(2 g (z_line - z_ground)).
"""

from math import sqrt, tan

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.jit import kernel
from drystone.model.checks import float_array, number, of_kind, point_array
from drystone.model.signatures import public
from drystone.rockfall.terrain.ground_surface import Ground

GRAVITY = 9.81  # [m/s²]


def line_angle(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Angle below the horizontal of the lines from `start` (n, 3) to `end` (n, 3) [degrees]."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    plan = np.hypot(end[..., 0] - start[..., 0], end[..., 1] - start[..., 1])
    return np.degrees(np.arctan2(start[..., 2] - end[..., 2], plan))


@public
def energy_line_velocity(ground: Ground, sources: ArrayLike, angle_deg: float) -> np.ndarray:
    """Velocity at the nodes of the ground after the energy line [m/s]; NaN where it does not reach.

    sources    (n, 3) points of release, local [m]
    angle_deg  of the line below the horizontal
    """
    if not 0.0 < number("angle of the energy line", angle_deg) < 90.0:
        raise InputError(f"angle of the energy line is {angle_deg:g} degrees, must be in 0 to 90.")
    of_kind("ground", ground, Ground, "what ground_of() makes of a Slope")
    sources = point_array("sources", np.atleast_2d(float_array("sources", sources)), 1)
    velocity = np.empty(ground.heights.shape)
    fill_velocity(ground, sources, tan(np.radians(angle_deg)), GRAVITY, velocity)
    return velocity


@kernel
def fill_velocity(ground, sources, slope, gravity, velocity):
    """The highest of the lines of all sources decides, node by node."""
    rows, columns = velocity.shape
    for row in range(rows):
        y = ground.y0 + row * ground.dy
        for column in range(columns):
            x = ground.x0 + column * ground.dx
            best = -1.0
            for k in range(len(sources)):
                dx, dy = x - sources[k, 0], y - sources[k, 1]
                line = sources[k, 2] - slope * sqrt(dx * dx + dy * dy)
                best = max(best, line - ground.heights[row, column])
            velocity[row, column] = sqrt(2.0 * gravity * best) if best > 0.0 else np.nan
