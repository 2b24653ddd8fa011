"""The report as PDF: the same page, printed by a browser without a window."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from drystone.errors import DrystoneError

BROWSERS = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge",
)  # fmt: skip
LONGEST = 180.0  # [s] for a report of a hundred figures, on a busy machine
FLAGS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--no-pdf-header-footer",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def find_browser() -> str | None:
    """A browser of this machine that can print; DRYSTONE_BROWSER names another."""
    named = os.environ.get("DRYSTONE_BROWSER")
    return named or next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_pdf(page: Path, pdf: Path) -> Path:
    """Print an HTML file; DrystoneError in one sentence if it cannot be done."""
    browser = find_browser()
    if browser is None:
        raise DrystoneError(
            f"no browser was found to print {page.name} (looked for {', '.join(BROWSERS)}). "
            f"Install Chromium, or open the report and print it yourself."
        )
    with tempfile.TemporaryDirectory(prefix="drystone-", ignore_cleanup_errors=True) as profile:
        part = Path(profile) / "report.pdf"
        command = [browser, *FLAGS, f"--user-data-dir={profile}/profile",
                   f"--print-to-pdf={part}", page.resolve().as_uri()]  # fmt: skip
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.insert(1, "--no-sandbox")  # which Chromium refuses for root otherwise
        try:
            done = subprocess.run(command, capture_output=True, timeout=LONGEST, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise DrystoneError(f"{browser} could not print {page.name}: {error}.") from None
        if not part.is_file() or part.stat().st_size == 0:
            last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no reason"]
            raise DrystoneError(f"{browser} could not print {page.name}: {last[0]}.")
        shutil.move(part, pdf)
    return pdf
