"""Scenarios of a study: variants of its entries, each run in its own folder, compared in a page.

What a scenario may say: study/scenarios.py.
"""

from html import escape
from pathlib import Path

from drystone.model.checks import of_kind
from drystone.model.signatures import public
from drystone.rockfall.input_files import as_path
from drystone.rockfall.report.html_frame import html_page
from drystone.rockfall.report.html_parts import section, table, with_band
from drystone.rockfall.run.montecarlo import run_study
from drystone.rockfall.run.part_files import write_whole
from drystone.rockfall.study.scenarios import folder_name, scenarios_of
from drystone.rockfall.study.study import Study

NAME = "comparison.html"
FIGURES = ("runout_m", "max_speed_m_s", "max_energy_kJ", "max_height_m")
STAR = "<p class='note'>* not enough runs for this figure, see the report of the scenario.</p>"


@public
def sweep_study(
    study: Study,
    out: str | Path,
    workers: int | None = None,
    overwrite: bool = False,
    report: bool = False,
) -> Path:
    """Run the study and all its scenarios into folders of `out`; the page that compares them.

    Scenarios that are finished are kept, unless `overwrite`; so an interrupted sweep goes on.
    report   write a report for each of them too
    """
    of_kind("study", study, Study, "a Study, as Study.load() reads it")
    out = as_path("out", out)
    variants = scenarios_of(study)
    found = []
    for name, variant in variants:
        folder = out / folder_name(name)
        unfinished = (folder / "manifest.json").is_file() and not overwrite
        results = run_study(variant, folder, workers, resume=unfinished, overwrite=overwrite)
        if report:
            from drystone.rockfall.report.html import report_study

            report_study(results)
        found.append((name, results))
    path = out / NAME
    write_whole(path, _page(study, found).encode())
    return path


def _page(study: Study, found: list) -> str:
    """Runs, barriers and check lines of all scenarios, a row each."""
    rows = []
    for name, results in found:
        runs = results.statistics["runs"]
        rows.append([name, str(runs["count"]), str(runs["not_at_rest"]),
                     *(with_band(runs[key]["p95"]) for key in FIGURES)])  # fmt: skip
    heading = ["scenario", "runs", "not at rest", "95 % run-out [m]", "95 % velocity [m/s]",
               "95 % energy [kJ]", "95 % height [m]"]  # fmt: skip
    body = section("Runs", table(heading, rows) + STAR)
    body += _places(found, "barriers", "Barriers", ("reached", "stopped", "passed", "overtopped"))
    body += _places(found, "lines", "Check lines", ("crossed",))
    changes = "".join(
        f"<h3>{escape(part.name)}</h3>"
        + table(["entry", "value"], [[k, str(v)] for k, v in part.set.items()], "text")
        for part in study.settings.scenarios or []
    )
    body += section("What the scenarios change", changes)
    return html_page(f"{study.title}: scenarios", body)


def _places(found: list, key: str, heading: str, counts: tuple[str, ...]) -> str:
    rows = [
        [name, entry["name"], *(str(entry[count]) for count in counts),
         with_band(entry["energy_kJ"]["p95"]), with_band(entry["height_m"]["p95"])]
        for name, results in found
        for entry in results.statistics[key]
    ]  # fmt: skip
    names = ["scenario", "name", *counts, "95 % energy [kJ]", "95 % height [m]"]
    return section(heading, table(names, rows) + STAR) if rows else ""
