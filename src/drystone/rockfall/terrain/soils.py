"""Published classes of ground, as presets for materials. Each row names where it was printed.

`rockyfor3d:N`  the soil types of Rockyfor3D with the range of the normal restitution R_n, as
printed in Geosciences 13 (6), 182 (2023), doi 10.3390/geosciences13060182; R_n is drawn evenly
from the range. They have no Coulomb friction, for that model brakes along the slope by roughness:
a study must give it. Type 5 (bedrock under a thin cover) is left out: the article prints for it
the range of type 1, against its own order of hardness.

`stone:NAME`  the 19 lithologies for STONE and its successor r.stone, after [Guzzetti2002] and
[Alvioli2021], as printed in the manual of the GRASS module r.stone; friction and R_n are each
varied by a normal distribution cut off at 10 % on either side, as that module does (it does not
print the deviation; we take the limits as two of them). Its friction is that of rolling, which
here is the friction of contact points.

`stone-rolling:NAME`  the same lithologies with that friction as what it is there: a resistance
against rolling. Coulomb friction of the contact points has then to be given by the study.

These values belong to models of a point or a sphere. Published values do not carry over from
one model or site to another: they are a start for a back-analysis, not its result.
"""

from typing import NamedTuple

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, shown
from drystone.rockfall.study.distributions import Distribution, fixed

ROCKYFOR3D = "Rockyfor3D soil types, Geosciences 13 (6), 182, 2023"
STONE = "r.stone manual, after Guzzetti et al. 2002 and Alvioli et al. 2021"
STONE_LIMIT = 0.10  # of the value, either side
STONE_DEVIATION = 0.05  # of the value


class Soil(NamedTuple):
    name: str
    what: str
    restitution: Distribution
    friction: Distribution | None  # None: the source has none, the study must give it
    source: str
    rolling: Distribution | None = None


def _range(low: float, high: float) -> Distribution:
    return Distribution("uniform", (low, high))


def _around(value: float) -> Distribution:
    limit = STONE_LIMIT * value
    return Distribution(
        "normal", (value, STONE_DEVIATION * value), (), value - limit, value + limit
    )


# type: (ground, R_n)
_ROCKYFOR3D = {
    0: ("river, swamp: a rock stops", fixed(0.0)),
    1: ("fine soil, deeper than 100 cm", _range(0.21, 0.25)),
    2: ("fine soil, less than 100 cm", _range(0.30, 0.36)),
    3: ("scree, stones below 10 cm", _range(0.34, 0.42)),
    4: ("talus, stones above 10 cm", _range(0.39, 0.47)),
    6: ("bedrock", _range(0.48, 0.58)),
    7: ("asphalt road", _range(0.32, 0.39)),
}

# name: (lithology, friction, R_n)
_STONE = {
    "anthropic": ("anthropic deposits", 0.65, 0.35),
    "alluvial": ("alluvial, lacustrine, marine, eluvial and colluvial deposits", 0.80, 0.15),
    "coastal": ("coastal deposits, not fluvial", 0.65, 0.35),
    "landslide": ("landslides", 0.65, 0.35),
    "glacial": ("glacial deposits", 0.65, 0.35),
    "loose-clastic": ("loosely packed clastic deposits", 0.35, 0.45),
    "consolidated-clastic": ("consolidated clastic deposits", 0.40, 0.55),
    "marl": ("marl", 0.40, 0.55),
    "carbonate-siliciclastic": ("carbonates-siliciclastic and marl sequence", 0.35, 0.60),
    "chaotic": ("chaotic rocks, melange", 0.35, 0.45),
    "flysch": ("flysch", 0.40, 0.55),
    "carbonate": ("carbonate rocks", 0.30, 0.65),
    "evaporite": ("evaporites", 0.35, 0.45),
    "pyroclastic": ("pyroclastic rocks and ignimbrites", 0.40, 0.55),
    "lava": ("lava and basalts", 0.30, 0.65),
    "intrusive": ("intrusive igneous rocks", 0.30, 0.65),
    "schist": ("schists", 0.35, 0.60),
    "non-schist": ("non-schists", 0.30, 0.65),
    "lake-glacier": ("lakes, glaciers", 0.95, 0.10),
}

SOILS = {
    f"rockyfor3d:{number}": Soil(f"rockyfor3d:{number}", what, restitution, None, ROCKYFOR3D)
    for number, (what, restitution) in _ROCKYFOR3D.items()
} | {
    f"stone:{name}": Soil(f"stone:{name}", what, _around(restitution), _around(mu), STONE)
    for name, (what, mu, restitution) in _STONE.items()
}

# The same lithologies, their friction as a resistance against rolling.
ROLLING_SOILS = {
    f"stone-rolling:{name}": Soil(
        f"stone-rolling:{name}", what, _around(restitution), None, STONE, _around(mu)
    )
    for name, (what, mu, restitution) in _STONE.items()
}


def find_soil(name: str) -> Soil:
    known = SOILS | ROLLING_SOILS
    if name in known:
        return known[name]
    raise InputError(f"preset is {shown(name)}, which is unknown. {did_you_mean(name, known)}")
