"""The documentation site builds without a warning, and has an entry for every public name."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import drystone as ds
from drystone.solvers import SOLVERS

ROOT = Path(__file__).parents[1]
NEEDED = ("mkdocs", "material", "mkdocstrings")

pytestmark = pytest.mark.slow  # building the site takes half a minute


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} not installed: pip install 'drystone[docs]'")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


def public_names():
    """(name, where it is defined) of all that has an entry in the reference."""
    for module in (ds, ds.lcp, ds.rockfall):
        for name in module.__all__:
            thing = getattr(module, name)
            if hasattr(thing, "__qualname__"):
                yield f"{module.__name__}.{name}", f"{thing.__module__}.{thing.__qualname__}"
    for name, solver in SOLVERS.items():
        yield name, f"{solver.__module__}.{solver.__qualname__}"
    yield "SOLVERS", "drystone.solvers.SOLVERS"


def anchors(site):
    return {
        anchor
        for page in (site / "api").glob("*.html")
        for anchor in re.findall(r'id="([\w.]+)"', page.read_text())
    }


def test_every_public_name_has_an_entry(site):
    there = anchors(site)
    missing = {name: where for name, where in public_names() if where not in there}
    assert not missing


def test_members_have_entries(site):
    there = anchors(site)
    for member in ("World.add_body", "World.run", "World.positions"):
        assert f"drystone.world.world.{member}" in there
    assert "drystone.constraints.joints.hinge.Hinge.set" in there  # of its base
    assert "drystone.shapes.box.Box.x" in there


def test_arguments_in_columns_become_tables(site):
    assert "<td><code>bounce_speed</code></td>" in (site / "api/world.html").read_text()


def test_nothing_is_loaded_from_elsewhere(site):
    """Pages can be read without a network: no script, style, font or picture of another host."""
    for page in site.rglob("*.html"):
        loaded = re.findall(
            r'<(?:script|img|link)\b[^>]*?(?:src|href)="(https?:[^"]+)"', page.read_text()
        )
        assert not loaded, page


def test_links_to_sources_lead_to_copies(site):
    text = (site / "start.html").read_text()
    target = re.search(r'href="(files/examples/sliding_block\.py\.txt)"', text)
    assert target and (site / target[1]).is_file()
