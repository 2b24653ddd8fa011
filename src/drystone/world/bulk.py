"""All bodies at once: poses and velocities as arrays, to read and to set."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.model.checks import float_array, frozen
from drystone.model.frames import fill_inside, fill_outside
from drystone.model.rotation import UNIT_TOLERANCE, unit_quaternion
from drystone.model.signatures import public
from drystone.world import build


@public
class Bulk:
    """Poses and velocities of all bodies, in the order of `bodies`.

    What is read cannot be written to; world.velocities = 0 stops everything. What is set is
    checked, wakes all bodies, and is noted by a running recording as if every body had been set
    by itself.
    """

    _state: Any
    _origin: tuple
    _recorder: Any
    _bodies: list
    _robots: list
    _space: Any

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) of all bodies, in the order of `bodies` [m]."""
        return frozen(self._poses()[0])

    @positions.setter
    def positions(self, value: ArrayLike) -> None:
        self._set_all("position", value, 3)

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) of all bodies, w, x, y, z."""
        return frozen(self._poses()[1])

    @orientations.setter
    def orientations(self, value: ArrayLike) -> None:
        self._set_all("orientation", value, 4)

    @property
    def centres(self) -> np.ndarray:
        """(n, 3) centres of mass [m]."""
        self._synced()
        return frozen(self._state.position + np.array(self._origin))

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) of the centres of mass [m/s]."""
        self._synced()
        return frozen(self._state.twist[:, :3])

    @velocities.setter
    def velocities(self, value: ArrayLike) -> None:
        self._set_all("velocity", value, 3)

    @property
    def spins(self) -> np.ndarray:
        """(n, 3) [rad/s]."""
        self._synced()
        return frozen(self._state.twist[:, 3:])

    @spins.setter
    def spins(self, value: ArrayLike) -> None:
        self._set_all("spin", value, 3)

    def _synced(self) -> Any:
        raise NotImplementedError

    def _poses(self):
        built, count = self._synced(), len(self._bodies)
        position, orientation = np.empty((count, 3)), np.empty((count, 4))
        fill_outside(
            self._state.position, self._state.rotation, built.offset, built.principal_rotation,
            self._origin, position, orientation,
        )  # fmt: skip
        return position, orientation

    def _set_all(self, field: str, value: ArrayLike, width: int) -> None:
        given, count = float_array(field, value), len(self._bodies)
        try:
            given = np.broadcast_to(given, (count, width))
        except ValueError:
            raise InputError(
                f"{field}: has shape {given.shape}, must be ({count}, {width}), a row a body."
            ) from None
        if not np.isfinite(given).all():
            row = int(np.flatnonzero(~np.isfinite(given).all(axis=1))[0])
            raise InputError(f"{self._bodies[row].name}: {field} has a number that is not finite.")
        if self._recorder is not None or self._space.dim == 2 or self._robots:
            links = {body for robot in self._robots for body in robot.links.values()}
            for body, row in zip(self._bodies, given, strict=True):
                if body not in links or not np.array_equal(getattr(body, field), row):
                    setattr(body, field, row)
            return
        self._synced()
        if field in ("velocity", "spin"):
            first = 0 if field == "velocity" else 3
            self._state.twist[:, first : first + 3] = given
        else:
            self._place_all(field, given)
        build.wake_all(self._state)

    def _place_all(self, field: str, given: np.ndarray) -> None:
        position, orientation = self._poses()
        if field == "position":
            position = np.ascontiguousarray(given)
        else:
            size = np.sqrt(np.einsum("ij,ij->i", given, given))
            row = int(np.argmax(abs(size - 1.0))) if len(size) else 0
            if len(size) and abs(size[row] - 1.0) > UNIT_TOLERANCE:
                unit_quaternion(f"{self._bodies[row].name}: orientation", given[row])
            orientation = given / size[:, None]
        built, rotation = self._synced(), np.empty((len(given), 4))
        fill_inside(
            position, orientation, built.offset, built.principal_rotation, self._origin,
            self._state.position, rotation,
        )  # fmt: skip
        if field == "orientation":  # a position leaves the bits of the rotation alone
            self._state.rotation[:] = rotation
