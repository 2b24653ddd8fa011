"""What went into a study, as tables of the report, and its title block."""

from html import escape

from drystone.errors import InputError
from drystone.rockfall.report.html_parts import number, table
from drystone.rockfall.study.distributions import read_distribution
from drystone.rockfall.terrain.crs import crs_name, read_crs
from drystone.rockfall.terrain.soils import find_soil

BLOCK = {
    "project": "Project", "place": "Place", "client": "Client", "author": "Author",
    "checked": "Checked by", "date": "Date", "revision": "Revision",
}  # fmt: skip
LIMITS = (
    "Rocks are rigid: they neither break nor lose pieces. Each falls alone; they do not hit each "
    "other.",
    "The ground is rigid and does not change; what it takes is put into restitution, friction and, "
    "where the study gives them, rolling resistance and scarring.",
    "The terrain is that of its model: what is smaller than its cells is not there.",
    "A crossing barrier takes energy at once where the centre of mass crosses it; it has neither "
    "mass nor elongation, and is as good after a hit as before.",
    "Parameters of the literature do not carry over from site to site: fit them to rocks that fell "
    "here (drystone rockfall fit) before a design leans on them.",
    "Shares of runs hold for a release as the study describes it. Frequencies in time need those "
    "of the release, which no simulation gives.",
)


def title_block(manifest: dict) -> str:
    """Title and who made it for whom. Nothing is invented: what the study lacks stays empty, to be
    written by hand or given in [report]."""
    given = manifest["study"].get("report") or {}
    left = [(words, given.get(key) or "") for key, words in BLOCK.items()]
    right = [
        ("Run", str(manifest.get("date") or "").replace("T", " ")),
        ("Computed with", f"Drystone {manifest['versions'].get('drystone', '')}"),
        ("Runs", f"{manifest['runs']}, seed {manifest['seed']}"),
        ("Reference system", system_name(manifest)),
    ]
    note = f'<p class="note">{escape(str(given["note"]))}</p>' if given.get("note") else ""
    return f'<div class="title">{_pairs(left)}{_pairs(right)}</div>{note}'


def system_name(manifest: dict) -> str:
    """The reference system of the results, by its short name."""
    wkt = manifest.get("crs")
    return "local metres" if not wkt else crs_name(read_crs("crs", wkt))


def _pairs(rows: list[tuple[str, str]]) -> str:
    cells = "".join(f"<tr><th>{escape(a)}</th><td>{escape(str(b))}</td></tr>" for a, b in rows)
    return f'<table class="block">{cells}</table>'


def report_title(manifest: dict) -> str:
    study = manifest["study"]
    return str((study.get("report") or {}).get("title") or study.get("title") or "Rockfall study")


def revision_of(manifest: dict) -> str:
    """For the foot of each printed page: a loose page must say what it belongs to."""
    given = manifest["study"].get("report") or {}
    parts = [f"revision {given['revision']}" if given.get("revision") else "", given.get("date")]
    return ", ".join(str(part) for part in parts if part)


def input_tables(manifest: dict, statistics: dict) -> str:
    study = manifest["study"]
    parts = [
        ("Materials", _materials(study)), ("Rocks", _rocks(study)), ("Sources", _sources(study)),
        ("Barriers", _barriers(study, statistics)), ("Forest and trees", _forest(study)),
        ("Options", _options(study)),
    ]  # fmt: skip
    return "".join(f"<h3>{name}</h3>{body}" for name, body in parts if body)


def _said(entry) -> str:
    """A number or a distribution of a study, in words."""
    if entry is None:
        return "–"
    try:
        return read_distribution(entry).describe()
    except InputError:
        return str(entry)


def _materials(study: dict) -> str:
    rows = []
    for name, part in (study.get("materials", {}).get("classes") or {}).items():
        soil = None
        if part.get("preset"):
            try:
                soil = find_soil(part["preset"])
            except InputError:
                soil = None

        def value(key, part=part, soil=soil):
            if part.get(key) is not None:
                return _said(part[key])
            preset = getattr(soil, key, None)
            return preset.describe() if preset is not None else "–"

        scar = _said(part.get("scarring_1_s"))
        source = f"{part['preset']}: {soil.source}" if soil else "the study"
        rows.append([name, value("restitution"), value("friction"), value("rolling"), scar, source])
    heading = ["material", "restitution R_n", "friction", "rolling", "scarring [1/s]", "source"]
    return table(heading, rows, "text") if rows else ""


def _rocks(study: dict) -> str:
    rows = []
    for part in study.get("rocks") or ():
        size = [
            f"{words} {', '.join(_said(x) for x in part[key])}"
            if isinstance(part[key], list) else f"{words} {_said(part[key])}"
            for key, words in (("axes_m", "axes"), ("size_m", "size"), ("volume_m3", "volume"),
                               ("mass_kg", "mass"), ("file", "file"), ("proportions", "as"))
            if part.get(key) is not None
        ]  # fmt: skip
        rows.append([str(part.get("name")), str(part.get("shape")), "; ".join(size),
                     _said(part.get("density_kg_m3")), _said(part.get("weight"))])  # fmt: skip
    heading = ["rock", "shape", "size [m, m³, kg]", "density [kg/m³]", "weight"]
    return table(heading, rows, "text") if rows else ""


def _sources(study: dict) -> str:
    rows = []
    for part in study.get("sources") or ():
        kinds = ("points", "line", "polygon", "file")
        where = [f"{key} ({len(part[key])} points)" if isinstance(part[key], list)
                 else _file(part) for key in kinds if part.get(key) is not None]  # fmt: skip
        if part.get("steeper_than_deg") is not None:
            where.append(f"steeper than {part['steeper_than_deg']:g}°")
        speed = part.get("speed_m_s", part.get("velocity_m_s"))
        words = ", ".join(map(_said, speed)) if isinstance(speed, list) else _said(speed)
        rocks = ", ".join(part.get("rocks") or ["all"])
        rows.append([str(part.get("name")), ", ".join(where), rocks, words,
                     _said(part.get("height_m")), _said(part.get("weight")),
                     _said(part.get("frequency_1_year"))])  # fmt: skip
    heading = ["source", "where", "rocks", "speed [m/s]", "height [m]", "weight", "rocks a year"]
    return table(heading, rows, "text") if rows else ""


def _file(part: dict) -> str:
    """A file of a study, and the layer that was taken of it."""
    return f"{part['file']}, layer {part['layer']}" if part.get("layer") else str(part["file"])


def part_of_barrier(name: str, study: dict) -> dict:
    """The entry of a study that a barrier comes from; the second line of a file is "NAME 2"."""
    named = {part.get("name"): part for part in study.get("barriers") or ()}
    return named.get(name) or named.get(name.rpartition(" ")[0]) or {}


def _takes(entry: dict, part: dict) -> str:
    """What a barrier takes [kJ]."""
    if entry["kind"] != "crossing":
        return "rigid"
    pairs = part.get("attenuation_kj") or ()
    if pairs:
        return "; ".join(f"{number(taken)} of {number(energy)}" for energy, taken in pairs)
    return "all" if entry["capacity_kJ"] is None else number(entry["capacity_kJ"])


def _barriers(study: dict, statistics: dict) -> str:
    rows = []
    for entry in statistics["barriers"]:
        part = part_of_barrier(entry["name"], study)
        lean = part.get("inclination_deg")
        rows.append([entry["name"], entry["kind"], number(entry["height_m_nominal"]),
                     _takes(entry, part), number(entry.get("service_kJ")),
                     number(lean)])  # fmt: skip
    heading = ["barrier", "kind", "height [m]", "capacity [kJ]", "service level [kJ]",
               "inclination [°]"]  # fmt: skip
    return table(heading, rows, "text") if rows else ""


def _forest(study: dict) -> str:
    def where(part):
        if part.get("file"):
            return _file(part)
        return f"{len(part.get('polygon') or part.get('points'))} points"

    rows = [
        ["zone", where(part), number(part["height_m"]), f"drag {number(part['drag_kg_s'])} kg/s"]
        for part in study.get("forest") or ()
    ]
    rows += [
        ["single trees", where(part), number(part["height_m"]), f"rigid trunks, {part['material']}"]
        for part in study.get("trees") or ()
    ]
    return table(["what", "where", "height [m]", "effect"], rows, "text") if rows else ""


def _options(study: dict) -> str:
    given = study.get("options") or {}
    return (
        table(["option", "value"], [[k, str(v)] for k, v in given.items()], "text") if given else ""
    )
