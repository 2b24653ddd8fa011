"""Cells of notebooks: a scene or a replay in a frame of its own, which a saved notebook keeps."""

import html

from drystone.world.export.drawing import Drawing, drawing_of_recording, drawing_of_world
from drystone.world.export.html import page

# A cell holds at most so many numbers, so that a notebook stays a small file; a recording is
# thinned out to it.
MOST_NUMBERS = 1_000_000


def cell_of_world(world) -> str:
    """What a notebook shows of a world."""
    if not len(world) and not world.fixed:
        return f"<code>{html.escape(repr(world))}</code>"
    return _cell(drawing_of_world(world), repr(world))


def cell_of_recording(recording) -> str:
    """What a notebook shows of a recording: it plays."""
    return _cell(drawing_of_recording(recording), str(recording.path.name))


def _cell(drawing: Drawing, title: str) -> str:
    every = -(-drawing.pose.size // MOST_NUMBERS) or 1
    thinned = drawing._replace(times=drawing.times[::every], pose=drawing.pose[::every])
    inside = html.escape(page(thinned, title), quote=True)
    return (
        f'<iframe srcdoc="{inside}" sandbox="allow-scripts" loading="lazy" '
        f'style="width:100%;height:420px;border:0"></iframe>'
    )
