"""stepper="rk4": forces integrated by the classical Runge-Kutta method, for solver="penalty".

Contact points are found once a step (collision/penetration/), impacts are taken as impulses at its
start (solvers/penalty/impacts.py), and then positions and velocities of all bodies and robots are
integrated under gravity, the forces of the world and those of the contacts, evaluated four times
(PENALTY IV). Islands, the contact list and sleep are those of every other step.
"""

import numpy as np

from drystone import timestep
from drystone.collision.active_pairs import select_near
from drystone.collision.penetration.search import find_points, reserve_slots
from drystone.collision.penetration.tables import build_tables, build_work
from drystone.constraints.coulomb import contact_error, velocity_at
from drystone.errors import UnsupportedFeature
from drystone.forces.evaluate import Forces
from drystone.forces.free_velocity import free_twists
from drystone.jit import kernel
from drystone.jit.vec import rotation_between
from drystone.model.arrays import (
    DYNAMIC,
    END_OF_STEP,
    INFO_CONTACTS,
    INFO_IMPACTS,
    INFO_NEAR,
    INFO_WANTED,
)
from drystone.motion.sleeping import wake_touched
from drystone.solvers.penalty.forces import (
    SLIP,
    SPRINGS,
    SYSTEM,
    contact_wrenches,
    fill_patches,
    place_bodies,
    remember,
)
from drystone.solvers.penalty.impacts import Impacts, some_impact
from drystone.solvers.penalty.motion import (
    STAGE_TIMES,
    STAGE_WEIGHTS,
    accelerate_bodies,
    add_slopes,
    step_from,
)
from drystone.solvers.penalty.patch import new_patches
from drystone.solvers.penalty.stick import sticking_forces
from drystone.steppers.driver import Step
from drystone.steppers.robot_motion import RobotMotion, rows_of
from drystone.timestep import DONE, MORE_SLOTS

FRICTION = {"slip": SLIP, "spring": SPRINGS, "system": SYSTEM}
STAGES = 4


def take_steps(world, count: int):
    """One step of `world`: state, work and report."""
    state, work, report = PenaltyStep(world).run()
    return state, work, report._replace(info=report.info._replace(method=""))


class Geometry:
    """What the method needs to know of the shapes of a world, for as long as it is not edited."""

    def __init__(self, world):
        self.build, self.triangles = world._build, world._solver.triangles
        parts = [part for thing in world._fixed for part in thing._shape.parts()]
        owners = [thing for thing in world._fixed for _ in thing._shape.parts()]
        for body in world._bodies:
            pieces = body._shape.parts()
            parts += pieces
            owners += [body] * len(pieces)
        self.tables = build_tables(parts, [o.name for o in owners], 1.0 / self.triangles)
        self.scratch = build_work(self.tables)
        n = len(world._bodies)
        dynamic = world._build.model.bodies.kind == DYNAMIC
        self.mass = np.zeros((n + 1, 2))
        self.mass[:n] = np.where(dynamic, world._build.mass, 0.0)[:, None]
        # What is fixed, or moves whatever pushes it, may have to bear all of the others.
        self.mass[self.mass[:, 0] == 0.0, 0] = self.mass[:, 0].sum()
        for placed in world._robots:
            self.mass[rows_of(placed), 0] = placed.robot.mass
        self.patches = new_patches(0, 0)

    def fits(self, world) -> bool:
        return self.build is world._build and self.triangles == world._solver.triangles

    def room(self, pairs: int, contacts: int):
        """The patches, with room for so many."""
        p = self.patches
        if len(p.mode) < pairs or len(p.depth) < contacts:
            self.patches = new_patches(max(2 * pairs, len(p.mode)), max(2 * contacts, len(p.depth)))
        return self.patches


def geometry_of(world) -> Geometry:
    """That of `world`, made when it is first needed and after an edit."""
    found = world._penetration
    if found is None or not found.fits(world):
        _refuse(world)
        found = world._penetration = Geometry(world)
    return found


def _refuse(world) -> None:
    """Raise UnsupportedFeature for what penalty forces cannot honour."""
    if world._joints:
        joint = next(iter(world._joints))
        raise UnsupportedFeature(
            f"solver 'penalty' does not support joints between bodies, such as {joint!r}: they are "
            f"no forces. Describe the mechanism as a ds.Robot, or use solver 'auto'."
        )
    if world._build.ellipses is not None:
        raise UnsupportedFeature(
            "solver 'penalty' does not support elliptic friction. Use solver 'prox'."
        )
    if world._settings.drift:
        raise UnsupportedFeature(
            "solver 'penalty' does not support drift='baumgarte', 'post' or 'none': its springs "
            "are what undoes overlaps. Leave drift out."
        )


@kernel
def worst_error(count, rows, twist):
    """Residual of Coulomb's law, as constraints/laws.py measures it [m/s]."""
    worst = 0.0
    for r in range(count):
        un, u1, u2 = velocity_at(r, rows.body, rows.frame, rows.arm, twist)
        rho = 3.0 / (rows.delassus[r, 0] + rows.delassus[r, 3] + rows.delassus[r, 5])
        error = contact_error(
            rows.impulse[r, 0], rows.impulse[r, 1], rows.impulse[r, 2], un + rows.bias[r], u1, u2,
            rows.friction[r], rho,
        )  # fmt: skip
        worst = max(worst, error)
    return worst


@kernel
def store_impulses(count, row_contact, sign, frame, dt, force, impulse):
    """Mean forces of the contacts as impulses of the rows, on B, in their axes."""
    for r in range(count):
        c = row_contact[r]
        for j in range(3):
            along = 0.0
            for k in range(3):
                along += frame[r, 3 * j + k] * force[c, k]
            impulse[r, j] = sign[c] * dt * along


@kernel
def store_motion(state, position, rotation, twist, dt, motion):
    """The displacement, and spin after it, that lead to these poses."""
    for b in range(position.shape[0]):
        p = (
            state.rotation[b, 0], state.rotation[b, 1], state.rotation[b, 2], state.rotation[b, 3]
        )  # fmt: skip
        q = (rotation[b, 0], rotation[b, 1], rotation[b, 2], rotation[b, 3])
        turn = rotation_between(p, q)
        for k in range(3):
            motion.move[b, k] = (position[b, k] - state.position[b, k]) / dt
            motion.move[b, 3 + k] = turn[k] / dt
            motion.mean[b, k], motion.later[b, k] = motion.move[b, 3 + k], twist[b, 3 + k]
        for k in range(6):
            motion.twist[b, k] = twist[b, k]
        motion.scheme[b] = END_OF_STEP


class PenaltyStep(Step):
    """A step of Runge-Kutta under penalty forces."""

    def __init__(self, world):
        external = Forces(world) if world._forces else None
        self.geometry = geometry_of(world)
        super().__init__(
            world._build.model, world._state, world._work, world._settings, None, external
        )
        self.by = world._solver
        self.placed = [RobotMotion(placed, world) for placed in world._robots]
        self.robots: list[RobotMotion] = []  # those that are awake
        self.by_row: dict[int, RobotMotion] = {}
        self.owner_side = np.zeros(0, np.int32)
        self.gravity = np.array([getattr(self.settings, f"gravity_{k}") for k in "xyz"])

    # Contact

    def narrowphase(self):
        log, shapes, kind = self.work.log, self.model.shapes, self.model.bodies.kind
        while True:
            near, count = self.work.near, int(log.info[INFO_NEAR])
            wanted = reserve_slots(near, count, self.by.points)
            if wanted > len(near.slot):
                log.info[INFO_WANTED] = wanted
                return MORE_SLOTS
            self.owner_side = np.zeros(len(near.pair), np.int32)
            find_points(
                self.geometry.tables, self.geometry.scratch, self.state.pair, self.work.boxes.pose,
                shapes.radius, self.by.points, near, count, self.owner_side,
            )  # fmt: skip
            joined = self.work.graph.joined
            if not wake_touched(shapes.body, kind, joined, self.state, near, count):
                return DONE
            free_twists(self.model.bodies, self.state, self.settings, self.work.motion)
            log.info[INFO_NEAR] = select_near(shapes, kind, self.state, self.work.boxes, near)

    def impacts(self):
        """They are part of solve(): no other stage needs them apart."""

    def rattle(self):
        """There are no joints."""

    # Motion

    def solve(self):
        self._begin()
        info = self.work.log.info
        if some_impact(self.patches, self.pairs):
            info[INFO_IMPACTS] = self._strike()
        if self.by.friction == "system":
            self._find_sticking()
        self._integrate()
        self._report()

    def _begin(self) -> None:
        """Stage arrays at the start of the step, and the patches."""
        state, work = self.state, self.work
        n = len(state.position)
        near, self.pairs = work.near, int(work.log.info[INFO_NEAR])
        count = int(work.log.info[INFO_CONTACTS])
        self.held = state.asleep.copy()
        self.position, self.rotation = state.position.copy(), state.rotation.copy()
        self.twist, self.place = np.zeros((n + 1, 6)), np.zeros((n + 1, 12))
        self.twist[:n] = state.twist
        self.acceleration, self.turn = np.zeros((n, 6)), np.zeros((n, 4))
        self.wrench, self.force = np.zeros((n + 1, 6)), work.motion.force
        self.robots = [robot for robot in self.placed if not self.held[robot.rows].all()]
        self.by_row = {row: robot for robot in self.robots for row in robot.rows.tolist()}
        for robot in self.robots:
            self.held[robot.rows] = 1
        self._arrange()
        self.patches = self.geometry.room(self.pairs, count)
        options = np.array([
            self.by.proportional, self.by.derivative, self.by.integral, self.by.forgetting,
            float(self.by.per_kilogram), float(self.by.limit_gains),
        ])  # fmt: skip
        fill_patches(
            self.model.shapes, self.model.pairing, state, near, self.pairs, self.owner_side,
            self.geometry.mass, options, self.settings.dt, self.place, self.patches,
        )  # fmt: skip
        if self.robots:
            self._free_links()

    def _arrange(self) -> None:
        """Frames of all bodies at this stage."""
        place_bodies(self.position, self.rotation, self.place)
        for robot in self.robots:
            robot.place(self.place, self.twist)

    def _free_links(self) -> None:
        """What links would do without contacts: for the error measures."""
        place, twist = self.place.copy(), self.twist.copy()
        none = np.zeros_like(self.wrench)
        for robot in self.robots:
            robot.accelerate(self.gravity, place, self.force, none)
            robot.v = robot.start_v + self.settings.dt * robot.slope
            robot.place(place, twist)
            robot.v = robot.start_v.copy()
            self.work.motion.free[robot.rows, :6] = twist[robot.rows]
            robot.place(self.place, self.twist)  # its scratch must be that of the first stage again

    def _strike(self) -> int:
        """Impacts, which change the velocities at the start of the step."""
        near, patches = self.work.near, self.patches
        pair = self.state.pair[near.pair[: self.pairs]]
        material = self.model.shapes.material[pair]
        restitution = self.model.pairing.restitution[material[:, 0], material[:, 1]]
        impacts = Impacts(
            patches, self.pairs, self.place, self.twist, self.model.bodies, self.by_row
        )
        return impacts.resolve(restitution, self.settings.bounce_speed, self.settings.dt)

    def _find_sticking(self) -> None:
        """patches.stick, from the motion without friction."""
        patches, dt = self.patches, self.settings.dt
        friction = patches.friction.copy()
        patches.friction[:] = 0.0
        self._accelerate(0, 0.0)
        patches.friction[:] = friction
        count = int(patches.first[self.pairs])
        pressed = np.zeros(count, bool)
        pair = np.repeat(np.arange(self.pairs), np.diff(patches.first[: self.pairs + 1]))
        pressed[:] = (patches.pressure[:count] > 0.0) & (friction[pair] > 0.0)
        at = np.flatnonzero(pressed)
        if not len(at):
            return
        later = self.twist.copy()
        later[:-1] += dt * self.acceleration
        for robot in self.robots:
            robot.v = robot.start_v + dt * robot.slope
            robot.place(self.place.copy(), later)
            robot.v = robot.start_v.copy()
            robot.place(self.place, self.twist)
        body = patches.body[pair[at]]
        axes = self.place[:, 3:].reshape(-1, 3, 3)
        points = self.place[body[:, 1], :3] + np.einsum(
            "mij,mj->mi", axes[body[:, 1]], patches.on_other[at]
        )
        normals = np.einsum("mij,mj->mi", axes[body[:, 0]], patches.normal[pair[at]])
        speed = [later[b, :3] + np.cross(later[b, 3:], points - self.place[b, :3]) for b in body.T]
        patches.stick[at] = sticking_forces(
            points, normals, body, speed[1] - speed[0], self.place, self.model.bodies,
            self.by_row, dt,
        )  # fmt: skip

    def _accelerate(self, stage: int, weight: float) -> None:
        """Accelerations of bodies and robots at this stage."""
        state, force = self.state, self.force
        if stage > 0 and self.external is not None:
            n = len(state.position)
            self.external.ahead = STAGE_TIMES[stage] * self.settings.dt
            here = state._replace(
                position=self.position, rotation=self.rotation, twist=self.twist[:n].copy()
            )
            force = state.force + self.external.total(here)
        self.wrench[:] = 0.0
        contact_wrenches(
            self.pairs, self.place, self.twist, FRICTION[self.by.friction],
            STAGE_TIMES[stage] * self.settings.dt, weight, self.patches, self.wrench,
        )  # fmt: skip
        accelerate_bodies(
            self.model.bodies, self.held, self.place, self.twist, force, self.wrench, self.gravity,
            self.acceleration,
        )  # fmt: skip
        for robot in self.robots:
            robot.accelerate(self.gravity, self.place, force, self.wrench)

    def _integrate(self) -> None:
        n, dt = len(self.position), self.settings.dt
        start = (self.state.position, self.state.rotation, self.twist[:n].copy())
        sums = np.zeros((n, 13))
        here = (self.position, self.rotation, self.twist)
        for stage in range(STAGES):
            weight = STAGE_WEIGHTS[stage]
            self._accelerate(stage, weight)
            add_slopes(
                weight, self.position, self.rotation, self.twist, self.acceleration, self.turn,
                sums, self.held,
            )  # fmt: skip
            for robot in self.robots:
                robot.add_slope(weight)
            if stage + 1 < STAGES:
                reach = STAGE_TIMES[stage + 1] * dt
                step_from(start, reach, self.twist, self.turn, self.acceleration, here, self.held)
                for robot in self.robots:
                    robot.go_on(reach, robot.v, robot.slope)
                self._arrange()
        v, turn, acceleration = (np.ascontiguousarray(x) for x in np.split(sums, (3, 7), axis=1))
        step_from(start, dt, v, turn, acceleration, here, self.held)
        for robot in self.robots:
            robot.go_on(dt, robot.sum_v, robot.sum_a)
        self._arrange()

    def _report(self) -> None:
        """Impulses of the rows, and how well they obey Coulomb's law."""
        work, patches, dt = self.work, self.patches, self.settings.dt
        count = int(work.log.info[INFO_CONTACTS])
        counts = np.diff(patches.first[: self.pairs + 1])
        sign = np.repeat(patches.sign[: self.pairs], counts)
        rows = work.rows
        store_impulses(
            count, work.contact_list.row_contact, sign, rows.frame, dt, patches.mean, rows.impulse
        )
        rows.impact_impulse[:count] = 0.0
        n = len(self.position)
        work.motion.twist[:n, :6] = self.twist[:n]
        log = work.log
        timestep.measure_step(log.info, log.measures, rows, work.motion)
        self.solved(STAGES, worst_error(count, rows, work.motion.twist), "penalty")

    def displace(self):
        store_motion(
            self.state, self.position, self.rotation, self.twist, self.settings.dt,
            self.work.motion,
        )  # fmt: skip

    def ccd(self):
        if not self.robots:  # their links cannot be stopped one by one
            super().ccd()

    def finalize(self):
        status = timestep.finalize(self._solid, self.state, self.settings, self.work, None, None)
        if status == DONE:
            remember(
                self.model.shapes.body, self.model.bodies.kind, self.state, self.work.near,
                self.pairs, self.by.forgetting, self.patches,
            )  # fmt: skip
            for robot in self.robots:
                robot.accept(self.state)
        return status
