"""What `drystone view`, `export` and `movie` do."""

from contextlib import nullcontext
from pathlib import Path

from drystone.errors import InputError
from drystone.model.checks import did_you_mean
from drystone.model.files import make_folder
from drystone.scenes import SCENES, find_scene

FIRST_SCENE = "box-stack"  # of the gallery


def gallery() -> dict:
    """All scenes, for the viewer: {name: (summary, a function that builds it, from where)}."""
    return {
        name: (f"{_begun(scene.summary)}. {_begun(scene.expect)}.", scene.build, scene.view)
        for name, scene in SCENES.items()
    }


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def view_scene(name: str, options: dict, record: Path | None, every: int, port: int) -> None:
    """Run a scene live in the browser, recorded if wished."""
    from drystone.world.io.recorder import record as record_world
    from drystone.world.view.viewer import view_world

    scene = find_scene(name)
    options = {k: scene.read_option(k, v) if isinstance(v, str) else v for k, v in options.items()}
    world = scene.build(**options)
    with record_world(world, record, every=every) if record is not None else nullcontext():
        view_world(world, port, "127.0.0.1", None, True, True, gallery(), scene.view)


def view_anything(what: str | None, port: int, host: str, token: str | None) -> None:
    """A recording by its file, a scene by its name, or the gallery."""
    from drystone.world.io.recording import Recording
    from drystone.world.view.replay_viewer import ReplayViewer
    from drystone.world.view.viewer import view_world, wait_for_end

    if what is not None and what not in SCENES:
        if not Path(what).exists():
            raise InputError(f"{what} is neither a file nor a scene. {did_you_mean(what, SCENES)}")
        with Recording(what) as recording:
            wait_for_end(ReplayViewer(recording, port, host, token))
        return
    scene = find_scene(what or FIRST_SCENE)
    view_world(scene.build(), port, host, token, True, False, gallery(), scene.view)


def export_file(path: Path, out: Path, frame: int, screen) -> None:
    from drystone.world.io.recording import Recording

    make_folder(out.parent, "the folder cannot be made")
    with Recording(path) as recording, screen.status(f"Writing {out} ..."):
        recording.export(out, frame)
    screen.print(f"Written: {out}", markup=False)


def make_movie(path: Path, out: Path, fps: float, speed: float, size: tuple, screen) -> None:
    from rich.progress import Progress

    from drystone.world.io.movie import write_movie
    from drystone.world.io.recording import Recording

    make_folder(out.parent, "the folder cannot be made")
    with Recording(path) as recording, Progress(console=screen) as bar:
        task = bar.add_task("Drawing", total=None)
        write_movie(
            recording, out, fps, speed, size,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )  # fmt: skip
    screen.print(f"Written: {out}", markup=False)
