"""Styles (.qml) of the rasters and a project file for QGIS beside the results.

A style stands beside each raster under its name, where QGIS finds it by itself. The project holds
the rasters and the layers of the GeoPackage, by relative paths, in the reference system of the
terrain. Both are plain XML after what QGIS 3 writes.
"""

from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from drystone.rockfall.optional_packages import load
from drystone.rockfall.results.hazard import LEVELS
from drystone.rockfall.results.rasters import raster_names
from drystone.rockfall.run.part_files import write_whole

PROJECT = "results.qgs"
# From low to high, readable in print and by the colour-blind (viridis reversed at its light end).
RAMP = ("#fde725", "#7ad151", "#22a884", "#2a788e", "#414487", "#440154")
LEVEL_COLOURS = {1: "#f7f3c8", 2: "#ffe000", 3: "#3b7dd8", 4: "#d62728"}
# Of materials, one after the other: soft enough for paths and lines to be seen over them.
MATERIAL_COLOURS = (
    "#c9b18b", "#9aa3ad", "#a9c77d", "#d8a6a0", "#8fbfc4", "#e3cf7a", "#b79ac8", "#7f9d7a",
    "#d9b48f", "#a7b8e0", "#c4c4a0", "#bf8f8f",
)  # fmt: skip
VECTORS = {  # layer of the GeoPackage: kind of geometry, colour
    "trajectories": ("Line", "#e07b00"), "deposition": ("Point", "#000000"),
    "not_at_rest": ("Point", "#d62728"), "impacts": ("Point", "#888888"),
    "barriers": ("Line", "#d62728"),
}  # fmt: skip


def material_colour(code: int) -> str:
    return MATERIAL_COLOURS[code % len(MATERIAL_COLOURS)]


def write_gis(folder: Path, more: dict, materials: list[str] | None = None) -> None:
    """Styles of all rasters in `folder`, and the project; `more` as in RasterWriter.

    materials   names by the codes of the raster `material`, if there is one
    """
    rasterio = load("rasterio", "A GeoTIFF")
    layers, wkt = [], ""
    for name in [*raster_names(), *more, *(("material",) if materials else ())]:
        path = folder / "rasters" / f"{name}.tif"
        with rasterio.open(path) as file:
            values, wkt = file.read(1, masked=True), file.crs.to_wkt() if file.crs else ""
        renderer = _renderer(name, values, materials)
        style = f'<!DOCTYPE qgis>\n<qgis version="3.28">\n<pipe>{renderer}</pipe>\n</qgis>\n'
        write_whole(path.with_suffix(".qml"), style.encode())
        layers.append((name, "raster", f"./rasters/{name}.tif", f"<pipe>{renderer}</pipe>"))
    pyogrio = load("pyogrio", "A GeoPackage")
    for name, _ in pyogrio.list_layers(folder / "trajectories.gpkg"):
        source = f"./trajectories.gpkg|layername={name}"
        layers.append((str(name), "vector", source, _symbol(*VECTORS[str(name)])))
    write_whole(folder / PROJECT, _project(layers, wkt).encode())


def _renderer(name: str, values, materials: list[str] | None) -> str:
    known = values.compressed()
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    if name == "terrain":
        return (
            '<rasterrenderer type="hillshade" band="1" azimuth="315" angle="45" zfactor="1" '
            'opacity="1"/>'
        )
    labels: dict[float, str] = {}
    if name == "hazard_level":
        items = [(float(level), colour) for level, colour in LEVEL_COLOURS.items()]
        labels = {float(level): words for level, words in LEVELS.items()}
        low, high, kind = 1.0, 4.0, "EXACT"
    elif name == "material":
        items = [(float(k), material_colour(k)) for k in range(len(materials or ()))]
        labels = {float(k): word for k, word in enumerate(materials or ())}
        low, high, kind = 0.0, float(len(items) - 1), "EXACT"
    else:
        at = np.linspace(low, high if high > low else low + 1.0, len(RAMP))
        items, kind = list(zip(at, RAMP, strict=True)), "INTERPOLATED"
    rows = "".join(
        f'<item value="{value:.6g}" label={quoteattr(labels.get(value, f"{value:.4g}"))} '
        f'color="{colour}" alpha="255"/>'
        for value, colour in items
    )
    return (
        f'<rasterrenderer type="singlebandpseudocolor" band="1" opacity="0.8" '
        f'classificationMin="{low:.6g}" classificationMax="{high:.6g}"><rastershader>'
        f'<colorrampshader colorRampType="{kind}" clip="0">{rows}</colorrampshader>'
        f"</rastershader></rasterrenderer>"
    )


def _symbol(kind: str, colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    rgb = f"{red},{green},{blue},255"
    if kind == "Line":
        inner = (
            f'<layer class="SimpleLine"><Option type="Map"><Option name="line_color" '
            f'type="QString" value="{rgb}"/><Option name="line_width" type="QString" '
            f'value="0.3"/></Option></layer>'
        )
    else:
        inner = (
            f'<layer class="SimpleMarker"><Option type="Map"><Option name="color" type="QString" '
            f'value="{rgb}"/><Option name="size" type="QString" value="1.2"/></Option></layer>'
        )
    symbol = f'<symbol type="{kind.lower().replace("point", "marker")}" name="0">{inner}</symbol>'
    return f'<renderer-v2 type="singleSymbol"><symbols>{symbol}</symbols></renderer-v2>'


def _project(layers: list, wkt: str) -> str:
    srs = f"<spatialrefsys><wkt>{escape(wkt)}</wkt></spatialrefsys>" if wkt else ""
    tree, bodies = [], []
    for k, (name, kind, source, style) in enumerate(reversed(layers)):
        shown = (
            "Qt::Checked" if name in ("barriers", "trajectories", "terrain") else "Qt::Unchecked"
        )
        provider = "gdal" if kind == "raster" else "ogr"
        tree.append(
            f'<layer-tree-layer id="layer_{k}" name={quoteattr(name)} checked="{shown}" '
            f'providerKey="{provider}" source={quoteattr(source)}/>'
        )
        bodies.append(
            f'<maplayer type="{kind}"><id>layer_{k}</id><datasource>{escape(source)}</datasource>'
            f"<layername>{escape(name)}</layername><srs>{srs}</srs>"
            f"<provider>{provider}</provider>{style}</maplayer>"
        )
    return (
        '<!DOCTYPE qgis PUBLIC "http://mrcc.com/qgis.dtd" "SYSTEM">\n'
        f'<qgis version="3.28" projectname="Rockfall results">\n<projectCrs>{srs}</projectCrs>\n'
        f"<layer-tree-group>{''.join(tree)}</layer-tree-group>\n"
        f"<projectlayers>{''.join(bodies)}</projectlayers>\n</qgis>\n"
    )
