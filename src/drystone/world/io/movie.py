"""Films of recordings, without a display: pyvista draws, ffmpeg packs (the `render` extra)."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError, InputError
from drystone.model.checks import function, integer, positive, vector
from drystone.model.files import as_path, read_file, write_file
from drystone.world.export.drawing import drawing_of_recording
from drystone.world.io.framing import frame_scene
from drystone.world.io.render import FILM, Scene
from drystone.world.io.windows import pyvista

KINDS = (".mp4", ".webm", ".gif")
LEAST_FPS, MOST_FPS = 0.01, 1000.0
MOST_PICTURES = 1_000_000  # nine hours at 30 a second
FRAMED = 40  # states over the whole run that the camera must hold


def write_movie(
    recording,
    path,
    fps: float = 30.0,
    speed: float = 1.0,
    size=(1280, 720),
    camera=None,
    progress: Callable[[int, int], object] | None = None,
) -> Path:
    """Film `recording` to `path`; it lasts as long as the run did, divided by `speed`.

    fps        pictures a second
    camera     as in World.picture()
    progress   called as progress(pictures done, pictures in all)
    """
    path = as_path(path)
    if path.suffix.lower() not in KINDS:
        raise InputError(f"{path}: films are {', '.join(KINDS)} files, not {path.suffix!r}.")
    fps, speed = positive("fps", fps, "1/s"), positive("speed", speed, "")
    if not LEAST_FPS <= fps <= MOST_FPS:
        raise InputError(f"fps is {fps:g} 1/s, must be from {LEAST_FPS:g} to {MOST_FPS:g}.")
    # Blocks of 16 pixels are what codecs want.
    wide, high = (16 * max(1, integer("size", x, 16, 8192) // 16) for x in vector("size", size, 2))
    progress = function("progress", progress)
    pyvista()  # that it is there is asked before anything is drawn
    imageio = _imageio()
    drawing = drawing_of_recording(recording)
    times, poses = drawing.times, drawing.pose
    span = float(times[-1] - times[0])
    wanted = span / speed * fps
    if not wanted <= MOST_PICTURES:
        raise InputError(
            f"{path}: the film would have {wanted:.3g} pictures, may have {MOST_PICTURES}: "
            f"{span:g} s at speed {speed:g} and {fps:g} pictures a second. Choose a larger speed."
        )
    count = max(1, round(wanted))
    chosen = np.linspace(0, len(poses) - 1, min(FRAMED, len(poses))).astype(int)
    shown = [poses[k] for k in chosen]
    view = frame_scene(drawing, shown, camera, wide / high)
    with (
        tempfile.TemporaryDirectory() as folder,
        Scene(drawing, shown, view, (wide, high), FILM) as scene,
    ):
        part = Path(folder) / f"film{path.suffix.lower()}"
        options = {} if path.suffix.lower() == ".gif" else {"macro_block_size": 16}
        with imageio.get_writer(part, fps=fps, **options) as film:
            for k in range(count):
                film.append_data(scene.picture(drawing.at(times[0] + k * speed / fps)))
                if progress is not None:
                    progress(k + 1, count)
        return write_file(path, read_file(part), "the film cannot be written there")


def _imageio():
    try:
        import imageio
        import imageio_ffmpeg  # noqa: F401  what packs the film
    except ImportError:
        raise DrystoneError(
            "Films need imageio and imageio-ffmpeg. Install them with: pip install "
            "'drystone[render]'"
        ) from None
    return imageio.v2 if hasattr(imageio, "v2") else imageio
