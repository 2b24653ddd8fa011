"""Calls of ds.rockfall, all arguments right."""

from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.building_calls import CORNERS, FACES
from drystone.bench.fuzz.props import Call, Props


def rock_calls(p: Props) -> dict[str, Call]:
    rocks = ds.rockfall
    rock = rocks.Rock.block(1, 1, 1)

    def use(made: Any) -> None:
        repr(made)
        made.scaled(1.5)

    sizes = {"x": 1.0, "y": 1.0, "z": 1.0, "density": 2600.0}
    return {
        "Rock.sphere": Call(rocks.Rock.sphere, {"diameter": 1.0, "density": 2600.0}, use),
        "Rock.ellipsoid": Call(rocks.Rock.ellipsoid, sizes | {"finer": 1}, use),
        "Rock.block": Call(rocks.Rock.block, sizes, use),
        "Rock.chamfered": Call(rocks.Rock.chamfered, sizes | {"cut": 0.3}, use),
        "Rock.platy": Call(rocks.Rock.platy, {"size": 1.0, "density": 2e3, "ratio": 0.4}, use),
        "Rock.elongated": Call(rocks.Rock.elongated, {"size": 1.0, "ratio": 0.4}, use),
        "Rock.hull": Call(rocks.Rock.hull, {"points": CORNERS, "density": 2600.0}, use),
        "Rock.mesh": Call(rocks.Rock.mesh, {"vertices": CORNERS, "faces": FACES}, use),
        "Rock.from_file": Call(
            rocks.Rock.from_file, {"path": p.files["stl"], "density": 2600.0, "scale": 1.0}, use
        ),
        "Rock.scaled": Call(rock.scaled, {"factor": 2.0}),
        "Rock.with_volume": Call(rock.with_volume, {"volume": 2.0}),
    }


def slope_calls(p: Props) -> dict[str, Call]:
    rocks = ds.rockfall
    grid = {"z": np.zeros((3, 4)), "cell": 2.0, "origin": (0.0, 0.0), "crs": None, "name": "grid"}
    slope = rocks.Slope.from_grid(np.zeros((3, 4)), 2.0)
    square = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)]

    def use(made: Any) -> None:
        repr(made)
        made.height(0.5, 0.5)

    return {
        "Slope.from_grid": Call(rocks.Slope.from_grid, grid, use),
        "Slope.from_mesh": Call(
            rocks.Slope.from_mesh, {"vertices": CORNERS, "triangles": FACES, "crs": None}, use
        ),
        "Slope.from_file": Call(
            rocks.Slope.from_file, {"path": p.files["asc"], "crs": "EPSG:2056", "nodata": None}, use
        ),
        "Slope.height": Call(slope.height, {"x": 1.0, "y": 1.0}),
        "uniform_surface": Call(
            rocks.uniform_surface, {"normal_restitution": 0.3, "friction": 0.5}, _roll_on
        ),
        "build_surface": Call(
            rocks.build_surface,
            {"triangles": slope.triangles, "normal_restitution": [0.3], "friction": [0.5],
             "default": 0, "triangle_material": np.zeros(len(slope.triangles), int)}, _roll_on,
        ),
        "build_forest": Call(
            rocks.build_forest,
            {"polygons": [square], "drag": [10.0], "height": [3.0], "priority": [1.0]},
        ),
        "Options": Call(
            rocks.Options,
            {"gravity": 9.81, "dt_flight": 0.02, "contacts": 8, "friction_directions": 8,
             "max_time": 3.0, "max_steps": 100, "skin": 0.002},
            lambda options: _roll(options=options),
        ),
        "Start": Call(
            rocks.Start,
            {"position": (1, 1, 1), "velocity": (0, 0, 0), "orientation": (1, 0, 0, 0),
             "spin": (0, 0, 0)}, lambda start: _roll(start=start),
        ),
        "Scene.build": Call(
            rocks.Scene.build,
            {"vertices": slope.vertices, "triangles": slope.triangles,
             "surface": rocks.uniform_surface(0.3, 0.5), "cell": 1.0},
            lambda scene: _roll(scene=scene),
        ),
    }  # fmt: skip


def _scene(surface: Any = None) -> Any:
    slope = ds.rockfall.Slope.from_grid(np.zeros((3, 4)), 2.0)
    surface = surface or ds.rockfall.uniform_surface(0.3, 0.5)
    return ds.rockfall.Scene.build(slope.vertices, slope.triangles, surface)


def _roll_on(surface: Any) -> None:
    _roll(scene=_scene(surface))


def _roll(scene: Any = None, start: Any = None, options: Any = None) -> None:
    start = start or ds.rockfall.Start((2.0, 2.0, 1.0))
    options = options or ds.rockfall.Options(max_time=1.0)
    rock = ds.rockfall.Rock.block(1, 1, 1)
    ds.rockfall.roll_many([rock], [start], scene or _scene(), options, threads=1)


def study_calls(p: Props) -> dict[str, Call]:
    rocks = ds.rockfall
    scene, rock, start = _scene(), rocks.Rock.block(1, 1, 1), rocks.Start((2.0, 2.0, 1.0))
    many = {
        "rocks": [rock], "starts": [start], "scene": scene, "threads": 1,
        "options": rocks.Options(max_time=1.0), "materials": None,
    }  # fmt: skip
    values = rocks.design_values([10.0, 12.0], [1.0, 2.0], 500.0, 10)
    return {
        "roll_many": Call(rocks.roll_many, many | {"states": False}),
        "roll_lumped": Call(rocks.roll_lumped, many),
        "DesignFactors": Call(
            rocks.DesignFactors,
            {"topography": "low", "block_survey": "high", "simulation": "literature",
             "unit_weight": 1.0, "percentile": 0.95},
            lambda made: rocks.design_values([10.0], [1.0], 500.0, 10, made),
        ),
        "design_values": Call(
            rocks.design_values,
            {"speed": [10.0, 12.0], "height": [1.0, 2.0], "mass": 500.0, "runs": 10,
             "factors": None, "seed": 0},
        ),
        "verify_barrier": Call(
            rocks.verify_barrier,
            {"values": values, "energy": 5e5, "height": 4.0, "energy_factor": 1.2,
             "free_border": 0.5, "distance": 5.0, "design_elongation": 3.0},
        ),
        "new_study": Call(rocks.new_study, {"folder": p.folder / "valley"}),
        "Study.load": Call(rocks.Study.load, {"path": p.folder / "no.toml"}),
        "Study.from_table": Call(
            rocks.Study.from_table, {"table": {}, "folder": p.folder, "name": "study"}
        ),
        "check_study": Call(rocks.check_study, {"study": None}),
        "Results": Call(rocks.Results, {"folder": p.folder}),
        "report_study": Call(rocks.report_study, {"results": None}),
        "run_study": Call(rocks.run_study, {"study": None, "out": p.folder / "out", "workers": 1}),
        "sweep_study": Call(
            rocks.sweep_study, {"study": None, "out": p.folder / "sweep", "workers": 1}
        ),
        "fit_study": Call(
            rocks.fit_study,
            {"study": None, "deposits": p.folder / "no.csv", "out": p.folder / "fit",
             "heights": None, "materials": None, "runs": 20, "trials": 10, "workers": 1},
        ),
        "write_view": Call(rocks.write_view, {"results": None, "runs": 10}),
    }  # fmt: skip
