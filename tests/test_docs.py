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
ROOT_PAGES = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES = [*(ROOT / name for name in ROOT_PAGES), *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
PACKAGE = ROOT / "src" / "drystone"


def name_of(page):
    return page.relative_to(ROOT).as_posix()


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
@pytest.mark.slow
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


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_modules_named_in_pages_exist(page):
    """`folder/module.py` from the package or the root; a bare `module.py` may be anywhere in it."""
    if page.name == "CHANGELOG.md":  # names what was before, too
        return
    bare = {path.name for path in SOURCES}
    for name in re.findall(r"`((?:[\w<>]+/)*\w+\.py)`", page.read_text()):
        places = (PACKAGE / name, ROOT / name)
        assert "/" not in name and name in bare or any(p.exists() for p in places), name


@pytest.mark.parametrize("name", ROOT_PAGES)
def test_folders_named_in_pages_exist(name):
    for folder in re.findall(r"`((?:\w+/)+)`", (ROOT / name).read_text()):
        assert (PACKAGE / folder).is_dir() or (ROOT / folder).is_dir(), folder


def tree_in_architecture():
    """Paths of the tree, from the indentation of its lines."""
    block = next(code for _, code in blocks(ROOT / "ARCHITECTURE.md", "text"))
    paths, parents = [], []
    for line in block.splitlines()[1:]:
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2 - 1
        parents[depth:] = [name]
        paths.append("".join(parents))
    return paths


def test_the_tree_of_the_architecture_is_that_of_the_package():
    """All entries of the root, and the folders of the folders."""
    folders = [path for path in PACKAGE.rglob("*") if path.is_dir() and path.name != "__pycache__"]
    inner = {path.relative_to(PACKAGE).as_posix() + "/" for path in folders}
    files = {path.name for path in PACKAGE.glob("*.py")}
    shown = tree_in_architecture()
    assert set(shown) == files | {path for path in inner if path.count("/") <= 2}
    assert len(shown) == len(set(shown))


def test_the_layers_of_the_architecture_are_those_of_the_test():
    layers = [code for _, code in blocks(ROOT / "ARCHITECTURE.md", "text")][1]
    source = (Path(__file__).parent / "test_layers.py").read_text()
    held = re.search(r'LAYERS = """\n(.*?)"""', source, re.DOTALL).group(1)
    assert layers.split("\n")[:-1] == [line.strip() for line in held.splitlines()]


def test_the_stages_of_the_architecture_are_those_of_the_step():
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text.partition("## One step")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"^\| `(\w+)` \|", table, re.M)) == STAGES


def test_words_of_the_glossary_are_sorted_and_live_in_modules_that_exist():
    text = (ROOT / "docs/glossary.md").read_text()
    for section in text.split("\n## ")[1:]:
        rows = re.findall(r"^\| ([^|`]+?) \| .+ \| `([\w/]+\.py)` \|$", section, re.M)
        assert len(rows) == len(re.findall(r"^\| ", section, re.M)) - 1  # but for the head
        words = [word.lower() for word, _ in rows]
        assert words == sorted(words)
        for word, module in rows:
            assert (PACKAGE / module).exists(), f"{word}: {module}"


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
    assert len(table) == 5
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
