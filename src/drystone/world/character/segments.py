"""Masses and centres of the segments of a body, from published tables.

de Leva   [deLeva1996] tables 2 and 4, men and women: living people, scanned by Zatsiorsky et al.
winter    [Winter2009] table 4.1, after Dempster: eight cadavers of men

Shares of the whole mass, and where the centre of mass lies on the way from the upper joint to the
lower one, the foot's from the heel to the toe. The trunk is that without neck and head.
"""

from typing import NamedTuple


class Segment(NamedTuple):
    mass: float  # of the whole body's
    centre: float  # of the way from the upper joint to the lower one


TABLES: dict[str, dict[str, Segment]] = {
    "de Leva men": {
        "head": Segment(0.0694, 0.5002), "trunk": Segment(0.4346, 0.5138),
        "upper arm": Segment(0.0271, 0.5772), "forearm": Segment(0.0162, 0.4574),
        "hand": Segment(0.0061, 0.3624), "thigh": Segment(0.1416, 0.4095),
        "shank": Segment(0.0433, 0.4459), "foot": Segment(0.0137, 0.4415),
    },
    "de Leva women": {
        "head": Segment(0.0668, 0.4841), "trunk": Segment(0.4257, 0.4964),
        "upper arm": Segment(0.0255, 0.5754), "forearm": Segment(0.0138, 0.4559),
        "hand": Segment(0.0056, 0.3427), "thigh": Segment(0.1478, 0.3612),
        "shank": Segment(0.0481, 0.4416), "foot": Segment(0.0129, 0.4014),
    },
    "winter": {
        "head": Segment(0.081, 0.5), "trunk": Segment(0.497, 0.5),
        "upper arm": Segment(0.028, 0.436), "forearm": Segment(0.016, 0.430),
        "hand": Segment(0.006, 0.506), "thigh": Segment(0.100, 0.433),
        "shank": Segment(0.0465, 0.433), "foot": Segment(0.0145, 0.5),
    },
}  # fmt: skip

# Of the trunk: pelvis, and the part that carries the arms; what lies between has the rest
# ([deLeva1996] table 4: lower, middle and upper trunk are 11.17, 16.33 and 15.96 %).
PELVIS, CHEST = 0.257, 0.367
CLAVICLE = 0.03  # of the trunk, one of them: shoulder girdle with what of the muscles moves with it
TOES = 0.2  # of the foot: what lies before the ball


def masses(roles: list[str], table: str, mass: float) -> list[float]:
    """The mass of each segment by its role [kg]; zero where the table does not know the role."""
    of = TABLES[table]
    found = [mass * of[role].mass if role in of and role != "trunk" else 0.0 for role in roles]
    trunk = [k for k, role in enumerate(roles) if role in ("pelvis", "trunk")]
    whole = mass * of["trunk"].mass
    for k, role in enumerate(roles):
        if role == "clavicle":
            found[k] = CLAVICLE * whole
        elif role == "toe":
            found[k] = TOES * mass * of["foot"].mass
        elif role == "neck" and "head" not in roles:
            found[k] = mass * of["head"].mass
        elif role == "neck":
            found[k] = 0.2 * mass * of["head"].mass
        elif role == "head" and "neck" in roles:
            found[k] = 0.8 * mass * of["head"].mass
        elif role == "foot" and "toe" in roles:
            found[k] = (1.0 - TOES) * mass * of["foot"].mass
    # Where a skeleton ends at the wrist or the ankle, the last bone has what comes after it.
    for last, lacking in (("forearm", "hand"), ("shank", "foot")):
        if lacking not in roles:
            for k in (k for k, role in enumerate(roles) if role == last):
                found[k] += mass * of[lacking].mass
    left = whole - CLAVICLE * whole * roles.count("clavicle")
    shares = _trunk_shares([roles[k] for k in trunk])
    for k, share in zip(trunk, shares, strict=True):
        found[k] = share * left
    return found


def _trunk_shares(roles: list[str]) -> list[float]:
    """Of the parts of the trunk from the pelvis up."""
    count = len(roles)
    has_pelvis = bool(roles) and roles[0] == "pelvis"
    if count <= 1:
        return [1.0] * count
    above = count - has_pelvis
    middle = 1.0 - PELVIS - CHEST
    if above == 1:
        return [PELVIS, 1.0 - PELVIS]
    lower = [PELVIS] if has_pelvis else []
    each = (middle if has_pelvis else middle + PELVIS) / (above - 1)
    return [*lower, *[each] * (above - 1), CHEST]
