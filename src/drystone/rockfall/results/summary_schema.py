"""What statistics.json and layout.json of a folder of results hold, checked when they are read."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from drystone.errors import InputError

LARGEST = 1e18  # no length, velocity or energy of a rock is larger; a damaged number may be
Coordinate = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Figure = float | None  # JSON has no NaN: null stands for it


class Entry(BaseModel):
    """More entries may come with later versions; those here are what a report reads."""

    model_config = ConfigDict(extra="allow", strict=True)


class Percentile(Entry):
    value: Figure
    low: Figure
    high: Figure
    count: int
    enough: bool
    statement: str


class Quantity(Entry):
    count: int
    mean: Figure
    max: Figure
    median: Percentile
    p90: Percentile
    p95: Percentile
    p99: Percentile


class ReachAngle(Entry):
    min: Figure
    mean: Figure
    p1: Percentile
    p5: Percentile


class RunFigures(Entry):
    count: int
    reasons: dict[str, int]
    runout_m: Quantity
    drop_m: Quantity
    duration_s: Quantity
    mass_kg: Quantity
    max_speed_m_s: Quantity
    max_energy_kJ: Quantity  # noqa: N815  names of the file
    max_height_m: Quantity
    reach_angle_deg: ReachAngle


class DesignRow(Entry):
    v_m_s: Figure
    h_m: Figure
    m_kg: Figure
    E_kJ: Figure


class Place(Entry):
    name: str
    speed_m_s: Quantity
    energy_kJ: Quantity  # noqa: N815
    height_m: Quantity
    design: dict[Literal["good", "poor", "study"], DesignRow]


class Verification(Entry):
    allowed_E_kJ: Figure  # noqa: N815
    needed_h_m: Figure
    energy_ok: bool
    height_ok: bool


class BarrierFigures(Place):
    kind: str
    height_m_nominal: Figure
    capacity_kJ: Figure  # noqa: N815
    reached: int
    hit: int
    stopped: int
    passed: int
    overtopped: int
    share_stopped: Figure
    taken_kJ: Quantity  # noqa: N815
    verification: Verification | None = None


class Shadow(Entry):
    min: Figure


class LineFigures(Place):
    crossed: int
    share_crossed: float
    shadow_angle_deg: Shadow


class Statistics(Entry):
    runs: RunFigures
    barriers: list[BarrierFigures]
    lines: list[LineFigures]


class NamedLine(Entry):
    name: str
    points: Annotated[
        list[Annotated[list[Coordinate], Field(min_length=2, max_length=2)]], Field(min_length=1)
    ]


class HazardRaster(Entry):
    name: str
    unit: str
    text: str


class Layout(Entry):
    lines: list[NamedLine]
    barriers: list[NamedLine]
    hazard: list[HazardRaster] | None = None
    materials: list[str] | None = None  # by the codes of the raster `material`
    forest: list[Annotated[list[Coordinate], Field(min_length=4, max_length=4)]] | None = None
    # x, y, diameter and, but in older results, height [m]
    trees: list[Annotated[list[Coordinate], Field(min_length=3, max_length=4)]] | None = None


def read_json(path: Path, model: type[Entry]) -> dict:
    """The content of a JSON file of results, as plain data, if it is what the model says."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        model.model_validate(content)
    except OSError as error:
        raise damaged(path, error.strerror or str(error)) from None
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "it"
        raise damaged(path, f"{place}: {first['msg'].lower()}") from None
    except (ValueError, RecursionError):
        raise damaged(path, "it is not JSON in UTF-8") from None
    return content


def damaged(path: Path, why: object) -> InputError:
    """One sentence on a file of results that cannot be read."""
    reason = " ".join(str(why).split()).rstrip(".")[:200]
    return InputError(
        f"{path} is missing or damaged ({reason}). Restore it, or run the study again in another "
        "folder."
    )
