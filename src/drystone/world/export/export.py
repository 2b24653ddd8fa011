"""export(): a recording or a world as a file of another program, chosen by its ending."""

from pathlib import Path

from drystone.errors import InputError
from drystone.model.checks import did_you_mean, integer
from drystone.model.files import as_path
from drystone.world.export import gltf, html, ply, tables, usd
from drystone.world.export.drawing import Drawing

KINDS = {
    ".html": "a page that plays offline",
    ".glb": "glTF with animation",
    ".usd": "USD, binary",
    ".usda": "USD, text",
    ".usdc": "USD, binary",
    ".csv": "trajectories",
    ".parquet": "trajectories",
    ".ply": "the triangles of one frame",
}


def export_drawing(drawing: Drawing, path, title: str, frame: int = -1) -> Path:
    """Write `drawing` to `path`; what kind of file is told by its ending."""
    path = as_path(path)
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise InputError(
            f"{path}: files ending in {kind or 'nothing'} cannot be written. "
            f"{did_you_mean(kind, KINDS)}"
        )
    if kind == ".html":
        return html.write_html(drawing, path, title)
    if kind == ".glb":
        return gltf.write_gltf(drawing, path)
    if kind in (".usd", ".usda", ".usdc"):
        return usd.write_usd(drawing, path)
    if kind == ".csv":
        return tables.write_csv(drawing, path)
    if kind == ".parquet":
        return tables.write_parquet(drawing, path)
    frames = len(drawing.times)
    return ply.write_ply(drawing, path, integer("frame", frame, -frames, frames - 1))
