"""The command line. Talk and progress go to stderr, results to stdout; wrong input exits with 2."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from drystone.cli import rockfall
from drystone.cli.character import character
from drystone.cli.console import Debug, plainly, results, screen
from drystone.errors import InputError

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
app.add_typer(rockfall.app, name="rockfall")
app.command()(character)

INTERRUPTED = 130  # what shells expect after Ctrl-C


def _say_version(wanted: bool) -> None:
    if wanted:
        import drystone

        results.print(f"drystone {drystone.__version__}")
        raise typer.Exit


@app.callback()
def main(
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say it and exit."),
    ] = False,
) -> None:
    """Rigid bodies that touch: hard contact, dry friction, impacts, joints."""
    Debug.on = debug


@app.command("scenes")
@plainly
def list_scenes(
    name: Annotated[str | None, typer.Argument(help="One scene, with its options.")] = None,
    long: Annotated[bool, typer.Option("--long", help="Also what was found, and by whom.")] = False,
) -> None:
    """What can be run, one line each."""
    from drystone.scenes import SCENES, find_scene

    if name is None:
        for scene in SCENES.values():
            results.print(f"{scene.name:14} {scene.summary}", markup=False, soft_wrap=True)
            if long:
                for line in scene.background():
                    results.print(f"{'':14} {line}", markup=False, soft_wrap=True)
        screen.print("Next: drystone scenes wall, or: drystone run wall", markup=False)
        return
    scene = find_scene(name)
    results.print(f"{name}: {scene.summary}", markup=False, soft_wrap=True)
    for line in scene.background():
        results.print(line, markup=False, soft_wrap=True)
    results.print(f"Runs for {scene.seconds:g} s. Options, for --set:", markup=False)
    for option, default in scene.options.items():
        results.print(f"  {option}={default}", markup=False)


@app.command()
@plainly
def run(  # one argument for each option of the command line, which typer asks for
    scene_name: Annotated[str, typer.Argument(metavar="SCENE", help="See: drystone scenes.")],
    seconds: Annotated[float | None, typer.Option(help="How long, in simulated time.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step in seconds.")] = None,
    solver: Annotated[str | None, typer.Option(help="Contact solver.")] = None,
    tolerance: Annotated[float | None, typer.Option(help="Of the solver, in m/s.")] = None,
    seed: Annotated[int | None, typer.Option(help="Of scenes that draw numbers.")] = None,
    record: Annotated[Path | None, typer.Option(help="Write a recording (HDF5).")] = None,
    every: Annotated[int, typer.Option(min=1, help="Steps between recorded frames.")] = 4,
    picture: Annotated[
        Path | None, typer.Option(help="Write a picture of before and after (png).")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Option of the scene.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the summary as JSON; - is stdout.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many cores to use.")] = None,
    sleeping: Annotated[bool, typer.Option(help="Let islands at rest sleep.")] = True,
    view: Annotated[
        bool, typer.Option("--view", help="Run it in the browser, live, until Ctrl-C.")
    ] = False,
    port: Annotated[int, typer.Option(help="Of --view: of the page.")] = 8080,
) -> None:
    """Run SCENE, with a progress bar and a summary."""
    from drystone.cli.run import run_scene

    settings = {"dt": dt, "solver": solver, "tolerance": tolerance, "seed": seed}
    settings = {name: value for name, value in settings.items() if value is not None}
    if not sleeping:
        settings["sleeping"] = False
    if view:
        from drystone.cli.view import view_scene

        if seconds is not None or picture is not None or json_file is not None:
            raise InputError("--view runs until Ctrl-C: leave out --seconds, --picture, --json.")
        view_scene(scene_name, settings | _pairs(options or []), record, every, port)
        return
    finished = run_scene(
        scene_name, seconds, settings | _pairs(options or []), threads,
        record, every, picture, json_file, screen, results,
    )  # fmt: skip
    if not finished:
        raise typer.Exit(INTERRUPTED)


@app.command()
@plainly
def robot(
    file: Annotated[Path, typer.Argument(help="A URDF or MJCF file.")],
    base: Annotated[str, typer.Option(help="Root of a URDF: fixed or free.")] = "fixed",
    meshes: Annotated[str, typer.Option(help="Collision meshes: hull or exact.")] = "hull",
    picture: Annotated[Path | None, typer.Option(help="Draw it (png).")] = None,
) -> None:
    """The tree of a robot, its masses and degrees of freedom, and what was ignored."""
    from drystone.cli.robot import describe, draw
    from drystone.world.robots.robot import Robot

    loaded = Robot.load(file, base=base, meshes=meshes)
    for line in describe(loaded):
        results.print(line, markup=False, soft_wrap=True, highlight=False)
    if picture is not None:
        draw(loaded, picture)
        screen.print(f"Wrote {picture}", markup=False)


@app.command()
@plainly
def compare(
    what: Annotated[
        str, typer.Argument(help="A scene, a problem file, or a folder of problem files.")
    ],
    solvers: Annotated[
        str | None, typer.Option(help="Which, such as nsgs,prox; all if not given.")
    ] = None,
    solver: Annotated[
        list[str] | None,
        typer.Option(help="One more, also of your own: my_module:MySolver. Can be repeated."),
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Where to stop, on the measure.")] = 1e-8,
    measure: Annotated[
        str | None,
        typer.Option(help="velocity (m/s) or relative; relative if only matrices are given."),
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Of a scene: which step's problem.")] = 100,
    seconds_limit: Annotated[float, typer.Option(help="About how long a solve may take.")] = 10.0,
    output: Annotated[
        Path | None, typer.Option(help="Folder for JSON and plots; compare-WHAT if not given.")
    ] = None,
    plot: Annotated[
        bool | None, typer.Option(help="Draw the plots; if not said, where matplotlib is there.")
    ] = None,
    options: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Option of the scene.")
    ] = None,
) -> None:
    """Solve the same problems by several solvers: table, convergence, performance profile."""
    from drystone.cli.compare import run_compare

    names = None if solvers is None else solvers.split(",")
    if solver:
        from drystone.solvers import solver_names

        sys.path.insert(0, "")  # modules of the current folder, as with python -m
        names = [*(solver_names() if names is None else names), *solver]
    finished, fine = run_compare(
        what, names, tolerance, measure, steps, _pairs(options or []), seconds_limit, output, plot,
        screen, results,
    )  # fmt: skip
    if not finished:
        raise typer.Exit(INTERRUPTED)
    if not fine:
        raise typer.Exit(1)


@app.command("solvers")
@plainly
def list_solvers() -> None:
    """What each solver solves, and what it supports."""
    from drystone.solvers import FEATURES, LISTED, MEANING
    from drystone.world.io.text_table import text_table

    rows = [
        {"solver": name, "law": solver.law}
        | {feature: "yes" if feature in solver.supports else "no" for feature in FEATURES}
        for name, solver in LISTED.items()
    ]
    columns = [(key, key, "{}") for key in ("solver", "law", *FEATURES)]
    results.print(text_table(rows, columns), markup=False, soft_wrap=True)
    for feature in ("elliptic", "2d", "matrix"):
        screen.print(f"{feature}: {MEANING[feature]}", markup=False)
    screen.print("Next: drystone compare box-stack", markup=False)


# What each kind of `bench` heeds beside its own option; the plain one all but these and --plot.
HEEDED = {
    "mesh": ("scenes", "scale", "threads", "sleeping", "json_file", "plot"),
    "shots": ("threads",),
    "orderings": ("threads", "json_file"),
    "motion": ("threads", "json_file"),
    "structures": ("scenes", "scale", "peers", "peer_python", "threads", "json_file"),
    "siconos": ("threads", "json_file", "peer_python"),
    "penalty": ("scenes", "scale", "threads"),
}


@app.command()
@plainly
def bench(  # one argument for each option, as in run()
    context: typer.Context,
    scenes: Annotated[
        str | None, typer.Option(help="Which, such as S1,S4; all if not given.")
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Other engines too, if there.")] = False,
    peer_python: Annotated[
        Path | None, typer.Option(help="Interpreter that has the other engines.")
    ] = None,
    repeat: Annotated[int, typer.Option(min=1, help="Rounds; the best of each counts.")] = 3,
    scale: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Part of the steps, for a quick look.")
    ] = 1.0,
    scaling: Annotated[
        bool, typer.Option("--scaling", help="Cost per body from 100 to 10,000 bodies.")
    ] = False,
    solver: Annotated[str, typer.Option(help="Our contact solver.")] = "auto",
    orderings: Annotated[
        bool, typer.Option("--orderings", help="Only the orderings of pgs, beside their paper.")
    ] = False,
    motion: Annotated[
        bool, typer.Option("--motion", help="Only figures of motion that have a right answer.")
    ] = False,
    structures: Annotated[
        bool, typer.Option("--structures", help="Only large structures at rest; --scenes too.")
    ] = False,
    siconos: Annotated[
        Path | None, typer.Option(help="Only `auto` beside Siconos, on a folder of problems.")
    ] = None,
    penalty: Annotated[
        Path | None,
        typer.Option(help="Only the experiments of the penalty method: tables into this folder."),
    ] = None,
    mesh: Annotated[
        bool, typer.Option("--mesh", help="Only piles of meshes, phase by phase.")
    ] = False,
    plot: Annotated[Path | None, typer.Option(help="Of --mesh: draw the phases (png).")] = None,
    robots: Annotated[
        bool, typer.Option("--robots", help="Only robots beside MuJoCo; --scenes names them.")
    ] = False,
    batch: Annotated[
        bool, typer.Option("--batch", help="Of --robots: a batch of 1000 quadrupeds too.")
    ] = False,
    shots: Annotated[
        int | None, typer.Option(min=24, help="Only random shots at thin things: none may miss.")
    ] = None,
    cores: Annotated[
        str | None, typer.Option(help="Only falling piles on so many threads, such as 1,2,4,8.")
    ] = None,
    sleeping: Annotated[bool, typer.Option(help="Let islands at rest sleep.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the statistics as JSON lines.")
    ] = None,
    poses: Annotated[Path | None, typer.Option(help="Folder for the final poses (npz).")] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="How many cores to use.")] = None,
) -> None:
    """Time the fixed scenes S1 to S9, with the accuracy beside every time."""
    from drystone.bench.siconos import run_siconos
    from drystone.cli.bench import print_cores, print_motion, print_orderings, run_bench

    _refuse_idle(context)
    names = None if scenes is None else scenes.split(",")
    if mesh:
        from drystone.bench.mesh_phases import run_phases

        run_phases(names, scale, threads, sleeping, json_file, plot, screen, results)
        return
    if cores is not None:
        print_cores(cores, scale, json_file, screen, results)
        return
    if robots:
        from drystone.bench.robots import run_robots

        with _use_threads(threads):
            run_robots(names, batch, screen, results)
        return
    with _use_threads(threads):
        if shots is not None:
            from drystone.bench.tunnelling import run_shots

            if run_shots(shots, 0, screen, results):
                raise typer.Exit(1)
            return
        if penalty is not None:
            from drystone.bench.penalty_figures import run_penalty

            run_penalty(names, penalty, scale, screen, results)
            return
        if orderings:
            print_orderings(json_file, screen, results)
            return
        if motion:
            if print_motion(json_file, screen, results):
                raise typer.Exit(1)
            return
        if structures:
            from drystone.bench.structures import run_structures

            python = (peer_python or Path(sys.executable)) if peers else None
            if run_structures(names, scale, python, json_file, screen, results):
                raise typer.Exit(1)
            return
        if siconos is not None:
            python = peer_python or Path("/usr/bin/python3")
            run_siconos(siconos, python, 1e-8, json_file, screen, results)
            return
        run_bench(
            names, peers, peer_python or Path(sys.executable), repeat, scale, scaling, sleeping,
            json_file, poses, screen, results, solver,
        )  # fmt: skip


@app.command()
@plainly
def replay(
    file: Annotated[Path, typer.Argument(help="A recording (HDF5).")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Compare every step, bit for bit.")
    ] = False,
) -> None:
    """Run a recording again from its first state; with --verify compare every step."""
    from rich.progress import Progress

    from drystone.world.io.replay import replay as run_again

    with Progress(console=screen) as bar:
        task = bar.add_task("Replaying", total=None)
        outcome = run_again(
            file, verify, lambda done, total: bar.update(task, completed=done, total=total)
        )
    if not outcome:
        screen.print(outcome.complaint, style="red", markup=False, soft_wrap=True)
        raise typer.Exit(1)
    same = "all bit for bit as recorded" if outcome.verified else "not compared, see --verify"
    results.print(f"{file}: {outcome.steps} steps run again, {same}.", markup=False, soft_wrap=True)
    if outcome.unchecked:
        screen.print(outcome.unchecked, style="yellow", markup=False, soft_wrap=True)


Port = Annotated[int, typer.Option(help="Of the page; the next free one if it is taken.")]
Host = Annotated[str, typer.Option(help="Address to listen at; any but loopback needs --token.")]
Token = Annotated[str | None, typer.Option(help="What visitors must know.")]


@app.command()
@plainly
def view(
    what: Annotated[
        str | None, typer.Argument(help="A recording (HDF5) or a scene; none: the gallery.")
    ] = None,
    port: Port = 8080,
    host: Host = "127.0.0.1",
    token: Token = None,
) -> None:
    """Look at a recording, or play with a scene, in the browser."""
    from drystone.cli.view import view_anything

    view_anything(what, port, host, token)


@app.command()
@plainly
def export(
    recording: Annotated[Path, typer.Argument(help="A recording (HDF5).")],
    out: Annotated[
        Path, typer.Argument(help="By its ending: .html .glb .usd .usda .usdc .csv .parquet .ply")
    ],
    frame: Annotated[int, typer.Option(help="Of .ply, which holds one; -1 is the last.")] = -1,
) -> None:
    """Write a recording for other programs; .html plays offline in any browser."""
    from drystone.cli.view import export_file

    export_file(recording, out, frame, screen)


@app.command()
@plainly
def movie(
    recording: Annotated[Path, typer.Argument(help="A recording (HDF5).")],
    out: Annotated[Path, typer.Argument(help="The film: .mp4, .gif or .webm.")],
    fps: Annotated[float, typer.Option(min=1.0, max=120.0, help="Pictures a second.")] = 30.0,
    speed: Annotated[float, typer.Option(min=0.001, help="1 is real time.")] = 1.0,
    width: Annotated[int, typer.Option(min=64, max=7680)] = 1280,
    height: Annotated[int, typer.Option(min=64, max=4320)] = 720,
) -> None:
    """Make a film of a recording; needs no display."""
    from drystone.cli.view import make_movie

    make_movie(recording, out, fps, speed, (width, height), screen)


@app.command()
@plainly
def info(file: Annotated[Path, typer.Argument(help="A recording or saved world (HDF5).")]) -> None:
    """What is in FILE."""
    from drystone.cli.run import describe_file

    results.print(describe_file(file), markup=False, soft_wrap=True)


@app.command()
@plainly
def hashes(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[SCENE]...", help="Or rockfall; all if none.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="Of each scene.")] = 300,
    out: Annotated[Path | None, typer.Option(help="Write the hashes to this file too.")] = None,
    against: Annotated[
        Path | None, typer.Option(help="Compare with a file written before; differences exit 1.")
    ] = None,
) -> None:
    """Hash all bits that scenes run through, and compare with before a change."""
    from drystone.cli.hashes import run_hashes

    differ = run_hashes(names or [], steps, out, against, screen, results)
    if differ:
        screen.print(f"Not as in {against}: {', '.join(differ)}.", style="red", markup=False)
        raise typer.Exit(1)


@app.command("fuzz")
@plainly
def run_fuzzer(
    seconds: Annotated[
        float | None, typer.Option(min=0.0, help="About how long; 60 if nothing else is said.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Other seeds draw other cases.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(help="A family: arguments, worlds, joints, meshes, files, rockfall."),
    ] = None,
    cases: Annotated[int | None, typer.Option(min=1, help="So many of every family.")] = None,
    case: Annotated[int | None, typer.Option(min=0, help="One case again, by its number.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Batches of cases at the same time.")] = 1,
) -> None:
    """Random worlds, odd arguments, damaged files: each must end well. Findings exit with 1."""
    from drystone.cli.fuzz import run_fuzz

    if run_fuzz(only or [], seed, cases, seconds, case, jobs, screen, results):
        raise typer.Exit(1)


def _refuse_idle(context: typer.Context) -> None:
    """Refuse options of `bench` that would be ignored."""
    given = [
        option
        for option in context.command.params
        if context.get_parameter_source(option.name).name == "COMMANDLINE"
    ]
    kind = next((option for option in given if option.name in HEEDED), None)
    if kind is None:
        idle = [option.opts[0] for option in given if option.name == "plot"]
    else:
        heeded = (kind.name, *HEEDED[kind.name])
        idle = [option.opts[0] for option in given if option.name not in heeded]
    if idle:
        command = f"bench {kind.opts[0]}" if kind else "bench without --mesh"
        raise InputError(f"{command} would ignore {', '.join(idle)}; leave that out.")


def _pairs(options: list[str]) -> dict:
    """KEY=VALUE texts as a dict."""
    pairs = {}
    for text in options:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise InputError(f"--set {text!r}: must be KEY=VALUE, such as --set count=20.")
        pairs[key.replace("-", "_")] = value
    return pairs


def _use_threads(threads):
    if threads is None:
        return nullcontext()
    from drystone.jit.threads import use_threads

    return use_threads(threads)


if __name__ == "__main__":
    app()
