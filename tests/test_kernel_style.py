"""Rules for kernels that no linter knows, checked on the syntax tree of every source file."""

import ast
from functools import cache
from pathlib import Path

import pytest

import drystone

ROOT = Path(drystone.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
KINDS = ("kernel", "inner_kernel", "parallel_kernel", "stage")
# The command line, and programs that a benchmark starts, which answer on stdout.
TALKERS = {"commands.py", "run.py", "loop.py", "overlap_measure.py"}


@cache
def tree_of(source):
    """The tree with a `parent` on every node."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            child.parent = node
    return tree


def kernel_kind(function):
    """ "kernel", "inner_kernel", "parallel_kernel", "stage" or None."""
    for decorator in function.decorator_list:
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if isinstance(name, ast.Name) and name.id in KINDS:
            return name.id
    return None


def enclosing(node, kinds):
    node = getattr(node, "parent", None)
    while node is not None and not isinstance(node, kinds):
        node = getattr(node, "parent", None)
    return node


def is_prange(node):
    return (
        isinstance(node, ast.For)
        and isinstance(node.iter, ast.Call)
        and isinstance(node.iter.func, ast.Name)
        and node.iter.func.id == "prange"
    )


def calls_of_inner_kernels(tree):
    """Kernels named _x have no entry from Python: a plain call of one crashes."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    inner = {f.name for f in functions if f.name.startswith("_") and kernel_kind(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in inner:
            function = enclosing(node, ast.FunctionDef)
            if function is None or not kernel_kind(function):
                yield node.lineno, f"{node.func.id}() is called from plain Python"


def fast_math(tree):
    """fastmath=True deletes checks for NaN."""
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "fastmath":
            yield node.value.lineno, "fastmath"


def stray_pranges(tree):
    """Outside a parallel kernel prange silently is a range."""
    for node in ast.walk(tree):
        if is_prange(node):
            function = enclosing(node, ast.FunctionDef)
            if function is None or kernel_kind(function) != "parallel_kernel":
                yield node.lineno, "prange outside a parallel_kernel"


def lost_stores(tree):
    """A store to a member of a tuple directly in a prange body is silently lost."""
    for node in ast.walk(tree):
        if not is_prange(node):
            continue
        for inner in ast.walk(node):
            targets = inner.targets if isinstance(inner, ast.Assign) else []
            targets = [inner.target] if isinstance(inner, ast.AugAssign) else targets
            for target in targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute):
                        yield inner.lineno, f"store to {ast.unparse(part)} in a prange body"


def shared_sums(tree):
    """A float sum over a prange depends on the number of threads."""
    for node in ast.walk(tree):
        if is_prange(node):
            for inner in ast.walk(node):
                if isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                    yield inner.lineno, f"{ast.unparse(inner)} in a prange body"


def global_random(tree):
    """Random numbers come from a generator that was handed over, never from the global one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in (
            "np.random",
            "numpy.random",
        ):
            if node.attr not in ("default_rng", "Generator"):
                yield node.lineno, ast.unparse(node)


def prints(tree):
    """The library does not talk."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "print":
            yield node.lineno, "print()"


RULES = [
    calls_of_inner_kernels, fast_math, stray_pranges, lost_stores, shared_sums, global_random,
    prints,
]  # fmt: skip

# One breach of every rule, so that a rule that finds nothing is known to work.
BREACHES = {
    calls_of_inner_kernels: "@kernel\ndef _f(x):\n    return x\ndef g():\n    return _f(1)",
    fast_math: "@kernel(fastmath=True)\ndef f(x):\n    return x",
    stray_pranges: "@kernel\ndef f(n):\n    for i in prange(n):\n        pass",
    lost_stores: "@parallel_kernel\ndef f(n, r):\n    for i in prange(n):\n        r.a[i] = 1",
    shared_sums: "@parallel_kernel\ndef f(n):\n    for i in prange(n):\n        s += i",
    global_random: "x = np.random.rand(3)",
    prints: "print('done')",
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_holds_in_all_files(rule):
    found = []
    for path in FILES:
        if rule is prints and path.name in TALKERS:
            continue
        found += [
            f"{path.relative_to(ROOT)}:{line}: {what}"
            for line, what in rule(tree_of(path.read_text()))
        ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_rule_finds_a_breach(rule):
    assert list(rule(tree_of(BREACHES[rule])))


def test_there_are_kernels_to_check():
    kinds = [
        kernel_kind(node)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
    ]
    assert kinds.count("kernel") > 50 and kinds.count("parallel_kernel") > 5


MOST_ARGUMENTS = 12


def crowded(source):
    """Functions of more than MOST_ARGUMENTS without a comment on their first line."""
    lines = source.splitlines()
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.FunctionDef):
            given = node.args
            count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
            if count > MOST_ARGUMENTS and "#" not in lines[node.lineno - 1]:
                yield f"{node.name} has {count} arguments and no reason"


def test_functions_of_many_arguments_give_the_reason():
    many = ", ".join(f"a{k}" for k in range(MOST_ARGUMENTS + 1))
    assert list(crowded(f"def f({many}):\n    pass"))
    assert not list(crowded(f"def f(  # why\n    {many}\n):\n    pass"))
    found = [
        f"{path.relative_to(ROOT)}: {say}" for path in FILES for say in crowded(path.read_text())
    ]
    assert not found, "\n".join(found)


def test_no_file_is_longer_than_500_lines():
    long = [path.name for path in FILES if len(path.read_text().splitlines()) > 500]
    assert not long
