"""How a rock starts: which one, where, with which velocity, orientation and spin."""

from math import cos, pi, radians, sin, sqrt

import numpy as np

from drystone.errors import InputError
from drystone.jit.vec import quaternion_product
from drystone.model.rotation import quaternion_from_matrix
from drystone.rockfall.engine.place_start import set_down
from drystone.rockfall.study import rock_groups
from drystone.rockfall.study.build import pick
from drystone.rockfall.study.schema import SourcePart
from drystone.rockfall.study.trees import touches_trunk

TRIES = 50  # places drawn for one rock, until one is wide enough for it

PLACE = ("place.1", "place.2", "place.3")
TURN = ("turn.1", "turn.2", "turn.3")
VELOCITY = ("velocity.1", "velocity.2", "velocity.3")
SPIN = ("spin.1", "spin.2", "spin.3")


def variables() -> list[str]:
    """Names of all that is drawn for a start."""
    return ["source", "rock", "height", *PLACE, *TURN, *VELOCITY, *SPIN, *rock_groups.VARIABLES]


class Release:
    """One source of the study, with the rocks that it sends."""

    def __init__(self, part: SourcePart, shape, groups: list):
        self.part, self.shape, self.name, self.weight = part, shape, part.name, part.weight
        self.groups = [g for g in groups if part.rocks is None or g.name in part.rocks]
        if not self.groups:
            raise InputError("rocks is empty: name one at least, or leave it out for all.")

    def start(self, slope, trunks, u: dict[str, float], more: np.random.Generator):
        """The rock of a run and its start; `more` draws other places if the first is too narrow.

        trunks  (n, 4) of the trees of the study, see trees.py
        """
        from drystone.rockfall.engine.roll import Start, start_row

        rock = pick(self.groups, u["rock"]).make(u)
        centre, normal = self._centre(slope, trunks, rock, u, more)
        # A rock is stored in its principal axes, but oriented as it was given.
        own = quaternion_from_matrix(rock.axes)
        orientation = quaternion_product(tuple(self._orientation(u)), tuple(own))
        velocity, spin = self._velocity(normal, u), self._spin(u)
        start = Start(tuple(centre), tuple(velocity), orientation, tuple(spin))
        start_row(start)  # refuses what no rock has, here where the source can be named
        return rock, start

    def _centre(self, slope, trunks, rock, u, more):
        """Centre of mass of the rock, and the normal of the ground there."""
        height = self.part.height.draw(u["height"])
        numbers, in_a_tree = [u[name] for name in PLACE], None
        for _ in range(TRIES):
            place = self.shape.place(numbers)
            if place.exact:
                # A rock too large for it is lifted until it touches the ground, see
                # rockfall/engine/lift_start.py.
                return place.point + (0.0, 0.0, height), place.normal
            centre = set_down(slope, place.point, place.normal, rock.radius)
            if centre is not None:
                start = centre + (0.0, 0.0, height), place.normal
                if not touches_trunk(slope, trunks, start[0], rock.radius):
                    return start
                in_a_tree = in_a_tree or start
            numbers = more.random(3)
        if in_a_tree is not None:  # a point that is one: the rock is lifted, and `check` says so
            return in_a_tree
        raise InputError(
            f"no place was found for a rock of radius {rock.radius:.3g} m in {TRIES} tries, the "
            f"last at {_world(slope, place.point)}. Is the rock too large for the ground there?"
        )

    def _velocity(self, normal: np.ndarray, u) -> np.ndarray:
        part = self.part
        if part.velocity is not None:
            drawn = zip(part.velocity, VELOCITY, strict=True)
            return np.array([spread.draw(u[name]) for spread, name in drawn])
        if part.speed is None:
            return np.zeros(3)
        speed = part.speed.draw(u[VELOCITY[0]])
        if part.azimuth is not None:
            azimuth = radians(part.azimuth.draw(u[VELOCITY[1]]))
        else:
            azimuth = np.arctan2(normal[0], normal[1])  # down the slope
        up = radians(part.inclination.draw(u[VELOCITY[2]])) if part.inclination else 0.0
        level = cos(up)
        return speed * np.array([level * sin(azimuth), level * cos(azimuth), sin(up)])

    def _orientation(self, u) -> np.ndarray:
        """Unit quaternion (w, x, y, z) of the shape as it was given."""
        if self.part.orientation == "random":
            return random_turn(*(u[name] for name in TURN))
        drawn = zip(self.part.orientation, TURN, strict=True)
        return euler_turn(*(radians(spread.draw(u[name])) for spread, name in drawn))

    def _spin(self, u) -> np.ndarray:
        part = self.part
        if part.spin is not None:
            return np.array([spread.draw(u[n]) for spread, n in zip(part.spin, SPIN, strict=True)])
        if part.spin_speed is None:
            return np.zeros(3)
        z, around = 2.0 * u[SPIN[1]] - 1.0, 2.0 * pi * u[SPIN[2]]
        flat = sqrt(1.0 - z * z)
        axis = np.array([flat * cos(around), flat * sin(around), z])  # even over the sphere
        return part.spin_speed.draw(u[SPIN[0]]) * axis


def random_turn(a: float, b: float, c: float) -> np.ndarray:
    """All orientations alike, from three numbers in [0, 1) [Shoemake1992]."""
    low, high = sqrt(1.0 - a), sqrt(a)
    b, c = 2.0 * pi * b, 2.0 * pi * c
    return np.array([high * cos(c), low * sin(b), low * cos(b), high * sin(c)])


def euler_turn(yaw: float, pitch: float, roll: float) -> np.ndarray:
    """Turned about its x axis by roll, then about y by pitch, then about z by yaw [rad]."""
    cy, sy, cp, sp = cos(yaw / 2), sin(yaw / 2), cos(pitch / 2), sin(pitch / 2)
    cr, sr = cos(roll / 2), sin(roll / 2)
    return np.array(
        [
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ]
    )


def _world(slope, point: np.ndarray) -> str:
    x, y, z = point + slope.origin
    return f"x = {x:.10g}, y = {y:.10g}, z = {z:.7g}"
