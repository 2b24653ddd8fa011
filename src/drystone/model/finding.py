"""Finding: one result of a check of a world."""

from typing import NamedTuple

from drystone.model.signatures import public


@public
class Finding(NamedTuple):
    severity: str  # "error": will not work; "warning": probably a mistake; "hint": know this
    object: str  # name of the body, joint, material or setting
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.object}: {self.what} {self.fix}"
