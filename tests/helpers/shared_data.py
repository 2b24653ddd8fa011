"""Where the data of others lie; tests that read them are skipped where they do not.

They are no part of the repository: problems of FCLIB and Siconos, records of ADAMS, scanned meshes
and elevation models. Each says in one line what is skipped; `pytest --strict-data` fails instead.
tests/data holds small problems of our own, which are there for everybody.
"""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("DRYSTONE_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
PROBLEMS = DATA / "problems" / "friction"


def needs_data(path: Path, what: str):
    """The mark of tests that read `path`; `what` names what is lost if it is not there."""
    return pytest.mark.needs_data(path, what)


def data_files(folder: Path, pattern: str = "*") -> list[Path]:
    """The files of `folder` to parametrize with, or one that is not there."""
    return sorted(folder.glob(pattern)) or [folder / "none"]


PROBLEM_FILES = data_files(PROBLEMS)
needs_problems = needs_data(PROBLEMS, "contact problems of FCLIB and Siconos")
