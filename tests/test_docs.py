"""The documents are true: code runs, commands and links exist, numbers are those of the source."""

import ast
import re
from importlib import import_module
from pathlib import Path

import pytest
from typer.main import get_command

import drystone as ds
from drystone.cli import app
from drystone.model.arrays import Settings
from drystone.timestep import STAGES

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py"))


def name_of(page):
    return page.name


def blocks(page, language):
    """Code blocks of that language, and the line on which each begins."""
    text = page.read_text()
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return [(text[: match.start(1)].count("\n"), match.group(1)) for match in found]


def commands():
    """Every `drystone ...` in a shell block or between backticks, without its comment."""
    for page in PAGES:
        text = page.read_text()
        inline = re.findall(r"`drystone ([^`\n]+)`", text)
        shell = [line for _, code in blocks(page, "sh") for line in code.splitlines()]
        lines = inline + [line[9:] for line in shell if line.startswith("drystone ")]
        for line in lines:
            yield page.name, line.split("#")[0].split()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_python_blocks_run(page, tmp_path, monkeypatch):
    """All blocks of a page are one program, from top to bottom."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for line, code in blocks(page, "python"):
        # Blank lines in front, so that a traceback has the line numbers of the page.
        exec(compile("\n" * line + code, page.name, "exec"), names)


@pytest.mark.parametrize("page, words", list(commands()), ids=str)
def test_commands_exist(page, words):
    """Each command and each of its options is known to the command line."""
    words = [word for word in words if word not in ("--debug", "...")]
    if not words:
        return
    command = get_command(app)
    while hasattr(command, "commands") and words and not words[0].startswith("-"):
        assert words[0] in command.commands
        command, words = command.commands[words[0]], words[1:]
    options = {name for parameter in command.params for name in parameter.opts}
    assert {word for word in words if word.startswith("--")} <= options


def test_scenes_in_commands_exist():
    from drystone.scenes import find_scene

    for _, words in commands():
        if words[:1] == ["run"] and len(words) > 1:
            scene = find_scene(words[1])
            for k, word in enumerate(words):
                if word == "--set":
                    assert words[k + 1].partition("=")[0] in scene.options


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", file.read_text(), re.MULTILINE)
            slugs = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
            assert anchor in slugs, target


def test_every_citation_has_its_reference():
    listed = set(re.findall(r"^\| (\w+) \|", (ROOT / "docs/references.md").read_text(), re.M))
    for path in [*SOURCES, *PAGES]:
        text = path.read_text()
        cited = set(re.findall(r"\[([A-Z][A-Za-z]+[0-9]{4}[a-z]?)\b", text))
        cited |= set(re.findall(r"\b(CLINE|FFD|NEWTON|PENALTY|ROCFALL) (?=[0-9(])", text))
        assert cited <= listed, path


def test_one_step_has_the_stages_of_the_step():
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs/one-step.md").read_text(), re.M)
    assert tuple(headings) == STAGES


def test_functions_in_one_step_exist():
    text = (ROOT / "docs/one-step.md").read_text()
    for module, function in re.findall(r"`((?:\w+\.)*\w+)\.(\w+)`", text):
        if function in ("py", "md"):
            continue
        assert hasattr(import_module(f"drystone.{module}"), function), f"{module}.{function}"


def test_tolerances_are_those_of_the_source():
    text = (ROOT / "docs/conventions.md").read_text()
    rows = re.findall(r"^\| `([\w.]+)\.(\w+)` \| ([^|]+) \|", text, re.MULTILINE)
    assert len(rows) > 15
    for module, name, value in rows:
        home = Settings() if module == "Settings" else import_module(f"drystone.{module}")
        top, _, bottom = value.strip().partition("/")
        assert getattr(home, name) == float(top) / float(bottom or 1), f"{module}.{name}"


def test_the_pair_rule_is_that_of_the_source():
    doc = import_module("drystone.model.materials").__doc__
    table = [line for line in doc.splitlines() if line.startswith("|")]
    assert len(table) == 4
    assert "\n".join(table) in (ROOT / "docs/conventions.md").read_text()


def test_public_names_in_the_documents_exist():
    for page in PAGES:
        for name in re.findall(r"\bds\.([A-Za-z_]+)", page.read_text()):
            assert hasattr(ds, name), f"{page.name}: ds.{name}"


def test_pictures_are_small():
    for path in (ROOT / "docs").glob("*.png"):
        assert path.stat().st_size < 400_000


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_modules_say_what_they_are(path):
    if path.read_text().strip():
        assert ast.get_docstring(ast.parse(path.read_text())), path
