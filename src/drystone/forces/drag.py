"""Drag: the resistance of a medium at rest.

    F = -(a + b |v|) v,   torque = -c w         v of the centre of mass, w the spin

Gradients: dF/dv = -(a + b |v|) 1 - b v vᵀ / |v|,  d(torque)/dw = -c 1,  none by the pose.

number: linear a [N s/m], quadratic b [N s²/m²], angular c [N m s].
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from drystone.errors import InputError
from drystone.forces.force import Element, check_one
from drystone.jit import inner_kernel
from drystone.model.checks import not_negative

DRAG = 1  # kind of its rows


@inner_kernel
def drag_force(elements, e, twist):
    """Force and torque on A."""
    b, number = elements.body[e, 0], elements.number
    x, y, z = twist[b, 0], twist[b, 1], twist[b, 2]
    f = -(number[e, 0] + number[e, 1] * sqrt(x * x + y * y + z * z))
    c = -number[e, 2]
    return (f * x, f * y, f * z), (c * twist[b, 3], c * twist[b, 4], c * twist[b, 5])


def drag_gradients(elements, of, state):
    """Bodies (m, 1), and derivatives (m, 6, 6) of force and torque by pose, by twist."""
    number, body = elements.number[of], elements.body[of, :1]
    v = state.twist[body[:, 0], :3]
    speed = np.linalg.norm(v, axis=1)
    out = np.zeros((len(v), 6, 6))
    straight = v / np.where(speed > 0.0, speed, 1.0)[:, None]
    out[:, :3, :3] = -(number[:, 0] + number[:, 1] * speed)[:, None, None] * np.eye(3)
    out[:, :3, :3] -= number[:, 1, None, None] * v[:, :, None] * straight[:, None, :]
    out[:, 3:, 3:] = -number[:, 2, None, None] * np.eye(3)
    return body, np.zeros_like(out), out


@dataclass(frozen=True, eq=False)
class Drag(Element):
    """Resistance against motion of `body`, or of every body on its own if that is None.

    linear     [N s/m]
    quadratic  [N s²/m²]; of a body in a gas: density * area * coefficient / 2
    angular    against spin [N m s]
    """

    body: object = None
    linear: float = 0.0
    quadratic: float = 0.0
    angular: float = 0.0

    _kind, _fixed = DRAG, ("body",)

    def __post_init__(self) -> None:
        check_one(self)
        for name in ("linear", "quadratic", "angular"):
            value = not_negative(f"Drag: {name}", getattr(self, name))
            object.__setattr__(self, name, value)
        if self._numbers() == (0.0, 0.0, 0.0):
            raise InputError("Drag: linear, quadratic and angular are all 0, one must be > 0.")

    def _numbers(self):
        return self.linear, self.quadratic, self.angular
