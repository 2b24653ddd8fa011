"""Materials, and the one rule that says what holds when two of them meet.

| of two materials | value for the pair | why |
|---|---|---|
| friction | sqrt(mu_1 mu_2) | a smooth partner makes the pair smooth, and 0 stays 0 |
| restitution | the larger | a rubber ball bounces on a floor that nobody described |

Two bodies of one material have that material's own values. Where the rule is wrong, give the
values of that pair as an override; a soil that deadens every impact is such a case.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from drystone.errors import InputError
from drystone.shapes.checks import number, positive

PAIR_KEYS = ("friction", "restitution")


@dataclass(frozen=True)
class Material:
    """What a body is made of.

    density      [kg/m³], used where no mass is given
    friction     Coulomb's coefficient against itself, >= 0
    restitution  part of the approach speed that comes back, 0 to 1, against itself
    name         only for people and for telling equal materials apart

    Materials are compared by value, the name included: two made with the same numbers are the
    same material, also after saving and loading. To give one of them its own pair values,
    give it a name.
    """

    density: float = 1000.0
    friction: float = 0.5
    restitution: float = 0.0
    name: str | None = None

    def __post_init__(self):
        who = f"Material {self.name!r}" if self.name is not None else "Material"
        if self.name is not None and not isinstance(self.name, str):
            raise InputError(f"{who}: name must be text or None.")
        density = positive(
            f"{who}: density", self.density, "kg/m³", "For a body that never moves use add_fixed()."
        )
        object.__setattr__(self, "density", density)
        object.__setattr__(self, "friction", _friction(who, self.friction))
        object.__setattr__(self, "restitution", _restitution(who, self.restitution))


def pair_tables(
    materials: Iterable[Material], overrides: Mapping | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Friction (m, m) and restitution (m, m), symmetric, of every pair of `materials`.

    overrides  {(material_a, material_b): {"friction": ..., "restitution": ...}} in either order;
               a value left out follows the rule. Pairs of materials that are not in the list
               change nothing: they may not be in use yet.
    """
    materials = list(materials)
    friction = np.array([m.friction for m in materials], dtype=np.float64)
    bounce = np.array([m.restitution for m in materials], dtype=np.float64)
    # sqrt(mu) sqrt(mu) may differ from mu in the last digit; one material must keep its own.
    tables = {"friction": np.sqrt(np.multiply.outer(friction, friction))}
    np.fill_diagonal(tables["friction"], friction)
    tables["restitution"] = np.maximum.outer(bounce, bounce)
    rows = {}
    for k, material in enumerate(materials):
        rows.setdefault(material, []).append(k)
    for (a, b), values in _checked(overrides or {}).items():
        for i in rows.get(a, ()):
            for j in rows.get(b, ()):
                for key, value in values.items():
                    tables[key][i, j] = tables[key][j, i] = value
    return tables["friction"], tables["restitution"]


def _checked(overrides: Mapping) -> dict:
    """The overrides with every value checked; refuses a pair given twice with other values."""
    checked = {}
    for pair, values in overrides.items():
        if not (isinstance(pair, tuple) and len(pair) == 2
                and all(isinstance(m, Material) for m in pair)):  # fmt: skip
            raise InputError(
                f"pair override: key is {pair!r}, must be a tuple of two Material objects."
            )
        who = f"pair override {pair[0].name or pair[0]} / {pair[1].name or pair[1]}"
        values = _checked_values(who, values)
        if checked.get(pair[::-1], values) != values:
            raise InputError(f"{who}: given twice, in both orders, with other values. Keep one.")
        checked[pair] = values
    return checked


def _checked_values(who: str, values) -> dict[str, float]:
    if not isinstance(values, Mapping):
        raise InputError(f"{who}: is {values!r}, must be a dict with {' or '.join(PAIR_KEYS)}.")
    unknown = sorted(str(key) for key in values if key not in PAIR_KEYS)
    if unknown:
        raise InputError(f"{who}: no such entry {unknown[0]!r}. Known: {', '.join(PAIR_KEYS)}.")
    check = {"friction": _friction, "restitution": _restitution}
    return {key: check[key](who, value) for key, value in values.items()}


def _friction(who: str, value) -> float:
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
