"""Names that programs in several languages share: what eSQL defines, and what it is made of (common.md, section 2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePath

from occurs.languages.esql.builder import Builder
from occurs.operators.process import tree


def event_types(pipe: tree.Pipe) -> frozenset[str]:
    """The types whose events a pipe is made of, files whose lines are events among them."""
    sources = [n.processor for n in tree.nodes([pipe])]
    files = {s.source for s in sources if isinstance(s, tree.Lines)}
    return frozenset(t for s in sources if isinstance(s, tree.Events) for t in s.types if t) | files


def check_files(builder: Builder, definitions: Sequence[tree.Definition]) -> None:
    """Report files of one path that are relative to several folders: one path is one source of lines."""
    found: dict[str, PurePath] = {}
    for d in definitions:
        for node in tree.nodes([d.pipe]):
            p = node.processor
            if isinstance(p, tree.Lines):
                folder = PurePath(p.file or "").parent
                if found.setdefault(p.path, folder) != folder:
                    message = f"FILE {p.path!r} refers to files in two folders, {found[p.path]} and {folder}"
                    hint = "a relative path starts at the folder of the rules: put the rules in one folder"
                    builder.entries[d.name].source.report("duplicate-name", message, node.span, hint)


def check_names(
    builder: Builder, definitions: Sequence[tree.Definition], foreign_reads: Mapping[str, Collection[str]]
) -> None:
    """Report definitions that another language has too, and cycles through other languages."""
    reads = {d.name: event_types(d.pipe) for d in definitions}
    for d in definitions:
        source = builder.entries[d.name].source
        if d.name in foreign_reads:
            message = f"`{d.name}` is also defined in another language"
            source.report("duplicate-definition", message, d.span, "rename one of the two definitions")
            continue
        path = _path(d.name, {**foreign_reads, **reads})
        if path:
            message = "the definitions form a cycle: " + " -> ".join(path)
            source.report("cycle", message, d.span, "a pipe cannot read events that depend on its own output")


def _path(name: str, reads: Mapping[str, Collection[str]]) -> list[str]:
    """A way from a definition through what it reads back to itself; empty if there is none."""
    seen: set[str] = set()
    waiting = [[name]]
    while waiting:
        path = waiting.pop()
        for other in sorted(reads.get(path[-1], ())):
            if other == name:
                return [*path, name]
            if other not in seen:
                seen.add(other)
                waiting.append([*path, other])
    return []
