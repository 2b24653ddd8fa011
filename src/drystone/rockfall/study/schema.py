"""What may stand in a study file, part by part: frozen models that refuse what they do not know.

Names in the file carry their unit (`height_m`); in Python the same things are called without it
(`height`), for inside all is SI.
"""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    model_validator,
)

from drystone.errors import InputError
from drystone.rockfall.study.distributions import Distribution, fixed, read_distribution

ROCK_DENSITY = 2670.0  # [kg/m³] the common assumption (DEMAND C2)

# Every worker holds 100 bytes a run for the Latin hypercube, and the statistics 200: 1 GB at most.
MOST_RUNS = 5_000_000
MOST_WORKERS = 1024  # processes of one machine; each takes 200 MB and more
MOST_SEED = 2**128 - 1  # what a generator of NumPy takes in whole
LEAST_STEP = 1e-4  # [s] a hundredth of the time step in contact: finer points say nothing


def _bounded(low: float, high: float, what: str, open_low: bool = False):
    """A check that no value of a distribution can lie outside."""

    def check(value: Distribution) -> Distribution:
        least, most = value.support()
        if least < low or (open_low and least <= low) or most > high:
            outside = least if least < low or (open_low and least <= low) else most
            cut = "" if value.kind == "fixed" else " Cut it off with min and max."
            raise InputError(f"can be {outside:g}, must be {what}.{cut}")
        return value

    return AfterValidator(check)


Spread = Annotated[
    Distribution, PlainValidator(read_distribution), PlainSerializer(Distribution.entry)
]
Positive = Annotated[Spread, _bounded(0.0, float("inf"), "> 0", open_low=True)]
NotNegative = Annotated[Spread, _bounded(0.0, float("inf"), ">= 0")]
# Far beyond any ground, forest or net; larger numbers overflow in the results, or roll for ever.
Friction = Annotated[Spread, _bounded(0.0, 1e6, "from 0 to 1e+06")]
Rolling = Annotated[Spread, _bounded(0.0, 1e3, "from 0 to 1000")]
Scarring = Annotated[Spread, _bounded(0.0, 1e4, "from 0 to 10000 1/s")]
Tall = Annotated[float, Field(gt=0.0, le=1e4, allow_inf_nan=False)]  # [m]
Share = Annotated[Spread, _bounded(0.0, 1.0, "from 0 to 1")]
Number = Annotated[float, Field(allow_inf_nan=False)]
Above = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Weight = Annotated[float, Field(gt=0.0, le=1e12)]  # of which sums are made


def _rows(value):
    """A list of points, before its numbers are checked."""
    if not isinstance(value, list) or not all(isinstance(point, list) for point in value):
        raise InputError("must be a list of points: [[x, y], [x, y], ...].")
    return value


def _turn(value):
    if value != "random" and not (isinstance(value, list) and len(value) == 3):
        raise InputError("must be 'random', or three: yaw, pitch and roll.")
    return value


Points = Annotated[list[list[Number]], BeforeValidator(_rows)]
Turn = Annotated[Literal["random"] | list[Spread], BeforeValidator(_turn)]


def _printable(value: str | None):
    """Texts go into pages, tables and names of layers, which hold no control characters."""
    odd = [c for c in value or "" if ord(c) < 32 and c not in "\n\t"]
    if odd:
        raise InputError(f"holds the control character {odd[0]!r}, must be a plain text.")
    return value


Plain = Annotated[str, AfterValidator(_printable)]
Name = Annotated[Plain, Field(min_length=1)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)

    @model_validator(mode="after")
    def _entries_of_a_file(self):
        for key in ("layer", "priority_column"):
            if getattr(self, key, None) is not None and self.file is None:  # type: ignore[attr-defined]
                raise InputError(f"has a {key}, but no file that it would be of.")
        return self


class Terrain(Part):
    file: Name
    crs: str | None = None
    nodata: float | None = None
    reproject: str | None = None  # system to move it to when it is read
    cell: Above | None = Field(None, alias="cell_m")  # of the grid made of a point cloud
    tin: bool | None = None  # the points of a cloud themselves as corners of triangles


class MaterialClass(Part):
    preset: str | None = None
    restitution: Share | None = None
    friction: Friction | None = None
    rolling: Rolling | None = None
    scarring: Scarring | None = Field(None, alias="scarring_1_s")


class RegionPart(Part):
    """One polygon of the study, or all polygons of a file whose columns name the materials."""

    material: str | None = None
    polygon: Points | None = None
    file: Name | None = None
    layer: Name | None = None
    column: Name = "material"
    priority: Number = 0.0
    priority_column: str | None = None

    @model_validator(mode="after")
    def _one_origin(self):
        _one_of(self, "polygon", "file")
        if self.polygon is not None and self.material is None:
            raise InputError("needs the material of its polygon: material = '...'.")
        return self


class TexturePart(Part):
    file: Name
    codes: dict[str, str]


class Materials(Part):
    default: Name
    classes: dict[str, MaterialClass] = Field(min_length=1)
    triangles: dict[str, list[int]] | Name | None = None
    regions: list[RegionPart] = []
    texture: TexturePart | None = None


class RockPart(Part):
    name: Name
    shape: Literal[
        "sphere", "ellipsoid", "block", "chamfered", "platy", "elongated", "mesh", "hull"
    ]
    file: Name | None = None
    scale: Above = 1.0
    axes: Annotated[list[Positive], Field(min_length=3, max_length=3)] | None = Field(
        None, alias="axes_m"
    )
    proportions: Annotated[list[Positive], Field(min_length=3, max_length=3)] | None = None
    size: Positive | None = Field(None, alias="size_m")
    volume: Positive | None = Field(None, alias="volume_m3")
    mass: Positive | None = Field(None, alias="mass_kg")
    density: Positive = Field(fixed(ROCK_DENSITY), alias="density_kg_m3")
    weight: Weight = 1.0

    @model_validator(mode="after")
    def _known_size(self):
        names = {"axes": "axes_m", "size": "size_m", "volume": "volume_m3", "mass": "mass_kg"}
        given = [name for key, name in names.items() if getattr(self, key)]
        from_file = self.shape in ("mesh", "hull")
        if from_file != (self.file is not None):
            does = "needs a file" if from_file else "takes no file"
            raise InputError(f"shape {self.shape!r} {does}.")
        if from_file and (self.axes or self.proportions or self.size):
            raise InputError(
                f"shape {self.shape!r} has the axes of its file: give volume_m3, mass_kg or scale."
            )
        if len(given) > 1 or not (given or from_file):
            raise InputError(
                f"needs exactly one of axes_m, size_m, volume_m3 and mass_kg, has "
                f"{' and '.join(given) or 'none'}."
            )
        if self.proportions and self.axes:
            raise InputError("has axes_m and proportions: give only one of them.")
        if self.shape == "sphere" and (self.axes or self.proportions):
            raise InputError("a sphere has one size: give size_m, volume_m3 or mass_kg.")
        return self


class SourcePart(Part):
    name: Name
    points: Points | None = None
    line: Points | None = None
    polygon: Points | None = None
    file: Name | None = None
    layer: Name | None = None
    steeper_than: Annotated[float, Field(gt=0.0, lt=180.0)] | None = Field(
        None, alias="steeper_than_deg"
    )
    weight: Weight = 1.0
    frequency: Above | None = Field(None, alias="frequency_1_year")  # rocks that it releases
    rocks: list[str] | None = None
    height: NotNegative = Field(fixed(0.0), alias="height_m")
    velocity: Annotated[list[Spread], Field(min_length=3, max_length=3)] | None = Field(
        None, alias="velocity_m_s"
    )
    speed: NotNegative | None = Field(None, alias="speed_m_s")
    azimuth: Spread | None = Field(None, alias="azimuth_deg")
    inclination: Spread | None = Field(None, alias="inclination_deg")
    orientation: Turn = Field("random", alias="orientation_deg")
    spin: Annotated[list[Spread], Field(min_length=3, max_length=3)] | None = Field(
        None, alias="spin_rad_s"
    )
    spin_speed: NotNegative | None = Field(None, alias="spin_speed_rad_s")

    @model_validator(mode="after")
    def _one_origin(self):
        if self.steeper_than is None:
            _one_of(self, "points", "line", "polygon", "file")
        elif self.points is not None or self.line is not None:
            raise InputError("steeper_than_deg goes with a polygon, a file, or alone.")
        if self.velocity is not None and self.speed is not None:
            raise InputError("has velocity_m_s and speed_m_s: give only one of them.")
        if self.speed is None and (self.azimuth is not None or self.inclination is not None):
            raise InputError("has a direction (azimuth_deg, inclination_deg) but no speed_m_s.")
        if self.spin is not None and self.spin_speed is not None:
            raise InputError("has spin_rad_s and spin_speed_rad_s: give only one of them.")
        return self


def _curve(value):
    """Rising energies and what is taken of each, no more than there is."""
    rows = _rows(value)
    if not rows or any(len(row) != 2 for row in rows):
        raise InputError("must be a list of pairs: [[energy_kj, taken_kj], ...].")
    energy, taken = ([float(row[k]) for row in rows] for k in range(2))
    rising = all(a < b for a, b in zip([0.0, *energy], energy, strict=False))
    if not rising or not all(0.0 <= t <= e for t, e in zip(taken, energy, strict=True)):
        raise InputError("must have energies that rise from above 0, and take no more than them.")
    return value


Curve = Annotated[list[list[Number]], BeforeValidator(_curve)]


class BarrierPart(Part):
    name: Name
    line: Points | None = None
    file: Name | None = None
    layer: Name | None = None
    kind: Literal["crossing", "contact"] = "crossing"
    mesh: Name | None = None
    height: Tall | None = Field(None, alias="height_m")
    capacity: Annotated[float, Field(gt=0.0)] | None = Field(None, alias="capacity_kj")
    service: Above | None = Field(None, alias="service_kj")  # energy level SEL; capacity is MEL
    attenuation: Curve | None = Field(None, alias="attenuation_kj")
    inclination: Annotated[float, Field(gt=-80.0, lt=80.0)] | None = Field(
        None, alias="inclination_deg"
    )
    thickness: Tall | None = Field(None, alias="thickness_m")
    material: str | None = None

    @property
    def most(self) -> float | None:
        """Its capacity [kJ]; where a table alone says what it takes, the most of that."""
        if self.capacity is None and self.attenuation is not None:
            return max(taken for _, taken in self.attenuation)
        return self.capacity

    @model_validator(mode="after")
    def _one_kind(self):
        if self.mesh is None:
            _one_of(self, "line", "file")
            if self.height is None:
                raise InputError("needs height_m, its height above the ground.")
        if self.kind == "crossing":
            if self.most is None:
                raise InputError(
                    "needs capacity_kj, the energy it can take (inf stops all), or attenuation_kj."
                )
            if self.mesh is not None and (self.height or self.file or self.inclination):
                raise InputError("with a mesh takes neither height_m, inclination_deg nor a file.")
            if self.service is not None and self.service > self.most:
                raise InputError("has a service_kj above its capacity_kj, must be at most that.")
            if self.thickness is not None or self.material is not None:
                raise InputError("only a barrier of kind 'contact' has thickness_m and material.")
        elif self.inclination is not None or self.attenuation is not None or self.service:
            raise InputError(
                "only one of kind 'crossing' has inclination_deg, attenuation_kj and service_kj."
            )
        elif self.material is None or self.capacity is not None:
            raise InputError("of kind 'contact' needs a material, and has no capacity_kj.")
        elif self.mesh is None and self.thickness is None:
            raise InputError("of kind 'contact' needs thickness_m, or a mesh.")
        elif self.mesh is not None and (self.height or self.thickness or self.file):
            raise InputError("with a mesh takes neither height_m, thickness_m nor a file of lines.")
        return self


class ForestPart(Part):
    polygon: Points | None = None
    file: Name | None = None
    layer: Name | None = None
    drag: Annotated[float, Field(ge=0.0, le=1e6, allow_inf_nan=False)] = Field(alias="drag_kg_s")
    height: Tall = Field(alias="height_m")
    priority: Number = 0.0

    @model_validator(mode="after")
    def _one_origin(self):
        _one_of(self, "polygon", "file")
        return self


def _trunks(value):
    rows = _rows(value)
    if any(len(row) != 3 for row in rows):
        raise InputError("must be a list of trees: [[x, y, diameter_m], ...].")
    if not rows:
        raise InputError("holds no tree. Leave it out, or give one.")
    return value


class TreePart(Part):
    """Single trees: points with the diameters of their trunks; see trees.py."""

    points: Annotated[list[list[Number]], BeforeValidator(_trunks)] | None = None
    file: Name | None = None
    layer: Name | None = None
    column: Name = "diameter_m"
    height: Tall = Field(alias="height_m")
    material: Name

    @model_validator(mode="after")
    def _one_origin(self):
        _one_of(self, "points", "file")
        return self


class CheckLinePart(Part):
    name: Name
    line: Points | None = None
    file: Name | None = None
    layer: Name | None = None

    @model_validator(mode="after")
    def _one_origin(self):
        _one_of(self, "line", "file")
        return self


class Runs(Part):
    count: Annotated[int, Field(ge=1, le=MOST_RUNS)]
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 1
    sampling: Literal["monte-carlo", "latin-hypercube"] = "latin-hypercube"
    workers: Annotated[int, Field(ge=1, le=MOST_WORKERS)] | None = None


class Output(Part):
    folder: Name = "results"
    cell: Above | None = Field(None, alias="cell_m")  # None: that of the terrain
    step: Annotated[float, Field(ge=LEAST_STEP, allow_inf_nan=False)] = Field(0.1, alias="step_s")
    ascii_grids: bool = False  # rasters as ESRI .asc too
    grid: Name | None = None  # raster whose cells the results have
    trajectories: Annotated[int, Field(ge=0)] | None = None  # runs whose points are kept; all


class DesignPart(Part):
    """Factors of UNI 11211-4, see barrier_design.py."""

    topography: Literal["high", "low"]
    block_survey: Literal["high", "low"]
    simulation: Literal["back-analysis", "literature"]
    unit_weight: Annotated[float, Field(ge=1.0, allow_inf_nan=False)] = 1.0
    percentile: Literal[0.95, 0.99] = 0.95
    block: Above | None = Field(None, alias="block_kg")
    energy_factor: Annotated[float, Field(ge=1.0, allow_inf_nan=False)] | None = None
    service_factor: Annotated[float, Field(ge=1.0, allow_inf_nan=False)] | None = None
    free_border: Annotated[float, Field(ge=0.5, allow_inf_nan=False)] = Field(
        0.5, alias="free_border_m"
    )
    standard: Literal["UNI 11211-4", "ONR 24810"] | None = None
    action_factor: Annotated[float, Field(ge=1.0, allow_inf_nan=False)] | None = None
    height_factor: Annotated[float, Field(ge=1.0, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _factors_of_the_standard(self):
        given = [self.action_factor, self.height_factor]
        if self.standard == "ONR 24810" and None in given:
            raise InputError(
                "with standard = 'ONR 24810' needs action_factor and height_factor: take them from "
                "the standard."
            )
        if self.standard != "ONR 24810" and given != [None, None]:
            raise InputError("only with standard = 'ONR 24810' has action_factor, height_factor.")
        return self


def _told_apart(values: list[float]) -> list[float]:
    """Rasters are named after them, to six digits."""
    names = [f"{value:g}" for value in values]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"names {name} more than once.")
    return values


Listed = Annotated[list[Above], Field(min_length=1, max_length=10), AfterValidator(_told_apart)]


class HazardPart(Part):
    """Energies whose exceedance is mapped, and return periods; see results/hazard.py."""

    energies: Listed = Field([30.0, 300.0], alias="energies_kj")
    return_periods: Listed = Field([30.0, 100.0, 300.0], alias="return_periods_years")


def _as_text(value):
    """Dates and numbers without quotes, such as date = 2026-11-19 and revision = 2."""
    plain = isinstance(value, date | int | float) and not isinstance(value, bool)
    return str(value) if plain else value


Text = Annotated[str | None, BeforeValidator(_as_text), AfterValidator(_printable)]


class ReportPart(Part):
    """The title block."""

    title: Text = None
    client: Text = None
    project: Text = None
    place: Text = None
    author: Text = None
    checked: Text = None
    date: Text = None
    revision: Text = None
    note: Text = None


class ScenarioPart(Part):
    """A variant: entries of the study that differ, such as "rocks.block.volume_m3" = 2."""

    name: Name
    set: Annotated[dict[str, Any], Field(min_length=1)]


class StudyFile(Part):
    title: Plain = ""
    terrain: Terrain
    materials: Materials
    rocks: list[RockPart] = Field(min_length=1)
    sources: list[SourcePart] = Field(min_length=1)
    barriers: list[BarrierPart] = []
    forest: list[ForestPart] = []
    trees: list[TreePart] | None = None
    check_lines: list[CheckLinePart] = []
    design: DesignPart | None = None
    hazard: HazardPart | None = None
    report: ReportPart | None = None
    scenarios: list[ScenarioPart] | None = None
    runs: Runs
    options: dict[str, bool | int | float | str] = {}
    output: Output = Output()


def _one_of(part: Part, *keys: str) -> None:
    given = [key for key in keys if getattr(part, key) is not None]
    if len(given) != 1:
        raise InputError(f"needs exactly one of {', '.join(keys)}, has {len(given)}.")
