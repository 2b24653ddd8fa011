"""How a rock is rolled: steps, thresholds and stopping conditions, all with their defaults."""

from typing import Any, NamedTuple

from drystone.errors import InputError
from drystone.model.checks import integer, not_negative, positive, shown
from drystone.model.signatures import public

MOST_DIRECTIONS = 64  # with 32 contacts a matrix of 35 MB; the circle is then off by 0.1 %
LARGEST = 1e6  # of numbers that may be 0: far beyond any use, and no square of them overflows
MOST_STEPS = 10_000_000  # a minute for one rock


@public
class Options(NamedTuple):
    """Settings of a trajectory; ROCFALL sections in brackets."""

    gravity: float = 9.81  # [m/s²]
    dt_flight: float = 0.02  # largest step in flight (5.1.2) [s]
    dt_contact: float = 0.01  # largest step in contact [s]
    turn: float = 0.5  # largest rotation in a step [rad]: a tumbling rock stays smooth
    angular_drag: float = 0.1  # c_d of eq. 5.1 [N m s]
    air_density: float = 0.0  # of the air that slows a rock in flight [kg/m³]; 0: no air
    air_drag: float = 0.5  # drag coefficient, on the area of the sphere of the same volume
    scar_time: float = 0.2  # a rock is in its scar so long after a contact [s] (Lu et al. 2019)
    friction_directions: int = 8  # sides of the polygon for the friction circle (3.2.3), even
    contacts: int = 8  # contacts that one step keeps; more are thinned out
    skin: float = 2.5e-3  # parts of the radius: what is nearer is a contact
    distance: float = 5e-4  # parts of the radius at which the rock is stopped before the slope
    rest_speed: float = 0.1  # slower contacts do not bounce [m/s]: 0.5 mm of height
    stop_speed: float = 0.01  # velocity stopping condition (5.2.2), also of spin * radius [m/s]
    stop_force: float = 0.01  # and of the force per weight that remains
    jitter_time: float = 1.0  # window of the jitter-tolerant condition (5.2.3) [s]
    jitter_size: float = 0.01  # and the size of its boxes, parts of the radius
    max_steps: int = 200_000  # (5.2.4)
    max_time: float = 600.0  # [s]

    def check(self) -> "Options":
        """These options as floats and integers, or a clear sentence on what is wrong with them."""
        units = {"dt_flight": "s", "dt_contact": "s", "turn": "rad", "skin": "radii",
                 "distance": "radii", "max_time": "s"}  # fmt: skip
        clean: dict[str, Any] = {
            name: positive(f"options: {name}", getattr(self, name), unit)
            for name, unit in units.items()
        }
        for name in ("gravity", "angular_drag", "air_density", "air_drag", "scar_time",
                     "rest_speed", "stop_speed", "stop_force", "jitter_time",
                     "jitter_size"):  # fmt: skip
            clean[name] = not_negative(f"options: {name}", getattr(self, name))
            if clean[name] > LARGEST:
                raise InputError(
                    f"options: {name} is {clean[name]:g}, must be at most {LARGEST:g}."
                )
        clean["contacts"] = integer("options: contacts", self.contacts, 1, 32)
        clean["max_steps"] = integer("options: max_steps", self.max_steps, 1, MOST_STEPS)
        directions = integer("options: friction_directions", self.friction_directions)
        if not 4 <= directions <= MOST_DIRECTIONS or directions % 2:
            raise InputError(
                f"options: friction_directions is {shown(directions)}, "
                f"must be an even number from 4 to {MOST_DIRECTIONS}."
            )
        clean["friction_directions"] = directions
        if clean["distance"] >= 0.5 * clean["skin"]:
            raise InputError(
                f"options: distance is {clean['distance']:g}, must be below half of "
                f"skin ({clean['skin']:g})."
            )
        return self._replace(**clean)  # what a kernel takes: floats and integers, nothing like them
