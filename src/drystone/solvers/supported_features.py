"""Supported features of each solver: declared by the solver, enforced here, and documented.

A solver declares `supports`, a set of names out of FEATURES. What it does not name raises
UnsupportedFeature. `python -m drystone.solvers.supported_features`, in the root of the sources,
writes the table into docs/solvers/README.md.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from drystone import solvers
from drystone.constraints.matrix_problem import MatrixProblem
from drystone.errors import InputError, UnsupportedFeature
from drystone.solvers import FEATURES, MEANING

# What rows of a step have in arrays.ContactRows.special, in that order.
SPECIAL = ("rolling", "surfaces")

DOCUMENT = Path("docs") / "solvers" / "README.md"
BEGIN = "<!-- table: written by python -m drystone.solvers.supported_features -->"
END = "<!-- end of table -->"


def features(problem) -> tuple[str, ...]:
    """What `problem` asks of a solver. Restitution is not seen here: it is in the bias, or in q."""
    asked = []
    if problem.joints is not None:
        asked.append("joints")
        if (problem.joints.lower[problem.joints.row >= 0] > -np.inf).any():
            asked.append("limits")
    if getattr(problem, "friction_2", None) is not None:
        asked.append("elliptic")
    if getattr(problem, "surface", None) is not None:
        asked.append("surfaces")
    if getattr(problem, "dim", 3) == 2:
        asked.append("2d")
    if isinstance(problem, MatrixProblem):
        asked.append("matrix")
    return tuple(asked)


def require(problem, solver) -> None:
    """Raise UnsupportedFeature if `solver` cannot honour something in `problem`."""
    require_features(features(problem), solver)


def require_features(asked: Iterable[str], solver) -> None:
    """Raise UnsupportedFeature if `solver` does not support all features named in `asked`."""
    missing = [feature for feature in asked if feature not in solver.supports]
    if not missing:
        return
    able = [name for name, cls in solvers.SOLVERS.items() if not set(missing) - cls.supports]
    fix = f"Solvers that do: {', '.join(able)}." if able else "No solver does."
    what = " and ".join(MEANING[feature] for feature in missing)
    raise UnsupportedFeature(f"{solver_name(solver)} does not support {what}. {fix}")


def solver_name(solver) -> str:
    """The name under which the kind of `solver` is registered, or that of its class."""
    names = [name for name, cls in solvers.SOLVERS.items() if type(solver) is cls]
    return names[0] if names else getattr(solver, "name", type(solver).__name__)


def capabilities() -> dict[str, dict[str, bool]]:
    """{solver: {feature: whether it is supported}} of all solvers and FEATURES."""
    table = {}
    for name, cls in solvers.SOLVERS.items():
        unknown = sorted(cls.supports - set(FEATURES))
        if unknown:
            raise InputError(f"{name} supports {', '.join(unknown)}, which is none of FEATURES.")
        table[name] = {feature: feature in cls.supports for feature in FEATURES}
    return table


def markdown_table(folder: Path) -> str:
    """The table as Markdown; names of solvers that have a page in `folder` link to it."""
    lines = [f"| solver | law | {' | '.join(FEATURES)} |", "|---" * (2 + len(FEATURES)) + "|"]
    for name, row in capabilities().items():
        label = f"[`{name}`]({name}.md)" if (folder / f"{name}.md").exists() else f"`{name}`"
        marks = ["yes" if row[feature] else "no" for feature in FEATURES]
        lines.append(f"| {label} | {solvers.SOLVERS[name]().law} | {' | '.join(marks)} |")
    return "\n".join(lines)


def with_table(text: str, folder: Path) -> str:
    """`text` with the table of today between its two marks."""
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise InputError(f"{DOCUMENT}: the marks around the table are missing.")
    return f"{before}{BEGIN}\n\n{markdown_table(folder)}\n\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(with_table(DOCUMENT.read_text(), DOCUMENT.parent))
