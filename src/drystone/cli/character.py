"""drystone character CLIP: a figure follows a clip, is disturbed; what came of it is written."""

from pathlib import Path
from typing import Annotated

import typer

from drystone.cli.console import compiling, plainly, results, screen
from drystone.errors import InputError
from drystone.model.checks import shown


@plainly
def character(  # one argument for each option, as in run()
    clip: Annotated[Path, typer.Argument(help="A BVH or AMC file, or a motion of DeepMimic.")],
    throw: Annotated[
        list[str] | None, typer.Option(metavar="TIME,TARGET[,KG[,M/S]]", help="A ball at a bone.")
    ] = None,
    push: Annotated[
        list[str] | None, typer.Option(metavar="TIME,TARGET[,N S]", help="Push a bone sideways.")
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option(metavar="TIME,TARGET[,KG]", help="Tie a weight to a bone.")
    ] = None,
    move_floor: Annotated[
        str | None, typer.Option(metavar="TIME,M/S,SECONDS", help="Move the floor along x.")
    ] = None,
    free_root: Annotated[bool, typer.Option("--free-root", help="On its own feet.")] = False,
    assisted_root: Annotated[
        bool, typer.Option("--assisted-root", help="Free, with a stated residual force.")
    ] = False,
    branch: Annotated[
        str | None, typer.Option(help="Only this joint and what hangs on it.")
    ] = None,
    start: Annotated[float | None, typer.Option(help="Of the clip, in seconds.")] = None,
    end: Annotated[float | None, typer.Option(help="Of the clip, in seconds.")] = None,
    cycles: Annotated[int, typer.Option(min=1, help="Of a clip that is a cycle.")] = 1,
    unit: Annotated[str | None, typer.Option(help="Of the file: m, cm, mm, inch, cmu.")] = None,
    skeleton: Annotated[Path | None, typer.Option(help="ASF file of an AMC file.")] = None,
    rate: Annotated[float | None, typer.Option(help="Of an AMC file, in Hz.")] = None,
    mass: Annotated[float, typer.Option(help="Of the person, in kg.")] = 75.0,
    height: Annotated[float | None, typer.Option(help="Of the person, in m.")] = None,
    cutoff: Annotated[float, typer.Option(help="Of the smoothing, in Hz.")] = 6.0,
    frequency: Annotated[float, typer.Option(help="Of the muscles as springs, in rad/s.")] = 14.0,
    friction: Annotated[float, typer.Option(help="Of skin and floor.")] = 0.8,
    dt: Annotated[float, typer.Option(help="Step in seconds.")] = 1.0 / 240.0,
    out: Annotated[Path | None, typer.Option(help="Folder for tables, plots, recording.")] = None,
    view: Annotated[
        bool, typer.Option("--view", help="Show the recording in the browser.")
    ] = False,
    port: Annotated[int, typer.Option(help="Of --view: of the page.")] = 8080,
) -> None:
    """A figure follows CLIP with its muscles, is disturbed, and what came of it is written."""
    from drystone.world.character.gains import Gains

    options = {
        "unit": unit, "skeleton": skeleton, "rate": rate, "height": height,
        "start": start, "end": end, "cycles": cycles, "branch": branch,
        "root": _root_of(free_root, assisted_root), "mass": mass, "cutoff": cutoff, "dt": dt,
        "disturbances": _disturbances(throw, push, load, move_floor), "friction": friction,
        "gains": Gains(frequency=frequency),
    }  # fmt: skip
    _follow_clip(clip, options, out, view, port)


def _disturbances(throws, pushes, loads, floor) -> tuple:
    """Of the options of the command line: TIME,TARGET with more numbers behind."""
    from drystone.world.character.run import Disturbance

    found = []
    for kind, options in (("throw", throws), ("push", pushes), ("load", loads)):
        for text in options or ():
            parts = text.split(",")
            most = 4 if kind == "throw" else 3
            if not 2 <= len(parts) <= most:
                raise InputError(
                    f"--{kind} is {shown(text)}, must be TIME,TARGET and up to {most - 2} "
                    f"numbers more."
                )
            time, *rest = (_number(kind, text, part) for part in (parts[0], *parts[2:]))
            found.append(Disturbance(time, kind, parts[1], *rest))
    if floor:
        numbers = [_number("move-floor", floor, part) for part in floor.split(",")]
        if len(numbers) != 3:
            raise InputError(f"--move-floor is {shown(floor)}, must be TIME,SPEED,SECONDS.")
        found.append(Disturbance(numbers[0], "floor", size=numbers[2], speed=numbers[1]))
    return tuple(found)


def _number(option: str, text: str, part: str) -> float:
    try:
        return float(part)
    except ValueError:
        raise InputError(f"--{option} is {shown(text)}: {shown(part)} is no number.") from None


def _root_of(free: bool, assisted: bool) -> str:
    if free and assisted:
        raise InputError("--free-root and --assisted-root: give only one.")
    return "free" if free else "assisted" if assisted else "follow"


def _follow_clip(path: Path, options: dict, out: Path | None, view: bool, port: int) -> None:
    """Read the clip, run, print what happened, write, and show."""
    from drystone.world.character.clips.clip import Clip
    from drystone.world.character.report import events
    from drystone.world.character.run import run_character
    from drystone.world.run import progress_bar

    clip = Clip.load(path, *(options.pop(name) for name in ("unit", "skeleton", "rate")))
    for finding in clip.check():
        screen.print(str(finding), style="yellow", markup=False, soft_wrap=True)
    start, end = options.pop("start"), options.pop("end")
    if start is None:
        # The first frame of the clips of the CMU database, as BVH, is another pose.
        odd = any("first frame" in finding.what for finding in clip.check())
        start = clip.dt if odd else 0.0
    clip = clip.levelled().repeated(options.pop("cycles")).trimmed(start, end)
    joint = options.pop("branch")
    clip = clip if joint is None else clip.branch(joint)
    if out is not None:
        options["record"] = out / "recording.h5"
    elif view:
        raise InputError("--view shows the recording, which needs --out.")
    with compiling(screen), progress_bar(screen, 0) as update:

        def show(done: int, total: int) -> None:
            update(completed=done, total=total, time=done * options["dt"])

        run = run_character(clip, progress=show, **options)
    screen.print(f"{run.character.figure}", markup=False, soft_wrap=True)
    for name, value in run.summary().items():
        results.print(f"{name:32} {value:.6g}", markup=False, highlight=False)
    for line in events(run):
        results.print(line, markup=False, soft_wrap=True, highlight=False)
    if out is not None:
        with screen.status("Writing ..."):
            files = run.write(out)
        screen.print(
            f"Written to {out}: {', '.join(f.name for f in files)}", markup=False, soft_wrap=True
        )
        screen.print(f"Next: drystone view {out / 'recording.h5'}", markup=False, soft_wrap=True)
    if view:
        from drystone.cli.view import view_anything

        view_anything(str(out / "recording.h5"), port, "127.0.0.1", None)
