"""The prose linter: it finds phrases that are not plain English in pages, messages and public docstrings.

    python tools/prose.py [PATHS..]
    python tools/prose.py --sample 20 --seed 7     prints so many paragraphs, drawn at random, for a reader

Without PATHS it reads the pages of the project and ``src/occurs``.  A path may be a Markdown file, a Python file or a
folder of such files.  The phrases, with the reason and the replacement of each, are in ``prose.toml`` beside this file.

Code is never read: blocks, inline code and link targets in Markdown, examples and code in docstrings.  In Python the
linter reads every string of three words or more, and those docstrings that users see: of the names that ``occurs`` and
``occurs.pipes`` export, of commands, and of the functions that rules may call.  A line with ``prose: ok`` in a comment
is an exception.

The exit status is 1 if a phrase was found.
"""

from __future__ import annotations

import ast
import random
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
#: exported names are read from these files
PUBLIC = ("src/occurs/__init__.py", "src/occurs/pipes/__init__.py")
EXCEPTION = "prose: ok"
#: takes the place of code, and of a field of an f-string
CODE, FIELD = "`", "{}"


class Pattern(NamedTuple):
    """A phrase to avoid."""

    match: re.Pattern[str]
    why: str
    write: str
    hits: list[str]
    misses: list[str]
    #: is it also a fault in the title of a section?
    headings: bool


class Piece(NamedTuple):
    """Text without code, and the line of the file on which each of its lines is."""

    text: str
    lines: list[int]
    heading: bool = False

    def line(self, at: int) -> int:
        return self.lines[min(self.text.count("\n", 0, at), len(self.lines) - 1)]


class Finding(NamedTuple):
    """A sentence with a phrase to avoid."""

    path: Path
    line: int
    sentence: str
    phrase: str
    pattern: Pattern

    def __str__(self) -> str:
        at = self.path.relative_to(ROOT) if self.path.is_relative_to(ROOT) else self.path
        return f'{at}:{self.line}: {self.sentence}\n    "{self.phrase}": {self.pattern.why}; write {self.pattern.write}'


def patterns(path: Path = ROOT / "tools" / "prose.toml") -> list[Pattern]:
    """The phrases to avoid."""
    rows = tomllib.loads(path.read_text())["pattern"]
    return [
        Pattern(
            re.compile(row["match"], re.IGNORECASE),
            row["why"],
            row["write"],
            row["hits"],
            row["misses"],
            row.get("headings", True),
        )
        for row in rows
    ]


# -- Markdown --------------------------------------------------------------------------------------------------------
FENCE = re.compile(r"^ *(```+|~~~+)")
#: where a new piece of text begins: headings, items of lists, rows of tables, quotations
BLOCK = re.compile(r"^\s*(#+ |[-*+] |\d+[.)] |\||>|!!! |\?\?\? )")


def markdown(text: str) -> Iterator[Piece]:
    """The paragraphs, headings, items and cells of a page."""
    block: list[str] = []
    numbers: list[int] = []
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = FENCE.match(line)
        ends = bool(fence or mark or not line.strip() or BLOCK.match(line) or EXCEPTION in line)
        if ends and block:
            yield from cells(block, numbers)
            block, numbers = [], []
        if mark:
            fence = "" if fence and mark[1].startswith(fence) else fence or mark[1]
        elif not fence and line.strip() and EXCEPTION not in line:
            block.append(BLOCK.sub("", line).strip() if not line.lstrip().startswith("|") else line.strip())
            numbers.append(number)
            if line.startswith("#"):
                yield Piece(without_code(block[0]), numbers, heading=True)
                block, numbers = [], []
    yield from cells(block, numbers)


def cells(block: list[str], numbers: list[int]) -> Iterator[Piece]:
    """A paragraph, or the cells of a row of a table."""
    if not block:
        return
    text = without_code("\n".join(block))
    if text.startswith("|"):
        yield from (Piece(cell.strip(), numbers[:1]) for cell in text.split("|"))
    else:
        yield Piece(text, numbers)


def without_code(text: str) -> str:
    """Markdown text without inline code, comments and the targets of links; line breaks stay."""

    def blank(found: re.Match[str]) -> str:
        return CODE + "\n" * found[0].count("\n")

    text = re.sub(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", blank, text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->|</?\w[^>]*>", lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    return re.sub(r"!?\[([^\]]*)\](\([^)]*\))?", r"\1", text).replace("**", "")


# -- Python ----------------------------------------------------------------------------------------------------------
def python(text: str, public: set[str]) -> Iterator[Piece]:
    """The messages of a module, and the docstrings that users see; ``public`` are the names exported from it."""
    tree, source = ast.parse(text), text.splitlines()
    named = dict(docstrings(tree))
    for node, name in named.items():
        if is_public(name, public):
            yield from allowed(node, docstring_text(node.value), source)
    yield from messages(tree, set(named), source)


def messages(node: ast.AST, others: set[ast.Constant], source: list[str]) -> Iterator[Piece]:
    """Every string of three words or more below ``node``, without ``others``; a field of an f-string is one word."""
    if node in others:
        return
    text = None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else FIELD for part in node.values)
    if text is not None and len(text.split()) >= 3:
        yield from allowed(node, without_code(text), source)
    for child in ast.iter_child_nodes(node):
        if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
            yield from messages(child, others, source)


def allowed(node: ast.AST, text: str, source: list[str]) -> Iterator[Piece]:
    """``text``, unless one of its lines is an exception."""
    first, last = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    if not any(EXCEPTION in line for line in source[first - 1 : last]):
        across = text.count("\n") == last - first
        yield Piece(text, list(range(first, last + 1)) if across else [first])


def docstrings(node: ast.AST, name: str = "") -> Iterator[tuple[ast.Constant, str]]:
    """Each docstring in ``node`` with the name of its place: ``""`` for the module, ``Class.method``, ``COMMAND``."""
    match node:
        case (
            ast.Module(body=[ast.Expr(ast.Constant(str()) as text), *_])
            | ast.ClassDef(body=[ast.Expr(ast.Constant(str()) as text), *_])
            | ast.FunctionDef(body=[ast.Expr(ast.Constant(str()) as text), *_])
            | ast.AsyncFunctionDef(body=[ast.Expr(ast.Constant(str()) as text), *_])
        ):
            yield text, COMMAND if is_command(node) else name
    for child in ast.iter_child_nodes(node):
        inner = getattr(child, "name", None) if hasattr(child, "body") else None
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = "_"  # nothing inside a function is public
        yield from docstrings(child, f"{name}.{inner}".strip(".") if inner else name)


#: the name of every docstring that the command line prints: the help of commands, and the functions of rules
COMMAND = "(command)"


def is_command(node: ast.AST) -> bool:
    """Is this a command, or a function that ``occurs functions`` lists?"""
    decorators = [ast.unparse(each) for each in getattr(node, "decorator_list", [])]
    return any(re.search(r"\b(command|group|function)\(", each) for each in decorators)


def is_public(name: str, exported: set[str]) -> bool:
    """Do users see the docstring of ``name``, given the names that are exported from its module?"""
    parts = name.split(".")
    return name == COMMAND or (("*" in exported or parts[0] in exported) and not any(p.startswith("_") for p in parts))


def docstring_text(text: str) -> str:
    """A docstring without its examples and its inline code."""
    lines, example = [], False
    for line in text.splitlines():
        example = line.strip().startswith(">>>") or (example and bool(line.strip()))
        lines.append("" if example else line.strip())
    return without_code("\n".join(lines))


def exported() -> dict[Path, set[str]]:
    """Per module: its names that ``occurs`` and ``occurs.pipes`` export; ``""`` is its docstring, ``*`` are all."""
    out: dict[Path, set[str]] = {}
    for name in PUBLIC:
        path = ROOT / name
        if not path.exists():
            continue
        out.setdefault(path, set()).add("")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("occurs"):
                for alias in node.names:
                    module = ROOT / "src" / (node.module or "").replace(".", "/")
                    if (module / f"{alias.name}.py").exists():
                        out[module / f"{alias.name}.py"] = {"*"}
                    else:
                        out.setdefault(module.with_suffix(".py"), set()).add(alias.name)
    return out


# -- sentences -------------------------------------------------------------------------------------------------------
def pieces(path: Path, public: dict[Path, set[str]]) -> Iterator[Piece]:
    """What a person reads of a file."""
    text = path.read_text()
    return markdown(text) if path.suffix == ".md" else python(text, public.get(path.resolve(), set()))


def sentences(piece: Piece) -> Iterator[tuple[int, str]]:
    """The line and the text of each sentence; a part after a semicolon, a colon or an empty line counts as one."""
    for found in re.finditer(r"(?:[^.!?:;\n]|[.!?:;](?!\s|$)|\n(?!\s*\n))+[.!?:;]*", piece.text):
        text = found[0]
        start = found.start() + len(text) - len(text.lstrip())
        text = re.sub(r"\s+", " ", text).strip()
        if text:
            yield piece.line(start), text


def lint(path: Path, rules: list[Pattern], public: dict[Path, set[str]]) -> Iterator[Finding]:
    """All findings of a file."""
    for piece in pieces(path, public):
        for line, sentence in sentences(piece):
            found: list[tuple[re.Match[str], Pattern]] = []
            for rule in rules if not piece.heading else [rule for rule in rules if rule.headings]:
                match = rule.match.search(sentence)
                if match and not any(match.start() < other.end() and other.start() < match.end() for other, _ in found):
                    found.append((match, rule))
            yield from (Finding(path, line, sentence, match[0].strip(), rule) for match, rule in found)


def default_paths() -> list[Path]:
    """The pages of the project and its source."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "src" / "occurs"]


def files(paths: list[Path]) -> list[Path]:
    """``paths``, folders replaced by the files in them."""
    out: list[Path] = []
    for path in paths:
        # `static` is built: what is in it was written elsewhere
        inside = (p for p in path.rglob("*") if p.suffix in (".md", ".py") and "static" not in p.parts)
        out += sorted(inside) if path.is_dir() else [path]
    return out


def sample(number: int, seed: int) -> None:
    """Print paragraphs of pages, messages and help of eight words or more, drawn at random."""
    public = exported()
    found = []
    for path in files(default_paths()):
        found += [(path, piece) for piece in pieces(path, public) if len(piece.text.split()) >= 8]
    for path, piece in random.Random(seed).sample(found, number):
        print(f"{path.relative_to(ROOT)}:{piece.line(0)}: {' '.join(piece.text.split())}\n")


def main(arguments: list[str]) -> int:
    """Print the findings; return the exit status."""
    if arguments[:1] == ["--sample"]:
        number, seed = int(arguments[1]), int(arguments[3]) if arguments[2:3] == ["--seed"] else 0
        sample(number, seed)
        return 0
    paths = files([Path(each) for each in arguments] or default_paths())
    missing = [path for path in paths if not path.exists()]
    if missing:
        print(f"{missing[0]}: no such file", file=sys.stderr)
        return 2
    rules, public = patterns(), exported()
    count = 0
    for path in paths:
        for finding in lint(path, rules, public):
            print(finding)
            count += 1
    if count:
        print(f"{count} phrase{'' if count == 1 else 's'} to rewrite", file=sys.stderr)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
