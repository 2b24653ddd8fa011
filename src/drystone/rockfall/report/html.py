"""The report of a study: one HTML file that needs nothing else, and its figures as PNG."""

import base64
import json
from html import escape
from pathlib import Path

from drystone.model.checks import of_kind
from drystone.model.signatures import public
from drystone.rockfall.report.figures import draw_all, write_figures
from drystone.rockfall.report.html_frame import PAGE
from drystone.rockfall.report.maps import SHOWN
from drystone.rockfall.results.results import Results
from drystone.rockfall.results.summary import verdicts
from drystone.rockfall.run.part_files import disk_error, write_whole
from drystone.rockfall.study.barrier_design import CHOSEN, FIGURES, LEAST_FREE_BORDER, SOURCE

NAME = "report.html"
RUN_ROWS = {
    "runout_m": "run-out, straight in plan [m]",
    "drop_m": "drop [m]",
    "duration_s": "duration [s]",
    "mass_kg": "mass [kg]",
    "max_speed_m_s": "largest velocity [m/s]",
    "max_energy_kJ": "largest kinetic energy [kJ]",
    "max_height_m": "largest height above ground [m]",
}
PLACE_ROWS = {
    "speed_m_s": "velocity [m/s]",
    "energy_kJ": "kinetic energy [kJ]",
    "height_m": "height of the centre of mass [m]",
}
DESIGN_NOTE = (
    f"Characteristic values are the 95 % percentiles and the design block is the heaviest rock "
    f"that came here, unless the study says otherwise (design). Source of the factors: {SOURCE}. "
    f"A barrier is verified if its energy over γ_E is larger than the design energy and its height "
    f"at least the design height and a free border, {LEAST_FREE_BORDER} m or more; γ_E stands in "
    f"the standard, and the study gives it."
)
MEANING = (
    "Percentiles are over runs, of the largest value of each run. The numbers in brackets are 95 % "
    "confidence bands (bootstrap). The share of runs that reach a place is conditional on a "
    "release as the study describes it; it is not a frequency in time, and no hazard by itself."
)


@public
def report_study(results: Results) -> Path:
    """Draw all figures of a study, and write them and the report into its folder."""
    of_kind("results", results, Results, "Results, such as Results(folder)")
    images = draw_all(results)
    folder = results.folder / "figures"
    try:
        write_figures(images, folder)
    except OSError as error:
        raise disk_error(folder, error) from None
    path = results.folder / NAME
    write_whole(path, report_page(results, images).encode())
    return path


def report_page(results: Results, images: dict[str, bytes]) -> str:
    """The text of the HTML file."""
    manifest, statistics = results.manifest, results.statistics
    title = str(manifest["study"].get("title") or "Rockfall study")
    sections = [
        _summary(manifest, statistics),
        _section("Trajectories", _image(images, "map_trajectories") + _image(images, "profile")),
        _section("Maps", _tabs({name: _image(images, f"map_{name}") for name in SHOWN})),
        _section("Runs", _run_table(statistics["runs"]) + _image(images, "histograms")),
        _section("Barriers", _places(statistics["barriers"], images, "barrier")),
        _section("Check lines", _places(statistics["lines"], images, "line")),
        _section("Enough runs?", _list(verdicts(statistics)) + _image(images, "convergence")),
        _inputs(manifest),
    ]
    return PAGE.format(title=escape(title), body="\n".join(sections))


def _section(heading: str, body: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>\n{body}</section>"


def _image(images: dict[str, bytes], name: str) -> str:
    data = base64.b64encode(images[name]).decode()
    text = escape(name.replace("_", " "))
    return f'<img alt="{text}" src="data:image/png;base64,{data}">'


def _tabs(panels: dict[str, str]) -> str:
    """One panel at a time, chosen by a row of buttons; without any script."""
    parts = []
    for number, (name, body) in enumerate(panels.items()):
        chosen = " checked" if number == 0 else ""
        label = escape(name.replace("_", " "))
        parts.append(
            f'<input type="radio" name="map" id="map{number}"{chosen}>'
            f'<label for="map{number}">{label}</label><div>{body}</div>'
        )
    return f'<div class="tabs">{"".join(parts)}</div>'


def _list(lines: list[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def _table(heading: list[str], rows: list[list[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in heading)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{top}</tr>{body}</table>"


def number(value) -> str:
    """Four digits; a dash for nothing."""
    return "–" if value is None else f"{value:.4g}"


def _with_band(entry: dict) -> str:
    if entry["value"] is None:
        return "–"
    mark = "" if entry["enough"] else " *"
    return f"{number(entry['value'])} ({number(entry['low'])} – {number(entry['high'])}){mark}"


def _percentile_rows(entries: dict, names: dict[str, str]) -> list[list[str]]:
    rows = []
    for key, heading in names.items():
        entry = entries[key]
        bands = [_with_band(entry[name]) for name in ("median", "p90", "p95", "p99")]
        rows.append([heading, number(entry["mean"]), *bands, number(entry["max"])])
    return rows


COLUMNS = ["", "mean", "median", "90 %", "95 %", "99 %", "largest"]
STAR = "<p>* not enough runs for this figure, see below.</p>"


def _run_table(runs: dict) -> str:
    angle = runs["reach_angle_deg"]
    reasons = ", ".join(f"{count} {name}" for name, count in runs["reasons"].items())
    return (
        f"<p>{escape(MEANING)}</p>"
        + _table(COLUMNS, _percentile_rows(runs, RUN_ROWS))
        + STAR
        + f"<p>Runs ended for these reasons: {escape(reasons)}.</p>"
        + f"<p>Reach angle (energy line from start to end): smallest {number(angle['min'])}°, 1 % "
        + f"{_with_band(angle['p1'])}°, 5 % {_with_band(angle['p5'])}°, "
        + f"mean {number(angle['mean'])}°.</p>"
    )


def _places(entries: list[dict], images: dict[str, bytes], label: str) -> str:
    if not entries:
        return "<p>The study has none.</p>"
    body = _barrier_table(entries) if label == "barrier" else _line_table(entries)
    for k, entry in enumerate(entries):
        body += f"<h3>{escape(entry['name'])}</h3>"
        body += _table(COLUMNS, _percentile_rows(entry, PLACE_ROWS)) + STAR
        body += _design(entry["design"]) + _verification(entry)
        body += _image(images, f"{label}_{k + 1}")
    return body


def _design(design: dict) -> str:
    heading = ["design values (UNI 11211-4)", "velocity [m/s]", "height [m]", "mass [kg]",
               "energy [kJ]"]  # fmt: skip
    names = {"good": "good knowledge, all factors 1.02", "poor": "poor knowledge, all 1.10",
             CHOSEN: "as the study says"}  # fmt: skip
    rows = [
        [names[key], *(number(values[part]) for part in FIGURES)] for key, values in design.items()
    ]
    return _table(heading, rows) + f"<p>{escape(DESIGN_NOTE)}</p>"


def _verification(entry: dict) -> str:
    """Both conditions of a barrier, if the study gave what they need."""
    found = entry.get("verification")
    if found is None or entry["design"][CHOSEN]["E_kJ"] is None:
        return ""
    design = entry["design"][CHOSEN]
    words = {True: "met", False: "not met"}
    return (
        f"<p>Energy: design {number(design['E_kJ'])} kJ, allowed "
        f"{number(found['allowed_E_kJ'])} kJ: {words[found['energy_ok']]}. Height: needed "
        f"{number(found['needed_h_m'])} m, there are {number(entry['height_m_nominal'])} m: "
        f"{words[found['height_ok']]}.</p>"
    )


def _barrier_table(entries: list[dict]) -> str:
    heading = ["barrier", "kind", "height [m]", "capacity [kJ]", "reached", "hit", "stopped",
               "passed", "overtopped", "stopped [%]", "95 % energy [kJ]",
               "95 % height [m]"]  # fmt: skip
    rows = []
    for entry in entries:
        counts = [str(entry[k]) for k in ("reached", "hit", "stopped", "passed", "overtopped")]
        share = entry["share_stopped"]
        rows.append(
            [entry["name"], entry["kind"], number(entry["height_m_nominal"]),
             number(entry["capacity_kJ"]),
             *counts, "–" if share is None else f"{100 * share:.1f}",
             _with_band(entry["energy_kJ"]["p95"]), _with_band(entry["height_m"]["p95"])]
        )  # fmt: skip
    return _table(heading, rows)


def _line_table(entries: list[dict]) -> str:
    heading = ["check line", "runs", "share [%]", "95 % energy [kJ]", "95 % height [m]",
               "smallest shadow angle [°]"]  # fmt: skip
    rows = [
        [entry["name"], str(entry["crossed"]), f"{100 * entry['share_crossed']:.1f}",
         _with_band(entry["energy_kJ"]["p95"]), _with_band(entry["height_m"]["p95"]),
         number(entry["shadow_angle_deg"]["min"])]
        for entry in entries
    ]  # fmt: skip
    return _table(heading, rows)


def _summary(manifest: dict, statistics: dict) -> str:
    runs, lines = statistics["runs"], []
    lines.append(f"{manifest['runs']} runs, seed {manifest['seed']}.")
    run_out = runs["runout_m"]
    lines.append(
        f"Run-out: 95 % below {_with_band(run_out['p95'])} m, largest {number(run_out['max'])} m."
    )
    failed = runs["reasons"].get("failed", 0)
    if failed:
        lines.append(f"{failed} runs failed numerically; their ends are not to be trusted.")
    for entry in statistics["barriers"]:
        lines.append(
            f"Barrier {entry['name']}: reached by {entry['reached']} runs, hit by {entry['hit']}, "
            f"stopped {entry['stopped']}, let pass {entry['passed']}, overtopped by "
            f"{entry['overtopped']}."
        )
    short = sum("not enough" in text for text in verdicts(statistics))
    total = len(verdicts(statistics))
    lines.append(f"Enough runs for {total - short} of the {total} percentiles listed below.")
    return _section("Summary", _list(lines))


def _inputs(manifest: dict) -> str:
    study = json.dumps(manifest["study"], indent=2, ensure_ascii=False)
    files = [[name, str(digest)] for name, digest in manifest["inputs"].items()]
    versions = [[name, str(version)] for name, version in manifest["versions"].items()]
    versions += [["python", manifest["python"]], ["machine", manifest["machine"]]]
    facts = [
        ["seed", str(manifest["seed"])], ["runs", str(manifest["runs"])],
        ["engine", manifest["engine"]], ["digest of the code", str(manifest.get("code"))],
        ["digest of the plan", manifest["plan"]],
        ["reference system", str(manifest.get("crs") or "local")],
        ["local origin [m]", ", ".join(f"{x:g}" for x in manifest["origin_m"])],
    ]  # fmt: skip
    body = f"<details open><summary>Study</summary><pre>{escape(study)}</pre></details>"
    body += "<h3>Input files</h3>" + _table(["file", "SHA-256"], files)
    body += "<h3>Computation</h3>" + _table(["", ""], facts)
    body += "<h3>Versions</h3>" + _table(["package", "version"], versions)
    return _section("Inputs", body)
