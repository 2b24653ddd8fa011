"""Figure.from_clip(): which joints of a skeleton become bones, and what each is like."""

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, listed, number, positive
from drystone.world.character import body_shapes, quaternions
from drystone.world.character.figure import Bone, Figure
from drystone.world.character.roles import RANGES, roles_of
from drystone.world.character.segments import TABLES, masses
from drystone.world.character.soles import Sole, find_ground, find_sole

USUAL_STATURE = 1.7  # of the person that the sizes of feet are given for [m]
ALWAYS_MERGED = ("finger", "toe", "clavicle", "twist")
WHOLE = ("head", "upper arm", "thigh")  # who has all of these is a whole person
STILL = 1e-6  # a joint that turns by less in a whole clip does not move [rad]
LEAST_MASS = 0.05  # of a bone that the tables do not know, if its length gives less [kg]


def figure_from_clip(clip, mass, height, merge, table, ground, roles=None) -> Figure:
    """See Figure.from_clip()."""
    mass = positive("from_clip: mass", mass, "kg")
    choice("from_clip: table", table, TABLES)
    if height is not None and stature(clip, roles) > 0.0:
        clip = clip.scaled(positive("from_clip: height", height) / stature(clip, roles))
    roles = roles_of(clip, roles)
    kept = _kept(clip, roles, merge)
    if len(kept) < 1:
        raise InputError(f"{clip.name}: nothing is left of it to make a figure of.")
    plan = _Plan(clip, roles, kept)
    feet = [j for j in kept if roles[j] == "foot"]
    size = _stature(clip, roles) / USUAL_STATURE
    if not size > 0.0:
        raise InputError(f"{clip.name}: its skeleton has no height, so it has no figure.")
    if ground is None:
        ground = find_ground(clip, feet, size)
    ground = number("from_clip: ground", ground)
    weights = _weights(plan, table, mass)
    bones = [_bone(plan, k, weights[k], TABLES[table], ground, size) for k in range(len(kept))]
    return Figure(bones, clip.name, ground)


def stature(clip, roles=None) -> float:
    """The height of the person: legs and trunk along their bones, whatever the zero pose [m].

    roles   {joint: role} where names do not tell them
    """
    return _stature(clip, roles_of(clip, roles))


def _stature(clip, roles: list[str]) -> float:
    tips: dict[int, float] = {}
    for j, end in clip.ends:
        tips[j] = max(tips.get(j, 0.0), float(np.linalg.norm(end)))
    feet = [j for j, role in enumerate(roles) if role == "foot"]
    heads = [j for j, role in enumerate(roles) if role in ("head", "neck")]
    if not feet or not heads:
        return clip.height
    legs = [_way(clip, j, roles, ("thigh",)) for j in feet]
    top = max(_way(clip, j, roles, ()) + tips.get(j, 0.0) for j in heads)
    return float(np.mean(legs)) + 0.08 / USUAL_STATURE * clip.height + top


def _way(clip, j: int, roles, last) -> float:
    """Length of the bones from joint `j` up to one of a role of `last`, then straight up to the
    root."""
    length = 0.0
    while j > 0:
        offset = clip.offsets[j]
        if roles[j] in last:
            return length + abs(float(offset[2]))
        length += float(np.linalg.norm(offset))
        j = int(clip.parents[j])
    return length


def _kept(clip, roles: list[str], merge) -> list[int]:
    """Joints that become bones."""
    if merge is not None:
        away = {clip.index(name) for name in listed("from_clip: merge", merge, "a list of joints")}
        if 0 in away:
            raise InputError(f"from_clip: merge has {clip.names[0]}, the root, which must stay.")
        return [j for j in range(len(clip.names)) if j not in away]
    turned = quaternions.vectors(
        quaternions.product(clip.rotations, quaternions.conjugate(clip.rotations[-1:]))
    )
    moves = np.linalg.norm(turned, axis=-1).max(axis=0) > STILL
    kept, neck = [0], False
    for j in range(1, len(clip.names)):
        if roles[j] in ALWAYS_MERGED or roles[j] == "pelvis":
            continue
        if roles[j] in ("neck", "head"):
            # The first that is not at the place of its parent: the others are part of it.
            if neck or (np.linalg.norm(clip.offsets[j]) < 1e-6 and _more_neck(clip, roles, j)):
                continue
            neck = True
        elif roles[j] == "" and (not moves[j] or np.linalg.norm(clip.offsets[j]) < 1e-6):
            continue
        kept.append(j)
    return kept


def _more_neck(clip, roles, j: int) -> bool:
    return any(roles[k] in ("neck", "head") for k in np.flatnonzero(clip.parents == j))


class _Plan:
    """Where the kept joints are in each other's axes: means over the clip, for what is merged may
    move a little."""

    def __init__(self, clip, roles, kept) -> None:
        self.clip, self.roles, self.kept = clip, roles, kept
        self.at, self.turned = clip.poses()
        owner = {j: k for k, j in enumerate(kept)}
        above = [0] * len(clip.names)
        for j in range(1, len(clip.names)):
            above[j] = j if j in owner else above[int(clip.parents[j])]
        self.owner = [owner[above[j]] for j in range(len(clip.names))]
        self.parent = [-1 if j == 0 else self.owner[int(clip.parents[j])] for j in kept]

    def seen(self, k: int, j: int, point=None) -> np.ndarray:
        """A point of joint `j` in the axes of bone `k`, as a mean over the frames."""
        at = self.at[:, j]
        if point is not None:
            at = at + quaternions.rotate(self.turned[:, j], point)
        base, turned = self.at[:, self.kept[k]], self.turned[:, self.kept[k]]
        # The first frame of a clip may be a pose of its own; a median would not notice it.
        return np.median(quaternions.rotate(quaternions.conjugate(turned), at - base), axis=0)

    def tips(self, k: int) -> np.ndarray:
        """(m, 3) joints and ends that are part of bone `k`, and joints that hang on it."""
        found = [self.seen(k, self.kept[c]) for c, p in enumerate(self.parent) if p == k]
        names = self.clip.names
        own = [j for j in range(len(names)) if self.owner[j] == k and j != self.kept[k]]
        found += [self.seen(k, j) for j in own]
        found += [self.seen(k, j, end) for j, end in self.clip.ends if self.owner[j] == k]
        away = [tip for tip in found if np.linalg.norm(tip) > 1e-6]
        return np.reshape(away, (-1, 3))


def _weights(plan: _Plan, table: str, mass: float) -> list[float]:
    """The mass of each bone [kg]: of a whole person, and of what no table knows at all, `mass` in
    all; of a part of a person what the table gives it."""
    roles = [plan.roles[j] for j in plan.kept]
    found = masses(roles, table, mass)
    for k, weight in enumerate(found):
        if not weight > 0.0:
            found[k] = _unknown_mass(_tip(plan, k, plan.tips(k)), mass)
    known = {"head" if role == "neck" else role for role in roles}
    if known.issuperset(WHOLE) or known.issubset(("pelvis", "trunk", "")):
        share = mass / sum(found)
        return [share * weight for weight in found]
    return found


def _bone(plan: _Plan, k: int, weight: float, table, ground: float, size: float) -> Bone:
    j, clip = plan.kept[k], plan.clip
    role, tips = plan.roles[j], plan.tips(k)
    tip = _tip(plan, k, tips)
    sole, members = None, []
    if role == "foot":
        sole = find_sole(clip, j, tips, ground, size)
        members = body_shapes.foot(sole.corners, sole.up, sole.ankle)
    elif role in ("pelvis", "trunk", "clavicle"):
        members = _trunk(plan, k, tips, weight, size)
    elif role in ("head", "neck"):
        members = body_shapes.head(tip, weight)
    else:
        members = body_shapes.limb(tip, weight)
    centre, inertia = _weigh(members, weight, role, tip, table, sole)
    return Bone(
        clip.names[j], weight, centre, inertia,
        None if k == 0 else clip.names[plan.kept[plan.parent[k]]],
        (0, 0, 0) if k == 0 else plan.seen(plan.parent[k], j),
        members, role, RANGES.get(role) if k else None,
        None if sole is None else sole.corners,
    )  # fmt: skip


def _tip(plan: _Plan, k: int, tips: np.ndarray) -> np.ndarray:
    """Where a limb ends: the joint that hangs on it, else the farthest of what is part of it."""
    children = [c for c, parent in enumerate(plan.parent) if parent == k]
    if len(children) == 1:
        at = plan.seen(k, plan.kept[children[0]])
        if np.linalg.norm(at) > 1e-6:
            return at
    if not len(tips):
        return np.zeros(3)
    return tips[np.linalg.norm(tips, axis=1).argmax()]


def _unknown_mass(tip: np.ndarray, mass: float) -> float:
    """Of a bone that no table knows: a rod a sixth as thick as it is long, of water."""
    length = float(np.linalg.norm(tip))
    return max(LEAST_MASS, min(0.02 * np.pi * length**3 * body_shapes.DENSITY, 0.2 * mass))


def _trunk(plan: _Plan, k: int, tips: np.ndarray, weight: float, size: float) -> list:
    """A box between the joints above and below, as wide as what hangs on it at the sides."""
    hung = tips if len(tips) else np.zeros((1, 3))
    spread = np.ptp(hung, axis=0)[:2]
    side = int(spread.argmax())
    if plan.roles[plan.kept[k]] == "pelvis":
        width = max(float(spread[side]) + 0.12 * size, 0.25 * size)
        low, high = float(hung[:, 2].min()), max(float(hung[:, 2].max()), 0.08 * size)
    else:
        width = max(0.8 * float(spread[side]), 0.27 * size)
        low, high = 0.0, max(float(hung[:, 2].max()), 0.08 * size)
        side = side if spread[side] > 0.1 * size else _side(plan)
    return body_shapes.slab(low, high, side, width, weight, np.zeros(3))


def _side(plan: _Plan) -> int:
    """The horizontal axis along which the skeleton is wide in its zero pose."""
    return int(np.abs(plan.clip.offsets[:, :2]).sum(axis=0).argmax())


def _weigh(members, weight: float, role: str, tip, table, sole: Sole | None):
    """Centre and inertia: that of the shape at the mass of the table, about its centre."""
    from drystone.shapes import Compound

    held = Compound(*members).mass_properties()
    inertia = held.inertia * (weight / held.volume)
    centre = held.centre
    segment = table.segments.get(role)
    if segment is None or segment.centre is None:
        return centre, inertia
    if sole is not None:
        back, front = sole.corners[:2].mean(axis=0), sole.corners[2:].mean(axis=0)
        along = (front - back) / np.linalg.norm(front - back)
        start = 0.0 if table.foot_from == "ankle" else along @ back
        wanted = start + segment.centre * (along @ front - start)
        return centre + along * (wanted - along @ centre), inertia
    return segment.centre * tip, inertia
