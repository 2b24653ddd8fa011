"""Rapier (float32, two threads). Variants: default; small: length unit 0.1 m instead of 1 m."""

from importlib.metadata import version

import numpy as np
import rapier3d as rp
from loop import Peer, main


def isometry(position, orientation=(1, 0, 0, 0)):
    return rp.Isometry3(
        translation=tuple(map(float, position)), rotation=rp.Rotation3(*map(float, orientation))
    )


def colliders(scene, b):
    if scene.kind == "box":
        return [rp.Collider.cuboid(*map(float, scene.size[b]))]
    if scene.kind == "sphere":
        return [rp.Collider.ball(float(scene.size[b, 0]))]
    return [rp.Collider.convex_hull(part.astype(np.float32)) for part in scene.parts(b)]


def build(scene, variant):
    world = rp.PhysicsWorld(gravity=(0.0, 0.0, -9.81))
    world.integration_parameters.dt = scene.dt
    world.set_num_threads(2)
    if variant == "small":
        world.integration_parameters.length_unit = 0.1
    world.add_collider(rp.Collider.halfspace((0.0, 0.0, 1.0)).friction(0.5).restitution(0.0))
    for half, position in scene.walls:
        wall = rp.Collider.cuboid(*map(float, half)).position(isometry(position))
        world.add_collider(wall.friction(0.5).restitution(0.0))
    massless = rp.MassProperties(mass=0.0)
    handles = []
    for b in scene.bodies:
        inertia = tuple(map(float, scene.inertia[b]))
        mass = rp.MassProperties((0.0, 0.0, 0.0), float(scene.mass[b]), inertia)
        body = rp.RigidBody.dynamic().position(isometry(scene.position[b], scene.orientation[b]))
        shapes = [
            shape.friction(0.5).restitution(0.0).mass_properties(massless)
            for shape in colliders(scene, b)
        ]
        body = body.additional_mass_properties(mass).can_sleep(False)
        handles.append(world.add_body(body, shapes))

    def state():
        rows = []
        for handle in handles:
            body = world.rigid_bodies[handle]
            t, r, v, w = body.translation, body.rotation, body.linvel, body.angvel
            rows.append((t.x, t.y, t.z, r.w, r.i, r.j, r.k, v.x, v.y, v.z, w.x, w.y, w.z))
        rows = np.array(rows)
        return rows[:, :3], rows[:, 3:7], rows[:, 7:10], rows[:, 10:]

    def contacts():
        points = [
            point.dist
            for pair in world.narrow_phase.contact_pairs()
            if pair.has_any_active_contact
            for manifold in pair.manifolds
            for point in manifold.points
        ]
        return sum(d <= 0 for d in points), min(points, default=np.nan)

    unit = world.integration_parameters.length_unit
    note = f"sleeping off, {world.num_threads} threads, length unit {unit:.1f} m"
    return Peer(version("rapier3d"), note, world.step, state, contacts)


main("rapier", build)
