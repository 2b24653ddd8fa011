"""The guide names every entry of a study file, every preset and every distribution there is."""

import re
from pathlib import Path

import pytest

from drystone import rockfall
from drystone.rockfall.study import distributions, schema
from drystone.rockfall.terrain.soils import SOILS

GUIDE = Path(__file__).parents[2] / "docs" / "rockfall.md"
TEXT = GUIDE.read_text()
PARTS = {
    "[terrain]": schema.Terrain,
    "[materials]": schema.Materials,
    "[materials.classes.NAME]": schema.MaterialClass,
    "[[materials.regions]]": schema.RegionPart,
    "[materials.texture]": schema.TexturePart,
    "[[rocks]]": schema.RockPart,
    "[[sources]]": schema.SourcePart,
    "[[barriers]]": schema.BarrierPart,
    "[[forest]]": schema.ForestPart,
    "[[check_lines]]": schema.CheckLinePart,
    "[design]": schema.DesignPart,
    "[runs]": schema.Runs,
    "[output]": schema.Output,
}


@pytest.mark.parametrize("part", PARTS)
def test_entries_are_those_of_the_models(part):
    row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{part}` |"))
    written = set(re.findall(r"`([a-z_0-9]+)`", row.split("|")[2]))
    known = {field.alias or name for name, field in PARTS[part].model_fields.items()}
    assert written == known - {"classes", "regions", "texture"}  # parts of their own


def test_presets_are_those_of_the_source():
    written = dict(re.findall(r"^\| `([a-z0-9]+:[a-z0-9-]+)` \| ([^|]+) \|$", TEXT, re.MULTILINE))
    assert written == {name: soil.what for name, soil in SOILS.items()}


def test_distributions_are_those_of_the_source():
    table = [line for line in distributions.__doc__.splitlines() if line.startswith("|")]
    assert len(table) == 12
    assert "\n".join(table) in TEXT


def test_public_names_are_there_and_the_guides_use_no_others():
    """What a guide names below drystone.rockfall can be imported from there."""
    assert all(getattr(rockfall, name) is not None for name in rockfall.__all__)
    for path in GUIDE.parent.glob("rockfall*.md"):
        named = re.findall(r"drystone\.rockfall\.([A-Za-z_]+)", path.read_text())
        assert set(named) <= set(rockfall.__all__), path.name
