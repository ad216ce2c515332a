"""A graph of pipes as a Graphviz text: one node per box, one edge per pipe, a frame around each inner processor."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from occurs.expr.render import render
from occurs.expr.tree import Expr
from occurs.operators.process import tree
from occurs.operators.process.tree import Attribute, Input
from occurs.pipes.pipe import Pipe


def dot(*outputs: Pipe, name: str = "pipes") -> str:
    """Return the graph of some pipes in the DOT language of Graphviz.

    Args:
        outputs: The pipes whose graph is drawn.
        name: The name of the graph.

    Returns:
        A text for the program ``dot``, such as ``dot -Tsvg``.

    Raises:
        DefinitionProblem: If a pipe is a constant.
        ConnectionProblem: If an input of a box is open.

    Examples:
        >>> from occurs import pipes
        >>> x = pipes.source("x", type=int)
        >>> print(pipes.dot(x + x.decimate(4)))
        digraph "pipes" {
          rankdir=LR;
          node [shape=box];
          n0 [label="x", shape=ellipse];
          n1 [label="Decimate\\nn = 4"];
          n0 -> n1;
          n2 [label="Lift\\n$0 + $1"];
          n0 -> n2 [headlabel="0"];
          n1 -> n2 [headlabel="1"];
          n3 [label="output", shape=plaintext];
          n2 -> n3;
        }
    """
    lines = _Drawing().graph([p.graph for p in outputs], "  ", "output")
    return "\n".join([f"digraph {_quoted(name)} {{", "  rankdir=LR;", "  node [shape=box];", *lines, "}"])


class _Drawing:
    def __init__(self) -> None:
        self._numbers = count()

    def graph(self, outputs: list[tree.Pipe], indent: str, end: str) -> Iterator[str]:
        """The nodes that some pipes need, each behind those on its inputs, and where the pipes end."""
        names: dict[int, str] = {}
        for node in tree.nodes(outputs):
            name = names[id(node)] = self._name()
            shape = ", shape=ellipse" if not node.inputs else ""
            yield f"{indent}{name} [label={_quoted(_label(node))}{shape}];"
            for number, pipe in enumerate(node.inputs):
                head = {"headlabel": str(number)} if len(node.inputs) > 1 else {}
                yield indent + _edge(names[id(pipe.node)], name, pipe, head)
            for inner in node.processor.inners:
                yield f"{indent}subgraph cluster_{self._name()} {{"
                yield f"{indent}  label={_quoted(f'within {node.processor.kind_name}')};"
                yield from self.graph(list(inner.outputs), f"{indent}  ", f"result for {name}")
                yield f"{indent}}}"
        for pipe in outputs:
            name = self._name()
            yield f"{indent}{name} [label={_quoted(end)}, shape=plaintext];"
            yield indent + _edge(names[id(pipe.node)], name, pipe, {})

    def _name(self) -> str:
        return f"n{next(self._numbers)}"


def _edge(tail: str, head: str, pipe: tree.Pipe, labels: dict[str, str]) -> str:
    if pipe.node.outputs > 1:
        labels = {"taillabel": str(pipe.port), **labels}
    shown = ", ".join(f"{n}={_quoted(v)}" for n, v in labels.items())
    return f"{tail} -> {head}{f' [{shown}]' if shown else ''};"


def _label(node: tree.Node) -> str:
    """The processor, and its parameters that are plain values or functions; of a source, what it is called."""
    processor = node.processor
    values = [v for v in vars(processor).values() if isinstance(v, str)]
    if not node.inputs and values:
        return values[0]
    if isinstance(processor, tree.Placeholder):
        return f"input {processor.index}"
    if isinstance(processor, tree.Events):
        return ", ".join(processor.types)
    lines = [processor.kind_name]
    for name, value in vars(processor).items():
        if isinstance(value, Expr):
            lines.append(_function(value))
        elif isinstance(value, tuple) and value and all(isinstance(v, Expr) for v in value):
            lines += map(_function, value)
        elif isinstance(value, bool):
            lines += [name] if value else []
        elif isinstance(value, int | float | str) and value != "":
            lines.append(f"{name} = {value}")
    return "\n".join(lines)


def _function(expr: Expr) -> str:
    return render(expr, _leaf)


def _leaf(node: Expr) -> str | None:
    if isinstance(node, Input):
        return f"${node.index}"
    if isinstance(node, Attribute):
        return f"{render(node.of, _leaf)}.{node.name}"
    if isinstance(node, tree.Foreign):
        return f"{node.function.name}({', '.join(map(_function, node.args))})"
    return None


def _quoted(text: str) -> str:
    shown = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{shown}"'
