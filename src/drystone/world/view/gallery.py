"""The gallery: a page of all scenes, each with a picture that the browser draws by itself.

/gallery is the page, /gallery/NAME what it shows of a scene, /gallery/NAME/open puts the scene into
the viewer and goes back to it.
"""

import html
import threading
from collections.abc import Callable
from importlib.resources import files
from urllib.parse import quote, unquote

from drystone.world.export.drawing import drawing_of_world
from drystone.world.export.html import page

ROOT = "/gallery"
# What a browser says of a request that a page of our own, or the visitor himself, has made.
OWN_REQUESTS = (None, "same-origin", "none")


class Gallery:
    """Answers requests for the pages of `scenes`, {name: (summary, build, from where)}."""

    def __init__(self, scenes: dict, open_scene: Callable[[str], object]) -> None:
        self._scenes, self._open = scenes, open_scene
        self._pages: dict[str, str] = {}
        self._building = threading.Lock()

    def answer(self, path: str, came_from: str | None) -> tuple[str, str] | None:
        """(page, "") or ("", address to go to), or None: there is no such page.

        came_from   the header Sec-Fetch-Site: no other site may open a scene
        """
        name, _, verb = unquote(path.removeprefix(ROOT)).strip("/").partition("/")
        if not name:
            return self._all(), ""
        if name not in self._scenes:
            return None
        if verb == "open" and came_from in OWN_REQUESTS:
            self._open(name)
            return "", "/"
        return (self._one(name), "") if not verb else None

    def _all(self) -> str:
        cards = []
        for name, (summary, *_) in self._scenes.items():
            place, label = f"{ROOT}/{quote(name)}", html.escape(name)
            cards.append(
                f'<article><a class="look" href="{place}/open" data-page="{place}" '
                f'aria-label="{label}"></a><h2>{label}</h2><p>{html.escape(summary)}</p>'
                f'<a class="open" href="{place}/open">Open</a></article>'
            )
        text = files("drystone.world.view").joinpath("gallery.html").read_text(encoding="utf-8")
        return text.replace("CARDS", "\n".join(cards), 1)

    def _one(self, name: str) -> str:
        """The scene as it begins; built once, one at a time."""
        with self._building:
            if name not in self._pages:
                _, build, view = self._scenes[name]
                shown = page(drawing_of_world(build()), name, view)
                self._pages[name] = shown.replace('<div id="bar">', '<div id="bar" hidden>', 1)
            return self._pages[name]
