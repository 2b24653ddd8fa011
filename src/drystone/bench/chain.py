"""The chain of S9: hinges between its links, and what its final poses say about them."""

import numpy as np

import drystone as ds
from drystone.bench.overlap_measure import matrices

G = 9.81  # [m/s²]


def hinge_links(world: ds.World, scene) -> None:
    """Hinge the bodies of `world` end to end about y, the first one to the fixed world.

    A link has its x axis along the chain.
    """
    last = None
    ends = scene.position - _half_links(scene, scene.orientation)
    for link, point in zip(world.bodies, ends, strict=True):
        world.add_joint(ds.Hinge(last, link, point, (0, 1, 0)))
        last = link


def chain_statistics(scene, poses) -> dict:
    """Largest gap of a hinge [m], and the change of energy as a share of what a swing releases."""
    if not scene.chain:
        return {}
    position, half = poses["pos"], _half_links(scene, poses["quat"])
    first, half_0 = scene.position[0], _half_links(scene, scene.orientation)
    far, near = position + half, position - half
    gaps = np.linalg.norm(near[1:] - far[:-1], axis=1)
    held = np.linalg.norm(near[0] - (first - half_0[0]))
    # At the bottom of the swing the middle of the chain is half its length below the first hinge.
    lowest = first[2] - half_0[0, 2] - scene.size[:, 0].sum()
    swing = scene.mass.sum() * G * (scene.position[:, 2].mean() - lowest)
    before = _energy(scene, scene.position, scene.orientation, 0.0, 0.0)
    after = _energy(scene, position, poses["quat"], poses["vel"], poses["omega"])
    return {
        "joint_gap_mm": 1e3 * max(float(gaps.max()), float(held)),
        "energy_drift": float((after - before) / swing),
    }


def _half_links(scene, orientation) -> np.ndarray:
    """From the middle of every link to its far end (n, 3) [m]."""
    return matrices(orientation)[:, :, 0] * scene.size[:, :1]


def _energy(scene, position, orientation, velocity, spin) -> float:
    """Kinetic and potential [J]."""
    n = len(scene.mass)
    velocity, spin = np.broadcast_to(velocity, (n, 3)), np.broadcast_to(spin, (n, 3))
    local = np.einsum("nji,nj->ni", matrices(orientation), spin)
    moving = np.sum(scene.mass * np.sum(velocity**2, axis=1)) + np.sum(scene.inertia * local**2)
    return float(0.5 * moving + G * np.sum(scene.mass * position[:, 2]))
