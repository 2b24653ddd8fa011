"""What a world does with force elements: add, remove, change and evaluate them."""

import numpy as np

from drystone import build
from drystone.arrays import COUNTER_STEP, DYNAMIC
from drystone.elements.act import fill_forces, kick_bodies, wake_pulled
from drystone.elements.element import Element
from drystone.elements.function import ForceState
from drystone.elements.table import pack_elements, stored_energy
from drystone.errors import InputError
from drystone.frames import fill_outside


def add_force(world, force):
    """Put `force` into `world`; returns it."""
    if not isinstance(force, Element):
        raise InputError(
            f"add_force: {force!r} is no force; give a Spring, Damper, Drag, Attractor, Repulsor "
            f"or Force. For a constant push set body.force and body.torque."
        )
    if force._world is not None:
        raise InputError(f"add_force: this {type(force).__name__} is in a world already.")
    for body in force.bodies:
        if body is not None:
            world._own(body, "add_force")
    world._note("add_force", force)
    world._forces.append(force)
    object.__setattr__(force, "_world", world)
    _touch(world)
    return force


def remove_force(world, force) -> None:
    if force not in world._forces:
        raise InputError(f"remove: this {type(force).__name__} is not in this world.")
    world._note("remove_force", world._forces.index(force))
    world._forces.remove(force)
    object.__setattr__(force, "_world", None)
    _touch(world)


def remove_forces_of(world, body) -> None:
    """Elements go with the bodies that they act on."""
    for force in [force for force in world._forces if body in force.bodies]:
        remove_force(world, force)


def force_changed(world, force) -> None:
    """After force.set(): the table is made anew, and all bodies wake."""
    world._note("set_force", [world._forces.index(force), force])
    _touch(world)


def _touch(world) -> None:
    # Only the table of the elements is made anew: the arrays of the bodies stay as they are, so
    # that a pointer can be moved in every step.
    world._elements_stale = True
    build.wake_all(world._state)


def elements_of(world):
    """The table of the elements of `world`, or None."""
    built = world._synced()
    if world._elements_stale:
        world._elements = pack_elements(world._forces, built, world._origin)
        world._elements_stale = False
    return world._elements


def has_functions(world) -> bool:
    return any(force._kind is None for force in world._forces)


def potential(world) -> float:
    """Energy that springs and poles hold [J]; functions of the user are not asked."""
    if not world._forces:
        return 0.0
    return stored_energy(elements_of(world), world._state)


class Forces:
    """All elements and functions of a world, for steps that are taken in Python."""

    def __init__(self, world):
        self.elements = elements_of(world)
        self.functions = [force for force in world._forces if force._kind is None]
        self.built, self.dt, self.origin = world._build, world.dt, world._origin
        self.ahead = 0.0  # [s] since the last whole step
        self._given = self._before = None

    def add(self, state) -> None:
        """Put the forces beside those that the user has given."""
        if self.elements is not None:
            wake_pulled(self.elements, self.built.model.bodies, state)
        self._given, self._before = state.force.copy(), self.total(state)
        state.force[:] += self._before
        if self.functions:
            self._wake(state)

    def drop(self, state) -> None:
        """Leave only what the user has given."""
        state.force[:] = self._given

    def settle(self, state, rough, dt: float) -> None:
        """The second half of a step; see elements/act.py."""
        bodies = self.built.model.bodies
        kick_bodies(bodies, state, rough, self._before, self.total(state), dt)

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
        place, turned = np.empty((n, 3)), np.empty((n, 4))
        built = self.built
        fill_outside(
            state.position, state.rotation, built.offset, built.turn, self.origin, place, turned
        )
        return ForceState(
            time=float(state.counter[COUNTER_STEP]) * self.dt + self.ahead,
            centres=state.position[rows] + np.array(self.origin),
            orientations=turned[rows],
            velocities=state.twist[rows, :3].copy(),
            spins=state.twist[rows, 3:].copy(),
        )

    def _wake(self, state) -> None:
        """What a function pushes does not sleep: nobody knows when it will push differently."""
        for force in self.functions:
            rows = self.rows(force)
            pushed = rows[self._before[rows].any(axis=1)]
            pushed = pushed[self.built.model.bodies.kind[pushed] == DYNAMIC]
            state.asleep[pushed] = 0
            state.rest_time[pushed] = 0.0
