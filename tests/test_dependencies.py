"""Imports point one way: a folder of Occurs imports only folders below it (imports inside functions, and those for
type checkers, included)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import occurs

#: The house from the ground up: a folder -> the folders that it may import, all of which are in rows above.  Modules
#: that stand beside the folders are rows of their own, or of one row together (``BESIDE``).
MAY_IMPORT = {
    "version": "",
    "errors": "",
    "progress": "",
    "cachefolder": "",
    "lean": "",
    "kernel": "errors cachefolder",
    "model": "errors kernel",
    "expr": "errors cachefolder model",
    "operators": "errors kernel model expr",
    "nets": "errors model expr",
    "languages": "errors model expr operators nets",
    "connect": "errors model",
    "plan": "errors model expr operators",
    "engine": "errors model expr operators plan",
    "plot": "errors model operators connect plan",
    "notebook": "errors model connect",
    "options": "errors progress model connect",
    "checked": "errors model operators languages connect plan options",
    "hosts": "version errors progress kernel model expr operators connect plan engine plot notebook options checked",
    "verify": "errors model languages nets hosts checked",
    "explain": "errors model expr operators languages connect plan plot options checked hosts",
    "program": (
        "errors progress model operators languages connect plan engine notebook options checked hosts verify explain"
    ),
    "pipes": "errors model expr operators languages checked program",
    "queries": "errors model expr languages connect checked program",
    "occurs": "version errors connect notebook hosts explain program queries",
    "testing": "errors model operators languages connect engine checked hosts verify explain program",
    "services": (
        "errors model expr operators nets languages connect plan options checked verify explain program occurs pipes"
    ),
    "lsp": "version errors model expr languages services",
    "studio": (
        "errors progress lean model languages connect plan plot options checked hosts explain program occurs services"
    ),
    "monitoring": "errors",
    "watch": "errors monitoring model expr operators languages connect engine checked",
    "follow": "errors monitoring model languages connect plan checked hosts program watch",
    "cli": (
        "errors progress lean kernel model expr languages nets connect plan plot options checked hosts verify explain"
        " program occurs testing monitoring watch follow services lsp studio"
    ),
}
#: modules beside the folders that are one row of the table
BESIDE = {
    "checked_texts": "checked",
    "checked_program": "checked",
    "explanation": "program",
    "loading": "program",
}
#: arrows that stand against the table, with the reason: (folder, imported folder) -> why
STANDING: dict[tuple[str, str], str] = {}

ROOT = Path(occurs.__file__).parent
MODULES = {
    ".".join(("occurs", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def folder(module: str) -> str:
    """The row of the table that a module belongs to."""
    name = module.split(".")[1] if "." in module else module
    return BESIDE.get(name, name)


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """What a module imports, each with the line."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            for name in (f"{node.module}.{a.name}" for a in node.names):
                yield (name if name in MODULES else str(node.module)), node.lineno
        elif isinstance(node, ast.Import):
            yield from ((a.name, node.lineno) for a in node.names)
        elif isinstance(node, ast.Call) and called(node).endswith("import_module"):
            yield from ((str(a.value), node.lineno) for a in node.args if isinstance(a, ast.Constant))


def called(node: ast.Call) -> str:
    """The name of the function or method that is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


@cache
def arrows() -> dict[tuple[str, str], list[str]]:
    """(folder, imported folder) -> the lines of the first that import from the second."""
    out: dict[tuple[str, str], list[str]] = {}
    for module, path in MODULES.items():
        for target, line in imported(path):
            if target in MODULES and folder(target) != folder(module):
                arrow = f"{path.relative_to(ROOT)}:{line} imports {target}"
                out.setdefault((folder(module), folder(target)), []).append(arrow)
    return out


def test_the_table_has_every_folder():
    assert {folder(m) for m in MODULES} == MAY_IMPORT.keys()


@pytest.mark.parametrize("name", MAY_IMPORT)
def test_a_folder_imports_only_folders_below_it(name):
    rows = list(MAY_IMPORT)
    below = set(MAY_IMPORT[name].split())
    assert below <= set(rows[: rows.index(name)])
    allowed = below | {target for source, target in STANDING if source == name}
    wrong = [lines for (source, target), lines in arrows().items() if source == name and target not in allowed]
    assert wrong == []


def test_arrows_that_stand_exist():
    assert STANDING.keys() <= arrows().keys()


def test_no_folders_import_one_another_in_a_circle():
    graph: dict[str, set[str]] = {}
    for source, target in arrows():
        graph.setdefault(source, set()).add(target)
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the circle
