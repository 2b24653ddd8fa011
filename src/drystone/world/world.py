"""World: what a user builds and runs. Checks every input and owns the arrays inside."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints import last_step
from drystone.constraints.joint_rows import joint_work_of
from drystone.constraints.joints.joint import Joint
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, ContactSolver, SolveInfo
from drystone.errors import InputError
from drystone.forces.force import Element
from drystone.model import capacity, checks
from drystone.model.arrays import COUNTER_STEP, Model, Settings, State
from drystone.model.checks import choice, did_you_mean, flag, frozen, not_negative, positive
from drystone.model.files import optional_path
from drystone.model.finding import Finding
from drystone.model.frames import fill_outside
from drystone.model.joint_arrays import JointRows
from drystone.model.materials import Material
from drystone.model.signatures import public
from drystone.model.state_hash import hash_state
from drystone.motion.stabilization import drift_settings
from drystone.shapes.part import Shape
from drystone.solvers.dispatch import make_solver
from drystone.solvers.supported_features import require_features
from drystone.steppers import STEPPERS, take_steps, time_stepping
from drystone.steppers.step_report import StepReport
from drystone.world import body_edits, build, force_edits, joint_edits, observables
from drystone.world.body import Body, FixedBody
from drystone.world.dimension import space_of
from drystone.world.new_bodies import make_body, make_fixed
from drystone.world.run import complain, fail, run_world
from drystone.world.unresolved import name_pairs

POLICIES = ("ignore", "warn", "raise")

AnyJoint = TypeVar("AnyJoint", bound=Joint)
AnyForce = TypeVar("AnyForce", bound=Element)


@public
class World:
    """Bodies in contact, and how they are stepped through time.

    dt                  step [s]
    gravity             [m/s²]
    solver              a name in `drystone.solvers.SOLVERS`, or one of its solvers with options
    tolerance           what the solver must reach, on `residual()` [m/s]; None: its own default
    relative_tolerance  of the speed at which the contacts of a large island close: this share of it
                        is added to `tolerance` there; 0: none
    stepper             how time is stepped: "time-stepping"; "implicit" for stiff forces; "event"
                        for steps that end where bodies touch; "verlet" for half steps
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
    ) -> None:
        self._space = space_of(dim)
        gx, gy, gz = self._space.vector("gravity", gravity)
        self._solver = make_solver(solver, tolerance)
        require_features(self._space.features, self._solver)
        self._stepper = choice("stepper", stepper, STEPPERS)
        self._policy = choice("on_nonconverged", on_nonconverged, POLICIES)
        self._settings = Settings(
            dt=positive("dt", dt, "s"),
            gravity_x=gx,
            gravity_y=gy,
            gravity_z=gz,
            tolerance=self._solver.tolerance,
            relative_tolerance=not_negative("relative_tolerance", relative_tolerance),
            max_sweeps=getattr(self._solver, "max_sweeps", 0),
            newton=getattr(self._solver, "newton", 0),
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
        self._implicit_problem = None
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

    def add_body(
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
    ) -> None:
        """Override friction and restitution where these two materials meet.

        friction    one number, or (along, across) the direction that one of the materials has
        """
        given = {"friction": friction, "restitution": restitution}
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
        if self._stale:
            self._sync()
        if self._recorder is not None:
            count = self._recorder.before(count)
        self._state, self._work, report = take_steps(self, count)
        if report.done:
            self._info = name_pairs(self, report.info)
        if self._recorder is not None:
            self._recorder.after(report)
        if report.failed:
            fail(self, report)
        if report.nonconverged and self._policy != "ignore":
            complain(self, report)
        return report

    # Reading

    @property
    def bodies(self) -> tuple[Body, ...]:
        return tuple(self._bodies)

    @property
    def fixed(self) -> tuple[FixedBody, ...]:
        return tuple(self._fixed)

    @property
    def joints(self) -> tuple[Joint, ...]:
        return tuple(self._joints)

    @property
    def forces(self) -> tuple[Element, ...]:
        return tuple(self._forces)

    def __len__(self) -> int:
        return len(self._bodies)

    def __getitem__(self, name: str) -> Body | FixedBody:
        found = self._names.get(name) if isinstance(name, str) else None
        if not found:
            raise InputError(
                f"no body is called {checks.shown(name)}. {did_you_mean(name, self._names)}"
            )
        if len(found) > 1:
            raise InputError(f"{len(found)} bodies are called {name!r}; give each its own name.")
        return found[0]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __repr__(self) -> str:
        return f"<World: {len(self)} bodies, t = {self.time:g} s>"

    @property
    def step_count(self) -> int:
        return 0 if self._state is None else int(self._state.counter[COUNTER_STEP])

    @property
    def time(self) -> float:
        """[s]; the number of steps times dt, so that it never drifts."""
        return self.step_count * self._settings.dt

    @property
    def dt(self) -> float:
        return self._settings.dt

    @property
    def gravity(self) -> np.ndarray:
        s = self._settings
        return frozen((s.gravity_x, s.gravity_y, s.gravity_z))

    @gravity.setter
    def gravity(self, value: ArrayLike) -> None:
        g = self._space.vector("gravity", value)
        self._note("gravity", g)
        self._settings = self._settings._replace(gravity_x=g[0], gravity_y=g[1], gravity_z=g[2])
        build.wake_all(self._state)

    @property
    def dim(self) -> int:
        return self._space.dim

    @property
    def solver(self) -> ContactSolver:
        return self._solver

    @property
    def stepper(self) -> str:
        return self._stepper

    @property
    def on_nonconverged(self) -> str:
        return self._policy

    @property
    def settings(self) -> Settings:
        return self._settings

    @property
    def info(self) -> SolveInfo | None:
        """What the solver said about the last step; None before it."""
        return self._info

    @property
    def model(self) -> Model:
        """The constant arrays. Positions in them are relative to `origin`."""
        return self._synced().model

    @property
    def state(self) -> State:
        """The changing arrays. Writing to them goes past all checks, and past recordings."""
        self._synced()
        return self._state

    @property
    def origin(self) -> np.ndarray:
        """Where the arrays inside have their zero [m]."""
        self._synced()
        return frozen(self._origin)

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) of all bodies, in the order of `bodies` [m]."""
        return self._poses()[0]

    @property
    def orientations(self) -> np.ndarray:
        """(n, 4) of all bodies, w, x, y, z."""
        return self._poses()[1]

    @property
    def centres(self) -> np.ndarray:
        """(n, 3) centres of mass [m]."""
        return self.state.position + np.array(self._origin)

    @property
    def velocities(self) -> np.ndarray:
        """(n, 3) of the centres of mass [m/s]."""
        return self.state.twist[:, :3].copy()

    @property
    def spins(self) -> np.ndarray:
        """(n, 3) [rad/s]."""
        return self.state.twist[:, 3:].copy()

    def contacts(self) -> observables.ContactTable:
        """The contacts of the last step."""
        return observables.contact_table(self)

    def energy(self) -> observables.Energy:
        return observables.energy(self)

    def momentum(self, about: ArrayLike = (0, 0, 0)) -> observables.Momentum:
        """Linear, and angular about the point `about`."""
        return observables.momentum(self, self._space.vector("about", about))

    def problem(self) -> ContactProblem | MatrixProblem:
        """The ContactProblem of the last step; a MatrixProblem if the stepper is implicit."""
        if self._info is None or self._stale:
            raise InputError("no step was made since the world was built or edited; call step().")
        if self._stepper == "implicit":
            return self._implicit_problem
        return last_step.last_problem(
            self._build.model, self._state, self._work, self._build.ellipses, self._joint_work
        )

    def hash(self) -> str:
        """Sixteen hexadecimal digits of the bits of all poses, velocities and sleep flags."""
        return f"{int(hash_state(self.state)):016x}"

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

    def joint_rows(self, joint: Joint) -> JointRows:
        """The rows of `joint` in the last step (model/joint_arrays.py)."""
        return joint_edits.rows_of(self, joint)

    def joint_values(self, joint: Joint) -> np.ndarray:
        """The free coordinates of `joint`, full revolutions counted [rad] or [m]."""
        return joint_edits.values_of(self, joint)

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

    def _poses(self):
        built = self._synced()
        position, orientation = np.empty((len(self), 3)), np.empty((len(self), 4))
        fill_outside(
            self._state.position, self._state.rotation, built.offset, built.principal_rotation,
            self._origin, position, orientation,
        )  # fmt: skip
        return position, orientation

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
        for row, body in enumerate(self._bodies):
            body._row, body._start = row, None
        self._stale, self._elements_stale = False, True
        # When the arrays are made can decide about last digits, so a replay must know.
        self._note("sync", None)

    def _note(self, edit: str, value) -> None:
        if self._recorder is not None:
            self._recorder.note(edit, value)
