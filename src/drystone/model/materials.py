"""Materials, and the mixing rule for a pair of them.

| of two materials | value for the pair | why |
|---|---|---|
| friction | sqrt(mu_1 mu_2) | a smooth partner makes the pair smooth, and 0 stays 0 |
| restitution | the larger | a rubber ball bounces on a floor that nobody described |
| rolling, spinning friction | the larger | the softer of the two gives way, whatever the other is |

Two bodies of one material have that material's own values. Where the rule is wrong, give the
values of that pair as an override; a soil that deadens every impact is such a case.

Friction may be elliptic: (mu_1, mu_2), along a direction fixed in the body and across it. The rule
then holds for mu_1 and mu_2 each, and a plain number counts as both. The direction is that of the
material whose mu_1 and mu_2 differ more, by their ratio, whichever of the two bodies has it; if
they differ alike, as where a material meets itself, that of the body added later.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import not_negative, number, positive, shown, vector
from drystone.model.signatures import public

ARMS = ("rolling_friction", "spinning_friction")
PAIR_KEYS = ("friction", "restitution", *ARMS)


@public
@dataclass(frozen=True)
class Material:
    """What a body is made of.

    density      [kg/m³], used where no mass is given
    friction     Coulomb's coefficient against itself, >= 0; or two: (along, across) the direction
    restitution  part of the approach speed that comes back, 0 to 1, against itself
    name         only for reading, and for telling equal materials apart
    friction_direction  in the axes of the shape as it was given, of any length; None: (1, 0, 0)
                 if the friction is elliptic
    rolling_friction   arm [m] with which the normal force resists rolling, >= 0: a ball of radius r
                 rolls by itself on slopes steeper than rolling_friction / r
    spinning_friction  likewise about the normal [m], as of a top on its tip

    Materials are compared by value, the name included: two made with the same numbers are the
    same material, also after saving and loading. To give one of them its own pair values,
    give it a name.
    """

    density: float = 1000.0
    friction: float | tuple[float, float] = 0.5
    restitution: float = 0.0
    name: str | None = None
    friction_direction: tuple[float, float, float] | None = None
    rolling_friction: float = 0.0
    spinning_friction: float = 0.0

    def __post_init__(self) -> None:
        who = f"Material {shown(self.name)}" if self.name is not None else "Material"
        if self.name is not None and not isinstance(self.name, str):
            raise InputError(f"{who}: name must be text or None.")
        density = positive(
            f"{who}: density", self.density, "kg/m³", "For a body that never moves use add_fixed()."
        )
        object.__setattr__(self, "density", density)
        object.__setattr__(self, "friction", _friction(who, self.friction))
        object.__setattr__(self, "friction_direction", self._direction(who))
        object.__setattr__(self, "restitution", _restitution(who, self.restitution))
        for name in ARMS:
            object.__setattr__(self, name, not_negative(f"{who}: {name}", getattr(self, name)))

    def _direction(self, who: str) -> tuple[float, ...] | None:
        """As given: a unit vector made anew after loading might differ in its last digit."""
        if self.friction_direction is None:
            return (1.0, 0.0, 0.0) if is_elliptic(self.friction) else None
        direction = vector(f"{who}: friction_direction", self.friction_direction)
        if not any(direction):
            raise InputError(f"{who}: friction_direction is (0, 0, 0), must point somewhere.")
        return direction


def is_elliptic(friction) -> bool:
    """Whether a checked friction is that of an ellipse; equal axes have become one number."""
    return isinstance(friction, tuple)


def pair_tables(
    materials: Iterable[Material], overrides: Mapping | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Friction (m, m) and restitution (m, m), symmetric, of every pair of `materials`.

    Of an ellipse it is the larger friction; friction_tables() has both.

    overrides  {(material_a, material_b): {"friction": ..., "restitution": ...}} in either order;
               a value left out follows the rule. Pairs of materials that are not in the list
               change nothing: they may not be in use yet.
    """
    materials = list(materials)
    bounce = np.array([m.restitution for m in materials], dtype=np.float64)
    restitution = np.maximum.outer(bounce, bounce)
    for i, j, value in _overridden("restitution", materials, overrides):
        restitution[i, j] = restitution[j, i] = value
    return np.maximum(*friction_tables(materials, overrides)), restitution


def friction_tables(
    materials: Iterable[Material], overrides: Mapping | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Friction along and across the direction, (m, m) each; see pair_tables()."""
    materials = list(materials)
    friction = np.array([both_axes(m.friction) for m in materials], dtype=np.float64).reshape(-1, 2)
    # sqrt(mu) sqrt(mu) may differ from mu in the last digit; one material must keep its own.
    tables = np.sqrt([np.multiply.outer(mu, mu) for mu in friction.T])
    for table, mu in zip(tables, friction.T, strict=True):
        np.fill_diagonal(table, mu)
    for i, j, value in _overridden("friction", materials, overrides):
        tables[:, i, j] = tables[:, j, i] = both_axes(value)
    return tables[0], tables[1]


def arm_table(materials: Iterable[Material], overrides: Mapping | None = None) -> np.ndarray:
    """Rolling and spinning friction of every pair [m], (m, m, 2); see pair_tables()."""
    materials = list(materials)
    table = np.zeros((len(materials), len(materials), 2))
    for k, name in enumerate(ARMS):
        own = np.array([getattr(m, name) for m in materials])
        table[:, :, k] = np.maximum.outer(own, own)
        for i, j, value in _overridden(name, materials, overrides):
            table[i, j, k] = table[j, i, k] = value
    return table


def both_axes(friction) -> tuple[float, float]:
    return friction if is_elliptic(friction) else (friction, friction)


def _overridden(key: str, materials: list, overrides: Mapping | None):
    """(row, row, value) of all overrides of `key`."""
    rows: dict[Material, list[int]] = {}
    for k, material in enumerate(materials):
        rows.setdefault(material, []).append(k)
    for (a, b), values in checked_overrides(overrides or {}).items():
        if key in values:
            for i in rows.get(a, ()):
                for j in rows.get(b, ()):
                    yield i, j, values[key]


def checked_overrides(overrides: Mapping) -> dict:
    """The overrides with every value checked; refuses a pair given twice with other values."""
    checked: dict[tuple[Material, Material], dict] = {}
    for pair, values in overrides.items():
        if not (isinstance(pair, tuple) and len(pair) == 2
                and all(isinstance(m, Material) for m in pair)):  # fmt: skip
            raise InputError(
                f"pair override: key is {shown(pair)}, must be a tuple of two Material objects."
            )
        who = f"pair override {pair[0].name or pair[0]} / {pair[1].name or pair[1]}"
        values = _checked_values(who, values)
        if is_elliptic(values.get("friction")) and not any(m.friction_direction for m in pair):
            raise InputError(
                f"{who}: friction is elliptic, but neither material has a direction. "
                f"Give one of them its friction_direction."
            )
        if checked.get(pair[::-1], values) != values:
            raise InputError(f"{who}: given twice, in both orders, with other values. Keep one.")
        checked[pair] = values
    return checked


def _checked_values(who: str, values) -> dict:
    if not isinstance(values, Mapping):
        raise InputError(
            f"{who}: is {shown(values)}, must be a dict with {' or '.join(PAIR_KEYS)}."
        )
    unknown = sorted(str(key) for key in values if key not in PAIR_KEYS)
    if unknown:
        raise InputError(
            f"{who}: no such entry {shown(unknown[0])}. Known: {', '.join(PAIR_KEYS)}."
        )
    check = {"friction": _friction, "restitution": _restitution}
    return {
        key: check[key](who, value) if key in check else not_negative(f"{who}: {key}", value)
        for key, value in values.items()
    }


def _friction(who: str, value) -> Any:
    """One number, or two where they differ."""
    if np.iterable(value) and not isinstance(value, str):
        along, across = (_friction(who, mu) for mu in vector(f"{who}: friction", value, 2))
        return along if along == across else (along, across)
    result = number(f"{who}: friction", value)
    if result < 0.0:
        raise InputError(f"{who}: friction is {result:g}, must be >= 0; 0 is frictionless.")
    return result


def _restitution(who: str, value) -> float:
    result = number(f"{who}: restitution", value)
    if not 0.0 <= result <= 1.0:
        raise InputError(
            f"{who}: restitution is {result:g}, must lie between 0 (no bounce) and 1 (all of it)."
        )
    return result
