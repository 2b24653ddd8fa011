"""Reader of contact problems: our files, those of FCLIB and the text files of Siconos."""

from dataclasses import fields
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse

from drystone.constraints.files.fclib import is_fclib, read_fclib
from drystone.constraints.files.siconos import read_siconos
from drystone.constraints.joint_blocks import JointBlocks
from drystone.constraints.matrix_problem import (
    MATRIX_FORMAT,
    MATRIX_FORMAT_VERSION,
    MatrixProblem,
    local_problem,
)
from drystone.constraints.problem import (
    FORMAT,
    FORMAT_VERSION,
    JOINTS_VERSION,
    OPTIONAL,
    SURFACE_VERSION,
    ContactProblem,
    check_problem,
)
from drystone.errors import InputError
from drystone.model.files import existing_file, read_file
from drystone.model.hdf5 import (
    open_file,
    read_array,
    read_attribute,
    read_integer,
    read_integers,
    read_numbers,
    reading,
)


def load_problem(path) -> ContactProblem | MatrixProblem:
    """The problem in a file of any known kind; all defects are InputErrors that name the file."""
    file = existing_file(path)
    with reading(file, "contact problem"):
        if not h5py.is_hdf5(file):
            return read_siconos(_text(file))
        with open_file(file, file.stat().st_size) as opened:
            return _read_open(opened)


def _text(path: Path) -> str:
    try:
        return read_file(path).decode("ascii")
    except UnicodeDecodeError:
        raise InputError("is neither HDF5 nor a text of numbers.") from None


def _read_open(file) -> ContactProblem | MatrixProblem:
    kind = read_attribute(file, "format", str) if "format" in file.attrs else ""
    if kind == FORMAT:
        version = JOINTS_VERSION if "joints" in file else FORMAT_VERSION
        _check_version(file, SURFACE_VERSION if "surface" in file else version)
        return _read_contacts(file)
    if kind == MATRIX_FORMAT:
        _check_version(file, MATRIX_FORMAT_VERSION)
        return _read_matrix_problem(file)
    if is_fclib(file):
        return read_fclib(file)
    raise InputError("is neither a contact problem of Drystone nor one of FCLIB.")


def _check_version(file, version: int) -> None:
    found = read_attribute(file, "version", int)
    if found != version:
        raise InputError(f"written as version {found}, this Drystone reads version {version}.")


def _read_contacts(file) -> ContactProblem:
    names = [field.name for field in fields(ContactProblem) if field.name != "joints"]
    names = [name for name in names if name in file or name not in OPTIONAL]
    joints = None
    if "joints" in file:
        joints = JointBlocks(*(read_array(file, f"joints/{name}") for name in JointBlocks._fields))
    problem = ContactProblem(**{name: read_array(file, name) for name in names}, joints=joints)
    check_problem(problem)
    return problem


def _read_matrix_problem(file) -> MatrixProblem:
    friction, free = read_numbers(file, "friction"), read_array(file, "free_velocity")
    dim, nc = read_integer(file, "dim"), len(friction)
    if dim not in (2, 3):
        raise InputError(f"dim is {dim}, must be 2 or 3.")
    first, column = read_integers(file, "row_first"), read_integers(file, "column")
    value = read_numbers(file, "value")
    if free.shape != (nc, 3) or len(first) != 3 * nc + 1:
        raise InputError(f"free_velocity and row_first must be those of {nc} contacts.")
    if first[0] != 0 or (np.diff(first) < 0).any() or not first[-1] == len(column) == len(value):
        raise InputError("row_first must rise from 0 to the number of entries.")
    if len(column) and not 0 <= column.min() <= column.max() < 3 * nc:
        raise InputError(f"column holds numbers outside 0 to {3 * nc - 1}.")
    matrix = scipy.sparse.csr_array((value, column, first), shape=(3 * nc, 3 * nc))
    friction_2 = read_numbers(file, "friction_2") if "friction_2" in file else None
    problem = local_problem(3, matrix, free.astype(np.float64).ravel(), friction, friction_2)
    return MatrixProblem(problem.matrix, problem.free_velocity, friction, friction_2, dim)
