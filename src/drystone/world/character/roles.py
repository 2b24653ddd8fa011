"""Which joint of a skeleton is what: roles by the names that clips use."""

import re

import numpy as np

# In this order: an upper leg is no leg, a forearm no arm.
_WORDS = (
    ("finger", "finger|thumb|index|middle|ring[0-9]|pinky"), ("toe", "toe"), ("", "hipjoint"),
    ("foot", "foot|ankle"), ("thigh", "upleg|upperleg|thigh|femur"),
    ("pelvis", "hips$|pelvis|^root"),
    ("thigh", "hip"), ("shank", "knee|shin|calf|tibia|leg"),
    ("forearm", "forearm|elbow|radius|lowerarm|lowarm"), ("hand", "hand|wrist"),
    ("clavicle", "collar|clavicle"), ("shoulder", "shoulder"), ("upper arm", "arm|humerus"),
    ("head", "head"), ("neck", "neck"), ("trunk", "spine|back|chest|abdomen|torso|thorax|waist"),
)  # fmt: skip

# Largest swing and twist of a joint [rad], either way, the larger one in both directions, for clips
# differ in what they call zero. Those of the arms hold the means that men reach by themselves
# ([Boone1979]: shoulder 167 degrees, elbow 143, forearm 82 about its axis, wrist 76) and some more;
# the others are estimates. A clip that needs more widens them.
RANGES = {
    "trunk": (1.1, 0.9), "neck": (1.1, 1.4), "head": (1.1, 1.4), "clavicle": (0.8, 0.8),
    "upper arm": (2.9, 2.2), "forearm": (2.7, 1.7), "hand": (1.7, 1.2), "thigh": (2.3, 1.1),
    "shank": (2.7, 0.8), "foot": (1.2, 0.9), "toe": (1.4, 0.5), "finger": (1.8, 1.0),
}  # fmt: skip


def roles_of(clip) -> list[str]:
    """The role of each joint, "" where its name tells none; the root is the pelvis."""
    plain = [re.sub(r"[^a-z0-9]", "", name.split(":")[-1].lower()) for name in clip.names]
    found = [next((role for role, words in _WORDS if re.search(words, name)), "") for name in plain]
    for j, role in enumerate(found):
        if role == "shoulder":  # of the clavicle if an arm hangs on it, else of the arm itself
            below = [found[k] for k in np.flatnonzero(clip.parents == j)]
            found[j] = "clavicle" if "upper arm" in below else "upper arm"
    if found[0] in ("", "trunk"):
        found[0] = "pelvis"
    return found


def feet_of(clip) -> list[int]:
    """Feet and toes."""
    return [j for j, role in enumerate(roles_of(clip)) if role in ("foot", "toe")]
