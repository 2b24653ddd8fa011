"""Robot: a tree of links in reduced coordinates, its kinematics and dynamics.

Coordinates `q` and rates `qd` stand joint after joint, in the order of `joints`
(model/robot_arrays.py says what each kind has). All results are in world axes.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.reduced import articulated, dynamics, kinematics
from drystone.constraints.reduced.nystrom import add_passive, run_nystrom
from drystone.errors import InputError
from drystone.model.checks import (
    did_you_mean,
    float_array,
    integer,
    of_kind,
    positive,
    shown,
    text,
    things,
    vector,
)
from drystone.model.robot_arrays import (
    COORDINATES,
    JOINT_KINDS,
    RATES,
    RobotModel,
)
from drystone.model.robot_scratch import new_robot_work
from drystone.model.rotation import rotation_matrices, unit_quaternion
from drystone.model.signatures import public
from drystone.world.robots.description import Actuator, Link, Loop, RobotJoint

GRAVITY = (0.0, 0.0, -9.81)


@public
class Robot:
    """A tree of links, hung on the fixed world by a fixed joint or floating by a free one.

    links, joints   in any order; every link hangs on one joint
    actuators       in the order of the commands
    loops           what closes the tree to loops; solved in a world, not by the methods here
    position, orientation   of the base in the world [m], (w, x, y, z)
    keyframes       named coordinates
    ignored         what a file said and this robot does not honour, one sentence each
    """

    def __init__(
        self,
        links: Sequence[Link],
        joints: Sequence[RobotJoint],
        actuators: Sequence[Actuator] = (),
        loops: Sequence[Loop] = (),
        name: str = "robot",
        position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0),
        keyframes: dict | None = None,
        ignored: Sequence[str] = (),
    ) -> None:
        self.name = name = text("Robot: name", name)
        self.links, self.joints = _sorted_tree(
            name,
            things(f"{name}: links", links, Link),
            things(f"{name}: joints", joints, RobotJoint),
        )
        self.actuators = things(f"{name}: actuators", actuators, Actuator)
        self.loops = things(f"{name}: loops", loops, Loop)
        self.ignored = things(f"{name}: ignored", ignored, str)
        self._link_row = {link.name: i for i, link in enumerate(self.links)}
        self._joint_row = {joint.name: i for i, joint in enumerate(self.joints)}
        self._check_actuators()
        self._check_loops()
        self._check_mimics()
        self._model = _pack(self.links, self.joints, self._link_row)
        self._work = new_robot_work(self._model)
        self._base = np.empty((1, 12))
        self._base[0, :3] = vector(f"{name}: position", position)
        turned = unit_quaternion(f"{name}: orientation", orientation)
        self._base[0, 3:] = rotation_matrices(np.array(turned)).ravel()
        self._push = np.zeros((len(self.links), 6))
        self._zero: np.ndarray | None = None
        if keyframes is not None:
            of_kind(f"{name}: keyframes", keyframes, dict, "{name: coordinates}")
        self.keyframes = {
            str(key): self._coordinates(value, f"keyframe {key}")
            for key, value in (keyframes or {}).items()
        }

    @staticmethod
    def load(
        path: str | Path,
        base: str = "fixed",
        packages: dict | None = None,
        meshes: str = "hull",
    ) -> "Robot":
        """A robot from a URDF or MJCF file (.urdf, or .xml through MuJoCo's compiler).

        base     "fixed" or "free": how the root of a URDF hangs on the world
        packages {name: folder} for package:// paths of a URDF
        meshes   "hull" (default) or "exact": what collision meshes become
        """
        from drystone.world.robots.files import load_robot

        return load_robot(path, base, packages, meshes)

    # What there is

    @property
    def model(self) -> RobotModel:
        """The arrays (model/robot_arrays.py)."""
        return self._model

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return int(self._model.first_q[-1])

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return int(self._model.first_v[-1])

    @property
    def mass(self) -> float:
        """Of all links [kg]."""
        return float(self._model.inertia[:, 0].sum())

    @property
    def limits(self) -> np.ndarray:
        """(nv, 2) lower and upper limit of each coordinate; ∓inf where there is none."""
        return self._model.limit.copy()

    def zero(self) -> np.ndarray:
        """Coordinates of the robot as it was described: those of the file, else zeros, and
        quaternions (1, 0, 0, 0)."""
        if self._zero is not None:
            return self._zero.copy()
        q = np.zeros(self.nq)
        for i, joint in enumerate(self.joints):
            first = self._model.first_q[i]
            if joint.kind == "ball":
                q[first] = 1.0
            elif joint.kind == "free":
                q[first + 3] = 1.0
        return q

    def index(self, joint: str) -> slice:
        """Where the coordinates of a joint stand in q."""
        i = self._row(self._joint_row, joint, "joint")
        return slice(int(self._model.first_q[i]), int(self._model.first_q[i + 1]))

    def rate_index(self, joint: str) -> slice:
        """Where the rates of a joint stand in qd."""
        i = self._row(self._joint_row, joint, "joint")
        return slice(int(self._model.first_v[i]), int(self._model.first_v[i + 1]))

    # Kinematics

    def forward_kinematics(self, q: ArrayLike) -> dict[str, np.ndarray]:
        """Pose of each link as a 4x4 matrix, by its name."""
        self._place(q)
        poses = {}
        for i, link in enumerate(self.links):
            pose = np.eye(4)
            pose[:3, 3], pose[:3, :3] = self._work.pose[i, :3], self._work.pose[i, 3:].reshape(3, 3)
            poses[link.name] = pose
        return poses

    def jacobian(self, q: ArrayLike, link: str, point: ArrayLike = (0, 0, 0)) -> np.ndarray:
        """(6, nv) of a point in the link's frame: its velocity, then the link's spin."""
        self._place(q)
        i, local = self._row(self._link_row, link, "link"), vector("jacobian: point", point)
        pose = self._work.pose[i]
        at, out = pose[:3] + pose[3:].reshape(3, 3) @ local, np.empty((6, self.nv))
        kinematics.fill_jacobian(self._model, i, at, self._work, out)
        return out

    def centre_of_mass(self, q: ArrayLike) -> np.ndarray:
        """Of all links [m]."""
        self._place(q)
        dynamics.place_inertias(self._model, self._work)
        self._check_mass()
        moment = self._work.inertia[:, 1:4].sum(axis=0)
        return self._work.origin[0] + moment / self.mass

    def centre_of_mass_jacobian(self, q: ArrayLike) -> np.ndarray:
        """(3, nv): its velocity for unit rates."""
        self._place(q)
        self._check_mass()
        total, out = np.zeros((3, self.nv)), np.empty((6, self.nv))
        for i, link in enumerate(self.links):
            if link.mass > 0.0:
                pose = self._work.pose[i]
                at = pose[:3] + pose[3:].reshape(3, 3) @ link.centre
                kinematics.fill_jacobian(self._model, i, at, self._work, out)
                total += link.mass * out[:3]
        return total / self.mass

    # Dynamics

    def mass_matrix(self, q: ArrayLike) -> np.ndarray:
        """(nv, nv), rotors included: composite rigid body algorithm."""
        self._place(q)
        dynamics.place_inertias(self._model, self._work)
        mass = np.empty((self.nv, self.nv))
        dynamics.fill_mass_matrix(self._model, self._work, mass)
        return mass

    def bias_forces(self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike = GRAVITY) -> np.ndarray:
        """(nv,) Coriolis, centrifugal and gravity forces: M q̈ + bias = τ."""
        return self.inverse_dynamics(q, qd, np.zeros(self.nv), gravity)

    def passive_forces(self, q: ArrayLike, qd: ArrayLike) -> np.ndarray:
        """(nv,) of dampers and springs at the joints; dry friction depends on the solve."""
        q, qd = self._coordinates(q), self._rates(qd, "qd")
        tau = np.zeros(self.nv)
        add_passive(self._model, q, qd, tau)
        return tau

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: ArrayLike = GRAVITY
    ) -> np.ndarray:
        """(nv,) forces that give the accelerations `qdd`: recursive Newton-Euler algorithm."""
        qd, qdd = self._rates(qd, "qd"), self._rates(qdd, "qdd")
        g = np.array(vector("gravity", gravity))
        self._place(q)
        dynamics.place_inertias(self._model, self._work)
        kinematics.move_links(self._model, qd, self._work)
        tau = np.empty(self.nv)
        dynamics.inverse_dynamics(self._model, qd, qdd, g, self._push, self._work, tau)
        return tau

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, gravity: ArrayLike = GRAVITY
    ) -> np.ndarray:
        """(nv,) accelerations under the forces `tau`: articulated body algorithm."""
        qd, tau = self._rates(qd, "qd"), self._rates(tau, "tau")
        g = np.array(vector("gravity", gravity))
        self._place(q)
        dynamics.place_inertias(self._model, self._work)
        out = np.empty(self.nv)
        articulated.forward_dynamics(self._model, qd, tau, g, self._push, False, self._work, out)
        return out

    def integrate(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        dt: float,
        steps: int = 1,
        tau: ArrayLike | None = None,
        gravity: ArrayLike = GRAVITY,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(q, qd) after `steps` steps of `dt` by Nyström's method: no contacts, no limits."""
        dt, steps = positive("integrate: dt", dt, "s"), integer("integrate: steps", steps, 0)
        q, qd = self._coordinates(q).copy(), self._rates(qd, "qd").copy()
        tau = np.zeros(self.nv) if tau is None else self._rates(tau, "tau")
        g = np.array(vector("gravity", gravity))
        scratch = np.zeros((7, self.nq + self.nv + 1))
        self._place(q)
        run_nystrom(
            self._model, self._base, q, qd, tau, g, self._push, dt, steps, self._work, scratch
        )
        return q, qd

    def energy(self, q: ArrayLike, qd: ArrayLike, gravity: ArrayLike = GRAVITY) -> float:
        """Kinetic energy, rotors included, potential energy of gravity and of springs [J]."""
        qd, g = self._rates(qd, "qd"), np.array(vector("gravity", gravity))
        q = self._coordinates(q)
        kinetic = 0.5 * qd @ self.mass_matrix(q) @ qd
        moment = self._work.inertia[:, 1:4].sum(axis=0) + self.mass * self._work.origin[0]
        springs = 0.0
        for i, joint in enumerate(self.joints):
            if joint.stiffness > 0.0:
                away = q[self._model.first_q[i]] - joint.rest
                springs += 0.5 * joint.stiffness * away * away
        return float(kinetic - g @ moment + springs)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: {len(self.links)} links, {self.nv} degrees of freedom>"

    # Inside

    def _place(self, q: ArrayLike) -> None:
        kinematics.place_links(self._model, self._base, self._coordinates(q), self._work)

    def _coordinates(self, q: ArrayLike, what: str = "q") -> np.ndarray:
        value = _numbers(f"{self.name}: {what}", q, self.nq)
        for i, joint in enumerate(self.joints):
            if joint.kind in ("ball", "free"):
                last = self._model.first_q[i + 1]
                size = float(np.linalg.norm(value[last - 4 : last]))
                if abs(size - 1.0) > 1e-3:
                    raise InputError(
                        f"{self.name}: the quaternion of joint {joint.name} in {what} has length "
                        f"{size:g}, must be 1."
                    )
        return value

    def _rates(self, value: ArrayLike, what: str) -> np.ndarray:
        return _numbers(f"{self.name}: {what}", value, self.nv)

    def _row(self, rows: dict, name: str, kind: str) -> int:
        if not isinstance(name, str) or name not in rows:
            raise InputError(
                f"{self.name}: no {kind} is called {shown(name)}. {did_you_mean(name, rows)}"
            )
        return rows[name]

    def _check_mass(self) -> None:
        if not self.mass > 0.0:
            raise InputError(f"{self.name}: its links have no mass, so it has no centre of mass.")

    def _check_actuators(self) -> None:
        for actuator in self.actuators:
            joint = self.joints[self._row(self._joint_row, actuator.joint, "joint")]
            if joint.rates != 1:
                raise InputError(
                    f"actuator {actuator.name}: joint {joint.name} is {joint.kind}; actuators "
                    f"drive revolute and prismatic joints."
                )

    def _check_mimics(self) -> None:
        leaders = {joint.name: joint for joint in self.joints}
        for joint in self.joints:
            leader = leaders.get(joint.mimic[0]) if joint.mimic else joint
            if leader is None or joint.mimic and (leader is joint or leader.rates != 1):
                raise InputError(
                    f"{self.name}: joint {joint.name} mimics {joint.mimic[0]!r}, must mimic "
                    f"another joint with one coordinate."
                )

    def _check_loops(self) -> None:
        for loop in self.loops:
            for link in (loop.link_a, loop.link_b):
                if link is not None:
                    self._row(self._link_row, link, "link")


def _numbers(what: str, value, count: int) -> np.ndarray:
    array = float_array(what, value)
    if array.shape != (count,):
        raise InputError(f"{what} has shape {array.shape}, must be ({count},).")
    if not np.isfinite(array).all():
        raise InputError(f"{what} has a number that is not finite.")
    return np.ascontiguousarray(array)


def _sorted_tree(name: str, links, joints) -> tuple[tuple, tuple]:
    """Links from the root outwards, each with its joint; children in the order of `joints`."""
    by_name: dict[str, Link] = {}
    for link in links:
        if link.name in by_name:
            raise InputError(f"{name}: two links are called {link.name!r}.")
        by_name[link.name] = link
    if not by_name:
        raise InputError(f"{name}: it has no links.")
    hung: dict[str, RobotJoint] = {}
    names: set[str] = set()
    for joint in joints:
        for link in (joint.child, joint.parent):
            if link is not None and link not in by_name:
                raise InputError(
                    f"{name}: joint {joint.name} names the link {link!r}, which there is not. "
                    f"{did_you_mean(link, by_name)}"
                )
        if joint.name in names:
            raise InputError(f"{name}: two joints are called {joint.name!r}.")
        if joint.child in hung:
            raise InputError(
                f"{name}: link {joint.child} hangs on two joints, {hung[joint.child].name} and "
                f"{joint.name}; close a loop with a Loop."
            )
        names.add(joint.name)
        hung[joint.child] = joint
    for link in by_name:
        if link not in hung:
            raise InputError(f"{name}: link {link} hangs on no joint; give it one.")
    children: dict[str | None, list[RobotJoint]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    order: list[RobotJoint] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(children.get(joint.child, [])))
    if len(order) < len(by_name):
        found = {joint.child for joint in order}
        left = next(link for link in by_name if link not in found)
        raise InputError(f"{name}: link {left} is part of a loop of joints, not of a tree.")
    return tuple(by_name[joint.child] for joint in order), tuple(order)


def _pack(links, joints, row) -> RobotModel:
    """The arrays of a robot whose links are sorted."""
    kinds = [JOINT_KINDS.index(joint.kind) for joint in joints]
    rates, nl = [RATES[k] for k in kinds], len(links)
    first_v = np.concatenate([[0], np.cumsum(rates)]).astype(np.int32)
    nv = int(first_v[-1])
    parent = np.array([-1 if j.parent is None else row[j.parent] for j in joints], np.int32)
    last = np.full(nl + 1, -1, np.int32)  # the last rate at or above a link; -1 reads the end
    above = np.full(nv, -1, np.int32)
    for i in range(nl):
        before = last[parent[i]]
        for d in range(first_v[i], first_v[i + 1]):
            above[d], before = before, d
        last[i] = before
    frame = np.zeros((nl, 12))
    for i, joint in enumerate(joints):
        frame[i, :3] = joint.position
        frame[i, 3:] = rotation_matrices(np.array(joint.orientation)).ravel()
    axis = np.array([joint.axis for joint in joints], np.float64)
    each = np.repeat(np.arange(nl), rates)

    def per_rate(name):
        return np.array([getattr(joints[i], name) for i in each], np.float64).reshape(nv)

    limit = np.array([joints[i].limits for i in each], np.float64).reshape(nv, 2)
    return RobotModel(
        tree=np.zeros(nl, np.int32), first_link=np.array([0, nl], np.int32), parent=parent,
        kind=np.array(kinds, np.int32),
        first_q=np.concatenate([[0], np.cumsum([COORDINATES[k] for k in kinds])]).astype(np.int32),
        first_v=first_v, dof_link=each.astype(np.int32), above=above, frame=frame,
        axis=axis, turning=_turning(frame[:, 3:].reshape(-1, 3, 3), axis),
        inertia=np.array([_ten(link) for link in links], np.float64),
        armature=per_rate("armature"), damping=per_rate("damping"),
        friction=per_rate("friction"), stiffness=per_rate("stiffness"), rest=per_rate("rest"),
        limit=limit,
    )  # fmt: skip


def _turning(rotation: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """(nl, 18) RobotModel.turning."""
    across = np.cross(axis[:, None, :], np.eye(3)).transpose(0, 2, 1)  # [a]×
    once = rotation @ across
    return np.concatenate([once, once @ across], 1).reshape(-1, 18)


def _ten(link: Link) -> list[float]:
    """Mass, first moment, inertia about the origin of the link."""
    c, m = np.array(link.centre), link.mass
    about = np.array(link.inertia) + m * (c @ c * np.eye(3) - np.outer(c, c))
    upper = about[np.triu_indices(3)]
    return [m, *(m * c), *upper]
