"""MkDocs hook: pages at the root of the repository, and links that lead out of docs/.

Pages are also read on a code host, so their links are those of files: README.md links to
docs/start.md, docs/start.md to ../examples/sliding_block.py. In the site README.md is the first
page, the other pages of the root stand beside it, and files that are no pages are copied.
"""

import os
import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
ROOT_PAGES = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "ARCHITECTURE.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
}
COPIES = "files"  # where files of the repository that are no pages lie in the site
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")


def on_files(files, config):
    """Add the pages of the root, and all files that some page links to."""
    for name, uri in ROOT_PAGES.items():
        files.append(File.generated(config, uri, abs_src_path=str(ROOT / name)))
    pages = [ROOT / name for name in ROOT_PAGES] + sorted((ROOT / "docs").rglob("*.md"))
    targets = {target for page in pages for target in _targets(page)}
    for target in sorted(targets):
        if not _is_page(target) and not target.startswith("docs/") and (ROOT / target).is_file():
            path = str(ROOT / target)
            files.append(File.generated(config, f"{COPIES}/{target}.txt", abs_src_path=path))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links between files of the repository become links between files of the site."""
    names = {uri: name for name, uri in ROOT_PAGES.items()}
    uri = page.file.src_uri
    source = names.get(uri, f"docs/{uri}")

    def rewrite(match):
        before, path, after = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if not (ROOT / target).is_file():
            return match.group()  # MkDocs says so
        there = ROOT_PAGES.get(target) or target.removeprefix("docs/")
        if there == target and not _is_page(target):
            there = f"{COPIES}/{target}.txt"
        return before + os.path.relpath(there, posixpath.dirname(uri) or ".") + after

    return LINK.sub(rewrite, markdown)


def _targets(page):
    """Paths from the root that a page links to."""
    folder = page.parent.relative_to(ROOT).as_posix()
    for _, path, _ in LINK.findall(page.read_text()):
        yield posixpath.normpath(posixpath.join(folder, path))


def _is_page(target):
    return target in ROOT_PAGES or target.startswith("docs/") and target.endswith(".md")
