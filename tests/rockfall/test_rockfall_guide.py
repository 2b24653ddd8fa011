"""The guide names every entry of a study file, every preset and every distribution there is."""

import re
from pathlib import Path

import pytest

from drystone.rockfall import distributions, study_file
from drystone.rockfall.soils import SOILS

GUIDE = Path(__file__).parents[2] / "docs" / "rockfall.md"
TEXT = GUIDE.read_text()
PARTS = {
    "[terrain]": study_file.Terrain,
    "[materials]": study_file.Materials,
    "[materials.classes.NAME]": study_file.MaterialClass,
    "[[materials.regions]]": study_file.RegionPart,
    "[materials.texture]": study_file.TexturePart,
    "[[rocks]]": study_file.RockPart,
    "[[sources]]": study_file.SourcePart,
    "[[barriers]]": study_file.BarrierPart,
    "[[forest]]": study_file.ForestPart,
    "[[check_lines]]": study_file.CheckLinePart,
    "[design]": study_file.DesignPart,
    "[runs]": study_file.Runs,
    "[output]": study_file.Output,
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
