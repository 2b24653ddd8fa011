"""Contact solvers by name. To add one: write its file, add its line here, run the tests."""

from typing import Any

from drystone.solvers.auto import Auto
from drystone.solvers.ffd.solver import Ffd
from drystone.solvers.fischer_newton import FischerNewton
from drystone.solvers.lemke import Lemke
from drystone.solvers.nsgs import Nsgs
from drystone.solvers.pgs import Pgs
from drystone.solvers.pgs_sm import PgsSm
from drystone.solvers.prox import Prox
from drystone.solvers.prox_newton import ProxNewton

SOLVERS: dict[str, type[Any]] = {
    "auto": Auto,
    "nsgs": Nsgs,
    "prox-newton": ProxNewton,
    "prox": Prox,
    "pgs": Pgs,
    "pgs-sm": PgsSm,
    "fischer-newton": FischerNewton,
    "lemke": Lemke,
    "ffd": Ffd,
}
