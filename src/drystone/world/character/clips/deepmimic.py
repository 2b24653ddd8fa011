"""Motions of DeepMimic [Peng2018] (.txt, JSON): a figure of 13 links, given without its skeleton.

A frame is a row of 44 numbers: its time, the position and orientation of the root, and the
rotations of the joints in a fixed order, quaternions w x y z and for knees and elbows an angle
about z. x is forwards, y up, z to the right. The offsets are those of the figure that the motions
were made for; pybullet_data ships both.
"""

import json
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import shown
from drystone.world.character import quaternions
from drystone.world.character.clips.clip import Clip
from drystone.world.character.clips.edits import curves

# name, parent, offset in the file's axes [m], numbers of its rotation
JOINTS = (
    ("root", -1, (0.0, 0.0, 0.0), 4),
    ("chest", 0, (0.0, 0.236151, 0.0), 4),
    ("neck", 1, (0.0, 0.223894, 0.0), 4),
    ("right_hip", 0, (0.0, 0.0, 0.084887), 4),
    ("right_knee", 3, (0.0, -0.421546, 0.0), 1),
    ("right_ankle", 4, (0.0, -0.409870, 0.0), 4),
    ("right_shoulder", 1, (-0.02405, 0.24350, 0.18311), 4),
    ("right_elbow", 6, (0.0, -0.274788, 0.0), 1),
    ("left_hip", 0, (0.0, 0.0, -0.084887), 4),
    ("left_knee", 8, (0.0, -0.421546, 0.0), 1),
    ("left_ankle", 9, (0.0, -0.409870, 0.0), 4),
    ("left_shoulder", 1, (-0.02405, 0.24350, -0.18311), 4),
    ("left_elbow", 11, (0.0, -0.274788, 0.0), 1),
)
# The ends of the links: top of the head, wrists, and the soles, which are boxes there.
ENDS = (
    (2, (0.0, 0.28, 0.0)),
    (5, (0.134, -0.05, 0.0)), (5, (-0.044, -0.05, 0.0)), (7, (0.0, -0.258947, 0.0)),
    (10, (0.134, -0.05, 0.0)), (10, (-0.044, -0.05, 0.0)), (12, (0.0, -0.258947, 0.0)),
)  # fmt: skip
NUMBERS = 44
MOST_HELD = 20.0  # the longest duration of a frame in its shortest: gaps, not another motion
INWARDS = [2, 0, 1]  # file axes of the inner x, y, z, as in bvh.py


def read_deepmimic(content: bytes, path: Path, unit: float) -> Clip:
    """The clip in such a file."""
    name = path.name
    try:
        found = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name}: is no JSON, or a broken one ({str(error)[:100]}).") from None
    rows = found.get("Frames") if isinstance(found, dict) else None
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{name}: has no list Frames, so it is no motion of DeepMimic.")
    data = np.empty((len(rows), NUMBERS))
    for k, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != NUMBERS:
            count = len(row) if isinstance(row, list) else shown(row)
            raise InputError(f"{name}: frame {k} has {count} numbers, must have {NUMBERS}.")
        if not all(type(x) in (int, float) and abs(x) < 1e9 for x in row):
            raise InputError(f"{name}: frame {k} has something that is no finite number.")
        data[k] = row
    held = data[:-1, 0] if len(data) > 1 else data[:, 0]  # the last frame of a cycle has none
    if not (held > 0.0).all() or held.max() > MOST_HELD * held.min():
        raise InputError(
            f"{name}: the first number of its frames, a duration, must be > 0 and much the same "
            f"in all."
        )
    dt = float(np.median(held))
    if np.abs(held - dt).max() <= 1e-3 * dt:
        return _clip(data, dt, unit, path)
    # Some frames were left out of a few motions: curves go through the others.
    clip, times = _clip(data, dt, unit, path), np.concatenate(([0.0], np.cumsum(held)))
    wanted = dt * np.arange(int(times[-1] / dt + 1e-6) + 1)
    wanted = np.minimum(wanted, times[-1])
    turned = curves(times, quaternions.continuous(clip.rotations), 3)(wanted)
    return clip._with(
        positions=curves(times, clip.positions, 3)(wanted), rotations=quaternions.unit(turned)
    )


def _clip(data: np.ndarray, dt: float, unit: float, path: Path) -> Clip:
    rotations = np.zeros((len(data), len(JOINTS), 4))
    at = 4
    for j, (joint, _, _, count) in enumerate(JOINTS):
        if count == 1:
            rotations[:, j] = quaternions.about(0, data[:, at])  # z of the file
        else:
            q = data[:, at : at + 4]
            if np.abs(np.linalg.norm(q, axis=1) - 1.0).max() > 0.5:
                raise InputError(f"{path.name}: the rotations of {joint} are no unit quaternions.")
            rotations[:, j] = quaternions.unit(q[:, [0, 3, 1, 2]])
        at += count
    offsets = np.array([offset for _, _, offset, _ in JOINTS])
    return Clip(
        [joint for joint, _, _, _ in JOINTS], [parent for _, parent, _, _ in JOINTS],
        unit * offsets[:, INWARDS], unit * data[:, 1:4][:, INWARDS], rotations, dt,
        [(j, unit * np.array(end)[INWARDS]) for j, end in ENDS], path.stem or "clip", unit,
    )  # fmt: skip
