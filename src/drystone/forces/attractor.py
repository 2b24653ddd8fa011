"""Attractor and Repulsor: a point that pulls bodies, or pushes them away (CLINE 4.7).

    d = c - x,  u = |d|² + r²,   F = -S d / u^((p + 1) / 2)         c: centre of mass

The magnitude is S / |d|^p where |d| is large against the core r, and finite everywhere if r > 0.

Gradient: dF/dc = -S (1 - (p + 1) d dᵀ / u) / u^((p + 1) / 2),  none by velocity or rotation.
Potential: -S / ((p - 1) u^((p - 1) / 2)),  for p = 1 it is S ln(u) / 2.

number: strength S [N m^p] (negative: repulsor), power p, core r [m]. The place x is the anchor of
A, whatever that body is.
"""

from dataclasses import dataclass

import numpy as np

from drystone.forces.force import Element, check_one
from drystone.jit import inner_kernel
from drystone.model.checks import not_negative, positive, vector

POLE = 2  # kind of its rows


@inner_kernel
def pole_force(elements, e, position):
    """Force on A; none right at the place, where it has no direction."""
    b, anchor, number = elements.body[e, 0], elements.anchor, elements.number
    x = position[b, 0] - anchor[e, 0]
    y = position[b, 1] - anchor[e, 1]
    z = position[b, 2] - anchor[e, 2]
    square = x * x + y * y + z * z
    if square == 0.0:
        return 0.0, 0.0, 0.0
    f = -number[e, 0] * (square + number[e, 2] ** 2) ** (-0.5 * (number[e, 1] + 1.0))
    return f * x, f * y, f * z


def away_from(elements, of, state):
    """Centres of the bodies as seen from the places of the poles `of` (m, 3): d."""
    return state.position[elements.body[of, 0]] - elements.anchor[of, :3]


def pole_gradients(elements, of, state):
    """Bodies (m, 1), and derivatives (m, 6, 6) of force and torque by pose, by twist."""
    number, away = elements.number[of], away_from(elements, of, state)
    strength, power, core = number[:, 0], number[:, 1], number[:, 2]
    u = (away**2).sum(axis=1) + core**2
    u = np.where(u > 0.0, u, np.inf)
    f = (strength * u ** (-0.5 * (power + 1.0)))[:, None, None]
    outer = away[:, :, None] * away[:, None, :]
    by_pose = np.zeros((len(of), 6, 6))
    by_pose[:, :3, :3] = -f * (np.eye(3) - ((power + 1.0) / u)[:, None, None] * outer)
    return elements.body[of, :1], by_pose, np.zeros_like(by_pose)


def pole_energy(elements, of, state):
    """[J] of the poles `of` (m,); zero at infinity if the power is above 1."""
    number, away = elements.number[of], away_from(elements, of, state)
    strength, power, core = number[:, 0], number[:, 1], number[:, 2]
    u = (away**2).sum(axis=1) + core**2
    log = power == 1.0
    rest = np.where(log, 1.0, power - 1.0)
    with np.errstate(divide="ignore"):
        far = -strength / rest * u ** (-0.5 * rest)
        return np.where(log, 0.5 * strength * np.log(u), far)


@dataclass(frozen=True, eq=False)
class _Pole(Element):
    position: tuple[float, float, float]
    strength: float
    body: object = None
    power: float = 2.0
    core: float = 0.0

    _kind, _fixed, _sign = POLE, ("body",), 1.0

    def __post_init__(self) -> None:
        who = type(self).__name__
        check_one(self)
        object.__setattr__(self, "position", vector(f"{who}: position", self.position))
        strength = positive(f"{who}: strength", self.strength, "N m^power")
        object.__setattr__(self, "strength", strength)
        for name in ("power", "core"):
            value = not_negative(f"{who}: {name}", getattr(self, name))
            object.__setattr__(self, name, value)

    def _numbers(self):
        return self._sign * self.strength, self.power, self.core


class Attractor(_Pole):
    """A point that pulls `body`, or every body if that is None, the harder the nearer it is.

    position   [m]; move it with set(position=...)
    strength   the force at 1 m [N], the same for light and heavy bodies
    power      the force falls with distance to this power
    core       within about this distance the force no longer grows [m]
    """


class Repulsor(_Pole):
    """A point that pushes `body`, or every body if that is None, the harder the nearer it is.

    What it is given means the same as for an Attractor.
    """

    _sign = -1.0
