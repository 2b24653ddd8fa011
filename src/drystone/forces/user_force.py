"""Force: a user-defined force F(state), in Python.

    F (m, 6): forces [N] and torques [N m] about the centres of mass, world axes

Gradients, given by another function or by central differences of the first:

    dF/dx (6m, 6m) by a shift of the centre [m] and a rotation about it [rad], world axes
    dF/dv (6m, 6m) by velocity [m/s] and spin [rad/s]
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.errors import InputError
from drystone.forces.force import Element
from drystone.jit.vec import rotate_quaternion
from drystone.model.attachment import is_moving
from drystone.model.checks import float_array, shown
from drystone.model.signatures import public

# A central difference is best with a step of about the cube root of the rounding error, 6e-6, of
# what makes the force change; that is a metre, a metre per second, a radian.
STEP = 6e-6


@public
class ForceState(NamedTuple):
    """What a function of the user sees: its bodies, one row each."""

    time: float  # [s]
    centres: np.ndarray  # (m, 3) centres of mass [m]
    orientations: np.ndarray  # (m, 4) of the frames of the shapes, w, x, y, z
    velocities: np.ndarray  # (m, 3) [m/s]
    spins: np.ndarray  # (m, 3) [rad/s]


@dataclass(frozen=True, eq=False)
class Force(Element):
    """Forces that a Python function computes; the world then steps one step at a time.

    function   called with a ForceState; returns forces (m, 3), or with torques (m, 6)
    gradient   called likewise; returns dF/dx and dF/dv, each (6m, 6m); None: differences.
               Only stepper="implicit" asks for it.
    on         the m bodies that it sees and acts on; None: all of the world
    """

    function: Callable[[ForceState], ArrayLike]
    gradient: Callable[[ForceState], tuple[ArrayLike, ArrayLike]] | None = None
    on: tuple | None = None

    _kind, _fixed = None, ("on",)

    def __post_init__(self) -> None:
        for name in ("function", "gradient"):
            call = getattr(self, name)
            if not callable(call) and not (name == "gradient" and call is None):
                raise InputError(
                    f"Force: {name} is {shown(call)}, must be a function of a ForceState."
                )
        if self.on is None:
            return
        on = (self.on,) if is_moving(self.on) else self.on
        if not isinstance(on, tuple | list):
            raise InputError(f"Force: on is {shown(on)}, must be a list of moving bodies, or None.")
        for body in on:
            if not is_moving(body):
                raise InputError(f"Force: on has {shown(body)}, must be moving bodies.")
        on = tuple(on)
        if len(set(on)) < len(on):
            raise InputError("Force: on names a body twice.")
        object.__setattr__(self, "on", on)

    @property
    def bodies(self) -> tuple:
        return self.on or ()

    def values(self, view: ForceState) -> np.ndarray:
        """The forces (m, 6), checked."""
        return _checked(self.function(view), len(view.centres))

    def gradients(self, view: ForceState) -> tuple[np.ndarray, np.ndarray]:
        """dF/dx and dF/dv, each (6m, 6m)."""
        size = 6 * len(view.centres)
        if self.gradient is None:
            return differences(self.values, view)
        what, given = "Force: what its gradient returned", self.gradient(view)
        if not isinstance(given, tuple | list) or len(given) != 2:
            raise InputError(f"{what} is {shown(given)}, must be two matrices.")
        by_pose, by_twist = (float_array(what, k, "two matrices of numbers") for k in given)
        for matrix in (by_pose, by_twist):
            if matrix.shape != (size, size):
                raise InputError(
                    f"Force: its gradient returned a matrix of shape {matrix.shape}, must be "
                    f"{(size, size)}: six rows and columns for each of its bodies."
                )
        return by_pose, by_twist


def _checked(values, count: int) -> np.ndarray:
    values = float_array("Force: what its function returned", values)
    if values.shape == (count, 3):
        return np.hstack((values, np.zeros((count, 3))))
    if values.shape != (count, 6):
        raise InputError(
            f"Force: its function returned an array of shape {values.shape}, must be "
            f"{(count, 3)} for forces, or {(count, 6)} with torques."
        )
    return values


def differences(function, view: ForceState) -> tuple[np.ndarray, np.ndarray]:
    """Central differences of function(view) by poses and by twists."""
    count = len(view.centres)
    by_pose, by_twist = np.zeros((6 * count, 6 * count)), np.zeros((6 * count, 6 * count))
    for b in range(count):
        for k in range(6):
            for matrix, shift in ((by_pose, shift_pose), (by_twist, shift_twist)):
                step = STEP * (1.0 + (np.abs(view[1][b]).max() if k < 3 else 0.0))
                up, down = function(shift(view, b, k, step)), function(shift(view, b, k, -step))
                matrix[:, 6 * b + k] = ((up - down) / (2.0 * step)).ravel()
    return by_pose, by_twist


def shift_pose(view: ForceState, b: int, k: int, step: float) -> ForceState:
    """Body `b` moved along axis k, or rotated about axis k - 3."""
    if k < 3:
        centres = view.centres.copy()
        centres[b, k] += step
        return view._replace(centres=centres)
    angle, rotated = [0.0, 0.0, 0.0], view.orientations.copy()
    angle[k - 3] = step
    rotated[b] = rotate_quaternion(tuple(map(float, rotated[b])), tuple(angle))
    return view._replace(orientations=rotated)


def shift_twist(view: ForceState, b: int, k: int, step: float) -> ForceState:
    """Body `b` faster along axis k, or spinning faster about axis k - 3."""
    name, k = ("velocities", k) if k < 3 else ("spins", k - 3)
    changed = getattr(view, name).copy()
    changed[b, k] += step
    return view._replace(**{name: changed})
