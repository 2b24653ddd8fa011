"""What a browser without a window makes of the pages: the report as PDF, and pictures of them."""

import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from drystone.errors import DrystoneError
from drystone.rockfall.optional_packages import load

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
)  # fmt: skip
LONGEST = 180.0  # [s] for a report of a hundred figures, on a busy machine
FLAGS = (
    "--headless", "--disable-quic", "--no-first-run", "--no-pdf-header-footer",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# WebGL without a graphics card, and time for the script of the 3D view to draw.
DRAWN = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=4000")
WIDTH = 1100  # [pixels] of a picture
SLICE = 4000  # [pixels] of a long page in one picture: browsers draw no more than 16,384
SLICES = 15
# A page in a frame that is moved up: browsers take pictures of the top of a page alone.
MOVED = """<!DOCTYPE html><body style="margin:0;overflow:hidden"><iframe scrolling="no"
style="border:0;width:{width}px;height:{tall}px;margin-top:-{up}px" src="{page}"></iframe>"""


def find_browser() -> str | None:
    """A browser of this machine that can print; DRYSTONE_BROWSER names another."""
    named = os.environ.get("DRYSTONE_BROWSER")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, pdf: Path) -> Path:
    """Print an HTML file; DrystoneError in one sentence if it cannot be done."""
    flags = ("--disable-gpu", page.resolve().as_uri())
    return _made(f"print {page.name}", "--print-to-pdf", pdf, *flags)


def take_pictures(page: Path, folder: Path, whole: bool = True) -> list[Path]:
    """Pictures of an HTML file in `folder`: PAGE-1.png and on, or with `whole` False the window."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"{page.stem}-*.png"):
        if old.stem.removeprefix(f"{page.stem}-").isdecimal():
            old.unlink()
    taken: list[Path] = []
    for k in range(SLICES if whole else 1):
        with tempfile.TemporaryDirectory(prefix="drystone-") as scratch:
            frame = Path(scratch) / "frame.html"
            tall = SLICE * SLICES if whole else WIDTH * 3 // 4
            where = {"width": WIDTH, "tall": tall, "page": page.resolve().as_uri()}
            frame.write_text(MOVED.format(up=SLICE * k, **where), encoding="utf-8")
            size = f"--window-size={WIDTH},{SLICE if whole else tall}"
            shown = "--hide-scrollbars", "--force-device-scale-factor=1", size, frame.as_uri()
            path = folder / f"{page.stem}-{k + 1}.png"
            _made(f"draw {page.name}", "--screenshot", path, *DRAWN, *shown)
        if not _trim(path):
            path.unlink()
            break
        taken.append(path)
    return taken


def _trim(path: Path) -> bool:
    """Cut off what is white at the bottom; False if nothing else is there."""
    image = load("PIL.Image", "A picture of a page")
    with image.open(path) as picture:
        rows = np.asarray(picture.convert("L")).min(axis=1)
        used = np.flatnonzero(rows < 250)
        if len(used) == 0:
            return False
        cut = picture.crop((0, 0, picture.width, min(int(used[-1]) + 40, picture.height)))
        content = io.BytesIO()
        cut.save(content, format="png", optimize=True)
    path.write_bytes(content.getvalue())
    return True


def _made(what: str, order: str, target: Path, *flags: str) -> Path:
    """A file that the browser writes; `what` it does for it."""
    browser = find_browser()
    if browser is None:
        raise DrystoneError(
            f"no browser was found to {what} (looked for {', '.join(BROWSERS)}). "
            f"Install Chromium, or open the page yourself."
        )
    with tempfile.TemporaryDirectory(prefix="drystone-", ignore_cleanup_errors=True) as profile:
        part = Path(profile) / target.name
        command = [browser, *FLAGS, f"--user-data-dir={profile}/profile", f"{order}={part}", *flags]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # which Chromium refuses for root otherwise
        try:
            done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DrystoneError(f"{browser} could not {what}: {error}.") from None
        if not part.is_file() or part.stat().st_size == 0:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason"]
            raise DrystoneError(f"{browser} could not {what}: {last[0]}.")
        shutil.move(part, target)
    return target
