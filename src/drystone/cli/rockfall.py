"""`drystone rockfall`: make a study, check it, run it, report on it."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import plainly, results, screen

app = typer.Typer(
    no_args_is_help=True, add_completion=False, help="Rockfall studies on real terrain."
)

INTERRUPTED = 130  # what shells expect after Ctrl-C
TerrainPath = Annotated[
    Path | None,
    typer.Option(
        help="Elevation grid in metres. If not given: terrain/avaKot.asc of DRYSTONE_DATA, or of "
        "../shared/data, or else the synthetic valley."
    ),
]
JsonPath = Annotated[Path | None, typer.Option("--json", help="Write the figures as JSON.")]
ResultsPath = Annotated[Path, typer.Argument(metavar="RESULTS", help="Folder of the results.")]
PdfFlag = Annotated[
    bool | None,
    typer.Option(
        "--pdf/--no-pdf", help="Print the report; if not given, where a browser is found."
    ),
]
ClusterAddress = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="Dask scheduler to use instead.")
]
TlsCaFile = Annotated[
    Path | None, typer.Option(help="Certificate authority of a tls:// cluster (PEM).")
]
TlsCert = Annotated[Path | None, typer.Option(help="Own certificate for it (PEM).")]
TlsKey = Annotated[Path | None, typer.Option(help="Its private key (PEM).")]
StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="Study file (TOML).")]


@app.command()
@plainly
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to make.")],
) -> None:
    """Write a complete study on a synthetic valley, to run and to change."""
    from drystone.rockfall.study.valley import new_study

    study = new_study(folder)
    results.print(str(study), markup=False, soft_wrap=True)
    screen.print(f"Next: drystone rockfall run {study}", markup=False, soft_wrap=True)


@app.command()
@plainly
def check(study_file: StudyPath) -> None:
    """Check STUDY without running it: what it is, and what is suspicious about it."""
    from drystone.rockfall.study.check import check_study
    from drystone.rockfall.study.study import Study

    checked = check_study(Study.load(study_file))
    for name, value in checked.rows:
        results.print(f"{name:18} {value}", markup=False, soft_wrap=True)
    for finding in checked.findings:
        results.print(str(finding), markup=False, soft_wrap=True)
    screen.print(f"Next: drystone rockfall run {study_file}", markup=False, soft_wrap=True)


@app.command("run")
@plainly
def run_command(  # one argument for each option, as in fit_command()
    study_file: StudyPath,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores if not given.")
    ] = None,
    cluster: ClusterAddress = None,
    tls_ca_file: TlsCaFile = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted.")
    ] = False,
    seed: Annotated[int | None, typer.Option(min=0, help="Instead of the study's.")] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Runs, instead of the study's.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the results; the study's if not given.")
    ] = None,
    report: Annotated[bool, typer.Option(help="Write the report when done.")] = True,
    lumped: Annotated[
        bool, typer.Option("--lumped", help="Rocks as points without shape and spin.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove the results of an earlier run first.")
    ] = False,
    pdf: PdfFlag = None,
) -> None:
    """Roll all rocks of STUDY and write rasters, tables, maps and the report."""
    from drystone.rockfall.study.check import check_study
    from drystone.rockfall.study.study import Study

    changes = {"seed": seed, "count": count}
    study = Study.load(study_file).with_runs(**{k: v for k, v in changes.items() if v is not None})
    for finding in check_study(study).findings:
        if finding.severity == "warning":
            screen.print(str(finding), style="yellow", markup=False, soft_wrap=True)
    folder = out if out is not None else study.folder / study.output.folder
    tls = _tls(tls_ca_file, tls_cert, tls_key)
    finished = _run(study, folder, workers, cluster, tls, resume, lumped, overwrite)
    if report:
        _report(finished, pdf)
    results.print(str(folder), markup=False, soft_wrap=True)


def _tls(ca_file: Path | None, cert: Path | None, key: Path | None) -> dict[str, Path] | None:
    """The files of an encrypted cluster that were given; None if none was."""
    tls = {"ca_file": ca_file, "cert": cert, "key": key}
    return {name: file for name, file in tls.items() if file is not None} or None


@app.command("report")
@plainly
def report_command(
    folder: ResultsPath,
    pdf: PdfFlag = None,
    screenshots: Annotated[
        bool, typer.Option("--screenshots", help="Pictures of the report and the 3D view too.")
    ] = False,
) -> None:
    """Write the report of finished RESULTS anew: one HTML file, its figures, and a PDF."""
    from drystone.rockfall.results.results import Results

    _report(Results(folder), pdf, screenshots)


@app.command("view")
@plainly
def view_command(
    folder: ResultsPath,
    runs: Annotated[int, typer.Option(min=1, help="Trajectories to show at most.")] = 200,
) -> None:
    """Write RESULTS/view.html: terrain, trajectories and tumbling rocks in 3D, to open offline."""
    from drystone.rockfall.report.view import write_view
    from drystone.rockfall.results.results import Results

    path = write_view(Results(folder), runs)
    results.print(str(path), markup=False, soft_wrap=True)


@app.command("sweep")
@plainly
def sweep_command(
    study_file: StudyPath,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes for each.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder; results/sweep if not given.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Compute all anew.")] = False,
    report: Annotated[bool, typer.Option(help="A report for each scenario too.")] = False,
) -> None:
    """Run every scenario of STUDY ([[scenarios]]) and compare them in one page."""
    from drystone.rockfall.run.sweep import sweep_study
    from drystone.rockfall.study.study import Study

    study = Study.load(study_file)
    folder = out if out is not None else study.folder / f"{study.output.folder}-sweep"
    page = sweep_study(study, folder, workers, overwrite, report)
    results.print(str(page), markup=False, soft_wrap=True)


@app.command("fit")
@plainly
def fit_command(  # one argument for each option, which typer asks for
    study_file: StudyPath,
    deposits: Annotated[
        Path, typer.Option(help="Observed deposits: points (GeoPackage, GeoJSON, shapefile, CSV).")
    ],
    heights: Annotated[
        Path | None, typer.Option(help="Observed passage heights: CSV of line, height_m.")
    ] = None,
    materials: Annotated[
        str | None, typer.Option(help="Materials to fit, by comma; all if not given.")
    ] = None,
    runs: Annotated[int, typer.Option(min=20, help="Rocks for each set of values.")] = 200,
    trials: Annotated[int, typer.Option(min=20, help="Sets of values.")] = 120,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder; STUDY's folder/fit if not given.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit.")] = False,
    cluster: ClusterAddress = None,
    tls_ca_file: TlsCaFile = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Fit restitution, friction and rolling resistance of STUDY to observed deposits."""
    from drystone.rockfall.fit.fit import fit_study
    from drystone.rockfall.study.study import Study

    study = Study.load(study_file)
    names = None if materials is None else [name.strip() for name in materials.split(",")]
    folder = out if out is not None else study.folder / "fit"
    tls = _tls(tls_ca_file, tls_cert, tls_key)
    found = fit_study(
        study, deposits, folder, heights, names, runs, trials, workers, resume, cluster, tls, True
    )
    for line in found.lines():
        results.print(line, markup=False, soft_wrap=True)


@app.command()
@plainly
def bench(
    terrain: TerrainPath = None,
    count: Annotated[int, typer.Option(min=1, help="Runs for every row.")] = 400,
    factors: Annotated[
        str, typer.Option(help="Sizes of the terrain: nodes along a side, times its own.")
    ] = "0.25,0.5,1,2,4",
    rocks: Annotated[str, typer.Option(help="Which.")] = "box,hull-20,hull-100",
    threads: Annotated[
        int | None, typer.Option(min=1, help="Cores to use; all if not given.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Rounds; the best counts.")] = 3,
    json_file: JsonPath = None,
) -> None:
    """Time trajectories on an elevation model of several sizes, with the accuracy beside."""
    from drystone.rockfall.bench.commands import run_rates

    chosen = [name.strip() for name in factors.split(",")], [n.strip() for n in rocks.split(",")]
    run_rates(terrain, count, *chosen, threads, repeat, json_file, screen, results)


@app.command()
@plainly
def penetration(
    terrain: TerrainPath = None,
    runs: Annotated[int, typer.Option(min=1, help="Random rocks to roll.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0)] = 1,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes; all cores if not given.")
    ] = None,
    json_file: JsonPath = None,
) -> None:
    """Roll random rocks on an elevation model and measure how deep any got into the ground."""
    from drystone.rockfall.bench.commands import run_penetration

    if not run_penetration(terrain, runs, seed, workers, json_file, screen, results):
        raise typer.Exit(1)


def _run(study, folder, workers, cluster, tls, resume, lumped, overwrite):
    from drystone.rockfall.run.montecarlo import run_study
    from drystone.rockfall.run.plan import LUMPED, ROLL

    try:
        return run_study(
            study, folder, workers=workers, cluster=cluster, tls=tls, resume=resume,
            roll=LUMPED if lumped else ROLL, overwrite=overwrite,
        )  # fmt: skip
    except KeyboardInterrupt as interruption:
        sentence = str(interruption) or "interrupted"
        screen.print(sentence, style="yellow", markup=False, soft_wrap=True)
        raise typer.Exit(INTERRUPTED) from None


def _report(finished, pdf: bool | None, screenshots: bool = False) -> None:
    from drystone.rockfall.report.browser import find_browser
    from drystone.rockfall.report.html import report_study

    path = report_study(finished, find_browser() is not None if pdf is None else pdf, screenshots)
    screen.print(f"Next: open {path} in a browser", markup=False, soft_wrap=True)
