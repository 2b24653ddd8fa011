"""What a case of a fuzz family is, and what it can come to."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# What is no finding. "no package": a package that others have is not installed here, so that the
# case says nothing.
ENDINGS = ("result", "refused", "no package")


class Misbehaviour(Exception):  # noqa: N818  what a case has seen, told to the worker
    """Something that is neither a result nor a refusal, such as a body below the ground."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(text)
        self.kind = kind


class Outcome(NamedTuple):
    """How a case ended."""

    number: int
    group: str  # the part of its family that it belongs to: a row of the table
    kind: str  # of ENDINGS, or what was found: "exception", "crash", "hang", "memory" ...
    text: str = ""  # of a finding: what was called, and what came of it
    place: str = ""  # of a finding: by which equal ones are counted as one
    seconds: float = 0.0
    megabytes: float = 0.0  # peak of the process

    @property
    def is_finding(self) -> bool:
        return self.kind not in ENDINGS


@dataclass
class Case:
    """One case while it runs."""

    rng: np.random.Generator
    context: Any  # what prepare() has made, for all cases of a process
    folder: Path  # a folder of its own, empty
    group: str = ""
    notes: list[str] = field(default_factory=list)  # what is done, for the reader of a finding

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass(frozen=True)
class Family:
    """Cases of one kind."""

    prepare: Callable[[Path], Any]  # once in a process, with a folder for what cases share
    run: Callable[[Case], None]  # returns, raises a DrystoneError, or Misbehaviour
    batch: int  # cases of one process
    megabytes: float  # limit of the process's peak


def generator_of(seed: int, family: str, number: int) -> np.random.Generator:
    """Random numbers of one case, whichever came before it."""
    return np.random.default_rng([seed, *family.encode(), number])
