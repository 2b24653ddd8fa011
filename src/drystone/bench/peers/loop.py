"""Time one peer on one saved scene; needs NumPy and the peer alone, so it runs in any interpreter.

    python drive_<peer>.py SCENE.npz POSES.npz [--variant NAME] [--max-seconds S]

A driver hands `main` a function that builds the peer's world and returns four functions. One
JSON line per phase goes to stdout, the final poses to POSES.npz.
"""

import argparse
import json
import time
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

SAMPLE_EVERY = 10  # steps between two looks at the contacts, which are not on the clock


class Peer(NamedTuple):
    version: str
    note: str
    step: callable  # ()
    state: callable  # () -> position, orientation, velocity, spin of all bodies
    contacts: callable  # () -> number of points that touch, least signed distance [m]


def load_scene(path):
    """The arrays of a saved scene by name.

    `hull(b)` gives corners and triangles of a body, `parts(b)` the corners of its convex parts.
    """
    scene = SimpleNamespace(**{k: v if v.ndim else v.item() for k, v in np.load(path).items()})
    scene.bodies = range(len(scene.mass))

    def hull(b):
        corners = scene.vertex[scene.vertex_first[b] : scene.vertex_first[b + 1]]
        return corners, scene.face[scene.face_first[b] : scene.face_first[b + 1]]

    def parts(b):
        if scene.kind == "torus":
            return np.split(scene.part_vertex, scene.part_first[1:-1])
        return [hull(b)[0]]

    scene.hull, scene.parts = hull, parts
    return scene


def phases(scene):
    if not scene.split:
        return [("all", 0, scene.steps)]
    return [("fall", 0, scene.split), ("settled", scene.split, scene.steps)]


def kinetic_energy(scene, orientation, velocity, spin):
    u = -orientation[:, 1:]  # to body axes
    t = 2 * np.cross(u, spin)
    local = spin + orientation[:, :1] * t + np.cross(u, t)
    moving = (scene.mass * (velocity**2).sum(1)).sum()
    return 0.5 * float(moving + (scene.inertia * local**2).sum())


def time_phase(peer, first, end, deadline):
    """Seconds of every step, numbers of contacts and depths [m] seen now and then."""
    seconds, contacts, depths = [], [], []
    for k in range(first, end):
        start = time.perf_counter()
        peer.step()
        seconds.append(time.perf_counter() - start)
        if k % SAMPLE_EVERY == SAMPLE_EVERY - 1:
            count, distance = peer.contacts()
            contacts.append(count)
            depths.append(max(0.0, -distance) if np.isfinite(distance) else 0.0)
        if time.perf_counter() > deadline:
            break
    return np.array(seconds), contacts, depths


def main(engine, build):
    parser = argparse.ArgumentParser()
    parser.add_argument("scene")
    parser.add_argument("poses")
    parser.add_argument("--variant", default="default")
    parser.add_argument("--max-seconds", type=float, default=300.0)
    arguments = parser.parse_args()
    scene = load_scene(arguments.scene)
    peer = build(scene, arguments.variant)
    deadline = time.perf_counter() + arguments.max_seconds
    done = 0
    for phase, first, end in phases(scene):
        seconds, contacts, depths = time_phase(peer, first, end, deadline)
        done += len(seconds)
        ms = 1e3 * (seconds[1:] if len(seconds) > 1 else seconds)  # the first fills caches
        position, orientation, velocity, spin = peer.state()
        row = {
            "engine": engine, "variant": arguments.variant, "version": peer.version,
            "scene": scene.name, "phase": phase, "bodies": len(scene.mass), "steps": len(seconds),
            "ms_mean": ms.mean(), "ms_median": np.median(ms), "ms_p95": np.percentile(ms, 95),
            "contacts": float(np.mean(contacts)) if contacts else None,
            "penetration_mm": 1e3 * max(depths) if depths else None,
            "kinetic_energy": kinetic_energy(scene, orientation, velocity, spin),
            "note": peer.note,
        }  # fmt: skip
        if len(seconds) < end - first:
            row["truncated"] = f"after {arguments.max_seconds:g} s"
        print(json.dumps(row), flush=True)
        np.savez(
            arguments.poses, pos=position, quat=orientation, vel=velocity, omega=spin, steps=done
        )
        if len(seconds) < end - first:
            break
