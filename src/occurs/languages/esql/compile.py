"""What the plan must know of definitions in eSQL beside their pipes (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from occurs.expr.tree import Ref
from occurs.languages.esql import syntax
from occurs.languages.esql.checks.rates import queue_bounds
from occurs.languages.esql.render import render
from occurs.model.source import TextFile
from occurs.operators.definition import Choice
from occurs.operators.process import tree
from occurs.operators.process.tree import Foreign, every_node


def single(pipe: tree.Pipe) -> bool:
    """Whether every item comes of one event by itself."""
    found = tree.nodes([pipe])
    events = [n for n in found if isinstance(n.processor, (tree.Events, tree.Lines))]
    return len(events) == 1 and all(_stateless(n) for n in found)


def _stateless(node: tree.Node) -> bool:
    return node.processor.stateless and len(node.inputs) <= 1


def ordered(pipe: tree.Pipe) -> str:
    """The first processor that needs all items in their order, in words; empty if there is none."""
    return next((n.processor.kind_name for n in tree.nodes([pipe]) if not _stateless(n)), "")


def boxes(pipe: tree.Pipe) -> tuple[str, ...]:
    """The processors of a pipe, in the order of the data."""
    return tuple(n.processor.kind_name for n in tree.nodes([pipe]))


def splits(pipe: tree.Pipe) -> tuple[Choice, ...]:
    """The ways to split a definition by an attribute: a SLICE EACH by one, with what is stateless around it."""
    found = tree.nodes([pipe])
    slicers = [n for n in found if not _stateless(n)]
    events = [n.processor for n in found if isinstance(n.processor, tree.Events)]
    if len(slicers) != 1 or len(events) != 1:
        return ()
    node, slicer = slicers[0], slicers[0].processor
    plain = all(isinstance(n.processor, (tree.Events, tree.Where)) for n in tree.nodes(list(node.inputs)))
    if not isinstance(slicer, tree.Slice) or slicer.form != "each" or slicer.exploded or not plain:
        return ()
    match slicer.key:
        case Ref(scope=None, name=name) | tree.Attribute(of=tree.Input(index=0), name=name):
            if name not in ("type", "time"):
                passes = frozenset({"key"}) if pipe.node is node else frozenset[str]()
                return (Choice(tuple((t, (name,)) for t in events[0].types), passes),)
    return ()


def loops(pipe: tree.Pipe) -> tuple[str, ...]:
    """The functions of Python that are called row by row."""
    functions = (f for n in every_node([pipe]) for f in n.processor.functions_within)
    foreign = (part.function for f in functions for part in f.walk() if isinstance(part, Foreign))
    return tuple(dict.fromkeys(f.name for f in foreign if not f.vectorised))


def kept(pipe: tree.Pipe) -> tuple[str, ...]:
    """What the processors of a pipe keep, in words, and what an item costs where that depends on how much it is."""
    out = []
    bounds = queue_bounds(pipe)
    for node in tree.nodes([pipe]):
        p, many = node.processor, bounds.get(id(node))
        if p.kept:
            out.append(f"{p.kind_name}: {p.kept}")
        elif len(node.inputs) > 1 and many is not None:
            out += [f"{p.kind_name}: a queue of {many} item{'s' * (many != 1)}"] if many else []
        elif len(node.inputs) > 1:
            out.append(f"{p.kind_name}: the items of one input that wait for items of another")
    return tuple(dict.fromkeys(out))


def text_files(definitions: Sequence[tree.Definition]) -> dict[str, TextFile]:
    """The files whose lines are read, by the type of the events that the lines are."""
    found: dict[str, TextFile] = {}
    for d in definitions:
        for node in tree.nodes([d.pipe]):
            p = node.processor
            if isinstance(p, tree.Lines):
                found.setdefault(p.source, TextFile(p.path, p.file, d.name, node.span))
    return found


def statements(files: Sequence[syntax.File]) -> dict[str, syntax.Let | syntax.Definition]:
    """The LETs and definitions of a program by their names."""
    named: dict[str, syntax.Let | syntax.Definition] = {}
    for file in files:
        for s in file.statements:
            if isinstance(s, (syntax.Let, syntax.Definition)):
                named.setdefault(s.output if isinstance(s, syntax.Definition) else s.name.text, s)
    return named


def identity(definition: tree.Definition, named: Mapping[str, syntax.Let | syntax.Definition]) -> str:
    """What a definition is found again by: its text, and those of what it uses, in one spelling.  ``named``: the
    statements of the program."""
    used: dict[str, None] = {}
    waiting: list[syntax.Node] = [named[definition.name].pipe]
    while waiting:
        for name, body in _uses(waiting.pop(), named):
            if name not in used:
                used[name] = None
                waiting.append(body)
    return f"pipes/{definition.name}/" + " ".join([render(named[definition.name]), *sorted(used)])


def _uses(node: syntax.Node, named: Mapping[str, syntax.Let | syntax.Definition]) -> Iterator[tuple[str, syntax.Node]]:
    """The texts and the bodies of the LETs, definitions and phrases that a tree uses."""
    for n in node.walk():
        if isinstance(n, syntax.Use) and n.phrase.body is not None:
            yield render(n.phrase), n.phrase.body
        elif isinstance(n, syntax.Named) and n.name in named:
            yield render(named[n.name]), named[n.name].pipe
