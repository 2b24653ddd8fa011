"""Damaged files for everything that reads one: worlds, recordings, problems, meshes, terrains.

What is read all the same is then used: a world makes a step, a problem is solved.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import drystone as ds
from drystone.bench.fuzz.case import Case, Family, Misbehaviour
from drystone.bench.fuzz.damage import damage_xml, damaged_copy, zip_bomb
from drystone.bench.fuzz.file_seeds import (
    write_figures,
    write_mesh_files,
    write_problem_files,
    write_small_files,
)
from drystone.bench.fuzz.hdf5_damage import damage_hdf5

# Damage of a format itself, beside that of its bytes.
OWN_DAMAGE: dict[str, Callable] = {
    ".h5": damage_hdf5, ".hdf5": damage_hdf5, ".urdf": damage_xml, ".xml": damage_xml,
}  # fmt: skip


class Reader(NamedTuple):
    """One of the library's readers."""

    name: str
    read: Callable[[Path], object]  # reads a file, and uses what was read
    seeds: tuple[Path, ...]  # files that are right
    weight: float = 1.0


def _step(path: Path) -> None:
    world = ds.World.load(path)
    world.step()
    world.check()
    world.hash()


def _open(path: Path) -> None:
    with ds.Recording(path) as recording:
        for k in range(min(len(recording), 3)):
            recording.positions(k)
            recording.orientations(k)
            recording.numbers(k)
        np.sum(recording.times)
        np.sum(recording.kinetic)
        recording.journal()
        recording.bodies()
        recording.start().step()


def _solve(path: Path) -> None:
    problem = ds.ContactProblem.load(path)
    impulse, _ = ds.solve(problem, "nsgs")
    if not np.isfinite(impulse).all():
        raise Misbehaviour("not finite", "impulses that are not finite")


def _follow(path: Path) -> None:
    _look_at(ds.Clip.load(path))


def _look_at(clip: ds.Clip) -> None:
    clip.check()
    if 8 <= len(clip) < 100:
        figure = ds.Figure.from_clip(clip)
        ds.Motion(figure, clip).at(clip.times)


def _solve_lcp(path: Path) -> None:
    problem = ds.lcp.load(path)
    if isinstance(problem, ds.lcp.Lcp):
        ds.lcp.solve(*problem, limit=1000)
    else:
        ds.lcp.solve_mixed(*problem, limit=1000)


def _fall(path: Path) -> None:
    mesh = ds.Mesh.load(path, repair=True)
    mesh.mass_properties()
    mesh.parts()
    mesh.check()


def _lie(path: Path) -> None:
    terrain = ds.Terrain.load(path)
    terrain.parts()
    repr(terrain)


def _build(path: Path) -> None:
    robot = ds.Robot.load(path)
    robot.mass_matrix(robot.zero())
    world = ds.World()
    world.add_robot(robot)
    world.step()


EXPORTS = ("html", "glb", "csv", "ply", "usda", "parquet")


def _export(path: Path) -> None:
    with ds.Recording(path) as recording:
        for kind in EXPORTS:
            recording.export(path.with_name(f"out.{kind}"))


def readers_of(folder: Path) -> list[Reader]:
    small, meshes = write_small_files(folder), tuple(write_mesh_files(folder))
    problems = (small["problem"], *write_problem_files(folder))
    world, recording = write_figures(folder)
    worlds, recordings = (small["world"], world), (small["recording"], recording)
    return [
        Reader("World.load", _step, worlds, 4),
        Reader("Recording", _open, recordings, 3),
        Reader("Recording.export", _export, recordings, 2),
        Reader("replay", lambda path: ds.replay(path), recordings, 3),
        Reader("Robot.load", _build, (small["urdf"], small["mjcf"]), 4),
        Reader("ContactProblem.load", _solve, problems, 4),
        Reader("lcp.load", _solve_lcp, (small["lcp"], small["mlcp"]), 2),
        Reader("Mesh.load", _fall, meshes, 3),
        Reader("Terrain.load", _lie, (*meshes, small["asc"]), 3),
        Reader("Clip.load", _follow, (small["bvh"], small["motion"]), 3),
        Reader(
            "Clip.load",
            lambda path: _look_at(ds.Clip.load(path, None, small["asf"])),
            (small["amc"],),
            2,
        ),
        Reader(
            "Clip.load",
            lambda path: _look_at(ds.Clip.load(small["amc"], None, path)),
            (small["asf"],),
            2,
        ),
        Reader(
            "Torques.load", lambda path: ds.Torques.load(path).summary(), (small["torques"],), 2
        ),
    ]


def run_case(case: Case) -> None:
    readers: list[Reader] = case.context
    weights = np.array([reader.weight for reader in readers])
    reader = readers[case.rng.choice(len(readers), p=weights / weights.sum())]
    read_damaged(case, reader)


def read_damaged(case: Case, reader: Reader) -> None:
    """Damage a copy of one of the reader's files, and read it."""
    rng, case.group = case.rng, reader.name
    seed = reader.seeds[rng.integers(len(reader.seeds))]
    target = case.folder / seed.name
    if seed.suffix == ".zip" and rng.random() < 0.05:
        target.write_bytes(zip_bomb(rng, "mesh.stl"))
        done = "a GiB in an archive"
    else:
        own: Any = OWN_DAMAGE.get(seed.suffix)
        done = damaged_copy(rng, seed, target, own)
    case.note(f"{reader.name} of {seed.name} ({target.stat().st_size} bytes; {done})")
    reader.read(target)


FAMILY = Family(readers_of, run_case, batch=250, megabytes=1024.0)
