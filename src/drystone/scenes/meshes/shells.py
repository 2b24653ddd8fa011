"""Thin and hollow solids of revolution as closed meshes: helmet, bowl, funnel."""

import numpy as np

from drystone.scenes.meshes.revolutions import revolve, revolve_ring


def helmet(radius: float = 0.15, thickness: float = 0.006, rings: int = 59, sections: int = 103):
    """A helmet: dome, flared brim, longer than wide, cut higher in front; 24,308 triangles.

    radius     half width of the dome [m]
    thickness  of the wall [m]
    rings      of the outer and of the inner side each: 4 rings x sections triangles

    The helmets of FFD Fig. 1e have 24,308 triangles too. The wall is revolved, then stretched
    along x and sheared along z, so that it does not cut itself.
    """
    outer = _dome(radius, rings, thickness)
    inner = _dome(radius - thickness, rings, 0.0)
    vertices, faces = revolve(np.concatenate([inner, outer[::-1]]), sections)
    depth = radius - vertices[:, 2]  # below the crown
    angle = np.arctan2(vertices[:, 1], vertices[:, 0])
    front = ((1 + np.cos(angle)) / 2) ** 2
    # Points above each other stay in order: dz/dz stays above 0.4, down to the brim.
    vertices[:, 2] += 0.24 * front * depth**2 / radius
    vertices[:, 0] *= 1.2
    return vertices, faces


def _dome(radius, rings, lip):
    """From the pole to the brim: a circle to 95 degrees, then a flare that ends `lip` further out.

    The inner dome has the same angles, so that the wall is about equally thick everywhere.
    """
    angle = np.radians(95.0) * np.arange(rings + 1) / rings
    r, z = radius * np.sin(angle), radius * np.cos(angle)
    flare = np.clip((angle - np.radians(70.0)) / np.radians(25.0), 0.0, 1.0) ** 2
    r[0] = 0.0
    return np.stack([r + (0.02 + lip) * flare, z], axis=1)


def bowl(radius: float, thickness: float, rings: int = 32, sections: int = 64):
    """A half sphere that is open above, its inner side the lower half of a sphere about the origin.

    radius     of the inner side [m]; it is inscribed in the sphere
    thickness  of the wall [m]
    """
    angle = np.pi / 2 * np.arange(rings + 1) / rings
    half = np.stack([np.sin(angle), -np.cos(angle)], axis=1)
    half[0, 0] = 0.0
    return revolve(np.concatenate([(radius + thickness) * half, radius * half[::-1]]), sections)


def funnel(top: float, outlet: float, height: float, collar: float, thickness: float, sections=48):
    """A cone from the outlet at z = 0 up to a cylindrical collar, open at both ends.

    top, outlet  inner radii [m]; the corners lie on them, so that it is nowhere wider
    height       of the cone, collar: of the cylinder above it [m]
    """
    inner = np.array([(top, height + collar), (top, height), (outlet, 0.0)])
    outer = np.array([(outlet, 0.0), (top, height), (top, height + collar)]) + (thickness, 0.0)
    return revolve_ring(np.concatenate([inner, outer]), sections)
