"""USD through Pixar's library (the `export` extra): z up, metres, double precision."""

import re
import tempfile
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError
from drystone.model.files import as_path, read_file, write_file
from drystone.world.export.drawing import FIXED, GROUND, Drawing, rgb


def write_usd(drawing: Drawing, path) -> Path:
    """Write the drawing to `path`: .usda is text, .usdc and .usd are binary."""
    pxr = _library()
    path = as_path(path)
    with tempfile.TemporaryDirectory() as folder:
        # The library writes the file itself; only a complete one goes to its place.
        part = Path(folder) / f"scene{path.suffix}"
        stage = pxr.Usd.Stage.CreateNew(str(part))
        _fill(pxr, stage, drawing)
        stage.GetRootLayer().Save()
        del stage
        return write_file(path, read_file(part), "the USD file cannot be written there")


class _Pxr:
    def __init__(self):
        from pxr import Gf, Sdf, Usd, UsdGeom, Vt

        self.Gf, self.Sdf, self.Usd, self.UsdGeom, self.Vt = Gf, Sdf, Usd, UsdGeom, Vt


def _library() -> _Pxr:
    try:
        return _Pxr()
    except ImportError:
        raise DrystoneError(
            "USD files need usd-core. Install it with: pip install 'drystone[export]'"
        ) from None


def _fill(pxr, stage, drawing: Drawing) -> None:
    geom = pxr.UsdGeom
    geom.SetStageUpAxis(stage, geom.Tokens.z)
    geom.SetStageMetersPerUnit(stage, 1.0)
    frames = len(drawing.times)
    span = float(drawing.times[-1] - drawing.times[0])
    stage.SetTimeCodesPerSecond((frames - 1) / span if span > 0.0 else 24.0)
    stage.SetStartTimeCode(0)
    stage.SetEndTimeCode(frames - 1)
    stage.SetDefaultPrim(geom.Xform.Define(stage, "/World").GetPrim())
    for k, geometry in enumerate(drawing.geometry):
        shape = stage.CreateClassPrim(f"/shapes/shape_{k}")
        mesh = geom.Mesh.Define(stage, shape.GetPath().AppendChild("surface"))
        _fill_mesh(pxr, mesh, geometry.vertices, geometry.normals)
    used: set[str] = set()
    for k, where, name in drawing.fixed:
        _place(pxr, stage, used, name, k, rgb(FIXED), where[None], np.ones(1, bool))
    for k, (point, normal) in enumerate(drawing.planes):
        _ground(pxr, stage, k, point, normal, drawing.bounds[1])
    for k, name in enumerate(drawing.names):
        pose = drawing.pose[:, k]
        there = ~np.isnan(pose[:, 0])
        _place(pxr, stage, used, name, drawing.shape[k], drawing.colour[k], pose, there)


def _fill_mesh(pxr, mesh, vertices, normals) -> None:
    vt = pxr.Vt
    mesh.CreatePointsAttr(vt.Vec3fArray.FromNumpy(vertices.astype(np.float32)))
    mesh.CreateFaceVertexCountsAttr(vt.IntArray.FromNumpy(np.full(len(vertices) // 3, 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(
        vt.IntArray.FromNumpy(np.arange(len(vertices), dtype=np.int32))
    )
    mesh.CreateNormalsAttr(vt.Vec3fArray.FromNumpy(normals.astype(np.float32)))
    mesh.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)


def _place(pxr, stage, used, name, shape, colour, pose, there) -> None:
    """A body with its path, as an Xform that refers to its shape."""
    body = pxr.UsdGeom.Xform.Define(stage, f"/World/{_prim_name(name, used)}")
    body.GetPrim().GetReferences().AddInternalReference(f"/shapes/shape_{int(shape)}")
    body.GetPrim().SetCustomDataByKey("name", name)
    _paint(pxr, body, colour)
    double = pxr.UsdGeom.XformOp.PrecisionDouble
    move, turn = body.AddTranslateOp(double), body.AddOrientOp(double)
    for k in np.flatnonzero(there).tolist():
        x, y, z, w, qx, qy, qz = pose[k].tolist()
        at = (k,) if len(pose) > 1 else ()
        move.Set(pxr.Gf.Vec3d(x, y, z), *at)
        turn.Set(pxr.Gf.Quatd(w, qx, qy, qz), *at)
    if not there.all():
        tokens, seen = pxr.UsdGeom.Tokens, body.CreateVisibilityAttr()
        for k, here in enumerate(there):
            seen.Set(tokens.inherited if here else tokens.invisible, k)


def _ground(pxr, stage, k, point, normal, radius) -> None:
    """As much of a plane as is around the scene."""
    u = np.cross(normal, (0.0, 1.0, 0.0) if abs(normal[1]) < 0.9 else (1.0, 0.0, 0.0))
    u, far = u / np.linalg.norm(u), 5.0 * radius
    v = np.cross(normal, u)
    corners = [point + far * (a * u + b * v) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh = pxr.UsdGeom.Mesh.Define(stage, f"/World/plane_{k}")
    triangles = np.array(corners)[[0, 1, 2, 0, 2, 3]]
    _fill_mesh(pxr, mesh, triangles, np.tile(normal, (6, 1)))
    _paint(pxr, mesh, rgb(GROUND))


def _paint(pxr, thing, colour) -> None:
    # displayColor is linear.
    linear = [((x / 255 + 0.055) / 1.055) ** 2.4 for x in colour]
    painted = pxr.UsdGeom.PrimvarsAPI(thing).CreatePrimvar(
        "displayColor", pxr.Sdf.ValueTypeNames.Color3fArray, pxr.UsdGeom.Tokens.constant
    )
    painted.Set(pxr.Vt.Vec3fArray([pxr.Gf.Vec3f(*linear)]))


def _prim_name(name: str, used: set[str]) -> str:
    """A name that USD takes, and that no other prim has."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
    plain = plain if plain[:1].isalpha() else f"_{plain}"
    free, copy = plain, 1
    while free in used:
        copy += 1
        free = f"{plain}_{copy}"
    used.add(free)
    return free
