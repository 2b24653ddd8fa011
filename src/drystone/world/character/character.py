"""Character: a figure in a world, with muscles that follow a clip (CLINE 5.1)."""

from base64 import b64encode
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.joints.ball import Ball
from drystone.constraints.joints.drives import Servo
from drystone.constraints.joints.fixed import Fixed
from drystone.constraints.joints.swing_twist import SwingTwist
from drystone.errors import InputError, UnsupportedFeature
from drystone.model.checks import choice, flag, of_kind, positive, shown, vector
from drystone.model.materials import Material
from drystone.model.settable import Settable
from drystone.model.signatures import public
from drystone.shapes import Sphere
from drystone.world.body import Body
from drystone.world.character import quaternions
from drystone.world.character.events import find_events
from drystone.world.character.figure import Figure
from drystone.world.character.gains import Gains, hanging_tensors, spread
from drystone.world.character.inverse_dynamics import holding, inverse_dynamics
from drystone.world.character.motion import Motion, Sample
from drystone.world.character.muscles import Muscles, drive_muscles, note_joints, note_poses
from drystone.world.character.noted import grown, note_contacts, room_for
from drystone.world.character.overlaps import overlapping_pairs
from drystone.world.character.standing import Fall, find_fall
from drystone.world.character.torques import Torques

ROOTS = ("follow", "assisted", "free")
SPARE_ANGLE = 0.2  # [rad] that a range leaves beyond what a clip needs
WIDEST = 3.05  # [rad] a swing beyond that has no direction: the joint turns freely
ROOT_FREQUENCY = 8.0  # of the feedback on an assisted root [rad/s]
MOST_STEPS = 2_000_000  # of a clip


def place_character(  # what World.add_character() was given
    world, figure, clip, root, gains, feedforward, feedback, ground, torques, friction,
    self_collide, root_limit, group, mask, name,
) -> "Character":  # fmt: skip
    """See World.add_character()."""
    if world.dim == 2:
        raise UnsupportedFeature("characters are there in three dimensions, dim=3.")
    if world._stepper not in ("time-stepping", "reduced"):
        raise UnsupportedFeature(f"characters are not there with stepper={world._stepper!r}.")
    of_kind("add_character: figure", figure, Figure, "a Figure")
    choice("add_character: root", root, ROOTS)
    gains = Gains() if gains is None else gains
    of_kind("add_character: gains", gains, Gains, "Gains(...)")
    for what, value in (("feedforward", feedforward), ("feedback", feedback)):
        flag(f"add_character: {what}", value)
    flag("add_character: self_collide", self_collide)
    most = vector("add_character: root_limit", root_limit, 2)
    if min(most) < 0.0:
        raise InputError(f"add_character: root_limit is {shown(root_limit)}, must be >= 0.")
    motion = Motion(figure, clip)
    if motion.duration / world.dt > MOST_STEPS:
        raise InputError(
            f"add_character: {clip.name} lasts {motion.duration:g} s, which is more than "
            f"{MOST_STEPS} steps."
        )
    ground = root != "follow" if ground is None else flag("add_character: ground", ground)
    if torques is None:
        gravity = tuple(world.gravity.tolist())
        torques = inverse_dynamics(
            figure, motion, 1.0 / world.dt, ground, friction, gravity, phase=0.5
        )
    of_kind("add_character: torques", torques, Torques, "Torques")
    if torques.names != figure.joints:
        raise InputError("add_character: torques are those of another figure: their joints differ.")
    name = figure.name if name is None else name
    start = motion.at(0.0)
    bodies = _add_bodies(world, figure, root, friction, group, mask, name)
    k, d = gains.of(figure, stands=root != "follow")
    joints = _add_joints(world, figure, motion, bodies, (k, d) if feedback else None)
    _exclude(world, figure, motion, bodies, self_collide)
    _start(figure, bodies, start)
    character = Character(world, figure, motion, torques, root, bodies, joints, gains)
    still = holding(figure, motion, ground, torques.friction, torques.gravity)
    character._prepare(feedforward, feedback, k, d, most, still)
    world._characters.append(character)
    return character


def _add_bodies(world, figure, root, friction, group, mask, name) -> list[Body]:
    """All bones, in the zero pose: joints take this as theirs."""
    skin, bodies = Material(friction=friction), []
    at: list[np.ndarray] = []
    for k, bone in enumerate(figure.bones):
        at.append(bone.offset * 0.0 if k == 0 else at[figure.parents[k]] + bone.offset)
        bodies.append(
            world.add_body(
                bone.shape, skin, at[k], mass=bone.mass, inertia=bone.inertia, centre=bone.centre,
                name=f"{name}/{bone.name}", kinematic=k == 0 and root == "follow",
                group=group, mask=mask,
            )
        )  # fmt: skip
    return bodies


def _add_joints(world, figure, motion, bodies, gains) -> list[Ball]:
    turned = motion.at(motion.clip.times).turned
    joints = []
    for j, bone in enumerate(figure.bones[1:]):
        parent, child = bodies[figure.parents[j + 1]], bodies[j + 1]
        servo = None
        if gains is not None:
            servo = Servo((0.0, 0.0, 0.0), float(gains[0][j]), float(gains[1][j]))
        limits = _range(bone, turned[:, j])
        joints.append(world.add_joint(Ball(parent, child, child.position, limits, motor=servo)))
    return joints


def _range(bone, turned: np.ndarray) -> SwingTwist | None:
    """The range of the bone, as wide as its clip needs it."""
    size = float(np.linalg.norm(bone.centre))
    if bone.range is None or size < 1e-6:
        return None
    axis = bone.centre / size
    swing, twist = spread(turned, axis)
    swing = max(bone.range[0], swing + SPARE_ANGLE)
    twist = max(bone.range[1], twist + SPARE_ANGLE)
    if swing > WIDEST:
        return None
    return SwingTwist(tuple(axis), swing=swing, twist=(-twist, twist) if twist < WIDEST else None)


def _exclude(world, figure, motion, bodies, self_collide: bool) -> None:
    """Bones that meet, or overlap somewhere in the clip, pass through each other."""
    count = len(bodies)
    if self_collide:
        pairs = overlapping_pairs(figure, motion)
    else:
        pairs = {(a, b) for a in range(count) for b in range(a + 1, count)}
    for a, b in sorted(pairs):
        world.exclude(bodies[a], bodies[b])


def _start(figure: Figure, bodies: list[Body], start: Sample) -> None:
    for k, body in enumerate(bodies):
        body.position = start.position[0, k]
        body.orientation = start.rotation[0, k]
        body.velocity = start.velocity[0, k]
        body.spin = start.spin[0, k]


class RootPath(NamedTuple):
    """Where the clip has the root after each of n steps, and what it needs there."""

    centre: np.ndarray  # (n, 3) of mass [m]
    turned: np.ndarray  # (n, 4) axes of the bone
    velocity: np.ndarray  # (n, 3) [m/s]
    spin: np.ndarray  # (n, 3) [rad/s]
    residual: np.ndarray  # (n, 6) force [N] and torque [N m] in the middle of each step, its axes


@public
class Character(Settable):
    """A figure that follows a clip; World.add_character() makes one.

    figure, motion   what it is, and what it follows
    torques          of its clip, by inverse dynamics
    bodies           of the bones, in their order
    """

    figure: Figure
    motion: Motion
    torques: Torques
    root: str
    bodies: tuple[Body, ...]
    gains: Gains

    def __init__(
        self,
        world: Any,
        figure: Figure,
        motion: Motion,
        torques: Torques,
        root: str,
        bodies: list[Body],
        joints: list[Ball],
        gains: Gains,
    ) -> None:
        self.figure, self.motion, self.torques = figure, motion, torques
        self.root, self.bodies, self.gains = root, tuple(bodies), gains
        self._world, self._joints = world, joints
        self._first = world.step_count
        self._built: Any = None
        self._muscles: Any = None
        self._noted: Any = None

    # Reading

    @property
    def done(self) -> int:
        """Steps that were run since it came into the world."""
        return max(self._world.step_count - self._first, 0)

    @property
    def times(self) -> np.ndarray:
        """(done,) after each of these steps, since it came into the world [s]."""
        return self._world.dt * np.arange(1, self.done + 1)

    @property
    def error(self) -> np.ndarray:
        """(done, joints) angle between each joint and the clip [rad]."""
        return self._noted.error[: self.done].copy()

    @property
    def torque(self) -> np.ndarray:
        """(done, joints, 3) of the muscles, in the axes of the parent [N m]."""
        return np.einsum("jab,njb->nja", self._frames, self._noted.torque[: self.done])

    @property
    def power(self) -> np.ndarray:
        """(done, joints) that the muscles gave [W]."""
        return self._noted.power[: self.done].copy()

    @property
    def root_error(self) -> np.ndarray:
        """(done, 2) distance [m] and angle [rad] of the root from the clip."""
        return self._noted.root_error[: self.done].copy()

    @property
    def root_force(self) -> np.ndarray:
        """(done, 6) force [N] and torque [N m] on the root, about its centre, world axes."""
        return self._noted.root_force[: self.done].copy()

    @property
    def contact_force(self) -> np.ndarray:
        """(done, bones, 3) of all that touched each bone, but other bones of its own; world axes
        [N]."""
        return self._noted.touch[: self.done].copy()

    @property
    def ground_force(self) -> np.ndarray:
        """(done, feet, 3) of that, on the feet [N]."""
        return self.contact_force[:, list(self.figure.feet)]

    @property
    def slip(self) -> np.ndarray:
        """(done, bones) greatest speed at which what presses on each bone slid on it [m/s]."""
        return self._noted.slip[: self.done].copy()

    def positions(self) -> np.ndarray:
        """(done, bones, 3) of the joints [m]."""
        pose, offset = self._noted.pose[: self.done], self._built.offset[self._muscles.body]
        turned = self.orientations()
        return pose[..., :3] - quaternions.rotate(turned, offset)

    def orientations(self) -> np.ndarray:
        """(done, bones, 4) of the bones' axes."""
        own = self._built.principal_rotation[self._muscles.body]
        return quaternions.product(self._noted.pose[: self.done, :, 3:], quaternions.conjugate(own))

    def body(self, bone: str) -> Body:
        """The body of a bone."""
        return self.bodies[self.figure.index(bone)]

    def fall(self) -> Fall | None:
        """When and why it fell, if it did."""
        return find_fall(self)

    def events(self) -> list[str]:
        """A sentence for each thing to know of the run so far: a fall, feet that slide, joints at
        the end of their range, torques beyond those of people."""
        return find_events(self)

    def summary(self) -> dict[str, float]:
        """Figures of the run so far, by name, units in the names."""
        error, work = np.degrees(self.error), self.power * self._world.dt
        pushed = np.linalg.norm(self.root_force[:, :3], axis=1)
        return {
            "mean_joint_error_deg": float(error.mean()) if error.size else 0.0,
            "worst_joint_error_deg": float(error.max(initial=0.0)),
            "worst_root_error_m": float(self.root_error[:, 0].max(initial=0.0)),
            "muscles_gave_J": float(work[work > 0.0].sum()),
            "muscles_took_J": float(work[work < 0.0].sum()),
            "root_force_mean_N": float(pushed.mean()) if pushed.size else 0.0,
            "root_force_max_N": float(pushed.max(initial=0.0)),
        }

    # Disturbances; pushes are Body.push() of a bone

    def throw(
        self,
        bone: str,
        mass: float = 2.0,
        speed: float = 8.0,
        distance: float = 1.5,
        direction: ArrayLike | None = None,
    ) -> Body:
        """Throw a ball that meets the middle of a bone, where the clip will have it.

        mass       [kg], of a density of 1000 kg/m³
        distance   from which it is thrown [m]
        direction  in which it flies; None: across the way to the left of the root's, level
        """
        index = self.figure.index(bone)
        mass, speed = positive("throw: mass", mass, "kg"), positive("throw: speed", speed, "m/s")
        flight = positive("throw: distance", distance) / speed
        now = self.done * self._world.dt
        # A root that does not follow may be elsewhere than in the clip, by as much as now.
        ahead, here = self.motion.at((now + flight, now)).centre[:, index]
        aim = ahead + (self.body(bone).centre - here)
        way = np.array(
            (0.0, 1.0, 0.0) if direction is None else vector("throw: direction", direction)
        )
        if direction is None:
            across = self.motion.at(now + flight).velocity[0, 0]
            if np.hypot(across[0], across[1]) > 0.1:
                way = np.array((-across[1], across[0], 0.0))
        size = float(np.linalg.norm(way))
        if size == 0.0:
            raise InputError("throw: direction is zero, must point somewhere.")
        velocity = speed * way / size - 0.5 * flight * self._world.gravity
        origin = aim - flight * speed * way / size
        radius = (3.0 * mass / (4.0 * np.pi * 1000.0)) ** (1.0 / 3.0)
        return self._world.throw(
            origin, velocity, float(np.linalg.norm(velocity)), Sphere(radius),
            Material(density=1000.0, friction=0.5),
        )  # fmt: skip

    def load(self, bone: str, mass: float) -> Body:
        """Tie a weight to the middle of a bone; the muscles know nothing of it."""
        held = self.body(bone)
        mass = positive("load: mass", mass, "kg")
        radius = (3.0 * mass / (4.0 * np.pi * 8000.0)) ** (1.0 / 3.0)
        weight = self._world.add_body(
            Sphere(radius), Material(density=8000.0), held.centre, velocity=held.velocity,
            spin=held.spin, mass=mass, group=0, mask=0,
        )  # fmt: skip
        self._world.add_joint(Fixed(held, weight))
        return weight

    def __repr__(self) -> str:
        return f"<Character {self.figure.name!r}, root {self.root}: {self.motion.clip!r}>"

    # Inside

    def _prepare(self, feedforward, feedback, stiffness, damping, most, still) -> None:
        """Tables of the clip at the steps of the world; their last row holds its last pose."""
        dt = self._world.dt
        steps = max(round(self.motion.duration / dt), 1)
        beyond = self.motion.duration + self.motion.clip.dt  # where it stands still
        middle = self.motion.at(np.append((np.arange(steps) + 0.5) * dt, beyond))
        after = self.motion.at(np.append((np.arange(steps) + 1.0) * dt, beyond))
        frames_a: list = [joint.attachment.bases[0] for joint in self._joints]  # type: ignore
        bases = np.reshape([tuple(b) for b in frames_a], (-1, 4))
        self._frames = np.stack(
            [quaternions.rotate(bases, np.eye(3)[k]) for k in range(3)], axis=-1
        )
        back, w = quaternions.conjugate(bases), self.gains.frequency
        frames = self._frames
        tensor = frames.transpose(0, 2, 1) @ hanging_tensors(self.figure) @ frames

        def own(turned):  # a rotation in bone axes, in those of the joints
            return quaternions.product(quaternions.product(back, turned), bases)

        def given(columns, last):  # of the clip in the middle of each step, and what holds its end
            flat = columns.reshape(len(columns), -1)
            found = [np.interp(middle.times[:-1], self.torques.times, c) for c in flat.T]
            return np.vstack((np.reshape(found, (-1, steps)).T, last.reshape(1, -1)))

        torque = given(self.torques.torque, still[0]).reshape(steps + 1, -1, 3)
        residual = given(self.torques.root_force, still[1])
        self._plan = {
            "parent": self.figure.parents[1:].copy(),
            "target": np.ascontiguousarray(quaternions.vectors(own(middle.turned))),
            "speed": np.ascontiguousarray(quaternions.rotate(back, middle.turning)),
            "torque": np.ascontiguousarray(quaternions.rotate(back, torque)),
            "after": np.ascontiguousarray(own(after.turned)),
            "stiffness": stiffness, "damping": damping,
            "tensor": np.ascontiguousarray(tensor.reshape(-1, 9)),
            "rate": np.array((w * w, 2.0 * self.gains.ratio * w)),
            "effort": np.full(len(stiffness), self.gains.effort),
            "root_gain": self._root_gain(most),
            "mode": np.array((ROOTS.index(self.root), feedforward, feedback), np.int64),
        }  # fmt: skip
        self._path = RootPath(
            after.centre[:, 0], after.rotation[:, 0], after.velocity[:, 0], after.spin[:, 0],
            residual,
        )  # fmt: skip
        self._noted = room_for(steps, len(self._joints), len(self.bodies))

    def _root_gain(self, most) -> np.ndarray:
        w, mass = ROOT_FREQUENCY, self.figure.mass
        # About the root the figure is a rod of its height: an inertia of a twelfth of m h².
        tall = mass * 1.7**2 / 12.0
        return np.array((mass * w**2, 2 * mass * w, most[0], tall * w**2, 2 * tall * w, most[1]))

    def _table(self) -> Muscles:
        """The muscles for the arrays as they now are, which an edit of the world makes anew."""
        world = self._world
        built = world._build
        if built is not self._built:
            self._built = built
            rows = np.array([body._row for body in self.bodies], np.int64)
            number = {id(joint): j for j, joint in enumerate(built.joints)}
            joints = np.array([number[id(joint)] for joint in self._joints], np.int64)
            path = self._path
            own = built.principal_rotation[rows[0]]
            turned = quaternions.product(path.turned, own)
            back = quaternions.conjugate(own)
            force = [quaternions.rotate(back, path.residual[:, k : k + 3]) for k in (0, 3)]
            self._bone = np.full(len(world._state.position) + 1, -1, np.int64)
            self._bone[rows] = np.arange(len(rows))
            self._muscles = Muscles(
                body=rows, joint=joints,
                root_pose=np.concatenate((path.centre, turned), axis=1),
                root_twist=np.concatenate((path.velocity, path.spin), axis=1),
                root_force=np.concatenate(force, axis=1),
                origin=np.array(world._origin, np.float64), **self._plan,
            )  # fmt: skip
        return self._muscles

    def _before_step(self) -> None:
        world = self._world
        for body in self.bodies:
            if body._world is None:
                raise InputError(f"{body._name}: was removed; a character needs all of its bones.")
        m, joints, row = self._table(), world._build.model.joints, self.done
        if row >= len(self._noted.error):
            self._noted = grown(self._noted)
        k = min(row, len(m.target) - 1)
        work = world._joint_work
        filled = work.filled if work is not None else np.zeros((0, 15))
        drive_muscles(k, row, m, joints, filled, world._state, world.dt, self._noted)
        if world._recorder is not None:
            world._note("muscles", self._written(m, joints))

    def _written(self, m: Muscles, joints) -> list:
        """What drive_muscles() wrote, for a replay, which has no muscles."""
        state = self._world._state
        parts = (state.force[m.body], state.twist[m.body[:1]], joints.drive[m.joint])
        numbers = np.concatenate([part.ravel() for part in parts])
        return [m.body.tolist(), m.joint.tolist(), b64encode(numbers.tobytes()).decode()]

    def _after_step(self) -> None:
        world, m, row = self._world, self._muscles, self.done - 1
        k = min(row, len(m.target) - 1)
        state, noted = world._state, self._noted
        if world._joint_work is not None:
            rows, joints = world._joint_work.rows, world._build.model.joints
            note_joints(k, row, m, joints, rows, state, world.dt, noted)
        note_poses(k, row, m, state, noted)
        note_contacts(row, world._work, self._bone, world.dt, noted)

    def _kept(self) -> tuple:
        return self._noted.last.copy(), self._noted.push.copy()

    def _take(self, kept: tuple) -> None:
        self._noted.last[:], self._noted.push[:] = kept

    def _take_history(self, done: int, history: dict, before: dict) -> None:
        """What a file kept of `done` steps, and of what was written before the last one."""
        room = max(len(self._plan["target"]), done)
        self._noted = room_for(room, len(self._joints), len(self.bodies))
        for name, rows in history.items():
            getattr(self._noted, name)[:done] = rows
        for name, value in before.items():
            getattr(self._noted, name)[:] = value


def apply_muscles(world, value) -> None:
    """What a recording noted of one step, for its replay."""
    from base64 import b64decode

    bones, numbers, text = value
    built, state = world._synced(), world._state
    joints = built.model.joints
    rows, of = np.array(bones, np.int64), np.array(numbers, np.int64)
    data = np.frombuffer(b64decode(text, validate=True), np.float64)
    count = len(rows)
    fits = data.size == 6 * count + 6 + 12 * len(of)
    if not fits or not count or rows.min() < 0 or rows.max() >= len(state.force):
        raise InputError("the journal has muscles of bodies that are not there.")
    if len(of) and (of.min() < 0 or of.max() >= len(joints.kind)):
        raise InputError("the journal has muscles of joints that are not there.")
    state.force[rows] = data[: 6 * count].reshape(-1, 6)
    state.asleep[rows], state.rest_time[rows] = 0, 0.0
    state.twist[rows[0]] = data[6 * count : 6 * count + 6]
    drives = data[6 * count + 6 :].reshape(-1, 3, 4)
    if len(of):
        joints.drive[of] = drives
        if (joints.drive_mode[of] != 0).any():
            world._joint_work.filled[of] = np.nan
