"""PhysX 5 on the CPU through SAPIEN (float32): TGS, 10 position and 1 velocity iterations."""

import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import sapien  # noqa: E402
from loop import Peer, main  # noqa: E402
from sapien import physx  # noqa: E402


def collision_shapes(scene, b, material):
    if scene.kind == "box":
        return [physx.PhysxCollisionShapeBox(scene.size[b].astype(np.float32), material)]
    if scene.kind == "sphere":
        return [physx.PhysxCollisionShapeSphere(float(scene.size[b, 0]), material)]
    convex, scale = physx.PhysxCollisionShapeConvexMesh, np.ones(3, np.float32)
    return [convex(part.astype(np.float32), scale, material) for part in scene.parts(b)]


def build(scene, variant):
    config = physx.PhysxSceneConfig()
    config.gravity = np.array([0, 0, -9.81], np.float32)
    physx.set_scene_config(config)
    body_config = physx.PhysxBodyConfig()
    body_config.sleep_threshold = 0.0
    physx.set_body_config(body_config)
    system = physx.PhysxCpuSystem()
    world = sapien.Scene([system])
    system.timestep = scene.dt
    material = physx.PhysxMaterial(0.5, 0.5, 0.0)

    def add(component, shapes, pose):
        for shape in shapes:
            component.attach(shape)
        entity = sapien.Entity()
        entity.add_component(component)
        entity.set_pose(pose)
        world.add_entity(entity)

    # PhysX planes face +x; turned to face +z.
    up = sapien.Pose([0, 0, 0], [0.7071068, 0, -0.7071068, 0])
    add(physx.PhysxRigidStaticComponent(), [physx.PhysxCollisionShapePlane(material)], up)
    for half, position in scene.walls:
        wall = physx.PhysxCollisionShapeBox(half.astype(np.float32), material)
        add(physx.PhysxRigidStaticComponent(), [wall], sapien.Pose(position))
    bodies = []
    for b in scene.bodies:
        body = physx.PhysxRigidDynamicComponent()
        body.set_mass(float(scene.mass[b]))
        body.set_cmass_local_pose(sapien.Pose())
        body.set_inertia(scene.inertia[b].astype(np.float32))
        body.set_linear_damping(0.0)
        body.set_angular_damping(0.0)
        pose = sapien.Pose(scene.position[b], scene.orientation[b])
        add(body, collision_shapes(scene, b, material), pose)
        bodies.append(body)

    def step():
        system.step()
        return world  # which must live as long as its bodies

    def state():
        poses = [body.get_pose() for body in bodies]
        velocity = [body.linear_velocity for body in bodies]
        spin = [body.angular_velocity for body in bodies]
        columns = [p.p for p in poses], [p.q for p in poses], velocity, spin
        return tuple(np.array(c, float) for c in columns)

    def contacts():
        points = [p.separation for pair in system.get_contacts() for p in pair.points]
        return sum(d <= 0 for d in points), min(points, default=np.nan)

    return Peer(sapien.__version__, "sleeping off", step, state, contacts)


main("sapien", build)
