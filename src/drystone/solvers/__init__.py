"""Contact solvers by name. To add one: write its file, add its line here, run the tests."""

from drystone.solvers.auto import Auto
from drystone.solvers.nsgs import Nsgs

SOLVERS = {
    "auto": Auto,
    "nsgs": Nsgs,
}
