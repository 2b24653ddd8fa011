"""What looks wrong about a clip: units, feet below the ground, jumps, joints beyond ranges."""

import numpy as np

from drystone.model.finding import Finding
from drystone.world.character import quaternions
from drystone.world.character.clips.files import PEOPLE, UNITS
from drystone.world.character.clips.floor import find_slope
from drystone.world.character.roles import RANGES, feet_of, roles_of

# A joint that turns by more than this between two frames has jumped, or an angle went around
# wrongly [rad/s]; throwing arms reach 100 rad/s about their own axis.
FASTEST = 150.0
DEEP = 0.05  # feet so far below the ground are no tread but a floor that is elsewhere [m]
FLYING = 0.15  # a clip whose feet never come lower has its floor elsewhere [m]
ODD_RANGE = 1.15  # times the largest range of people, which is measured from another zero


def check_clip(clip) -> list[Finding]:
    """See Clip.check()."""
    return [
        *_notes(clip),
        *_units(clip),
        *_roles(clip),
        *_ground(clip),
        *_first_frame(clip),
        *_speeds(clip),
        *_ranges(clip),
    ]


def _notes(clip):
    for note in clip.notes:
        yield Finding("warning", clip.name, note, "give it to Clip.load() if you know better")


def _units(clip):
    name = next((name for name, unit in UNITS.items() if abs(unit - clip.unit) < 1e-6 * unit), "")
    if not PEOPLE[0] <= clip.height <= PEOPLE[1]:
        yield Finding(
            "warning", clip.name, f"its skeleton is {clip.height:.4g} m high",
            "give the unit of the file, Clip.load(path, unit=\"cm\")",
        )  # fmt: skip
    elif clip.unit != 1.0:
        unit = f"in {name}" if name else f"in units of {clip.unit:g} m"
        yield Finding(
            "hint", clip.name,
            f"its file is taken to be {unit}: the skeleton is then {clip.height:.3g} m high",
            "give unit= if it is in another one",
        )  # fmt: skip


def _roles(clip):
    """Joints of a whole figure that are nothing known: an arm alone has no feet."""
    roles = roles_of(clip)
    if roles[0] != "pelvis":
        return
    odd = [name for name, role in zip(clip.names, roles, strict=True) if role == ""]
    if "foot" not in roles and len(roles) > 1:
        yield Finding(
            "warning", clip.name, "none of its joints is known as a foot: no ground carries it",
            'say what they are: Figure.from_clip(clip, roles={"joint": "foot"})',
        )  # fmt: skip
    elif odd:
        yield Finding(
            "hint", clip.name,
            f"{len(odd)} of its joints are no part of a person that is known, such as {odd[0]}: "
            f"they get the mass of a rod, and turn freely",
            'say what they are: Figure.from_clip(clip, roles={"joint": "hand"})',
        )  # fmt: skip


def _ground(clip):
    feet = feet_of(clip)
    if not feet:
        return
    at, turned = clip.poses()
    low = [at[:, j, 2] for j in feet]
    low += [
        (at[:, j] + quaternions.rotate(turned[:, j], end))[:, 2]
        for j, end in clip.ends
        if j in feet
    ]
    lowest = np.min(low, axis=0)
    k = int(lowest.argmin())
    if lowest[k] < -DEEP:
        yield Finding(
            "warning", clip.name,
            f"a foot is {100 * -lowest[k]:.3g} cm below the ground (z = 0) "
            f"at t = {k * clip.dt:.4g} s",
            "put the ground where the feet are: Figure(..., ground=None) finds it",
        )  # fmt: skip
    elif lowest[k] > FLYING:
        yield Finding(
            "warning", clip.name, f"no foot ever comes lower than {lowest[k]:.3g} m",
            "is its unit right, and where is its ground?",
        )  # fmt: skip
    slope = find_slope(clip)
    if slope is not None:
        yield Finding(
            "warning", clip.name,
            f"its floor slopes by {slope.degrees:.1f} degrees: feet stand "
            f"{1000.0 * slope.climb:.0f} mm higher at one end",
            "the frame of the capture leans: levelled() turns it",
        )  # fmt: skip


def _first_frame(clip):
    if len(clip) < 3:
        return
    step = np.linalg.norm(_turns(clip), axis=-1).max(axis=1)
    if step[0] > 10.0 * max(np.median(step), 1e-3):
        yield Finding(
            "warning", clip.name,
            f"its first frame is another pose: a joint turns by {np.degrees(step[0]):.0f} degrees "
            f"to the next one",
            "cut it off: trimmed(start=clip.dt)",
        )  # fmt: skip


def _speeds(clip):
    turns = np.linalg.norm(_turns(clip), axis=-1) / clip.dt
    if not len(turns):
        return
    # The first frame has a finding of its own.
    turns = turns[1:] if len(turns) > 2 else turns
    k, j = np.unravel_index(int(turns.argmax()), turns.shape)
    if turns[k, j] > FASTEST:
        yield Finding(
            "warning", clip.name,
            f"joint {clip.names[j]} turns at {turns[k, j]:.0f} rad/s "
            f"at t = {(k + 1) * clip.dt:.4g} s",
            "look for an angle that jumps by a revolution, or smooth it",
        )  # fmt: skip


def _turns(clip) -> np.ndarray:
    """(n - 1, nj, 3) rotation of each joint from frame to frame."""
    r = clip.rotations
    return quaternions.vectors(quaternions.product(r[1:], quaternions.conjugate(r[:-1])))


def _ranges(clip):
    angle = np.linalg.norm(quaternions.vectors(clip.rotations), axis=-1)
    for j, role in enumerate(roles_of(clip)):
        if j == 0 or role not in RANGES:
            continue
        most = ODD_RANGE * sum(RANGES[role])
        k = int(angle[:, j].argmax())
        turned, limit = np.degrees(angle[k, j]), np.degrees(min(most, np.pi * 0.999))
        if turned > limit:
            yield Finding(
                "warning", clip.name,
                f"joint {clip.names[j]} ({role}) is turned by {turned:.0f} degrees at "
                f"t = {k * clip.dt:.4g} s, people's by {limit:.0f} at most",
                "is the order of its channels right?",
            )  # fmt: skip
