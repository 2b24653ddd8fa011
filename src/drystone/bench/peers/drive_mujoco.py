"""MuJoCo. Variants: default (Newton solver); cg: the conjugate gradient solver."""

import mujoco
import numpy as np
from loop import Peer, main

FRICTION = [0.5, 0.005, 0.0001]


def add_shape(spec, body, scene, b):
    geom = {"mass": 0, "friction": FRICTION}
    if scene.kind == "box":
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=scene.size[b], **geom)
    elif scene.kind == "sphere":
        size = [scene.size[b, 0], 0, 0]
        body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=size, **geom)
    else:
        for k, corners in enumerate(scene.parts(b)):
            # The parts of a torus are the same for all bodies: their meshes are made once.
            name = f"part {k}" if scene.kind == "torus" else f"hull {b}"
            if scene.kind != "torus" or b == 0:
                spec.add_mesh(name=name, uservert=corners.ravel().tolist())
            body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, **geom)


def add_bodies(spec, ground, scene):
    ground.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[20, 20, 1], friction=FRICTION)
    for half, position in scene.walls:
        ground.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=half, pos=position, friction=FRICTION)
    for b in scene.bodies:
        body = ground.add_body(
            pos=scene.position[b], quat=scene.orientation[b], mass=scene.mass[b],
            inertia=scene.inertia[b], ipos=[0, 0, 0], explicitinertial=True,
        )  # fmt: skip
        body.add_freejoint()
        add_shape(spec, body, scene, b)


def add_links(ground, scene):
    """Bodies nested in each other, so that the hinges are coordinates and cannot open."""
    parent = ground
    for b in scene.bodies:
        place = dict(pos=scene.position[b], quat=scene.orientation[b])
        if b > 0:
            place = dict(pos=[2 * scene.size[b, 0], 0, 0], quat=[1, 0, 0, 0])
        parent = parent.add_body(
            mass=scene.mass[b], inertia=scene.inertia[b], ipos=[0, 0, 0], explicitinertial=True,
            **place,
        )  # fmt: skip
        hinge = mujoco.mjtJoint.mjJNT_HINGE
        parent.add_joint(type=hinge, axis=[0, 1, 0], pos=[-scene.size[b, 0], 0, 0])
        box = mujoco.mjtGeom.mjGEOM_BOX
        parent.add_geom(type=box, size=scene.size[b], contype=0, conaffinity=0, mass=0)


def build(scene, variant):
    spec = mujoco.MjSpec()
    spec.option.timestep = scene.dt
    spec.option.gravity = [0, 0, -9.81]
    if variant == "cg":
        spec.option.solver = mujoco.mjtSolver.mjSOL_CG
    spec.memory = 2 << 30
    ground = spec.worldbody
    if scene.chain:
        add_links(ground, scene)
    else:
        add_bodies(spec, ground, scene)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)

    def state():
        for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            update(model, data)
        twist = np.zeros((len(scene.mass), 6))
        for b in scene.bodies:
            mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, b + 1, twist[b], 0)
        return data.xipos[1:].copy(), data.xquat[1:].copy(), twist[:, 3:], twist[:, :3]

    def contacts():
        return data.ncon, float(data.contact.dist.min()) if data.ncon else np.nan

    note = "conjugate gradient solver" if variant == "cg" else "Newton solver"
    return Peer(mujoco.__version__, note, lambda: mujoco.mj_step(model, data), state, contacts)


main("mujoco", build)
