"""World: what a user builds and runs. Checks every input and owns the arrays inside."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints.joint_rows import joint_work_of
from drystone.constraints.joints.joint import Joint
from drystone.constraints.problem import ContactSolver, SolveInfo
from drystone.forces.force import Element
from drystone.model import capacity
from drystone.model.arrays import Settings, State
from drystone.model.checks import choice, flag, frozen, not_negative, positive
from drystone.model.files import optional_path
from drystone.model.finding import Finding
from drystone.model.materials import Material
from drystone.model.settable import check_settable
from drystone.model.signatures import public
from drystone.motion.stabilization import drift_settings
from drystone.shapes.part import Shape
from drystone.solvers.dispatch import make_solver
from drystone.solvers.reduced.scratch import robot_scratch_of
from drystone.solvers.supported_features import require_features
from drystone.steppers import STEPPERS, take_steps, time_stepping
from drystone.steppers.step_report import StepReport
from drystone.world import build
from drystone.world.body import Body, FixedBody
from drystone.world.bulk import Bulk
from drystone.world.character.adding import WithCharacters, after_step, before_step
from drystone.world.dimension import space_of
from drystone.world.edits import body_edits, force_edits, joint_edits, solver_edits
from drystone.world.fork import refuse_forked
from drystone.world.hands import Hands
from drystone.world.io.snapshot import Snapshots
from drystone.world.new_bodies import make_body, make_fixed
from drystone.world.queries.verbs import Queries
from drystone.world.readings import Readings
from drystone.world.robots.adding import WithRobots, place_fresh
from drystone.world.run import complain, fail, run_world
from drystone.world.unresolved import name_pairs

POLICIES = ("ignore", "warn", "raise")

AnyJoint = TypeVar("AnyJoint", bound=Joint)
AnyForce = TypeVar("AnyForce", bound=Element)


@public
class World(Bulk, Queries, Snapshots, Readings, Hands, WithRobots, WithCharacters):
    """Bodies in contact, and how they are stepped through time.

    dt                  step [s]
    gravity             [m/s²]
    solver              a name in `drystone.solvers.SOLVERS`, or one of its solvers with options;
                        "penalty", or Penalty with options, for penalty forces
    tolerance           what the solver must reach, on `residual()` [m/s]; None: its own default
    relative_tolerance  of the motion of a large island, of what closes or changes there: this share
                        is added to `tolerance`; 0: none
    budget              a hard bound of the solve in a step: its sweeps, or a time like "2 ms"
    stepper             how time is stepped: "time-stepping"; "implicit" for stiff forces; "event"
                        for steps that end where bodies touch; "verlet" for half steps; "rk4"
                        for penalty forces
    drift               of joints and contacts: "default", "none", "baumgarte" or "post"
    baumgarte           the share of an error that becomes velocity [1/s]; None: a fifth in a step
    sleeping            whether islands that have come to rest stop being computed
    dim                 3, or 2 for the x-z plane (docs/two_dimensions.md)
    sleep_speed         a body slower than this everywhere may fall asleep [m/s]
    sleep_delay         after having been slow for so long [s]
    bounce_speed        impacts slower than this do not bounce [m/s]
    skin                gaps and overlaps below this share of a body's radius count as touching
    ccd                 continuous collision detection of fast bodies (collision/ccd.py)
    on_nonconverged     "ignore" (`info` says it), "warn" or "raise" when a solve stops short
    checkpoint_folder   where a failed run leaves its last good step; None: the current folder
    """

    checkpoint_folder: Path | None = None

    def __init__(  # these, and those of add_body(), are public keywords: more than 12 are fine
        self,
        dt: float = 1 / 240,
        gravity: ArrayLike = (0, 0, -9.81),
        solver: str | ContactSolver = "auto",
        tolerance: float | None = None,
        stepper: str = "time-stepping",
        sleeping: bool = True,
        dim: int = 3,
        on_nonconverged: str = "ignore",
        sleep_speed: float = Settings().sleep_speed,
        sleep_delay: float = Settings().sleep_delay,
        bounce_speed: float = Settings().bounce_speed,
        skin: float = Settings().skin,
        checkpoint_folder: str | Path | None = None,
        drift: str = "default",
        baumgarte: float | None = None,
        ccd: bool = True,
        relative_tolerance: float = Settings().relative_tolerance,
        budget: int | str | None = None,
    ) -> None:
        self._space = space_of(dim)
        gx, gy, gz = self._space.vector("gravity", gravity)
        self._solver = make_solver(solver, tolerance)
        require_features(self._space.features, self._solver)
        self._stepper = solver_edits.stepper_of(self._solver, choice("stepper", stepper, STEPPERS))
        self._policy = choice("on_nonconverged", on_nonconverged, POLICIES)
        self._settings = Settings(
            dt=positive("dt", dt, "s"),
            gravity_x=gx,
            gravity_y=gy,
            gravity_z=gz,
            **solver_edits.settings_of(self._solver),
            **solver_edits.budget_settings(budget, self._solver, self._stepper),
            relative_tolerance=not_negative("relative_tolerance", relative_tolerance),
            sleeping=int(flag("sleeping", sleeping)),
            sleep_speed=not_negative("sleep_speed", sleep_speed),
            sleep_delay=not_negative("sleep_delay", sleep_delay),
            bounce_speed=not_negative("bounce_speed", bounce_speed),
            skin=not_negative("skin", skin),
            ccd=int(flag("ccd", ccd)),
        )
        self._settings = drift_settings(self._settings, drift, baumgarte)
        self.checkpoint_folder = optional_path(checkpoint_folder, "checkpoint_folder")
        self._bodies: list[Body] = []
        self._fixed: list[FixedBody] = []
        self._names: dict[str, list] = {}
        self._next_number = 0
        self._joints: dict = {}  # joint -> whether its two bodies may touch each other
        self._forces: list = []
        self._robots: list = []
        self._characters: list = []
        self._inputs = object()  # another one whenever a joint or a surface was set in place
        self._kept_inputs: Any = None  # see snapshot.inputs_of()
        self._excluded: set[tuple[int, int]] = set()  # numbers of bodies, lower first
        self._pairs: dict = {}  # (Material, Material) -> what differs from the rule
        self._mass_frames: dict = {}
        self._recorder: Any = None
        self._info: SolveInfo | None = None
        self._unspent = 0.0  # seconds that run() was asked for and that were no full step
        # The arrays; made when they are first needed, remade after an edit.
        self._stale = True
        self._origin = (0.0, 0.0, 0.0)
        self._build: build.Build | None = None
        self._state: State | None = None
        self._work = None
        self._loop = time_stepping.Loop()
        self._joint_work = None
        self._robot_work = None
        self._implicit_problem = None
        self._penetration = None  # what the penalty method knows of the shapes
        self._elements = None  # the table of the forces, made when it is first needed
        self._elements_stale = True

    # Building

    def add_fixed(
        self,
        shape: Shape,
        material: Material | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0),
        name: str | None = None,
        group: int = 1,
        mask: int = -1,
        angle: float | None = None,
    ) -> FixedBody:
        """Add a part of the fixed world: ground, walls, terrain. It touches, but never moves."""
        fixed = make_fixed(self, shape, material, (position, orientation, angle), name, group, mask)
        self._note("add_fixed", fixed)
        self._fixed.append(fixed)
        return self._register(fixed)

    def add_body(  # see __init__()
        self,
        shape: Shape,
        material: Material | None = None,
        position: ArrayLike = (0, 0, 0),
        orientation: ArrayLike = (1, 0, 0, 0),
        velocity: ArrayLike = (0, 0, 0),
        spin: ArrayLike = (0, 0, 0),
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        centre: ArrayLike | None = None,
        name: str | None = None,
        kinematic: bool = False,
        group: int = 1,
        mask: int = -1,
        angle: float | None = None,
    ) -> Body:
        """Add a moving body.

        mass        [kg]; None: volume times the material's density
        inertia     about the centre of mass, in the shape's axes [kg m²]: three moments or 3x3;
                    None: that of the shape filled evenly with the mass
        centre      centre of mass in the shape's frame [m]; None: that of the filled shape
        kinematic   moves with the velocity it is given; nothing pushes it
        group, mask bits: what it is, and what it touches. Two things touch if each one's mask
                    has a bit of the other's group.
        angle       in two dimensions, in place of the orientation: about y [rad]
        """
        body = make_body(
            self, shape, material, (position, orientation, angle), (velocity, spin),
            (mass, inertia, centre), name, kinematic, group, mask,
        )  # fmt: skip
        self._note("add_body", body)
        self._bodies.append(body)
        return self._register(body)

    def remove(self, body: Body | FixedBody | Joint | Element) -> None:
        """Take a body, a fixed thing, a joint or a force out of the world."""
        if isinstance(body, Joint):
            joint_edits.remove_joint(self, body)
            return
        if isinstance(body, Element):
            force_edits.remove_force(self, body)
            return
        body_edits.remove_body(self, body)

    def exclude(self, body_a: Body, body_b: Body) -> None:
        """Never let these two bodies touch each other."""
        body_edits.exclude(self, body_a, body_b)

    def set_pair(
        self,
        material_a: Material,
        material_b: Material,
        friction: float | tuple[float, float] | None = None,
        restitution: float | None = None,
        rolling_friction: float | None = None,
        spinning_friction: float | None = None,
    ) -> None:
        """Override friction and restitution where these two materials meet.

        friction    one number, or (along, across) the direction that one of the materials has
        rolling_friction, spinning_friction   arms [m], see Material
        """
        given = {
            "friction": friction, "restitution": restitution,
            "rolling_friction": rolling_friction, "spinning_friction": spinning_friction,
        }  # fmt: skip
        body_edits.set_pair(self, material_a, material_b, given)

    def add_joint(self, joint: AnyJoint, collide: bool = False) -> AnyJoint:
        """Add a joint (Ball, Hinge, ...) between two bodies; returns it.

        collide     whether the two bodies may touch each other
        """
        return joint_edits.add_joint(self, joint, collide)

    def add_force(self, force: AnyForce) -> AnyForce:
        """Add a force, one of `drystone.forces.FORCES`; returns it."""
        return force_edits.add_force(self, force)

    # Running

    @property
    def gravity(self) -> np.ndarray:
        """[m/s²]; can be set while the world runs."""
        s = self._settings
        return frozen((s.gravity_x, s.gravity_y, s.gravity_z))

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        g = self._space.vector("gravity", value)
        self._note("gravity", g)
        self._settings = self._settings._replace(gravity_x=g[0], gravity_y=g[1], gravity_z=g[2])
        build.wake_all(self._state)

    @property
    def solver(self) -> Any:
        """The contact solver; can be set while the world runs, by name or with its options."""
        return self._solver

    @solver.setter
    def solver(self, value: str | ContactSolver) -> None:
        solver_edits.set_solver(self, make_solver(value))

    @property
    def tolerance(self) -> float:
        """What the solver must reach [m/s]; can be set while the world runs."""
        return self._settings.tolerance

    @tolerance.setter
    def tolerance(self, value: float) -> None:
        solver_edits.set_solver(self, make_solver(self._solver, value))

    def step(self) -> SolveInfo:
        """Advance by one dt; returns what the contact solver says about it."""
        self._advance(1)
        return self._info

    def run(
        self,
        seconds: float,
        progress: bool = False,
        callback: "Callable[[World], object] | None" = None,
    ) -> SolveInfo | None:
        """Advance by `seconds`, in full steps; what is left over counts in the next run.

        progress    show a progress bar on stderr
        callback    called as callback(world) after every step; if it returns True the run ends

        Ctrl-C stops between two steps and leaves the world as it then is.
        """
        run_world(self, seconds, progress, callback)
        return self._info

    def _advance(self, count: int) -> StepReport:
        """Up to `count` steps; returns the report of the engine."""
        refuse_forked(self)
        if self._stale:
            self._sync()
        if self._characters:  # their muscles act anew in every step
            count = min(count, 1)
            before_step(self)
        if self._recorder is not None:
            count = self._recorder.before(count)
        self._state, self._work, report = take_steps(self, count)
        if report.done:
            self._info = name_pairs(self, report.info)
        if self._recorder is not None:
            self._recorder.after(report)
        if self._characters:
            after_step(self, report.done)
        if report.failed:
            fail(self, report)
        if report.nonconverged and self._policy != "ignore":
            complain(self, report)
        return report

    def __setattr__(self, name: str, value: Any) -> None:
        if name[0] != "_":
            check_settable(self, name)
        object.__setattr__(self, name, value)

    def check(self) -> list[Finding]:
        """What looks suspicious, before it runs: list of Finding(severity, object, what, fix)."""
        from drystone.world.check.world import check_world

        return check_world(self)

    def save(self, path: str | Path) -> None:
        """Write everything to the HDF5 file `path`; `World.load` continues bit for bit."""
        from drystone.world.io.checkpoint import save_world

        save_world(self, path)

    @staticmethod
    def load(path: str | Path) -> "World":
        """The world that `save` wrote."""
        from drystone.world.io.checkpoint import load_world

        return load_world(path)

    def joint_changed(self, joint: Joint) -> None:
        """After limits, motors or friction of `joint` were changed."""
        joint_edits.joint_changed(self, joint)

    def force_changed(self, force: Element) -> None:
        """After a number or the position of `force` was changed."""
        force_edits.force_changed(self, force)

    # Inside

    def _register(self, thing):
        self._names.setdefault(thing.name, []).append(thing)
        self._next_number += 1
        self._stale = True
        return thing

    def _index_of(self, body) -> int:
        return self._bodies.index(body) if self._stale else body._row

    def _synced(self) -> "build.Build":
        if self._stale:
            self._sync()
        return self._build

    def _sync(self):
        """Make the arrays, or remake them after an edit; bits of what was not edited stay."""
        if self._state is None or not len(self._build.numbers):
            self._origin = build.choose_origin(self._bodies, self._fixed)
        built = build.build_model(self)
        self._state = build.build_state(self, built)
        self._build = built
        self._work = capacity.allocate(built.model)
        self._joint_work = joint_work_of(built.model.joints, built.model.bodies)
        self._robot_work = robot_scratch_of(built.model, self._joint_work)
        for row, body in enumerate(self._bodies):
            body._row, body._start = row, None
        self._stale, self._elements_stale = False, True
        place_fresh(self)
        # When the arrays are made can decide about last digits, so a replay must know.
        self._note("sync", None)

    def _note(self, edit: str, value) -> None:
        if self._recorder is not None:
            self._recorder.note(edit, value)
