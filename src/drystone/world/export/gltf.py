"""glTF 2.0 as one binary file (.glb): shapes as meshes, bodies as nodes, frames as an animation.

glTF has y up and quaternions x, y, z, w; we have z up and w first. One root node turns the axes and
holds the centre of the scene, so that the numbers of the animation, which glTF wants in single
precision, are small: 1e-6 m within 16 m of it.
"""

import json
import struct
from math import sqrt
from pathlib import Path

import numpy as np

from drystone.model.files import as_path, write_file
from drystone.world.export.drawing import FIXED, Drawing, rgb

FLOAT = 5126  # componentType of single precision
ARRAY_BUFFER = 34962
Z_UP = (-sqrt(0.5), 0.0, 0.0, sqrt(0.5))  # x, y, z, w: rotates z up into y up


def write_gltf(drawing: Drawing, path) -> Path:
    """Write the drawing to `path`, as binary glTF."""
    return write_file(as_path(path), glb(drawing), "the glTF file cannot be written there")


def glb(drawing: Drawing) -> bytes:
    """The bytes of the file."""
    made = _Document()
    centre, _ = drawing.bounds
    root = made.add("nodes", {"name": "drystone", "rotation": Z_UP, "children": []})
    x, y, z = centre.tolist()
    made.json["nodes"][root]["translation"] = [x, z, -y]
    place = made.json["nodes"][root]["children"]
    bodies = []
    for k, name in enumerate(drawing.names):
        mesh = made.mesh(drawing, int(drawing.shape[k]), tuple(drawing.colour[k].tolist()))
        start = drawing.pose[0, k]
        bodies.append(made.node(name, mesh, np.where(np.isnan(start), _REST, start), centre))
    for k, where, name in drawing.fixed:
        place.append(made.node(name, made.mesh(drawing, k, rgb(FIXED)), where, centre))
    place += bodies
    if len(drawing.times) > 1 and bodies:
        made.animate(drawing, bodies, centre)
    made.json["scenes"] = [{"nodes": [root]}]
    return made.packed()


_REST = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class _Document:
    """The JSON part, and the binary part that its accessors refer to."""

    def __init__(self):
        self.json = {"asset": {"version": "2.0", "generator": "drystone"}, "scene": 0}
        self.parts, self.length = [], 0
        self._known = {}

    def add(self, kind: str, value: dict) -> int:
        rows = self.json.setdefault(kind, [])
        rows.append(value)
        return len(rows) - 1

    def accessor(self, array: np.ndarray, kind: str, mesh: bool = False) -> int:
        """An array of floats, (n, width) or (n,), as an accessor."""
        data = np.ascontiguousarray(array, dtype="<f4")
        view = {"buffer": 0, "byteOffset": self.length, "byteLength": data.nbytes}
        if mesh:
            view["target"] = ARRAY_BUFFER
        self.parts.append(data.tobytes())
        self.length += data.nbytes
        rows = data.reshape(len(data), -1)
        bounds = {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        of = {"bufferView": self.add("bufferViews", view), "componentType": FLOAT}
        return self.add("accessors", of | {"count": len(data), "type": kind} | bounds)

    def mesh(self, drawing: Drawing, k: int, colour: tuple) -> int:
        """Of geometry `k` in that colour; bodies that are alike share it."""
        if ("mesh", k, colour) not in self._known:
            geometry = drawing.geometry[k]
            if ("geometry", k) not in self._known:
                self._known["geometry", k] = {
                    "POSITION": self.accessor(geometry.vertices, "VEC3", True),
                    "NORMAL": self.accessor(geometry.normals, "VEC3", True),
                }
            primitive = {
                "attributes": self._known["geometry", k],
                "material": self._material(colour),
            }
            self._known["mesh", k, colour] = self.add("meshes", {"primitives": [primitive]})
        return self._known["mesh", k, colour]

    def _material(self, colour: tuple) -> int:
        if ("material", colour) not in self._known:
            linear = [((x / 255 + 0.055) / 1.055) ** 2.4 for x in colour]  # sRGB to linear
            surface = {"baseColorFactor": [*linear, 1.0], "metallicFactor": 0.0}
            surface["roughnessFactor"] = 0.8
            self._known["material", colour] = self.add(
                "materials", {"pbrMetallicRoughness": surface}
            )
        return self._known["material", colour]

    def node(self, name: str, mesh: int, pose: np.ndarray, centre: np.ndarray) -> int:
        translation, rotation = _gltf_pose(pose[None], centre)
        return self.add(
            "nodes",
            {
                "name": name,
                "mesh": mesh,
                "translation": translation[0].tolist(),
                "rotation": rotation[0].tolist(),
            },
        )

    def animate(self, drawing: Drawing, nodes: list, centre: np.ndarray) -> None:
        """Every body's path; where it is not there its size is zero."""
        times = self.accessor(drawing.times - drawing.times[0], "SCALAR")
        channels, samplers = [], []

        def channel(node, path, output, interpolation):
            samplers.append({"input": times, "output": output, "interpolation": interpolation})
            target = {"node": node, "path": path}
            channels.append({"sampler": len(samplers) - 1, "target": target})

        for k, node in enumerate(nodes):
            pose, there = _filled(drawing.pose[:, k])
            translation, rotation = _gltf_pose(pose, centre)
            channel(node, "translation", self.accessor(translation, "VEC3"), "LINEAR")
            channel(node, "rotation", self.accessor(rotation, "VEC4"), "LINEAR")
            if not there.all():
                size = np.repeat(there[:, None].astype(float), 3, axis=1)
                channel(node, "scale", self.accessor(size, "VEC3"), "STEP")
        self.add("animations", {"name": "run", "channels": channels, "samplers": samplers})

    def packed(self) -> bytes:
        self.json["buffers"] = [{"byteLength": self.length}]
        text = json.dumps(self.json).encode()
        text += b" " * (-len(text) % 4)
        data = b"".join(self.parts)  # a multiple of four: all are floats
        head = struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
        chunks = ((b"JSON", text), (b"BIN\0", data))
        return head + b"".join(struct.pack("<I4s", len(part), kind) + part for kind, part in chunks)


def _gltf_pose(pose: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Translation from the centre, and quaternion x, y, z, w, both still with z up."""
    rotation = pose[:, [4, 5, 6, 3]].copy()
    # The shorter way between frames: q and -q are one rotation, but not halfway between.
    for k in range(1, len(rotation)):
        if rotation[k] @ rotation[k - 1] < 0.0:
            rotation[k] *= -1.0
    return pose[:, :3] - centre, rotation


def _filled(pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The path with the nearest known pose where the body is not there, and where it is."""
    there = ~np.isnan(pose[:, 0])
    known = np.flatnonzero(there)
    nearest = known[np.abs(np.arange(len(pose))[:, None] - known[None]).argmin(axis=1)]
    return pose[nearest], there
