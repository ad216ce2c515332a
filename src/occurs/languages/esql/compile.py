"""What the plan must know of definitions in eSQL beside their pipes (pipes.md, section 5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from occurs.errors import DefinitionProblem
from occurs.languages.esql import syntax
from occurs.languages.esql.render import render
from occurs.pipes import tree

#: as many items out as in or fewer, each at once, and without a thought of the items before
_STATELESS = (tree.Events, tree.Lift, tree.Where, tree.Xml, tree.Json, tree.Regex, tree.Plot)


def single(pipe: tree.Pipe) -> bool:
    """Whether every item comes of one event by itself."""
    found = tree.nodes([pipe])
    events = [n for n in found if isinstance(n.processor, tree.Events)]
    return len(events) == 1 and all(
        isinstance(n.processor, _STATELESS) and len(n.inputs) <= 1 and not _early(n.processor) for n in found
    )


def _early(processor: tree.Processor) -> bool:
    return isinstance(processor, tree.Lift) and processor.early


def unsupported(definitions: Sequence[tree.Definition]) -> None:
    """Raise DefinitionProblem for what programs cannot run."""
    for d in definitions:
        for node in tree.every_node([d.pipe]):
            if isinstance(node.processor, tree.Lines):
                hint = "give its lines as events: `--events Line=lines.csv`; in Python: the list of lines as a source"
                message = f"`{d.name}` reads the file {node.processor.path!r}, which programs do not"
                raise DefinitionProblem.of("unsupported", message, file=d.file, span=node.span, hint=hint)


def identity(definition: tree.Definition, files: Sequence[syntax.File]) -> str:
    """What a definition is found again by: its text, and those of what it uses, in one spelling."""
    named: dict[str, syntax.Let | syntax.Definition] = {}
    for file in files:
        for s in file.statements:
            if isinstance(s, (syntax.Let, syntax.Definition)):
                named.setdefault(s.output if isinstance(s, syntax.Definition) else s.name.text, s)
    used: dict[str, None] = {}
    waiting: list[syntax.Node] = [named[definition.name].pipe]
    while waiting:
        for name, body in _uses(waiting.pop(), named):
            if name not in used:
                used[name] = None
                waiting.append(body)
    return f"pipes/{definition.name}/" + " ".join([render(named[definition.name]), *sorted(used)])


def _uses(
    node: syntax.Node, named: dict[str, syntax.Let | syntax.Definition]
) -> Iterator[tuple[str, syntax.Node]]:
    """The texts and the bodies of the LETs, definitions and phrases that a tree uses."""
    for n in node.walk():
        if isinstance(n, syntax.Use) and n.phrase.body is not None:
            yield render(n.phrase), n.phrase.body
        elif isinstance(n, syntax.Named) and n.name in named:
            yield render(named[n.name]), named[n.name].pipe
