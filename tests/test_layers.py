"""Imports go down only: the order of the layers, checked on the syntax tree of every module."""

import ast
from pathlib import Path

import drystone

ROOT = Path(drystone.__file__).parent
# From the bottom up; folders of one line do not import each other.
LAYERS = """
    errors
    jit
    model
    shapes
    forces collision constraints
    motion
    solvers
    timestep
    steppers
    world
    scenes
    bench rockfall
    cli
    __init__
"""
RANK = {name: rank for rank, line in enumerate(LAYERS.split("\n")) for name in line.split()}
MOST_ENTRIES = {ROOT: 17}  # of a folder; 25 elsewhere
NOT_COUNTED = {"__pycache__", "py.typed"}  # py.typed: a mark for type checkers, which must be there


def folder_of(module: str) -> str:
    return module.split(".")[1]


def imported(tree):
    """Modules of ours that a file imports, inside functions too, and the lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            own = node.module == "drystone"
            names = [f"drystone.{a.name}" for a in node.names] if own else [node.module]
        else:
            continue
        yield from ((name, node.lineno) for name in names if name.startswith("drystone."))


def upward(path, tree):
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    for module, line in imported(tree):
        other = folder_of(module)
        if other in RANK and other != own and RANK[other] >= RANK[own]:
            yield f"{path.relative_to(ROOT)}:{line} imports {module}"


def test_imports_go_down_only():
    files = sorted(ROOT.rglob("*.py"))
    assert len(files) > 300
    found = [line for path in files for line in upward(path, ast.parse(path.read_text()))]
    assert not found, "\n".join(found)


def test_an_import_that_goes_up_is_found():
    below, above = ROOT / "model" / "x.py", ROOT / "world" / "x.py"
    for text in ("from drystone.world.body import Body", "def f():\n    import drystone.world"):
        assert list(upward(below, ast.parse(text)))
        assert not list(upward(above, ast.parse(text)))
    assert list(upward(below, ast.parse("from drystone import timestep")))


def test_no_folder_is_a_heap():
    for folder in [ROOT, *(path for path in ROOT.rglob("*") if path.is_dir())]:
        entries = [path for path in folder.iterdir() if path.name not in NOT_COUNTED]
        assert len(entries) <= MOST_ENTRIES.get(folder, 25), folder
    assert {path.stem for path in ROOT.iterdir()} - {
        Path(name).stem for name in NOT_COUNTED
    } == set(RANK)
