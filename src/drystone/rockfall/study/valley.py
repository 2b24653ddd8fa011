"""A synthetic valley with a complete study, written by `drystone rockfall new`.

A cliff 70 m high above a talus slope, a road on a bench, a meadow and a brook. All of it is made
of formulas, so that everybody gets the same files; it is nobody's place.
"""

import json
from pathlib import Path

import numpy as np

from drystone.errors import InputError
from drystone.model.signatures import public
from drystone.rockfall.input_files import as_path

CELL = 2.0  # [m]
COLUMNS, ROWS = 200, 230
CORNER = (2_600_000.0, 1_200_000.0)  # south-west, EPSG:2056

# Distance from the south [m] and height [m]: far bank, meadow, road bench, talus, cliff, plateau.
PROFILE = np.array(
    [
        (0, 640), (60, 604), (75, 600), (85, 600), (120, 603), (128, 607), (136, 607.2),
        (150, 613), (300, 716), (326, 786), (350, 797), (470, 830),
    ]
)  # fmt: skip

CLIFF = [(0, 292), (398, 292), (398, 342), (0, 342)]
MEADOW = [(0, 20), (398, 20), (398, 124), (0, 124)]
ROAD = [(0, 129), (398, 129), (398, 135), (0, 135)]
WOOD = [(0, 150), (150, 150), (150, 215), (0, 215)]

STUDY = """\
# A rockfall study on a synthetic valley. Every value is an example, none is of a real place.
# Units are part of the names; coordinates are those of the terrain (EPSG:2056, metres).
title = "Synthetic valley"

[terrain]
file = "terrain.asc"      # also GeoTIFF, XYZ, or a mesh: OBJ, STL, PLY
crs = "EPSG:2056"         # this file does not say it; "local" for plain metres

# Wherever a number varies from rock to rock, write a table instead of it, such as
#   {{ uniform = [0.4, 0.6] }}   {{ normal = [0.5, 0.05], min = 0.3, max = 0.7 }}

[materials]
default = "talus"

[materials.classes.talus]
preset = "stone:loose-clastic"     # published values; see docs/rockfall.md for the list
[materials.classes.rock]
preset = "stone:carbonate"
[materials.classes.meadow]
preset = "stone:alluvial"
[materials.classes.road]
preset = "rockyfor3d:7"            # has no friction, so it is given here
friction = {{ uniform = [0.5, 0.7] }}

[[materials.regions]]
file = "ground.geojson"            # polygons with a column that names the material
column = "material"
priority_column = "priority"       # where polygons overlap, the largest one holds

[[rocks]]
name = "block"
shape = "chamfered"                # sphere, ellipsoid, block, chamfered, platy, elongated,
axes_m = [                         # or mesh and hull with a file
  {{ triangular = [0.6, 1.0, 1.8] }},
  {{ triangular = [0.5, 0.8, 1.4] }},
  {{ triangular = [0.4, 0.7, 1.1] }},
]
density_kg_m3 = 2670
weight = 3                         # three of these for each plate

[[rocks]]
name = "plate"
shape = "platy"
volume_m3 = {{ lognormal = [0.5, 0.2], min = 0.2, max = 1.2 }}

[[sources]]
name = "cliff"
steeper_than_deg = 60              # all ground so steep, by its true area in space
polygon = {source}
speed_m_s = {{ uniform = [0.5, 1.5] }}   # down the slope; azimuth_deg turns it
spin_speed_rad_s = {{ uniform = [0, 1] }}  # about a random axis

[[barriers]]
name = "net"
line = {net}
height_m = 4.0
capacity_kj = 1000

[[forest]]
polygon = {wood}
drag_kg_s = 200
height_m = 20

[[check_lines]]
name = "road"
line = {road}

[runs]
count = 1000
seed = 1
sampling = "latin-hypercube"       # or monte-carlo

[report]                           # the title block; what is left out stays empty
project = "Example"
place = "A valley that does not exist"
client = "Nobody"
author = "Your name"
revision = "A, draft"

[output]
folder = "results"
cell_m = 2.0
"""


def valley_heights() -> np.ndarray:
    """(ROWS, COLUMNS) heights [m], southern row first."""
    x = CELL * np.arange(COLUMNS)[None, :]
    y = CELL * np.arange(ROWS)[:, None]
    steep = np.clip((y - 140.0) / 40.0, 0.0, 1.0)  # the road runs straight, the slope does not
    gullies = 9.0 * np.sin(2 * np.pi * x / 133.0) + 4.0 * np.sin(2 * np.pi * x / 51.0 + 1.0)
    z = np.interp(y + steep * gullies, *PROFILE.T)
    # Waves of 9 to 25 m, which a grid of 2 m can hold.
    bumps = np.sin(0.45 * x + 0.2 * y) + np.sin(0.25 * x - 0.55 * y + 2.0)
    bumps = bumps + np.sin(0.66 * y - 0.2 * x) + np.sin(0.22 * y + 0.12 * x + 1.0)
    return np.round(z + 0.2 * (0.2 + steep) * bumps, 2)


@public
def new_study(folder: str | Path) -> Path:
    """Terrain, ground polygons and study.toml in a new folder; the path of the study."""
    folder = as_path("folder", folder)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder} is there already and not empty. Choose another folder.")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "terrain.asc").write_text(_ascii_grid(valley_heights()))
        (folder / "ground.geojson").write_text(_ground())
        study = folder / "study.toml"
        study.write_text(_study(), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return study


def _study() -> str:
    return STUDY.format(
        source=_points([(10, 280), (388, 280), (388, 350), (10, 350)]),
        net=_points([(4, 146), (394, 146)]),
        wood=_points(WOOD),
        road=_points([(2, 132), (396, 132)]),
    )


def _points(points) -> str:
    rows = ", ".join(f"[{x + CORNER[0]:.0f}, {y + CORNER[1]:.0f}]" for x, y in points)
    return f"[{rows}]"


def _ascii_grid(z: np.ndarray) -> str:
    head = {
        "ncols": COLUMNS, "nrows": ROWS, "xllcenter": f"{CORNER[0]:.0f}",
        "yllcenter": f"{CORNER[1]:.0f}", "cellsize": f"{CELL:g}", "NODATA_value": -9999,
    }  # fmt: skip
    lines = [f"{key} {value}" for key, value in head.items()]
    lines += [" ".join(f"{height:.2f}" for height in row) for row in z[::-1]]
    return "\n".join(lines) + "\n"


def _ground() -> str:
    features = [
        {
            "type": "Feature",
            "properties": {"material": material, "priority": priority},
            "geometry": {"type": "Polygon", "coordinates": [_ring(corners)]},
        }
        for material, priority, corners in (
            ("rock", 1, CLIFF), ("meadow", 1, MEADOW), ("road", 2, ROAD)
        )
    ]  # fmt: skip
    # The crs member is what GDAL and QGIS read; without it GeoJSON means degrees.
    crs = {"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::2056"}}
    return json.dumps({"type": "FeatureCollection", "crs": crs, "features": features}, indent=1)


def _ring(corners) -> list:
    closed = [*corners, corners[0]]
    return [[x + CORNER[0], y + CORNER[1]] for x, y in closed]
