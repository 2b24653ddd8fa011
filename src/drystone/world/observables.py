"""Observables of a world: contacts with their forces, energy, momentum."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from drystone.constraints import last_step
from drystone.constraints.elliptic_friction import rotate_tangents
from drystone.constraints.laws import law_errors
from drystone.errors import InputError
from drystone.model import capacity
from drystone.model.arrays import DYNAMIC, FIXED
from drystone.model.checks import shown
from drystone.model.rotation import rotation_matrices
from drystone.model.signatures import public
from drystone.steppers.driver import Step
from drystone.world.body import Body, FixedBody
from drystone.world.edits import force_edits, joint_edits

STATUS = np.array(["stick", "slip", "separate"])

# A contact slides if it is this many times faster than the solver's tolerance: below that
# the solver cannot tell sliding from sticking.
SLIP_TOLERANCES = 10.0

SHOWN = 6  # contacts in the repr of a table


@public
class Energy(NamedTuple):
    """[J]. Kinematic bodies do not count."""

    kinetic: float
    # of gravity (zero at the origin of the coordinates), force elements, spring-dampers, servos
    potential: float

    @property
    def total(self) -> float:
        return self.kinetic + self.potential


@public
class Momentum(NamedTuple):
    """Kinematic bodies do not count."""

    linear: np.ndarray  # [kg m/s]
    angular: np.ndarray  # [kg m²/s]


@public
@dataclass(frozen=True)
class ContactTable:
    """The contacts of one step, one row each. World axes, SI units.

    The normal points from A to B. Impulse and force act on B; the opposite acts on A.
    """

    body_a: np.ndarray  # (nc,) index in world.bodies, -1 for the fixed world
    body_b: np.ndarray
    point: np.ndarray  # (nc, 3)
    normal: np.ndarray  # (nc, 3) unit
    tangent1: np.ndarray  # (nc, 3) unit
    tangent2: np.ndarray  # (nc, 3) unit
    gap: np.ndarray  # (nc,) at the start of the step, negative when overlapping
    impulse: np.ndarray  # (nc, 3) on B over the step, world axes [N s]
    impulse_axes: np.ndarray  # (nc, 3) the same along normal, tangent 1, tangent 2
    # (nc, 3) of B seen from A after the step, or of their surfaces; normal, tangent 1, tangent 2
    velocity: np.ndarray
    friction: np.ndarray  # (nc,) coefficient; along tangent 1 if the friction is elliptic
    friction_2: np.ndarray  # (nc,) along tangent 2: the same unless the friction is elliptic
    dt: float
    slip_speed: float  # faster contacts count as slipping
    bodies: tuple[Body, ...]  # world.bodies at that step
    fixed_number: np.ndarray  # (nc,) FixedBody.number of the fixed thing that is touched, else -1
    # (nc, 3) of rolling and spinning friction on B over the step, world axes [N m s]
    torque_impulse: np.ndarray

    def __len__(self) -> int:
        return len(self.gap)

    def __repr__(self) -> str:
        """The first few contacts, one line each."""
        lines = [f"<ContactTable: {len(self)} contacts>"]
        force, status = np.linalg.norm(self.force, axis=1), self.status
        for k in range(min(len(self), SHOWN)):
            a, b = self._name(self.body_a[k]), self._name(self.body_b[k])
            lines.append(
                f"  {a} - {b}: {status[k]}, gap {1e3 * self.gap[k]:.3g} mm, {force[k]:.4g} N"
            )
        return "\n".join(lines + ["  ..."] * (len(self) > SHOWN))

    @property
    def force(self) -> np.ndarray:
        """(nc, 3) on B, the mean over the step, world axes [N]."""
        return self.impulse / self.dt

    @property
    def torque(self) -> np.ndarray:
        """(nc, 3) of rolling and spinning friction on B, the mean over the step [N m]."""
        return self.torque_impulse / self.dt

    @property
    def status(self) -> np.ndarray:
        """(nc,) "stick", "slip" or "separate" (no impulse)."""
        slips = np.hypot(self.velocity[:, 1], self.velocity[:, 2]) > self.slip_speed
        return STATUS[np.where(self.impulse_axes[:, 0] <= 0.0, 2, slips.astype(int))]

    @property
    def name_a(self) -> list[str]:
        return [self._name(b) for b in self.body_a]

    @property
    def name_b(self) -> list[str]:
        return [self._name(b) for b in self.body_b]

    def on(self, body: Body) -> np.ndarray:
        """Sum of all contact forces on `body` (3,) [N]."""
        index, force = self._index(body), self.force
        return force[self.body_b == index].sum(axis=0) - force[self.body_a == index].sum(axis=0)

    def on_fixed(self, fixed: FixedBody) -> np.ndarray:
        """Sum of all contact forces on one thing of the fixed world (3,) [N]."""
        if not isinstance(fixed, FixedBody):
            raise InputError(f"{shown(fixed)} is no fixed thing; give what add_fixed() returned.")
        force = self.force
        on_b = self.body_b == FIXED
        mine = self.fixed_number == fixed.number
        return force[mine & on_b].sum(axis=0) - force[mine & ~on_b].sum(axis=0)

    def between(self, body_a: Body | None, body_b: Body | None) -> np.ndarray:
        """Sum of the forces that `body_a` puts on `body_b` (3,) [N]; None is the fixed world."""
        a, b = (FIXED if x is None else self._index(x) for x in (body_a, body_b))
        force = self.force
        there = (self.body_a == a) & (self.body_b == b)
        back = (self.body_a == b) & (self.body_b == a)
        return force[there].sum(axis=0) - force[back].sum(axis=0)

    def _index(self, body) -> int:
        for index, known in enumerate(self.bodies):
            if known is body:
                return index
        raise InputError(f"{shown(body)} is none of the moving bodies of this step.")

    def _name(self, index):
        return self.bodies[index].name if index >= 0 else "fixed"


def contact_table(world) -> ContactTable:
    """The contacts of the last step of `world`, then those of sleeping bodies; of those that are
    awake none before the first step or after an edit."""
    built = world._synced()
    raw = last_step.contact_arrays(built.model, world._state, world._work, built.ellipses)
    if world._state.asleep.any():
        sleeping = _sleeping_contacts(world, raw.body)
        raw = last_step.ContactArrays(*map(np.concatenate, zip(raw, sleeping, strict=True)))
    frame = raw.frame
    return ContactTable(
        body_a=raw.body[:, 0].copy(),
        body_b=raw.body[:, 1].copy(),
        point=raw.point + np.array(world._origin),
        normal=frame[:, 0].copy(),
        tangent1=frame[:, 1].copy(),
        tangent2=frame[:, 2].copy(),
        gap=raw.gap.copy(),
        impulse=np.einsum("ck,ckx->cx", raw.impulse, frame),
        impulse_axes=raw.impulse.copy(),
        velocity=raw.velocity.copy(),
        friction=raw.friction.copy(),
        friction_2=raw.friction_2.copy(),
        dt=world.dt,
        slip_speed=SLIP_TOLERANCES * world.settings.tolerance,
        bodies=world.bodies,
        fixed_number=_fixed_numbers(world, raw.body, raw.point),
        torque_impulse=raw.torque.copy(),
    )


def _fixed_numbers(world, body: np.ndarray, point: np.ndarray) -> np.ndarray:
    """Of contacts with the fixed world: the number of the thing that is nearest to the point."""
    found = np.full(len(body), -1, np.int64)
    rows = np.flatnonzero((body == FIXED).any(axis=1))
    if len(world._fixed) == 1:
        found[rows] = world._fixed[0].number
    elif len(rows):
        from drystone.world.queries.distance import nearest_fixed

        found[rows] = nearest_fixed(world, point[rows])
    return found


def _sleeping_contacts(world, computed: np.ndarray) -> last_step.ContactArrays:
    """Contacts of sleeping bodies, with the impulses with which they fell asleep.

    A step does not compute them. They are found again, as the step does in which they wake, on a
    copy of the state, and take their impulses from the contact cache.

    computed   (nc, 2) bodies of the contacts of the last step: it may be that which put them to
               sleep
    """
    model, ellipses, asleep = world._build.model, world._build.ellipses, world._state.asleep == 1
    state = capacity.for_new_work(world._state)
    state.asleep[:] = 0
    search = Step(model, state, capacity.allocate(model), world._settings)
    search.run_until("constraints")
    if ellipses is not None:
        rotate_tangents(model, search.state, search.work, ellipses)
    found = last_step.contact_arrays(model, search.state, search.work, ellipses)
    found.velocity[:] = 0.0
    known = np.zeros(len(asleep), dtype=bool)
    known[computed[computed >= 0]] = True
    # -1, the fixed world, reads the last entry.
    moves = np.append(model.bodies.kind == DYNAMIC, False)[found.body]
    sleeps = np.append(asleep & ~known, False)[found.body]
    chosen = (sleeps | ~moves).all(axis=1) & sleeps.any(axis=1)
    return last_step.ContactArrays(*(column[chosen] for column in found))


def worst_contact(world) -> str:
    """Which contact of the last step violates its law most, in words."""
    work = world._work
    p = last_step.last_problem(world._build.model, world._state, work, world._build.ellipses)
    if not p.contact_count:
        return "no contact"
    velocity = p.relative(work.motion.twist)
    velocity[:, 0] += p.bias
    if p.surface is not None:
        velocity[:, 1:] += p.surface
    errors = law_errors(p, work.rows.impulse[: p.contact_count], velocity)
    return contact_name(world, int(np.argmax(errors)))


def contact_name(world, row: int) -> str:
    """Contact of that row of the problem: its number in contacts(), and its two bodies."""
    rows, order = world._work.rows, world._work.contact_list.row_contact
    names = [world._bodies[b].name if b < len(world) else "fixed" for b in rows.body[row]]
    return f"contact {order[row]} ({names[0]} and {names[1]})"


def energy(world) -> Energy:
    """Kinetic and potential energy of all dynamic bodies."""
    built, state = world._synced(), world._state
    free = built.model.bodies.kind == DYNAMIC
    mass, inertia = built.mass[free], built.model.bodies.inertia[free]
    velocity, spin = state.twist[free, :3], _body_axes(state.rotation[free], state.twist[free, 3:])
    kinetic = 0.5 * (mass @ (velocity**2).sum(axis=1) + (inertia * spin**2).sum())
    height = state.position[free] @ world.gravity + np.array(world._origin) @ world.gravity
    stored = force_edits.potential(world) + joint_edits.potential(world)
    return Energy(float(kinetic), float(-mass @ height) + stored)


def momentum(world, about) -> Momentum:
    """Momentum of all dynamic bodies, angular about the point `about`."""
    built, state = world._synced(), world._state
    free = built.model.bodies.kind == DYNAMIC
    linear = built.mass[free, None] * state.twist[free, :3]
    arm = state.position[free] + (np.array(world._origin) - about)
    rotation = rotation_matrices(state.rotation[free])
    spin = np.einsum("bji,bj->bi", rotation, state.twist[free, 3:])
    own = np.einsum("bij,bj->bi", rotation, built.model.bodies.inertia[free] * spin)
    return Momentum(linear.sum(axis=0), (np.cross(arm, linear) + own).sum(axis=0))


def _body_axes(rotation, vectors):
    return np.einsum("bji,bj->bi", rotation_matrices(rotation), vectors)
