"""PyBullet: 50 solver iterations, no sleeping (its defaults)."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pybullet as bullet
from loop import Peer, main

FRICTION = 0.5**0.5  # Bullet multiplies the coefficients of the two bodies


def joined_hulls(parts):
    """One shape of several hulls; Bullet takes those from files alone."""
    with TemporaryDirectory() as folder:
        names = []
        for k, corners in enumerate(parts):
            lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in corners]
            # Of the faces it only wants to see some: it makes the hull itself.
            lines += [f"f {i} {i + 1} {i + 2}" for i in range(1, len(corners) - 1)]
            names.append(f"{folder}/part{k}.obj")
            Path(names[-1]).write_text("\n".join(lines))
        kinds = [bullet.GEOM_MESH] * len(names)
        return bullet.createCollisionShapeArray(shapeTypes=kinds, fileNames=names)


def xyzw(q):
    return [q[1], q[2], q[3], q[0]]


def build(scene, variant):
    bullet.connect(bullet.DIRECT)
    bullet.setGravity(0, 0, -9.81)
    bullet.setTimeStep(scene.dt)
    shapes = {}

    def collision_shape(b):
        key = (*scene.size[b], b if scene.kind == "hull" else -1)
        if key not in shapes:
            if scene.kind == "box":
                new = bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=scene.size[b])
            elif scene.kind == "sphere":
                new = bullet.createCollisionShape(bullet.GEOM_SPHERE, radius=scene.size[b, 0])
            elif scene.kind == "torus":
                new = joined_hulls(scene.parts(b))
            else:
                corners = scene.hull(b)[0].tolist()
                new = bullet.createCollisionShape(bullet.GEOM_MESH, vertices=corners)
            shapes[key] = new
        return shapes[key]

    def fixed(shape, position):
        body = bullet.createMultiBody(0, shape, basePosition=position)
        bullet.changeDynamics(body, -1, lateralFriction=FRICTION, restitution=0)

    fixed(bullet.createCollisionShape(bullet.GEOM_PLANE), [0, 0, 0])
    for half, position in scene.walls:
        fixed(bullet.createCollisionShape(bullet.GEOM_BOX, halfExtents=half), position)
    bodies = []
    for b in scene.bodies:
        body = bullet.createMultiBody(
            scene.mass[b], collision_shape(b), basePosition=scene.position[b],
            baseOrientation=xyzw(scene.orientation[b]),
        )  # fmt: skip
        bullet.changeDynamics(
            body, -1, lateralFriction=FRICTION, restitution=0, linearDamping=0, angularDamping=0,
            localInertiaDiagonal=scene.inertia[b],
        )  # fmt: skip
        bodies.append(body)

    def state():
        poses = [bullet.getBasePositionAndOrientation(b) for b in bodies]
        twists = [bullet.getBaseVelocity(b) for b in bodies]
        position, orientation = (np.array(column) for column in zip(*poses, strict=True))
        velocity, spin = (np.array(column) for column in zip(*twists, strict=True))
        return position, orientation[:, [3, 0, 1, 2]], velocity, spin

    def contacts():
        points = [c[8] for c in bullet.getContactPoints()]
        return len(points), min(points, default=np.nan)

    version = str(bullet.getAPIVersion())
    return Peer(version, "50 iterations", bullet.stepSimulation, state, contacts)


main("pybullet", build)
