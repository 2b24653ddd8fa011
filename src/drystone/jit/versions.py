"""Versions of Numba and NumPy that Drystone was tested with.

Tables, stages and the cache use parts of Numba that are not its public interface and change without
notice. `make test-versions` runs the tests of them with the oldest and the newest of the range.
"""

import os

import numba
import numpy

from drystone.errors import DrystoneError

# First and last minor version, both included. The bounds in pyproject.toml are the same.
TESTED = {"numba": ((0, 60), (0, 68)), "numpy": ((1, 26), (2, 4))}
ANYWAY = "DRYSTONE_ANY_VERSION"


def check_versions(installed=None) -> None:
    """Refuse versions outside the tested range, unless $DRYSTONE_ANY_VERSION is set."""
    if os.environ.get(ANYWAY, "0") not in ("", "0"):
        return
    installed = installed or {"numba": numba.__version__, "numpy": numpy.__version__}
    for name, version in installed.items():
        (low, high), number = TESTED[name], tuple(map(int, version.split(".")[:2]))
        if not low <= number <= high:
            first, last = (".".join(map(str, bound)) for bound in (low, high))
            above = f"{high[0]}.{high[1] + 1}"
            raise DrystoneError(
                f"{name} {version} is installed, Drystone is tested with {first} to {last}: "
                f"pip install '{name}>={first},<{above}', or set {ANYWAY}=1 to try it."
            )
