"""The comparison with Siconos: a sentence where it is missing, our measure where it is not."""

import io
import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from drystone.bench import siconos
from drystone.bench.peer_overlap import has_modules
from drystone.errors import InputError
from hand_built import box_stack

SYSTEM = Path("/usr/bin/python3")


def run(folder, python, json_file=None):
    screen, results = (Console(file=io.StringIO(), width=200) for _ in range(2))
    siconos.run_siconos(folder, python, 1e-8, json_file, screen, results)
    return screen.file.getvalue(), results.file.getvalue()


def test_missing_siconos_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(siconos, "has_modules", lambda python, names: ["scipy"])
    screen, results = run(tmp_path, Path(sys.executable))
    assert "Siconos is not installed" in screen
    assert results == ""


def test_missing_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder"):
        run(tmp_path / "nowhere", Path(sys.executable))


def test_rows_and_median(tmp_path, monkeypatch):
    """Siconos replaced by figures: two seconds for PROX, one for ADMM, nothing for NSGS."""
    seconds = {"PROX": {"seconds": 2.0, "error": 1e-9}, "ADMM": {"seconds": 1.0, "error": 2e-9}}
    monkeypatch.setattr(siconos, "has_modules", lambda python, names: names)
    monkeypatch.setattr(siconos, "run_method", lambda p, m, *rest: seconds.get(m, {}))
    box_stack([1.0] * 6).save(tmp_path / "stack.h5")
    box_stack([1.0]).save(tmp_path / "few.h5")  # not more than 20 contacts
    _, results = run(tmp_path, SYSTEM, tmp_path / "rows.json")
    (row,) = json.loads((tmp_path / "rows.json").read_text())
    assert row["best"] == "ADMM"
    assert row["done"]
    assert row["error"] <= 1e-8
    assert row["ratio"] == pytest.approx(1e3 / row["auto"])
    assert "stack" in results
    assert "median of 1 problems" in results


def test_siconos_solves_the_same_problem(tmp_path):
    """Six boxes: its impulses obey the law by our measure as well."""
    if not SYSTEM.exists() or len(has_modules(SYSTEM, ["siconos", "scipy"])) < 2:
        pytest.skip("Siconos is not installed for the Python of the system.")
    problem = box_stack([1.0] * 6)
    siconos.save_for_siconos(problem, tmp_path / "problem.npz")
    row = siconos.run_method(problem, "PROX", 1e-8, SYSTEM, tmp_path)
    assert row["said"]
    assert row["error"] <= 1e-7
    assert row["seconds"] > 0.0
