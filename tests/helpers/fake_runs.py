"""Runs of the fake study, and hashes of all that they wrote."""

import hashlib
from pathlib import Path

from drystone.rockfall.run.montecarlo import run_study
from fakes import FakeStudy

ROLL = "fakes:roll_many"
COUNT = 90  # six chunks


def run(out, workers=1, resume=False, cluster=None, progress=False, tls=None, **study):
    """Results of a fake study with these fields, in the folder `out`."""
    return run_study(FakeStudy(**study), out, workers, cluster, progress, resume, ROLL, tls)


def digests(folder) -> dict[str, str]:
    """Hashes of all results; a GeoPackage has the date in it, and the manifest the study."""
    folder = Path(folder)
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".gpkg" and path.name != "manifest.json"
    }


def reference_digests(folder) -> dict[str, str]:
    """Of COUNT runs on one worker, never interrupted."""
    run(Path(folder) / "reference", count=COUNT)
    return digests(Path(folder) / "reference")
