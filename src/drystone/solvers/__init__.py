"""Contact solvers by name. To add one: write its file, add its line here, run the tests."""

from drystone.solvers.nsgs import Nsgs
from drystone.solvers.prox import Prox

SOLVERS = {
    "nsgs": Nsgs,
    "prox": Prox,
}
