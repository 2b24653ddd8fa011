"""Robots beside MuJoCo: the same models, the same step, contact on, one core.

MuJoCo is timed as it is by default, and with its integrator RK4, which is what a robot that nothing
touches has here. Every time stands beside what was reached: our residual and the largest gap of a
loop, and how deep contacts overlap. Time is that of the process, the least of several rounds that
take turns.
"""

from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

import numba
import numpy as np

import drystone as ds
from drystone.bench.robot_models import MODELS
from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.world.io.text_table import text_table

SETTLE, STEPS, ROUNDS = 1.0, 200, 25  # [s] before, steps of a round, rounds
COPIES = 1000  # of the batch
COMMANDS = {"arm": [0.5, 0.6, 0.3, -0.9, 0.2, 0.7, 0.1]}

COLUMNS = (
    ("model", "model", "{}"),
    ("dof", "dof", "{:.0f}"),
    ("contacts", "contacts", "{:.0f}"),
    ("us/step", "us", "{:.2f}"),
    ("MuJoCo us/step", "mujoco_us", "{:.2f}"),
    ("ratio", "ratio", "{:.2f}"),
    ("MuJoCo RK4 us/step", "rk4_us", "{:.2f}"),
    ("residual m/s", "residual", "{:.1e}"),
    ("joint gap m", "gap", "{:.1e}"),
    ("overlap m", "overlap", "{:.1e}"),
    ("MuJoCo overlap m", "mujoco_overlap", "{:.1e}"),
)


def place_model(name: str, folder: Path, dt: float | None = None):
    """A world with the model, on a floor of the same friction; and its MJCF."""
    text = MODELS[name]() if dt is None else MODELS[name](dt=dt)
    path = folder / f"{name}.xml"
    path.write_text(text)
    robot = ds.Robot.load(path)
    step = float(text.split('timestep="')[1].split('"')[0])
    world = ds.World(dt=step, sleeping=False)
    world.add_fixed(ds.Plane(), ds.Material(friction=0.8))
    placed = world.add_robot(robot)
    if name in COMMANDS:
        placed.control = COMMANDS[name]
    return world, text


def _mujoco(text: str, name: str):
    import mujoco

    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.ctrl[:] = COMMANDS.get(name, 0.0)
    return mujoco, model, data


def time_model(name: str, steps: int = STEPS, rounds: int = ROUNDS) -> dict:
    """One row of the table."""
    with TemporaryDirectory() as folder:
        world, text = place_model(name, Path(folder))
    placed = world.robots[0]
    row: dict = {"model": name, "dof": placed.nv}
    mujoco, model, data = _mujoco(text, name)
    before = round(SETTLE / world.dt) if name != "chain" else 10
    world._advance(before)
    mujoco.mj_step(model, data, before)
    _, precise, other = _mujoco(text, name)
    precise.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    mujoco.mj_step(precise, other, before)
    times, begun = np.full(3, np.inf), world.snapshot()
    for _ in range(rounds):
        if name == "chain":  # it swings, and MuJoCo's becomes unstable: the same steps again
            world.restore(begun)
            mujoco.mj_resetData(model, data)
            mujoco.mj_resetData(precise, other)
        start = process_time()
        world._advance(steps)
        ours = process_time()
        mujoco.mj_step(model, data, steps)
        theirs = process_time()
        mujoco.mj_step(precise, other, steps)
        times = np.minimum(times, np.diff([start, ours, theirs, process_time()]))
    ours, theirs, rk4 = times
    info = world.info
    return row | {
        "contacts": info.contacts,
        "us": 1e6 * ours / steps,
        "mujoco_us": 1e6 * theirs / steps,
        "ratio": ours / theirs,
        "rk4_us": 1e6 * rk4 / steps,
        "residual": info.residual,
        "gap": placed.gap,
        "overlap": max(info.penetration, 0.0),
        "mujoco_overlap": max(-float(data.contact.dist.min()), 0.0) if data.ncon else 0.0,
    }


def time_batch(copies: int = COPIES, steps: int = 50, threads: int = 2) -> dict:
    """A batch of quadrupeds on some threads, beside MuJoCo's rollout."""
    from time import perf_counter

    with TemporaryDirectory() as folder:
        world, text = place_model("quadruped", Path(folder))
    world.run(0.5)
    numba.set_num_threads(threads)
    batch = ds.Batch(world, copies)
    batch.step(2)
    _, model, data = _mujoco(text, "quadruped")
    from mujoco import mj_getState, mj_stateSize, mjtState, rollout

    kind = mjtState.mjSTATE_FULLPHYSICS.value
    state = np.zeros(mj_stateSize(model, kind))
    import mujoco

    mujoco.mj_step(model, data, 250)
    mj_getState(model, data, state, kind)
    initial = np.tile(state, (copies, 1))
    own = [mujoco.MjData(model) for _ in range(threads)]
    rollout.rollout(model, own, initial, nstep=2)
    ours, theirs = np.inf, np.inf
    for _ in range(3):
        start = perf_counter()
        converged = batch.step(steps)
        middle = perf_counter()
        rollout.rollout(model, own, initial, nstep=steps)
        end = perf_counter()
        ours, theirs = min(ours, middle - start), min(theirs, end - middle)
    return {
        "model": f"{copies} quadrupeds, {threads} threads", "dof": 18 * copies,
        "contacts": 4 * copies,
        "us": 1e6 * ours / steps, "mujoco_us": 1e6 * theirs / steps, "ratio": ours / theirs,
        "rk4_us": np.nan, "residual": max(copy.info.residual for copy in batch), "gap": 0.0,
        "overlap": 0.0 if converged.all() else np.nan, "mujoco_overlap": np.nan,
    }  # fmt: skip


def run_robots(names, with_batch: bool, screen, results) -> None:
    """Print the table of the models `names`, all if None."""
    for name in names or ():
        if name not in MODELS:
            raise InputError(f"--scenes {name!r}: no such robot. {did_you_mean(name, MODELS)}")
    try:
        import mujoco  # noqa: F401
    except ImportError:
        raise InputError("--robots: MuJoCo is not there; pip install 'drystone[bench]'.") from None
    rows = []
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    for name in names or MODELS:
        with screen.status(f"{name} ..."):
            rows.append(time_model(name))
    numba.set_num_threads(threads)
    if with_batch:
        with screen.status("a batch of quadrupeds ..."):
            rows.append(time_batch(threads=min(2, threads)))
    results.print("Robots beside MuJoCo, one core", style="bold")
    results.print(text_table(rows, COLUMNS), markup=False, soft_wrap=True)
