"""Checks of a contact problem that a user hands in: compiled code trusts its arrays."""

from dataclasses import fields, replace

import numpy as np
import scipy  # its matrices are loaded when they are used, for they take long

from drystone.constraints.joint_blocks import JointBlocks
from drystone.constraints.matrix_problem import MatrixProblem, check_matrix_problem
from drystone.constraints.problem import OPTIONAL, ContactProblem, check_problem
from drystone.errors import InputError
from drystone.model.checks import float_array, integer, shown

# Kinds of the arrays of a ContactProblem that are no float64.
INTEGERS = ("body", "slab_first", "group_first")


def check_given(
    problem: ContactProblem | MatrixProblem, who: str
) -> ContactProblem | MatrixProblem:
    """`problem` as compiled code takes it: its arrays C-contiguous. InputError if it is none."""
    if isinstance(problem, MatrixProblem):
        return _check_matrix(problem)
    if not isinstance(problem, ContactProblem):
        raise InputError(f"{who}: {shown(problem)} is no ContactProblem, such as world.problem().")
    if problem.joints is not None and not isinstance(problem.joints, JointBlocks):
        raise InputError(f"joints is {shown(problem.joints)}, must be JointBlocks, or None.")
    names = [field.name for field in fields(problem) if field.name != "joints"]
    _check_kinds(problem, names)
    check_problem(problem)
    return _laid_out(problem, names)


def impulses_of(problem: ContactProblem | MatrixProblem, value, who: str = "impulse") -> np.ndarray:
    """`value` as a fresh (nb, 3) array of finite floats."""
    impulse, shape = float_array(who, value), (problem.block_count, 3)
    if impulse.shape != shape or not np.isfinite(impulse).all():
        raise InputError(f"{who} must hold {shape[0]} x 3 finite numbers.")
    return impulse


def _check_kinds(problem, names) -> None:
    for name in names:
        array, kind = getattr(problem, name), np.int32 if name in INTEGERS else np.float64
        if array is None and name in OPTIONAL:
            continue
        if not isinstance(array, np.ndarray) or array.dtype != kind:
            raise InputError(f"{name} is {shown(array)}, must be an array of {kind.__name__}.")


def _laid_out(problem, names):
    """`problem` with copies of those of its arrays that are not C-contiguous.

    Their shapes are known to be right: a broadcast array of one number can claim terabytes.
    """
    arrays = {name: getattr(problem, name) for name in names}
    copies = {
        name: np.ascontiguousarray(array)
        for name, array in arrays.items()
        if array is not None and not array.flags.c_contiguous
    }
    return replace(problem, **copies) if copies else problem


def _check_matrix(problem: MatrixProblem) -> MatrixProblem:
    if not scipy.sparse.issparse(problem.matrix) or problem.matrix.format != "csr":
        raise InputError(f"matrix is {shown(problem.matrix)}, must be a scipy.sparse.csr_array.")
    names = ("free_velocity", "friction", "friction_2")
    _check_kinds(problem, names)
    if problem.friction.ndim != 1 or problem.matrix.dtype != np.float64:
        raise InputError("matrix and friction must hold float64, friction one for each contact.")
    check_matrix_problem(problem)
    nc = problem.contact_count
    trace = problem.matrix.diagonal().reshape(nc, 3).sum(axis=1)
    if nc and not trace.min() > 0.0:
        raise InputError(
            f"matrix: contact {trace.argmin()} cannot be pushed apart, the trace of its diagonal "
            f"block is {trace.min():g}, must be > 0."
        )
    integer("dim", problem.dim, 2, 3)
    return _laid_out(problem, names)
