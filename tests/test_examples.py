"""Every example runs from top to bottom; each ends with its own check."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
@pytest.mark.slow
def test_example_runs(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # what an example writes must not stay in the project
    runpy.run_path(str(path), run_name="__main__")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_checks_itself(path):
    lines = path.read_text().splitlines()
    assert 15 <= len(lines) <= 40
    assert lines[0].startswith('"""')
    assert any(line.lstrip().startswith("assert ") for line in lines)
