"""Which joint of a skeleton is what: roles by names that clips use, and by places in the tree."""

import re
from collections.abc import Mapping

from drystone.errors import InputError
from drystone.model.checks import choice, shown

# In this order: an upper leg is no leg, a forearm no arm.
_WORDS = (
    ("twist", "twist|roll[0-9]*[lr]?$|roll(left|right)"),
    ("finger", "finger|thumb|index|middle|(mid|ring)[0-9]|pinky|palm|carpal"),
    ("toe", "toe|^[lr]?ball[lr]?$"), ("pelvis", "hipjoint|buttock"),
    ("foot", "foot|ankle|calcaneus|talus"), ("thigh", "upleg|upperleg|legup|thigh|femur"),
    ("pelvis", "hips$|pelvis|^root|sacrum"),
    ("thigh", "hip"), ("shank", "knee|shin|calf|tibia|leg"),
    ("forearm", "forearm|elbow|radius|ulna|lowerarm|lowarm|armlow|^[lr]?farm[lr]?$"),
    ("hand", "hand|wrist"), ("clavicle", "collar|clavicle|scapula"),
    ("shoulder", "shoulder|shldr"), ("upper arm", "arm|humerus"),
    ("head", "head|skull|jaw|eye"), ("neck", "neck"),
    ("trunk", "spine|back|chest|^ab$|abdomen|torso|thorax|waist|lumbar"),
)  # fmt: skip
ROLES = (
    "pelvis", "trunk", "neck", "head", "clavicle", "upper arm", "forearm", "hand", "finger",
    "thigh", "shank", "foot", "toe", "twist", "",
)  # fmt: skip
ARM = ("clavicle", "upper arm", "forearm", "hand", "finger")
LEG = ("thigh", "shank", "foot", "toe")

# Largest swing and twist of a joint [rad], either way, the larger one in both directions, for clips
# differ in what they call zero. Those of the arms hold the means that men reach by themselves
# ([Boone1979]: shoulder 167 degrees, elbow 143, forearm 82 about its axis, wrist 76) and some more;
# the others are estimates. A clip that needs more widens them.
RANGES = {
    "trunk": (1.1, 0.9), "neck": (1.1, 1.4), "head": (1.1, 1.4), "clavicle": (0.8, 0.8),
    "upper arm": (2.9, 2.2), "forearm": (2.7, 1.7), "hand": (1.7, 1.2), "thigh": (2.3, 1.1),
    "shank": (2.7, 0.8), "foot": (1.2, 0.9), "toe": (1.4, 0.5), "finger": (1.8, 1.0),
}  # fmt: skip


def roles_of(clip, given=None) -> list[str]:
    """The role of each joint, "" where neither name nor place tells one; the root is the pelvis.

    given   {joint: role} that say otherwise; places of the others follow from these too
    """
    plain = [re.sub(r"[^a-z0-9]", "", name.split(":")[-1].lower()) for name in clip.names]
    found = [next((role for role, words in _WORDS if re.search(words, name)), "") for name in plain]
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"{clip.name}: roles is {shown(given)}, must be {{joint: role}}.")
    for joint, role in (given or {}).items():
        choice(f"{clip.name}: roles: a joint", joint, clip.names)
        found[clip.names.index(joint)] = choice(f"{clip.name}: the role of {joint}", role, ROLES)
    tree = _Tree(clip.parents)
    for j, role in enumerate(found):
        if role == "shoulder":  # of the clavicle if an arm hangs on it, else of the arm itself
            below = [found[k] for k in tree.children[j]]
            found[j] = "clavicle" if "upper arm" in below else "upper arm"
    if found[0] in ("", "trunk") or (found[0] == "thigh" and "thigh" in tree.roles(0, found)[1:]):
        found[0] = "pelvis"
    if found[0] == "pelvis":
        _trunk_by_place(tree, found)
    for chain in (ARM, LEG):
        _limbs_by_place(tree, found, chain)
    for joint, role in (given or {}).items():
        found[clip.names.index(joint)] = role
    return found


class _Tree:
    def __init__(self, parents) -> None:
        self.parents = [int(p) for p in parents]
        self.children: list[list[int]] = [[] for _ in self.parents]
        for j, parent in enumerate(self.parents[1:], 1):
            self.children[parent].append(j)
        self.below: list[list[int]] = [[] for _ in self.parents]  # and itself, first
        for j in reversed(range(len(self.parents))):
            self.below[j] = [j, *(k for child in self.children[j] for k in self.below[child])]

    def roles(self, j: int, found: list[str]) -> list[str]:
        """Of joint `j` and all that hangs on it."""
        return [found[k] for k in self.below[j]]

    def above(self, j: int):
        """Its parent, the parent of that, and so on."""
        while (j := self.parents[j]) >= 0:
            yield j


def _trunk_by_place(tree: _Tree, found: list[str]) -> None:
    """What lies between the pelvis and the arms is trunk, beyond them neck; what lies between the
    pelvis and a thigh is pelvis."""
    for j in range(1, len(found)):
        if found[j] == "" and "thigh" in tree.roles(j, found):
            found[j] = "pelvis"

    def arms(j: int) -> bool:
        return any(role in ARM for role in tree.roles(j, found))

    forks = [j for j in range(len(found)) if sum(map(arms, tree.children[j])) >= 2]
    forks = [j for j in forks if found[j] not in ARM]
    if not forks:
        return
    chest = max(forks, key=lambda j: len(list(tree.above(j))))
    for j in (chest, *tree.above(chest)):
        if j and found[j] != "pelvis":
            found[j] = "trunk"
    no_neck = not {"neck", "head"} & set(found)
    for child in tree.children[chest]:
        if arms(child) or any(role in LEG for role in tree.roles(child, found)):
            continue
        upwards = found[child] == "trunk" or {"neck", "head"} & set(tree.roles(child, found))
        for j in tree.below[child] if upwards or no_neck else ():
            if found[j] in ("", "trunk"):
                found[j] = "neck"


def _limbs_by_place(tree: _Tree, found: list[str], chain: tuple[str, ...]) -> None:
    """Along a limb roles go on: what lies between two is the one in between, and a second of one
    kind is the next, or a part of it that turns about its axis ("twist")."""
    for j in range(1, len(found)):
        # Nameless joints above a limb's first name: what comes before it, one by one.
        above = list(tree.above(j)) if found[j] in chain else []
        if not any(found[k] in chain for k in above):
            rank = chain.index(found[j]) if above else 0
            for k in above[:rank]:
                if found[k] != "" or k == 0:
                    break
                rank -= 1
                found[k] = chain[rank]
    for j in range(1, len(found)):
        last = next((k for k in tree.above(j) if found[k] in chain), None)
        if last is None or (found[j] != "" and found[j] not in chain):
            continue
        rank = chain.index(found[last])
        if found[j] in chain and chain.index(found[j]) > rank:
            continue
        following = chain[min(rank + 1, len(chain) - 1)]
        there = following in tree.roles(last, found)
        if found[j] in chain:
            found[j] = "twist" if there and following != chain[-1] else following
        elif not there and len(tree.children[last]) == 1:
            found[j] = following
        elif any(role in chain for role in tree.roles(j, found)):
            found[j] = "twist"


def feet_of(clip, given=None) -> list[int]:
    """Feet and toes."""
    return [j for j, role in enumerate(roles_of(clip, given)) if role in ("foot", "toe")]
