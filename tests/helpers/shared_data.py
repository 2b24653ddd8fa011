"""Where the data of other people lie; tests that read them are skipped where they do not."""

import os
from pathlib import Path

DATA = Path(os.environ.get("DRYSTONE_DATA", Path(__file__).resolve().parents[3] / "shared/data"))
PROBLEMS = DATA / "problems" / "friction"
PROBLEM_FILES = sorted(PROBLEMS.iterdir()) if PROBLEMS.is_dir() else []
