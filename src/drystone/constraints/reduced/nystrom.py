"""A robot that nothing touches, by the method of Runge, Kutta and Nyström, of fourth order.

    k1 = q̈(q, v)                            v' = v + h (k1 + 2 k2 + 2 k3 + k4) / 6
    k2 = q̈(q + h v / 2 + h² k1 / 8, v + h k1 / 2)       q' = q + h v + h² (k1 + k2 + k3) / 6
    k3 = q̈(q + h v / 2 + h² k1 / 8, v + h k2 / 2)
    k4 = q̈(q + h v + h² k3 / 2, v + h k3)

[Nystrom1925; Hairer1993, II.14]. k2 and k3 are at one place, so that three quarters of the fourth
evaluation are saved: articulated inertias depend on coordinates alone. Forces are those of joints
(actuators, damping, springs), gravity, and what pushes from outside.

Spins stand in the axes of their link, which turn with it: what a rotation is in two such axes has
h³/12 [ω, ω̇] beside the integral of the spin (Magnus), without which attitudes are of second order.

The end of a chain may crack like a whip, within few steps. h (k1 - k2 - k3 + k4) says what was
missed; where it is more than a share of the rates, the step is taken again in parts.
"""

from math import sqrt

from drystone.constraints.reduced.articulated import forward_dynamics
from drystone.constraints.reduced.dynamics import place_inertias
from drystone.constraints.reduced.kinematics import place_links, step_links
from drystone.jit import kernel
from drystone.jit.vec import cross
from drystone.model.robot_arrays import BALL, FREE, PRISMATIC, REVOLUTE

MISSED, MOST_PARTS = 3e-4, 64.0  # share of the rates from which a step is taken in parts


@kernel
def add_passive(model, q, v, tau):
    """Dampers and springs of the joints, added to `tau`."""
    _add_passive(0, model.parent.shape[0], model, q, v, tau)


@kernel
def _add_passive(lo, hi, model, q, v, tau):
    kinds, first_v, damping, stiffness = model.kind, model.first_v, model.damping, model.stiffness
    for i in range(lo, hi):
        for d in range(first_v[i], first_v[i + 1]):
            tau[d] -= damping[d] * v[d]
            if stiffness[d] > 0.0 and (kinds[i] == REVOLUTE or kinds[i] == PRISMATIC):
                tau[d] -= stiffness[d] * (q[model.first_q[i]] - model.rest[d])


@kernel
def _accelerate(model, q, v, tau, gravity, push, again, work, force, out):
    """q̈ for the rates `v` where links stand, as they did before if `again`; `force` is scratch."""
    lo, hi = work.span[0], work.span[1]
    for d in range(model.first_v[lo], model.first_v[hi]):
        force[d] = tau[d]
    _add_passive(lo, hi, model, q, v, force)
    forward_dynamics(model, v, force, gravity, push, again, work, out)


@kernel
def _follow(model, lo, hi, q, v, h, slope, share, last, rate, out):
    """q after `h` at the rates v + t share slope; `last` is q̈ in the middle, `rate` scratch."""
    kinds, first_v, reach = model.kind, model.first_v, 0.5 * h * share
    for d in range(first_v[lo], first_v[hi]):
        rate[d] = v[d] + reach * slope[d]
    for i in range(lo, hi):
        if kinds[i] == BALL or kinds[i] == FREE:
            d = first_v[i + 1] - 3
            turned = cross((v[d], v[d + 1], v[d + 2]), (last[d], last[d + 1], last[d + 2]))
            for k in range(3):
                rate[d + k] += h * h / 12.0 * turned[k]
    step_links(lo, hi, model, q, rate, h, out)


@kernel
def _missed(model, lo, hi, v, dt, moved, change, last, inner):
    """Size of dt (k1 - k2 - k3 + k4) as a share of the rates, both by what moves with each joint;
    `moved` is k1 + k2 + k3, `change` k1 + 2 k2 + 2 k3, `last` k4."""
    missed, size, first_v = 0.0, 0.0, model.first_v
    for i in range(lo, hi):
        first = first_v[i]
        for d in range(first, first_v[i + 1]):
            weight = 1.0 / inner[d, d - first]
            error = 3.0 * moved[d] - 2.0 * change[d] + last[d]
            gained = dt / 6.0 * (change[d] + last[d])
            missed += weight * error * error
            size += weight * (v[d] * v[d] + gained * gained)
    return dt * sqrt(missed / size) if size > 0.0 else 0.0


@kernel
def _try_step(model, base, q, v, tau, gravity, push, dt, checked, work, scratch):
    """Take the step, and return 1; if `checked`, return in how many parts it should be taken, and
    if that is more than one, do nothing. Links must have been placed at q."""
    nq, nv = q.shape[0], v.shape[0]
    lo, hi = work.span[0], work.span[1]
    first, last = model.first_v[lo], model.first_v[hi]
    stage_q, stage_v, rate = scratch[0, :nq], scratch[1, :nv], scratch[2, :nv]
    slope, force, next_q = scratch[3, :nv], scratch[4, :nv], scratch[1, nv : nv + nq]
    moved, change = scratch[5, :nv], scratch[6, :nv]
    place_inertias(model, work)
    _accelerate(model, q, v, tau, gravity, push, False, work, force, slope)
    for d in range(first, last):
        moved[d], change[d] = slope[d], slope[d]
        stage_v[d] = v[d] + 0.5 * dt * slope[d]
    _follow(model, lo, hi, q, v, 0.5 * dt, slope, 1.0, slope, rate, stage_q)
    place_links(model, base, stage_q, work)
    place_inertias(model, work)
    _accelerate(model, stage_q, stage_v, tau, gravity, push, False, work, force, slope)
    for d in range(first, last):
        moved[d] += slope[d]
        change[d] += 2.0 * slope[d]
        stage_v[d] = v[d] + 0.5 * dt * slope[d]
    _accelerate(model, stage_q, stage_v, tau, gravity, push, True, work, force, slope)
    for d in range(first, last):
        moved[d] += slope[d]
        change[d] += 2.0 * slope[d]
        stage_v[d] = v[d] + dt * slope[d]
    _follow(model, lo, hi, q, v, dt, slope, 1.0, slope, rate, stage_q)
    _follow(model, lo, hi, q, v, dt, moved, 1.0 / 3.0, slope, rate, next_q)
    place_links(model, base, stage_q, work)
    place_inertias(model, work)
    _accelerate(model, stage_q, stage_v, tau, gravity, push, False, work, force, slope)
    if checked:
        missed = _missed(model, lo, hi, v, dt, moved, change, slope, work.inner)
        if missed > MISSED:
            return int(min(1.0 + (missed / MISSED) ** 0.5, MOST_PARTS))
    for k in range(model.first_q[lo], model.first_q[hi]):
        q[k] = next_q[k]
    for d in range(first, last):
        v[d] += dt / 6.0 * (change[d] + slope[d])
    return 1


@kernel
def run_nystrom(model, base, q, v, tau, gravity, push, dt, steps, work, scratch):
    """Advance (q, v) in place by `steps` steps of `dt`, after place_links() at q.

    scratch   (7, nq + nv) rows: coordinates and rates of a stage, rates on the way, accelerations,
              forces, sums of accelerations for q and for v
    """
    for step in range(steps):
        if step > 0:
            place_links(model, base, q, work)
        parts = _try_step(model, base, q, v, tau, gravity, push, dt, True, work, scratch)
        if parts == 1:
            continue
        for _ in range(parts):
            place_links(model, base, q, work)
            _try_step(model, base, q, v, tau, gravity, push, dt / parts, False, work, scratch)
