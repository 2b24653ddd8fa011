"""A character from a clip to its results: world, disturbances, what is kept for a report."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model.checks import choice, function, not_negative, of_kind, positive, things, vector
from drystone.model.files import make_folder
from drystone.model.materials import Material
from drystone.model.signatures import public
from drystone.shapes import Box, Plane
from drystone.world.character.character import Character
from drystone.world.character.clips.clip import Clip
from drystone.world.character.figure import Figure
from drystone.world.character.from_clip import stature
from drystone.world.character.gains import Gains
from drystone.world.character.inverse_dynamics import inverse_dynamics
from drystone.world.character.torques import Torques
from drystone.world.world import World

FLOOR_GROUP = 2  # a root that follows carries all: its feet pass through the floor
PICTURES = 6  # of the strip


@public
@dataclass(frozen=True)
class Disturbance:
    """What happens to a character at a time.

    kind    "throw": a ball of `size` [kg] at `speed` [m/s] that meets the bone; "push": an impulse
            on it of `size` [N s], level and across its way; "load": `size` [kg] tied to it;
            "floor": the floor moves at `speed` [m/s] along x for `size` seconds
    """

    time: float
    kind: str
    bone: str = ""
    size: float = 2.0
    speed: float = 8.0

    def __post_init__(self) -> None:
        choice("Disturbance: kind", self.kind, ("throw", "push", "load", "floor"))
        not_negative("Disturbance: time", self.time)
        positive("Disturbance: size", self.size, "")
        positive("Disturbance: speed", self.speed, "m/s")

    def __str__(self) -> str:
        what = {
            "throw": f"a ball of {self.size:g} kg at {self.speed:g} m/s is thrown at {self.bone}",
            "push": f"{self.bone} is pushed with {self.size:g} N s",
            "load": f"{self.size:g} kg are tied to {self.bone}",
            "floor": f"the floor moves at {self.speed:g} m/s for {self.size:g} s",
        }[self.kind]
        return f"t = {self.time:.3g} s: {what}"


@public
@dataclass
class CharacterRun:
    """What run_character() did.

    of_clip     torques of the clip with forces of the ground, whatever the root does
    moments     (time, {body: (position, orientation)}) for pictures
    """

    world: World
    character: Character
    of_clip: Torques
    disturbances: tuple[Disturbance, ...]
    worst_penetration: float = 0.0
    moments: list[tuple[float, dict]] = field(default_factory=list)
    balls: list[Any] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Figures of the clip and of the run, units in the names."""
        own = {f"clip_{name}": value for name, value in self.of_clip.summary().items()}
        return {**self.character.summary(), "worst_penetration_m": self.worst_penetration, **own}

    def recovered(self, after: Disturbance, within: float = 1.0) -> tuple[float, float | None]:
        """Largest joint error after a disturbance [degrees], and how long after the blow all were
        back within so many degrees [s]; None: not in this run."""
        error = np.degrees(self.character.error.max(axis=1, initial=0.0))
        times = self.character.times
        of_kind("after", after, Disturbance, "a Disturbance of this run")
        within = not_negative("within", within)
        late = times > after.time
        if not late.any():
            return 0.0, None
        hit = late & (error > within)
        if not hit.any():
            return float(error[late].max()), 0.0
        away = np.flatnonzero(hit)
        if away[-1] == len(error) - 1:
            return float(error[late].max()), None
        return float(error[late].max()), float(times[away[-1] + 1] - times[away[0]])

    def write(self, folder: str | Path) -> list[Path]:
        """Tables, plots and a strip of pictures, into a folder."""
        from drystone.world.character.report import write_report

        return write_report(self, folder)


@public
def run_character(  # one argument for each option of `drystone character`
    clip: Clip,
    root: str = "follow",
    disturbances: tuple[Disturbance, ...] = (),
    seconds: float | None = None,
    dt: float = 1.0 / 240.0,
    mass: float = 75.0,
    gains: Gains | None = None,
    cutoff: float | None = 6.0,
    friction: float = 0.8,
    record: str | Path | None = None,
    every: int = 4,
    progress: Callable[[int, int], object] | None = None,
    height: float | None = None,
) -> CharacterRun:
    """Make a figure for a clip and let it follow, on a floor, with disturbances.

    mass      of the whole person [kg]
    height    of the person, to which the clip is scaled [m]; None: as the clip is
    cutoff    of the smoothing before derivatives are taken [Hz]; None: the clip is smooth
    record    a recording is written there, with poses every `every` steps
    progress  called as progress(steps done, steps in all)
    """
    of_kind("run_character: clip", clip, Clip, "a Clip")
    disturbances = things("run_character: disturbances", disturbances, Disturbance)
    clip = clip if cutoff is None else clip.smoothed(cutoff)
    if height is not None:
        clip = clip.scaled(positive("run_character: height", height, "m") / stature(clip))
    figure = Figure.from_clip(clip, mass)
    for d in disturbances:
        if d.kind != "floor":
            figure.index(d.bone)
        elif root == "follow":
            raise InputError("A moved floor does nothing to a root that follows; free the root.")
    seconds = clip.duration if seconds is None else positive("seconds", seconds, "s")
    progress = function("progress", progress)
    world = World(dt=dt, sleeping=False)
    floor = _floor(world, figure, friction, any(d.kind == "floor" for d in disturbances))
    mask = ~FLOOR_GROUP if root == "follow" else -1
    character = world.add_character(figure, clip, root, gains, friction=friction, mask=mask)
    of_clip = inverse_dynamics(figure, character.motion, 1.0 / dt, True, friction)
    run = CharacterRun(world, character, of_clip, tuple(sorted(disturbances, key=lambda d: d.time)))
    if record is not None:
        from drystone.world.io.recorder import record as record_world

        make_folder(Path(record).parent, "the folder cannot be made")
        holder: Any = record_world(world, record, every)
    else:
        holder = nullcontext()
    with holder:
        _run(run, floor, seconds, progress)
    return run


def _floor(world: World, figure: Figure, friction: float, moves: bool):
    ground = Material(friction=friction)
    if not moves:
        return world.add_fixed(
            Plane(), ground, (0, 0, figure.ground), name="floor", group=FLOOR_GROUP
        )
    return world.add_body(
        Box(30.0, 30.0, 1.0), ground, (0, 0, figure.ground - 0.5), kinematic=True, name="floor",
        group=FLOOR_GROUP,
    )  # fmt: skip


def _run(run: CharacterRun, floor, seconds: float, progress) -> None:
    world = run.world
    steps = max(round(seconds / world.dt), 1)
    plan = [(round(d.time / world.dt), k, d) for k, d in enumerate(run.disturbances)]
    ends = [(round((d.time + d.size) / world.dt), d) for d in run.disturbances if d.kind == "floor"]
    pictured = (
        {round(x) for x in np.linspace(0, steps, PICTURES)} if not plan else _around(plan, steps)
    )
    start = world.step_count
    for step in range(steps + 1):
        if step in pictured:
            run.moments.append((step * world.dt, _poses(run)))
        if step == steps:
            break
        for at, _, d in plan:
            if at == step:
                _disturb(run, floor, d)
        for at, _ in ends:
            if at == step:
                floor.velocity = (0.0, 0.0, 0.0)
        info = world.step()
        run.worst_penetration = max(run.worst_penetration, info.penetration)
        if progress is not None and (step % 24 == 23 or step == steps - 1):
            progress(world.step_count - start, steps)


def _around(plan, steps: int) -> set[int]:
    """Steps of the pictures: from shortly before the first disturbance to a second after it."""
    first = min(at for at, _, _ in plan)
    last = min(first + round((steps - first) * 0.8), steps)
    return {round(x) for x in np.linspace(max(first - 1, 0), last, PICTURES)}


def _poses(run: CharacterRun) -> dict:
    return {body.name: (body.position, body.orientation) for body in run.world.bodies}


def _disturb(run: CharacterRun, floor, d: Disturbance) -> None:
    if d.kind == "throw":
        run.balls.append(run.character.throw(d.bone, d.size, d.speed, distance=0.15 * d.speed))
    elif d.kind == "push":
        velocity = run.character.motion.at(d.time).velocity[0, 0]
        level = float(np.hypot(velocity[0], velocity[1]))
        way = (-velocity[1] / level, velocity[0] / level, 0.0) if level > 0.1 else (0.0, 1.0, 0.0)
        run.character.body(d.bone).push(d.size * np.array(vector("push", way)))
    elif d.kind == "load":
        run.character.load(d.bone, d.size)
    else:
        floor.velocity = (d.speed, 0.0, 0.0)
