"""Damaged files of rockfall studies: study, terrain, clouds, drawings, tables, and results."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np

import drystone as ds
from drystone.bench.fuzz.case import Case, Family
from drystone.bench.fuzz.damage import damaged_copy
from drystone.bench.fuzz.file_seeds import asc_text, stl_text

COORDINATES = 'PROJCS["CH1903+ / LV95",GEOGCS["CH1903+"],UNIT["metre",1],AUTHORITY["EPSG","2056"]]'
STUDY = """
title = "Small"
[terrain]
file = "terrain.asc"
crs = "EPSG:2056"
[materials]
default = "soil"
[materials.classes.soil]
restitution = 0.3
friction = { uniform = [0.4, 0.6] }
[materials.classes.rock]
preset = "stone:carbonate"
[[materials.regions]]
file = "ground.geojson"
column = "material"
priority_column = "priority"
[[rocks]]
name = "block"
shape = "chamfered"
axes_m = [{ triangular = [0.6, 1.0, 1.8] }, 0.8, 0.7]
density_kg_m3 = 2670
[[rocks]]
name = "scan"
shape = "mesh"
file = "rock.stl"
volume_m3 = 0.5
[[sources]]
name = "edge"
polygon = [[2600004, 1200014], [2600016, 1200014], [2600016, 1200018], [2600004, 1200018]]
[[barriers]]
name = "net"
line = [[2600002, 1200006], [2600018, 1200006]]
height_m = 2.0
capacity_kj = 500.0
[[check_lines]]
name = "road"
line = [[2600002, 1200003], [2600018, 1200003]]
[runs]
count = 4
seed = 1
[output]
folder = "results"
cell_m = 2.0
"""
GROUND = """{"type": "FeatureCollection",
"crs": {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2056"}},
"features": [{"type": "Feature", "properties": {"material": "rock", "priority": 1},
"geometry": {"type": "Polygon", "coordinates":
[[[2600000, 1200010], [2600020, 1200010], [2600020, 1200020], [2600000, 1200010]]]}}]}
"""


def prepare(folder: Path) -> dict[str, Path]:
    """A small study, its results, and rasters in the formats that slopes come in."""
    study = folder / "study"
    study.mkdir()
    heights = np.linspace(20.0, 0.0, 11)[:, None] + np.zeros((11, 11))
    files = {
        "study.toml": STUDY, "terrain.asc": asc_text(heights), "terrain.prj": COORDINATES,
        "ground.geojson": GROUND, "rock.stl": stl_text(),
    }  # fmt: skip
    for name, text in files.items():
        (study / name).write_text(text)
    rows, columns = np.indices(heights.shape)
    points = zip(rows.ravel(), columns.ravel(), heights.ravel(), strict=True)
    (study / "terrain.xyz").write_text(
        "".join(f"{2600000 + 2 * c} {1200000 + 2 * r} {z:g}\n" for r, c, z in points)
    )
    results = folder / "results"
    made = ds.rockfall.run_study(
        ds.rockfall.Study.load(study / "study.toml"), results, workers=1, progress=False
    )
    shutil.copy(made.folder / "rasters" / "terrain.tif", study / "terrain.tif")
    observed = folder / "observed"
    observed.mkdir()
    _write_observed(observed)
    return {"study": study, "results": results, "observed": observed}


def _write_observed(folder: Path) -> None:
    """Clouds, drawings, layers and tables of what was surveyed."""
    import ezdxf
    import laspy
    import pyogrio
    import shapely

    places = np.array([(2600003.0 + k % 5, 1200004.0 + k // 5, 10.0) for k in range(20)])
    for name in ("cloud.las", "cloud.laz"):
        header = laspy.LasHeader(point_format=3, version="1.4")
        header.scales, header.offsets = np.full(3, 0.01), places[0]
        points = laspy.LasData(header)
        points.x, points.y, points.z = places.T
        points.classification = np.full(len(places), 2, np.uint8)
        points.write(folder / name)
    drawing = ezdxf.new()
    space, layer = drawing.modelspace(), {"layer": "nets"}
    space.add_lwpolyline([(*place[:2], 0, 0, 0.5) for place in places[:3]], dxfattribs=layer)
    space.add_circle(places[0], 3.0)
    space.add_arc(places[1], 3.0, 10.0, 90.0, dxfattribs=layer)
    space.add_spline(places[:5])
    space.add_ellipse(places[0], (2.0, 0.0, 0.0), 0.5)
    for place in places:
        space.add_point(place, dxfattribs={"layer": "deposits"})
    drawing.saveas(folder / "drawing.dxf")
    shapes = shapely.to_wkb(shapely.points(places))
    for name in ("points.gpkg", "points.shp"):
        pyogrio.raw.write(
            folder / name, shapes, [np.arange(len(places))], ["number"], geometry_type="Point Z",
            crs="EPSG:2056",
        )  # fmt: skip
    rows = [f"{x},{y}" for x, y, _ in places]
    (folder / "deposits.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    (folder / "trees.csv").write_text(
        "x;y;diameter_m\n" + "".join(f"{x:.1f};{y:.1f};0,{k + 3}\n" for k, (x, y, _) in
                                     enumerate(places[:6]))
    )  # fmt: skip
    (folder / "starts.txt").write_text("x y z\n" + "".join(f"{x} {y} 25\n" for x, y, _ in places))
    (folder / "heights.csv").write_text("line,height_m\nroad,1.5\nroad,2\nroad,0.7\n")


def run_case(case: Case) -> None:
    kinds = {
        "Study.load": _study, "Slope.from_file": _slope, "Results": _results, "clouds": _cloud,
        "observations": _observed,
    }  # fmt: skip
    case.group = str(case.rng.choice(list(kinds), p=[0.4, 0.2, 0.2, 0.08, 0.12]))
    kinds[case.group](case)


def _damage(case: Case, folder: Path, names: list[Path]) -> Path:
    """A copy of `folder` in which one of `names` is damaged; the path of that file."""
    copy = case.folder / folder.name
    shutil.copytree(folder, copy)
    chosen = names[case.rng.integers(len(names))]
    target = copy / chosen.relative_to(folder)
    if case.rng.random() < 0.03:
        target.unlink()
        done = "gone"
    else:
        done = damaged_copy(case.rng, chosen, target)
    case.note(f"{case.group} with {target.relative_to(case.folder)} damaged ({done})")
    return target


def _study(case: Case) -> None:
    folder = case.context["study"]
    names = ["study.toml", "study.toml", "terrain.asc", "ground.geojson", "rock.stl"]
    _damage(case, folder, [folder / name for name in names])
    study = ds.rockfall.Study.load(case.folder / "study" / "study.toml")
    ds.rockfall.check_study(study)


def _slope(case: Case) -> None:
    folder = case.context["study"]
    names = ["terrain.asc", "terrain.prj", "terrain.xyz", "terrain.tif", "rock.stl"]
    target = _damage(case, folder, [folder / name for name in names])
    path = target.with_suffix(".asc") if target.suffix == ".prj" else target
    slope = ds.rockfall.Slope.from_file(path, crs=None if target.suffix == ".prj" else "EPSG:2056")
    slope.height(1.0, 1.0)
    repr(slope)


def _cloud(case: Case) -> None:
    folder = case.context["observed"]
    target = _damage(case, folder, [folder / "cloud.las", folder / "cloud.laz"])
    slope = ds.rockfall.Slope.from_file(target, "EPSG:2056", cell=case.rng.choice([None, 1.0]))
    slope.height(1.0, 1.0)


def _observed(case: Case) -> None:
    """Sources, nets, and the deposits and heights of passage of a back-analysis."""
    folder = case.context["observed"]
    names = sorted(path for path in folder.iterdir() if path.stem != "cloud")
    target = _damage(case, folder, names)
    beside = case.folder / "study"
    shutil.copytree(case.context["study"], beside)
    text = STUDY
    if target.stem in ("points", "drawing", "trees", "starts"):
        part = target.stem == "points" and target.suffix != ".gpkg"  # of a shapefile
        file = target.with_suffix(".shp") if part else target
        layer = 'layer = "nets"' if target.stem == "drawing" else ""
        given = f'file = "{file}"\n{layer}'
        head = 'name = "net"' if target.stem == "drawing" else 'name = "edge"'
        if target.stem == "trees":
            text += f'[[trees]]\nheight_m = 12.0\nmaterial = "rock"\n{given}\n'
        else:
            text = re.sub(rf"({head}\n)(line|polygon) = .*", lambda found: found[1] + given, text)
        (beside / "study.toml").write_text(text)
        ds.rockfall.check_study(ds.rockfall.Study.load(beside / "study.toml"))
        return
    study = ds.rockfall.Study.load(beside / "study.toml")
    deposits, heights = folder / "deposits.csv", None
    if target.stem == "heights":
        heights = target
    else:
        deposits = target
    # Refused when both files were read: to roll rocks takes minutes.
    ds.rockfall.fit_study(study, deposits, case.folder / "fit", heights, materials=["snow"])


def _results(case: Case) -> None:
    folder: Path = case.context["results"]
    names = sorted(path for path in folder.rglob("*") if path.is_file())
    target = _damage(case, folder, names)
    results: Any = ds.rockfall.Results(case.folder / "results")
    repr(results)
    results.statistics  # noqa: B018  read when it is first asked for
    results.layout  # noqa: B018
    results.extent  # noqa: B018
    for table in ("runs", "points", "impacts", "crossings", "lines"):
        results.table(table)
    if target.suffix == ".tif":
        results.raster(target.stem)
    elif case.rng.random() < 0.1:
        ds.rockfall.report_study(results)


FAMILY = Family(prepare, run_case, batch=250, megabytes=1024.0)
