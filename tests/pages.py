"""Runs the code of a documentation page, and compares or rewrites the results that the page shows.

The blocks of a page are one story: they run from top to bottom in one folder and one Python namespace.

A block
- with ``title="NAME"`` is saved as the file NAME;
- in ``python`` runs, and its last expression is its value;
- in ``console`` has lines ``$ command`` that run, each followed by what it prints
  (everything, or standard output alone);
- in a rule language, without a title, is parsed and checked;
- in ``sh`` is for another machine (an installation, a cluster): its ``occurs`` commands and their options must exist;
- in ``json`` or ``toml`` is parsed.

Behind a block that runs, a Markdown table is its value (of ``python``) or the rows that it writes (of ``console``), and
a ``text`` block is what it prints.  A line ``...`` stands for any lines, and a number of seconds for any other.

``PYTHONPATH=src:tests python tests/pages.py PAGE..`` writes the current results into the pages.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RULES = {"tesla": "tesla", "epl": "epl", "phenesthe": "phenesthe", "ftl": "ftl", "ptl": "ptl", "esql": "esql"}
#: languages of blocks that are only shown
SHOWN = {"text", "ebnf", "mermaid", "bibtex", "sql", "csv", "html", "css", "yaml", "markdown", "diff"}
#: programs that `console` blocks may call besides `occurs`
PROGRAMS = {"cat", "head", "ls", "python", "sort", "wc", "mkdir", "cp", "mv", "printf", "echo", "sqlite3", "rm", "test"}
FENCE = re.compile(r"^( *)(`{3,})(\w*)([^\n`]*)\n(.*?)^\1\2[ ]*$", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"\A\s*\n((?:[ ]*\|[^\n]*\n)+)")
OUTPUT = re.compile(r"\A\s*\n([ ]*)```text[^\n]*\n(.*?)^\1```[ ]*$", re.DOTALL | re.MULTILINE)
TITLE = re.compile(r'title="([^"]+)"')


class Differs(AssertionError):
    """A page shows something else than what its code does."""


@dataclass
class Block:
    """A fenced block: ``start`` and ``stop`` are offsets in the page."""

    language: str
    title: str | None
    code: str
    indent: str
    start: int
    stop: int
    line: int


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, without their indentation."""
    out = []
    for found in FENCE.finditer(text):
        indent, _, language, rest, code = found.groups()
        title = TITLE.search(rest)
        line = text.count("\n", 0, found.start()) + 1
        out.append(Block(language, title and title[1], textwrap.dedent(code), indent, found.start(), found.end(), line))
    return out


def cells(row: str) -> list[str]:
    """The cells of a row of a Markdown table."""
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def told(value: Any) -> str:
    """A value as a cell of a table."""
    if value is None or (isinstance(value, float) and value != value) or type(value).__name__ == "NaTType":
        return ""
    if hasattr(value, "isoformat"):
        return re.sub(r"(\.\d+?)0*$", r"\1", re.sub(r"(\+00:00|Z)$", "", value.isoformat(" ")))
    if isinstance(value, str):
        if re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)?", value):
            value = re.sub(r"(Z|\+00:00)$", "", value).replace("T", " ")
        return value.replace("|", "\\|").replace("\n", " ")
    if isinstance(value, float):
        return repr(round(value, 6))
    if isinstance(value, list | dict | bool):
        return json.dumps(value, default=told, ensure_ascii=False).replace("|", "\\|")
    return str(value)


def rows_of(value: Any) -> list[dict[str, Any]]:
    """The rows of a table of any kind, or of a list of records."""
    if hasattr(value, "to_pylist"):
        return value.to_pylist()
    if hasattr(value, "to_dicts"):
        return value.to_dicts()
    if hasattr(value, "to_dict"):
        return value.to_dict("records")
    if hasattr(value, "toArrow"):
        return value.toArrow().to_pylist()
    return [dict(row) for row in value]


def table(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Rows as cells, the names of the columns first."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return [names, *([told(row.get(name)) for name in names] for row in rows)]


def printed(grid: list[list[str]], indent: str) -> str:
    """Cells as a Markdown table."""
    lines = [grid[0], ["---"] * len(grid[0]), *grid[1:]]
    return "".join(f"{indent}| {' | '.join(line)} |\n" for line in lines)


def alike(shown: str, is_: str) -> bool:
    """Whether a page shows this text; see the head of the module for `...` and seconds."""

    def lines(text: str) -> list[str]:
        text = re.sub(r"\b\d+(\.\d+)?( ?m?s\b)", r"N\2", text)
        return [line.rstrip() for line in text.strip("\n").split("\n")]

    pattern = "".join(r"(?:[^\n]*\n)*" if line.strip() == "..." else re.escape(line) + r"\n" for line in lines(shown))
    return re.fullmatch(pattern, "\n".join(lines(is_)) + "\n") is not None


@dataclass
class Story:
    """One page that runs in ``folder``; ``write`` collects new text in place of comparing."""

    page: Path
    folder: Path
    write: bool = False
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    changes: list[tuple[int, int, str]] = field(default_factory=list)

    def run(self) -> str:
        """Runs all blocks; returns the text of the page with the current results."""
        text = self.page.read_text()
        for block in blocks(text):
            try:
                self.block(block, text)
            except Differs:
                raise
            except Exception as error:
                error.add_note(f"in the block at {self.page.name}:{block.line}")
                raise
        for start, stop, new in sorted(self.changes, reverse=True):
            text = text[:start] + new + text[stop:]
        return text

    def block(self, block: Block, text: str) -> None:
        if block.title:
            (self.folder / block.title).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / block.title).write_text(block.code)
        elif block.language == "python":
            self.results(block, text, *self.python(block))
        elif block.language == "console":
            self.console(block, text)
        elif block.language in RULES:
            self.rules(block, text)
        elif block.language == "sh":
            self.elsewhere(block)
        elif block.language == "json":
            json.loads(block.code)
        elif block.language == "toml":
            tomllib.loads(block.code)
        elif block.language not in SHOWN:
            raise Differs(f"{self.page.name}:{block.line}: nothing is known of blocks in `{block.language}`")

    def python(self, block: Block) -> tuple[Any, str]:
        """(value of the last expression, what was printed)."""
        tree = ast.parse("\n" * block.line + block.code, str(self.page))
        last = tree.body.pop().value if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(tree, str(self.page), "exec"), self.names)
            value = None
            if last is not None:
                value = eval(compile(ast.Expression(last), str(self.page), "eval"), self.names)
        return value, out.getvalue()

    def rules(self, block: Block, text: str) -> None:
        """Rules without a name: correct, or wrong as the `text` behind them shows."""
        import occurs

        if not OUTPUT.match(text[block.stop :]):
            occurs.parse(block.code, language=RULES[block.language])
            return
        try:
            occurs.parse(block.code, language=RULES[block.language]).check()
            problem = ""
        except occurs.OccursError as error:
            problem = str(error)
        self.results(block, text, None, problem)

    def results(self, block: Block, text: str, value: Any, out: str) -> None:
        """The table and the text behind a block are its value and what it printed."""
        rest = text[block.stop :]
        if value is not None and (shown := TABLE.match(rest)):
            self.compare_table(block, shown, table(rows_of(value)))
        elif shown := OUTPUT.match(rest):
            now = out if value is None else out + (value if isinstance(value, str) else repr(value)) + "\n"
            if not alike(textwrap.dedent(shown[2]), now):
                self.differs(block, textwrap.dedent(shown[2]), now)
                new = textwrap.indent(now.rstrip("\n") + "\n", shown[1])
                self.changes.append((block.stop + shown.start(2), block.stop + shown.end(2), new))

    def compare_table(self, block: Block, shown: re.Match[str], grid: list[list[str]]) -> None:
        lines = [cells(line) for line in shown[1].strip("\n").split("\n")]
        expected = [lines[0], *lines[2:]]
        if [[c.replace("\\|", "|") for c in row] for row in grid] != expected:
            new = printed(grid, block.indent)
            self.differs(block, shown[1], new)
            self.changes.append((block.stop + shown.start(1), block.stop + shown.end(1), new))

    def differs(self, block: Block, shown: str, now: str) -> None:
        if not self.write:
            raise Differs(f"{self.page}:{block.line} shows\n{shown}\nand the code makes\n{now}")

    def console(self, block: Block, text: str) -> None:
        """Commands, each with what it prints below it."""
        new, data = [], ""
        for command, shown in self.commands(block.code):
            everything, data, status = self.call(command)
            new.append(f"$ {command}\n")
            if not shown:
                if status:
                    raise Differs(f"{self.page}:{block.line}: `{command}` ends with status {status}:\n{everything}")
                continue
            if alike(shown, data) or alike(shown, everything):
                new.append(shown)
            else:
                self.differs(block, shown, everything)
                new.append((data or everything).rstrip("\n") + "\n")
        if shown := TABLE.match(text[block.stop :]):
            self.compare_table(block, shown, table([json.loads(line) for line in data.strip().split("\n")]))
        if (code := "".join(new)) != block.code:
            fence = text[block.start : block.stop]
            head = fence[: fence.index("\n") + 1]
            new_block = head + textwrap.indent(code, block.indent) + block.indent + "```"
            self.changes.append((block.start, block.stop, new_block))

    @staticmethod
    def commands(code: str) -> Iterator[tuple[str, str]]:
        """(command, what is shown below it); a line that ends with a backslash goes on."""
        for part in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
            found = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, re.DOTALL)
            assert found
            yield found[1], found[2]

    def call(self, command: str) -> tuple[str, str, int]:
        """(all that a command prints, what it prints to standard output, its exit status)."""
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        if words[0] == "occurs" and not {"|", ">", "<"} & set(words):
            from click.testing import CliRunner

            from occurs.cli import main

            done = CliRunner().invoke(main, words[1:], catch_exceptions=False, prog_name="occurs")
            return done.output, done.stdout, done.exit_code
        if words[0] not in PROGRAMS | {"occurs"}:
            raise Differs(
                f"{self.page.name}: `{words[0]}` is not run here; commands for other machines are `sh` blocks"
            )
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        run = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            timeout=120,
        )
        return run.stdout + run.stderr, run.stdout, run.returncode

    def elsewhere(self, block: Block) -> None:
        """The `occurs` commands of a block that is for another machine: command and options must exist."""
        from occurs.cli import main

        for command in re.findall(r"^\s*(occurs (?:[^\n]*\\\n)*[^\n]*)", block.code, re.MULTILINE):
            words = shlex.split(command.replace("\\\n", " "), comments=True)
            words = words[1 : next((i for i, w in enumerate(words) if w in ("|", ">", "&&", "&", "<")), len(words))]
            context = main.make_context("occurs", [], resilient_parsing=True)
            if words[0].startswith("-"):
                continue
            name, found, _ = main.resolve_command(context, words)
            assert found
            known = {option for parameter in found.params for option in (*parameter.opts, *parameter.secondary_opts)}
            unknown = [
                w for w in words if w.startswith("-") and len(w) > 1 and w.split("=")[0] not in known | {"--help"}
            ]
            if unknown:
                raise Differs(f"{self.page.name}:{block.line}: `occurs {name}` has no option {', '.join(unknown)}")


def main(pages: list[str]) -> None:
    """Writes the current results into pages."""
    for name in pages:
        page = Path(name).resolve()
        with tempfile.TemporaryDirectory() as folder:
            before = os.getcwd()
            os.chdir(folder)
            try:
                text = Story(page, Path(folder), write=True).run()
            finally:
                os.chdir(before)
        changed = text != page.read_text()
        if changed:
            page.write_text(text)
        print(f"{name}: {'rewritten' if changed else 'unchanged'}")


if __name__ == "__main__":
    main(sys.argv[1:])
