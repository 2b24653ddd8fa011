"""All forces of a world, evaluated from Python: compiled elements and functions of the user."""

import numpy as np

from drystone.forces.apply import kick_bodies, wake_connected
from drystone.forces.dispatch import fill_forces
from drystone.forces.pack import pack_elements
from drystone.forces.user_force import ForceState
from drystone.model.arrays import COUNTER_STEP, DYNAMIC
from drystone.model.frames import fill_outside


def elements_of(world):
    """The table of the elements of `world`, or None."""
    built = world._synced()
    if world._elements_stale:
        world._elements = pack_elements(world._forces, built, world._origin)
        world._elements_stale = False
    return world._elements


def has_functions(world) -> bool:
    return any(force._kind is None for force in world._forces)


class Forces:
    """All elements and functions of a world, for steps that are taken in Python."""

    def __init__(self, world):
        self.elements = elements_of(world)
        self.functions = [force for force in world._forces if force._kind is None]
        self.built, self.dt, self.origin = world._build, world.dt, world._origin
        self.ahead = 0.0  # [s] since the last full step
        self._before = None

    def load(self, state, force) -> None:
        """Fill `force` (n, 6) with the constant forces of the user and those of this world."""
        if self.elements is not None:
            wake_connected(self.elements, self.built.model.bodies, state)
        self._before = self.total(state)
        force[:] = state.force + self._before
        if self.functions:
            self._wake(state)

    def settle(self, state, scheme, dt: float) -> None:
        """The second half of a step; see forces/apply.py."""
        bodies = self.built.model.bodies
        kick_bodies(bodies, state, scheme, self._before, self.total(state), dt)

    def total(self, state) -> np.ndarray:
        """Forces and torques (n, 6) now."""
        out = np.zeros_like(state.force)
        if self.elements is not None:
            fill_forces(self.elements, state, out)
        for force in self.functions:
            rows = self.rows(force)
            out[rows] += force.values(self.view(state, rows))
        return out

    def rows(self, force) -> np.ndarray:
        """Rows of the bodies that a function sees."""
        if force.on is None:
            return np.arange(len(self.built.numbers))
        return np.array([body.index for body in force.on], dtype=np.int64)

    def view(self, state, rows) -> ForceState:
        n = len(state.position)
        place, orientation = np.empty((n, 3)), np.empty((n, 4))
        built = self.built
        fill_outside(
            state.position, state.rotation, built.offset, built.principal_rotation, self.origin,
            place, orientation,
        )  # fmt: skip
        return ForceState(
            time=float(state.counter[COUNTER_STEP]) * self.dt + self.ahead,
            centres=state.position[rows] + np.array(self.origin),
            orientations=orientation[rows],
            velocities=state.twist[rows, :3].copy(),
            spins=state.twist[rows, 3:].copy(),
        )

    def _wake(self, state) -> None:
        """What a function pushes does not sleep: when its force changes cannot be known."""
        for force in self.functions:
            rows = self.rows(force)
            pushed = rows[self._before[rows].any(axis=1)]
            pushed = pushed[self.built.model.bodies.kind[pushed] == DYNAMIC]
            state.asleep[pushed] = 0
            state.rest_time[pushed] = 0.0
