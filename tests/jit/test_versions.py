"""Versions of Numba and NumPy outside the tested range are refused, in one sentence."""

import re
import tomllib
from pathlib import Path

import pytest

import drystone as ds
from drystone.jit.versions import ANYWAY, TESTED, check_versions

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    monkeypatch.delenv(ANYWAY, raising=False)


def text(bound):
    return ".".join(map(str, bound))


@pytest.mark.parametrize("name", TESTED)
def test_the_bounds_are_accepted_and_what_lies_beyond_is_refused(name, monkeypatch):
    low, high = TESTED[name]
    for inside in (low, high):
        check_versions({name: text(inside) + ".3"})
        check_versions({name: text(inside) + ".0rc1"})
    below = (low[0], low[1] - 1) if low[1] else (low[0] - 1, 99)
    for outside in (below, (high[0], high[1] + 1), (high[0] + 1, 0)):
        with pytest.raises(ds.DrystoneError, match=f"{name} {text(outside)}.0 is installed"):
            check_versions({name: text(outside) + ".0"})
    monkeypatch.setenv(ANYWAY, "1")
    check_versions({name: "99.0"})


@pytest.mark.parametrize("name", TESTED)
def test_the_bounds_are_those_of_the_package_and_of_the_constraints(name):
    low, high = TESTED[name]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    above = text((high[0], high[1] + 1))
    assert f"{name}>={text(low)},<{above}" in project["dependencies"]
    for file, bound in (("oldest", low), ("newest", high)):
        pins = (ROOT / "constraints" / f"{file}.txt").read_text()
        assert re.search(rf"^{name}=={text(bound)}\.", pins, re.M), (file, name)


def test_every_dependency_has_both_bounds_and_both_pins():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for requirement in project["dependencies"]:
        name = re.match(r"[a-z0-9]+", requirement).group()
        assert ">=" in requirement and ",<" in requirement, requirement
        for file in ("oldest", "newest"):
            pins = (ROOT / "constraints" / f"{file}.txt").read_text()
            assert re.search(rf"^{name}==", pins, re.M), (file, name)
