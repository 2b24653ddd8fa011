"""Batch: many copies of one world, stepped on all cores.

A copy is a world of its own, so it has the bits that it would have alone. Its poses and velocities
are rows of common arrays (n, bodies, ...), which are read and written without a loop. Every
call of step() makes all steps of a copy in one compiled call, without the lock of Python; copies
are dealt out to one thread a core.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.joints.joint import Joint
from drystone.errors import AttributeMistake, InputError
from drystone.model.checks import (
    float_array,
    integer,
    listed,
    not_negative,
    of_kind,
    shown,
    text,
)
from drystone.model.joint_arrays import DRIVE_POSITION
from drystone.model.settable import Settable
from drystone.model.signatures import public
from drystone.world import build
from drystone.world.body import Body
from drystone.world.io.snapshot import copy_world
from drystone.world.run import MOST_STEPS

# Arrays of a state that never grow.
SHARED = (
    "position", "rotation", "twist", "force", "robot_q", "robot_v", "robot_tau", "robot_control"
)  # fmt: skip

# Names under which a user finds arrays that can be written in place.
WRITABLE = (
    "centres", "rotations", "velocities", "spins", "forces", "torques", "q", "qd", "taus",
    "controls", "targets", "stiffness", "damping",
)  # fmt: skip


@public
class Batch(Settable):
    """`n` copies of `world`, stepped together.

    batch[i] is a copy, a World like any other. centres, rotations, velocities, spins, forces and
    torques are arrays (n, bodies, ...) that can be read and written in place, and so are targets,
    stiffness and damping of the drives of joints (n, joints, 3); call wake() after writing if
    bodies may sleep.
    """

    def __init__(self, world: Any, n: int) -> None:
        from drystone.world.world import World

        if not isinstance(world, World):
            raise InputError(f"Batch: {shown(world)} is no World.")
        count = integer("Batch: n", n, 1)
        self._worlds = [copy_world(world)]
        _require_memory(self._worlds[0], count)
        self._worlds += [copy_world(world) for _ in range(count - 1)]
        state = self._worlds[0]._state
        self._arrays = {
            name: np.repeat(getattr(state, name)[None], count, axis=0) for name in SHARED
        }
        drive = world._build.model.joints.drive
        self._arrays["drive"] = np.repeat(drive[None], count, axis=0)
        for i, copy in enumerate(self._worlds):
            self._link(i, copy)
        self._origin = np.array(world._origin)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in WRITABLE:
            raise AttributeMistake(
                f"Batch.{name} is an array of all copies: write into it, batch.{name}[:] = ..."
            )
        super().__setattr__(name, value)

    def __len__(self) -> int:
        return len(self._worlds)

    def __getitem__(self, i: int) -> Any:
        return self._worlds[integer("Batch: index", i, -len(self), len(self) - 1)]

    def __iter__(self) -> Iterator:
        return iter(self._worlds)

    @property
    def centres(self) -> np.ndarray:
        """(n, bodies, 3) centres of mass from the local origin of the world, in place [m]."""
        return self._arrays["position"]

    @property
    def rotations(self) -> np.ndarray:
        """(n, bodies, 4) quaternions of the principal axes, w, x, y, z, in place."""
        return self._arrays["rotation"]

    @property
    def velocities(self) -> np.ndarray:
        """(n, bodies, 3) of the centres of mass, in place [m/s]."""
        return self._arrays["twist"][:, :, :3]

    @property
    def spins(self) -> np.ndarray:
        """(n, bodies, 3) in place [rad/s]."""
        return self._arrays["twist"][:, :, 3:]

    @property
    def forces(self) -> np.ndarray:
        """(n, bodies, 3) constant pushes of the user, in place [N]."""
        return self._arrays["force"][:, :, :3]

    @property
    def torques(self) -> np.ndarray:
        """(n, bodies, 3) likewise [N m]."""
        return self._arrays["force"][:, :, 3:]

    @property
    def q(self) -> np.ndarray:
        """(n, coordinates) of all robots, in the order of `robots`; call place() after writing."""
        return self._arrays["robot_q"]

    @property
    def qd(self) -> np.ndarray:
        """(n, rates) likewise."""
        return self._arrays["robot_v"]

    @property
    def taus(self) -> np.ndarray:
        """(n, rates) forces at the joints of robots, in place [N m], [N]."""
        return self._arrays["robot_tau"]

    @property
    def controls(self) -> np.ndarray:
        """(n, actuators) commands of robots, in place."""
        return self._arrays["robot_control"]

    def place(self) -> None:
        """Put the links of all robots where `q` and `qd` say, and wake all bodies."""
        for copy in self._worlds:
            for robot in copy.robots:
                robot._place_bodies()
        self.wake()

    @property
    def positions(self) -> np.ndarray:
        """(n, bodies, 3) of the frames of the shapes, as Body.position; a copy [m]."""
        return np.array([copy.positions for copy in self._worlds])

    @property
    def orientations(self) -> np.ndarray:
        """(n, bodies, 4) likewise."""
        return np.array([copy.orientations for copy in self._worlds])

    @property
    def targets(self) -> np.ndarray:
        """(n, joints, 3) speed of the Motor, or target of the Servo, of each coordinate, in place.

        They act from the next step on; joint.motor of a copy still says what it was made with, and
        joint.set() writes that anew.
        """
        return self._arrays["drive"][:, :, :, 0]

    @property
    def stiffness(self) -> np.ndarray:
        """(n, joints, 3) of the Servo of each coordinate, in place, likewise."""
        return self._arrays["drive"][:, :, :, 1]

    @property
    def damping(self) -> np.ndarray:
        """(n, joints, 3) likewise."""
        return self._arrays["drive"][:, :, :, 2]

    def wake(self) -> None:
        """Wake all bodies, after forces or velocities were written."""
        for copy in self._worlds:
            build.wake_all(copy._state)

    def step(self, count: int = 1) -> np.ndarray:
        """Advance all copies by `count` steps; (n,) bool: whether the last one converged."""
        count = integer("Batch.step: count", count, 1, MOST_STEPS - 1)
        self._take_drives()

        def run(copy) -> bool:
            done = 0
            while done < count:
                done += copy._advance(count - done).done
            return bool(copy.info.converged)

        first = run(self._worlds[0])  # compiles, if it was not done before
        rest = self._worlds[1:]
        # The simplest of Numba's threading layers cannot be entered by two threads at a time.
        if numba.get_num_threads() == 1 or _layer() == "workqueue":
            return np.array([first, *map(run, rest)])
        with ThreadPoolExecutor(numba.get_num_threads()) as pool:
            return np.array([first, *pool.map(run, rest, chunksize=1)])

    def run(self, seconds: float) -> np.ndarray:
        """Advance all copies by `seconds`, in full steps."""
        steps = not_negative("seconds", seconds) / self._worlds[0].dt
        if not steps < MOST_STEPS:
            raise InputError(f"seconds is {seconds:g}, which is {steps:g} steps.")
        return self.step(max(round(steps), 1))

    def set_mass(self, body: Body, values: ArrayLike) -> None:
        """Another mass for a body in each copy (n,) [kg]; its inertia grows alike."""
        of_kind("set_mass: body", body, Body, "a body of the world that was copied")
        index, given = body.index, self._values("mass", values)
        for copy, value in zip(self._worlds, given, strict=True):
            copy.bodies[index].mass = value
            self._adopt(copy)

    def set_friction(self, material_a: Any, material_b: Any, values: ArrayLike) -> None:
        """Another friction of a pair of materials in each copy (n,)."""
        given = self._values("friction", values)
        for copy, value in zip(self._worlds, given, strict=True):
            copy.set_pair(material_a, material_b, friction=float(value))
            self._adopt(copy)

    def set_gains(self, joint: Any, stiffness: ArrayLike, damping: ArrayLike = 0.0) -> None:
        """Other gains of a joint's Servo in each copy (n,): stiffness and damping."""
        j = self._joint_index(joint, "set_gains")
        modes = self._worlds[0]._build.model.joints.drive_mode[j] == DRIVE_POSITION
        if not modes.any():
            raise InputError("set_gains: this joint has no Servo; give it one first.")
        for array, what, values in (
            (self.stiffness, "stiffness", stiffness), (self.damping, "damping", damping),
        ):  # fmt: skip
            given = self._values(what, values)
            if not (np.isfinite(given) & (given >= 0.0)).all():
                raise InputError(f"set_gains: {what} is {shown(values)}, must be >= 0.")
            array[:, j, modes] = given[:, None]

    def set_joint(self, joint: Any, name: str, values: list) -> None:
        """Another limit, motor or friction of a joint in each copy: one value for each of them."""
        original = self._joint_index(joint, "set_joint")
        name, values = text("set_joint: name", name), listed("set_joint: values", values)
        if len(values) != len(self):
            raise InputError(f"set_joint: {len(values)} values for {len(self)} copies.")
        for copy, value in zip(self._worlds, values, strict=True):
            copy.joints[original].set(**{name: value})
            self._adopt(copy)

    def _joint_index(self, joint: Any, verb: str) -> int:
        if not isinstance(joint, Joint):
            raise InputError(f"{verb}: {shown(joint)} is no joint; give a Hinge, Slider, ...")
        index = list(joint._owner()._joints).index(joint)
        if index >= len(self._worlds[0].joints):
            raise InputError(f"{verb}: this joint is not in the copies.")
        return index

    def _values(self, what: str, values: ArrayLike) -> np.ndarray:
        given = float_array(what, values)
        if given.shape not in ((), (len(self),)):
            raise InputError(f"{what}: has shape {given.shape}, must be ({len(self)},).")
        return np.broadcast_to(given, len(self))

    def _adopt(self, copy: Any) -> None:
        """After an edit the arrays of a copy were made anew: move them into the common ones."""
        if not copy._stale:
            return
        copy._sync()
        i = self._worlds.index(copy)
        for name in SHARED:
            self._arrays[name][i] = getattr(copy._state, name)
        self._arrays["drive"][i] = copy._build.model.joints.drive
        self._link(i, copy)

    def _link(self, i: int, copy: Any) -> None:
        """Let the arrays of copy `i` be rows of the common ones."""
        rows = {name: self._arrays[name][i] for name in SHARED}
        copy._state = copy._state._replace(**rows)
        model = copy._build.model
        joints = model.joints._replace(drive=self._arrays["drive"][i])
        copy._build = replace(copy._build, model=model._replace(joints=joints))

    def _take_drives(self) -> None:
        """Check the drives, which may have been written in place, and let all rows be filled."""
        mode, drive = self._worlds[0]._build.model.joints.drive_mode, self._arrays["drive"]
        if not mode.any():
            return
        wrong = ~np.isfinite(drive[:, :, :, :3]).all(axis=3) | (drive[:, :, :, 1:3] < 0.0).any(
            axis=3
        )
        wrong |= (mode == DRIVE_POSITION) & ~(drive[:, :, :, 1:3] > 0.0).any(axis=3)
        if wrong.any():
            i, j, k = np.argwhere(wrong)[0].tolist()
            raise InputError(
                f"Batch: the drive of joint {j} in copy {i} has target, stiffness, damping "
                f"{drive[i, j, k, :3].tolist()}; numbers must be finite, a Servo needs one of the "
                "last two > 0, and none may be below 0."
            )
        for copy in self._worlds:
            copy._joint_work.filled[:] = np.nan
            copy._inputs = object()  # snapshots of it hold them


def _layer() -> str:
    """The threading layer of Numba, once a parallel kernel has run; unknown before."""
    try:
        return numba.threading_layer()
    except ValueError:
        return "workqueue"


def _require_memory(world, count: int) -> None:
    """Refuse more copies than half of the machine's memory holds, before they are made."""
    size = _bytes_of((world._state, world._work, world._joint_work, world._robot_work))
    if not hasattr(os, "sysconf"):
        return
    most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2 // max(size, 1)
    if count > most:
        raise InputError(
            f"Batch: n is {shown(count)}, but a copy takes {size / 1e6:.1f} MB and half of this "
            f"machine's memory holds {most}."
        )


def _bytes_of(thing) -> int:
    if isinstance(thing, np.ndarray):
        return thing.nbytes
    return sum(map(_bytes_of, thing)) if isinstance(thing, tuple) else 0
