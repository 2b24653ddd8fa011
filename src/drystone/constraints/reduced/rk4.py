"""A robot that nothing touches, integrated by the classical Runge-Kutta method of fourth order.

Forces are those of joints (actuators, damping, springs) and gravity. Coordinates follow rates by
the exponential map, quaternions too, each stage from the start of the step.
"""

from drystone.constraints.reduced.articulated import eliminate_links, forward_dynamics
from drystone.constraints.reduced.dynamics import place_inertias
from drystone.constraints.reduced.kinematics import move_links, place_links, step_links
from drystone.jit import kernel
from drystone.model.robot_arrays import PRISMATIC, REVOLUTE


@kernel
def add_passive(model, q, v, tau):
    """Dampers and springs of the joints, added to `tau`."""
    _add_passive(0, model.parent.shape[0], model, q, v, tau)


@kernel
def _add_passive(lo, hi, model, q, v, tau):
    for i in range(lo, hi):
        kind = model.kind[i]
        for d in range(model.first_v[i], model.first_v[i + 1]):
            tau[d] -= model.damping[d] * v[d]
            if (kind == REVOLUTE or kind == PRISMATIC) and model.stiffness[d] > 0.0:
                tau[d] -= model.stiffness[d] * (q[model.first_q[i]] - model.rest[d])


@kernel
def accelerate(model, base, q, v, tau, gravity, push, work, force, out):
    """q̈ of a robot at (q, v) under `tau` and its passive forces; `force` is scratch (nv,)."""
    lo, hi = work.span[0], work.span[1]
    for d in range(model.first_v[lo], model.first_v[hi]):
        force[d] = tau[d]
    _add_passive(lo, hi, model, q, v, force)
    place_links(model, base, q, work)
    place_inertias(model, work)
    move_links(model, v, work)
    eliminate_links(model, work)
    forward_dynamics(model, v, force, gravity, push, work, out)


@kernel
def run_rk4(model, base, q, v, tau, gravity, push, dt, steps, work, scratch):
    """Advance (q, v) in place by `steps` steps of `dt`.

    scratch   (6, nq + nv) rows: stage coordinates, stage rates, accelerations, forces, sums
    """
    nq, nv = q.shape[0], v.shape[0]
    lo, hi = work.span[0], work.span[1]
    first_q, last_q = model.first_q[lo], model.first_q[hi]
    first_v, last_v = model.first_v[lo], model.first_v[hi]
    stage_q, stage_v, mean_v = scratch[0, :nq], scratch[1, :nv], scratch[2, :nv]
    slope, force, change = scratch[3, :nv], scratch[4, :nv], scratch[5, :nv]
    for _ in range(steps):
        for d in range(first_v, last_v):
            stage_v[d], mean_v[d], change[d] = v[d], 0.0, 0.0
        for k in range(first_q, last_q):
            stage_q[k] = q[k]
        for stage in range(4):
            accelerate(model, base, stage_q, stage_v, tau, gravity, push, work, force, slope)
            weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
            reach = dt if stage == 2 else 0.5 * dt
            for d in range(first_v, last_v):
                mean_v[d] += weight * stage_v[d]
                change[d] += weight * slope[d]
            if stage < 3:
                step_links(lo, hi, model, q, stage_v, reach, stage_q)
                for d in range(first_v, last_v):
                    stage_v[d] = v[d] + reach * slope[d]
        step_links(lo, hi, model, q, mean_v, dt, stage_q)
        for k in range(first_q, last_q):
            q[k] = stage_q[k]
        for d in range(first_v, last_v):
            v[d] += dt * change[d]
