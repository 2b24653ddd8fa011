"""Calls of characters: clips, figures, inverse dynamics, and a figure that comes into a world."""

from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.props import Call, Props
from drystone.world.character.clips.walking import walk_on_the_spot

BONE: dict[str, Any] = {
    "name": "rod", "mass": 1.0, "centre": (0, 0, -0.3), "inertia": (0.1, 0.1, 0.01),
    "parent": None, "offset": (0, 0, 0), "role": "thigh", "range": (1.0, 0.5),
}  # fmt: skip


def character_calls(p: Props) -> dict[str, Call]:
    clip = walk_on_the_spot(0.3)
    figure = ds.Figure.from_clip(clip)
    upright = np.zeros((8, 1, 4))
    upright[..., 0] = 1.0

    def come(**given: Any) -> ds.Character:
        return ds.World(sleeping=False).add_character(figure, clip, **given)

    def step(made: ds.Character) -> None:
        made._world.step()

    torques = ds.inverse_dynamics(figure, clip, 30.0)
    blow = ds.Disturbance(0.01, "push", "chest")
    ran = ds.run_character(clip, disturbances=(blow,), seconds=0.05, dt=1 / 60, cutoff=None)
    return {
        "Clip": Call(
            ds.Clip,
            {"names": ["a"], "parents": [-1], "offsets": np.zeros((1, 3)),
             "positions": np.zeros((8, 3)), "rotations": upright, "dt": 0.01, "ends": (),
             "name": "still", "unit": 1.0, "notes": ("made up",)},
            lambda made: made.check(),
        ),
        "Clip.resampled": Call(clip.resampled, {"rate": 60.0}),
        "Clip.trimmed": Call(clip.trimmed, {"start": 0.05, "end": 0.2}),
        "Clip.moved": Call(clip.moved, {"by": (1, 2, 0), "turn": 0.5}),
        "Clip.smoothed": Call(clip.smoothed, {"cutoff": 6.0}),
        "Clip.branch": Call(clip.branch, {"joint": "left_hip"}),
        "Clip.repeated": Call(clip.repeated, {"times": 2}),
        "Clip.scaled": Call(clip.scaled, {"factor": 1.1}),
        "Bone": Call(ds.Bone, BONE, lambda made: ds.Figure([made])),
        "Figure": Call(ds.Figure, {"bones": [ds.Bone(**BONE)], "name": "one", "ground": 0.0}),
        "Figure.from_clip": Call(
            ds.Figure.from_clip,
            {"clip": clip, "mass": 70.0, "height": None, "merge": None, "table": "winter",
             "ground": None, "roles": {"chest": "trunk"}},
        ),
        "Motion": Call(ds.Motion, {"figure": figure, "clip": clip}, lambda m: m.at([0.0, 0.1])),
        "inverse_dynamics": Call(
            ds.inverse_dynamics,
            {"figure": figure, "clip": clip, "rate": 30.0, "ground": True, "friction": 0.8,
             "gravity": (0, 0, -9.81), "method": "multipliers", "phase": 0.5},
        ),
        "feedforward": Call(
            ds.feedforward,
            {"figure": figure, "clip": clip, "dt": 1 / 60, "gravity": (0, 0, -9.81)},
        ),
        "run_character": Call(
            ds.run_character,
            {"clip": clip, "root": "follow", "disturbances": (), "seconds": 0.05, "dt": 1 / 60,
             "mass": 70.0, "gains": None, "cutoff": None, "friction": 0.8, "record": None,
             "every": 4, "progress": None, "height": 1.8},
        ),
        "Gains": Call(
            ds.Gains,
            {"frequency": 14.0, "ratio": 1.0, "effort": 0.0, "joints": {"left_knee": (10.0, 1.0)}},
            lambda made: step(come(gains=made)),
        ),
        "World.add_character": Call(
            come,
            {"root": "assisted", "feedforward": True, "feedback": True, "ground": False,
             "torques": torques, "friction": 0.8, "self_collide": False,
             "root_limit": (100.0, 50.0), "group": 1, "mask": -1, "name": "figure"},
            step,
        ),
        "Disturbance": Call(
            ds.Disturbance,
            {"time": 0.1, "kind": "throw", "bone": "chest", "size": 2.0, "speed": 8.0},
        ),
        "Character.throw": Call(
            come().throw,
            {"bone": "chest", "mass": 2.0, "speed": 8.0, "distance": 1.0, "direction": (1, 0, 0)},
        ),
        "Character.body": Call(ran.character.body, {"bone": "chest"}),
        "CharacterRun.recovered": Call(ran.recovered, {"after": blow, "within": 1.0}),
        "Character.load": Call(come().load, {"bone": "chest", "mass": 2.0}),
    }  # fmt: skip
