"""The report of a study: one HTML file that needs nothing else, its figures as PNG, and a PDF."""

from html import escape
from pathlib import Path

from drystone.model.checks import of_kind
from drystone.model.signatures import public
from drystone.rockfall.report.browser import print_pdf, take_pictures
from drystone.rockfall.report.figures import all_passages, draw_all, write_figures
from drystone.rockfall.report.html_frame import html_page
from drystone.rockfall.report.html_parts import (
    COLUMNS,
    STAR,
    bullets,
    compact_json,
    image,
    largest,
    number,
    percentile_rows,
    section,
    table,
    tabs,
    with_band,
)
from drystone.rockfall.report.inputs import (
    LIMITS,
    input_tables,
    report_title,
    revision_of,
    title_block,
)
from drystone.rockfall.report.maps import SHOWN
from drystone.rockfall.results.barrier_curves import (
    CAPACITIES,
    HEIGHTS,
    in_series,
    stopped_table,
    write_design_table,
)
from drystone.rockfall.results.hazard import LEVELS
from drystone.rockfall.results.results import Results
from drystone.rockfall.results.summary import verdicts
from drystone.rockfall.run.made_files import noted
from drystone.rockfall.run.part_files import disk_error, write_whole
from drystone.rockfall.study.barrier_design import CHOSEN, FIGURES, LEAST_FREE_BORDER, SOURCE

NAME, PDF, PICTURES, VIEW = "report.html", "report.pdf", "screenshots", "view.html"
RUN_ROWS = {
    "runout_m": "run-out, straight in plan [m]",
    "drop_m": "drop [m]",
    "duration_s": "duration [s]",
    "mass_kg": "mass [kg]",
    "max_speed_m_s": "largest velocity [m/s]",
    "max_energy_kJ": "largest kinetic energy [kJ]",
    "max_translational_energy_kJ": "of translation [kJ]",
    "max_rotational_energy_kJ": "of rotation [kJ]",
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
    f"at least the design height and a free border: half the block, {LEAST_FREE_BORDER} m or more. "
    f"γ_E stands in the standard, and the study gives it."
)
MEANING = (
    "Percentiles are over runs, of the largest value of each run. The numbers in brackets are 95 % "
    "confidence bands (bootstrap). The share of runs that reach a place is conditional on a "
    "release as the study describes it; it is not a frequency in time, and no hazard by itself."
)
CURVE_NOTE = (
    "Share of the runs that reach the line which a net of that height and capacity stops, from the "
    "recorded crossings: the centre of mass no higher than the net, its energy of translation no "
    "larger than the capacity. The size of the block comes on top of the height (free border)."
)
LOST = {
    "position": "left the terrain", "left": "left the terrain or fell into a hole of it",
    "steps": "ran out of time steps", "time": "ran out of time", "failed": "failed numerically",
}  # fmt: skip
ENDS = {
    "velocity": "came to rest", "jitter": "came to rest, trembling", "barrier": "in a barrier",
}  # fmt: skip


@public
def report_study(results: Results, pdf: bool = False, screenshots: bool = False) -> Path:
    """Draw all figures of a study, and write them and the report into its folder.

    pdf          print it to report.pdf too, by a browser of this machine (Chromium)
    screenshots  pictures of it, 1100 pixels wide, and of the 3D view if there is one
    """
    of_kind("results", results, Results, "Results, such as Results(folder)")
    images = draw_all(results)
    folder = results.folder / "figures"
    try:
        with noted(folder):
            write_figures(images, folder)
    except OSError as error:
        raise disk_error(folder, error) from None
    path = results.folder / NAME
    write_whole(path, report_page(results, images).encode())
    if pdf:
        print_pdf(path, results.folder / PDF)
    if screenshots:
        view = results.folder / VIEW
        with noted(results.folder / PICTURES):
            take_pictures(path, results.folder / PICTURES)
            if view.is_file():
                take_pictures(view, results.folder / PICTURES, whole=False)
    return path


def report_page(results: Results, images: dict[str, bytes]) -> str:
    """The text of the HTML file."""
    manifest, statistics = results.manifest, results.statistics
    maps = {name: image(images, f"map_{name}") for name in SHOWN}
    hazard = {name: image(images, f"map_{name}") for name in results.hazard_names}
    sections = [
        title_block(manifest),
        _summary(manifest, statistics),
        section("What went in", input_tables(manifest, statistics) + image(images, "map_inputs")),
        section("Trajectories", image(images, "map_trajectories") + image(images, "profile")),
        section("Maps", tabs(maps, "map")),
        section("Hazard", _hazard(results, hazard)) if hazard else "",
        section("Runs", _run_table(statistics["runs"]) + image(images, "histograms")),
        _parts(statistics),
        section("Barriers", _barriers(results, images)),
        section("Check lines", _places(statistics["lines"], images, "line")),
        section("Enough runs?", bullets(verdicts(statistics)) + image(images, "convergence")),
        section("Limits of the model", bullets(list(LIMITS))),
        _inputs(manifest),
    ]
    return html_page(report_title(manifest), "\n".join(sections), revision_of(manifest))


def _run_table(runs: dict) -> str:
    angle = runs["reach_angle_deg"]
    words = LOST | ENDS
    reasons = ", ".join(f"{n} {words.get(key, key)}" for key, n in runs["reasons"].items())
    censored = ""
    if runs.get("not_at_rest"):
        censored = (
            "<p>Run-out, drop, duration and reach angle count the runs that did not come to rest "
            "as going on (Kaplan-Meier); “>” stands where the percentile lies beyond what was "
            "seen. Their means are over the runs at rest.</p>"
        )
    return (
        f"<p>{escape(MEANING)}</p>"
        + table(COLUMNS, percentile_rows(runs, RUN_ROWS))
        + STAR
        + censored
        + f"<p>How the runs ended: {escape(reasons)}.</p>"
        + "<p>Reach angle (energy line from start to end): smallest of a run at rest "
        + f"{number(angle['min'])}°, 1 % "
        + f"{escape(_angle(angle['p1']))}, 5 % {escape(_angle(angle['p5']))}, "
        + f"mean {number(angle['mean'])}°.</p>"
    )


def _angle(entry: dict) -> str:
    if entry["value"] is None:
        return f"below {number(entry['high'])}°" if entry["high"] is not None else "not known"
    return f"{number(entry['value'])}° ({number(entry['low'])} – {number(entry['high'])})"


def _parts(statistics: dict) -> str:
    """Sources and rock groups apart, where there are several."""
    body = ""
    for key, words in (("by_source", "source"), ("by_rock", "rock")):
        entries = statistics.get(key) or {}
        lines = list(dict.fromkeys(n for e in entries.values() for n in e.get("crossed", {})))
        rows = [
            [name, str(e["count"]), str(e["not_at_rest"]), with_band(e["runout_m"]["p95"]),
             with_band(e["max_speed_m_s"]["p95"]), with_band(e["max_energy_kJ"]["p95"]),
             with_band(e["max_height_m"]["p95"]),
             *(f"{100 * e['crossed'].get(line, 0) / max(e['count'], 1):.1f}" for line in lines)]
            for name, e in entries.items()
        ]  # fmt: skip
        heading = [words, "runs", "not at rest", "95 % run-out [m]", "95 % velocity [m/s]",
                   "95 % energy [kJ]", "95 % height [m]",
                   *(f"reach {line} [%]" for line in lines)]  # fmt: skip
        body += table(heading, rows) if rows else ""
    return section("By source and by rock", body + STAR) if body else ""


def _hazard(results: Results, panels: dict[str, str]) -> str:
    levels = "; ".join(f"{level} {words}" for level, words in LEVELS.items())
    text = (
        "Exceedance is the share of all runs whose kinetic energy exceeds a value in a cell, given "
        "a release. With release frequencies of the sources there are also rocks a year, energies "
        "of return periods, and levels of danger by the Swiss matrix (BUWAL 1997: 30 and 300 kJ; "
        f"30, 100 and 300 years): {levels}. Frequencies are those of the study, not of this model."
    )
    return f"<p>{escape(text)}</p>" + tabs(panels, "hazard")


def _barriers(results: Results, images: dict[str, bytes]) -> str:
    entries = results.statistics["barriers"]
    body = _places(entries, images, "barrier")
    passages = all_passages(results)
    tables = {}
    for k, found in passages.items():
        if not len(found.run):
            continue
        name = entries[k]["name"]
        tables[name] = shares = stopped_table(found)
        rows = [
            [f"{h:g} m", *(f"{100 * x:.0f}" for x in row)]
            for h, row in zip(HEIGHTS, shares, strict=True)
        ]
        heading = ["% stopped", *(f"{c:g} kJ" for c in CAPACITIES)]
        body += f"<h3>{escape(name)}: other heights and capacities</h3>"
        body += table(heading, rows) + image(images, f"curves_{k + 1}")
        body += f"<p class='note'>{escape(CURVE_NOTE)}</p>"
    if tables:
        write_design_table(results.folder, tables)
    return body + _series(results, list(passages))


def _series(results: Results, numbers: list[int]) -> str:
    """Each pair of crossing barriers of which runs reach one after the other."""
    names = [entry["name"] for entry in results.statistics["barriers"]]
    rows, heading = [], []
    crossings = results.table("crossings") if len(numbers) > 1 else {}
    for first in numbers:
        for second in numbers:
            found = in_series(crossings, first, second) if first != second else {}
            if found and found["got past it and reached the second"]:
                heading = ["two lines", *found]
                rows.append([f"{names[first]}, then {names[second]}", *map(str, found.values())])
    return "<h3>Two lines in series</h3>" + table(heading, rows) if rows else ""


def _places(entries: list[dict], images: dict[str, bytes], label: str) -> str:
    if not entries:
        return "<p>The study has none.</p>"
    body = _barrier_table(entries) if label == "barrier" else _line_table(entries)
    for k, entry in enumerate(entries):
        body += f"<h3>{escape(entry['name'])}</h3>"
        body += table(COLUMNS, percentile_rows(entry, PLACE_ROWS)) + STAR
        body += _design(entry["design"]) + _verification(entry)
        body += image(images, f"{label}_{k + 1}")
    return body


def _design(design: dict) -> str:
    heading = ["design values (UNI 11211-4)", "velocity [m/s]", "height [m]", "mass [kg]",
               "energy [kJ]", "free border [m]"]  # fmt: skip
    names = {"good": "good knowledge, all factors 1.02", "poor": "poor knowledge, all 1.10",
             CHOSEN: "as the study says"}  # fmt: skip
    rows = [
        [names[key], *(number(values[part]) for part in FIGURES),
         number(values.get("free_border_m"))]
        for key, values in design.items()
    ]  # fmt: skip
    return table(heading, rows) + f"<p class='note'>{escape(DESIGN_NOTE)}</p>"


def _verification(entry: dict) -> str:
    """Both conditions of a barrier, if the study gave what they need."""
    found = entry.get("verification")
    if found is None or entry["design"][CHOSEN]["E_kJ"] is None:
        return ""
    design = entry["design"][CHOSEN]
    words = {True: "met", False: "not met"}
    service = ""
    if "service_ok" in found:
        service = (
            f" Service level: allowed {number(found['allowed_service_kJ'])} kJ: "
            f"{words[found['service_ok']]}."
        )
    return (
        f"<p>Energy: design {number(design['E_kJ'])} kJ, allowed "
        f"{number(found['allowed_E_kJ'])} kJ: {words[found['energy_ok']]}. Height: needed "
        f"{number(found['needed_h_m'])} m, there are {number(entry['height_m_nominal'])} m: "
        f"{words[found['height_ok']]}.{service}</p>"
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
             with_band(entry["energy_kJ"]["p95"]), with_band(entry["height_m"]["p95"])]
        )  # fmt: skip
    return table(heading, rows)


def _line_table(entries: list[dict]) -> str:
    heading = ["check line", "runs", "share [%]", "95 % energy [kJ]", "95 % height [m]",
               "smallest shadow angle at rest [°]"]  # fmt: skip
    rows = [
        [entry["name"], str(entry["crossed"]), f"{100 * entry['share_crossed']:.1f}",
         with_band(entry["energy_kJ"]["p95"]), with_band(entry["height_m"]["p95"]),
         number(entry["shadow_angle_deg"]["min"])]
        for entry in entries
    ]  # fmt: skip
    return table(heading, rows)


def _summary(manifest: dict, statistics: dict) -> str:
    runs, lines = statistics["runs"], []
    lines.append(f"{manifest['runs']} runs, seed {manifest['seed']}.")
    lost = {LOST[k]: 0 for k in LOST if k in runs["reasons"]}
    for key, words in LOST.items():
        if key in runs["reasons"]:
            lost[words] += runs["reasons"][key]
    alarm = ""
    if lost:
        total = sum(lost.values())
        share = 100 * total / manifest["runs"]
        parts = ", ".join(f"{count} {words}" for words, count in lost.items())
        alarm = (
            f"<p class='alarm'>{total} of {manifest['runs']} runs ({share:.1f} %) did not come to "
            f"rest: {escape(parts)}. How far these rocks go is not known. They are no deposits, "
            f"and run-outs and reach angles count them as going farther.</p>"
        )
    warnings = "".join(
        f"<p class='warning'>{escape(text)}</p>" for text in manifest.get("findings") or ()
    )
    run_out = runs["runout_m"]
    lines.append(f"Run-out [m]: 95 % {with_band(run_out['p95'])}, largest {largest(run_out)}.")
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
    return section("Summary", alarm + bullets(lines) + warnings)


def _inputs(manifest: dict) -> str:
    study = compact_json(manifest["study"])
    files = [[name, str(digest)] for name, digest in manifest["inputs"].items()]
    versions = [[name, str(version)] for name, version in manifest["versions"].items()]
    versions += [["python", manifest["python"]], ["machine", manifest["machine"]]]
    facts = [
        ["seed", str(manifest["seed"])], ["runs", str(manifest["runs"])],
        ["engine", manifest["engine"]], ["digest of the code", str(manifest.get("code"))],
        ["digest of the plan", manifest["plan"]],
        ["reference system", str(manifest.get("crs") or "local")],
        ["local origin [m]", ", ".join(f"{x:.12g}" for x in manifest["origin_m"])],
    ]  # fmt: skip
    body = f"<details open><summary>Study</summary><pre>{escape(study)}</pre></details>"
    body += "<h3>Input files</h3>" + table(["file", "SHA-256"], files, "code digests")
    body += "<h3>Computation</h3>" + table(["", ""], facts, "code")
    body += "<h3>Versions</h3>" + table(["package", "version"], versions, "code")
    return section("Study file, inputs and versions", body)
