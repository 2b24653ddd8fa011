"""Masses and centres of the segments of a body, from published tables.

de Leva   [deLeva1996] tables 2 and 4, men and women: living people, scanned by Zatsiorsky et al.
winter    [Winter2009] table 4.1, after Dempster: eight cadavers of men

Compared digit by digit with the transcriptions in M. Duarte's course of biomechanics (BMC, files
BSPmale_ZdeLeva, BSPfemale_ZdeLeva, BSP_DempsterWinter); the books themselves were not at hand.
"""

from typing import NamedTuple


class Segment(NamedTuple):
    mass: float  # of the whole body's
    # Of the way from the upper joint centre to the lower one; a hand to the tip of its fingers, a
    # foot see Table.foot_from. None: that of the shape.
    centre: float | None = None


class Table(NamedTuple):
    segments: dict[str, Segment]
    trunk: tuple[float, float, float]  # pelvis, middle, and what carries the arms, of the body
    foot_from: str  # where a foot begins that ends at its toes: "heel" or "ankle"


TABLES = {
    "de Leva men": Table({
        "head": Segment(0.0694), "trunk": Segment(0.4346),
        "upper arm": Segment(0.0271, 0.5772), "forearm": Segment(0.0162, 0.4574),
        "hand": Segment(0.0061, 0.3624), "thigh": Segment(0.1416, 0.4095),
        "shank": Segment(0.0433, 0.4395), "foot": Segment(0.0137, 0.4415),
    }, (0.1117, 0.1633, 0.1596), "heel"),
    "de Leva women": Table({
        "head": Segment(0.0668), "trunk": Segment(0.4257),
        "upper arm": Segment(0.0255, 0.5754), "forearm": Segment(0.0138, 0.4559),
        "hand": Segment(0.0056, 0.3427), "thigh": Segment(0.1478, 0.3612),
        "shank": Segment(0.0481, 0.4352), "foot": Segment(0.0129, 0.4014),
    }, (0.1247, 0.1465, 0.1545), "heel"),
    # A hand ends at its knuckles there, a foot at the ball: our shapes are a little longer.
    "winter": Table({
        "head": Segment(0.081), "trunk": Segment(0.497),
        "upper arm": Segment(0.028, 0.436), "forearm": Segment(0.016, 0.430),
        "hand": Segment(0.006, 0.506), "thigh": Segment(0.100, 0.433),
        "shank": Segment(0.0465, 0.433), "foot": Segment(0.0145, 0.5),
    }, (0.142, 0.139, 0.216), "ankle"),
}  # fmt: skip

# Estimates of our own, for the tables have no such parts:
CLAVICLE = 0.03  # of the trunk, one of them: shoulder girdle with what of the muscles moves with it
TOES = 0.2  # of the foot: what lies before the ball
NECK = 0.2  # of the head with it


def masses(roles: list[str], table: str, mass: float) -> list[float]:
    """The mass of each segment by its role [kg]; zero where the table does not know the role."""
    of = TABLES[table].segments
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
            found[k] = NECK * mass * of["head"].mass
        elif role == "head" and "neck" in roles:
            found[k] = (1.0 - NECK) * mass * of["head"].mass
        elif role == "foot" and "toe" in roles:
            found[k] = (1.0 - TOES) * mass * of["foot"].mass
    # Where a skeleton ends at the wrist or the ankle, the last bone has what comes after it.
    for last, lacking in (("forearm", "hand"), ("shank", "foot")):
        if lacking not in roles:
            for k in (k for k, role in enumerate(roles) if role == last):
                found[k] += mass * of[lacking].mass
    left = whole - CLAVICLE * whole * roles.count("clavicle")
    shares = _trunk_shares([roles[k] for k in trunk], TABLES[table].trunk)
    for k, share in zip(trunk, shares, strict=True):
        found[k] = share * left
    return found


def _trunk_shares(roles: list[str], parts: tuple[float, float, float]) -> list[float]:
    """Of the parts of the trunk from the pelvis up."""
    count = len(roles)
    has_pelvis = bool(roles) and roles[0] == "pelvis"
    if count <= 1:
        return [1.0] * count
    pelvis, middle, chest = (part / sum(parts) for part in parts)
    above = count - has_pelvis
    if above == 1:
        return [pelvis, 1.0 - pelvis]
    lower = [pelvis] if has_pelvis else []
    each = (middle if has_pelvis else middle + pelvis) / (above - 1)
    return [*lower, *[each] * (above - 1), chest]
