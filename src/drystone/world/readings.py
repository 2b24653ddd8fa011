"""What can be read of a world: its bodies, arrays, contacts, energy. The reading half of World."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from drystone.constraints import last_step
from drystone.constraints.joints.joint import Joint
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.constraints.problem import ContactProblem, SolveInfo
from drystone.errors import InputError
from drystone.forces.force import Element
from drystone.model import checks
from drystone.model.arrays import COUNTER_STEP, Model, Settings, State
from drystone.model.checks import did_you_mean, frozen
from drystone.model.joint_arrays import JointRows
from drystone.model.state_hash import hash_state
from drystone.world import build, observables
from drystone.world.body import Body, FixedBody
from drystone.world.edits import joint_edits


class Readings:
    """What World reads from its lists and arrays; nothing here changes them."""

    _bodies: list[Body]
    _fixed: list[FixedBody]
    _names: dict[str, list]
    _joints: dict
    _forces: list
    _settings: Settings
    _solver: Any
    _state: State | None
    _info: SolveInfo | None
    _build: build.Build | None
    _origin: tuple
    _space: Any
    _stepper: str
    _policy: str
    _stale: bool
    _work: Any
    _joint_work: Any
    _implicit_problem: Any

    def _synced(self) -> build.Build:
        raise NotImplementedError

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

    def __iter__(self) -> Iterator[Body]:
        """The moving bodies, as in `bodies`."""
        return iter(tuple(self._bodies))

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
    def dim(self) -> int:
        return self._space.dim

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

    def joint_rows(self, joint: Joint) -> JointRows:
        """The rows of `joint` in the last step (model/joint_arrays.py)."""
        return joint_edits.rows_of(self, joint)

    def joint_values(self, joint: Joint) -> np.ndarray:
        """The free coordinates of `joint`, full revolutions counted [rad] or [m]."""
        return joint_edits.values_of(self, joint)
