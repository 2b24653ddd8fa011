"""Broken studies: one clear sentence each, exit code 2, and nothing written."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

from drystone.cli.rockfall import app
from drystone.errors import InputError
from drystone.rockfall.engine.rock import Rock
from drystone.rockfall.results.results import Results
from drystone.rockfall.study.study import Study
from drystone.rockfall.study.valley import new_study
from drystone.rockfall.terrain.slope import Slope

for package in ("rasterio", "pyproj", "shapely", "pyogrio"):
    pytest.importorskip(package, reason="needs the extra drystone[rockfall]")


def replace(old, new):
    """An edit of the study's text; it must find what it replaces."""

    def edit(folder):
        path = folder / "study.toml"
        text = path.read_text()
        assert old in text, old
        path.write_text(text.replace(old, new, 1))

    return edit


def append(text):
    return lambda folder: (folder / "study.toml").open("a").write("\n" + text)


def heights(change):
    """An edit of the terrain's numbers; `change` gets and gives (rows, columns), north first."""

    def edit(folder):
        path = folder / "terrain.asc"
        head, rows = path.read_text().splitlines()[:6], path.read_text().splitlines()[6:]
        z = change(np.array([row.split() for row in rows], dtype=float))
        body = [" ".join(f"{x:g}" for x in row) for row in z]
        path.write_text("\n".join(head + body) + "\n")

    return edit


def ground(change):
    """An edit of the GeoJSON file."""

    def edit(folder):
        path = folder / "ground.geojson"
        table = json.loads(path.read_text())
        change(table)
        path.write_text(json.dumps(table))

    return edit


def steps(*edits):
    return lambda folder: [edit(folder) for edit in edits]


def write(name, content):
    def edit(folder):
        path = folder / name
        path.write_bytes(content) if isinstance(content, bytes) else path.write_text(content)

    return edit


def punched(z):
    z = z.copy()
    z[60:80, 50:120] = -9999
    return z


def tetrahedron(folder):
    import trimesh

    mesh = trimesh.creation.icosphere(subdivisions=1)
    trimesh.Trimesh(mesh.vertices, mesh.faces[:-3], process=False).export(folder / "open.obj")


def texture(folder):
    rows = "\n".join(["1 1 9"] * 3)
    head = "ncols 3\nnrows 3\nxllcorner 2600000\nyllcorner 1200000\ncellsize 100\n"
    (folder / "soil.asc").write_text(head + rows)


def degrees(folder):
    head = "ncols 3\nnrows 3\nxllcorner 9.1\nyllcorner 46.8\ncellsize 0.001\n"
    (folder / "degrees.asc").write_text(head + "\n".join(["1 2 3"] * 3))


def bomb(folder):
    """Three thousand million cells in a file of a few kilobytes, none of which is there."""
    import rasterio

    with rasterio.open(
        folder / "bomb.tif", "w", driver="GTiff", dtype="float32", count=1, width=60_000,
        height=60_000, crs="EPSG:2056", transform=rasterio.Affine(1, 0, 2.6e6, 0, -1, 1.2e6),
        sparse_ok=True, tiled=True, blockxsize=4096, blockysize=4096,
    ):  # fmt: skip
        pass


def orthophoto(folder):
    """Three bands of colours, where heights should be."""
    import rasterio

    with rasterio.open(
        folder / "photo.tif", "w", driver="GTiff", dtype="uint8", count=3, width=200, height=230,
        crs="EPSG:2056", transform=rasterio.Affine(2, 0, 2_599_999, 0, -2, 1_200_459),
    ) as file:  # fmt: skip
        file.write(np.full((3, 230, 200), 90, np.uint8))


def centimetres(folder):
    import rasterio

    with rasterio.open(
        folder / "cm.tif", "w", driver="GTiff", dtype="float32", count=1, width=200, height=230,
        crs="EPSG:2056", transform=rasterio.Affine(2, 0, 2_599_999, 0, -2, 1_200_459),
    ) as file:  # fmt: skip
        file.write(np.full((1, 230, 200), 6000.0, np.float32))
        file.units = ("cm",)


def two_layers(folder):
    import pyogrio
    import shapely

    corners = [(2_600_010, 1_200_020), (2_600_300, 1_200_020), (2_600_300, 1_200_100)]
    shape = np.array(shapely.to_wkb([shapely.Polygon(corners)]), dtype=object)
    for k, name in enumerate(("old", "new")):
        pyogrio.raw.write(
            str(folder / "ground.gpkg"), shape, [np.array(["meadow"], object)], ["material"],
            layer=name, driver="GPKG", geometry_type="Polygon", crs="EPSG:2056", append=k > 0,
        )  # fmt: skip


def dam(height):
    """A closed box in the map's coordinates, that high."""

    def edit(folder):
        import trimesh

        box = trimesh.creation.box((20.0, 1.0, 3.0))
        box.apply_translation((2_600_100.0, 1_200_160.0, height))
        box.export(folder / "dam.obj")

    return edit


WALL = "[[barriers]]\nname = 'wall'\nkind = 'contact'\nmaterial = 'rock'\n"

POINT = "polygon = [[2600010, 1200280], [2600388, 1200280], [2600388, 1200350], [2600010, 1200350]]"
STEEP = "steeper_than_deg = 60              # all ground so steep, by its true area in space\n"

TREE = "[[trees]]\nheight_m = 10\nmaterial = 'rock'\n"
BROKEN = {
    "no crs": (replace('crs = "EPSG:2056"', "#"), "no coordinate reference system.*crs ="),
    "degrees": (
        steps(degrees, replace('file = "terrain.asc"', 'file = "degrees.asc"'),
              replace('"EPSG:2056"', '"EPSG:4326"')),
        "in degrees.*gdalwarp -t_srs EPSG:32632",
    ),
    "wrong label": (replace('"EPSG:2056"', '"EPSG:4326"'), "in degrees, but.*reach 2600398"),
    "geocentric": (replace('"EPSG:2056"', '"EPSG:4978"'), "EPSG:4978.*must be projected"),
    "heights alone": (replace('"EPSG:2056"', '"EPSG:5714"'), "EPSG:5714.*must be projected"),
    "orthophoto as terrain": (
        steps(orthophoto, replace('file = "terrain.asc"', 'file = "photo.tif"')),
        "photo.tif is a picture"),
    "heights in centimetres": (
        steps(centimetres, replace('file = "terrain.asc"', 'file = "cm.tif"')),
        "cm.tif: its heights are in cm, must be in metres"),
    "triangles of a grid": (
        replace('crs = "EPSG:2056"', 'crs = "EPSG:2056"\ntin = true'), "is no point cloud"),
    "trees of a table without a head": (
        steps(write("trees.csv", "2600100,1200180,0.4\n"),
              append(TREE + "file = 'trees.csv'")), "first line must name the columns"),
    "several layers": (
        steps(two_layers, replace('file = "ground.geojson"', 'file = "ground.gpkg"'),
              replace('priority_column = "priority"', "#")),
        "ground.gpkg has 2 layers: old, new. Say which"),
    "cells of a tenth of a millimetre": (
        replace("cell_m = 2.0", "cell_m = 1e-4"), "cells of 0.0001 m make a raster of"),
    "cells of nothing": (replace("cell_m = 2.0", "cell_m = 1e-300"), "make a raster of"),
    "a grid that there is not": (
        replace("cell_m = 2.0", 'grid = "none.tif"'), "output.grid.*no file"),
    "attenuation that takes more than there is": (
        replace("capacity_kj = 1000", "capacity_kj = 1000\nattenuation_kj = [[10, 20]]"),
        "take no more than them"),
    "service level above the maximum": (
        replace("capacity_kj = 1000", "capacity_kj = 1000\nservice_kj = 2000"), "service_kj above"),
    "net that lies on the ground": (
        replace("height_m = 4.0", "height_m = 4.0\ninclination_deg = 90"), "inclination_deg"),
    "rolling resistance below zero": (
        replace('preset = "stone:carbonate"', 'preset = "stone:carbonate"\nrolling = -0.1'),
        "rolling can be -0.1, must be from 0 to 1000"),
    "frequency of one source alone": (
        replace('[[sources]]\nname = "cliff"', '[[sources]]\nname = "more"\n'
                'points = [[2600100, 1200300]]\n\n[[sources]]\nname = "cliff"\n'
                "frequency_1_year = 0.1"), r"sources \(more\) has no frequency_1_year"),
    "reprojection to nowhere": (
        replace('crs = "EPSG:2056"', 'crs = "EPSG:2056"\nreproject = "EPSG:0"'), "'EPSG:0'"),
    "feet": (replace('"EPSG:2056"', '"EPSG:2263"'), "foot"),
    "unknown crs": (replace('"EPSG:2056"', '"EPSG:1"'), "'EPSG:1', which is unknown"),
    "hole at the source": (
        steps(heights(punched), replace(STEEP, "")), "% of its polygon has no ground"),
    "source outside": (
        replace(STEEP + POINT, "points = [[2609999, 1200300]]"), "no ground at x = 2609999"),
    "empty source": (replace("steeper_than_deg = 60", "steeper_than_deg = 89"),
                     "is empty: there is no ground steeper than 89 degrees"),
    "crossed polygon": (
        replace("[2600388, 1200280], [2600388, 1200350]", "[2600388, 1200350], [2600388, 1200280]"),
        "not valid.*self-intersection"),
    "unknown material": (replace('default = "talus"', 'default = "tallus"'),
                         "Did you mean 'talus'"),
    "unknown material in a file": (
        ground(lambda t: t["features"][1]["properties"].update(material="medow")),
        "ground.geojson, polygon 2: material is 'medow'.*Did you mean 'meadow'"),
    "no such column": (replace('column = "material"', 'column = "soil"'), "no column 'soil'"),
    "file in degrees": (ground(lambda t: t.pop("crs")), "GeoJSON without a crs member"),
    "missing file": (replace("ground.geojson", "grund.geojson"), "There is no file"),
    "not a vector file": (write("ground.geojson", "polygons"), "cannot be read as a vector file"),
    "no terrain": (replace("terrain.asc", "terain.asc"), "There is no terrain file"),
    "unreadable terrain": (
        steps(write("terrain.tif", b"\x00\x01\x02 no picture"),
              replace('file = "terrain.asc"', 'file = "terrain.tif"')),
        "terrain.tif cannot be read as a raster"),
    "cut off terrain": (
        lambda f: (f / "terrain.asc").write_text((f / "terrain.asc").read_text()[:99_000]),
        "Is the file cut off"),
    "nan cells": (heights(lambda z: np.full_like(z, np.nan)), "no cell has a value"),
    "undeclared nodata": (heights(lambda z: np.where(z > 800, 1e30, z)), "nodata = 1e"),
    "negative size": (replace("[0.6, 1.0, 1.8]", "[-0.6, 1.0, 1.8]"),
                      r"axes_m\[0\] can be -0.6, must be > 0"),
    "zero density": (replace("density_kg_m3 = 2670", "density_kg_m3 = 0"), "must be > 0"),
    "two sizes": (replace("volume_m3 =", "size_m = 1.0\nvolume_m3 ="), "exactly one of axes_m"),
    "unknown shape": (replace('"platy"', '"plate"'), "but is 'plate'"),
    "open mesh": (
        steps(tetrahedron, replace('shape = "platy"', 'shape = "mesh"\nfile = "open.obj"')),
        "closed"),
    "unknown preset": (replace("stone:loose-clastic", "stone:loose-plastic"),
                       "Did you mean 'stone:loose-clastic'"),
    "no friction": (replace("friction = { uniform = [0.5, 0.7] }", ""),
                    r"needs friction \(preset rockyfor3d:7 has none\)"),
    "restitution": (replace('preset = "stone:carbonate"', "restitution = 1.2\nfriction = 0.3"),
                    "restitution can be 1.2, must be from 0 to 1"),
    "negative friction": (
        replace("friction = { uniform = [0.5, 0.7] }", "friction = { normal = [0.5, 0.1] }"),
        "friction can be -inf, must be from 0 to 1e.06. Cut it off with min and max"),
    "distribution": (replace("uniform = [0.5, 0.7]", "unifrom = [0.5, 0.7]"),
                     "Did you mean 'uniform'"),
    "unknown key": (replace("capacity_kj", "capacity_kJ"), "Did you mean 'capacity_kj'"),
    "unknown part": (append("[barriers2]\nx = 1"), "barriers2: no such entry"),
    "no barrier height": (replace("height_m = 4.0", "height_m = 0.0"), "greater than 0, but is 0"),
    "barrier off the terrain": (replace("[2600394, 1200146]", "[2600594, 1200146]"),
                                r"barriers \(net\): the line leaves the ground"),
    "short check line": (replace(", [2600396, 1200132]", ""), "needs two different points"),
    "no runs": (replace("count = 1000", "count = 0"), "greater than or equal to 1, but is 0"),
    "negative seed": (replace("seed = 1", "seed = -1"), "greater than or equal to 0"),
    "sampling": (replace('"latin-hypercube"', '"latin"'), "'monte-carlo' or 'latin-hypercube'"),
    "unknown rock": (replace("speed_m_s =", 'rocks = ["blok"]\nspeed_m_s ='),
                     "Did you mean 'block'"),
    "same name": (replace('name = "plate"', 'name = "block"'), "two are called 'block'"),
    "two velocities": (replace("speed_m_s =", "velocity_m_s = [1, 0, 0]\nspeed_m_s ="),
                       "give only one of them"),
    "unknown option": (append("[options]\ndt_flite = 0.1"), "Did you mean 'dt_flight'"),
    "wrong option": (append("[options]\ndt_flight = -0.1"), "dt_flight is -0.1"),
    "option of another kind": (append("[options]\ndt_flight = 'fast'"), "must be a number"),
    "texture code": (
        steps(texture, append("[materials.texture]\nfile = 'soil.asc'\ncodes = { 1 = 'talus' }")),
        "holds the code 9, which codes does not name"),
    "triangle ids": (append("[materials.triangles]\nrock = [99999999]"),
                     "triangles go from 0 to"),
    "raster cells": (replace("cell_m = 2.0", "cell_m = -2.0"), "greater than 0, but is -2.0"),
    "points that are none": (
        replace(STEEP + POINT, "points = [2600100, 1200300]"), "must be a list of points"),
    "point below the ground": (
        replace(STEEP + POINT, "points = [[2600100, 1200300, 10]]"), "below the ground at"),
    "misspelt where it is needed": (
        replace("drag_kg_s", "drag_kgs"), r"forest\[0\].drag_kgs: no such entry. Did you mean"),
    "orientation": (replace("speed_m_s =", 'orientation_deg = "any"\nspeed_m_s ='),
                    "must be 'random', or three"),
    "friction that is no number": (
        replace("friction = { uniform = [0.5, 0.7] }", "friction = nan"), "friction is nan"),
    "rock file of another kind": (
        replace('shape = "platy"\nvolume_m3 =',
                'shape = "mesh"\nfile = "study.toml"\nvolume_m3 ='), "cannot be read as a mesh"),
    "wall without height": (
        append(WALL + "thickness_m = 1\nline = [[2600020, 1200160], [2600080, 1200160]]"),
        r"barriers\[1\] needs height_m"),
    "wall without a file": (append(WALL + "mesh = 'dam.obj'"), r"\(wall\): there is no file"),
    "wall off the terrain": (
        steps(dam(10.0), append(WALL + "mesh = 'dam.obj'")), "below the ground.*coordinates"),
    "wall of a net": (append(WALL + "mesh = 'dam.obj'\ncapacity_kj = 3"), "has no capacity_kj"),
    "not toml": (append("count = = 3"), "is not TOML"),
    "5,000 brackets": (append("deep = " + "[" * 5000 + "]" * 5000), "nested too deep"),
    "5,000 digits": (replace("count = 1000", "count = " + "9" * 5000), "is not TOML"),
    "study not in utf-8": (
        lambda f: (f / "study.toml").write_bytes(b"title = '\xff'"), "not a text file in UTF-8"),
    "a million million runs": (replace("count = 1000", "count = 1000000000000"),
                               "less than or equal to 5000000, but is 1000000000000"),
    "two thousand million runs": (replace("count = 1000", "count = 2000000000"),
                                  "less than or equal to 5000000"),
    "10**18 runs": (replace("count = 1000", "count = 1000000000000000000"),
                    "less than or equal to 5000000"),
    "10**9 workers": (replace("seed = 1", "seed = 1\nworkers = 1000000000"),
                      "less than or equal to 1024"),
    "number beyond floats": (
        replace("friction = { uniform = [0.5, 0.7] }", "friction = 1" + 400 * "0"),
        "friction is beyond 1e308"),
    "option beyond floats": (append("[options]\ndt_flight = 1" + 400 * "0"),
                             "dt_flight is beyond 1e308"),
    "coordinate beyond floats": (replace("[2600388, 1200280]", "[2600388, 1" + 400 * "0" + "]"),
                                 r"polygon\[1\]\[1\]"),
    "coordinate of 1e200": (replace("[2600388, 1200280]", "[2600388, 1e200]"),
                            "a coordinate is 1e.200, beyond"),
    "output step of 1 ns": (append("step_s = 1e-9"), "greater than or equal to 0.0001"),
    "10**9 friction directions": (append("[options]\nfriction_directions = 1000000000"),
                                  "must be an even number from 4 to 64"),
    "10**12 steps": (append("[options]\nmax_steps = 1000000000000"),
                     "must be an integer from 1 to 10000000"),
    "faster than light": (replace("speed_m_s = { uniform = [0.5, 1.5] }", "speed_m_s = 1e15"),
                          r"sources \(cliff\), run 0: start: velocity is .* must be at most"),
    "a spin of 1e15": (
        replace("spin_speed_rad_s = { uniform = [0, 1] }", "spin_speed_rad_s = 1e15"),
        "spin is .*must be at most"),
    "a rock of 1e200 m": (replace("volume_m3 = { lognormal = [0.5, 0.2], min = 0.2, max = 1.2 }",
                                  "size_m = 1e200\nweight = 1e9"), "rock plate is 1e.200 m large"),
    "friction of 1e300": (
        replace("friction = { uniform = [0.5, 0.7] }", "friction = 1e300"), "must be from 0 to 1e"),
    "rolling resistance of 1e300": (
        replace("[materials.classes.rock]", "rolling = 1e300\n[materials.classes.rock]"),
        "must be from 0 to 1000"),
    "scarring of 1e300": (
        replace("[materials.classes.rock]", "scarring_1_s = 1e300\n[materials.classes.rock]"),
        "must be from 0 to 10000"),
    "forest in which rocks hang": (
        replace("drag_kg_s = 200", "drag_kg_s = 1e300"), "less than or equal to 1"),
    "net of 1e300 m": (replace("height_m = 4.0", "height_m = 1e300"), "less than or equal to 1"),
    "gravity of 1e300": (append("[options]\ngravity = 1e300"), "gravity is 1e.300, must be"),
    "air of 1e300": (append("[options]\nair_density = 1e300"), "air_density is 1e.300"),
    "tree in centimetres": (
        append(TREE + "points = [[2600100, 1200180, 40]]"), "diameter of 40 m.*centimetres"),
    "tree off the terrain": (
        append(TREE + "points = [[2700100, 1200180, 0.4]]"), "1 trees stand off the terrain"),
    "tree of two numbers": (append(TREE + "points = [[2600100, 1200180]]"), "a list of trees"),
    "no trees": (append(TREE + "points = []"), "holds no tree"),
    "trees of unknown wood": (
        append(TREE.replace("rock", "wood") + "points = [[2600100, 1200180, 0.4]]"),
        "'wood', which is unknown"),
    "trees that are areas": (append(TREE + "file = 'ground.geojson'"), "must hold point"),
    "triangle file not in utf-8": (
        steps(write("ids.txt", b"rock\n\xff\xfe\n"),
              replace('default = "talus"', 'default = "talus"\ntriangles = "ids.txt"')),
        "materials.triangles: ids.txt is not a text file in UTF-8"),
    "triangle of 10**30": (append("[materials.triangles]\nrock = [1" + 30 * "0" + "]"),
                           "triangles go from 0 to"),
    "prj not in utf-8": (
        steps(write("terrain.prj", b"PROJCS[\xff\xfe"), replace('crs = "EPSG:2056"', "#")),
        "terrain.prj is not a text file in UTF-8"),
    "prj that is none": (
        steps(write("terrain.prj", "[" * 5000), replace('crs = "EPSG:2056"', "#")),
        "which is unknown"),
    "terrain at 1e200": (
        lambda f: (f / "terrain.asc").write_text(
            (f / "terrain.asc").read_text().replace("xllcenter 2600000", "xllcenter 1e200")),
        "terrain.asc: its cells reach from"),
    "terrain of points at 1e200": (
        steps(write("t.xyz", "0 0 1\n1 0 1\n0 1 1\n1e200 1 1\n"),
              replace('file = "terrain.asc"', 'file = "t.xyz"')), "a coordinate is beyond"),
    "terrain mesh with a corner that there is not": (
        steps(write("t.obj", "v 0 0 0\nv 9 0 0\nv 0 9 0\nf 1 2 99\n"),
              replace('file = "terrain.asc"', 'file = "t.obj"')), "t.obj"),
    "terrain mesh at 1e200": (
        steps(write("t.obj", "v 0 0 0\nv 1e200 0 0\nv 0 9 0\nf 1 2 3\n"),
              replace('file = "terrain.asc"', 'file = "t.obj"')), "t.obj: a coordinate is 1e.200"),
    "terrain that declares gigabytes": (
        steps(bomb, replace('file = "terrain.asc"', 'file = "bomb.tif"')),
        "bomb.tif declares 60,000 x 60,000 cells"),
    "mesh that declares gigabytes": (
        steps(write("t.ply", "ply\nformat ascii 1.0\nelement vertex 900000000\nproperty float x\n"
                    "property float y\nproperty float z\nend_header\n0 0 0\n"),
              replace('file = "terrain.asc"', 'file = "t.ply"')), "declares 900,000,000 vertices"),
    "glTF that declares gigabytes": (
        steps(write("t.gltf", '{"asset": {"version": "2.0"}, "accessors": [{"count": 900000000}]}'),
              replace('file = "terrain.asc"', 'file = "t.gltf"')), "declares 900,000,000 vertices"),
    "rock from an archive": (
        steps(write("rock.zip", b"PK\x03\x04"),
              replace('shape = "platy"\nvolume_m3 =',
                      'shape = "mesh"\nfile = "rock.zip"\nvolume_m3 =')),
        "rock.zip cannot be read as a mesh: .zip is not one of"),
    "title with a null character": (
        replace('"Synthetic valley"', '"a\\u0000b"'), "title holds the control character"),
    "weights without end": (replace("weight = 3", "weight = 1e308"), "less than or equal to 1"),
    "texture of another place": (
        steps(write("soil.asc", "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 1\n1 1"),
              append("[materials.texture]\nfile = 'soil.asc'\ncodes = { 1 = 'rock' }")),
        "soil.asc covers none of the terrain"),
    "layer of no file": (
        replace('name = "net"', 'name = "net"\nlayer = "nets"'), "has a layer, but no file"),
    "standard without its factors": (
        append("[design]\ntopography = 'high'\nblock_survey = 'high'\nsimulation = 'literature'\n"
               "standard = 'ONR 24810'\naction_factor = 1.1"), "needs action_factor and height_f"),
    "factors of another standard": (
        append("[design]\ntopography = 'high'\nblock_survey = 'high'\nsimulation = 'literature'\n"
               "height_factor = 1.1"), "only with standard = 'ONR 24810'"),
    "an energy twice": (append("[hazard]\nenergies_kj = [30, 300, 30]"), "names 30 more than once"),
    "two scenarios of one name": (
        append(2 * "[[scenarios]]\nname = 'a'\nset = { 'runs.count' = 3 }\n"), "Rename one"),
    "scenario of a rock that there is not": (
        append("[[scenarios]]\nname = 'a'\nset = { 'rocks.blok.weight' = 3 }"),
        r"scenarios \(a\).*Did you mean 'block'"),
    "scenario that is wrong": (
        append("[[scenarios]]\nname = 'a'\nset = { 'runs.count' = 'many' }"),
        "scenario a: runs.count: input should be a valid integer"),
    "grid of another map": (
        steps(write("g.asc", "ncols 2\nnrows 2\nxllcorner 0\nyllcorner 0\ncellsize 5\n1 1\n1 1"),
              write("g.prj", "EPSG:32632"), replace("cell_m = 2.0", 'grid = "g.asc"')),
        "g.asc is in another coordinate system .EPSG:32632"),
    "wall as thick as the universe": (
        append(WALL + "height_m = 2\nthickness_m = 1e300\nline = [[2600020, 1200160], "
               "[2600080, 1200160]]"), "thickness_m: input should be less than or equal to 10000"),
    "values that never come": (
        replace("density_kg_m3 = 2670", "density_kg_m3 = { values = [1, 2], weights = [0, 0] }"),
        "not all 0"),
    "no points": (replace(STEEP + POINT, "points = []"), "points: holds no point"),
    "reprojection from nowhere": (
        replace('crs = "EPSG:2056"', 'crs = "local"\nreproject = "EPSG:2056"'),
        "is on no map. Give its system"),
    "damaged GeoPackage": (
        steps(write("net.gpkg", b"SQLite format 3\0" + bytes(2000)),
              replace("line = [[2600004, 1200146], [2600394, 1200146]]", "file = 'net.gpkg'")),
        "^error: study.toml: barriers .net.: net.gpkg cannot be read as a vector file"),
    "file with a name that is too long": (
        replace("ground.geojson", 5000 * "g"), "There is no file"),
    "empty": (write("study.toml", ""), "terrain is missing"),
    "no study": (lambda folder: (folder / "study.toml").unlink(), "There is no study file"),
}  # fmt: skip


@pytest.fixture
def valley(tmp_path):
    new_study(tmp_path / "demo")
    return tmp_path / "demo"


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("command", ["check", "run"])
def test_broken_study(valley, case, command):
    edit, sentence = BROKEN[case]
    edit(valley)
    before = {path: path.read_bytes() for path in valley.parent.rglob("*") if path.is_file()}
    result = CliRunner().invoke(app, [command, str(valley / "study.toml")])
    assert result.exit_code == 2, result.output
    assert re.search(sentence, result.stderr), result.stderr
    assert result.stderr.startswith("error: ") and "Traceback" not in result.output
    if case != "empty":  # which lacks several things, each on its line
        assert len(result.stderr.strip().splitlines()) == 1
    after = {path: path.read_bytes() for path in valley.parent.rglob("*") if path.is_file()}
    assert after == before


def test_a_byte_order_mark_is_no_error(valley):
    for name in ("study.toml", "terrain.asc"):
        content = (valley / name).read_bytes()
        (valley / name).write_bytes(b"\xef\xbb\xbf" + content)
    result = CliRunner().invoke(app, ["check", str(valley / "study.toml")])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("path", [None, 7, 1.5, "", "a\0b", [], object()])
@pytest.mark.parametrize("reader", [Study.load, Slope.from_file, Results, Rock.from_file])
def test_what_is_no_path_is_refused(reader, path):
    with pytest.raises(InputError, match="path"):
        reader(path)


def test_the_study_itself_is_fine(valley):
    result = CliRunner().invoke(app, ["check", str(valley / "study.toml")])
    assert result.exit_code == 0, result.output
    assert "warning" not in result.stdout


@pytest.mark.parametrize("folder", ["a" * 10_000, "\ud800", "", None])
def test_a_new_study_in_an_impossible_folder_is_one_sentence(folder):
    with pytest.raises(InputError):
        new_study(folder)


def test_a_table_without_a_name_that_can_be_read_is_refused():
    with pytest.raises(InputError, match="name"):
        Study.from_table({}, name=10**5000)
