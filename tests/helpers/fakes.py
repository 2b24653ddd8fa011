"""A study whose rocks bounce on an inclined plane in closed form: no engine needed.

The plane falls to the east at 45 degrees. A rock is a point that leaves the plane at its start
with a drawn velocity and flies on parabolas; at each impact the normal velocity is reversed times
a restitution, the tangential one is kept times a friction. After BOUNCES impacts it stops.
"""

import os
import signal
import time
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from drystone.rockfall.engine.records import ARC, CROSSING, END, IMPACT, VELOCITY, Trajectory
from drystone.rockfall.study.study import Study

G = 9.81
SIZE, CELL = 60, 2.0  # nodes of the terrain grid in each direction, and their distance [m]
NORMAL = np.array([1.0, 0.0, 1.0]) / np.sqrt(2.0)


class PlaneSlope:
    """Duck-typed Slope: z = -x."""

    def __init__(self, origin=(2600000.0, 1200000.0, 0.0), crs=None):
        x = CELL * (np.arange(SIZE) - SIZE // 2)
        z = np.broadcast_to(-x, (SIZE, SIZE)).copy()
        grid = dict(z=z, x0=float(x[0]), y0=float(x[0]), dx=CELL, dy=CELL)
        self.grid = SimpleNamespace(**grid)
        self.origin = np.array(origin)
        self.crs = crs
        self.bounds = np.array([x[0], x[0], -x[-1]]), np.array([x[-1], x[-1], -x[0]])
        self.spacing = CELL

    def height(self, x, y):
        return -np.asarray(x, float)


@dataclass
class FakeStudy(Study):
    """What run_study asks of a study."""

    count: int = 40
    seed: int = 1
    step: float = 0.1
    cell: float = 2.0
    bounces: int = 5
    roll_seconds: float = 0.0  # a rock takes at least that long, for tests of interruptions
    lines: list = field(default_factory=list)
    deadly_run: int = -1  # whoever draws it is killed
    ascii_grids: bool = False
    report: dict = field(default_factory=dict)
    mark: str = ""  # file that says that it has happened, which is enough; none: every time

    def __reduce__(self):
        return FakeStudy, tuple(getattr(self, each.name) for each in fields(self))

    @property
    def slope(self):
        return PlaneSlope()

    @property
    def runs(self):
        return SimpleNamespace(count=self.count, seed=self.seed, workers=1)

    @property
    def output(self):
        return SimpleNamespace(step=self.step, cell=self.cell, ascii_grids=self.ascii_grids)

    @property
    def check_lines(self):
        return self.lines

    @property
    def barriers(self):
        return SimpleNamespace(height=np.zeros(0), capacity=np.zeros(0), barrier=np.zeros(0))

    @property
    def design(self):
        return None

    @property
    def barrier_names(self):
        return []

    @property
    def options(self):
        return self

    def describe(self):
        said = {"count": self.count, "seed": self.seed, "cell": self.cell, "step": self.step}
        return said | ({"report": self.report} if self.report else {})

    def input_files(self):
        return []

    def scene(self):
        return None

    def sample(self, run):
        if run == self.deadly_run and not os.path.exists(self.mark):
            if self.mark:
                Path(self.mark).write_text(str(os.getpid()))
            os.kill(os.getpid(), signal.SIGKILL)
        rng = np.random.default_rng([self.seed, run])
        mass = rng.uniform(50.0, 150.0)
        rock = SimpleNamespace(mass=mass, inertia=np.full(3, 0.1 * mass))
        x = np.array([-50.0 + rng.uniform(0, 4), rng.uniform(-20, 20), 0.0])
        x[2] = -x[0]
        velocity = np.array([rng.uniform(0.5, 2.0), rng.normal() * 0.5, rng.uniform(0.5, 2.0)])
        return rock, SimpleNamespace(position=x, velocity=velocity, spin=rng.normal(size=3)), None


def roll_many(rocks, starts, scene, options, materials=None, threads=None):
    out = []
    for rock, start in zip(rocks, starts, strict=True):
        time.sleep(options.roll_seconds)
        out.append(bounce(rock, start, options.bounces))
    return out


def bounce(rock, start, bounces) -> Trajectory:
    x, v, t = start.position.copy(), start.velocity.copy(), 0.0
    arcs, impacts = np.zeros(bounces, ARC), np.zeros(bounces, IMPACT)
    spin = 0.05 * rock.mass * (start.spin**2).sum()
    gravity = np.array([0.0, 0.0, -G])
    for k in range(bounces):
        # normal distance n·(v s + g s²/2) is zero again at s = 2 n·v / (G n_z)
        s = 2.0 * (NORMAL @ v) / (G * NORMAL[2])
        arcs[k]["t0"], arcs[k]["t1"], arcs[k]["x"], arcs[k]["v"] = t, t + s, x, v
        arcs[k]["a"], arcs[k]["w"], arcs[k]["w_end"] = gravity, start.spin, start.spin
        arcs[k]["e_spin"] = spin
        x, v_in, t = x + s * (v + 0.5 * s * gravity), v + s * gravity, t + s
        normal = (NORMAL @ v_in) * NORMAL
        v = 0.7 * (v_in - normal) - 0.8 * normal
        hit = impacts[k]
        hit["t"], hit["x"], hit["normal"], hit["v_in"], hit["v_out"] = t, x, NORMAL, v_in, v
        hit["w_in"] = hit["w_out"] = start.spin
        hit["e_in"] = 0.5 * rock.mass * (v_in @ v_in) + spin
        hit["e_out"] = 0.5 * rock.mass * (v @ v) + spin
    end = np.zeros(1, END)[0]
    end["t"], end["x"], end["q"], end["reason"] = t, x, (1, 0, 0, 0), VELOCITY
    end["mass"], end["arcs"], end["impacts"] = rock.mass, bounces, bounces
    return Trajectory(arcs, impacts, np.zeros(0, CROSSING), end)
