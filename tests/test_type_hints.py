"""Everything public has type hints, and mypy looks at the modules that it comes from."""

import ast
import inspect
import tomllib
from functools import cached_property
from pathlib import Path
from types import FunctionType

import pytest

import drystone as ds
from drystone.scenes.scene import Scene
from drystone.solvers import SOLVERS

PACKAGE = Path(ds.__file__).parent
ROOT = PACKAGE.parents[1]


def public_things():
    """(name, class or function) of all that a user reaches from `ds`."""
    for prefix, module in (("ds", ds), ("ds.lcp", ds.lcp), ("ds.rockfall", ds.rockfall)):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing) or inspect.isfunction(thing):
                yield f"{prefix}.{name}", thing
    for name, solver in SOLVERS.items():
        yield f"ds.SOLVERS[{name!r}]", solver
    yield "drystone.scenes.scene.Scene", Scene


def is_ours(function) -> bool:
    """Whether it stands in our sources: not one that a dataclass or a named tuple has made."""
    if not isinstance(function, FunctionType):
        return False
    return str(PACKAGE) in inspect.unwrap(function).__code__.co_filename


def functions_of(thing):
    """(name, function) of a function itself, or of the methods and properties of a class."""
    if not inspect.isclass(thing):
        yield "", thing
        return
    for name in dir(thing):
        if name.startswith("_") and not name.endswith("__"):
            continue
        member = inspect.getattr_static(thing, name)
        if isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        elif isinstance(member, cached_property):
            member = member.func
        elif isinstance(member, property):
            yield from ((name, f) for f in (member.fget, member.fset) if is_ours(f))
        if is_ours(member):
            yield name, member


def unhinted(function):
    """What of the signature has no hint."""
    parameters = list(inspect.signature(function).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        parameters = parameters[1:]
    missing = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
    return missing + ["return"] * ("return" not in function.__annotations__)


@pytest.mark.parametrize(
    "name, thing", [pytest.param(*pair, id=pair[0]) for pair in public_things()]
)
def test_signatures_are_hinted(name, thing):
    found = {member: unhinted(function) for member, function in functions_of(thing)}
    assert not {member: missing for member, missing in found.items() if missing}, name


def test_what_has_no_hint_is_found():
    def bare(self, x: int, y, *more):
        return y

    assert unhinted(bare) == ["y", "more", "return"]


def test_mypy_looks_at_all_public_modules():
    config = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    looked_at = {path for pattern in config["files"] for path in ROOT.glob(pattern)}
    unlooked = {name for group in config["overrides"] for name in group["module"]}
    for name, thing in public_things():
        modules = {thing.__module__, *(function.__module__ for _, function in functions_of(thing))}
        for module in modules:
            path = ROOT / "src" / (module.replace(".", "/") + ".py")
            assert path in looked_at and module not in unlooked, f"{name}: {module}"


@pytest.mark.parametrize("module", [ds, ds.rockfall], ids=["ds", "rockfall"])
def test_type_checkers_see_the_names_that_are_fetched_lazily(module):
    path = Path(module.__file__)
    tree = ast.parse(path.read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    prefix = module.__name__
    seen = {
        alias.asname: node.module for node in block.body for alias in node.names if alias.asname
    }
    homes = {name: f"{prefix}.{home}" for name, home in module._HOME.items()}
    parts = {name: f"{prefix}.{home}" for name, home in getattr(module, "_MODULES", {}).items()}
    assert seen == homes | {name: home.rpartition(".")[0] for name, home in parts.items()}


def test_the_package_says_that_it_has_hints():
    assert (PACKAGE / "py.typed").exists()
