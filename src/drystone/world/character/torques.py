"""Torques: what inverse dynamics found, in body coordinates; a file format, and tables."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from drystone.errors import InputError
from drystone.model.files import existing_file, read_file
from drystone.model.hdf5 import open_file, read_array, read_attribute, reading, write_arrays
from drystone.model.signatures import public
from drystone.world.character.stances import Stance, find_stances

FORMAT, VERSION = "drystone torques", 1
# Arrays of a file and their shapes; n times, j joints, f feet.
ARRAYS = {
    "times": "n", "torque": "nj3", "joint_force": "nj3", "turning": "nj3", "root_force": "n6",
    "ground_force": "nf3", "centre_of_pressure": "nf3", "gravity": "3",
}  # fmt: skip


@public
@dataclass(frozen=True, eq=False)
class Torques:
    """Muscle torques of a clip, and what else the figure needs, at n times.

    names               of the joints
    feet                names of the bones with soles
    times               (n,) [s]
    torque              (n, joints, 3) on the bone, in its parent's axes [N m]; the opposite acts on
                        the parent
    joint_force         (n, joints, 3) that holds the joint, on the bone, world axes [N]; NaN by
                        "newton-euler"
    turning             (n, joints, 3) speed of the joint in the parent's axes [rad/s]
    root_force          (n, 6) residual force [N] and torque [N m] on the root's centre of mass, in
                        its axes: what a real figure would not have
    ground_force        (n, feet, 3) of the ground on each foot, world axes [N]
    centre_of_pressure  (n, feet, 3) [m]; NaN where a foot carries nothing
    mass, friction, gravity   with which they were found
    """

    names: tuple[str, ...]
    feet: tuple[str, ...]
    times: np.ndarray
    torque: np.ndarray
    joint_force: np.ndarray
    turning: np.ndarray
    root_force: np.ndarray
    ground_force: np.ndarray
    centre_of_pressure: np.ndarray
    mass: float
    friction: float
    gravity: np.ndarray

    def __len__(self) -> int:
        return len(self.times)

    @property
    def power(self) -> np.ndarray:
        """(n, joints) that the muscles of each joint give [W]."""
        return (self.torque * self.turning).sum(axis=-1)

    @property
    def weight(self) -> float:
        """[N]"""
        return self.mass * float(np.linalg.norm(self.gravity))

    def summary(self) -> dict[str, float]:
        """Figures of the whole clip, by name, units in the names."""
        up = self.ground_force[..., 2].sum(axis=1)
        force, torque = (np.linalg.norm(self.root_force[:, k : k + 3], axis=1) for k in (0, 3))
        dt = float(np.diff(self.times).mean()) if len(self) > 1 else 0.0
        return {
            "weight_N": self.weight,
            "mean_vertical_ground_force_N": float(up.mean()) if up.size else 0.0,
            "residual_force_mean_N": float(force.mean()),
            "residual_force_max_N": float(force.max()),
            "residual_torque_mean_Nm": float(torque.mean()),
            "residual_torque_max_Nm": float(torque.max()),
            "largest_torque_Nm": float(np.linalg.norm(self.torque, axis=-1).max(initial=0.0)),
            "muscle_work_J": float(np.maximum(self.power, 0.0).sum() * dt),
            "muscle_braking_J": float(np.minimum(self.power, 0.0).sum() * dt),
        }

    def stances(self, prominence: float = 0.05) -> list[Stance]:
        """Every whole stance of each foot, its vertical force and its humps: those peaks that
        stand out by `prominence` [body weights]."""
        return find_stances(self, prominence)

    def columns(self) -> dict[str, np.ndarray]:
        """One row a time: torques and powers of joints, forces of the ground, of the root."""
        found: dict[str, np.ndarray] = {"time_s": self.times}
        for j, name in enumerate(self.names):
            for k, axis in enumerate("xyz"):
                found[f"{name}_torque_{axis}_Nm"] = self.torque[:, j, k]
            found[f"{name}_power_W"] = self.power[:, j]
        for f, name in enumerate(self.feet):
            for k, axis in enumerate("xyz"):
                found[f"{name}_ground_force_{axis}_N"] = self.ground_force[:, f, k]
        for k, axis in enumerate("xyz"):
            found[f"root_residual_force_{axis}_N"] = self.root_force[:, k]
        for k, axis in enumerate("xyz"):
            found[f"root_residual_torque_{axis}_Nm"] = self.root_force[:, 3 + k]
        return found

    def save(self, path: str | Path) -> None:
        """Write them to an HDF5 file; `Torques.load` reads it."""
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ARRAYS}
        arrays["mass"], arrays["friction"] = np.float64(self.mass), np.float64(self.friction)
        for name in ("names", "feet"):
            joined = "\n".join(getattr(self, name)).encode()
            arrays[name] = np.frombuffer(joined, np.uint8)
        write_arrays(path, FORMAT, VERSION, arrays)

    @staticmethod
    def load(path: str | Path) -> "Torques":
        """What `save` wrote."""
        path = existing_file(path, "torques")
        with reading(path, "file of torques"):
            return _load(path)


def _load(path: Path) -> Torques:
    import io

    content = read_file(path)
    with open_file(io.BytesIO(content), len(content)) as file:
        if read_attribute(file, "format", str) != FORMAT:
            raise InputError("is no file of torques; Torques.save() writes one.")
        version = read_attribute(file, "version", int)
        if version != VERSION:
            raise InputError(f"is of version {version}, this program reads {VERSION}.")
        texts = {}
        for name in ("names", "feet"):
            raw = read_array(file, name, "u").astype(np.uint8).tobytes().decode()
            texts[name] = tuple(raw.split("\n")) if raw else ()
        arrays = {name: read_array(file, name).astype(np.float64) for name in ARRAYS}
        mass, friction = (float(read_array(file, name)) for name in ("mass", "friction"))
    sizes = {"n": len(arrays["times"]), "j": len(texts["names"]), "f": len(texts["feet"])}
    for name, form in ARRAYS.items():
        wanted = tuple(sizes[c] if c in sizes else int(c) for c in form)
        if arrays[name].shape != wanted:
            raise InputError(f"{name} has shape {arrays[name].shape}, must be {wanted}.")
    for name in ("times", "torque", "turning", "root_force", "ground_force", "gravity"):
        if not np.isfinite(arrays[name]).all():
            raise InputError(f"{name} has a number that is not finite.")
    given: dict[str, Any] = {**texts, **arrays}
    return Torques(**given, mass=mass, friction=friction)
